"""Where a formula has other numbers than those that stand beside it, and why.

The numbers come from the rules, one operation after another. Where an operation rounds to a bound
of its values, overflows or leaves its domain, they lose what the formula still has.
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
from ...notation.indices.numbers import numbers as numbers_of
from ...notation.jacobians.structure import Structure
from ...notation.tree import Tree
from ..analysis import Analysis
from ..checking.perturbation import perturbed
from ..checking.rounding import FEW, MUCH
from ..in_pytorch.conventions import kinks_met
from .by_index import jacobian
from .trials import MOST, reads_one_draw, value_of
from .wording import Wording

ENTRIES, BY_INDEX = 4_096, 256  # of a matrix that is looked through, at once and one by one
STEP = 1e-5  # by which inputs move, to see whether a point is an exception

Numbers = Callable[[Analysis], tuple[Any, Any]]  # those beside the formula, and its own


class Contradiction(NamedTuple):
    """Where a formula is another number than the one beside it (`hit`), both arrays, and whether
    that is so at this point alone, of which the formula is the limit.
    """

    hit: Any
    formula: Any
    numbers: Any
    is_limit: bool


class Cause(NamedTuple):
    """An operation, what it does ("rounds to 1"), where, and whether it has no value there."""

    node: Node
    does: str
    hit: Any
    is_undefined: bool = False


# ---- what is looked at ---------------------------------------------------------------------------


class Beside(NamedTuple):
    """A formula that stands beside numbers: what an element of these is called, whose formula it
    is, its text, both arrays, and the inputs that move.
    """

    name: str
    whose: str
    text: str
    both: Numbers
    inputs: tuple[Input, ...]


def of_node(name: str, node: Node | None, formula: Tree | None, *xs: Input) -> Iterator[Beside]:
    """The formula of a node; none where there is none, or its array is too large."""
    if node is None or formula is None or node.numel > MOST:
        return

    def both(a: Analysis) -> tuple[Any, Any]:
        return a.value(node), formula_value(a, text)

    text = tree.text(formula)
    yield Beside(name, name, text, both, xs)


def of_gradients(a: Analysis, w: Wording) -> Iterator[Beside]:
    """The formulas of the gradients."""
    for x in a.problem.wrt:
        yield from of_node(w.gradient_name(x), a.computed(x), w.gradient(x), x)


def of_matrix(a: Analysis, w: Wording, x: Input, s: Structure) -> Iterator[Beside]:
    """The closed form of a Jacobian, or its line by index, by the places of the matrix."""
    if a.gradient(x) is None or not a.jacobian(x).numeric:
        return
    entries, p = numel(a.jacobian(x).size), a.problem
    whose = f"the Jacobian of {p.out_name} with respect to {x.name}"

    def both(made: Callable[[Analysis], Any], a: Analysis) -> tuple[Any, Any]:
        numbers = a.jacobian(x).matrix
        return numbers, np.reshape(made(a), numbers.shape)

    def closed_form(a: Analysis) -> Any:
        matrix = s.matrix(partial(formula_value, a), a.jacobian(x).size)
        if matrix is None:
            raise LookupError(s.text)
        return matrix

    if s.formula is not None:
        if entries <= ENTRIES:
            yield Beside("entry ", whose, s.text or "", partial(both, closed_form), (x,))
        return
    line = jacobian(w, x) if entries <= BY_INDEX else None
    if line is not None:
        of_line = partial(_of_line, line, (*p.out.shape, *x.shape))
        yield Beside("entry ", whose, line.plain, partial(both, of_line), (x,))


def _of_line(line: Notation, shape: Shape, a: Analysis) -> Any:
    """The array of a line of index notation. Raises GradcliError, LookupError."""
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
            if elsewhere:  # its numbers may be those of other sizes
                raise LookupError(node)
            return node.attrs["data"].value
        return formula_value(a, tree.text(formula(node, line.names)))

    return numbers_of(line, shape, value)


def formula_value(a: Analysis, formula: str) -> Any:
    """The array of a formula at the values of a problem. Raises GradcliError."""
    return value_of(formula, named_values(a), a.problem)


def named_values(a: Analysis) -> dict[str, Any]:
    """The arrays of what has a name and is known."""
    p = a.problem
    nodes = p.scope | {p.out_name: p.out} | {d.node.attrs["name"]: d.node for d in p.directions}
    return {name: np.asarray(a.value(n)) for name, n in nodes.items() if a.known(n)}


# ---- where ---------------------------------------------------------------------------------------


def contradictions(
    a: Analysis, formulas: Iterable[Beside]
) -> Iterator[tuple[Beside, Contradiction]]:
    """Formulas that contradict the numbers beside them, the first of each. Those of seeds and
    tangents that nobody gave are the numbers with ones.
    """
    a, met = with_ones(a), set[str]()
    for beside in formulas:
        result = None if beside.whose in met else _contradiction(a, beside.text, beside.both)
        if result is not None:
            met.add(beside.whose)
            yield beside, result


def with_ones(a: Analysis) -> Analysis:
    """The same with ones for a seed and for tangents that have no numbers."""
    p = a.problem
    if not p.seed.refused and all(t.value is not None for t in p.tangents):
        return a
    ones = OPS["ones"]
    seed = p.seed
    if seed.refused:
        seed = seed._replace(value=ones(size=p.out.shape), refused=False)
    tangents = tuple(t._replace(value=t.value or ones(size=t.x.shape)) for t in p.tangents)
    return Analysis(p._replace(seed=seed, tangents=tangents), a.dtype, unmoved=True)


def _contradiction(a: Analysis, formula: str, both: Numbers) -> Contradiction | None:
    """None too where rounding decides on the formula's numbers, or a kink that the values meet."""
    if not reads_one_draw(a.problem, formula):
        return None
    with np.errstate(all="ignore"):
        return if_applicable(lambda: _compared(a, both), MISFITS)


