"""Exponentials: a common one of several terms, and logarithms in exponents, also where these stand
in the definitions of names.
"""

from collections.abc import Iterator

from ....graphs import Node, walk
from ....graphs.substitution import substitute
from .atoms import definition
from .factoring import MOST_TERMS, added, sum_of, terms_of, terms_of_sum
from .powers import without_roots
from .products import NOTHING, ONE, SUMS, Coefficient, Product, build, multiplied_by
from .registry import candidate

MOST_OPENED = 3  # definitions that use each other: d2 = d1 - v, d1 = log(x) / v, v = s * t


@candidate("add", "sub")
def common_exponentials(node: Node) -> Iterator[Node]:
    """exp((2 - p) * x) - y * exp((1 - p) * x) = exp((1 - p) * x) * (exp(x) - y), where the
    difference of the exponents is a single term; x * exp(y + log(z)) - exp(y) = (x * z - 1) *
    exp(y).
    """
    terms = terms_of(node) or []
    if not 2 <= len(terms) <= MOST_TERMS:
        return
    powers = [t.once("exp") for t in terms]
    exponents = [p[0].parents[0] for p in powers if len(p) == 1]
    for common in exponents if len(exponents) == len(terms) else ():
        found = (_difference(e, common) for e in exponents)
        differences = [d for d in found if d is not None]
        if len(differences) == len(terms):
            inner = [
                t.without(p).times(_exponential(d))
                for t, (p,), d in zip(terms, powers, differences, strict=True)
            ]
            yield build(Product(ONE, {common.exp(): 1, sum_of(inner): 1}), node.shape)


@candidate("exp")
def logarithm_in_an_exponent(node: Node) -> Iterator[Node]:
    """exp(x + log(y)) = y * exp(x); exp(d * v - v ** 2 / 2) = y for d = log(y) / v + v / 2."""
    terms = _multiplied_out(node.parents[0])
    for k in range(MOST_OPENED):
        if not terms or len(terms) > MOST_TERMS:
            return
        opened = _opened(terms, only_once=True) or (terms if k == 0 else [])
        logarithms = {t.once("log")[0]: t for t in opened if _is_logarithm(t)}
        if logarithms and len(opened) <= len(terms):
            rest = [t for t in opened if t not in logarithms.values()]
            powers = {f.parents[0]: t.coefficient for f, t in logarithms.items()}
            factors = powers | ({sum_of(rest).exp(): ONE} if rest else {})
            yield build(Product(ONE, factors), node.shape)
        terms = _opened(terms)


def _difference(x: Node, y: Node) -> Product | None:
    """x - y as a single term: u for (2 - p) * u - (1 - p) * u; None if it has several. Definitions
    are written for names if only that leaves one: log(S / K) for d * s - s ** 2 / 2, where
    d = (log(S / K) + s ** 2 / 2) / s.
    """
    terms = _multiplied_out(x - y)
    for _ in range(MOST_OPENED):
        if terms is None or len(terms) < 2:
            break
        terms = _opened(terms)
    if not terms:
        return None if terms is None else NOTHING._replace(coefficient=0)
    return terms[0] if len(terms) == 1 else None


def _opened(terms: list[Product], only_once: bool = False) -> list[Product] | None:
    """The terms with definitions in place of names that no other definition uses, multiplied out;
    with `only_once`, of names that are a factor with exponent 1. None if there are no such names.
    """
    factors = [f for t in terms for f in (t.once() if only_once else t.factors)]
    names = {n: e for n in walk(factors) if (e := definition(n)) is not None}
    used = {*walk(m for e in names.values() for m in e.parents)}
    last = {n: e for n, e in names.items() if n not in used}
    if not last:
        return None
    new = [t if only_once and last.keys().isdisjoint(t.once()) else _with(last, t) for t in terms]
    return _multiplied_out(sum_of(new))


def _with(definitions: dict[Node, Node], t: Product) -> Product:
    factors = {substitute(f, definitions): e for f, e in t.factors.items()}
    return t._replace(factors=factors)


def _multiplied_out(node: Node) -> list[Product] | None:
    """The terms of a sum, with sums and squares of sums multiplied out; None for too many."""
    terms = terms_of(node)
    expanded = [p for t in terms or () for p in _expanded(without_roots(t))]
    return terms_of(sum_of(expanded)) if expanded else terms


def _expanded(t: Product) -> list[Product]:
    """The terms of a product in which sums and squares of sums are multiplied out."""
    total = next((f for f, e in t.factors.items() if f.op.name in SUMS and e in (1, 2)), None)
    if total is None:
        return [t]
    rest = t.times({total: -1})
    return [q for p in terms_of_sum(total) for q in _expanded(multiplied_by(rest, p))]


def _exponential(exponent: Product) -> dict[Node, Coefficient]:
    """exp(x) as a factor: x ** 2 for exp(2 * log(x)), and no factor for exp(0)."""
    if exponent.coefficient == 0:
        return {}
    if _is_logarithm(exponent):
        return {exponent.once("log")[0].parents[0]: exponent.coefficient}
    return {added([exponent]).exp(): 1}


def _is_logarithm(t: Product) -> bool:
    """Whether a term is a number times a logarithm."""
    return len(t.factors) == 1 == len(t.once("log"))
