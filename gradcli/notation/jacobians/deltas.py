"""What the deltas of a Jacobian say: where its entries are, what its structure is called, and its
matrix formula.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any, TypeGuard

from ...graphs import Node
from ..indices import places
from ..indices.collect import Simplifier, is_delta
from ..indices.expressions import (
    ZERO,
    Element,
    Expr,
    Relation,
    Total,
    delta,
    divides,
    factors_of,
    inner,
    inverted,
    letters_of,
    places_of,
    product_of,
    substituted,
)
from ..indices.places import Place
from ..indices.written import opposite
from ..tree import NEW_DIMENSION, Call, Infix, Method, Prefix, Subscript, Tree, shortest, text
from ..tree import Number as Numeral
from .masks import count, has_relation, is_a_count, mask, work
from .matrices import Matrices
from .matrix_products import added, multiplied
from .patterns import (
    BLOCKS,
    KRONECKER,
    PERMUTED_BLOCKS,
    PERMUTED_KRONECKER,
    SELECTIONS,
    TRANSPOSED,
    WEIGHTED,
    by_pattern,
)
from .placed import is_identity, picks
from .tensors import flat, is_count

Named = tuple[str, Tree | None]  # what a structure is called, and its formula
MOST_TERMS = 4  # of a sum that is multiplied out for its matrices


class Reading:
    """The Jacobian's element `e`, the letters of its rows and those of its columns."""

    def __init__(self, e: Expr, rows: Sequence[Place], columns: Sequence[Place], write: Matrices):
        self.rows, self.columns = ([p for p in at if isinstance(p, str)] for at in (rows, columns))
        self.write, self.sizes = write, write.sizes
        self.e = along_diagonal(e, self.rows, self.columns)
        self.number, self.factors = self.write.number(self.e)
        self.pairs: dict = {}
        for f in self.factors:
            if self._pairs(f):
                self.pairs |= {f.left: f.right, f.right: f.left}
        self.rest = [f for f in self.factors if not self._pairs(f)]

    def _pairs(self, f: Expr) -> TypeGuard[Relation]:
        """Whether a factor is the delta of a row's letter and a column's of the same size."""
        if not is_delta(f):
            return False
        sides = {f.left in self.rows, f.right in self.rows}
        return len(sides) == 2 and self.sizes[f.left] == self.sizes[f.right]

    # ---- where entries can be other than 0 -------------------------------------------------------

    def pattern(self, most: int) -> Any:
        """A mask, (rows, columns); None where that would be to look at more than `most`."""
        rows, columns = self.write.size(self.rows), self.write.size(self.columns)
        if rows * columns * work(self.e) > most:
            return None
        letters = [*self.rows, *self.columns]
        return mask(self.e, letters, [self.sizes[k] for k in letters]).reshape(rows, columns)

    def count(self, most: int) -> int | None:
        """How many entries can be other than 0; None where more than `most` decide on that."""
        same = {k: self.pairs[k] for k in self.columns if k in self.pairs}
        rest = product_of([f for f in factors_of(self.e) if not self._pairs(f)])
        rest = substituted(rest, same, self.sizes)
        free = [*self.rows, *(k for k in self.columns if k not in same)]
        return count(rest, {k: self.sizes[k] for k in free}, most)

    # ---- names and formulas ----------------------------------------------------------------------

    def named(self, pattern: Any, rows: int) -> Named:
        """The name of the structure and its formula."""
        if self.e == ZERO:
            return "zero", Call("zeros", tuple(map(self.write.length, (self.rows, self.columns))))
        if rows == 1:
            return "row", self._row()
        if self._diagonal():
            return self._diagonal_form()
        if self.number is None and all(isinstance(f, Relation) for f in self.factors):
            name = self._of_ones(pattern)
            if name is not None:
                formula = self._whole(name)
                own = "" if name in SELECTIONS else kronecker_name(formula)
                return own or name, formula
        update = self._with_scale(Reading._update)
        if update is not None:
            return update
        formula = self._whole()
        if formula is not None:
            return (kronecker_name(formula) or self.by_place(pattern)), formula
        return self._composed(pattern)

    def formula(self) -> Tree | None:
        """The formula of the whole matrix, as a factor of a product."""
        if self._diagonal():
            return self._diagonal_form(factor=True)[1]
        if is_identity(self.factors, self.rows, self.columns, self.sizes):
            return self.write.scaled(self.number, self._whole("identity"))
        update = self._with_scale(Reading._update)
        if update is not None:
            return update[1]
        return self._whole() or shortest((self._weighted(), self._spread()))

    def _row(self) -> Tree | None:
        """A matrix of one row."""
        if all(isinstance(f, Relation) for f in self.factors):
            return self._whole()
        write, e = self.write, self.e
        written = write.tensor(e, self.columns) or write.weights(e, self.columns)
        if written is None or len(self.columns) == 1:
            return None if written is None else Subscript(written, (NEW_DIMENSION,))
        return Method(written, "reshape", (Numeral(1), Numeral(1 if not self.columns else -1)))

    def _whole(self, name: str = "") -> Tree | None:
        if name == "identity":
            return self.write.identity(self.rows, self.columns)
        return self.write.matrix(self.e, self.rows, self.columns)

    def _of_ones(self, pattern: Any) -> str | None:
        """The name of a matrix of ones and zeros; None where it has none of its own."""
        if is_identity(self.factors, self.rows, self.columns, self.sizes):
            return "identity"
        named = pattern is not None and not self.picking
        name = by_pattern(pattern, True) if named else "dense"
        if name in SELECTIONS or (not self.blocks() and name != "dense"):
            return name
        if not self._picks(self.columns, self.rows):
            once = {*self.columns} <= {*self.pairs}
            put = once and self._picks(self.rows, [*self.columns, *self.pairs])
            return TRANSPOSED if put else None
        back = not self.picking and self._picks(self.rows, self.columns)
        return "permutation" if back else "selection"

    def _picks(self, of: Sequence[str], by: Sequence[str]) -> bool:
        return picks(self.factors, of, by, self.sizes)

    def by_place(self, pattern: Any) -> str:
        """A name for where the entries are; ones, where they count what nothing weighs."""
        if self.pairs and not any(map(has_relation, self.rest)):
            alone = {*self.pairs} == {*self.rows, *self.columns}
            return WEIGHTED if alone else PERMUTED_BLOCKS
        known = pattern is not None and not self.picking
        name = by_pattern(pattern, self.number is None and is_a_count(self.e)) if known else "dense"
        return PERMUTED_BLOCKS if self.pairs and name == "dense" else name

    @cached_property
    def picking(self) -> list[Node]:
        """The tensors that hold places."""
        relations = [e for e in inner(self.e) if isinstance(e, Relation)]
        values = [v for e in relations for p in places_of(e) for v in places.picked(p)]
        return [e.node for value in values for e in inner(value) if isinstance(e, Element)]

    def _diagonal(self) -> bool:
        same = len(self.rows) == len(self.columns)
        return (
            same
            and all(self.pairs.get(r) == c for r, c in zip(self.rows, self.columns))
            and not any(has_relation(f) and not self._labelled(f) for f in self.rest)
        )

    def _labelled(self, f: Expr) -> bool:
        """Whether a relation says something of the diagonal that can be written."""
        own = substituted(f, dict(zip(self.columns, self.rows)), self.sizes)
        return isinstance(own, Relation) and self.write.tensor(own, self.rows) is not None

    def _diagonal_form(self, factor: bool = False) -> Named:
        """The formula of a diagonal matrix, which may be a `factor` of a product."""
        identity = self.write.identity(self.rows, self.columns)
        if not self.rest:
            return ("identity" if self.number is None else "scaled identity"), self.write.scaled(
                self.number, identity
            )
        letters = [*self.rows]
        e = product_of([f for f in factors_of(self.e) if not self._pairs(f)])
        e = substituted(e, dict(zip(self.columns, self.rows)), self.sizes)
        if not letters_of(e) - {*self.write.given}:
            inside = self.write.tensor(e, [])
            return "scaled identity", None if inside is None else self.write.scaled(
                inside, identity
            )
        tensor = None if factor else self.write.tensor(e, letters)
        written = flat(tensor or self.write.weights(e, letters), letters)
        return "diagonal", None if written is None else Call("diag", (written,))

    def _composed(self, pattern: Any) -> Named:
        if self.blocks():
            return BLOCKS, self.block()
        name = self.by_place(pattern)
        if name not in ("dense", PERMUTED_BLOCKS):
            return name, None
        _, spread = self._with_scale(lambda r: ("", r._spread())) or ("", None)
        formula = shortest((spread, self._weighted()))
        return kronecker_name(formula) or name, formula

    def _weighted(self) -> Tree | None:
        """diag(w) @ A, w being what each row is weighed with; A @ diag(w), where columns are."""
        for side in (self.rows, self.columns):
            same = {self.pairs[k]: k for k in side if k in self.pairs}
            own = {f: self._of_side(f, side, same) for f in self.factors}
            weighing = [w for w in own.values() if w is not None]
            others = [f for f, w in own.items() if w is None]
            if not weighing or not others:
                continue
            weights = flat(self.write.weights(product_of(weighing), side), side)
            matrix = self._part(product_of(others))
            if weights is not None and matrix is not None:
                both = [Call("diag", (weights,)), matrix]
                product = multiplied(*(both if side is self.rows else both[::-1]))
                return self.write.scaled(self.number, product)
        return None

    def _of_side(self, f: Expr, side: Sequence[str], same: Mapping[str, str]) -> Expr | None:
        """A factor in the letters of one side alone, where deltas make others the `same`."""
        if has_relation(f):
            return None
        result = substituted(f, same, self.sizes)
        own = letters_of(result) - {*self.write.given}
        return result if own and own <= {*side} else None

    def _part(self, e: Expr) -> Tree | None:
        """The shortest formula of a part of it."""
        return Reading(e, self.rows, self.columns, self.write)._written()

    def _with_scale(self, read: Callable[["Reading"], Named | None]) -> Named | None:
        """What is read of a product, scaled by what has no letters: (eye(n) - a) / norm(x)."""
        given = {*self.write.given}
        scale = [f for f in self.factors if not letters_of(f) - given and not is_count(f)]
        if not scale or len(scale) == len(self.factors):
            return read(self)
        rest = product_of([f for f in factors_of(self.e) if f not in scale])
        result = read(Reading(rest, self.rows, self.columns, self.write))
        if result is None or result[1] is None:
            return result
        name, out = result[0], result[1]
        for f in scale:
            written = self.write.tensor(inverted(f) if divides(f) else f, [])
            if written is None:
                return name, None
            out = Infix("/", out, written) if divides(f) else Infix("*", written, out)
        return name, out

    def _spread(self) -> Tree | None:
        """The matrices of a product whose sum is multiplied out, added up; a number that all have
        before the sum.
        """
        terms = self._multiplied_out()
        if not terms or len(terms) > MOST_TERMS:
            return None
        common, split = self.write.common_number(terms)
        out: Tree | None = None
        for term, (_, factors) in zip(terms, split):
            minus = opposite(term)
            part = minus or term if common is None else product_of(factors)
            written = self._part(part)
            if written is None:
                return None
            out = added(out, written, minus is not None)
        return self.write.scaled(common, out)

    def _written(self) -> Tree | None:
        """The shortest formula of a term or a factor."""
        if self._diagonal():
            return self._diagonal_form()[1]
        return shortest((self._whole(), self._weighted(), self._spread()))

    def _multiplied_out(self) -> list[Expr]:
        """The terms of a product with one sum of terms among its factors; none without."""
        factors = factors_of(self.e)
        totals = [f for f in factors if isinstance(f, Total)]
        if len(totals) != 1:
            return []
        others = [f for f in factors if f is not totals[0]]
        simplify = Simplifier(self.sizes)
        return [simplify.product([*others, t]) for t in totals[0].terms]

    def blocks(self) -> tuple[tuple[str, str], ...]:
        """The letters that lead rows and columns alike, where others follow, with their sizes as
        they are written.
        """
        sides = zip(self.rows, self.columns)
        leading = [*takewhile(lambda side: self.pairs.get(side[0]) == side[1], sides)]
        if max(len(self.rows), len(self.columns)) == len(leading):
            return ()
        return tuple((r, text(self.write.length([c]))) for r, c in leading)

    def block(self) -> Tree | None:
        """The formula of one block; None where there are none."""
        given = [letter for letter, _ in self.blocks()]
        if not given:
            return None
        tied = [pair for pair in zip(self.rows, self.columns) if pair[0] in given]
        leading = {delta(*pair) for pair in tied} | {delta(*pair[::-1]) for pair in tied}
        inner = [f for f in factors_of(self.e) if f not in leading]
        same = dict(zip(self.columns, given))
        e = substituted(product_of(inner), same, self.sizes)
        write = self.write.inside(given)
        depth = len(given)
        reading = Reading(e, self.rows[depth:], self.columns[depth:], write)
        rows = self.write.size(self.rows[depth:])
        return reading._whole() if rows == 1 else reading.named(None, rows)[1]

    def _update(self) -> Named | None:
        """diag(s) - outer(s, s)."""
        terms = self._multiplied_out()
        if len(terms) != 2 or len(self.rows) != len(self.columns):
            return None
        readings = [Reading(t, self.rows, self.columns, self.write) for t in terms]
        straight = [r for r in readings if r._diagonal()]
        spread = [r for r in readings if not any(map(has_relation, r.factors))]
        if len(straight) != 1 or len(spread) != 1:
            return None
        minus = opposite(spread[0].e)
        turned = opposite(straight[0].e) if minus is None else None  # outer(x, x) - eye(n)
        along = straight[0].e if turned is None else turned
        diagonal = Reading(along, self.rows, self.columns, self.write)._diagonal_form()[1]
        body = spread[0].e if minus is None else minus
        subtracted, first = minus is not None, turned is not None
        number, rest = self.write.number(body)
        if not letters_of(product_of(rest)) - {*self.write.given}:  # eye(n) - 1 / n
            one = self.write.tensor(body, []) if rest else number or Numeral(1)
            return _together("symmetric low-rank update", diagonal, one, subtracted, first)
        apart, symmetric = self._apart(body)
        name = "symmetric low-rank update" if symmetric else "low-rank update"
        if symmetric and (apart is None or diagonal is None):
            return name, None
        return _together(name, diagonal, apart, subtracted, first)

    def _apart(self, e: Expr) -> tuple[Tree | None, bool]:
        """outer(a, b) times a number, and whether a is b; None where e is no such product."""
        given = {*self.write.given}
        numbers = [f for f in factors_of(e) if not letters_of(f) - given]
        others = [f for f in factors_of(e) if f not in numbers]
        left = [f for f in others if letters_of(f) - given <= {*self.rows}]
        right = [f for f in others if f not in left]
        if not all(letters_of(f) - given <= {*self.columns} for f in right):
            return None, False
        renamed = [substituted(f, dict(zip(self.columns, self.rows)), self.sizes) for f in right]
        a = self._vector(left) if left else self._ones(self.rows)
        b = self._vector(renamed) if right else self._ones(self.columns)
        scale = self.write.tensor(product_of(numbers), []) if numbers else None
        known = a is not None and b is not None and (scale is not None or not numbers)
        whole = self.write.scaled(scale, Call("outer", (a, b))) if known else None
        return whole, frozenset(renamed) == {*left}

    def _vector(self, factors: Sequence[Expr]) -> Tree | None:
        return flat(self.write.tensor(product_of(factors), self.rows), self.rows)

    def _ones(self, letters: Sequence[str]) -> Tree:
        return Call("ones", (self.write.length(letters),))


