"""Sizes of dimensions that are read at constant positions only, as in x[0] * x[1].

A tensor most of whose elements (or rows, or columns) are read so usually has no others.
"""

from math import prod

from ...errors import if_applicable
from ...graphs import Node, walk
from ...operators.indexing import full_index, getitem

MOST = 16  # most elements, rows or columns of a tensor


def sizes_by_positions(roots: list[Node]) -> list[tuple[int, int]]:
    """For dimensions that are read at constant positions only, pairs of their size and the smallest
    size that has these positions; the largest first.
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
