"""The structure of a Jacobian, from the deltas of its index notation: the pattern of its nonzero
entries, the name of its structure, and its matrix formula.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any, TypeGuard

from ...errors import if_applicable
from ...graphs import Node
from ..indices import places
from ..indices.collect import Simplifier, is_delta
from ..indices.expressions import (
    ZERO,
    Element,
    Expr,
    Number,
    Relation,
    TooLong,
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
from ..tree import (
    ALL,
    NEW_DIMENSION,
    Call,
    Infix,
    Method,
    Prefix,
    Subscript,
    Tree,
    shortest,
    size,
    text,
)
from ..tree import Number as Numeral
from .einsum_formula import einsum_formula
from .masks import count, has_relation, is_a_count, mask, work
from .matrices import Matrices
from .matrix_products import added, factored, multiplied, scaled
from .patterns import (
    BLOCKS,
    KRONECKER,
    KRONECKERS,
    PERMUTED_BLOCKS,
    PERMUTED_KRONECKER,
    SELECTIONS,
    TRANSPOSED,
    WEIGHTED,
    by_pattern,
)
from .relation_matrices import determines_places, is_identity
from .tensors import flat, is_count

NamedFormula = tuple[str, Tree | None]  # the name of a structure, and its formula
MINUS_ONE = Number(-1)
MOST_TERMS = 4  # largest number of terms of a sum that is expanded
LONG = 16  # a formula of this length may be replaced by an einsum


class JacobianEntry:
    """An entry `e` of a Jacobian in index notation, with the letters of its rows and columns.
    `pairs` maps letters of rows to the letters of columns that deltas tie to them, and back;
    `unpaired` are the factors other than these deltas.
    """

    def __init__(self, e: Expr, rows: Sequence[Place], columns: Sequence[Place], write: Matrices):
        self.rows, self.columns = ([p for p in at if isinstance(p, str)] for at in (rows, columns))
        self.write, self.sizes = write, write.sizes
        self.e = along_diagonal(e, self.rows, self.columns)
        self.number, self.factors = self.write.number(self.e)
        self.pairs: dict = {}
        for f in self.factors:
            if self._is_pair(f):
                self.pairs |= {f.left: f.right, f.right: f.left}
        self.unpaired = [f for f in self.factors if not self._is_pair(f)]

    def _is_pair(self, f: Expr) -> TypeGuard[Relation]:
        """Whether a factor is a delta of a letter of rows and one of columns of the same size."""
        if not is_delta(f):
            return False
        sides = {f.left in self.rows, f.right in self.rows}
        return len(sides) == 2 and self.sizes[f.left] == self.sizes[f.right]

    # ---- nonzero entries -------------------------------------------------------------------------

    def pattern(self, most: int) -> Any:
        """The boolean pattern of entries that may be nonzero, of shape (rows, columns); None if
        more than `most` elements would have to be computed.
        """
        rows, columns = self.write.size(self.rows), self.write.size(self.columns)
        if rows * columns * work(self.e) > most:
            return None
        letters = [*self.rows, *self.columns]
        return mask(self.e, letters, [self.sizes[k] for k in letters]).reshape(rows, columns)

    def count(self, most: int) -> int | None:
        """The number of entries that may be nonzero; None if more than `most` elements would have
        to be computed.
        """
        same = {k: self.pairs[k] for k in self.columns if k in self.pairs}
        rest = product_of([f for f in factors_of(self.e) if not self._is_pair(f)])
        rest = substituted(rest, same, self.sizes)
        free = [*self.rows, *(k for k in self.columns if k not in same)]
        return count(rest, {k: self.sizes[k] for k in free}, most)

    # ---- names and formulas ----------------------------------------------------------------------

    def named(self, pattern: Any, rows: int) -> NamedFormula:
        """The name of the structure and its formula."""
        if self.e == ZERO:
            return "zero", Call("zeros", tuple(map(self.write.length, (self.rows, self.columns))))
        if rows == 1:
            return "row", self._row_formula()
        if self._is_diagonal():
            return self._diagonal_form()
        if self.number is None and all(isinstance(f, Relation) for f in self.factors):
            name = self._name_of_ones(pattern)
            if name is not None:
                formula = self._matrix(name)
                kronecker = "" if name in SELECTIONS else kronecker_name(formula)
                return kronecker or name, formula
        update = self._with_scale(JacobianEntry._update)
        if update is not None:
            return update
        formula = self._with_shorter_weights(self._matrix())
        if formula is not None:
            name = kronecker_name(formula) or self.name_by_pattern(pattern)
            return name, formula if name in KRONECKERS else self._einsum_or(formula)
        return self._fallback(pattern)

    def formula(self) -> Tree | None:
        """The formula of the whole matrix, to be used as a factor of a product."""
        if self._is_diagonal():
            return self._diagonal_form(factor=True)[1]
        if is_identity(self.factors, self.rows, self.columns, self.sizes):
            return self.write.scaled(self.number, self._matrix("identity"))
        update = self._with_scale(JacobianEntry._update)
        if update is not None:
            return update[1]
        matrix = self._with_shorter_weights(self._matrix())
        return matrix or shortest((self._weighted(), self._expanded()))

    def _row_formula(self) -> Tree | None:
        """The formula of a matrix of one row."""
        if all(isinstance(f, Relation) for f in self.factors):
            return self._matrix()
        write, e = self.write, self.e
        written = write.tensor(e, self.columns) or write.weights(e, self.columns)
        if written is None or len(self.columns) == 1:
            return None if written is None else Subscript(written, (NEW_DIMENSION,))
        return Method(written, "reshape", (Numeral(1), Numeral(1 if not self.columns else -1)))

    def _matrix(self, name: str = "") -> Tree | None:
        if name == "identity":
            return self.write.identity(self.rows, self.columns)
        return self.write.matrix(self.e, self.rows, self.columns)

    def _name_of_ones(self, pattern: Any) -> str | None:
        """The name of a matrix of ones and zeros; None if its pattern has no name."""
        if is_identity(self.factors, self.rows, self.columns, self.sizes):
            return "identity"
        is_known = pattern is not None and not self.index_tensors
        name = by_pattern(pattern, True) if is_known else "dense"
        if name in SELECTIONS or (not self.blocks() and name != "dense"):
            return name
        if not self._determine(self.columns, self.rows):
            if not {*self.columns} <= {*self.pairs}:
                return None
            is_transposed = self._determine(self.rows, [*self.columns, *self.pairs])
            return TRANSPOSED if is_transposed else None
        is_permutation = not self.index_tensors and self._determine(self.rows, self.columns)
        return "permutation" if is_permutation else "selection"

    def _determine(self, of: Sequence[str], by: Sequence[str]) -> bool:
        """Whether relations determine the letters `of` in terms of the letters `by`."""
        return determines_places(self.factors, of, by, self.sizes)

    def name_by_pattern(self, pattern: Any) -> str:
        """The name of the pattern; without weights, that of a matrix of ones and zeros."""
        if self.pairs and not any(map(has_relation, self.unpaired)):
            only_pairs = {*self.pairs} == {*self.rows, *self.columns}
            return WEIGHTED if only_pairs else PERMUTED_BLOCKS
        known = pattern is not None and not self.index_tensors
        name = by_pattern(pattern, self.number is None and is_a_count(self.e)) if known else "dense"
        return PERMUTED_BLOCKS if self.pairs and name == "dense" else name

    @cached_property
    def index_tensors(self) -> list[Node]:
        """The integer tensors that are used as indices."""
        relations = [e for e in inner(self.e) if isinstance(e, Relation)]
        values = [v for e in relations for p in places_of(e) for v in places.picked(p)]
        return [e.node for value in values for e in inner(value) if isinstance(e, Element)]

    def _is_diagonal(self) -> bool:
        """Whether deltas pair each letter of rows with the letter of columns at its position, and
        the other factors can be written as tensors of the diagonal.
        """
        same = len(self.rows) == len(self.columns)
        return (
            same
            and all(self.pairs.get(r) == c for r, c in zip(self.rows, self.columns))
            and not any(
                has_relation(f) and not self._is_writable_on_diagonal(f) for f in self.unpaired
            )
        )

    def _is_writable_on_diagonal(self, f: Expr) -> bool:
        """Whether a relation, restricted to the diagonal, can be written as a tensor."""
        restricted = substituted(f, dict(zip(self.columns, self.rows)), self.sizes)
        if not isinstance(restricted, Relation):
            return False
        return self.write.tensor(restricted, self.rows) is not None

    def _diagonal_form(self, factor: bool = False) -> NamedFormula:
        """The name and formula of a diagonal matrix. If it is a `factor` of a product, its diagonal
        is not written as a boolean tensor, because PyTorch has no matrix product of these.
        """
        identity = self.write.identity(self.rows, self.columns)
        if not self.unpaired:
            return ("identity" if self.number is None else "scaled identity"), self.write.scaled(
                self.number, identity
            )
        letters = [*self.rows]
        e = product_of([f for f in factors_of(self.e) if not self._is_pair(f)])
        e = substituted(e, dict(zip(self.columns, self.rows)), self.sizes)
        if not letters_of(e) - {*self.write.fixed}:
            scale = self.write.tensor(e, [])
            return "scaled identity", None if scale is None else self.write.scaled(scale, identity)
        tensor = None if factor else self.write.tensor(e, letters)
        written = flat(tensor or self.write.weights(e, letters), letters)
        return "diagonal", None if written is None else Call("diag", (written,))

    def _fallback(self, pattern: Any) -> NamedFormula:
        """The name of a structure without a formula of its own: blocks, a pattern, or "dense"."""
        if self.blocks():
            return BLOCKS, self.block()
        name = self.name_by_pattern(pattern)
        if name not in ("dense", PERMUTED_BLOCKS):
            return name, None
        _, spread = self._with_scale(lambda r: ("", r._expanded())) or ("", None)
        formula = shortest((spread, self._weighted()))
        return kronecker_name(formula) or name, self._einsum_or(formula)

    def _einsum_or(self, formula: Tree | None) -> Tree | None:
        """A formula, or an einsum if that is shorter."""
        if formula is not None and size(formula) <= LONG:
            return formula
        return shortest((formula, einsum_formula(self.write, self.e, self.rows, self.columns)))

    def _weighted(self) -> Tree | None:
        """diag(w) @ A for weights of the rows, A @ diag(w) for weights of the columns. Scalars are
        written as factors of the matrix if this is not longer. None if there are no such weights.
        """
        product = self._weighted_sides()
        if product is None:
            return None
        _, with_scale = self._with_scale(lambda r: ("", r._weighted_sides())) or ("", None)
        return shortest((with_scale, product))

    def _weighted_sides(self) -> Tree | None:
        """The same for the factors as they are, with the number in front."""
        for side in (self.rows, self.columns):
            same = {self.pairs[k]: k for k in side if k in self.pairs}
            weight_of = {f: self._weight_of_side(f, side, same) for f in self.factors}
            weights = [w for w in weight_of.values() if w is not None]
            others = [f for f, w in weight_of.items() if w is None]
            if not weights or not others:
                continue
            vector = flat(self.write.weights(product_of(weights), side), side)
            matrix = self._part_formula(product_of(others))
            if vector is not None and matrix is not None:
                operands = [Call("diag", (vector,)), matrix]
                product = multiplied(*(operands if side is self.rows else operands[::-1]))
                return self.write.scaled(self.number, product)
        return None

    def _with_shorter_weights(self, formula: Tree | None) -> Tree | None:
        """diag(w) @ A for A * w[:, None]; any other formula is unchanged."""
        is_product = isinstance(formula, Infix) and formula.symbol == "*"
        return shortest((formula, self._weighted())) if is_product else formula

    def _weight_of_side(self, f: Expr, side: Sequence[str], same: Mapping[str, str]) -> Expr | None:
        """`f` in the letters of one side only, with letters replaced by equal ones as in `same`;
        None if that is not possible.
        """
        if has_relation(f):
            return None
        result = substituted(f, same, self.sizes)
        letters = letters_of(result) - {*self.write.fixed}
        return result if letters and letters <= {*side} else None

    def _part_formula(self, e: Expr) -> Tree | None:
        """The shortest formula of a part of the entry, as a matrix of the same rows and columns."""
        return JacobianEntry(e, self.rows, self.columns, self.write)._shortest_formula()

    def _with_scale(
        self, read: Callable[["JacobianEntry"], NamedFormula | None]
    ) -> NamedFormula | None:
        """The result of `read` for the factors with letters, times the scalar factors. Scalars that
        all terms of a sum share are scalar factors too: (eye(n) - a) / norm(x).
        """
        for f in self.factors:
            common, inside = factored(f, scalars=True) if isinstance(f, Total) else ([], f)
            if common:
                others = [k for k in factors_of(self.e) if k is not f]
                e = product_of([*common, *others, inside])
                return JacobianEntry(e, self.rows, self.columns, self.write)._with_scale(read)
        fixed = {*self.write.fixed}
        scale = [f for f in self.factors if not letters_of(f) - fixed and not is_count(f)]
        if not scale or len(scale) == len(self.factors):
            return read(self)
        rest = product_of([f for f in factors_of(self.e) if f not in scale])
        result = read(JacobianEntry(rest, self.rows, self.columns, self.write))
        if result is None or result[1] is None:
            return result
        name, out = result[0], result[1]
        for f in scale:
            written = self.write.tensor(inverted(f) if divides(f) else f, [])
            if written is None:
                return name, None
            out = Infix("/", out, written) if divides(f) else scaled(written, out)
        return name, out

    def _expanded(self) -> Tree | None:
        """The sum of the matrices of expanded terms, times the coefficient that all share; None if
        there is no such sum, or a term has no formula.
        """
        terms = self._expanded_terms()
        if not terms or len(terms) > MOST_TERMS:
            return None
        common, split = self.write.common_number(terms)
        out: Tree | None = None
        for term, (_, factors) in zip(terms, split):
            minus = opposite(term)
            unsigned = minus or term if common is None else product_of(factors)
            written = self._part_formula(unsigned)
            if written is None:
                return None
            out = added(out, written, minus is not None)
        return self.write.scaled(common, out)

    def _shortest_formula(self) -> Tree | None:
        """The shortest formula of the matrix of a term or factor."""
        if self._is_diagonal():
            return self._diagonal_form()[1]
        return shortest((self._matrix(), self._weighted(), self._expanded()))

    def _expanded_terms(self) -> list[Expr]:
        """The expanded terms of a product with exactly one sum among its factors; [] of any other,
        and if they are too long.
        """
        factors = factors_of(self.e)
        totals = [f for f in factors if isinstance(f, Total)]
        if len(totals) != 1:
            return []
        others = [f for f in factors if f is not totals[0]]
        simplify = Simplifier(self.sizes)
        terms = (simplify.product([*others, t]) for t in totals[0].terms)
        return if_applicable(lambda: [*terms], (TooLong,)) or []

    def blocks(self) -> tuple[tuple[str, str], ...]:
        """The leading letters that rows and columns share, with their sizes as formulas; () if no
        letters follow.
        """
        pairs = zip(self.rows, self.columns)
        leading = [*takewhile(lambda side: self.pairs.get(side[0]) == side[1], pairs)]
        if max(len(self.rows), len(self.columns)) == len(leading):
            return ()
        return tuple((r, text(self.write.length([c]))) for r, c in leading)

    def block(self) -> Tree | None:
        """The formula of one block of a block-diagonal matrix; None if there are no blocks."""
        leading = [letter for letter, _ in self.blocks()]
        if not leading:
            return None
        pairs = [pair for pair in zip(self.rows, self.columns) if pair[0] in leading]
        deltas = {delta(*p) for pair in pairs for p in (pair, pair[::-1])}
        others = [f for f in factors_of(self.e) if f not in deltas]
        e = substituted(product_of(others), dict(zip(self.columns, leading)), self.sizes)
        write, depth = self.write.inside(leading), len(leading)
        entry = JacobianEntry(e, self.rows[depth:], self.columns[depth:], write)
        rows = self.write.size(self.rows[depth:])
        return entry._matrix() if rows == 1 else entry.named(None, rows)[1]

    def _update(self) -> NamedFormula | None:
        """Name and formula of a diagonal matrix plus a low-rank one, such as diag(s) - outer(s, s),
        or a multiple of it: 2 * (diag(s) - outer(s, s)); None for other matrices.
        """
        terms = self._expanded_terms()
        if len(terms) != 2 or len(self.rows) != len(self.columns):
            return None
        common, split = self.write.common_number(terms)
        if common is None:
            return self._update_of(terms)
        plain = [product_of(factors) for _, factors in split]
        signed = [product_of([MINUS_ONE, e]) if opposite(t) else e for t, e in zip(terms, plain)]
        update = self._update_of(signed)
        return update and (update[0], self.write.scaled(common, update[1]))

    def _update_of(self, terms: Sequence[Expr]) -> NamedFormula | None:
        """As `_update`, for these two terms."""
        entries = [JacobianEntry(t, self.rows, self.columns, self.write) for t in terms]
        diagonals = [r for r in entries if r._is_diagonal()]
        low_rank = [r for r in entries if not any(map(has_relation, r.factors))]
        if len(diagonals) != 1 or len(low_rank) != 1:
            return None
        minus = opposite(low_rank[0].e)
        # not None if the matrix is outer(x, x) minus the diagonal
        negated_diagonal = opposite(diagonals[0].e) if minus is None else None
        low_rank_term, diagonal_term = minus or low_rank[0].e, negated_diagonal or diagonals[0].e
        is_subtracted, is_first = minus is not None, negated_diagonal is not None
        entry = JacobianEntry(diagonal_term, self.rows, self.columns, self.write)
        diagonal = entry._diagonal_form()[1]
        number, rest = self.write.number(low_rank_term)
        if not letters_of(product_of(rest)) - {*self.write.fixed}:  # eye(n) - 1 / n
            one = self.write.tensor(low_rank_term, []) if rest else number or Numeral(1)
            name = "symmetric low-rank update"
            return _with_diagonal(name, diagonal, one, is_subtracted, is_first)
        outer, symmetric = self._outer_factors(low_rank_term)
        name = "symmetric low-rank update" if symmetric else "low-rank update"
        if symmetric and (outer is None or diagonal is None):
            return name, None
        return _with_diagonal(name, diagonal, outer, is_subtracted, is_first)

    def _outer_factors(self, e: Expr) -> tuple[Tree | None, bool]:
        """The formula of e as number * outer(a, b), and whether a is b; None and False if e is no
        such product.
        """
        fixed = {*self.write.fixed}
        numbers = [f for f in factors_of(e) if not letters_of(f) - fixed]
        others = [f for f in factors_of(e) if f not in numbers]
        left = [f for f in others if letters_of(f) - fixed <= {*self.rows}]
        right = [f for f in others if f not in left]
        if not all(letters_of(f) - fixed <= {*self.columns} for f in right):
            return None, False
        renamed = [substituted(f, dict(zip(self.columns, self.rows)), self.sizes) for f in right]
        outer = self._beside_diagonal(left, renamed)
        scale = self.write.tensor(product_of(numbers), []) if numbers else None
        is_complete = outer is not None and (scale is not None or not numbers)
        outer = self.write.scaled(scale, outer) if is_complete else None
        return outer, frozenset(renamed) == {*left}

    def _beside_diagonal(self, left: Sequence[Expr], right: Sequence[Expr]) -> Tree | None:
        """outer(a, b), or b if all rows are equal, or a[:, None] if all columns are equal: these
        broadcast in the sum with a diagonal matrix.
        """
        a, b = self._vector(left), self._vector(right)
        if not left:
            return b
        if not right:
            return None if a is None else Subscript(a, (ALL, NEW_DIMENSION))
        return None if a is None or b is None else Call("outer", (a, b))

    def _vector(self, factors: Sequence[Expr]) -> Tree | None:
        return flat(self.write.tensor(product_of(factors), self.rows), self.rows)


def kronecker_name(formula: Tree | None) -> str:
    """The name of a scaled Kronecker product, "permuted" if it is reshaped; "" for others."""
    if isinstance(formula, Prefix):
        return kronecker_name(formula.operand)
    if isinstance(formula, Infix) and formula.symbol == "/":
        return kronecker_name(formula.left)
    if isinstance(formula, Infix) and formula.symbol == "*":
        return kronecker_name(formula.left) or kronecker_name(formula.right)
    if isinstance(formula, Method) and formula.name == "reshape":
        return PERMUTED_KRONECKER if kronecker_name(formula.base) else ""
    return KRONECKER if isinstance(formula, Call) and formula.function == "kron" else ""


def _with_diagonal(
    name: str, diagonal: Tree | None, other: Tree | None, subtracted: bool, first: bool
) -> NamedFormula | None:
    """diagonal + other, or diagonal - other if `subtracted`; `first`: other - diagonal."""
    if diagonal is None or other is None:
        return None
    return name, Infix("-", other, diagonal) if first else added(diagonal, other, subtracted)


def along_diagonal(e: Expr, rows: Sequence[str], columns: Sequence[str]) -> Expr:
    """A product whose deltas pair each letter of rows with the letter of columns at the same
    position, rewritten with deltas of exactly these pairs; any other expression is unchanged.
    """
    deltas = [f for f in factors_of(e) if is_delta(f)]
    if len(deltas) <= len(rows) or len(rows) != len(columns):
        return e
    # maps each letter to the first letter of its class of equal letters
    first = {k: k for f in deltas for k in (f.left, f.right)}
    for f in deltas:
        remaining, replaced = first[f.left], first[f.right]
        first = {k: remaining if to == replaced else to for k, to in first.items()}
    if any(r not in first or first[r] != first.get(c) for r, c in zip(rows, columns)):
        return e
    pairs = [delta(r, c) for r, c in zip(rows, columns)]
    lead: dict[str, str] = {}
    tied = (*rows, *(k for k in first if k not in rows and k not in columns))
    ties = [delta(lead[first[k]], k) for k in tied if lead.setdefault(first[k], k) != k]
    return product_of([*pairs, *ties, *(f for f in factors_of(e) if f not in deltas)])
