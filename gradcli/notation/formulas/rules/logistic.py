"""The logistic function of opposites."""

from collections.abc import Iterator
from itertools import permutations

from ....graphs import OPS, Node
from .factoring import MOST_TERMS, opened, sum_of
from .products import Coefficient, Product, build, product_of, with_factors
from .registry import other
from .sums import add_up_to_zero, terms_of


@other("sigmoid")
def of_the_opposite(node: Node) -> Node | None:
    """sigmoid(-x) = 1 - sigmoid(x)."""
    (x,) = node.parents
    found = product_of(x)
    if found is None or found.coefficient >= 0 or x.shape != node.shape:
        return None
    return 1 - build(found._replace(coefficient=-found.coefficient), x.shape).sigmoid()


@other("mul", "div")
def of_opposites(node: Node) -> Iterator[Node]:
    """sigmoid(x) * sigmoid(-x) = sigmoid(x) * (1 - sigmoid(x))."""
    found = product_of(node)
    for f, k in permutations(_of(found), 2):
        e = found.factors[k]  # type: ignore[union-attr]
        if are_opposite(f.parents[0], k.parents[0]):
            factors = with_factors(found.factors, {k: -e, 1 - f: e})  # type: ignore[union-attr]
            yield build(found._replace(factors=factors), node.shape)  # type: ignore[union-attr]


@other("add", "sub")
def as_hyperbolic_tangent(node: Node) -> Iterator[Node]:
    """2 * sigmoid(x) - 1 = sigmoid(x) - sigmoid(-x) = tanh(x / 2)."""
    terms = terms_of(node) or []
    if len(terms) > MOST_TERMS:
        return
    for p, q in permutations(terms, 2):
        x, times = _logistic(p)
        if x is None:
            continue
        y, other_times = _logistic(q)
        one = not q.factors and times == -2 * q.coefficient
        if one or (y is not None and times == -other_times and are_opposite(x, y)):
            size = times / 2 if one else times
            tangent = Product(size, {OPS["tanh"](x / 2): 1})
            total = sum_of([tangent, *(t for t in terms if t is not p and t is not q)])
            if total.shape == node.shape:
                yield total


def _logistic(t: Product) -> tuple[Node | None, Coefficient]:
    """x and the number of 2 * sigmoid(x); None for any other term."""
    ((f, e), *more) = t.factors.items() or [(None, 0)]
    alone = f is not None and not more and e == 1 and f.op.name == "sigmoid"
    return (f.parents[0] if alone else None), t.coefficient  # type: ignore[union-attr]


def are_opposite(x: Node, y: Node) -> bool:
    """Whether it is plain to see that x + y is 0, with sums within products opened."""
    if x.shape != y.shape:
        return False
    if add_up_to_zero(x, y):
        return True
    terms = [p for t in terms_of(x + y) or [] for p in opened(t)]
    return 0 < len(terms) <= 2 * MOST_TERMS and terms_of(sum_of(terms)) == []


def _of(found: Product | None) -> list[Node]:
    powers = found.factors.items() if found is not None and found.coefficient != 0 else ()
    return [f for f, e in powers if f.op.name == "sigmoid" and e > 0]
