"""How many entries of a Jacobian can be other than 0, where no values tell: tried at random ones.

The deltas of its index notation say where entries can stand. Of a smooth program an entry that is 0
at random values always is. Where a program chooses by its values, as relu does, entries that are 0
at some of them make the count a bound.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

from ...autodiff.expansion import expanded
from ...backends.numeric import Evaluator
from ...errors import GradcliError
from ...graphs import Node, walk
from ...language.problem import Input, Problem
from ...lazy import np
from ...notation.jacobians.patterns import SELECTIONS
from ...notation.jacobians.structure import Structure
from ..jacobian import jacobian_of
from ..random_numbers import Numbers
from .trial_values import random_values
from .wording import Wording

MOST = 4_096  # entries of a matrix that is tried out
ROUNDING = 1e-12  # of the largest entry, or of 1
DRAWS = (1, 2, 3)  # in one of them an entry may be small by chance
FAR = 30  # what a program compares its values with may be far from 1
SIGNED = 4  # inputs whose signs are drawn while those of the others stay


def counted(found: Structure, w: Wording, x: Input) -> Structure:
    """The structure of the Jacobian by `x` with the count that random values confirm."""
    scales = _scales(w.problem)
    if found.name == "zero" or (scales and found.name in SELECTIONS):
        return found
    if found.total > MOST:
        return found._replace(at_most=bool(scales) and _varies(w, x.name, scales))
    ever, counts = _tried(w.problem, x.name, scales)
    if {*counts} in ({ever}, {found.nonzero}) and (ever or not scales):
        return found._replace(nonzero=counts[0], at_most=False)
    return found._replace(nonzero=found.nonzero or ever or None, at_most=True)


def _scales(problem: Problem) -> tuple[int, ...]:
    """How far from 1 values are tried; none where the program decides nothing by its values."""
    out = problem.orders[0].out
    if _decides(out):
        return (1, FAR)
    made_of = expanded([out])[out]  # a loss may have another slope far out
    return (1,) if _decides(made_of) else ()


def _decides(out: Node) -> bool:
    nodes = (n for n in walk([out]) if n.op.name != "constant")
    return any(n.op.kink or n.dtype != "float" for n in nodes)


def _varies(w: Wording, name: str, scales: Sequence[int]) -> bool:
    """Whether entries at small sizes are 0 for some values, or may be."""
    for trial in w.trials:
        problem = trial.problem
        if problem.out.numel * problem.inputs[name].node.numel <= MOST:
            ever, counts = _tried(problem, name, scales)
            return {*counts} != {ever}
    return True


def _tried(problem: Problem, name: str, scales: Sequence[int]) -> tuple[int, list[int]]:
    """How many entries are not 0 at some random values, but for rounding, and how many of these at
    each; where nothing is decided, 0 at some is chance.
    """
    tried = (_matrix(problem, name, values) for values in _values(problem, scales))
    matrices = [m for m in tried if m is not None]
    ever: Any = np.False_
    for matrix in matrices:
        largest = np.max(matrix, initial=1.0, where=np.isfinite(matrix))
        ever = ever | ~(matrix <= ROUNDING * largest)  # nan is not 0
    most = int(np.count_nonzero(ever))
    return most, [int(np.count_nonzero(ever & (m != 0))) if scales else most for m in matrices]


def _matrix(problem: Problem, name: str, values: dict[Node, Any]) -> Any:
    """The sizes of entries; None where they cannot be computed."""
    with suppress(GradcliError), np.errstate(all="ignore"):
        evaluator = Evaluator(dict(values), limits=problem.limits)
        return np.abs(jacobian_of(problem.out, problem.inputs[name].node, evaluator))
    return None


def _values(problem: Problem, scales: Sequence[int]) -> Iterator[dict[Node, Any]]:
    """Random values; then with the signs of all inputs and of each of them drawn, and with the
    opposite signs, so that of two sides no one is left out.
    """
    drawn = [random_values(problem, draw) for draw in DRAWS]
    yield from drawn
    values = drawn[0]
    free = [x.node for x in problem.inputs.values() if x.value is None and x.node.dtype == "float"]
    groups = [free, *([x] for x in free[:SIGNED] if len(free) > 1)]
    signs = Numbers(0)
    for chosen, scale in product(groups, scales):
        by = {x: scale * signs.signs(x.shape) for x in chosen}
        yield values | {x: values[x] * by[x] for x in chosen}
        yield values | {x: -values[x] * by[x] for x in chosen}
