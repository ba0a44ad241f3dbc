"""Sizes that a program suggests but does not require: the matrix of `trace(A)` is usually square,
and `X.T @ X` has an inverse only if X is not wide.
"""

from math import prod

from ...errors import if_applicable
from ...graphs import Node, upstream, walk
from ...operators.indexing import full_index, getitem

MOST = 16  # most elements, rows or columns that are read at constant positions


def unusual_sizes(roots: list[Node]) -> list[tuple[int, int]]:
    """Pairs of sizes that are usually equal, but differ."""
    pairs = [*typical_equal_sizes(roots), *sizes_by_positions(roots)]
    return [*different_sides(roots), *((a, b) for a, b in pairs if a != b)]


def typical_equal_sizes(roots: list[Node]) -> list[tuple[int, int]]:
    """Pairs of sizes that are usually equal, though they need not be; without sides of matrices."""
    return [
        pair
        for n in walk(roots)
        if n.op.typical_equal_sizes is not None
        for pair in n.op.typical_equal_sizes(*(i.shape for i in n.parents), **n.attrs)
    ]


def different_sides(roots: list[Node]) -> list[tuple[int, int]]:
    """The two sizes of each matrix that is usually square, but is not."""
    shapes = [i.shape for n in walk(roots) if "square" in n.op.typical_inputs for i in n.parents]
    return [(s[-2], s[-1]) for s in shapes if len(s) == 2 and s[0] != s[1]]


# ---- dimensions that are read at constant positions only, as in x[0] * x[1] ----------------------


def sizes_by_positions(roots: list[Node]) -> list[tuple[int, int]]:
    """For dimensions that are read at constant positions only, pairs of their size and the smallest
    size that has these positions; the largest first. A tensor most of whose elements (or rows, or
    columns) are read so usually has no others.
    """
    pairs = [p for x, reads in _reads(roots).items() for p in _pairs(x, reads)]
    return sorted(pairs, key=lambda pair: -pair[1])


def read_by_elements(roots: list[Node]) -> set[str]:
    """The names of the inputs of which a program uses nothing but most of their elements."""
    return {
        x.attrs["name"]
        for x, reads in _reads(roots).items()
        if x.op.name == "input" and len(_pairs(x, reads)) == x.ndim and not reads[0].shape
    }


def _reads(roots: list[Node]) -> dict[Node, list[Node]]:
    """The nodes that are used only by indexing, and the nodes that index them."""
    reads: dict[Node, list[Node]] = {}
    whole = {roots[0]}
    for n in walk(roots):
        for x in n.parents:
            if n.op is getitem:
                reads.setdefault(x, []).append(n)
            else:
                whole.add(x)
    return {x: items for x, items in reads.items() if x not in whole}


def _pairs(x: Node, reads: list[Node]) -> list[tuple[int, int]]:
    """The pairs of `sizes_by_positions` for the dimensions of one node."""
    indices = if_applicable(lambda: [full_index(n.attrs["index"], x.ndim) for n in reads])
    if indices is None or any(len(index) != x.ndim for index in indices):
        return []
    by_dim = [*zip(*indices, strict=True)]
    dims = [d for d, items in enumerate(by_dim) if all(map(_is_position, items))]
    sizes = [max(by_dim[d]) + 1 for d in dims]
    places = {tuple(index[d] for d in dims) for index in indices}
    few_are_left = prod(sizes) <= min(MOST, 2 * len(places) - 1) and 1 not in sizes
    return [(x.shape[d], n) for d, n in zip(dims, sizes)] if few_are_left else []


def _is_position(item: object) -> bool:
    return isinstance(item, int) and item >= 0


# ---- ranks of products ---------------------------------------------------------------------------


def least_sizes(roots: list[Node]) -> list[tuple[int, int]]:
    """Pairs of sizes of which the first must not be less than the second: a product of n rows that
    is inverted has full rank only if no size over which it sums is less than n.
    """
    matrices = [n.parents[0] for n in walk(roots) if "invertible" in n.op.typical_inputs]
    return [(size, m.shape[-1]) for m in matrices for size in _inner_sizes(m) if m.ndim == 2]


def _inner_sizes(m: Node) -> set[int]:
    """The sizes over which a product of matrices sums, each of which bounds its rank."""
    parts = upstream(m, _factors)
    return {n.parents[0].shape[-1] for n in parts if n.op.rank == "product" and _factors(n)}


def _factors(m: Node) -> list[Node]:
    """The matrices whose ranks bound that of `m`."""
    matrices = [i for i in m.parents if i.ndim == 2]
    count = {"product": 2, "unchanged": 1}.get(m.op.rank)
    return matrices if len(matrices) == count else []
