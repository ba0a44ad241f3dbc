"""The number of entries of a Jacobian that can be nonzero, if inputs have no values.

The deltas of its index notation say which entries can be nonzero. If the program branches on
values, as relu does, the count is an upper bound. Otherwise, entries that cancel at random values
always cancel.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

from ...backends.numeric import Evaluator
from ...errors import if_applicable
from ...graphs import OPS, Node, downstream, walk
from ...graphs.substitution import expanded
from ...language.arguments.assumptions import with_properties
from ...language.problem import Input, Problem
from ...lazy import np
from ...notation.jacobians.patterns import SELECTIONS
from ...notation.jacobians.structure import Structure
from ..jacobian import jacobian_of
from .trial_values import random_values

DRAWS = (1, 2, 3)
SCALES = (1.0, 1 / 32)  # values near 0 cause less underflow
# relative to the error in single precision; the rounding error in double precision is smaller
CANCELS = 1e-6


def bounded(result: Structure, problem: Problem) -> Structure:
    """The structure, with its count marked as an upper bound if the count depends on values."""
    certain = result.name == "zero" or result.name in SELECTIONS or not branching_nodes(problem)
    return result._replace(at_most=not certain)


def branching_nodes(problem: Problem) -> list[Node]:
    """The nodes whose values decide which entries are 0: comparisons, rounding and piecewise
    functions. For a first derivative of a program that uses every node once, functions whose slope
    is nowhere 0 (such as leaky_relu) are left out.
    """
    out = problem.orders[0].out
    nodes = walk([expanded([out], _is_smooth)[out]])
    varying = downstream(nodes, [n for n in nodes if n.op is OPS["input"]])
    chosen = [n for n in nodes if n in varying and (n.op.kink or n.dtype != "float")]
    sloped = len(problem.orders) == 1 and _is_tree(nodes, varying)
    return [n for n in chosen if not (_is_smooth(n) or (sloped and n.op.is_sloped(n)))]


def _is_smooth(node: Node) -> bool:
    return node.op.is_smooth(node)


def _is_tree(nodes: Sequence[Node], varying: set[Node]) -> bool:
    """Whether every node of `varying` is used at most once."""
    uses = Counter(i for n in nodes for i in n.inputs if i in varying)
    return all(count == 1 for count in uses.values())


def cancelled(problem: Problem, x: Input) -> Any:
    """A mask of shape (rows, columns) of the entries that are 0 up to rounding at several random
    values; all False if that cannot be computed.

    An entry that cancels has a much larger rounding error in single precision, which distinguishes
    it from an entry that is small.
    """
    none = np.zeros((problem.out.numel, x.node.numel), bool)
    result = if_applicable(lambda: _cancelled(problem, x))
    return none if result is None else result


def _cancelled(problem: Problem, x: Input) -> Any:
    size: Any = 0.0
    error: Any = 0.0
    with np.errstate(all="ignore"):
        for draw, scale in product(DRAWS, SCALES):
            values = _scaled(problem, random_values(problem, draw), scale)
            double, single = (_matrix(problem, x, values, d) for d in ("float64", "float32"))
            size = size + np.abs(double)
            off = np.abs(double - single)
            error = error + np.where(np.isfinite(off), off, 0.0)
    return size <= CANCELS * error


def _scaled(problem: Problem, values: dict[Node, Any], scale: float) -> dict[Node, Any]:
    """The values, with those of inputs without a given value multiplied by `scale`."""
    random_inputs = {
        x.node for x in problem.inputs.values() if x.value is None and x.node.dtype == "float"
    }
    return {
        n: with_properties(n.attrs["known"], v * scale) if n in random_inputs else v
        for n, v in values.items()
    }


def _matrix(problem: Problem, x: Input, values: dict[Node, Any], dtype: str) -> Any:
    """The Jacobian computed in a dtype, of shape (rows, columns)."""
    evaluator = Evaluator(values, dtype=dtype, limits=problem.limits)
    result = jacobian_of(problem.out, x.node, evaluator)
    return np.asarray(result, float).reshape(problem.out.numel, x.node.numel)
