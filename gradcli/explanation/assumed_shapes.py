"""What a formula takes for granted of inputs whose shape nobody gave."""

from collections.abc import Iterator
from contextlib import suppress

from .. import ways
from ..errors import GradcliError
from ..language.problem import Problem
from ..notation import tree
from .claims.readings import RANKS, Reading, with_rank, with_vectors
from .formulas import Trial, fails
from .wording import Wording, shape_text


def assumed_shapes(w: Wording) -> str | None:
    """`assumed: x 2×3 (for a vector: -s x=3)`: the shapes that were assumed, where a formula does
    not hold for another rank that an input may be meant with.
    """
    problem = w.analysis.problem
    inputs = problem.inputs.values()
    if problem.before is not None:
        return None
    for reading in _other_ranks(problem):
        there = reading.problems[0].inputs
        changed = {x.name for x in inputs if len(there[x.name].shape) != len(x.shape)}
        if changed != {*reading.names} or _holds(w, reading.problems[0]):
            continue
        other = {name: there[name].shape for name in reading.names}
        kind = RANKS[len(other[reading.names[0]])][len(other) > 1]
        shapes = ", ".join(f"{x.name} {shape_text(x.shape)}" for x in inputs if x.inferred)
        options = ",".join(f"{name}={'x'.join(map(str, shape))}" for name, shape in other.items())
        return f"assumed: {shapes} (for {kind}: -s {options})"
    return None


def as_note(w: Wording, way: ways.Way) -> list[tuple[str, str]]:
    """The same as a note, in the words of JSON or of Python; none where nothing was assumed."""
    found = assumed_shapes(w)
    return [] if found is None else [("assumed-shapes", ways.said(f"{found}.", way))]


def _other_ranks(problem: Problem) -> Iterator[Reading]:
    """Vectors for matrices, and matrices for vectors where all are vectors."""
    yield from with_vectors(problem, most=1)
    all_vectors = all(len(x.shape) == 1 for x in problem.inputs.values() if x.inferred)
    found = with_rank(problem, 1, 2) if all_vectors else with_rank(problem, 2, 1)
    if found is not None:
        yield found


def _holds(w: Wording, other: Problem) -> bool:
    """Whether the formulas of all gradients are right for the problem at other shapes."""
    with suppress(GradcliError):
        trial = Trial(other, {x.name: x.shape for x in other.inputs.values()})
        written = ((x.name, w.gradient(x)) for x in w.analysis.problem.wrt)
        return not any(made and fails(trial, tree.text(made), name) for name, made in written)
    return True
