"""Dimensions of size 1 that keepdim or unsqueeze adds and squeeze removes."""

from collections.abc import Callable

from ....graphs import Node, intern, walk
from ....graphs.shapes import axes, axis
from ....graphs.substitution import with_attributes
from ....operators.indexing import full_index
from .places import new_dimensions, reshape_of_reshape
from .products import Product, build, product_of
from .registry import candidate, normal


@normal("squeeze")
def factors_without_a_dimension(node: Node) -> Node | None:
    """(a.unsqueeze(1) * x.sum(dim=1, keepdim=True)).squeeze(1) = a * x.sum(dim=1);
    (a / b[None] ** 2).squeeze(0) = a / b ** 2.
    """
    x, dim = node.parents[0], node.attrs["dim"]
    result = product_of(x) if isinstance(dim, int) else None
    if result is None or result.coefficient == 0 or result.factors == {x: 1}:
        return None
    factors = {_without(f, x.ndim, axis(dim, x.ndim)): e for f, e in result.factors.items()}
    if None in factors or len(factors) < len(result.factors):
        return None
    return build(Product(result.coefficient, factors), node.shape)  # type: ignore[arg-type]


def _without(f: Node, ndim: int, dropped: int) -> Node | None:
    """A factor without dimension `dropped` of a product, if the factor lacks that dimension or has
    it from unsqueeze or keepdim; None for any other factor.
    """
    if f.ndim < ndim:
        return f if ndim - f.ndim > dropped or not f.shape else None
    put_in = (new_dimensions(f) or f) if f.op.name == "getitem" else f
    return put_in.squeeze(dim=dropped) if _has_added(put_in, dropped) else None


def _has_added(f: Node, dim: int) -> bool:
    """Whether a node has dimension `dim`, and only this one, from unsqueeze or keepdim."""
    if f.op.name == "unsqueeze":
        return axis(f.attrs["dim"], f.ndim) == dim
    is_kept = f.op.family == "reduction" and f.attrs["keepdim"]
    return is_kept and axes(f.attrs["dim"], f.ndim) == (dim,)


@normal("squeeze")
def reduction_without_dimensions(node: Node) -> Node | None:
    """x.sum(dim=(1, 2), keepdim=True).squeeze(2).squeeze(1) = x.sum(dim=(1, 2))."""
    x, dropped = node, set[int]()
    while x.op.name == "squeeze" and isinstance(x.attrs["dim"], int):
        (inner,) = x.parents
        place = axis(x.attrs["dim"], inner.ndim)
        dropped = {d + (d >= place) for d in dropped} | {place}
        x = inner
    if x.op.family != "reduction" or not x.attrs["keepdim"]:
        return None
    over = {*axes(x.attrs["dim"], x.ndim)}
    return with_attributes(x, keepdim=False) if len(over) > 1 and over == dropped else None


@normal("squeeze")
def column_of_a_product(node: Node) -> Node | None:
    """(A @ x.sum(dim=1, keepdim=True)).squeeze(1) = A @ x.sum(dim=1)."""
    product, dim = node.parents[0], node.attrs["dim"]
    if product.op.name != "matmul" or product.ndim != 2 or not isinstance(dim, int):
        return None
    a, b = product.parents
    last = b
    while last.op.name == "matmul":
        last = last.parents[1]
    is_column = a.ndim == last.ndim == 2 and axis(dim, 2) == 1 and _has_added(last, 1)
    return a @ b.squeeze(dim=1) if is_column else None


@normal("reduction")
def nonnegative_dim(node: Node) -> Node | None:
    """x.sum(dim=-1) = x.sum(dim=1), so that equal reductions are the same node."""
    dim = node.attrs["dim"]
    if not isinstance(dim, int) or dim >= 0 or not node.parents[0].ndim:
        return None
    return with_attributes(node, dim=axis(dim, node.parents[0].ndim))


@normal("sum", "mean")
def dims_that_are_kept(node: Node) -> Node | None:
    """x.sum(keepdim=True) = x.sum(dim=(0, 1), keepdim=True): PyTorch has no keepdim without dim."""
    if node.attrs["dim"] is not None or not node.attrs["keepdim"]:
        return None
    return with_attributes(node, dim=tuple(range(node.ndim))) if node.ndim else None


@normal("unsqueeze")
def unsqueeze_to_keepdim(node: Node) -> Node | None:
    """x.sum(dim=1).unsqueeze(1) = x.sum(dim=1, keepdim=True), also of x.sum() for a vector."""
    x = node.parents[0]
    if x.op.family != "reduction" or x.attrs["keepdim"]:
        return None
    over, place = axes(x.attrs["dim"], x.parents[0].ndim), axis(node.attrs["dim"], node.ndim)
    return with_attributes(x, dim=place, keepdim=True) if over == (place,) else None


@normal("sum", "mean", "amax", "amin", "logsumexp", "prod")
def reduction_of_size_one(node: Node) -> Node | None:
    """x.sum(dim=1, keepdim=True) = x for an x with one column."""
    x, dim = node.parents[0], node.attrs["dim"]
    has_size_one = isinstance(dim, int) and x.ndim > 0 and x.shape[dim] == 1
    return x if has_size_one and node.attrs["keepdim"] else None


@normal("getitem")
def index_of_size_one(node: Node) -> Node | None:
    """x[:, 0] = x.squeeze(1) for an x with one column."""
    x, index = node.parents[0], node.attrs["index"]
    if any(not isinstance(i, int | slice) for i in index) or x.ndim != node.ndim + 1:
        return None
    full = full_index(index, x.ndim)
    (dim,) = [d for d, i in enumerate(full) if isinstance(i, int)]
    others = all(i == slice(None) for d, i in enumerate(full) if d != dim)
    return x.squeeze(dim=dim) if x.shape[dim] == 1 and others else None


@candidate("unsqueeze")
def unsqueeze_of_elementwise(node: Node) -> Node | None:
    """(1 - x.squeeze(1)).unsqueeze(1) = 1 - x; log(x.sum(dim=1)).unsqueeze(1) = log(x.sum(dim=1,
    keepdim=True)).
    """
    return _moved_inside(node, lambda n: reshape_of_reshape(n) or unsqueeze_to_keepdim(n))


@candidate("squeeze")
def squeeze_of_elementwise(node: Node) -> Node | None:
    """cos(x.sum(dim=1, keepdim=True)).squeeze(1) = cos(x.sum(dim=1))."""
    dim = node.attrs["dim"]
    if not isinstance(dim, int):
        return None
    place = axis(dim, node.parents[0].ndim)
    return _moved_inside(node, lambda n: n if _has_added(n.parents[0], place) else None)


def _moved_inside(node: Node, simplified: Callable[[Node], Node | None]) -> Node | None:
    """An elementwise expression with squeeze or unsqueeze applied to its operands instead; None
    unless all of them are simpler then.
    """
    top, built = node.parents[0], dict[Node, Node]()
    for n in walk([top], lambda n: n.inputs if _is_computed(n, top) else ()):
        if _is_computed(n, top):
            built[n] = intern(n.op, tuple(i and built.get(i, i) for i in n.inputs), n.attrs)
        elif n.shape:
            result = simplified(node.op(n, **node.attrs))
            if result is None:
                return None
            built[n] = result
    return built.get(top) if _is_computed(top, top) else None


def _is_computed(n: Node, top: Node) -> bool:
    """Whether n is an elementwise operation with the shape of `top`."""
    return n.op.family == "elementwise" and n.shape == top.shape
