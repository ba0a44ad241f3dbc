"""Elements that are polynomials in elements of inputs, as text.

For example `2*a[0,0]*g[0,0]` and `(x[0] - y[0])/3`. Coefficients are exact; the order of terms and
factors, and which products are expanded, are as in backends/elements, which writes all other
elements. Elements with functions raise NotPolynomial.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import gcd
from typing import Any

from ...budget import tick
from ...graphs import Node, walk
from ...lazy import np
from . import places
from .expressions import (
    Element,
    Expr,
    Number,
    Power,
    Product,
    Relation,
    Sum,
    TooLong,
    Total,
    holds,
    is_condition,
)
from .lower import Lowering

Symbol = tuple[str, tuple[int, ...]]  # the name of an input, and the indices of an element
Monomial = tuple[tuple[Symbol, int], ...]  # symbols in order, each with its exponent
Polynomial = dict[Monomial, Fraction]

LONGEST = 2_000  # most terms of one element
EXACT = 2**53  # floats below it represent integers exactly


class NotPolynomial(Exception):
    """The element is not a polynomial with exact coefficients."""


class Polynomials:
    """The elements of nodes as polynomials. `names` are those of symbolic inputs; `values` returns
    the array of a node that depends on none of them, or None if it is not known.
    """

    def __init__(self, names: Mapping[Node, str], values: Callable[[Node], Any]):
        self.names, self._values = names, values
        self.arrays: dict[Node, Any] = {}

    def values(self, node: Node) -> Any:
        """The array of a node; None if it depends on symbolic inputs, or is unknown."""
        if node not in self.arrays:
            symbolic = any(n in self.names for n in walk([node]))
            self.arrays[node] = None if symbolic else self._values(node)
        return self.arrays[node]

    def texts(self, node: Node) -> Any:
        """The texts of all elements as nested lists; None if one is not a polynomial."""
        out = np.empty(node.shape, object)
        try:
            for place in np.ndindex(node.shape):
                tick()
                lower = Lowering(self.names, self.values)
                out[place] = text(self.of(lower(node, place), {}))
        except (NotPolynomial, TooLong, RecursionError):
            return None
        return out.tolist()

    def of(self, e: Expr, env: dict[str, int]) -> Polynomial:
        """An expression as a polynomial; `env` has the values of free letters. Raises
        NotPolynomial.
        """
        if isinstance(e, Number):
            return _constant(e.value)
        if isinstance(e, Element):
            return self._element(e, env)
        if isinstance(e, Relation):
            left, right = self._place(e.left, env), self._place(e.right, env)
            return _constant(int(holds(e.symbol, left, right)))
        if isinstance(e, Product):
            return self._product(e, env)
        if isinstance(e, Total):
            return _added(self.of(term, env) for term in e.terms)
        if isinstance(e, Sum):
            return _added(self.of(e.body, {**env, e.letter: k}) for k in range(e.size))
        if isinstance(e, Power):
            return _power(self.of(e.base, env), self.of(e.exponent, env))
        raise NotPolynomial

    def _product(self, e: Product, env: dict[str, int]) -> Polynomial:
        out = _constant(1)
        for factor in sorted(e.factors, key=is_condition, reverse=True):
            if not out:  # a condition does not hold: other places may be out of range
                break
            out = _multiplied(out, self.of(factor, env))
        return out

    def _element(self, e: Element, env: dict[str, int]) -> Polynomial:
        place = tuple(self._place(p, env) for p in e.places)
        if e.node in self.names:
            return {(((self.names[e.node], place), 1),): Fraction(1)}
        array = self.values(e.node)
        if array is None:
            raise NotPolynomial
        return _constant(np.asarray(array)[place].item())

    def _place(self, place: places.Place, env: dict[str, int]) -> int:
        return places.at(place, env, lambda e: _integer(self.of(e, env)))


# ---- arithmetic ----------------------------------------------------------------------------------


def _constant(value: float) -> Polynomial:
    if value != value or abs(value) >= EXACT or int(value) != value:
        raise NotPolynomial
    return {(): Fraction(int(value))} if value else {}


def _integer(polynomial: Polynomial) -> int:
    """The integer that a constant polynomial equals. Raises NotPolynomial."""
    if not polynomial:
        return 0
    if [*polynomial] != [()] or polynomial[()].denominator != 1:
        raise NotPolynomial
    return int(polynomial[()])


def _added(parts: Any) -> Polynomial:
    out: Polynomial = {}
    for part in parts:
        for monomial, number in part.items():
            out[monomial] = out.get(monomial, Fraction(0)) + number
        if len(out) > LONGEST:
            raise NotPolynomial
    return {monomial: number for monomial, number in out.items() if number}


def _multiplied(a: Polynomial, b: Polynomial) -> Polynomial:
    """A product of monomials, or of a polynomial and a number. Raises NotPolynomial otherwise."""
    if len(a) < len(b):
        a, b = b, a
    if len(b) > 1 or (len(a) > 1 and () not in b and b):
        raise NotPolynomial
    return {_joined(m, n): p * q for n, q in b.items() for m, p in a.items()}


def _joined(a: Monomial, b: Monomial) -> Monomial:
    """The product of monomials."""
    if not a or not b:
        return a or b
    exponents = dict(a)
    for symbol, exponent in b:
        exponents[symbol] = exponents.get(symbol, 0) + exponent
    return tuple(sorted((s, n) for s, n in exponents.items() if n))


def _power(base: Polynomial, exponent: Polynomial) -> Polynomial:
    n = _integer(exponent)
    if n == 1:
        return base
    if len(base) != 1 or n == 0 or abs(n) > EXACT.bit_length():
        raise NotPolynomial
    ((monomial, number),) = base.items()
    return {tuple((symbol, k * n) for symbol, k in monomial): number**n}


# ---- text ----------------------------------------------------------------------------------------


def text(polynomial: Polynomial) -> str:
    """The text of a polynomial, terms sorted by symbols, numbers last; `(2*a - b)/3` if all
    coefficients have one denominator.
    """
    if not polynomial:
        return "0"
    if len(polynomial) == 1:
        return _term(*next(iter(polynomial.items())))
    (denominator, *others) = {number.denominator for number in polynomial.values()}
    if others or denominator == 1:
        return _sum(polynomial)
    content = gcd(*(number.numerator for number in polynomial.values()))
    numerator = _sum({m: number * denominator / content for m, number in polynomial.items()})
    factor = f"{content}*" if content > 1 else ""
    return f"{factor}({numerator})/{denominator}"


def _sum(polynomial: Polynomial) -> str:
    terms = [_term(*term) for term in sorted(polynomial.items(), key=_order)]
    front = next((k for k, term in enumerate(terms) if not term.startswith("-")), 0)
    head = terms.pop(front)
    return head + "".join(
        f" - {term[1:]}" if term.startswith("-") else f" + {term}" for term in terms
    )


def _order(term: tuple[Monomial, Fraction]) -> Any:
    monomial = term[0]
    return not monomial, [s for s, _ in monomial], [(s, -n) for s, n in monomial]


def _term(monomial: Monomial, number: Fraction) -> str:
    numerator = [_symbol(s, n) for s, n in monomial if n > 0]
    denominator = [_symbol(s, -n) for s, n in monomial if n < 0]
    if abs(number.numerator) != 1 or not numerator:
        numerator.insert(0, str(abs(number.numerator)))
    if number.denominator != 1:
        denominator.insert(0, str(number.denominator))
    divisor = "*".join(denominator)
    division = f"/({divisor})" if len(denominator) > 1 else f"/{divisor}" if denominator else ""
    return "-" * (number < 0) + "*".join(numerator) + division


def _symbol(symbol: Symbol, exponent: int) -> str:
    name, place = symbol
    index = f"[{','.join(map(str, place))}]" if place else ""
    return f"{name}{index}" + (f"**{exponent}" if exponent != 1 else "")
