"""The double-where trick: where a mask excludes the result of an operation that is not finite, its
operands are replaced by safe values: `where(x > 0, sqrt(where(x > 0, x, 1)), 0)`.

A guard is such a replacement, or another one that makes a gradient finite.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

from ....backends.numeric import Evaluator
from ....graphs import OPS, Node, intern, walk
from ....graphs.substitution import substitute
from ....lazy import np
from ...analysis import Analysis
from .logarithms import log_of
from .patterns import constant, is_op, number_node, rooted

OPPOSITES = {"eq": "ne", "ne": "eq", "gt": "le", "le": "gt", "lt": "ge", "ge": "lt"}
SAFE = (1, 0, 0.5, 2)  # safe values for an operand, tried in order


class Excluding(NamedTuple):
    """An operation, such as where, that ignores some elements of its operands.

    `mask` is true for the elements that it uses, and `slots` are the positions of these operands.
    `bound` is the result at the other elements; None if `node` has that result for any operands.
    """

    node: Node
    mask: Node
    slots: tuple[int, ...]
    bound: Node | None = None

    def over(self, new: dict[Node, Node]) -> Node:
        """The operation, with the nodes in `new` replaced within the operands at `slots`."""
        replaced = [
            substitute(i, new) if i is not None and k in self.slots else i
            for k, i in enumerate(self.node.inputs)
        ]
        result = intern(self.node.op, tuple(replaced), self.node.attrs)
        return result if self.bound is None else OPS["where"](self.mask, result, self.bound)


def masked(out: Node, origins: list[Node], by_factor: bool) -> Iterator[Node]:
    """Copies of `out` in which operands are replaced by safe values where a mask of the program
    excludes them, or, with `by_factor`, where they are multiplied by 0.
    """
    for origin in origins:
        for around in excluding(out, origin):
            if is_op(around.node, "mul") != by_factor:
                continue
            yield from _together(out, around)
            for operand in _operands(origin, around.mask):
                for safe in SAFE:
                    if around.mask is operand.ne(0) and safe == 0:
                        continue
                    harmless = OPS["where"](around.mask, operand, number_node(safe))
                    yield substitute(out, {around.node: around.over({operand: harmless})})


def _together(out: Node, around: Excluding) -> Iterator[Node]:
    """`out` with all inputs of the masked operands that have the mask's shape replaced by safe
    values, if there are several.
    """
    excluded = [around.node.inputs[k] for k in around.slots]
    inputs = [
        n
        for n in walk([i for i in excluded if i is not None])
        if n.op.name == "input" and n.dtype == "float" and n.shape == around.mask.shape
    ]
    if len(inputs) > 1:
        new = {n: OPS["where"](around.mask, n, number_node(1)) for n in inputs}
        yield substitute(out, {around.node: around.over(new)})


def excluding(out: Node, origin: Node) -> Iterator[Excluding]:
    """The operations of `out` that ignore elements of `origin`, or of a result computed from it."""
    for n in walk([out]):
        inside = [i is not None and origin in walk([i]) for i in n.inputs]
        if n is not origin and any(inside):
            yield from (Excluding(n, *how) for how in _masks(n, inside, origin))


def _masks(n: Node, inside: list[bool], origin: Node) -> Iterator[tuple[Any, ...]]:
    """(mask, slots, bound), as in Excluding, for each way in which `n` ignores elements of an
    operand.
    """
    a = n.parents
    if inside[0] or (is_op(n, "minimum", "maximum") and inside[1]):
        yield from _bounds(n, inside)
    if is_op(n, "where"):
        if inside[1]:
            yield a[0], (1,)
        if inside[2]:
            yield opposite(a[0]), (2,)
    elif is_op(n, "masked_fill") and inside[0]:
        yield opposite(a[1]), (0,)
    elif is_op(n, "mul"):
        for k in (0, 1):
            # a value that is always positive is 0 only by underflow, and masks nothing
            if inside[1 - k] and log_of(a[k]) is None and constant(a[k]) is None:
                yield not_zero(a[k]), (1 - k,)
    elif is_op(n, "kl_div") and inside[0]:
        yield not_zero(a[1]), (0,)
    elif is_op(n, "nan_to_num"):
        for operand in origin.parents:
            if operand.dtype == "float" and constant(operand) is None:
                yield operand > 0, (0,)
                yield operand.ne(0), (0,)
    elif is_op(n, "getitem") and inside[0]:
        item, *rest = n.attrs["index"]
        node = getattr(item, "node", None)
        if not rest and isinstance(node, Node) and node.dtype == "bool":
            yield substitute(node, {}, lambda _: None), (0,)


def _bounds(n: Node, inside: list[bool]) -> Iterator[tuple[Node, tuple[int, ...], Node]]:
    """(mask, slots, bound), as in Excluding, for clamp, minimum, maximum and relu: the mask is true
    where they return the operand unchanged.
    """
    if is_op(n, "minimum", "maximum") and not all(inside):
        k = inside.index(True)
        z, bound = n.parents[k], n.parents[1 - k]
        yield z <= bound if is_op(n, "minimum") else z >= bound, (k,), bound
    elif is_op(n, "relu"):
        yield n.parents[0] > 0, (0,), number_node(0)
    elif is_op(n, "clamp"):
        clamped, (_, low, high) = n.parents[0], n.inputs
        if low is not None:
            yield clamped >= low, (0,), low
        if high is not None:
            yield clamped <= high, (0,), high


def opposite(mask: Node) -> Node:
    """The complement of a mask."""
    if is_op(mask, "logical_not"):
        return mask.parents[0]
    other = OPPOSITES.get(mask.op.name)
    return ~mask if other is None else OPS[other](*mask.parents)


def not_zero(k: Node) -> Node:
    """The mask of the nonzero elements of a factor."""
    if is_op(k, "double") and k.parents[0].dtype == "bool":
        return k.parents[0]
    return k if k.dtype == "bool" else k.ne(0)


def _operands(origin: Node, mask: Node) -> Iterator[Node]:
    """The nodes of the graph of `origin` that may be replaced where `mask` is false: inputs first,
    then operands of `origin`. The mask broadcasts to their shapes.
    """
    inputs = [n for n in walk([origin]) if n.op.name == "input"]
    nearest = [i for i in origin.parents if i.op.name != "input"]
    seen = dict.fromkeys([*inputs, *nearest, *reversed(walk([origin]))])
    for n in seen:
        replaceable = n.dtype == "float" and constant(n) is None and n is not origin
        if replaceable and mask.ndim <= n.ndim and _fits(mask, n):
            yield n


def _fits(mask: Node, n: Node) -> bool:
    shape = (1,) * (n.ndim - mask.ndim) + mask.shape
    return all(m in (1, k) for m, k in zip(shape, n.shape))


def singular(out: Node, origins: list[Node]) -> Iterator[Node]:
    """Copies of `out` in which a divisor, or a root's operand, is replaced by 1 where it is 0."""
    for origin in origins:
        if is_op(origin, "div"):
            a, b = origin.parents
            if constant(b) is None:
                divisor = OPS["where"](b.eq(0), number_node(1), b)
                yield substitute(out, {origin: a / divisor})
        root = rooted(origin)
        if root is not None:
            z = root[0]
            inner = OPS["where"](z.eq(0), number_node(1), z)
            guarded = OPS["where"](z.eq(0), number_node(0), substitute(origin, {z: inner}))
            yield substitute(out, {origin: guarded})


