"""The inferred shapes on which a formula depends."""

from collections.abc import Iterable, Iterator

from ... import option_spelling
from ...errors import if_applicable
from ...graphs.shapes import Shape
from ...language.generic_sizes import at_shapes
from ...language.problem import Problem
from ...notation import tree
from ..analysis import within_budget
from ..phrases import shape_text
from .formula_writer import FormulaWriter
from .readings import (
    RANKS,
    Reading,
    with_coefficients,
    with_columns,
    with_matrices,
    with_rank,
    with_vectors,
)
from .trials import Trial


@within_budget()
def assumed_shapes(w: FormulaWriter) -> str | None:
    """A remark on the inferred shapes, `assumed: x 2×3 (for a vector: -s x=3)`, if a formula does
    not hold for another plausible rank of an input; None if all formulas do.
    """
    problem = w.analysis.problem
    inferred = any(x.inferred for x in problem.inputs.values())
    if not inferred or problem.lower_order is not None or w.reach.undefined:
        return None
    ranks, batches = _other_ranks(problem), _in_batches(w)
    return (
        _failing_at_other_rank(w, ranks) or _where_oblong(w) or _failing_at_other_rank(w, batches)
    )


def inferred_shapes(problem: Problem) -> str | None:
    """A remark on the inferred shapes, on which a Jacobian depends: `assumed: x 2×3, a 3×4 (-s
    gives others)`; None if no shape was inferred.
    """
    return f"assumed: {_shapes(problem)} (-s gives others)" if _shapes(problem) else None


def _shapes(problem: Problem) -> str:
    inferred = [x for x in problem.inputs.values() if x.inferred]
    return ", ".join(f"{x.name} {shape_text(x.shape)}" for x in inferred)


def _failing_at_other_rank(w: FormulaWriter, readings: Iterable[Reading]) -> str | None:
    """The first of these readings for which a formula fails, as text; None if all hold."""
    problem = w.analysis.problem
    for reading in readings:
        other_inputs, inputs = reading.problems[0].inputs, problem.inputs.values()
        changed = {x.name for x in inputs if len(other_inputs[x.name].shape) != len(x.shape)}
        if changed == {*reading.names} and not _formulas_hold(w, reading.problems[0]):
            other = {name: other_inputs[name].shape for name in reading.names}
            rank = len(other[reading.names[0]])
            return _assumption_text(problem, f"for {RANKS[rank][len(other) > 1]}", other)
    return None


def _where_oblong(w: FormulaWriter) -> str | None:
    problem = w.analysis.problem
    oblong = _oblong(problem)
    if oblong is None or _formulas_hold(w, oblong):
        return None
    shapes = problem.shapes
    sides = {x.name: x.shape for x in oblong.inputs.values() if x.shape != shapes[x.name]}
    return _assumption_text(problem, "where not square", sides)


def _assumption_text(problem: Problem, when: str, other: dict[str, Shape]) -> str:
    """The inferred shapes, and the option that gives others."""
    option = "-s" if all(other.values()) else "-v"
    suggestion = ",".join(
        f"{name}={'x'.join(map(str, shape)) or 1}" for name, shape in other.items()
    )
    return f"assumed: {_shapes(problem)} ({when}: {option} {suggestion})"


def as_note(w: FormulaWriter, spelling: option_spelling.Spelling) -> list[tuple[str, str]]:
    """`assumed_shapes` as a list of at most one note, in the spelling of JSON or Python."""
    result = assumed_shapes(w)
    if result is None:
        return []
    return [("assumed-shapes", option_spelling.respell(f"{result}.", spelling))]


def _other_ranks(problem: Problem) -> Iterator[Reading]:
    """Readings with other ranks: matrices for vector operands of @, vectors for matrices with
    lower-case names, scalars for coefficients, batches for images, and matrices for vectors if all
    inputs are vectors.
    """
    all_vectors = all(len(x.shape) == 1 for x in problem.inputs.values() if x.inferred)
    matrices = with_matrices(problem)
    if matrices is not None:
        yield matrices
    fewer = [*with_vectors(problem, most=1), with_columns(problem), with_rank(problem, 2, 1)]
    yield from _in_lower_case([*fewer, with_coefficients(problem), with_rank(problem, 3, 4)])
    result = with_rank(problem, 1, 2) if all_vectors else None
    if result is not None:
        yield result


def _in_lower_case(readings: Iterable[Reading | None]) -> Iterator[Reading]:
    """The readings that do not change inputs with upper-case names, which denote matrices."""
    for reading in readings:
        if reading is not None and not any(name[0].isupper() for name in reading.names):
            yield reading


def _in_batches(w: FormulaWriter) -> Iterator[Reading]:
    """Readings with batches for matrices, unless one must be square, as in `inv(x)`."""
    generic = w.generic
    if generic and not any(_is_square(x.shape) for x in generic.problem.inputs.values()):
        yield from _in_lower_case([with_rank(w.problem, 2, 3)])


def _oblong(problem: Problem) -> Problem | None:
    """The problem with non-square shapes for matrices inferred to be square; None if there are
    none, or they must be square.
    """
    shapes = problem.shapes
    square = [x for x in problem.inputs.values() if x.inferred and _is_square(x.shape)]
    oblong = {x.name: (x.shape[0], x.shape[1] + 1) for x in square}
    return if_applicable(lambda: at_shapes(problem, shapes | oblong)) if oblong else None


def _is_square(shape: Shape) -> bool:
    return len(shape) == 2 and shape[0] == shape[1]


def _formulas_hold(w: FormulaWriter, other: Problem) -> bool:
    """Whether the formulas of all gradients are right for the problem `other`."""
    trial = Trial.at(other, other.shapes)
    if trial is None:
        return True
    written = ((x.name, w.gradient(x)) for x in w.analysis.problem.wrt)
    return not any(built and trial.fails(tree.text(built), name) for name, built in written)
