"""The gradients, Jacobians and values of a problem, each computed when requested, and cached."""

from collections.abc import Callable, Sequence
from functools import cache, cached_property, wraps
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from ..autodiff.reverse import Gradients, active_nodes, cached_backward, double_backward_errors
from ..backends.numeric import Evaluator, sources, span_of_user
from ..errors import GradcliError, if_applicable
from ..graphs import OPS, Node, shapes, walk
from ..language.problem import Input, Problem
from ..language.wrt import NO_WAY, NOT_SCALAR, unused
from ..lazy import np

if TYPE_CHECKING:
    from .jacobian import Jacobian

CUT = (
    "no gradient flows through detach(), comparisons, indices, integers and functions without a "
    "derivative\n"
)
FEW = 4  # rows of a Jacobian up to which several inputs share one reverse pass per row
LARGE = 1_000  # nodes of a program; in a larger one no formulas or structures are searched for
SENDS_NOTHING = "PyTorch's backward() runs but sends no gradient: .grad stays None"


def none_if_unwritable(compute: Callable[[], Any]) -> Any:
    """The result of `compute`; None if it has no symbolic form, or one that is too long."""
    try:
        return compute()
    except GradcliError as error:
        if error.code not in ("needs-value", "limit"):
            raise
        return None


def within_budget(
    otherwise: Callable[..., Any] = lambda *_: None, in_large: bool = False
) -> Callable[..., Any]:
    """Decorate a function, whose first argument has a `problem`, to run as a search within the
    budget of the request.

    If the budget is spent, the result is that of `otherwise`, called with the positional arguments.
    For large programs, unless `in_large`, it is this result too, without a search.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def within(of: Any, *args: Any, **named: Any) -> Any:
            budget = of.problem.limits.budget
            if not in_large and is_large(of.problem):
                return otherwise(of, *args)
            return budget.search(lambda: function(of, *args, **named), lambda: otherwise(of, *args))

        return within

    return decorated


R = TypeVar("R")


def once(function: Callable[["Analysis"], R]) -> Callable[["Analysis"], R]:
    """Decorate a function of an Analysis to cache its result on the analysis."""

    @wraps(function)
    def known(a: "Analysis") -> R:
        if function not in a.results:
            a.results[function] = function(a)
        return cast(R, a.results[function])

    return known


def is_large(problem: Problem) -> bool:
    """Whether the graph is so large that no formulas or structures are searched for."""
    return operations(problem) > LARGE


def reserve_writing(problem: Problem, kind: str = "explained", times: int = 1) -> None:
    """Reserve time for writing all operations of a large program, several `times`, by ending
    searches earlier. Raises GradcliError `limit` if there are more operations than the limit of
    this `kind`.
    """
    if is_large(problem):
        count, limits = operations(problem), problem.limits
        limits.check(kind, count, "the program", problem.program.span)
        limits.budget.reserve(times * count)


def before_writing(problem: Problem) -> Callable[[Callable[[], Any], Callable[[], Any]], Any]:
    """A function that runs a search for something that is written out afterwards. The search may
    take all time before results are laid out; for a large program, which takes long to write, it
    must end earlier, with the other searches.
    """
    budget = problem.limits.budget
    return budget.search if is_large(problem) else budget.present


def operations(problem: Problem) -> int:
    """The number of nodes in the graph of the output."""
    counted, out = problem.limits.budget.operations, problem.out
    if out not in counted:
        counted[out] = len(walk([out]))
    return counted[out]


class Analysis:
    """A problem and its answers, which are NumPy arrays, or None if they depend on inputs without a
    value.

    `against` names the frameworks to compare with; `claims` are gradients derived by the user, as
    texts `W = g.T @ x` or by name. `allow_no_gradient`: whether the output may be independent of
    all inputs, so that all derivatives are zero.
    """

    def __init__(
        self,
        problem: Problem,
        dtype: str = "float64",
        against: Sequence[str] = (),
        claims: Sequence[str] | dict[str, str] = (),
        allow_no_gradient: bool = False,
    ):
        self.problem, self.dtype, self.against, self.claims = problem, dtype, against, claims
        self.allow_no_gradient = allow_no_gradient
        self._known: dict[Node, bool] = {}
        self.results: dict[Callable[..., Any], Any] = {}  # of functions decorated with `once`
        self._jacobians: dict[Node, Jacobian] = {}
        self._reverse_passes: dict[Node, Gradients] = {}

    @cached_property
    def gradients(self) -> Gradients:
        """The gradients of the output with respect to the inputs in `wrt`, as graphs, and the steps
        of the reverse pass. Raises GradcliError if no gradient flows to any input.
        """
        result = self._backward()
        if not self.allow_no_gradient and all(grad is None for grad in result.of.values()):
            self.refuse(self.problem.wrt)
        return result

    def refuse(self, wrt: Sequence[Input]) -> NoReturn:
        """Raise the error that no gradient flows to some inputs."""
        p, names = self.problem, " and ".join(x.name for x in wrt)
        message = unused(p.wrt.index(wrt[0])) if self._flows_elsewhere() else NO_WAY
        message = next(
            (text for x in wrt for text in self.double_backward_errors(x).values()), message
        )
        hint = SENDS_NOTHING if self._backward().steps else f"{CUT}PyTorch: {message}"
        if p.lower_order is not None:
            same = f"{p.out_name} is the same for every {names}, so its derivative is zero"
            hint = f"{same}\n{hint.removeprefix(CUT)}"
        raise GradcliError(
            "not-differentiable",
            f"no gradient flows from {p.out_name} to {names}",
            span=p.program.span,
            hint=hint,
        )

    def double_backward_errors(self, x: Input) -> dict[str, str]:
        """PyTorch's error messages by operator, for operators that it differentiates only once with
        respect to x; empty if this problem is not a higher derivative.
        """
        p = self.problem
        return double_backward_errors(p.orders[0].out, x.node) if p.lower_order is not None else {}

    def _flows_elsewhere(self) -> bool:
        """Whether a gradient flows to any input; seeds of lower orders do not count."""
        candidates = self.problem.orders[0].inputs.values()
        inputs = [i.node for i in candidates if i.node.dtype == "float"]
        out = self.problem.out
        return out in active_nodes(walk([out]), inputs)

    def _backward(self) -> Gradients:
        """The result of the reverse pass from the output."""
        p = self.problem
        result = self._reverse_pass(p.out)
        if p.lower_order is None or None not in result.of.values():
            return result
        evaluated = self._evaluated_gradients.of
        flat = [x for x, grad in result.of.items() if grad is None and evaluated[x] is not None]
        return result._replace(of=result.of | {x: OPS["zeros"](size=x.shape) for x in flat})

    def _reverse_pass(self, out: Node) -> Gradients:
        p = self.problem
        if out not in self._reverse_passes:
            wrt, built = tuple(i.node for i in p.wrt), tuple(p.named.values())
            self._reverse_passes[out] = cached_backward(out, p.seed.node, wrt, built)
        return self._reverse_passes[out]

    @cached_property
    def _out(self) -> Node:
        """The output as it is evaluated. If it is a gradient, it includes terms that are 0, because
        PyTorch multiplies their zero gradients further, which gives nan for 0 times infinity.
        """
        from .zero_second_derivative import with_zeros

        return with_zeros(self.problem)

    @property
    def _evaluated_gradients(self) -> Gradients:
        return self._reverse_pass(self._out)

    def computed(self, x: Input) -> Node | None:
        """The gradient with respect to x as it is evaluated, in which 0 times infinity is nan; None
        if the output does not depend on x.
        """
        grad = self.gradient(x)
        if grad is None or self.problem.lower_order is None:
            return grad
        return self._evaluated_gradients.of[x.node] or grad

    def gradient(self, x: Input) -> Node | None:
        """The gradient with respect to x as a graph; None if the output does not depend on x."""
        return self.gradients.of[x.node]

    # ---- numbers ---------------------------------------------------------------------------------

    @cached_property
    def evaluator(self) -> Evaluator:
        """An evaluator that has the values of the inputs, and of the seed and tangents where these
        do not depend on inputs without a value.
        """
        evaluator = self._without_seed()
        for direction in self.problem.directions:
            if direction.value is not None and not self._depends_on_unknown(direction.value):
                evaluator.values[direction.node] = self._cast(evaluator(direction.value)[0])
        return evaluator

    def with_seed(self, seed: Any) -> Evaluator:
        """An evaluator that has the values of the inputs, and an array for the seed."""
        evaluator = self._without_seed()
        evaluator.values[self.problem.seed.node] = self._cast(seed)
        return evaluator

    def _without_seed(self) -> Evaluator:
        values = {node: self._cast(value) for node, value in self.problem.values.items()}
        return Evaluator(values, dtype=self.dtype, limits=self.problem.limits)

    def _cast(self, value: Any) -> Any:
        return value.astype(self.dtype, copy=False) if value.dtype.kind == "f" else value

    def _depends_on_unknown(self, node: Node, *values: Node) -> bool:
        """Whether a node depends on an input without a value, other than those `values`."""
        known = {*self.problem.values, *values}
        return any(n.op.name == "input" and n not in known for n in walk([node]))

    def has_numbers(self, node: Node) -> bool:
        """Whether a node depends only on nodes with values."""
        values, known = self.evaluator.values, self._known
        missing = [] if node in known else walk([node], lambda n: () if n in known else n.inputs)
        for n in missing:
            if n not in known:
                known[n] = n in values or (
                    n.op.name != "input" and all(known[i] for i in n.parents)
                )
        return known[node]

    def value(self, node: Node) -> Any:
        """The array of a node, or None if it depends on an input without a value."""
        if not self.has_numbers(node):
            return None
        try:
            return self.evaluator(node)[0]
        except GradcliError as error:
            place = span_of_user(node, walk([self.problem.out], sources))
            raise error.at(place) from error.__cause__

    def value_if_possible(self, node: Node) -> Any:
        """The array of a node, or None also if it cannot be computed, as within the limits."""
        return if_applicable(lambda: self.value(node))

    def grad_value(self, x: Input) -> Any:
        """The gradient with respect to x as an array; None if there is none, or no value."""
        grad = self.computed(x)
        return None if grad is None else self.value(grad)

    def grad_values(self) -> dict[str, Any]:
        """The gradients as arrays by name of the input, None if there is no gradient.
        Intermediate values are not cached. Call `require_numbers` first.
        """
        grads = {x.name: self.computed(x) for x in self.problem.wrt}
        nodes = [grad for grad in grads.values() if grad is not None]
        from ..backends.blocks import values_of

        try:
            result = values_of(self.evaluator, nodes)
        except GradcliError as error:
            if error.span is None:
                self.value(self.problem.out)  # raises the same error, with its span
            raise
        return {name: None if grad is None else result.pop(0) for name, grad in grads.items()}

    def require_numbers(self) -> None:
        """Raise GradcliError if the gradients cannot be computed in numbers.

        A missing seed is reported in PyTorch's words, unless some inputs have values and others
        lack one: those are reported first, because the shape of the output may be a guess.
        """
        p = self.problem
        if p.seed.refused and not (p.values and self._missing()):
            raise GradcliError(
                "implicit-seed",
                NOT_SCALAR,
                span=p.program.span,
                hint=f"{p.out_name} has shape {shapes.text(p.out.shape)}: {_how_to_seed(p)}",
            )
        self.require_values()

    def require_values(self, what: str = "gradient") -> None:
        """Raise GradcliError if the gradients depend on inputs without a value."""
        missing = self._missing()
        if missing:
            has = "it has" if len(missing) == 1 else "they have"
            raise GradcliError(
                "needs-value",
                f"the {what} depends on {' and '.join(missing)}, but {has} no value",
                hint=f"give numbers: -v {missing[0]}=[...]; gradcli explain works without them",
            )

    def _missing(self) -> list[str]:
        """The inputs without a value that the gradients depend on."""
        p = self.problem
        nodes = [grad for grad in self.gradients.of.values() if grad is not None]
        inputs = {
            n.attrs["name"]
            for n in walk([*nodes, *([p.seed.value] if p.seed.value is not None else [])])
            if n.op.name == "input" and n is not p.seed.node
        }
        return sorted(inputs - {n.attrs["name"] for n in p.values})

    # ---- the Jacobian ----------------------------------------------------------------------------

    def jacobian(self, x: Input) -> "Jacobian":
        """The Jacobian of the output with respect to x; its entries are computed on access."""
        if x.node not in self._jacobians:
            self._jacobians[x.node] = self._jacobian(x)
        return self._jacobians[x.node]

    def _jacobian(self, x: Input) -> "Jacobian":
        from .jacobian import Jacobian, jacobian_of

        seed, plain = self.problem.seed.node, self.gradient(x)
        if plain is not None and self._depends_on_unknown(plain, seed):
            rows = cache(lambda: self.rows(self.computed(x) or plain))
            return Jacobian(self.problem.out.shape, x.shape, symbolic=lambda k: rows()(k))
        out, grad = self._out, self.computed(x)
        if grad is None:
            return Jacobian(out.shape, x.shape)
        if self._depends_on_unknown(grad, seed):
            return Jacobian(out.shape, x.shape, symbolic=self.rows(grad))
        if out.numel <= (FEW if len(self.problem.wrt) > FEW else 1):
            return Jacobian(out.shape, x.shape, whole=lambda: self._few_rows(grad))
        return Jacobian(
            out.shape,
            x.shape,
            whole=lambda: jacobian_of(out, x.node, self._without_seed()),
            vjp=lambda: self._without_seed().varying(grad, seed),
        )

    def _few_rows(self, grad: Node) -> Any:
        """The Jacobian whose VJP is `grad`: a row for each one-hot seed."""
        from ..backends.blocks import values_of

        rows = (values_of(evaluator, [grad])[0] for evaluator in self._one_hot_evaluators)
        return np.array([*rows])

    @cached_property
    def _one_hot_evaluators(self) -> list[Evaluator]:
        """An evaluator for each one-hot seed, with the values of the inputs. Each caches the values
        that the Jacobians of several inputs share, unless they are large.
        """
        size, shape = self.problem.out.numel, self.problem.out.shape
        return [self.with_seed(unit.reshape(shape)) for unit in np.eye(size)]

    # ---- elements --------------------------------------------------------------------------------

    @cached_property
    def symbolic(self) -> Any:
        """The backend over SymPy elements, with the values of seed and tangents where given."""
        from ..backends.symbolic import Symbolic

        p, backend = self.problem, self._without_directions
        result = {d.node: backend(d.value)[0] for d in p.directions if d.value is not None}
        values: dict[Node, Any] = {i.node: i.value for i in p.inputs.values()}
        return Symbolic(values | result, limits=p.limits) if result else backend

    @cached_property
    def _without_directions(self) -> Any:
        """The backend over SymPy elements, with seed and tangents as symbols."""
        from ..backends.symbolic import Symbolic

        p = self.problem
        return Symbolic({i.node: i.value for i in p.inputs.values()}, limits=p.limits)

    def rows(self, grad: Node) -> Callable[[int], Any]:
        """A function from k to row k of the Jacobian whose VJP is `grad`, in SymPy elements. SymPy
        is imported on the first call.
        """
        result: list[Any] = []

        def row(k: int) -> Any:
            if not result:
                from ..backends.symbolic import jacobian_rows

                result.append(jacobian_rows(grad, self.problem.seed.node, self._without_directions))
            return result[0](k)

        return row


def _how_to_seed(p: Problem) -> str:
    """A hint how to pass a seed."""
    if p.lower_order is None:
        return "give a seed of that shape with --grad, or reduce it with .sum()"
    before = "".join(" -g 1" for _ in range(p.order - 1))
    return f"a seed for each order, that of order {p.order} last:{before} -g 'ones_like(out)'"
