"""Shorter expressions of index notation, equal wherever nothing is nan, inf or divided by 0.

For display, and to see the structure of a Jacobian; numbers are computed from the graph. A sum over
a delta collapses, what does not depend on a sum's letter leaves it, numbers are collected, like
terms added, equal factors made powers.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from ...budget import tick
from ...graphs import OPS
from ...lazy import np
from ..formulas.rules.guards import OPPOSITE
from . import places
from .alpha_equivalence import alike
from .expressions import (
    ONE,
    ZERO,
    Element,
    Expr,
    Function,
    Number,
    Power,
    Product,
    Relation,
    Sum,
    TooLong,
    Total,
    divides,
    factors_of,
    inner,
    is_condition,
    letters_of,
    parts,
    product_of,
    solve,
    substituted,
    with_ones,
)  # fmt: skip
from .factors import fraction, one_way, powers, split_number
from .places import Place

LARGE = 1_000  # a number that is no longer seen to be what a function of others comes to
MOST_TERMS = 64  # more than this are not multiplied out


class Simplifier:
    """`sizes` are those of the letters; with `collect=False` like terms and equal factors stay
    apart; for display alone, equal ones above and below a fraction line `cancel`. `budget` is how
    many expressions it looks at; what it knows from before counts as if it looked at it again.
    """

    def __init__(
        self,
        sizes: Mapping[str, int],
        collect: bool = True,
        budget: int = 20_000,
        cancel: bool = False,
    ):
        self.sizes, self.collect, self.work, self.budget = sizes, collect, 0, budget
        self.cancel = cancel
        self.known: dict[Expr, tuple[Expr, int]] = {}  # with the work that it was

    def __call__(self, e: Expr) -> Expr:
        """The shorter expression. Raises TooLong where finding it would take too long."""
        if isinstance(e, Element | Number):
            self._count(1)
            return e
        if e not in self.known:
            before = self.work
            self._count(1)
            self.known[e] = self._shorter(e), self.work - before
            return self.known[e][0]
        result, work = self.known[e]
        self._count(work)
        return result

    def _count(self, work: int) -> None:
        tick()
        self.work += work
        if self.work > self.budget:
            raise TooLong

    def _shorter(self, e: Expr) -> Expr:
        if isinstance(e, Relation):
            return self.relation(e.symbol, e.left, e.right)
        if isinstance(e, Product):
            holding = {f: self(f) for f in e.factors if isinstance(f, Relation)}
            if ZERO in holding.values():  # whatever the other factors are
                return ZERO
            built = [holding[f] if isinstance(f, Relation) else self(f) for f in e.factors]
            return self.product(built)
        new = tuple(self(part) for part in parts(e))
        if isinstance(e, Total):
            return self.total(new)
        if isinstance(e, Sum):
            return self.sum(e.letter, e.size, new[0])
        if isinstance(e, Power):
            return self.power(*new)
        return self.function(Function(e.op, new, e.attrs)) if isinstance(e, Function) else e

    # ---- leaves ----------------------------------------------------------------------------------

    def relation(self, symbol: str, left: Place, right: Place) -> Expr:
        """A relation, or what it always is."""
        low, high = places.bounds(places.plus(right, left, -1), self.sizes)
        if low == high == 0 or (symbol == "<=" and low >= 0):
            return ONE
        if high < 0 or (symbol == "==" and low > 0):
            return ZERO
        if symbol == "<=":
            return _sorted(left, right)
        sides = places.without_factor(left, right)
        return ZERO if sides is None else Relation(symbol, *sides)

    def power(self, base: Expr, exponent: Expr) -> Expr:
        """base to the exponent."""
        if exponent == ONE or (base == ONE and isinstance(exponent, Number)):
            return base
        if exponent == ZERO:
            return ONE
        if not isinstance(exponent, Number) or not float(exponent.value).is_integer():
            return Power(base, exponent)
        if isinstance(base, Product):
            return self.product(self.power(f, exponent) for f in base.factors)
        if (
            isinstance(base, Power)
            and isinstance(base.exponent, Number)
            and float(base.exponent.value).is_integer()
        ):
            return self.power(base.base, Number(int(base.exponent.value * exponent.value)))
        if isinstance(base, Number) and 0 < exponent.value <= 64:
            return Number(base.value**exponent.value)
        return base if is_condition(base) and exponent.value > 0 else Power(base, exponent)

    def function(self, e: Function) -> Expr:
        """A function; one of nothing but numbers only where it comes to a whole one, and instead of
        a negated comparison its opposite.
        """
        first = e.args[0]
        if e.op.spelling == "~{0}" and isinstance(first, Function) and first.op.name in OPPOSITE:
            return self.function(first._replace(op=OPS[OPPOSITE[first.op.name]]))
        if e.op.sign == ">" and is_condition(e.args[0]) and e.args[1] == ZERO:
            return e.args[0]
        numbers = [np.float64(a.value) for a in e.args if isinstance(a, Number)]
        if numbers and len(numbers) == len(e.args):
            with np.errstate(all="ignore"):
                value = float(e.op.value(*numbers, **dict(e.attrs)))
            return Number(int(value)) if value.is_integer() and abs(value) < LARGE else e
        return e

    # ---- products --------------------------------------------------------------------------------

    def product(self, factors: Iterable[Expr]) -> Expr:
        """Factors multiplied: number, conditions, the others, and last what divides."""
        above, below, rest = split_number(factors)
        if above == 0:
            return ZERO
        if self.collect:
            rest = self._renamed(rest)
            if ZERO in rest:
                return ZERO
            holding = {f for f in rest if is_condition(f)}
            if holding:
                rest = [self._where_they_hold(f, holding) for f in self._without_implied(rest)]
            sign, rest = one_way(rest)
            above *= sign
            rest = powers((f for f in rest if f != ONE), self.cancel)
        conditions: list[Expr] = []
        under: list[Expr] = []
        others: list[Expr] = []
        for f in rest:
            (conditions if is_condition(f) else under if divides(f) else others).append(f)
        numbers = fraction(above, below)
        out = [*numbers[:1], *conditions, *others, *numbers[1:], *under]
        out = [f for f in out if f != ONE]
        return product_of(out)

    def _renamed(self, factors: list[Expr]) -> list[Expr]:
        """Where a delta makes two letters equal, one of them is enough for the other factors."""
        out = factors
        for k in range(len(factors)):
            f = out[k]
            if is_delta(f):
                keep, drop = sorted((f.left, f.right), key=_standing)
                out = [g if j == k else self._put(g, drop, keep) for j, g in enumerate(out)]
        return out

    def _without_implied(self, factors: list[Expr]) -> list[Expr]:
        """Without the bounds that hold wherever a delta does: δ[i,j-1] says that 1 ≤ j."""
        return [f for f in factors if not any(self._implies(d, f) for d in factors)]

    def _implies(self, d: Expr, e: Expr) -> bool:
        """Whether a bound holds wherever a delta does, or every term of a total."""
        if not isinstance(e, Relation) or e.symbol != "<=":
            return False
        if isinstance(d, Total):
            return all(any(self._implies(f, e) for f in factors_of(t)) for t in d.terms)
        if not isinstance(d, Relation) or d.symbol != "==":
            return False
        for letter in letters_of(e) & letters_of(d):
            place = solve(d.left, d.right, letter)
            if place is not None and self._put(e, letter, place) == ONE:
                return True
        return False

    def _where_they_hold(self, e: Expr, conditions: Collection[Expr]) -> Expr:
        """A factor where the conditions beside it hold: elsewhere the product is 0."""
        kinds = {type(c) for c in conditions}
        if is_condition(e) or not any(type(p) in kinds and p in conditions for p in inner(e)):
            return e
        return self(with_ones(e, conditions))

    def _put(self, e: Expr, letter: str, place: Place) -> Expr:
        if letter not in letters_of(e):
            return e
        return self(substituted(e, {letter: place}, self.sizes))

    # ---- totals ----------------------------------------------------------------------------------

    def total(self, terms: Iterable[Expr]) -> Expr:
        """Terms added up."""
        flat = [
            t
            for term in terms
            for t in (term.terms if isinstance(term, Total) else (term,))
            if t != ZERO
        ]
        if self.collect:
            flat = self._opened(self._like(flat))
        if not flat:
            return ZERO
        if len(flat) == 1:
            return flat[0]
        common = [
            f
            for f in factors_of(flat[0])
            if isinstance(f, Relation) and all(f in factors_of(t) for t in flat[1:])
        ]
        if not common or not self.collect:
            return Total(tuple(flat))
        inside = self.total(self.product(f for f in factors_of(t) if f not in common) for t in flat)
        return self.product([*common, inside])

    def _opened(self, terms: list[Expr]) -> list[Expr]:
        """With totals that stand in it times a number taken apart, where terms then join."""
        split = [split_number([t]) for t in terms]
        whole = [rest[0] if [*map(type, rest)] == [Total] else None for _, _, rest in split]
        if not any(whole):
            return terms
        out: list[Expr] = []
        for term, total, (above, below, _) in zip(terms, whole, split, strict=True):
            inside = total.terms if isinstance(total, Total) else ()
            out += [self.product([*fraction(above, below), t]) for t in inside] or [term]
        joined = self._like(out)
        return joined if len(joined) < len(out) else terms

    def _like(self, terms: list[Expr]) -> list[Expr]:
        split = [split_number([term]) for term in terms]
        keys = alike([rest for _, _, rest in split])
        groups: dict[Any, tuple[float, float, list[Expr]]] = {}
        for (above, below, rest), key in zip(split, keys, strict=True):
            if key in groups:
                top, bottom, rest = groups[key]
                above, below = top * below + above * bottom, bottom * below
            groups[key] = (above, below, rest)
        return [
            self.product([*fraction(top, bottom), *rest])
            for top, bottom, rest in groups.values()
            if top != 0
        ]

    # ---- sums ------------------------------------------------------------------------------------

    def sum(self, letter: str, size: int, body: Expr) -> Expr:
        """The sum of body over the letter."""
        if size == 0:
            return ZERO
        if size == 1:
            return self(substituted(body, {letter: 0}, self.sizes))
        if isinstance(body, Total):
            return self._sum_of_total(letter, size, body)
        factors = factors_of(body)
        for factor in factors:
            result = self._solved(factor, letter, size)
            if result is not None:
                rest = product_of([f for f in factors if f is not factor])
                there = self(substituted(rest, {letter: result[0]}, self.sizes))
                return self.product([*result[1], there])
        inside: list[Expr] = []
        outside: list[Expr] = []
        for f in factors:
            (inside if letter in letters_of(f) else outside).append(f)
        if not inside:
            return self.product([Number(size), *outside])
        for place, factor in enumerate(inside):
            if (
                isinstance(factor, Total)
                and any(self._collapses(t, letter, size) for t in factor.terms)
                and len(factor.terms) <= MOST_TERMS
            ):
                others = inside[:place] + inside[place + 1 :]
                spread = self.total(self.product([*others, t]) for t in factor.terms)
                if set(factors_of(spread)) != set(inside):
                    return self.product([*outside, self.sum(letter, size, spread)])
        return self.product([*outside, self._closed(letter, size, inside)])

    def _closed(self, letter: str, size: int, factors: list[Expr]) -> Expr:
        """The sum over factors that all depend on the letter; a sum among them joins it."""
        if self.collect and is_mirrored(letter, factors):
            new = {letter: places.Linear(((letter, -1),), size - 1)}
            factors = [self(substituted(f, new, self.sizes)) for f in factors]
        sums = [f for f in factors if isinstance(f, Sum)]
        if self.collect and len(sums) == 1:
            spread = [p for f in factors for p in (factors_of(f.body) if f is sums[0] else (f,))]
            return Sum(letter, size, Sum(sums[0].letter, sums[0].size, self.product(spread)))
        return Sum(letter, size, self.product(factors))

    def _sum_of_total(self, letter: str, size: int, body: Total) -> Expr:
        alone = [
            t for t in body.terms if self._collapses(t, letter, size) or letter not in letters_of(t)
        ]
        if (
            not alone
            and len(body.terms) <= MOST_TERMS
            and any(isinstance(f, Sum) for t in body.terms for f in factors_of(t))
        ):
            alone = list(body.terms)
        together = [t for t in body.terms if t not in alone]
        done = [self.sum(letter, size, t) for t in alone]
        if together:
            rest = together[0] if len(together) == 1 else Total(tuple(together))
            done.append(
                Sum(letter, size, rest) if isinstance(rest, Total) else self.sum(letter, size, rest)
            )
        return self.total(done)

    def _collapses(self, e: Expr, letter: str, size: int) -> bool:
        if isinstance(e, Total):
            return any(self._collapses(t, letter, size) for t in e.terms)
        return any(
            self._solved(f, letter, size) is not None
            or (isinstance(f, Total) and self._collapses(f, letter, size))
            for f in factors_of(e)
        )

    def _solved(self, factor: Expr, letter: str, size: int) -> tuple[Place, list[Expr]] | None:
        """The place that a delta fixes the letter to, and the conditions that make it one of the
        letter's values.
        """
        if not isinstance(factor, Relation) or factor.symbol != "==":
            return None
        place = solve(factor.left, factor.right, letter)
        if place is None:
            return None
        return place, [
            c
            for c in (self.relation("<=", 0, place), self.relation("<=", place, size - 1))
            if c != ONE
        ]


def is_delta(e: Expr) -> TypeGuard[Any]:
    """Whether it makes two letters equal."""
    equal = isinstance(e, Relation) and e.symbol == "=="
    return equal and isinstance(e.left, str) and isinstance(e.right, str)  # type: ignore[union-attr]


def _sorted(left: Place, right: Place) -> Expr:
    """left ≤ right without minus signs, where letters stand on both sides."""
    difference = places.linear(places.plus(right, left, -1))
    above = {a: n for a, n in difference.terms if n > 0}
    below = {a: -n for a, n in difference.terms if n < 0}
    if not above or not below or isinstance(left, int) or isinstance(right, int):
        return Relation("<=", left, right)
    offset = difference.offset
    return Relation("<=", places.plain(below, max(-offset, 0)), places.plain(above, max(offset, 0)))


def _standing(letter: str):
    """Which letter stays: one of the result before one of a sum, and the earlier."""
    return letter.startswith("_"), len(letter), letter


def is_mirrored(letter: str, factors: Sequence[Expr]) -> bool:
    """Whether elements are read against the direction of the letter, and none along it; where none
    is, whether the letter is bound together with others in all relations: [k ≤ n-j].
    """
    against = False
    bounds = [f for f in factors if isinstance(f, Relation) and len(letters_of(f)) > 1]
    if len(bounds) == len(factors):
        return all(_bound_together(f, letter) for f in bounds)
    for e in (e for factor in factors for e in inner(factor) if isinstance(e, Element)):
        for place in e.places:
            if place == letter:
                return False
            for atom, times in place.terms if isinstance(place, places.Linear) else ():
                if atom == letter and times != -1:
                    return False
                against = against or atom == letter
    return against


def _bound_together(e: Relation, letter: str) -> bool:
    """Whether the relation is one between the sum of letters and a number."""
    terms = dict(places.linear(places.plus(e.right, e.left, -1)).terms)
    return letter in terms and len({*terms.values()}) == 1