def kronecker_name(formula: Tree | None) -> str:
    """What one Kronecker product is called, with a sign and numbers before and after it: permuted
    where its rows are reshaped. Nothing where the formula is another, as a sum of two.
    """
    if isinstance(formula, Prefix):
        return kronecker_name(formula.operand)
    if isinstance(formula, Infix) and formula.symbol == "/":
        return kronecker_name(formula.left)
    if isinstance(formula, Infix) and formula.symbol == "*":
        return kronecker_name(formula.left) or kronecker_name(formula.right)
    if isinstance(formula, Method) and formula.name == "reshape":
        return PERMUTED_KRONECKER if kronecker_name(formula.base) else ""
    return KRONECKER if isinstance(formula, Call) and formula.function == "kron" else ""


def _together(
    name: str, diagonal: Tree | None, other: Tree | None, subtracted: bool, first: bool
) -> Named | None:
    """A diagonal matrix and another, `subtracted` or added; or the other `first`, less it."""
    if diagonal is None or other is None:
        return None
    return name, Infix("-", other, diagonal) if first else added(diagonal, other, subtracted)


def along_diagonal(e: Expr, rows: Sequence[str], columns: Sequence[str]) -> Expr:
    """A product with a delta for each row's letter and its column's, where its deltas make them
    equal; the same expression where they do not. Letters of neither stay tied to them.
    """
    deltas = [f for f in factors_of(e) if is_delta(f)]
    if len(deltas) <= len(rows) or len(rows) != len(columns):
        return e
    first = {k: k for f in deltas for k in (f.left, f.right)}  # of all that are equal to it
    for f in deltas:
        one, other = first[f.left], first[f.right]
        first = {k: one if to == other else to for k, to in first.items()}
    if any(r not in first or first[r] != first.get(c) for r, c in zip(rows, columns)):
        return e
    pairs = [delta(r, c) for r, c in zip(rows, columns)]
    lead: dict[str, str] = {}
    tied = (*rows, *(k for k in first if k not in rows and k not in columns))
    ties = [delta(lead[first[k]], k) for k in tied if lead.setdefault(first[k], k) != k]
    return product_of([*pairs, *ties, *(f for f in factors_of(e) if f not in deltas)])
