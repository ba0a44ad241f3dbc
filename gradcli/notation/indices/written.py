"""Expressions of index notation as trees, with readable letters for the indices of sums.

A place is the index of an element along one dimension, as an expression: `i`, `i+1`, `y[i]` (see
places.py).
"""

import ast
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any, TypeGuard

from ...graphs import Node
from .. import tree
from ..formulas.formula import GenericSizes, Writer
from ..formulas.spelling import spelled
from ..tree import Between, Condition, Indexed, Infix, Name, Prefix, Tree, Verbatim
from . import places
from .expressions import (
    MINUS,
    Element,
    Expr,
    Function,
    Number,
    Power,
    Product,
    Relation,
    Sum,
    Total,
    divides,
    inner,
    inverted,
    is_condition,
    parts,
    rebuilt,
    substituted,
    with_picked,
)  # fmt: skip
from .places import Place

LETTERS = "ijklmnpqrstuvw"
EXACT = 15  # digits of a float that have no rounding error


def free_letters(taken: Collection[str]):
    """Yield letters that are not taken, in order."""
    yield from (letter for letter in LETTERS if letter not in taken)
    number = 1
    while True:
        yield from (f"{letter}{number}" for letter in LETTERS if f"{letter}{number}" not in taken)
        number += 1


class IndexRenaming:
    """Renames the summation indices of expressions. The new letters are those with which `wanted`
    writes the same elements, if possible, otherwise the next unused ones.
    """

    def __init__(self, wanted: Mapping[Node, Sequence[Place]], sizes: Mapping[str, int]):
        self.wanted, self.sizes = wanted, sizes

    def __call__(self, e: Expr, taken: Collection[str]) -> Expr:
        """The expression with bound letters renamed, all different from those taken."""
        wishes: dict[str, list[str]] = {}
        elements = [part for part in inner(e) if isinstance(part, Element)]
        for node, letters in self.wanted.items():
            for element in elements:
                if element.node is node:
                    for have, want in zip(element.places, letters, strict=True):
                        if isinstance(have, str) and isinstance(want, str):
                            wishes.setdefault(have, []).append(want)
        return self._renamed(e, set(taken), wishes)[0]

    def _renamed(self, e: Expr, taken: set[str], wanted_letters) -> tuple[Expr, set[str]]:
        if isinstance(e, Sum):
            letter = next((w for w in wanted_letters.get(e.letter, ()) if w not in taken), None)
            letter = letter or next(free_letters(taken))
            body, used = self._renamed(e.body, taken | {letter}, wanted_letters)
            return Sum(letter, e.size, substituted(body, {e.letter: letter}, {})), used | {letter}
        if not parts(e):
            return self._in_places(e, taken, wanted_letters)
        used = set()
        built = []
        for part in parts(e):
            new, more = self._renamed(
                part, taken | used if isinstance(e, Product) else taken, wanted_letters
            )
            built.append(new)
            used |= more
        return rebuilt(e, tuple(built)), used

    def _in_places(self, e: Expr, taken: set[str], wanted_letters) -> tuple[Expr, set[str]]:
        """Rename letters of sums inside places: x[Σ_k m[k] - 1]."""
        used: set[str] = set()

        def renamed(value: Expr) -> Expr:
            built, more = self._renamed(value, taken, wanted_letters)
            used.update(more)
            return built

        return with_picked(e, renamed), used


def _without_offset(left: Place, right: Place) -> tuple[Place, Place]:
    """Both sides shifted so that a place equal to a number has no offset: 1 and j for 0 and j-1."""
    if isinstance(left, int) == isinstance(right, int):
        return left, right
    offset = places.linear(right if isinstance(left, int) else left).offset
    return places.plus(left, -offset), places.plus(right, -offset)


def of_digits(value: float, digits: int = EXACT) -> float:
    """A float rounded to this number of digits: 0.9 for 0.8999999999999999. The digits of an
    integer are not rounded.
    """
    return value if float(value).is_integer() else float(f"{value:.{digits}g}")


