"""Removable singularities 0/0 in one variable, which are replaced by their tangent."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ....backends.numeric import Evaluator
from ....graphs import OPS, Node, walk
from ....graphs.substitution import substitute
from ....lazy import np
from ...analysis import Analysis
from .patterns import is_op, number_node

STEP = 2.0**-6
CLOSE = 1e-7  # of a measured limit to the fraction that replaces it
LARGEST = 24  # denominator


def removable(a: Analysis, out: Node, origins: list[Node]) -> Iterator[Node]:
    """`out` with a quotient replaced by its tangent where it is 0/0."""
    for origin in origins:
        if not is_op(origin, "div", "mul"):
            continue
        for z in _variables(origin):
            at = _places(a, origin, z)
            tangent = None if at is None else _tangent(origin, z, at)
            if at is None or tangent is None:
                continue
            limit, slope = tangent
            here = z.eq(number_node(at))
            safe = OPS["where"](here, number_node(at + 1), z)
            line = _line(z, at, limit, slope)
            whole = OPS["where"](here, line, substitute(origin, {z: safe}))
            yield substitute(out, {origin: whole})


def _variables(origin: Node) -> list[Node]:
    """The nodes of its shape that an elementwise quotient is a function of, the input first."""
    inputs = [n for n in walk([origin]) if n.op.name == "input" and n.dtype == "float"]
    inner = [n for n in walk([origin]) if n.op.family != "leaf" and n is not origin]
    if any(n.op.family not in ("elementwise", "leaf") for n in [*inner, origin]):
        inputs = []
    single = inputs if len(inputs) == 1 else []
    return [n for n in single if n.shape == origin.shape]


def _places(a: Analysis, origin: Node, z: Node) -> float | None:
    """The value of the variable at which the quotient is nan, where it is a single one."""
    value, result = a.value(z), a.value(origin)
    values = np.unique(np.asarray(value)[np.isnan(result)])
    return float(values[0]) if len(values) == 1 and np.isfinite(values[0]) else None


def _tangent(origin: Node, z: Node, at: float) -> tuple[Fraction, Fraction] | None:
    """The limit and the slope, as fractions."""
    steps = STEP * np.asarray([1, 0.5, 0.25, 0.125])

    def values(moves: Any) -> Any:
        return np.asarray([_at(origin, z, at + m) for m in moves])

    right, left = values(steps), values(-steps)
    if not (np.all(np.isfinite(right)) and np.all(np.isfinite(left))):
        return None
    limit = _extrapolated((right + left) / 2)
    slope = _extrapolated((right - left) / (2 * steps))
    return None if limit is None or slope is None else (limit, slope)


def _at(origin: Node, z: Node, value: float) -> float:
    return float(Evaluator({z: np.full(z.shape, value)})(origin)[0].flat[0])


def _extrapolated(values: Any) -> Fraction | None:
    """Richardson extrapolation of values with errors of even order, for halved steps."""
    last = values
    for order in range(1, len(values)):
        factor = 4**order
        last, values = values, (factor * values[1:] - values[:-1]) / (factor - 1)
    if not np.all(np.isfinite(values)) or abs(last[-1] - values[0]) > 1e-5 * max(1, abs(values[0])):
        return None
    near = Fraction(float(values[0])).limit_denominator(LARGEST)
    return near if abs(float(near) - values[0]) < CLOSE * max(1, abs(values[0])) else None


def _line(z: Node, at: float, level: Fraction, slope: Fraction) -> Node:
    rise = z if at == 0 else z - number_node(at)
    if slope == 0:
        return number_node(float(level))
    scaled = rise if slope == 1 else _scaled(rise, slope)
    return scaled if level == 0 else number_node(float(level)) + scaled


def _scaled(rise: Node, slope: Fraction) -> Node:
    over = number_node(slope.denominator)
    if abs(slope.numerator) == 1:
        return rise / over if slope > 0 else -rise / over
    return number_node(slope.numerator) * rise / over
