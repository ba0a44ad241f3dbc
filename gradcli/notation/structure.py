"""The structure of a Jacobian: its name, its closed form, and how many of its entries can be other
than 0.

Read off the deltas of its index notation. Where a matrix of numbers is given, nothing is claimed
that it contradicts.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard

from ..graphs import Node
from ..lazy import np
from . import places
from .collect import Simplifier, is_delta
from .expressions import (
    ZERO,
    Expr,
    Number,
    Product,
    Relation,
    Sum,
    Total,
    letters_of,
    parts,
    places_of,
    substituted,
)
from .index import Indices, Values
from .matrices import Matrices, negated, numbers
from .tree import Call, Infix, Name, Prefix, Tree
from .tree import Number as NumberTree
from .written import opposite

MOST_TERMS = 4  # of a sum that is multiplied out for its matrices
MOST_ENTRIES = 250_000  # of the pattern of a Jacobian that is looked at entry by entry


class Structure(NamedTuple):
    """`formula` is None where there is no short one, `nonzero` where they are too many to count."""

    name: str
    formula: Tree | None
    nonzero: int | None
    total: int


def jacobian_structure(
    out: Node,
    x: Node,
    grad: Node,
    seed_node: Node,
    names: Mapping[Node, Name],
    matrix: Any = None,
    values: Values | None = None,
) -> Structure:
    """The structure of the Jacobian of `out` by `x`.

    `matrix`: its numbers somewhere, (out.numel, x.numel), and `values` the arrays of nodes there,
    which confirm the name and the formula.
    """
    total = out.numel * x.numel
    matrix = None if matrix is None else np.asarray(matrix, float).reshape(out.numel, x.numel)
    letters = Indices(out, seed_node, names)
    found = letters.jacobian_expression(x, grad)
    if found is None or not total:
        return _of_matrix(matrix, total)
    e, at, sizes = found
    rows, columns = ([p for p in side if isinstance(p, str)] for side in (letters.out_places, at))
    reading = _Reading(e, rows, columns, names, sizes)
    pattern = reading.pattern()
    name, formula = reading.named(pattern, out.numel)
    nonzero = reading.count() if pattern is None else int(pattern.sum())
    if matrix is None:
        return Structure(name, formula, nonzero, total)
    if (pattern is not None and (matrix[~pattern] != 0).any()) or not _confirmed(name, matrix):
        return _of_matrix(matrix, total)
    if (
        formula is not None
        and values is not None
        and not _equal(formula, matrix, {k.text: values(n) for n, k in names.items()})
    ):
        formula = None
    return Structure(name, formula, nonzero, total)


def _of_matrix(matrix: Any, total: int) -> Structure:
    """What the numbers alone show."""
    if not total:
        return Structure("zero", None, 0, total)
    if matrix is None:
        return Structure("dense", None, None, total)
    pattern = matrix != 0
    return Structure(
        _by_pattern(pattern, bool(np.isin(matrix, (0, 1)).all())), None, int(pattern.sum()), total
    )


def _by_pattern(pattern: Any, units: bool) -> str:
    """A name for where the entries are; `units`: they are ones."""
    rows, columns = pattern.shape
    square = rows == columns
    if not pattern.any():
        return "zero"
    if rows == 1:
        return "row"
    once = (pattern.sum(1) == 1).all()
    if square and not pattern[~np.eye(rows, dtype=bool)].any():
        return "identity" if units and once else "diagonal"
    if units and once:
        return "permutation" if square and (pattern.sum(0) == 1).all() else "selection"
    if square and not np.triu(pattern, 1).any():
        return "lower-triangular"
    if square and not np.tril(pattern, -1).any():
        return "upper-triangular"
    return "dense"


def _confirmed(name: str, matrix: Any) -> bool:
    """Whether the numbers agree with the name."""
    rows, columns = matrix.shape
    if name == "zero":
        return not matrix.any()
    if name in ("identity", "scaled identity", "diagonal"):
        if rows != columns or matrix[~np.eye(rows, dtype=bool)].any():
            return False
        first = np.diag(matrix)[0]
        return name == "diagonal" or bool(
            np.allclose(np.diag(matrix), 1 if name == "identity" else first)
        )
    if name in ("permutation", "selection"):
        ones = bool(np.isin(matrix, (0, 1)).all() and (matrix.sum(1) == 1).all())
        return ones and (name == "selection" or bool((matrix.sum(0) == 1).all()))
    if name == "lower-triangular":
        return not np.triu(matrix, 1).any()
    if name == "upper-triangular":
        return not np.tril(matrix, -1).any()
    return name != "symmetric low-rank update" or bool(
        np.allclose(matrix, matrix.T, equal_nan=True)
    )


def _equal(formula: Tree, matrix: Any, arrays: Mapping[str, Any]) -> bool:
    """Whether the formula has the numbers of the matrix."""
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(numbers(formula, arrays.get), float)
    except LookupError:
        return False
    return found.size == matrix.size and bool(
        np.allclose(found.reshape(matrix.shape), matrix, rtol=1e-6, atol=1e-9, equal_nan=True)
    )


class _Reading:
    """The Jacobian's element `e`, the letters of its rows and those of its columns."""

    def __init__(
        self,
        e: Expr,
        rows: list,
        columns: list,
        names: Mapping[Node, Name],
        sizes: Mapping[str, int],
    ):
        self.e, self.rows, self.columns, self.sizes = e, rows, columns, sizes
        self.write = Matrices(names, sizes)
        self.number, self.factors = self.write.number(e)
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

    def pattern(self) -> Any:
        """A mask, (rows, columns); None where there are too many."""
        rows, columns = self.write.size(self.rows), self.write.size(self.columns)
        if rows * columns * self._work(self.e) > MOST_ENTRIES:
            return None
        letters = [*self.rows, *self.columns]
        env: dict[str, Any] = {}
        for place, letter in enumerate(letters):
            env[letter] = np.arange(self.sizes[letter]).reshape(
                [-1 if d == place else 1 for d in range(len(letters))]
            )
        mask = np.broadcast_to(self._mask(self.e, env), [self.sizes[k] for k in letters])
        return mask.reshape(rows, columns)

    def _work(self, e: Expr) -> int:
        """How often parts are looked at for the sums they stand in."""
        inside = max(map(self._work, parts(e)), default=1)
        return inside * e.size if isinstance(e, Sum) and _has_relation(e) else inside

    def _mask(self, e: Expr, env: dict[str, Any]) -> Any:
        if isinstance(e, Number):
            return np.asarray(e.value != 0)
        if isinstance(e, Relation):
            return self._holds(e, env)
        if not _has_relation(e) or not isinstance(e, Product | Total | Sum):
            return np.asarray(True)
        if isinstance(e, Sum):
            out = np.asarray(False)
            for value in range(e.size):
                out = out | self._mask(e.body, env | {e.letter: np.asarray(value)})
            return out
        out = self._mask(parts(e)[0], env)
        for part in parts(e)[1:]:
            out = (
                out & self._mask(part, env)
                if isinstance(e, Product)
                else out | self._mask(part, env)
            )
        return out

    def _holds(self, e: Relation, env: dict[str, Any]) -> Any:
        try:
            left, right = (places.at(p, env, _unknown) for p in (e.left, e.right))
        except LookupError:  # a place that a tensor holds
            return np.asarray(True)
        return np.asarray(left == right if e.symbol == "==" else left <= right)

    def count(self) -> int | None:
        """How many entries can be other than 0, from deltas alone."""
        if any(_has_relation(f) for f in self.rest):
            return None
        free = [*self.rows, *(k for k in self.columns if k not in self.pairs)]
        return self.write.size(free)

    # ---- names and formulas ----------------------------------------------------------------------

    def named(self, pattern: Any, rows: int) -> tuple[str, Tree | None]:
        """The name of the structure and its formula."""
        if self.e == ZERO:
            return "zero", None
        if rows == 1:
            return "row", None
        if self._diagonal():
            return self._diagonal_form()
        if (
            not self.rest
            and len(self.pairs) == 2 * len(self.rows) == 2 * len(self.columns)
            and self.number is None
        ):
            return "permutation", None
        if (
            all(isinstance(f, Relation) for f in self.factors)
            and self.number is None
            and pattern is not None
        ):
            name = _by_pattern(pattern, True)
            if name != "dense" and not self._data():
                identity = Call("eye", (NumberTree(rows),))
                return name, identity if name == "identity" else None
        formula = self.write.matrix(self.e, self.rows, self.columns)
        if formula is not None:
            return ("kronecker" if _is_kronecker(formula) else "dense"), formula
        return self._composed(pattern)

    def _data(self) -> bool:
        """Whether a place is held by a tensor."""
        held = (p for f in self.factors for p in places_of(f))
        return any(isinstance(a, places.Picked) for p in held for a, _ in places.linear(p).terms)

    def _diagonal(self) -> bool:
        same = len(self.rows) == len(self.columns)
        return (
            same
            and all(self.pairs.get(r) == c for r, c in zip(self.rows, self.columns))
            and not any(map(_has_relation, self.rest))
        )

    def _diagonal_form(self) -> tuple[str, Tree | None]:
        identity = Call("eye", (NumberTree(self.write.size(self.rows)),))
        if not self.rest:
            return ("identity" if self.number is None else "scaled identity"), self.write.scaled(
                self.number, identity
            )
        letters = [*self.rows]
        e = _product([f for f in _factors(self.e) if not self._pairs(f)])
        e = substituted(e, dict(zip(self.columns, self.rows)), self.sizes)
        if not letters_of(e):
            inside = self.write.tensor(e, [])
            return "scaled identity", None if inside is None else self.write.scaled(
                inside, identity
            )
        written = self.write.tensor(e, letters)
        return "diagonal", None if written is None else Call("diag", (written,))

    def _composed(self, pattern: Any) -> tuple[str, Tree | None]:
        update = self._update()
        if update is not None:
            return update
        first = self.rows and self.columns and self.pairs.get(self.rows[0]) == self.columns[0]
        if first and (len(self.rows) > 1 or len(self.columns) > 1):
            return "block-diagonal", None
        name = _by_pattern(pattern, False) if pattern is not None else "dense"
        return name, self._spread() if name == "dense" else None

    def _spread(self) -> Tree | None:
        """The matrices of a product whose sum is multiplied out, added up."""
        totals = [f for f in _factors(self.e) if isinstance(f, Total)]
        if not totals or len(totals[0].terms) > MOST_TERMS:
            return None
        others = [f for f in _factors(self.e) if f is not totals[0]]
        simplify = Simplifier(self.sizes)
        terms = [simplify.product([*others, t]) for t in totals[0].terms]
        out: Tree | None = None
        for term in terms:
            minus = opposite(term)
            part = minus or term
            reading = _Reading(part, self.rows, self.columns, self.write.names, self.sizes)
            written = (
                reading._diagonal_form()[1]
                if reading._diagonal()
                else self.write.matrix(part, self.rows, self.columns)
            )
            if written is None:
                return None
            if out is None:
                out = written if minus is None else negated(written)
            else:
                out = Infix("+" if minus is None else "-", out, written)
        return out

    def _update(self) -> tuple[str, Tree | None] | None:
        """diag(s) - outer(s, s)."""
        factors = _factors(self.e)
        totals = [f for f in factors if isinstance(f, Total)]
        if len(totals) != 1 or len(totals[0].terms) != 2 or len(self.rows) != len(self.columns):
            return None
        others = [f for f in factors if f is not totals[0]]
        simplify = Simplifier(self.sizes)
        terms = [simplify.product([*others, t]) for t in totals[0].terms]
        readings = [
            _Reading(t, self.rows, self.columns, self.write.names, self.sizes) for t in terms
        ]
        straight = [r for r in readings if r._diagonal()]
        spread = [r for r in readings if not any(map(_has_relation, r.factors))]
        if len(straight) != 1 or len(spread) != 1:
            return None
        diagonal = straight[0]._diagonal_form()[1]
        minus = opposite(spread[0].e)
        body = spread[0].e if minus is None else minus
        left = [f for f in _factors(body) if letters_of(f) <= set(self.rows)]
        right = [f for f in _factors(body) if f not in left]
        if not right or not all(letters_of(f) <= set(self.columns) for f in right):
            return None
        renamed = [substituted(f, dict(zip(self.columns, self.rows)), self.sizes) for f in right]
        ones = Call("ones", (NumberTree(self.write.size(self.rows)),))
        a = self.write.tensor(_product(left), self.rows) if left else ones
        b = self.write.tensor(_product(renamed), self.rows)
        symmetric = frozenset(renamed) == frozenset(left)
        if a is None or b is None or diagonal is None:
            return ("symmetric low-rank update", None) if symmetric else None
        formula = Infix("+" if minus is None else "-", diagonal, Call("outer", (a, b)))
        return ("symmetric low-rank update" if symmetric else "dense"), formula


def _is_kronecker(formula: Tree | None) -> bool:
    if isinstance(formula, Prefix):
        return _is_kronecker(formula.operand)
    if isinstance(formula, Infix):
        return _is_kronecker(formula.left) or _is_kronecker(formula.right)
    return isinstance(formula, Call) and formula.function == "kron"


def _has_relation(e: Expr) -> bool:
    if isinstance(e, Relation):
        return True
    return any(map(_has_relation, parts(e)))


def _unknown(value: Any) -> int:
    raise LookupError


def _factors(e: Expr) -> tuple[Expr, ...]:
    return e.factors if isinstance(e, Product) else (e,)


def _product(factors: list[Expr]) -> Expr:
    return factors[0] if len(factors) == 1 else Product(tuple(factors))
