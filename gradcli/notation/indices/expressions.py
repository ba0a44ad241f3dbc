"""Index notation: expressions for elements of tensors, with explicit sums over letters.

An expression is a number, an element of a node, a relation between places (1 if it holds, otherwise
0), a product, a total (a sum of terms), a sum over a letter, a power, or a function of expressions.
A letter is an index variable such as i. A place is the index of an element along one dimension, as
an expression: `i`, `i+1`, `y[i]` (places.py). The sizes of letters are in `sizes` of the lowering
(lower.py); collect.py simplifies expressions, written.py turns them into trees.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from math import prod
from operator import is_
from typing import Any, NamedTuple, Union

from ...budget import tick
from ...graphs import Node, Operator
from ...graphs.shapes import numel
from ...lazy import np
from . import places
from .places import Place

Expr = Union["Number", "Element", "Relation", "Product", "Total", "Sum", "Power", "Function"]
ValueOf = Callable[[Node], Any]  # the array of a node, or None


class Number(NamedTuple):
    """A number."""

    value: float


class Element(NamedTuple):
    """The element of a node at a multi-index: a place for each dimension."""

    node: Node
    places: tuple[Place, ...]


class Relation(NamedTuple):
    """1 if the places are in the relation "==" (Kronecker's delta) or "<=", otherwise 0."""

    symbol: str
    left: Place
    right: Place


class Product(NamedTuple):
    """A product of factors."""

    factors: "tuple[Expr, ...]"


class Total(NamedTuple):
    """A sum of terms."""

    terms: "tuple[Expr, ...]"
    kind: str = "total"  # distinguishes it from Product


class Sum(NamedTuple):
    """The sum of body over the letter, from 0 to size - 1."""

    letter: str
    size: int
    body: "Expr"


class Power(NamedTuple):
    """base ** exponent; a division is a power of -1."""

    base: "Expr"
    exponent: "Expr"


class Function(NamedTuple):
    """An elementwise operator applied to expressions."""

    op: Operator
    args: "tuple[Expr, ...]"
    attrs: tuple[tuple[str, Any], ...] = ()


CACHE_SIZE = 4096  # expressions
FEW = 8  # terms of a sum that are evaluated one by one
ZERO, ONE, MINUS = Number(0), Number(1), Number(-1)
PARTS: dict[type, Callable[[Any], "tuple[Expr, ...]"]] = {
    Product: lambda e: e.factors,
    Total: lambda e: e.terms,
    Sum: lambda e: (e.body,),
    Power: lambda e: (e.base, e.exponent),
    Function: lambda e: e.args,
}


class TooLong(Exception):
    """The expression is too long to be read, or takes too long to compute."""


class Unknown(Exception):
    """A required value is not known."""


def delta(left: Place, right: Place) -> Expr:
    """Kronecker's delta."""
    return Relation("==", left, right)


def divided(a: Expr, b: Expr) -> Expr:
    """a / b."""
    return Product((a, Power(b, MINUS)))


def factors_of(e: Expr) -> "tuple[Expr, ...]":
    """The factors of a product; (e,) for any other expression."""
    return e.factors if isinstance(e, Product) else (e,)


def product_of(factors: Sequence[Expr]) -> Expr:
    """The product of factors; a single factor unchanged, 1 if there are none."""
    return Product(tuple(factors)) if len(factors) > 1 else factors[0] if factors else ONE


def is_condition(e: Expr) -> bool:
    """Whether an expression is always 0 or 1."""
    if isinstance(e, Product):
        return all(map(is_condition, e.factors))
    return isinstance(e, Relation) or (isinstance(e, Function) and e.op.dtype == "bool")


def parts(e: Expr) -> "tuple[Expr, ...]":
    """The subexpressions of an expression, except those inside places."""
    of_kind = PARTS.get(type(e))
    return of_kind(e) if of_kind else ()


def rebuilt(e: Expr, new: "tuple[Expr, ...]") -> Expr:
    """The same expression with other parts."""
    if isinstance(e, Product):
        return Product(new)
    if isinstance(e, Total):
        return Total(new)
    if isinstance(e, Sum):
        return Sum(e.letter, e.size, new[0])
    if isinstance(e, Power):
        return Power(new[0], new[1])
    return Function(e.op, new, e.attrs) if isinstance(e, Function) else e


def with_ones(e: Expr, conditions: Collection[Expr]) -> Expr:
    """The expression with 1 in place of conditions, except where a Σ binds a letter of the
    condition.
    """
    if e in conditions:
        return ONE
    if isinstance(e, Sum):
        conditions = [c for c in conditions if e.letter not in letters_of(c)]
    built = parts(e)
    return rebuilt(e, tuple(with_ones(part, conditions) for part in built)) if built else e


def places_of(e: Expr) -> tuple[Place, ...]:
    """The places of an element or a relation; () for other expressions."""
    if isinstance(e, Element):
        return e.places
    return (e.left, e.right) if isinstance(e, Relation) else ()


def with_picked(e: Expr, change: "Callable[[Expr], Expr]") -> Expr:
    """An element or relation with `change` applied to the expressions inside its places."""

    def place(p: Place) -> Place:
        return p if isinstance(p, str | int) else places.substitute(p, {}, change, {})

    if isinstance(e, Element):
        return Element(e.node, tuple([place(p) for p in e.places]))
    return Relation(e.symbol, place(e.left), place(e.right)) if isinstance(e, Relation) else e


def inner(e: Expr) -> Iterator[Expr]:
    """Yield the expression and all subexpressions, outermost first, also those inside places."""
    stack = [e]
    while stack:
        part = stack.pop()
        yield part
        stack += parts(part)[::-1] or [*_picked(part)][::-1]


def _picked(e: Expr) -> Iterator[Expr]:
    """The expressions inside the places of an element or a relation."""
    for place in places_of(e):
        for atom, _ in () if isinstance(place, str | int) else place.terms:
            while isinstance(atom, places.Part):
                atom = next(
                    (a for a, _ in places.linear(atom.place).terms if not isinstance(a, str)), ""
                )
            if isinstance(atom, places.Picked):
                yield atom.value


@lru_cache(maxsize=CACHE_SIZE)
def letters_of(e: Expr) -> frozenset[str]:
    """The free letters of an expression."""
    result: set[str] = set()
    for part in parts(e):
        result |= letters_of(part)
    for place in places_of(e):
        result |= {place} if isinstance(place, str) else places.letters(place, letters_of)
    return frozenset(result - {e.letter} if isinstance(e, Sum) else result)


def solve(left: Place, right: Place, letter: str) -> Place | None:
    """The place that equals the letter if left == right; None if its coefficient is not ±1."""
    difference = places.linear(places.plus(left, right, -1))
    coefficient = dict(difference.terms).get(letter, 0)
    if coefficient not in (1, -1):
        return None
    if any(
        letter in places.letters(places.Linear(((atom, 1),), 0), letters_of)
        for atom, _ in difference.terms
        if atom != letter
    ):
        return None
    return places.plain(
        {a: -coefficient * n for a, n in difference.terms if a != letter},
        -coefficient * difference.offset,
    )


def substituted(e: Expr, new: Mapping[str, Place], sizes: Mapping[str, int]) -> Expr:
    """The expression with letters replaced by places; the same object if none occurs. Bound letters
    are unique, so no letter is captured.
    """

    def place(p: Place) -> Place:
        if isinstance(p, str):
            return new.get(p, p)
        return p if isinstance(p, int) else places.substitute(p, new, expression, sizes)

    def expression(e: Expr) -> Expr:
        if isinstance(e, Element):
            at = tuple([place(p) for p in e.places])
            return e if at == e.places else Element(e.node, at)
        if isinstance(e, Relation):
            return Relation(e.symbol, place(e.left), place(e.right))
        old_parts = parts(e)
        built = tuple([expression(part) for part in old_parts])
        if all(map(is_, built, old_parts)) and not (isinstance(e, Sum) and e.letter in new):
            return e
        if isinstance(e, Sum):
            letter = new.get(e.letter, e.letter)
            return Sum(letter if isinstance(letter, str) else e.letter, e.size, *built)
        return rebuilt(e, built)

    return expression(e)


def replaced(e: Expr, node: Node, by: Callable[[tuple[Place, ...]], Expr]) -> Expr:
    """The expression with `by(places)` in place of every element of a node; not inside places."""
    if isinstance(e, Element):
        return by(e.places) if e.node is node else e
    return rebuilt(e, tuple(replaced(part, node, by) for part in parts(e)))


def holds(symbol: str, left: int, right: int) -> bool:
    """Whether two places are in a relation."""
    return bool(left == right if symbol == "==" else left <= right)


class Evaluation:
    """Evaluates expressions; `env` has the values of all free letters.

    A condition that does not hold makes a product 0, whatever its other factors are. Raises Unknown
    if an element has no value, or if more than `budget` elements are needed. The terms of sums
    without conditions are evaluated as arrays; the axis of an inner sum precedes that of an outer
    one.
    """

    def __init__(self, value_of: ValueOf, budget: int = 200_000):
        self.value_of, self.budget = value_of, budget
        self.enclosing: list[int] = []  # the sizes of enclosing sums that are arrays

    def __call__(self, e: Expr, env: dict[str, int]) -> Any:
        if isinstance(e, Number):
            return np.float64(e.value)
        if isinstance(e, Element):
            return self._element(e, env)
        if isinstance(e, Relation):
            return holds(e.symbol, self.place(e.left, env), self.place(e.right, env))
        if isinstance(e, Product):
            return self._product(e, env)
        if isinstance(e, Sum):
            return self._sum(e, env)
        if isinstance(e, Power):
            return np.power(np.float64(self(e.base, env)), self(e.exponent, env))
        values = [np.float64(self(part, env)) for part in parts(e)]
        if isinstance(e, Total):
            return sum(values, np.float64(0))
        return e.op.value(*values, **dict(e.attrs))

    def place(self, place: Place, env: dict[str, int]) -> int:
        """The value of a place."""
        return places.at(place, env, lambda value: int(self(value, env)))

    def _element(self, e: Element, env: dict[str, int]) -> Any:
        tick()
        self.budget -= prod(self.enclosing)
        if self.budget < 0:
            raise Unknown
        array = self.value_of(e.node)
        if array is None:
            raise Unknown
        return np.asarray(array)[tuple(self.place(p, env) for p in e.places)]

    def _product(self, e: Product, env: dict[str, int]) -> Any:
        for factor in e.factors:
            if is_condition(factor) and not self(factor, env):
                return np.float64(0)
        total: Any = np.float64(1)
        for factor in e.factors:
            if not is_condition(factor):
                total = total * self(factor, env)
        return total

    def _sum(self, e: Sum, env: dict[str, int]) -> Any:
        total = np.float64(0)
        if e.size and (self.enclosing or (e.size > FEW and _is_regular(e.body))):
            total = total + self._vectorised_sum(e, env)
        else:
            for value in range(e.size):
                env[e.letter] = value
                total = total + self(e.body, env)
        env.pop(e.letter, None)
        return total

    def _vectorised_sum(self, e: Sum, env: dict[str, Any]) -> Any:
        """A sum evaluated as an array, added in the order of a loop."""
        env[e.letter] = np.arange(e.size).reshape(-1, *[1] * len(self.enclosing))
        self.enclosing.append(e.size)
        try:
            terms = np.asarray(self(e.body, env))
        finally:  # also if Unknown is raised, because the caller may evaluate other expressions
            self.enclosing.pop()
        if terms.ndim <= len(self.enclosing):  # the letter does not occur
            terms = np.broadcast_to(terms, (e.size, *terms.shape))
        return np.cumsum(terms, axis=0)[-1]


def with_sizes(e: Expr) -> Expr:
    """The expression with numbers in place of sizes: 4 for x.shape[1]."""
    if isinstance(e, Element) and e.node.op.name == "size":
        (x,) = e.node.parents
        return Number(numel(tuple(x.shape[d] for d in e.node.attrs["dim"])))
    return rebuilt(e, tuple([with_sizes(part) for part in parts(e)]))


def resolved_values(e: Expr, value_of: ValueOf) -> Expr:
    """The expression with known values in place of elements and places without letters: δ[2,j] for
    δ[t[0],j].
    """
    evaluate = Evaluation(value_of)

    def place(p: Place) -> Place:
        if isinstance(p, str | int) or places.letters(p, letters_of):
            return p
        with suppress(Unknown):
            return evaluate.place(p, {})
        return p

    def expression(e: Expr) -> Expr:
        if isinstance(e, Element):
            if e.node.dtype != "int" and not letters_of(e):
                with suppress(Unknown):
                    return Number(float(evaluate(e, {})))
            return Element(e.node, tuple([place(p) for p in e.places]))
        if isinstance(e, Relation):
            return Relation(e.symbol, place(e.left), place(e.right))
        return rebuilt(e, tuple([expression(part) for part in parts(e)]))

    return expression(e)


def _is_regular(e: Expr) -> bool:
    """Whether an expression has no conditions, and no places that depend on integer tensors."""
    return not any(is_condition(part) or any(_picked(part)) for part in inner(e))


def divides(e: Expr) -> bool:
    """Whether an expression is a power with a negative exponent."""
    return isinstance(e, Power) and isinstance(e.exponent, Number) and e.exponent.value < 0


def inverted(e: Expr) -> Expr:
    """1 / e, for a power with a negative exponent."""
    assert isinstance(e, Power)
    assert isinstance(e.exponent, Number)
    return e.base if e.exponent.value == -1 else Power(e.base, Number(-e.exponent.value))
