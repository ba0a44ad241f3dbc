"""Dimensions of size 1 that are kept or put in, and left out again."""

from ....graphs import Node, intern, walk
from ....graphs.shapes import axes, axis
from ....operators.indexing import full_index
from .parts import new_dimensions
from .places import there_and_back
from .products import Product, build, product_of
from .registry import normal, other


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
    new = build(Product(result.coefficient, factors), node.shape)  # type: ignore[arg-type]
    return new if new.shape == node.shape else None


def _without(f: Node, ndim: int, place: int) -> Node | None:
    """A factor without one of the dimensions of a product, which it has not, or which was put in,
    or kept; None for any other.
    """
    if f.ndim < ndim:
        return f if ndim - f.ndim > place or not f.shape else None
    put_in = (new_dimensions(f) or f) if f.op.name == "getitem" else f
    return put_in.squeeze(dim=place) if _has_added(put_in, place) else None


def _has_added(f: Node, place: int) -> bool:
    """Whether one of the dimensions of a node was put in, or kept, and no more."""
    if f.op.name == "unsqueeze":
        return axis(f.attrs["dim"], f.ndim) == place
    kept = f.op.family == "reduction" and f.attrs["keepdim"]
    return kept and axes(f.attrs["dim"], f.ndim) == (place,)


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
    added = a.ndim == last.ndim == 2 and axis(dim, 2) == 1 and _has_added(last, 1)
    return a @ b.squeeze(dim=1) if added else None


@normal("reduction")
def counted_from_the_front(node: Node) -> Node | None:
    """x.sum(dim=-1) = x.sum(dim=1), so that equal sums are the same node."""
    dim = node.attrs["dim"]
    if not isinstance(dim, int) or dim >= 0 or not node.parents[0].ndim:
        return None
    return node.op(*node.inputs, **node.attrs | {"dim": axis(dim, node.parents[0].ndim)})


@normal("unsqueeze")
def dimension_kept(node: Node) -> Node | None:
    """x.sum(dim=1).unsqueeze(1) = x.sum(dim=1, keepdim=True)."""
    x = node.parents[0]
    if x.op.family != "reduction" or x.attrs["keepdim"]:
        return None
    over, place = axes(x.attrs["dim"], x.parents[0].ndim), axis(node.attrs["dim"], node.ndim)
    return x.op(*x.inputs, **x.attrs | {"keepdim": True}) if over == (place,) else None


@normal("sum", "mean", "amax", "amin", "logsumexp", "prod")
def of_one_alone(node: Node) -> Node | None:
    """x.sum(dim=1, keepdim=True) = x for an x of one column."""
    x, dim = node.parents[0], node.attrs["dim"]
    alone = isinstance(dim, int) and x.ndim > 0 and x.shape[dim] == 1
    return x if alone and node.attrs["keepdim"] else None


@normal("getitem")
def only_one_picked(node: Node) -> Node | None:
    """x[:, 0] = x.squeeze(1) for an x of one column."""
    x, index = node.parents[0], node.attrs["index"]
    if any(not isinstance(i, int | slice) for i in index) or x.ndim != node.ndim + 1:
        return None
    full = full_index(index, x.ndim)
    (dim,) = [d for d, i in enumerate(full) if isinstance(i, int)]
    others = all(i == slice(None) for d, i in enumerate(full) if d != dim)
    return x.squeeze(dim=dim) if x.shape[dim] == 1 and others else None


@other("unsqueeze")
def new_dimension_inside(node: Node) -> Node | None:
    """(1 - x.squeeze(1)).unsqueeze(1) = 1 - x; log(x.sum(dim=1)).unsqueeze(1) = log(x.sum(dim=1,
    keepdim=True)).
    """
    top, built = node.parents[0], dict[Node, Node]()
    for n in walk([top], lambda n: n.inputs if _is_computed(n, top) else ()):
        if _is_computed(n, top):
            built[n] = intern(n.op, tuple(i and built.get(i, i) for i in n.inputs), n.attrs)
        elif n.shape:
            kept = node.op(n, **node.attrs)
            result = there_and_back(kept) or dimension_kept(kept)
            if result is None:
                return None
            built[n] = result
    return built.get(top) if _is_computed(top, top) else None


def _is_computed(n: Node, top: Node) -> bool:
    """Whether n is made element by element of what has the shape of `top`, or of numbers."""
    return n.op.family == "elementwise" and n.shape == top.shape
