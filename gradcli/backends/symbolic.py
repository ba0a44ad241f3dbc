"""Values of a graph as arrays of SymPy expressions, for elements that are written out.

No operator is special here: each is computed by its field `symbolic`, by its expansion, or by its
NumPy function if this function works on SymPy elements. Nodes that do not depend on symbols are
computed with numbers, and converted when they are combined with symbols.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..budget import EVERY, tick
from ..errors import GradcliError
from ..graphs import Node, walk
from ..graphs.shapes import Shape, axes, numel
from ..lazy import np, sp
from ..limits import Limits
from ..operators.elements import cases, is_condition, number, reduce_over, truth
from .elements import as_sympy_number, tidy
from .numeric import Evaluator

MOST_ELEMENTS = 2_000  # the most elements that are written out
MOST_NODES = 50_000  # nodes of the expressions of one tensor, counted with repetitions
MOST_PER_ARGUMENT = 2_500  # nodes of the argument of a function; SymPy examines each of them
# Exceptions of NumPy and SymPy for elements that a function does not support.
UNWRITABLE = TypeError, AttributeError, ValueError, NotImplementedError, AssertionError


def writable(*shapes: Shape) -> bool:
    """Whether tensors of these shapes together have at most MOST_ELEMENTS elements. Callers check
    this for all inputs, outputs and gradients before they create a Symbolic.
    """
    return sum(map(numel, shapes)) <= MOST_ELEMENTS


class Symbolic:
    """Arrays of SymPy expressions for nodes, each computed once.

    `given` maps inputs to arrays of numbers or SymPy elements. Other inputs are arrays of real
    symbols, one for each element, named as in the language: `x[0,1]`.
    """

    def __init__(self, given: Mapping[Node, Any], *, limits: Limits | None = None):
        numbers = {n: a for n, a in given.items() if a is not None and a.dtype != object}
        self.numeric = Evaluator(numbers, limits=limits)
        self.values: dict[Node, Any] = {
            n: a for n, a in given.items() if a is not None and a.dtype == object
        }
        self._live: dict[Node, bool] = dict.fromkeys(self.values, True) | dict.fromkeys(
            numbers, False
        )
        self._refused: dict[Node, GradcliError] = {}
        self._lengths: dict[Any, int] = {}
        self._tidied: dict[Any, Any] = {}

    def __call__(self, *roots: Node) -> list[Any]:
        """The arrays of `roots`, in their order: SymPy expressions, of dtype object.

        Raises GradcliError "limit" if expressions are too long, and "needs-value" if an operator
        has no symbolic value.
        """
        try:
            return [_map(self._tidy, self._elements(root)) for root in map(self._run, roots)]
        except RecursionError:
            raise self._too_long("the expression") from None

    # ---- the walk --------------------------------------------------------------------------------

    def _run(self, root: Node) -> Node:
        for node in walk([root], lambda n: () if n in self.values else self._sources(n)):
            if node not in self.values:
                self.values[node] = self._compute(node)
        return root

    def _depends(self, node: Node) -> bool:
        """Whether the value of `node` depends on symbols."""
        live = self._live
        if node not in live:
            for n in walk([node], lambda n: () if n in live else n.inputs):
                if n not in live:
                    free = not n.inputs and n.op.value is None and not n.op.expand
                    live[n] = free or any(live[i] for i in n.parents)
        return live[node]

    def _sources(self, node: Node) -> Sequence[Node]:
        if not self._depends(node):
            return ()
        return (node.op.expanded(node),) if _is_expanded(node) else node.parents

    def _compute(self, node: Node) -> Any:
        if node in self._refused:
            raise self._refused[node]
        try:
            return self._computed(node)
        except GradcliError as error:
            self._refused[node] = error
            raise

    def _computed(self, node: Node) -> Any:
        if not self._depends(node):
            return self.numeric(node)[0]
        if not node.inputs and "name" in node.attrs:
            return _symbols(node.attrs["name"], node.shape)
        if _is_expanded(node):
            return self.values[node.op.expanded(node)]
        try:
            result = self._apply(node)
        except GradcliError as error:
            raise error.at(node.span) from None
        except UNWRITABLE as error:
            raise GradcliError(
                "needs-value", f"{node.op.name}() cannot be written in symbols", span=node.span
            ) from error
        return self._checked(result, node)

    def _apply(self, node: Node) -> Any:
        op, attrs = node.op, {name: _exact(value) for name, value in node.attrs.items()}
        if op.family == "elementwise" and op.symbolic:
            return self._elementwise(node, attrs)
        operands = [self._operand(node, k) for k in range(len(node.inputs))]
        if op.symbolic is None:
            return _by_value(op, operands, node)
        if op.family != "reduction":
            return op.symbolic(sp, *operands, **attrs)
        (x,) = operands
        over = axes(attrs.pop("dim"), x.ndim)
        attrs.pop("keepdim", None)
        return reduce_over(lambda *row: op.symbolic(sp, *row, **attrs), x, over).reshape(node.shape)

    def _elementwise(self, node: Node, attrs: dict) -> Any:
        """The array of an elementwise operator, with broadcasting."""
        op, operands = node.op, [self._operand(node, k) for k in range(len(node.inputs))]
        wide = [None if o is None else np.broadcast_to(o, node.shape).reshape(-1) for o in operands]
        out, remaining = np.empty(numel(node.shape), object), MOST_NODES
        for k in range(len(out)):
            tick()
            elements = [None if o is None else o[k] for o in wide]
            if (
                len(elements) == 1
                and op.dtype == "float"
                and self._node_count(elements[0]) > MOST_PER_ARGUMENT
            ):
                raise self._too_long(f"the argument of {op.name}()")
            out[k] = op.symbolic(sp, *elements, **attrs)
            if all(x is None or x.is_Number for x in elements) and not out[k].is_extended_real:
                out[k] = _numerically(op, elements, node)  # 1/0, log(0), sqrt(-1) as in NumPy
            remaining -= self._node_count(out[k])
            if remaining < 0:
                raise self._too_long(f"the elements of {op.name}()")
        return out.reshape(node.shape)

    def _operand(self, node: Node, slot: int) -> Any:
        """The elements of an input as SymPy numbers; integer inputs with values are unchanged."""
        i, op = node.inputs[slot], node.op
        if i is None:
            return None
        is_integer = slot < len(op.inputs) and op.inputs[slot] in op.integer_inputs
        if is_integer and op.family != "elementwise" and self.values[i].dtype != object:
            return self.values[i]
        elements = self._elements(i)
        if is_integer or op.family == "movement" or op.dtype == "bool":
            return elements
        return _map(lambda x: number(sp, x), elements)

    def _elements(self, node: Node) -> Any:
        value = self.values[node]
        if value.dtype != object:
            value = _map(as_sympy_number, value)
        return value

    # ---- elements --------------------------------------------------------------------------------

    def _checked(self, result: Any, node: Node) -> Any:
        """The result of an operator as an array of SymPy elements."""
        out = np.empty(node.shape, object)
        if isinstance(result, np.ndarray):
            out[...] = result
        else:
            out[()] = result
        flat, length = out.reshape(-1), 0
        for k, x in enumerate(flat):
            tick()
            flat[k] = x = _as_element(x)
            length += self._node_count(x)
            if length > MOST_NODES:
                raise self._too_long(f"the elements of {node.op.name}()")
        if node.op.family == "movement" and any(map(is_condition, flat)):
            flat[:] = [truth(sp, x) for x in flat]  # in tril of a mask, zeros become false
        return out

    def _node_count(self, x: Any) -> int:
        """The number of nodes of an expression, with repetitions; cached by subexpression."""
        known = self._lengths.get(x)
        if known is None:
            known = self._lengths[x] = 1 + sum(map(self._node_count, x.args))
        return known

    def _too_long(self, what: str) -> GradcliError:
        return GradcliError(
            "limit",
            f"{what}: too long to write out in symbols",
            hint="give the inputs values with --value",
        )

    def _tidy(self, x: Any) -> Any:
        result = self._tidied.get(x)
        if result is None:
            tick()
            result = self._tidied[x] = tidy(x)
        return result


def _is_expanded(node: Node) -> bool:
    """Whether the elements of a node are those of its expansion."""
    return node.op.symbolic is None and bool(node.op.expand)


def _symbols(name: str, shape: Shape) -> Any:
    """The symbols of an input: `x[0,1]`, or `x` if it has no dimensions."""
    out = np.empty(shape, object)
    for position in np.ndindex(shape):
        index = f"[{','.join(map(str, position))}]" if position else ""
        out[position] = sp.Symbol(name + index, real=True)
    return out


def _numerically(op, elements: list, node: Node) -> Any:
    with np.errstate(all="ignore"):
        return as_sympy_number(
            float(op.value(*(None if x is None else np.float64(x) for x in elements), **node.attrs))
        )


def _by_value(op, operands: list, node: Node) -> Any:
    """The operator's NumPy function applied to arrays of SymPy elements. A function that adds and
    multiplies, such as matmul, receives them as `_Sum` objects, which is faster.
    """
    if op.family not in ("elementwise", "movement", "reduction"):
        sums = [
            o if o is None or o.dtype != object else _map(lambda x: _Sum([x]), o) for o in operands
        ]
        try:
            return op.value(*sums, **node.attrs)
        except (TypeError, AttributeError):
            pass  # the function needs more than addition and multiplication
    return op.value(*operands, **node.attrs)


class _Sum:
    """A sum that collects its terms, because SymPy sorts them at every addition."""

    __slots__ = ("terms",)

    def __init__(self, terms: list):
        self.terms = terms

    def __add__(self, other: Any) -> "_Sum":
        return (
            _Sum(self.terms + other.terms)
            if isinstance(other, _Sum)
            else _Sum([*self.terms, other])
        )

    __radd__ = __add__

    def __mul__(self, other: Any) -> "_Sum":
        tick()
        return _Sum([a * b for a in self.terms for b in other.terms])


def _map(function, array: Any) -> Any:
    out = np.empty(array.shape, object)
    flat = out.reshape(-1)
    for k, x in enumerate(array.reshape(-1).tolist()):
        tick()
        flat[k] = function(x)
    return out


def _exact(value: Any) -> Any:
    return as_sympy_number(value) if isinstance(value, float) else value


def _as_element(x: Any) -> Any:
    """A value as a SymPy expression; complex infinity, of a division by zero, becomes inf."""
    if isinstance(x, np.ndarray):
        x = x.item()
    if isinstance(x, _Sum):
        x = sp.Add(*x.terms)
    if not isinstance(x, sp.Basic):
        return as_sympy_number(x.item() if isinstance(x, np.generic) else x)
    if x is sp.zoo:
        return sp.oo
    return sp.Mul(sp.oo, *x.args[1:]) if x.is_Mul and x.args[0] is sp.zoo else x


def jacobian_rows(grad: Node, seed: Node, elements: Symbolic) -> Callable[[int], Any]:
    """A function that returns row k of a Jacobian, flattened: the derivative of the gradient `grad`
    with respect to element k of `seed`. `grad` is linear in `seed`, whose elements are symbols.
    """
    seeds, gradient = map(np.ravel, elements(seed, grad))
    has = [e.free_symbols for e in gradient]  # most symbols of the seed occur in few elements

    def row(k: int) -> Any:
        tick(EVERY)
        slopes = [
            _coefficient(e, seeds[k]) if seeds[k] in symbols else sp.S.Zero
            for e, symbols in zip(gradient, has, strict=True)
        ]
        return np.array(slopes, dtype=object)

    return row


def _coefficient(e: Any, by: Any) -> Any:
    """The coefficient of the symbol `by` in an element that is linear in it."""
    if e == by:
        return sp.S.One
    if by not in e.free_symbols:
        return sp.S.Zero
    if isinstance(e, sp.Piecewise):
        return cases(sp, e, lambda branch: _coefficient(branch, by))
    if e.is_Add:
        return sp.Add(*(_coefficient(term, by) for term in e.args))
    if e.is_Mul:
        return sp.Mul(*(_coefficient(f, by) if by in f.free_symbols else f for f in e.args))
    return e.diff(by)
