"""Vector products: numbers before them, and sums of those that share a vector."""

from collections.abc import Iterator

from ....graphs import Node
from ....graphs.shapes import axis
from .factoring import MOST_TERMS, sum_of
from .identities import identities
from .products import ONE, Product, build, is_mask, product_of, with_factor
from .registry import NORMAL, normal, other
from .sums import one_way, terms_of

Signs = dict[Node, tuple[int, Node]]


identities(NORMAL, """
    cross_along(u, v, dim=d) = cross_along(u, v) where d != -1
""")  # fmt: skip


@normal("cross_along")
def numbers_out_of_vector_products(node: Node) -> Node | None:
    """cross(2 * a, b) = 2 * cross(a, b); cross(a / a.norm(dim=1, keepdim=True), b, dim=1) too."""
    for k, vector in enumerate(node.parents):
        result = product_of(vector)
        if result is None or result.coefficient == 0:
            continue
        rest = {f: e for f, e in result.factors.items() if _spans(f, node)}
        numbers = {f: e for f, e in result.factors.items() if f not in rest}
        bare = build(Product(ONE, rest), vector.shape) if rest and not is_mask(rest) else vector
        if bare is not vector:
            parts = [bare if j == k else v for j, v in enumerate(node.parents)]
            whole = node.op(*parts, **node.attrs)
            return build(result._replace(factors=with_factor(numbers, whole)), node.shape)
    return None


@other("add", "sub")
def shared_vectors(node: Node) -> Iterator[Node]:
    """cross(a, b) + cross(c, a) = cross(a, b - c)."""
    terms = terms_of(node) or []
    result = [_vector_product_in(t) for t in terms]
    kept = dict.fromkeys(v for p in result if p is not None for v in p.parents)
    signs = one_way(kept)
    if sum(p is not None for p in result) < 2 or len(terms) > MOST_TERMS:
        return
    for vector in kept:
        inside, outside = [], []
        for term, product in zip(terms, result, strict=True):
            second = None if product is None else _without(vector, product, term, signs)
            if second is None:
                outside.append(term)
            else:
                inside.append(second)
        if len(inside) > 1:
            like = next(p for p in result if p is not None)
            whole = like.op(vector, sum_of(inside), **like.attrs)
            yield sum_of([Product(ONE, {whole: 1}), *outside])


def _without(vector: Node, product: Node, term: Product, signs: Signs) -> Product | None:
    """x for a term that is cross(vector, x), numbers before it; None for any other."""
    for k, v in enumerate(product.parents):
        sign, first = signs.get(v, (1, v))
        if first is vector:
            rest = term.without(product).factors
            times = term.coefficient * (-sign if k else sign)
            return Product(times, with_factor(rest, product.parents[1 - k]))
    return None


def _vector_product_in(t: Product) -> Node | None:
    """The one vector product of a term beside which stand only numbers for each vector."""
    result = [f for f, e in t.factors.items() if f.op.name == "cross_along" and e == 1]
    if len(result) != 1 or any(_spans(f, result[0]) for f in t.factors if f is not result[0]):
        return None
    return result[0]


def _spans(f: Node, product: Node) -> bool:
    """Whether a factor has more than one number for each vector."""
    place = axis(product.attrs["dim"], product.ndim) - product.ndim
    return f.ndim >= -place and f.shape[place] != 1
