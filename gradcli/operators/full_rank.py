"""Sizes of products that must have full rank: `X.T @ X` has an inverse only if X is not wide."""

from collections.abc import Iterable

from ..graphs import Node, upstream, walk


def least_sizes(roots: Iterable[Node]) -> list[tuple[int, int]]:
    """Pairs of sizes, the first of which must not be less than the second: a product of n rows that
    is inverted has full rank only if no size within it is less than n.
    """
    matrices = [n.parents[0] for n in walk(roots) if "invertible" in n.op.typical_inputs]
    return [(size, m.shape[-1]) for m in matrices for size in _inner_sizes(m) if m.ndim == 2]


def _inner_sizes(m: Node) -> set[int]:
    """The sizes over which a product sums, each of which bounds its rank."""
    parts = upstream(m, _factors)
    return {n.parents[0].shape[-1] for n in parts if n.op.name == "matmul" and _factors(n)}


def _factors(m: Node) -> list[Node]:
    """The matrices of a product, or the matrix that is transposed or scaled."""
    matrices = [i for i in m.parents if i.ndim == 2]
    count = {"matmul": 2, "transpose": 1, "neg": 1, "mul": 1, "div": 1}.get(m.op.name)
    return matrices if len(matrices) == count else []
