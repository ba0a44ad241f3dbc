"""Masks inside: an operation that is not finite where its result is masked out gets operands that
are harmless there, `where(x > 0, sqrt(where(x > 0, x, 1)), 0)`.
"""

from collections.abc import Iterator

from ....graphs import OPS, Node, walk
from ....graphs.substitution import substitute
from ...analysis import Analysis
from .patterns import constant, is_op, number_node, rooted

SAFE = (1, 0, 0.5, 2)  # numbers in the place of an operand, the first that serves
POSITIVE = ("log", "sqrt", "rsqrt", "log2", "log10", "pow")


def masked(a: Analysis, out: Node, origins: list[Node]) -> Iterator[Node]:
    """`out` with operands replaced where a mask that the program has excludes them."""
    for origin in origins:
        for around, mask in masks_around(out, origin):
            for operand in _operands(origin, around, mask):
                for safe in SAFE:
                    harmless = OPS["where"](mask, operand, number_node(safe))
                    inside = _inside(around, operand, harmless)
                    yield substitute(out, {around: inside})


def _inside(around: Node, operand: Node, harmless: Node) -> Node:
    """An operation with an operand replaced, but not in its mask."""
    if not is_op(around, "where"):
        mask = _factor_of(around)
        parts = [i if i is mask else i and substitute(i, {operand: harmless}) for i in around.inputs]
        return around.op(*parts, **around.attrs)
    condition, a, b = around.parents
    branches = [substitute(i, {operand: harmless}) for i in (a, b)]
    taken = harmless.parents[0]
    kept = [branches[0], b] if taken is condition else [a, branches[1]]
    return OPS["where"](condition, *kept)


def _factor_of(around: Node) -> Node | None:
    """The input of an operation that masks the other."""
    if is_op(around, "kl_div", "masked_fill"):
        return around.inputs[1]
    return None


def masks_around(out: Node, origin: Node) -> Iterator[tuple[Node, Node]]:
    """The operations after `origin` that exclude elements of it, each with the mask of those that
    are not excluded.
    """
    for n in walk([out]):
        inside = [origin in walk([i]) for i in n.parents]
        if not any(inside) or n is origin:
            continue
        if is_op(n, "where"):
            condition = n.parents[0]
            if inside[1]:
                yield n, condition
            if inside[2]:
                yield n, ~condition
        elif is_op(n, "masked_fill") and inside[0]:
            yield n, ~n.parents[1]
        elif is_op(n, "mul"):
            a, b = n.parents
            for k, u in ((a, inside[1]), (b, inside[0])):
                if u and constant(k) is None:
                    yield n, not_zero(k)
        elif is_op(n, "kl_div") and inside[0]:
            yield n, not_zero(n.parents[1])
        elif is_op(n, "nan_to_num"):
            for operand in origin.parents:
                if operand.dtype == "float" and constant(operand) is None:
                    yield n, operand > 0
                    yield n, operand.ne(0)
        elif is_op(n, "getitem") and inside[0]:
            (item, *rest) = n.attrs["index"]
            node = getattr(item, "node", None)
            if not rest and isinstance(node, Node) and node.dtype == "bool":
                yield n, substitute(node, {}, lambda _: None)


def not_zero(k: Node) -> Node:
    """Where a factor is not 0."""
    if is_op(k, "double", "float") and k.parents[0].dtype == "bool":
        return k.parents[0]
    return k if k.dtype == "bool" else k.ne(0)


def _operands(origin: Node, around: Node, mask: Node) -> Iterator[Node]:
    """What can be replaced before `origin` where a mask excludes it: nodes of the mask's shape, the
    operands of the operation first.
    """
    inputs = [n for n in walk([origin]) if n.op.name == "input"]
    nearest = [i for i in origin.parents if i.op.name != "input"]
    seen = dict.fromkeys([*inputs, *nearest, *reversed(walk([origin]))])
    for n in seen:
        if n.dtype == "float" and constant(n) is None and n is not origin:
            if n.shape == mask.shape or (len(mask.shape) <= n.ndim and _fits(mask, n)):
                yield n


def _fits(mask: Node, n: Node) -> bool:
    shape = (1,) * (n.ndim - mask.ndim) + mask.shape
    return all(m in (1, k) for m, k in zip(shape, n.shape))


def singular(out: Node, origins: list[Node]) -> Iterator[Node]:
    """`out` with divisors and radicands replaced where they are 0."""
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
