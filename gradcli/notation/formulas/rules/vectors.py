"""Cross products: scalar factors, and sums of products that share a vector."""

from collections.abc import Iterator

from ....graphs import Node
from ....graphs.shapes import axis
from .factoring import MOST_TERMS, canonical_sums, sum_of, terms_of
from .identities import identities
from .products import ONE, Product, build, is_mask, product_of
from .registry import NORMAL, candidate, normal

Signs = dict[Node, tuple[int, Node]]


identities(NORMAL, """
    cross_along(u, v, dim=d) = cross_along(u, v) where d != -1
""")  # fmt: skip


@normal("cross_along")
def scalars_out_of_cross(node: Node) -> Node | None:
    """cross(2 * a, b) = 2 * cross(a, b); cross(a / a.norm(dim=1, keepdim=True), b, dim=1) too."""
    for k, vector in enumerate(node.parents):
        result = product_of(vector)
        if result is None or result.coefficient == 0:
            continue
        scalars, rest = result.split(lambda f: not _varies_along(f, node))
        is_vector = rest.factors and not is_mask(rest.factors)
        bare = build(rest, vector.shape) if is_vector else vector
        if bare is not vector:
            parts = [bare if j == k else v for j, v in enumerate(node.parents)]
            return build(scalars.times({node.op(*parts, **node.attrs): 1}), node.shape)
    return None


@candidate("add", "sub")
def shared_vectors_of_cross(node: Node) -> Iterator[Node]:
    """cross(a, b) + cross(c, a) = cross(a, b - c)."""
    terms = terms_of(node) or []
    result = [_cross_product_in(t) for t in terms]
    vectors = dict.fromkeys(v for p in result if p is not None for v in p.parents)
    signs = canonical_sums(vectors)
    if sum(p is not None for p in result) < 2 or len(terms) > MOST_TERMS:
        return
    for vector in vectors:
        inside, outside = [], []
        for term, product in zip(terms, result, strict=True):
            other = None if product is None else _other_vector(vector, product, term, signs)
            if other is None:
                outside.append(term)
            else:
                inside.append(other)
        if len(inside) > 1:
            first = next(p for p in result if p is not None)
            combined = first.op(vector, sum_of(inside), **first.attrs)
            yield sum_of([Product(ONE, {combined: 1}), *outside])


def _other_vector(vector: Node, product: Node, term: Product, signs: Signs) -> Product | None:
    """x times its scalars, for a term that is a scalar multiple of cross(vector, x); else None."""
    for k, v in enumerate(product.parents):
        sign, first = signs.get(v, (1, v))
        if first is vector:
            other = {product.parents[1 - k]: 1}
            return term.without(product).times(other, -sign if k else sign)
    return None


def _cross_product_in(t: Product) -> Node | None:
    """The only cross product of a term whose other factors are constant along it, or None."""
    result = t.once("cross_along")
    others = [f for f in t.factors if f not in result]
    if len(result) != 1 or any(_varies_along(f, result[0]) for f in others):
        return None
    return result[0]


def _varies_along(f: Node, product: Node) -> bool:
    """Whether a factor varies along the dimension of the cross product."""
    dim = axis(product.attrs["dim"], product.ndim) - product.ndim
    return f.ndim >= -dim and f.shape[dim] != 1
