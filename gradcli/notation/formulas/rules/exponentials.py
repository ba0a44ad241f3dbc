"""Products and sums of exponentials: exponents added, and the hyperbolic functions they make."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from ....graphs import OPS, Node
from .factoring import sum_of
from .products import ONE, Coefficient, Product, build, product_of, with_factors
from .registry import normal, other
from .sums import add_up_to_zero, terms_of


@normal("mul", "div")
def opposite_exponentials(node: Node) -> Node | None:
    """exp(x) * exp(-x) = 1."""
    found = product_of(node)
    for f, k in combinations(_exponentials(found), 2):
        e, n = found.factors[f], found.factors[k]  # type: ignore[union-attr]
        if e * n > 0 and add_up_to_zero(f.parents[0], k.parents[0]):
            less = min(e, n) if e > 0 else max(e, n)
            factors = with_factors(found.factors, {f: -less, k: -less})  # type: ignore[union-attr]
            return build(found._replace(factors=factors), node.shape)  # type: ignore[union-attr]
    return None


@normal("exp")
def quotient_in_the_exponent(node: Node) -> Node | None:
    """exp(-0.5 * x) = exp(-x / 2), so that the two are seen to be the same."""
    (x,) = node.parents
    found = product_of(x)
    if found is None or not found.factors or not isinstance(found.coefficient, float):
        return None
    simple = Fraction(found.coefficient)
    if simple.denominator > 8:
        return None
    return node.op(build(found._replace(coefficient=simple), x.shape))


@other("add", "sub")
def logarithms_together(node: Node) -> Iterator[Node]:
    """log(x) + log(y) = log(x * y); log(x) - log(y) = log(x / y)."""
    terms = terms_of(node) or []
    for p, q in combinations(terms, 2):
        together = _one_logarithm(p, q)
        if together is not None:
            total = sum_of([together, *(t for t in terms if t is not p and t is not q)])
            if total.shape == node.shape:
                yield total


def _one_logarithm(p: Product, q: Product) -> Product | None:
    """The sum of two terms that are the same number or other factors times a logarithm."""
    if p.coefficient < 0 < q.coefficient:
        p, q = q, p
    (f, rest), (k, others) = map(_without_logarithm, (p, q))
    if f is None or k is None or rest != others or abs(p.coefficient) != abs(q.coefficient):
        return None
    (x,), (y,) = f.parents, k.parents
    both = (x * y if p.coefficient == q.coefficient else x / y).log()
    return p._replace(factors=with_factors(rest, {both: 1}))


def _without_logarithm(t: Product) -> tuple[Node | None, dict[Node, Coefficient]]:
    found = next((f for f, e in t.factors.items() if f.op.name == "log" and e == 1), None)
    return found, {f: e for f, e in t.factors.items() if f is not found}


@other("mul", "div")
def exponentials_together(node: Node) -> Iterator[Node]:
    """exp(x) * exp(y) = exp(x + y); exp(x) / exp(y) = exp(x - y)."""
    found = product_of(node)
    for f, k in combinations(_exponentials(found), 2):
        e, n = found.factors[f], found.factors[k]  # type: ignore[union-attr]
        if {e, n} <= {1, -1} and f.shape == k.shape:
            a, b = (f, k) if e > 0 else (k, f)
            x, y = a.parents[0], b.parents[0]
            whole = (x + y if e == n else x - y).exp()
            factors = with_factors(found.factors, {f: -e, k: -n})  # type: ignore[union-attr]
            factors = with_factors(factors, {whole: -1 if e == n == -1 else 1})
            yield build(found._replace(factors=factors), node.shape)  # type: ignore[union-attr]


@other("mul", "div")
def share_of_two(node: Node) -> Iterator[Node]:
    """exp(x) / (exp(x) + exp(y)) = sigmoid(x - y)."""
    found = product_of(node)
    for f in _exponentials(found):
        for total, e in found.factors.items():  # type: ignore[union-attr]
            second = _beside(total, f) if e < 0 < found.factors[f] else None  # type: ignore[union-attr]
            if second is not None:
                share = (f.parents[0] - second.parents[0]).sigmoid()
                factors = with_factors(found.factors, {f: -1, total: 1, share: 1})  # type: ignore[union-attr]
                yield build(found._replace(factors=factors), node.shape)  # type: ignore[union-attr]


def hyperbolic(f: Node, e: Coefficient, k: Node, n: Coefficient, sign: int) -> Product | None:
    """f ** e + sign * k ** n for exponentials of opposites: exp(x) + exp(-x) = 2 * cosh(x)."""
    if f.op.name != "exp" or k.op.name != "exp" or abs(e) != 1 or abs(n) != 1:
        return None
    x, y = f.parents[0], k.parents[0]
    if not (f is k and e == -n) and not (e == n and add_up_to_zero(x, y)):
        return None
    x = x if e > 0 else -x
    found = product_of(x)
    mirrored = found is not None and found.coefficient < 0
    name = "cosh" if sign > 0 else "sinh"
    times = -2 if mirrored and sign < 0 else 2
    return Product(Fraction(times), {OPS[name](-x if mirrored else x): ONE})


def _exponentials(found: Product | None) -> list[Node]:
    if found is None or found.coefficient == 0:
        return []
    return [f for f in found.factors if f.op.name == "exp"]


def _beside(total: Node, f: Node) -> Node | None:
    """exp(y) of exp(x) + exp(y), where f is exp(x)."""
    if total.op.name != "add" or f not in total.parents:
        return None
    a, b = total.parents
    second = b if a is f else a
    return second if second.op.name == "exp" and second is not f else None