class Writing:
    """Turns expressions into trees; `times` is the symbol of products: "·", "*" or a space.
    `generic_sizes` is as in `formula`; `digits` are those of numbers.
    """

    def __init__(
        self,
        names: Mapping[Node, Name],
        times: str = " ",
        generic_sizes: GenericSizes | None = None,
        digits: int = EXACT,
    ):
        self.names, self.times, self.generic_sizes = names, times, generic_sizes
        self.digits = digits
        self.formulas = Writer(names, generic_sizes)
        self.bases: dict[Node, Tree] = {}

    def __call__(self, e: Expr) -> Tree:
        """The tree of an expression."""
        if isinstance(e, Number):
            return self.formulas.number(of_digits(e.value, self.digits))
        if isinstance(e, Element):
            return self.element(e.node, [self.place(p) for p in e.places])
        if isinstance(e, Relation):
            return self.relation(e)
        if isinstance(e, Product):
            return self.product([(f, -1) if divides(f) else (f, 1) for f in e.factors])
        if isinstance(e, Total):
            return self.total(e.terms)
        if isinstance(e, Sum):
            return self.sum(e)
        if isinstance(e, Power):
            return (
                self.product([(e, -1)])
                if divides(e)
                else Infix("**", self(e.base), self(e.exponent))
            )
        return self.condition(e) if is_condition(e) else self.function(e)

    def element(self, node: Node, at: Sequence[Tree]) -> Tree:
        """The tree of an element: name[i,j]."""
        base = self.bases.get(node)
        if base is None:
            if node in self.names:
                base = self.names[node]
            elif "data" in node.attrs:
                base = _typed(str(node.attrs["data"]))
            else:
                base = self.formulas.tree(node)
            self.bases[node] = base
        return Indexed(base, tuple(at)) if at else base

    def place(self, place: Place) -> Tree:
        """The tree of a place."""
        return places.written(place, self._in_place, "*" if self.times == "*" else "")

    def _in_place(self, value: Expr, alone: bool) -> Tree:
        written = Writing(self.names, self.times, self.generic_sizes, self.digits)(value)
        needs_no_brackets = alone or not isinstance(written, Infix | Prefix | tree.Sum)
        return written if needs_no_brackets else tree.Bracketed(written)

    def relation(self, e: Relation) -> Tree:
        """The tree of a relation: δ[i,j], or [i ≥ 1]."""
        left, right = e.left, e.right
        if e.symbol == "==":
            return Indexed(Name("δ"), (self.place(left), self.place(right)))
        left, right = _without_offset(left, right)
        if isinstance(left, int):
            return self._bracketed(Infix(">=", self.place(right), tree.Number(left)))
        if isinstance(right, int):
            return self._bracketed(Infix("<", self.place(left), tree.Number(right + 1)))
        return self._bracketed(Infix("<=", self.place(left), self.place(right)))

    def _bracketed(self, condition: Tree) -> Tree:
        return condition if self.times == "*" else Condition(condition)

    def condition(self, e: Function) -> Tree:
        """The tree of a condition: [x[i] > 0]."""
        return self._bracketed(self._unbracketed(e))

    def _unbracketed(self, e: Expr) -> Tree:
        if not isinstance(e, Function):
            return self(e)
        if e.op.spelling == "~{0}":
            equal = e.args[0]
            if isinstance(equal, Relation) and equal.symbol == "==":
                return Infix("!=", self.place(equal.left), self.place(equal.right))
            return Prefix("~", self._unbracketed(equal))
        if e.op.spelling:
            operands = {str(k): self._unbracketed(a) for k, a in enumerate(e.args)}
            return spelled(e.op.spelling, operands)
        return self.function(e)

    def function(self, e: Function) -> Tree:
        """The tree of a function: f(x[i])."""
        args = tuple(self(a) for a in e.args)
        if e.op.spelling:
            return spelled(e.op.spelling, {str(k): a for k, a in enumerate(args)})
        keywords = {
            key: tree.Number(value) if isinstance(value, int | float) else Verbatim(repr(value))
            for key, value in e.attrs
            if value != e.op.attributes[key]
        }
        leading = list(takewhile(keywords.__contains__, e.op.order))  # polygamma(n, x)
        leading_args = tuple(keywords.pop(key) for key in leading)
        return tree.Call(e.op.name, leading_args + args, tuple(keywords.items()))

    def sum(self, e: Sum) -> Tree:
        """The tree of a sum; nested sums are merged: Σ_jk …."""
        letters = [e.letter]
        body = e.body
        while isinstance(body, Sum):
            letters.append(body.letter)
            body = body.body
        return tree.Sum(tuple(letters), self(body))

    def product(self, factors: Sequence[tuple[Expr, int]]) -> Tree:
        """The tree of a product, a fraction if some factors divide."""
        numerator = [f for f, sign in factors if sign > 0]
        denominator = [inverted(f) for f, sign in factors if sign < 0]
        minus = bool(numerator) and numerator[0] == MINUS
        if minus:
            numerator = numerator[1:]
        out = self._times(numerator, minus) if numerator else tree.Number(-1 if minus else 1)
        return Infix("/", out, self._times(denominator, False)) if denominator else out

    def _times(self, factors: Sequence[Expr], minus: bool) -> Tree:
        trees = self._factors(factors)
        if minus:
            trees[0] = Prefix("-", trees[0])
        out = trees[0]
        for right in trees[1:]:
            out = Infix(self.times, out, right)
        return out

    def _factors(self, factors: Sequence[Expr]) -> list[Tree]:
        """The trees of factors; two bounds of one place are merged: [0 ≤ i-k < 2]."""
        if self.times == "*":
            return [self(f) for f in factors]
        upper = {f.left: f.right for f in factors if _is_bound(f) and isinstance(f.right, int)}
        lower = {f.right: f.left for f in factors if _is_bound(f) and isinstance(f.left, int)}
        out: list[Tree] = []
        for f in factors:
            if not _is_bound(f) or (f.right not in upper and f.left not in lower):
                out.append(self(f))
            elif f.right in upper:
                offset = places.linear(f.right).offset
                place = self.place(places.plus(f.right, -offset))
                bounds = f.left - offset, upper[f.right] + 1 - offset
                out.append(Condition(Between(bounds[0], place, bounds[1])))
        return out

    def total(self, terms: Sequence[Expr]) -> Tree:
        """The tree of a sum of terms, negative ones subtracted."""
        out = self(terms[0])
        for term in terms[1:]:
            positive = opposite(term)
            out = (
                Infix("+", out, self(term)) if positive is None else Infix("-", out, self(positive))
            )
        return out


def _is_bound(f: Expr) -> TypeGuard[Any]:
    """Whether an expression bounds a place by a number."""
    is_inequality = isinstance(f, Relation) and f.symbol == "<="
    return is_inequality and (isinstance(f.left, int) or isinstance(f.right, int))  # type: ignore[union-attr]


def opposite(term: Expr) -> Expr | None:
    """The negated term, if its coefficient is negative; else None."""
    first = term.factors[0] if isinstance(term, Product) else term
    if not isinstance(first, Number) or not first.value < 0:
        return None
    if not isinstance(term, Product):
        return Number(-first.value)
    rest = term.factors[1:] if first.value == -1 else (Number(-first.value), *term.factors[1:])
    return rest[0] if len(rest) == 1 else Product(rest)


def _typed(text: str) -> Tree:
    """The text of an array as typed; in parentheses if it cannot be indexed otherwise: `x > 0`."""
    with suppress(SyntaxError):  # a file name is not an expression
        typed = ast.parse(text, mode="eval").body
        if isinstance(typed, ast.Compare | ast.BinOp | ast.UnaryOp):
            return tree.Bracketed(Verbatim(text))
    return Verbatim(text)