def _compared(a: Analysis, both: Numbers) -> Contradiction | None:
    """The same. Raises GradcliError, LookupError, ValueError where arrays cannot be compared, as at
    other values they may have other shapes.
    """
    numbers, built = both(a)
    if numbers is None or numbers.shape != built.shape or not built.size:
        return None
    hit = np.isfinite(built) & ~_alike(a, numbers, built)
    for _, near in _moved(a, perturbed, both) if np.any(hit) else ():
        hit &= _alike(a, built, near)
    return _told(a, Contradiction(hit, built, numbers, False), both) if np.any(hit) else None


def _told(a: Analysis, c: Contradiction, both: Numbers) -> Contradiction | None:
    """A contradiction without what a note on kinks tells; whether all of it is at this point alone,
    and a little to either side the numbers are nearly those of the formula here.
    """
    sides = [side for sign in (1, -1) for side in _moved(a, partial(_stepped, sign), both)]
    alone, near = np.full(c.hit.shape, len(sides) == 2), c.hit
    within = 1e3 * STEP * np.maximum(1, np.abs(c.formula))
    for there, built in sides:
        alone &= _alike(a, there, built)
        near = near & (np.abs(there - c.formula) <= within)
    hit = c.hit & ~alone if kinks_met(a) else c.hit
    return c._replace(hit=hit, is_limit=bool(np.all((alone & near)[hit]))) if np.any(hit) else None


def _alike(a: Analysis, left: Any, right: Any) -> Any:
    """Where two arrays have the same numbers but for rounding, or both nan."""
    seed = np.max(np.abs(a.value(a.problem.seed.node))) if a.known(a.problem.seed.node) else 1.0
    sizes = [np.max(np.abs(z), initial=0.0, where=np.isfinite(z)) for z in (left, right)]
    floor = MUCH * np.finfo(a.dtype).eps * max(1e-300, min(seed, 1e300), *sizes)
    size = np.maximum(np.abs(left), np.abs(right))
    both_nan = np.isnan(left) & np.isnan(right)
    return (left == right) | both_nan | (np.abs(left - right) <= np.maximum(FEW * size, floor))


def _moved(
    a: Analysis, move: Callable[..., dict[Node, Any]], both: Numbers
) -> list[tuple[Any, Any]]:
    """Both arrays at other values of the inputs; nothing where there are none."""
    p = a.problem
    values = move(p.values, [x.node for x in p.wrt if x.value is not None])
    inputs = {n: i._replace(value=values.get(i.node)) for n, i in p.inputs.items()}
    other = Analysis(p._replace(inputs=inputs), a.dtype, unmoved=True)
    result = if_applicable(lambda: both(other), MISFITS)
    return [] if result is None else [result]


def _stepped(sign: int, values: dict[Node, Any], moving: list[Node]) -> dict[Node, Any]:
    """All numbers a little larger, or smaller."""
    return {
        x: v + sign * STEP * np.maximum(1, np.abs(v)) if x in moving else v
        for x, v in values.items()
    }


# ---- why -----------------------------------------------------------------------------------------


def cause(a: Analysis, inputs: Iterable[Input], hit: Any) -> Cause | None:
    """The first operation between inputs and the output that loses what goes through it; of those
    in the inputs' shape one that does so where it is `hit`.
    """
    order, moving = walk([a.problem.orders[0].out]), [x.node for x in inputs]
    after = downstream(order, moving)
    for result in (_lost(a, n) for n in order if n in after and n not in moving):
        if result is not None:
            here = result.hit & hit if result.hit.shape == np.shape(hit) else result.hit
            if np.any(here):
                return result._replace(hit=here)
    return next(_sending(a), None)


def _lost(a: Analysis, node: Node) -> Cause | None:
    """What becomes of the value of a node whose inputs are finite."""
    if node.dtype != "float" or not a.known(node):
        return None
    given = [a.value(i) for i in node.parents if i.dtype == "float"]
    if not all(np.all(np.isfinite(z)) for z in given):
        return None
    value = a.value(node)
    if np.any(np.isnan(value)):
        return Cause(node, "has no value", np.isnan(value), True)
    if np.any(np.isinf(value)):
        return Cause(node, "is infinite", np.isinf(value))
    bounds = node.op.bounds
    if isinstance(bounds, tuple) and node.op.kink is None and node.op.value and len(given) == 1:
        for bound in filter(np.isfinite, bounds):
            hit = (value == bound) & _stays(node, given[0], value)
            if np.any(hit):
                return Cause(node, f"rounds to {bound:g}", hit)
    return None


def _stays(node: Node, given: Any, value: Any) -> Any:
    """Where the value of an operation stays what it is as its input moves."""
    step = 1e-3 * np.maximum(1, np.abs(given))
    if node.op.family != "elementwise":
        step = step * np.linspace(-1, 1, max(given.size, 1)).reshape(given.shape)
    with np.errstate(all="ignore"):
        return node.op.value(given + step, **node.attrs) == value


def _sending(a: Analysis) -> Iterator[Cause]:
    """The operations that send back what is not finite, where they receive what is."""
    for step in a.gradients.steps:
        sending = [step.received, *(c.sent for c in step.contributions)]
        received, *sent = map(a.value, sending)
        if received is not None and np.all(np.isfinite(received)):
            for value in sent:
                if value is not None and not np.all(np.isfinite(value)):
                    yield Cause(step.node, "has no finite slope", ~np.isfinite(value))
