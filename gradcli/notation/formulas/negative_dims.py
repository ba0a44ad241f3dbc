"""Dimensions counted from the end in a formula where its program counts them so."""

from collections.abc import Collection

from ...graphs import Node, intern, walk


class Counting:
    """How a `program` counts dimensions: what it calls -1 and never 1 is -1 in a formula too."""

    def __init__(self, program: Collection[Node]):
        given = {d for n in program for d in _dims(n)}
        self.from_end = {d for d in given if d < 0}
        self.from_front = {d for d in given if d >= 0}

    def __call__(self, node: Node) -> Node:
        """The node with its dimensions counted as the program counts them."""
        if not self.from_end:
            return node
        done: dict[Node | None, Node | None] = {None: None}
        for n in walk([node]):
            dims = _dims(n)
            attrs = n.attrs | {"dim": self._counted(n, dims)} if dims else n.attrs
            done[n] = intern(n.op, tuple(done[i] for i in n.inputs), attrs, n.span)
        return done[node]  # type: ignore[return-value]

    def _counted(self, n: Node, dims: tuple[int, ...]) -> int | tuple[int, ...]:
        ndim = max(n.ndim, n.parents[0].ndim)
        from_end = tuple(d - ndim if d >= 0 else d for d in dims)
        if self.from_front.intersection(dims) or not self.from_end.issuperset(from_end):
            return n.attrs["dim"]
        return from_end if isinstance(n.attrs["dim"], tuple) else from_end[0]


def _dims(n: Node) -> tuple[int, ...]:
    """The dimensions that a node names of a tensor."""
    dim = n.attrs.get("dim") if n.inputs and not n.op.shape_only else None
    return dim if isinstance(dim, tuple) else () if dim is None else (dim,)
