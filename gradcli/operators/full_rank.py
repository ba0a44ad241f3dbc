"""Sizes of products that must have full rank: `X.T @ X` has an inverse only if X is not wide."""

from collections.abc import Iterable

from ..graphs import Node, walk


def least_sizes(roots: Iterable[Node]) -> list[tuple[int, int]]:
    """Pairs of sizes, the first of which must not be less than the second: a product of n rows that
    is inverted has full rank only if no size within it is less than n.
    """
    matrices = [n.parents[0] for n in walk(roots) if "invertible" in n.op.typical_inputs]
    return [(size, m.shape[-1]) for m in matrices for size in _inner_sizes(m) if m.ndim == 2]


def _inner_sizes(m: Node) -> set[int]:
    """The sizes over which a product sums, each of which bounds its rank."""
    if m.op.name == "matmul" and all(i.ndim == 2 for i in m.parents):
        a, b = m.parents
        return {a.shape[-1]} | _inner_sizes(a) | _inner_sizes(b)
    if m.op.name in ("transpose", "neg"):
        return _inner_sizes(m.parents[0])
    if m.op.name in ("mul", "div"):
        matrices = [i for i in m.parents if i.ndim == 2]
        return _inner_sizes(matrices[0]) if len(matrices) == 1 else set()
    return set()
