"""Elements in which the value of a formula differs from the numbers shown with it, and the cause.

The numbers are computed by the derivative rules, operation by operation. If an operation rounds to
a bound of its range, overflows or leaves its domain, the numbers lose information that the formula
retains.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from ...errors import MISFITS, if_applicable
from ...graphs import OPS, Node, downstream, walk
from ...graphs.shapes import Shape, numel
from ...language.problem import Input
from ...lazy import np
from ...notation import tree
from ...notation.formulas.formula import formula
from ...notation.indices.index import Notation
from ...notation.jacobians.structure import Structure
from ...notation.tree import Tree
from ..analysis import Analysis
from ..checking.finite_differences import perturbed
from ..checking.rounding import FEW, MUCH
from ..in_pytorch.kinks import kinks_hit
from .by_index import jacobian
from .formula_writer import FormulaWriter
from .trials import MOST, reads_one_draw, value_of

# largest numbers of entries of a Jacobian that is compared as an array, and entry by entry
ENTRIES, BY_INDEX = 4_096, 256
STEP = 1e-5  # relative perturbation of inputs, which shows whether they differ at this point only

BothArrays = Callable[[Analysis], tuple[Any, Any]]  # -> the numbers, the formula's value


class Contradiction(NamedTuple):
    """A mask of the elements in which a formula differs from the numbers, both arrays, and whether
    they differ only at this point, at which the formula is the limit of the numbers.
    """

    hit: Any
    formula: Any
    numbers: Any
    is_limit: bool


class Cause(NamedTuple):
    """An operation, its effect in words ("rounds to 1"), a mask of the elements with this effect,
    and whether the operation is undefined there.
    """

    node: Node
    does: str
    hit: Any
    is_undefined: bool = False


# ---- formulas with their numbers -----------------------------------------------------------------


class FormulaBesideNumbers(NamedTuple):
    """A formula shown beside numbers: the prefix of the names of its elements, what it is a formula
    of, its text, a function that computes both arrays, and the inputs that are perturbed.
    """

    name: str
    whose: str
    text: str
    both: BothArrays
    inputs: tuple[Input, ...]


def of_node(
    name: str, node: Node | None, formula: Tree | None, *xs: Input
) -> Iterator[FormulaBesideNumbers]:
    """The formula of a node; nothing if it has none, or its array is too large."""
    if node is None or formula is None or node.numel > MOST:
        return

    def both(a: Analysis) -> tuple[Any, Any]:
        numbers = a.value(node)
        return numbers, None if numbers is None else formula_value(a, text)

    text = tree.text(formula)
    yield FormulaBesideNumbers(name, name, text, both, xs)


def of_gradients(a: Analysis, w: FormulaWriter) -> Iterator[FormulaBesideNumbers]:
    """The formulas of the gradients."""
    for x in a.problem.wrt:
        yield from of_node(w.gradient_name(x), a.computed(x), w.gradient(x), x)


def of_matrix(
    a: Analysis, w: FormulaWriter, x: Input, s: Structure
) -> Iterator[FormulaBesideNumbers]:
    """The closed form of a Jacobian, or else its index notation, evaluated as a matrix."""
    if a.gradient(x) is None or not a.jacobian(x).numeric:
        return
    entries, p = numel(a.jacobian(x).size), a.problem
    whose = f"the Jacobian of {p.out_name} with respect to {x.name}"

    def both(compute: Callable[[Analysis], Any], a: Analysis) -> tuple[Any, Any]:
        numbers = a.jacobian(x).matrix
        return numbers, np.reshape(compute(a), numbers.shape)

    def closed_form(a: Analysis) -> Any:
        matrix = s.matrix(partial(formula_value, a), a.jacobian(x).size)
        if matrix is None:
            raise LookupError(s.text)
        return matrix

    if s.formula is not None:
        if entries <= ENTRIES:
            yield FormulaBesideNumbers(
                "entry ", whose, s.text or "", partial(both, closed_form), (x,)
            )
        return
    line = jacobian(w, x) if entries <= BY_INDEX else None
    if line is not None:
        of_line = partial(_of_line, line, (*p.out.shape, *x.shape))
        by_index = f"{whose} by index"
        yield FormulaBesideNumbers("entry ", by_index, line.plain, partial(both, of_line), (x,))


def _of_line(line: Notation, shape: Shape, a: Analysis) -> Any:
    """The array of a line of index notation. Raises GradcliError, LookupError."""
    from ...notation.indices.numbers import numbers

    p = a.problem
    named = p.scope | {p.out_name: p.out}
    elsewhere = any(
        name.text in named and named[name.text].shape != n.shape for n, name in line.names.items()
    )

    def value(node: Node) -> Any:
        name = line.names.get(node)
        if name is not None and name.text in named:
            return a.value(named[name.text])
        if node.op is OPS["tensor"]:
            if elsewhere:  # its numbers may depend on the sizes
                raise LookupError(node)
            return node.attrs["data"].value
        return formula_value(a, tree.text(formula(node, line.names)))

    return numbers(line, shape, value)


def formula_value(a: Analysis, formula: str) -> Any:
    """The array of a formula at the values of a problem. Raises GradcliError."""
    return value_of(formula, named_values(a), a.problem)


def named_values(a: Analysis) -> dict[str, Any]:
    """The arrays of the named nodes that have values."""
    p = a.problem
    nodes = p.scope | {p.out_name: p.out} | {d.node.attrs["name"]: d.node for d in p.directions}
    return {name: np.asarray(a.value(n)) for name, n in nodes.items() if a.has_numbers(n)}


# ---- where ---------------------------------------------------------------------------------------


def contradictions(
    a: Analysis, formulas: Iterable[FormulaBesideNumbers]
) -> Iterator[tuple[FormulaBesideNumbers, Contradiction]]:
    """The formulas that differ from their numbers, at most one for each `whose`. Seeds and tangents
    that were not given are ones.
    """
    a, contradicted = with_ones(a), set[str]()
    for pair in formulas:
        result = None if pair.whose in contradicted else _contradiction(a, pair.text, pair.both)
        if result is not None:
            contradicted.add(pair.whose)
            yield pair, result


def with_ones(a: Analysis) -> Analysis:
    """The analysis with ones for a missing seed and for tangents without values."""
    p = a.problem
    if not p.seed.refused and all(t.value is not None for t in p.tangents):
        return a
    ones = OPS["ones"]
    seed = p.seed
    if seed.refused:
        seed = seed._replace(value=ones(size=p.out.shape), refused=False)
    tangents = tuple(t._replace(value=t.value or ones(size=t.x.shape)) for t in p.tangents)
    return Analysis(p._replace(seed=seed, tangents=tangents), a.dtype, allow_no_gradient=True)


def _contradiction(a: Analysis, formula: str, both: BothArrays) -> Contradiction | None:
    """The elements in which a formula differs from its numbers, without those that differ because
    of rounding in the formula or a kink; None if there are none.
    """
    if not reads_one_draw(a.problem, formula):
        return None
    with np.errstate(all="ignore"):
        return if_applicable(lambda: _differing_elements(a, both), MISFITS)


def _differing_elements(a: Analysis, both: BothArrays) -> Contradiction | None:
    """As `_contradiction`; raises GradcliError, LookupError or ValueError if the arrays cannot be
    compared, for example because their shapes differ at other values of the inputs.
    """
    numbers, built = both(a)
    if numbers is None or numbers.shape != built.shape or not built.size:
        return None
    hit = np.isfinite(built) & ~_close(a, numbers, built)
    for _, near in _at_other_values(a, perturbed, both) if np.any(hit) else ():
        hit &= _close(a, built, near)
    return (
        _without_kinks(a, Contradiction(hit, built, numbers, False), both) if np.any(hit) else None
    )


def _without_kinks(a: Analysis, c: Contradiction, both: BothArrays) -> Contradiction | None:
    """The contradiction without elements that the note on kinks covers, or None if none are left.
    `is_limit` is set if formula and numbers agree to either side of this point, and the numbers
    there are close to the formula here.
    """
    sides = [
        side for sign in (1, -1) for side in _at_other_values(a, partial(_stepped, sign), both)
    ]
    alone, near = np.full(c.hit.shape, len(sides) == 2), c.hit
    within = 1e3 * STEP * np.maximum(1, np.abs(c.formula))
    for numbers, built in sides:
        alone &= _close(a, numbers, built)
        near = near & (np.abs(numbers - c.formula) <= within)
    hit = c.hit & ~alone if kinks_hit(a) else c.hit
    return c._replace(hit=hit, is_limit=bool(np.all((alone & near)[hit]))) if np.any(hit) else None


def _close(a: Analysis, left: Any, right: Any) -> Any:
    """A mask of where two arrays are equal up to rounding, or both nan."""
    seed = (
        np.max(np.abs(a.value(a.problem.seed.node))) if a.has_numbers(a.problem.seed.node) else 1.0
    )
    sizes = [np.max(np.abs(z), initial=0.0, where=np.isfinite(z)) for z in (left, right)]
    floor = MUCH * np.finfo(a.dtype).eps * max(1e-300, min(seed, 1e300), *sizes)
    size = np.maximum(np.abs(left), np.abs(right))
    both_nan = np.isnan(left) & np.isnan(right)
    return (left == right) | both_nan | (np.abs(left - right) <= np.maximum(FEW * size, floor))


def _at_other_values(
    a: Analysis, move: Callable[..., dict[Node, Any]], both: BothArrays
) -> list[tuple[Any, Any]]:
    """A list of both arrays at other values of the inputs; empty if they cannot be computed."""
    p = a.problem
    values = move(p.values, [x.node for x in p.wrt if x.value is not None])
    inputs = {n: i._replace(value=values.get(i.node)) for n, i in p.inputs.items()}
    other = Analysis(p._replace(inputs=inputs), a.dtype, allow_no_gradient=True)
    result = if_applicable(lambda: both(other), MISFITS)
    return [] if result is None else [result]


def _stepped(sign: int, values: dict[Node, Any], moving: list[Node]) -> dict[Node, Any]:
    """The values of `moving` nodes increased, or decreased for sign -1, by STEP."""
    return {
        x: v + sign * STEP * np.maximum(1, np.abs(v)) if x in moving else v
        for x, v in values.items()
    }


# ---- why -----------------------------------------------------------------------------------------


def cause(a: Analysis, inputs: Iterable[Input], hit: Any) -> Cause | None:
    """The first operation between inputs and output that loses information; if its output has the
    shape of the inputs, it must do so where `hit` is True. None if there is none.
    """
    order, moving = walk([a.problem.orders[0].out]), [x.node for x in inputs]
    after = downstream(order, moving)
    for result in (_information_loss(a, n) for n in order if n in after and n not in moving):
        if result is not None:
            where = result.hit & hit if result.hit.shape == np.shape(hit) else result.hit
            if np.any(where):
                return result._replace(hit=where)
    return next(_nonfinite_steps(a), None)


def _information_loss(a: Analysis, node: Node) -> Cause | None:
    """How the value of a node with finite inputs loses information; None if it does not."""
    if node.dtype != "float" or not a.has_numbers(node):
        return None
    arguments = [a.value(i) for i in node.parents if i.dtype == "float"]
    if not all(np.all(np.isfinite(z)) for z in arguments):
        return None
    value = a.value(node)
    if np.any(np.isnan(value)):
        return Cause(node, "has no value", np.isnan(value), True)
    if np.any(np.isinf(value)):
        return Cause(node, "is infinite", np.isinf(value), _is_pole(a, node, arguments))
    bounds = node.op.bounds
    if isinstance(bounds, tuple) and node.op.kink is None and node.op.value and len(arguments) == 1:
        for bound in filter(np.isfinite, bounds):
            hit = (value == bound) & _constant_mask(node, arguments[0], value)
            if np.any(hit):
                return Cause(node, f"rounds to {bound:g}", hit)
    return None


def _is_pole(a: Analysis, node: Node, arguments: list[Any]) -> bool:
    """Whether an infinite value is a pole, not an overflow: the operation is still infinite if its
    arguments are scaled to at most 1, as logdet(x) of a singular x is. An argument of 0 of an
    elementwise operation may come from underflow, unless a kink precedes it: log(det(x)).
    """
    if not node.op.value or len(arguments) != len(node.inputs):
        return False
    if node.op.family == "elementwise" and not {n for n, _ in kinks_hit(a)} & {*walk([node])}:
        return False
    scaled = [np.ldexp(z, -np.frexp(np.max(np.abs(z), initial=1.0))[1]) for z in arguments]
    with np.errstate(all="ignore"):
        value = if_applicable(partial(node.op.value, *scaled, **node.attrs))
    return value is not None and bool(np.any(np.isinf(value)))


def _constant_mask(node: Node, argument: Any, value: Any) -> Any:
    """A mask of where the value of an operation stays constant as its input is perturbed."""
    step = 1e-3 * np.maximum(1, np.abs(argument))
    if node.op.family != "elementwise":
        step = step * np.linspace(-1, 1, max(argument.size, 1)).reshape(argument.shape)
    with np.errstate(all="ignore"):
        return node.op.value(argument + step, **node.attrs) == value


def _nonfinite_steps(a: Analysis) -> Iterator[Cause]:
    """The operations that receive a finite gradient and send one that is not."""
    for step in a.gradients.steps:
        sending = [step.received, *(c.sent for c in step.contributions)]
        received, *sent = map(a.value, sending)
        if received is not None and np.all(np.isfinite(received)):
            for value in sent:
                if value is not None and not np.all(np.isfinite(value)):
                    yield Cause(step.node, "has no finite slope", ~np.isfinite(value))
