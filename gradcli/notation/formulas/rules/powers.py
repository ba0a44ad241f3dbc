"""Powers: products of bases with equal exponents, sums of exponents of equal bases."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations, permutations

from ....graphs import Node, as_node
from ....graphs.signature import signature
from ..numerals import split_root
from .factoring import (
    MOST_TERMS,
    added,
    canonical_sums,
    multiple_of,
    negative,
    sum_of,
    terms_of,
    terms_of_sum,
)
from .guards import is_not_negative
from .identities import condition, identities
from .products import (
    NOTHING,
    ONE,
    SUMS,
    Coefficient,
    Product,
    build,
    constant_value,
    magnitude,
    number_node,
    product_of,
    with_factors,
)
from .registry import CANDIDATES, candidate, normal

identities(CANDIDATES, """
    (x + y) * (x - y) = x ** 2 - y ** 2
    (1 + x) * (1 - x) = 1 - x ** 2
    1 / (x + y) / (x - y) = 1 / (x ** 2 - y ** 2)
    1 / (1 + x) / (1 - x) = 1 / (1 - x ** 2)
    1 / pow(x, y) = pow(x, -y)
    x * pow(y, -z) = x / pow(y, z)
    pow(x, y - 1) = pow(x, y) / x where known_positive(x) or has_a_number(x)
    pow(x, -y - 1) = pow(x, -y) / x where has_a_number(x)
    pow(s, y - 1) = pow(s, y) / s
    pow(s, -y) = pow(s, 1 - y) / s
    pow(x, y) * pow(z, 1 - y) = z * pow(x / z, y)