def overflowing(a: Analysis, out: Node) -> Iterator[Node]:
    """`out`, if it is finite, with the operands of exp clamped to the largest number without
    overflow, as in exp(-exp(x)).
    """
    if not np.all(np.isfinite(a.value(out))):
        return
    most = int(np.log(np.finfo(a.dtype).max))
    for n in walk([out]):
        if is_op(n, "exp", "expm1", "cosh", "sinh") and np.any(np.isinf(a.value(n))):
            low = number_node(-most) if is_op(n, "cosh", "sinh") else None
            exponent = OPS["clamp"](n.parents[0], min=low, max=number_node(most))
            yield substitute(out, {n: n.op(exponent)})


def empty_rows(a: Analysis, out: Node) -> Iterator[Node]:
    """`out` without rows that are all -inf, whose softmax is nan."""
    for n in walk([out]):
        if not is_op(n, "softmax") or not np.any(np.isnan(a.value(n))):
            continue
        (z,), dim = n.parents, n.attrs["dim"]
        some = z.ne(number_node(-inf)).any(dim=dim, keepdim=True)
        zero = number_node(0)
        row = OPS["softmax"](OPS["where"](some, z, zero), dim=dim)
        yield substitute(out, {n: OPS["where"](some, row, zero)})


# ---- removable singularities ---------------------------------------------------------------------


STEP = 2.0**-6
CLOSE = 1e-7  # largest relative difference of a numerical limit and the fraction that replaces it
LARGEST = 24  # largest denominator of such a fraction


def removable(a: Analysis, out: Node, origins: list[Node]) -> Iterator[Node]:
    """Copies of `out` in which a quotient is replaced by its linearisation where it is 0/0, as
    sin(x) / x at 0.
    """
    for origin in origins:
        if not is_op(origin, "div", "mul"):
            continue
        for z in _variables(origin):
            at = _singular_point(a, origin, z)
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
    """The single input on which an elementwise quotient depends, in a list; [] if there are others
    or its shape differs.
    """
    inputs = [n for n in walk([origin]) if n.op.name == "input" and n.dtype == "float"]
    inner = [n for n in walk([origin]) if n.op.family != "leaf" and n is not origin]
    if any(n.op.family not in ("elementwise", "leaf") for n in [*inner, origin]):
        inputs = []
    single = inputs if len(inputs) == 1 else []
    return [n for n in single if n.shape == origin.shape]


def _singular_point(a: Analysis, origin: Node, z: Node) -> float | None:
    """The value of the variable at which the quotient is nan, if there is only one."""
    value, result = a.value(z), a.value(origin)
    values = np.unique(np.asarray(value)[np.isnan(result)])
    return float(values[0]) if len(values) == 1 and np.isfinite(values[0]) else None


def _tangent(origin: Node, z: Node, at: float) -> tuple[Fraction, Fraction] | None:
    """The limits of a quotient and of its derivative at a point, as fractions; None if there are
    none.
    """
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
    """The limit, as a fraction, of values at halved steps, by Richardson extrapolation in even
    powers; None if it does not converge.
    """
    last = values
    for order in range(1, len(values)):
        factor = 4**order
        last, values = values, (factor * values[1:] - values[:-1]) / (factor - 1)
    if not np.all(np.isfinite(values)) or abs(last[-1] - values[0]) > 1e-5 * max(1, abs(values[0])):
        return None
    near = Fraction(float(values[0])).limit_denominator(LARGEST)
    return near if abs(float(near) - values[0]) < CLOSE * max(1, abs(values[0])) else None


def _line(z: Node, at: float, level: Fraction, slope: Fraction) -> Node:
    """The linear function `level + slope * (z - at)`."""
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
