"""Linear interpolation between two neighbours, as in quantiles."""

from ....graphs import OPS, Node
from ....graphs.shapes import axis
from .factoring import expanded_terms, terms_of
from .products import Coefficient, Product, build, common_factors, magnitude, product_of
from .registry import candidate

TOLERANCE = 1e-9


@candidate("add")
def interpolation_weights(node: Node) -> Node | None:
    """With f = r - r.long(), the sum of f scattered to index ceil(r) and of 1 - f scattered to
    index r.long() is relu(1 - abs(arange(n) - r)).
    """
    first, second = node.parents
    for upper, lower in ((first, second), (second, first)):
        rank = _rank(upper, lower)
        weights = None if rank is None else _common_factors(upper.parents[0], lower.parents[0])
        if rank is None or weights is None:
            continue
        common, upper_weight, lower_weight = weights
        fraction = rank - OPS["long"](rank)
        if _is_zero(upper_weight - fraction) and _is_zero(lower_weight - (1 - fraction)):
            distance = OPS["abs"](OPS["arange"](end=node.shape[-1]) - _single(rank))
            return build(common, upper.parents[0].shape) * OPS["relu"](1 - distance)
    return None


def _rank(upper: Node, lower: Node) -> Node | None:
    """The rank r, if two nodes are scattered to ceil(r) and r.long() in each row; else None."""
    if upper.op.name != "scatter_to" or lower.op is not upper.op or upper.dtype != "float":
        return None
    if any(axis(n.attrs["dim"], n.ndim) != n.ndim - 1 for n in (upper, lower)):
        return None
    above, below = (n.parents[1] for n in (upper, lower))
    if above.op.name != "long" or below.op.name != "long":
        return None
    rank, rounded = below.parents[0], above.parents[0]
    between = rounded.op.name == "ceil" and rounded.parents[0] is rank
    single = between and _single(rank).shape in ((), (1,)) and rank.shape == (*upper.shape[:-1], 1)
    return rank if single else None


def _single(rank: Node) -> Node:
    return rank.parents[0] if rank.op.name == "expand" else rank


def _common_factors(a: Node, b: Node) -> tuple[Product, Node, Node] | None:
    """The common factors of two products, and the only other factor of each; else None."""
    p, q = product_of(a), product_of(b)
    if p is None or q is None or p.coefficient != q.coefficient:
        return None
    common = common_factors(p, q)
    rest = [[f for f in n.factors if f not in common] for n in (p, q)]
    if list(map(len, rest)) != [1, 1]:
        return None
    return Product(p.coefficient, common), rest[0][0], rest[1][0]


def _is_zero(node: Node) -> bool:
    """Whether the terms of a sum cancel, with products of sums expanded."""
    terms = terms_of(node)
    totals: dict[frozenset, Coefficient] = {}
    for term in terms or ():
        for part in expanded_terms(build(term, node.shape)) or [term]:
            totals[part.key] = totals.get(part.key, 0) + part.coefficient
    return terms is not None and all(magnitude(total) < TOLERANCE for total in totals.values())