""")  # fmt: skip


@condition
def has_a_number(x: Node) -> bool:
    """Whether x is a sum with a number, such as 1 + y, which is 0 at isolated points only."""
    return any(not t.factors for t in terms_of_sum(x))


@candidate("mul", "div")
def common_exponent(node: Node) -> Iterator[Node]:
    """x ** 2 / y ** 2 = (x / y) ** 2; x ** 2 * y ** 2 = (x * y) ** 2; x ** a * y ** -a =
    (x / y) ** a; sqrt(x) / sqrt(y) = sqrt(x / y).
    """
    result = product_of(node) or NOTHING
    for (f, e), (k, n) in permutations(result.factors.items(), 2):
        new = _product_of_powers(f, e, k, n)
        if new is not None:
            rest = result.without(f, k).factors
            yield build(result._replace(factors=with_factors({new: 1}, rest)), node.shape)


@candidate("mul", "div")
def power_into_operand(node: Node) -> Iterator[Node]:
    """s ** 4 * (g @ (x / r ** 4)) = g @ (x * (s / r) ** 4): a power of a scalar is moved into the
    operand of a linear function that is divided by the same power.
    """
    result = product_of(node) or NOTHING
    powers = {f: e for f, e in result.factors.items() if f.shape == () and e > 1}
    for call in result.once("matmul", "outer", "sum", "mean") if powers else ():
        for k, operand in enumerate(call.parents):
            inner = product_of(operand) or NOTHING
            for f, e in powers.items():
                for r in [r for r, n in inner.factors.items() if n == -e == -int(e)]:
                    quotient = (f / r) ** number_node(e)
                    part = build(inner.without(r).times({quotient: 1}), operand.shape)
                    parts = [part if j == k else i for j, i in enumerate(call.parents)]
                    new = call.op(*parts, **call.attrs)
                    yield build(result.times({f: -e, call: -1, new: 1}), node.shape)


@candidate("mul", "div")
def number_under_a_root(node: Node) -> Iterator[Node]:
    """math.sqrt(pi) * sqrt(x) = sqrt(pi * x); 1 / (2 * math.sqrt(pi) * sqrt(x)) = 1 / (2 * sqrt(pi
    * x)).
    """
    result = product_of(node) or NOTHING
    roots = {f: e for f, e in result.factors.items() if f.op.name == "sqrt" and abs(e) == 1}
    if not roots or not isinstance(result.coefficient, float | Fraction):
        return
    numbers = {f: e for f, e in result.factors.items() if constant_value(f) is not None}
    number = result.coefficient
    for f, e in numbers.items():
        number *= (constant_value(f) or 1) ** e
    times, square = split_root(float(number))
    for root, e in roots.items() if square != 1 else ():
        x = root.parents[0]
        inside = x * number_node(square**e) if square**e > 1 else x / number_node(square**-e)
        rest = result.without(root, *numbers).factors
        factors = with_factors(rest, {root.op(inside): e})
        yield build(Product(times, factors), node.shape)


@candidate("mul", "div")
def exponents_added(node: Node) -> Iterator[Node]:
    """x ** (a - 1) * x = x ** a; x ** a * x ** b = x ** (a + b); x ** a / x ** b = x ** (a - b);
    sqrt(x) * x = x ** 1.5; x ** (a - 1) / (x ** a) ** 2 = 1 / x ** (a + 1).
    """
    result = product_of(node) or NOTHING
    for f in result.factors:
        base = f.parents[0] if f.op.name in ("pow", "sqrt") else None
        exponents = {k: _exponent_of(k, v, base) for k, v in result.factors.items() if base}
        for k, other in exponents.items():
            exponent = exponents[f]
            if k is not f and exponent is not None and other is not None:
                rest = result.without(f, k).factors
                above, total = _canonical_exponent(exponent + other)
                factors = with_factors({base**total: 1 if above else -1}, rest)
                yield build(result._replace(factors=factors), node.shape)


@candidate("mul", "div")
def power_of_a_quotient(node: Node) -> Iterator[Node]:
    """(x / l) ** (k - 1) * x / l = (x / l) ** k; (x / l) ** (k - 1) / l = (x / l) ** k / x;
    x ** 2 / (l ** 2 * (x / l) ** 0.5) = x * (x / l) ** 0.5 / l.
    """
    result = product_of(node) or NOTHING
    for f, e in result.factors.items():
        is_power = f.op.name == "pow" and e == 1
        if not is_power and (f.op.name != "div" or e == int(e)):
            continue
        quotient = f.parents[0] if is_power else f
        base = product_of(quotient)
        if base is None or base.coefficient != 1 or len(base.factors) < 2:
            continue
        rest = result.without(f).factors
        shorter = with_factors(rest, {k: -n for k, n in base.factors.items()})
        if sum(map(magnitude, shorter.values())) <= sum(map(magnitude, rest.values())):
            power = {f: e + 1}
            if is_power:
                above, exponent = _canonical_exponent(f.parents[1] + 1)
                power = {quotient**exponent: 1 if above else -1}
            factors = with_factors(shorter, power)
            yield build(result._replace(factors=factors), node.shape)


@candidate("add", "sub")
def common_powers(node: Node) -> Iterator[Node]:
    """m ** (1 - p) - y * m ** -p = (m - y) / m ** p; x ** (a + 1) + x ** a = x ** a * (x + 1)."""
    terms = terms_of(node) or []
    powers = [f for t in terms for f in t.factors if f.op.name == "pow"]
    for base in dict.fromkeys(f.parents[0] for f in powers if len(terms) <= MOST_TERMS):
        exponents = [_exponent_in(t, base) for t in terms]
        for common in dict.fromkeys(exponents):
            differences = [
                None if e is None or common is None else _integer(e - common) for e in exponents
            ]
            if common is None or None in differences:
                continue
            inner = [
                t._replace(factors=with_factors(_without_powers(t, base), {base: n} if n else {}))
                for t, n in zip(terms, differences, strict=True)
            ]
            above, exponent = _canonical_exponent(common)
            factors = with_factors({base**exponent: 1 if above else -1}, {sum_of(inner): 1})
            yield build(Product(ONE, factors), node.shape)


@candidate("add", "sub")
def powers_of_a_quotient(node: Node) -> Iterator[Node]:
    """s ** 6 / r ** 7 - s ** 12 / r ** 13 = ((s / r) ** 6 - (s / r) ** 12) / r, and
    x ** 2 / s ** 3 - 1 / s = ((x / s) ** 2 - 1) / s.
    """
    terms = terms_of_sum(node)
    if not 2 <= len(terms) <= MOST_TERMS:
        return
    bases = dict.fromkeys(f for t in terms for f in t.factors if f.op.name != "size")
    for x, y in permutations(bases, 2):
        exponents = [(t.factors.get(x, 0), t.factors.get(y, 0)) for t in terms]
        rest = {n + k for n, k in exponents}
        if len(rest) == 1 and all(n == 0 or (n > 1 and k < 0) for n, k in exponents):
            inner = [
                t.without(x, y).times({(x / y) ** number_node(n): 1} if n else {})
                for t, (n, _) in zip(terms, exponents, strict=True)
            ]
            yield build(Product(ONE, with_factors({sum_of(inner): 1}, {y: rest.pop()})), node.shape)


def without_roots(result: Product) -> Product:
    """The product with powers of x in place of sqrt(x), which can be divided by sqrt(x)."""
    if all(f.op.name != "sqrt" for f in result.factors):
        return result
    factors: dict[Node, Coefficient] = {}
    for f, e in result.factors.items():
        inner = {f: ONE} if f.op.name != "sqrt" else _under_the_root(f.parents[0])
        factors = with_factors(factors, {x: e * power for x, power in inner.items()})
    return result._replace(factors=factors)


def with_powers_of(definition: Product, p: Product) -> Product:
    """The product p with the symbolic powers of a definition: x ** (a - 1) / x for x ** (a - 2). A
    definition with x ** a has none for x ** (a - 1), as x may be 0 there.
    """
    for f in definition.once("pow"):
        base, exponent = f.parents
        has_pole = any(t.coefficient < 0 for t in terms_of(exponent) or ())
        for power in p.once("pow") if f not in p.factors else ():
            n = _integer(power.parents[1] - exponent) if power.parents[0] is base else None
            if n is not None and (n > 0 or has_pole):
                p = p.without(power).times({f: 1, base: n})
    return p


def _under_the_root(x: Node) -> dict[Node, Coefficient]:
    """The factors of sqrt(x), including numbers: 2, E and 1 / m, each with exponent 1/2."""
    inner = product_of(x)
    if inner is None or inner.coefficient <= 0:
        return {x: Fraction(1, 2)}
    number = {} if inner.coefficient == 1 else {number_node(inner.coefficient): ONE}
    return {f: Fraction(e) / 2 for f, e in (number | inner.factors).items()}


def _exponent_in(t: Product, base: Node) -> Node | None:
    """The exponent of a base in a term; None if it does not occur."""
    result = [n for f, e in t.factors.items() if (n := _exponent_of(f, e, base)) is not None]
    return sum(result[1:], result[0]) if result else None


def _integer(node: Node) -> Coefficient | None:
    """The integer that a node equals; None if there is none."""
    terms = terms_of(node)
    if terms is None or len(terms) > 1 or any(t.factors for t in terms):
        return None
    n = terms[0].coefficient if terms else 0
    return int(n) if n == int(n) else None


def _without_powers(t: Product, base: Node) -> dict[Node, Coefficient]:
    return {f: e for f, e in t.factors.items() if _exponent_of(f, e, base) is None}


@normal("add", "sub")
def canonical_differences(node: Node) -> Node | None:
    """2 * (x - y) ** 2 + (y - x) ** 2 = 2 * (x - y) ** 2 + (x - y) ** 2, which are like terms;
    a * (x - y) + b * (y - x) = a * (x - y) - b * (x - y).
    """
    terms = terms_of(node) or []
    canonical = canonical_sums(f for t in terms for f, e in t.factors.items() if e == int(e))
    if not canonical:
        return None
    total = sum_of([_with_canonical_sums(t, canonical) for t in terms])
    return total if total.shape == node.shape else total.expand(shape=node.shape)


def _with_canonical_sums(t: Product, canonical: Mapping[Node, tuple[int, Node]]) -> Product:
    """A term with its sums replaced by their canonical forms, signs in the coefficient."""
    out = t._replace(factors={})
    for f, e in t.factors.items():
        sign, first = canonical.get(f, (1, f)) if e == int(e) else (1, f)
        out = out.times({first: e}, -ONE if sign < 0 and e % 2 else ONE)
    return out


@candidate("pow")
def power_of_a_root(node: Node) -> Iterator[Node]:
    """x ** (1 / p - 1) = (x ** (1 / p)) ** (1 - p) and x ** (r / p) = (x ** (1 / p)) ** r for an x
    that is never negative, and for an x such as (y ** p).sum(), whose p-th root is defined only
    where it is not negative.
    """
    x, e = node.parents
    terms = terms_of_sum(e)
    for root in terms if len(terms) == 2 else ():
        below = [f for f, n in root.factors.items() if n == -1]
        if abs(root.coefficient) == 1 and len(root.factors) == len(below) == 1:
            if not is_not_negative(x) and not _adds_powers(x, below[0]):
                return
            (rest,) = (t for t in terms if t is not root)
            scaled_rest = build(rest.times({below[0]: 1}, root.coefficient), e.shape)
            yield (x ** build(root, e.shape)) ** (1 + scaled_rest)
    quotient = product_of(e) or NOTHING
    for f in [f for f, n in quotient.factors.items() if n == -1 and len(quotient.factors) > 1]:
        if is_not_negative(x) or _adds_powers(x, f):
            yield (x ** (1 / f)) ** build(quotient.times({f: 1}), e.shape)


def _adds_powers(x: Node, exponent: Node) -> bool:
    """Whether every term of x, or of the operands of a sum, mean or inner product, is a number or
    has a factor y ** exponent or y ** -exponent, and some have one.
    """
    exponents = exponent, -exponent
    for total in x.parents if x.op.name in ("sum", "mean", "matmul") else (x,):
        terms = [t for t in terms_of(total) or () if t.factors]
        powers = [[f for f in t.once("pow") if f.parents[1] in exponents] for t in terms]
        if powers and all(powers):
            return True
    return False


def _exponent_of(power: Node, e: Coefficient, base: Node | None) -> Node | None:
    """The exponent of `base` in power ** e; None if `power` is no power of it."""
    if power is base:
        return number_node(e)
    if power.op.name == "sqrt" and power.parents[0] is base:
        return number_node(e / 2)
    if power.op.name != "pow" or power.parents[0] is not base or e != int(e):
        return None  # (x ** 2) ** 0.5 is not x for a negative x
    return power.parents[1] if e == 1 else number_node(e) * power.parents[1]


def _canonical_exponent(exponent: Node) -> tuple[bool, Node]:
    """Whether a power belongs in the numerator, and its exponent there or in the denominator: a sum
    of terms in a fixed order, numbers last.
    """
    terms = terms_of(exponent)
    if not terms:
        return True, exponent
    above = any(t.coefficient > 0 for t in terms)
    signed = terms if above else [-t for t in terms]
    first = sorted(signed, key=lambda p: (not p.factors, *sorted(map(signature, p.factors))))
    total = added(first)
    return (above, total) if total.shape == exponent.shape else (True, exponent)


def _product_of_powers(f: Node, e: Coefficient, k: Node, n: Coefficient) -> Node | None:
    """f ** e * k ** n as one power; None where the exponents differ."""
    if e > 1 and abs(n) == e == int(e):
        return (f * k if n > 0 else f / k) ** as_node(int(e))
    names = {f.op.name, k.op.name}
    if e != 1 or abs(n) != 1 or names not in ({"pow"}, {"sqrt"}):
        return None
    if names == {"sqrt"}:
        x, y = f.parents[0], k.parents[0]
        return (x * y if n > 0 else x / y).sqrt()
    (x, a), (y, b) = f.parents, k.parents
    if a is b:
        return (x * y if n > 0 else x / y) ** a
    return (x / y) ** a if n > 0 and (negative(a) is b or negative(b) is a) else None


@normal("mul", "div")
def multiples_of_sums(node: Node) -> Node | None:
    """(x + y) / (y + x) = 1; (x - y) * (2 * y - 2 * x) = -2 * (x - y) ** 2."""
    result = product_of(node) or NOTHING
    sums = [f for f in result.factors if f.op.name in SUMS]
    for f, k in combinations(sums, 2):
        times = multiple_of(k, f)
        e = result.factors[k]
        if times is not None and e == int(e):
            return build(result.times({k: -e, f: e}, times**e), node.shape)
    return None


@normal("pow")
def constant_exponent(node: Node) -> Node | None:
    """x ** -ones_like(x) = x ** -1."""
    x, e = node.parents
    result = product_of(e)
    if e.op.name == "constant" or result is None or result.factors:
        return None
    new = x ** number_node(result.coefficient)
    return new if new.shape == node.shape else new.expand(shape=node.shape)
