"""Simplification of expressions in index notation, valid unless numbers are nan, infinite or
divided by 0.

It is used for display, and for Jacobians as sums of products (closed_form.py). Values of nodes are
always computed from the graph. A place is the index of an element along one dimension, as an
expression: `i`, `i+1`, `y[i]` (see places.py).

Sums over deltas collapse, factors that do not depend on the letter of a sum are moved out of it,
numbers and like terms are collected, and equal factors are merged into powers.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from ...budget import tick
from ...graphs import OPS
from ...lazy import np
from ..formulas.rules.guards import OPPOSITE
from . import places
from .alpha_equivalence import equality_keys
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
from .factors import canonical_signs, fraction, powers, split_number
from .places import Place

LARGE = 1_000  # a function of numbers is replaced by its value if that is a smaller integer
# A product with a factor a + b + ... is multiplied out, and a Σ of a + b + ... that contains a Σ is
# split term by term, only up to this many terms.
MOST_TERMS = 64


class Simplifier:
    """Simplifies expressions; `sizes` maps letters to sizes.

    With `collect=False`, only the basic rules are applied: numbers are multiplied, and sums over
    deltas collapse. Like terms and equal factors are not merged, and conditions do not simplify
    other factors. `cancel`, for display only, cancels equal factors of numerator and denominator.
    `budget` is the number of expressions that may be simplified, including cached ones.
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
        self.cached: dict[Expr, tuple[Expr, int]] = {}  # the result, and how many steps it took

    def __call__(self, e: Expr) -> Expr:
        """The simplified expression. Raises TooLong if all calls together exceed the budget."""
        if isinstance(e, Element | Number):
            self._count(1)
            return e
        if e not in self.cached:
            before = self.work
            self._count(1)
            self.cached[e] = self._simplified(e), self.work - before
            return self.cached[e][0]
        result, work = self.cached[e]
        self._count(work)
        return result

    def _count(self, work: int) -> None:
        tick()
        self.work += work
        if self.work > self.budget:
            raise TooLong

    def _simplified(self, e: Expr) -> Expr:
        if isinstance(e, Relation):
            return self.relation(e.symbol, e.left, e.right)
        if isinstance(e, Product):
            relations = {f: self(f) for f in e.factors if isinstance(f, Relation)}
            if ZERO in relations.values():  # before other factors are simplified
                return ZERO
            built = [relations[f] if isinstance(f, Relation) else self(f) for f in e.factors]
            return self.product(built)
        new = tuple(self(part) for part in parts(e))
        if isinstance(e, Total):
            return self.total(new)
        if isinstance(e, Sum):
            return self.sum(e.letter, e.size, new[0])
        if isinstance(e, Power):
            return self.power(*new)
        return self.function(Function(e.op, new, e.attrs)) if isinstance(e, Function) else e

    # ---- relations, powers, functions ------------------------------------------------------------

    def relation(self, symbol: str, left: Place, right: Place) -> Expr:
        """A relation; 1 or 0 if it always or never holds."""
        low, high = places.bounds(places.plus(right, left, -1), self.sizes)
        if low == high == 0 or (symbol == "<=" and low >= 0):
            return ONE
        if high < 0 or (symbol == "==" and low > 0):
            return ZERO
        if symbol == "<=":
            return _sorted_bound(left, right)
        sides = places.without_factor(left, right)
        return ZERO if sides is None else Relation(symbol, *sides)

    def power(self, base: Expr, exponent: Expr) -> Expr:
        """base ** exponent."""
        if exponent == ONE or (base == ONE and isinstance(exponent, Number)):
            return base
        if exponent == ZERO:
            return ONE
        if not _is_integer(exponent):
            return Power(base, exponent)
        if isinstance(base, Product):
            return self.product(self.power(f, exponent) for f in base.factors)
        if isinstance(base, Power) and _is_integer(base.exponent):
            return self.power(base.base, Number(int(base.exponent.value * exponent.value)))
        if isinstance(base, Number) and 0 < exponent.value <= 64:
            return Number(base.value**exponent.value)
        return base if is_condition(base) and exponent.value > 0 else Power(base, exponent)

    def function(self, e: Function) -> Expr:
        """A function; functions of numbers are evaluated if the result is an integer, and negated
        comparisons become their opposites.
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
        """The product of factors, in the order: number, conditions, other factors, divisors."""
        numerator, denominator, rest = split_number(factors)
        if numerator == 0:
            return ZERO
        if self.collect:
            rest = self._with_equal_letters(rest)
            if ZERO in rest:
                return ZERO
            holding = {f for f in rest if is_condition(f)}
            if holding:
                rest = [
                    self._with_conditions_as_one(f, holding) for f in self._without_implied(rest)
                ]
            sign, rest = canonical_signs(rest)
            numerator *= sign
            rest = powers((f for f in rest if f != ONE), self.cancel)
        conditions: list[Expr] = []
        divisors: list[Expr] = []
        others: list[Expr] = []
        for f in rest:
            (conditions if is_condition(f) else divisors if divides(f) else others).append(f)
        numbers = fraction(numerator, denominator)
        out = [*numbers[:1], *conditions, *others, *numbers[1:], *divisors]
        out = [f for f in out if f != ONE]
        return product_of(out)

    def _with_equal_letters(self, factors: list[Expr]) -> list[Expr]:
        """The factors with one letter in place of two that a delta makes equal."""
        out = factors
        for k in range(len(factors)):
            f = out[k]
            if is_delta(f):
                keep, drop = sorted((f.left, f.right), key=_priority)
                out = [g if j == k else self._substituted(g, drop, keep) for j, g in enumerate(out)]
        return out

    def _without_implied(self, factors: list[Expr]) -> list[Expr]:
        """The factors without bounds that a delta implies: δ[i,j-1] implies 1 ≤ j."""
        return [f for f in factors if not any(self._implies(d, f) for d in factors)]

    def _implies(self, d: Expr, e: Expr) -> bool:
        """Whether a delta, or every term of a sum, implies a bound."""
        if not isinstance(e, Relation) or e.symbol != "<=":
            return False
        if isinstance(d, Total):
            return all(any(self._implies(f, e) for f in factors_of(t)) for t in d.terms)
        if not isinstance(d, Relation) or d.symbol != "==":
            return False
        for letter in letters_of(e) & letters_of(d):
            place = solve(d.left, d.right, letter)
            if place is not None and self._substituted(e, letter, place) == ONE:
                return True
        return False

    def _with_conditions_as_one(self, e: Expr, conditions: Collection[Expr]) -> Expr:
        """A factor with 1 in place of conditions that are other factors, because the product is 0
        unless they hold.
        """
        kinds = {type(c) for c in conditions}
        if is_condition(e) or not any(type(p) in kinds and p in conditions for p in inner(e)):
            return e
        return self(with_ones(e, conditions))

    def _substituted(self, e: Expr, letter: str, place: Place) -> Expr:
        if letter not in letters_of(e):
            return e
        return self(substituted(e, {letter: place}, self.sizes))

    # ---- totals ----------------------------------------------------------------------------------

    def total(self, terms: Iterable[Expr]) -> Expr:
        """The sum of terms."""
        flat = [
            t
            for term in terms
            for t in (term.terms if isinstance(term, Total) else (term,))
            if t != ZERO
        ]
        if self.collect:
            flat = self._with_expanded_sums(self._collected(flat))
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

    def _with_expanded_sums(self, terms: list[Expr]) -> list[Expr]:
        """The terms, with multiples of sums expanded if this makes like terms."""
        splits = [split_number([t]) for t in terms]
        totals = [rest[0] if [*map(type, rest)] == [Total] else None for _, _, rest in splits]
        if not any(totals):
            return terms
        out: list[Expr] = []
        for term, total, (numerator, denominator, _) in zip(terms, totals, splits, strict=True):
            inside = total.terms if isinstance(total, Total) else ()
            out += [self.product([*fraction(numerator, denominator), t]) for t in inside] or [term]
        collected = self._collected(out)
        return collected if len(collected) < len(out) else terms

    def _collected(self, terms: list[Expr]) -> list[Expr]:
        """The terms, with those that differ only in a number added up."""
        split = [split_number([term]) for term in terms]
        keys = equality_keys([rest for _, _, rest in split])
        groups: dict[Any, tuple[float, float, list[Expr]]] = {}
        for (numerator, denominator, rest), key in zip(split, keys, strict=True):
            if key in groups:
                n, d, rest = groups[key]
                numerator, denominator = n * denominator + numerator * d, d * denominator
            groups[key] = (numerator, denominator, rest)
        return [
            self.product([*fraction(numerator, denominator), *rest])
            for numerator, denominator, rest in groups.values()
            if numerator != 0
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
                value = self(substituted(rest, {letter: result[0]}, self.sizes))
                return self.product([*result[1], value])
        inside: list[Expr] = []
        outside: list[Expr] = []
        for f in factors:
            (inside if letter in letters_of(f) else outside).append(f)
        if not inside:
            return self.product([Number(size), *outside])
        expanded = self._with_collapsing_terms(inside, letter, size)
        if expanded is not None:
            return self.product([*outside, self.sum(letter, size, expanded)])
        return self.product([*outside, self._sum_of_dependent(letter, size, inside)])

    def _with_collapsing_terms(self, factors: list[Expr], letter: str, size: int) -> Expr | None:
        """The product expanded along a factor with a term whose sum over the letter collapses; None
        if there is no such factor.
        """
        for position, factor in enumerate(factors):
            if (
                isinstance(factor, Total)
                and any(self._collapses(t, letter, size) for t in factor.terms)
                and len(factor.terms) <= MOST_TERMS
            ):
                others = factors[:position] + factors[position + 1 :]
                expanded = self.total(self.product([*others, t]) for t in factor.terms)
                if set(factors_of(expanded)) != set(factors):
                    return expanded
        return None

    def _sum_of_dependent(self, letter: str, size: int, factors: list[Expr]) -> Expr:
        """The sum over the letter of the product of factors that all depend on it. If exactly one
        factor is a Σ, the other factors are moved into it: Σ_i x[i] Σ_j y[i,j] is Σ_i Σ_j x[i]
        y[i,j].
        """
        if self.collect and is_reversed(letter, factors):
            new = {letter: places.Linear(((letter, -1),), size - 1)}
            factors = [self(substituted(f, new, self.sizes)) for f in factors]
        sums = [f for f in factors if isinstance(f, Sum)]
        if self.collect and len(sums) == 1:
            merged = [p for f in factors for p in (factors_of(f.body) if f is sums[0] else (f,))]
            return Sum(letter, size, Sum(sums[0].letter, sums[0].size, self.product(merged)))
        return Sum(letter, size, self.product(factors))

    def _sum_of_total(self, letter: str, size: int, body: Total) -> Expr:
        separate = [
            t for t in body.terms if self._collapses(t, letter, size) or letter not in letters_of(t)
        ]
        if (
            not separate
            and len(body.terms) <= MOST_TERMS
            and any(isinstance(f, Sum) for t in body.terms for f in factors_of(t))
        ):
            separate = list(body.terms)
        joint = [t for t in body.terms if t not in separate]
        sums = [self.sum(letter, size, t) for t in separate]
        if len(joint) == 1:
            sums.append(self.sum(letter, size, joint[0]))
        elif joint:
            sums.append(Sum(letter, size, Total(tuple(joint))))
        return self.total(sums)

    def _collapses(self, e: Expr, letter: str, size: int) -> bool:
        if isinstance(e, Total):
            return any(self._collapses(t, letter, size) for t in e.terms)
        return any(
            self._solved(f, letter, size) is not None
            or (isinstance(f, Total) and self._collapses(f, letter, size))
            for f in factors_of(e)
        )

    def _solved(self, factor: Expr, letter: str, size: int) -> tuple[Place, list[Expr]] | None:
        """The place that a delta makes the letter equal to, and the conditions that it is in the
        letter's range; None if the factor is not a delta that can be solved for the letter.
        """
        if not isinstance(factor, Relation) or factor.symbol != "==":
            return None
        place = solve(factor.left, factor.right, letter)
        if place is None:
            return None
        return place, self.range_conditions(place, size)

    def range_conditions(self, place: Place, size: int) -> list[Expr]:
        """The conditions that a place is from 0 to size - 1, without those that always hold."""
        both = self.relation("<=", 0, place), self.relation("<=", place, size - 1)
        return [condition for condition in both if condition != ONE]


def _is_integer(e: Expr) -> TypeGuard[Number]:
    return isinstance(e, Number) and float(e.value).is_integer()


def is_delta(e: Expr) -> TypeGuard[Any]:
    """Whether an expression is a delta of two letters."""
    equal = isinstance(e, Relation) and e.symbol == "=="
    return equal and isinstance(e.left, str) and isinstance(e.right, str)  # type: ignore[union-attr]


def _sorted_bound(left: Place, right: Place) -> Expr:
    """left ≤ right, with terms moved to the other side so that none is negative; unchanged if a
    side is a number, or if all letters would be on one side, as in i ≤ 5 - j.
    """
    difference = places.linear(places.plus(right, left, -1))
    positive = {a: n for a, n in difference.terms if n > 0}
    negative = {a: -n for a, n in difference.terms if n < 0}
    if not positive or not negative or isinstance(left, int) or isinstance(right, int):
        return Relation("<=", left, right)
    offset = difference.offset
    return Relation(
        "<=", places.plain(negative, max(-offset, 0)), places.plain(positive, max(offset, 0))
    )


def _priority(letter: str):
    """The sort key of letters: given ones, such as i, before those of Lowering.fresh, such as _0;
    then shorter names first, so that _9 is before _10.
    """
    return letter.startswith("_"), len(letter), letter


def is_reversed(letter: str, factors: Sequence[Expr]) -> bool:
    """Whether elements are indexed by the negated letter, such as x[n-k], and none by the letter
    itself. If all factors are relations of several letters: whether each is between a number and a
    sum of letters that includes this one, such as [j+k ≤ 5].
    """
    negated = False
    bounds = [f for f in factors if isinstance(f, Relation) and len(letters_of(f)) > 1]
    if len(bounds) == len(factors):
        return all(_bounds_sum(f, letter) for f in bounds)
    for e in (e for factor in factors for e in inner(factor) if isinstance(e, Element)):
        for place in e.places:
            if place == letter:
                return False
            for atom, times in place.terms if isinstance(place, places.Linear) else ():
                if atom == letter and times != -1:
                    return False
                negated = negated or atom == letter
    return negated


def _bounds_sum(e: Relation, letter: str) -> bool:
    """Whether a relation is one between a number and a sum of letters that includes `letter`."""
    terms = dict(places.linear(places.plus(e.right, e.left, -1)).terms)
    return letter in terms and len({*terms.values()}) == 1
