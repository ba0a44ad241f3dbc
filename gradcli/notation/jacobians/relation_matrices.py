"""Matrices defined by relations of indices: eye(n)[1:], eye(n).roll(1, 0), tril(ones(n, n)).

A matrix has one index letter for its rows and one for its columns, or None for a single row or
column. A delta [i = 2j] selects rows or columns of an identity, a bound [i <= j] makes a triangle,
and two bounds make a band.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod

from .. import tree
from ..formulas.sizes import LEAST
from ..formulas.spelling import indexed
from ..indices.expressions import ONE, Expr, Relation, letters_of, product_of, solve, substituted
from ..indices.places import Linear, Part, Picked, Place, bounds, linear, plus
from ..tree import ALL, NEW_DIMENSION, Call, Infix, Method, Subscript, Tree
from .matrix_products import in_numbers
from .tensors import Tensors, triangle

Letter = str | None
Plain = Callable[[Sequence[Expr], list[str], list[str]], Tree | None]
INSIDE = "window"  # the letter of the index within a window


def matrix_from_relations(
    write: Tensors, plain: Plain, factors: Sequence[Expr], row: Letter, column: Letter
) -> Tree | None:
    """The formula of a matrix with relations among its factors; None if there is no short one.
    `plain` returns the matrix of factors without relations.
    """
    relations = [f for f in factors if isinstance(f, Relation)]
    rest = [f for f in factors if not isinstance(f, Relation)]
    if len(relations) == 1 and relations[0].symbol == "==":
        return _with_delta(write, relations[0], rest, row, column)
    if row is None or column is None or any(f.symbol == "==" for f in relations):
        return None
    if len(relations) == 1:
        return _triangle(write, plain, relations[0], rest, row, column)
    if len(relations) != 2:
        return None
    repeated = None if rest else _repeated(write, relations, row, column)
    return repeated or _windows(write, relations, rest, row, column)


# ---- one delta: rows or columns of an identity ---------------------------------------------------


def _with_delta(
    write: Tensors, delta: Relation, rest: Sequence[Expr], row: Letter, column: Letter
) -> Tree | None:
    sides = write, delta, row, column
    ones = _of_identity(*sides, dim=0) or _of_identity(*sides, dim=1)
    if ones is None and row is not None and column is not None:
        return _off_diagonal(write, delta, rest, row, column)
    if ones is None or not rest:
        return ones
    return _weighted_ones(write, ones, delta, rest, row, column)


def _off_diagonal(
    write: Tensors, delta: Relation, rest: Sequence[Expr], row: str, column: str
) -> Tree | None:
    """diag(x[1:], -1): a square matrix with a single diagonal other than the main one."""
    down = plus(solve(delta.left, delta.right, row), column, -1)  # rows below the main one
    size = write.sizes[column]
    if not isinstance(down, int) or write.sizes[row] != size or abs(down) >= size:
        return None
    inner = write.with_sizes({INSIDE: size - abs(down)})
    places = {row: plus(INSIDE, max(down, 0)), column: plus(INSIDE, max(-down, 0))}
    weights = substituted(product_of(rest), places, inner.sizes)
    written = weights_along_diagonal(inner, weights, column)
    return None if written is None else Call("diag", (in_numbers(written), tree.Number(-down)))


def weights_along_diagonal(inside: Tensors, weights: Expr, column: str) -> Tree | None:
    """The vector of weights along a diagonal, or a part of one, indexed by the letter INSIDE;
    constant weights are multiples of ones(x.shape[0] - 1), where `column` is the letter of the
    columns.
    """
    if letters_of(weights) - {*inside.fixed}:
        return inside.tensor(weights, [INSIDE])
    shorter_by, length = inside.sizes[column] - inside.sizes[INSIDE], inside.length([column])
    ones = Call("ones", (Infix("-", length, tree.Number(shorter_by)) if shorter_by else length,))
    if weights == ONE:
        return ones
    number = inside.tensor(weights, [])
    return None if number is None else inside.scaled(number, ones)


def _of_identity(
    write: Tensors, delta: Relation, row: Letter, column: Letter, dim: int
) -> Tree | None:
    """eye(n)[1:] for `dim` 0, eye(m)[:, 1:] for `dim` 1: the rows, or columns, of an identity that
    a delta selects; else None.
    """
    letter, other = (row, column) if dim == 0 else (column, row)
    if other is None:
        return None
    place = solve(delta.left, delta.right, other)
    eye = _identity(write, other, column)
    return None if place is None else _selected(write, eye, place, letter, other, dim)


def _identity(write: Tensors, letter: str, column: Letter) -> Tree:
    """The identity with a row for each value of a letter; its size is written as that of the
    columns if they are equal.
    """
    same = column is not None and write.sizes[column] == write.sizes[letter]
    return Call("eye", (write.length([column if same and column else letter]),))


def _selected(
    write: Tensors, eye: Tree, place: Place, by: Letter, among: str, dim: int
) -> Tree | None:
    """Rows (`dim` 0) or columns (`dim` 1) of the identity `eye`: one for each value of the letter
    `by`, at the index `place`, which depends on `by`. `among` is the letter of the identity.
    """
    before = ":, " * dim
    terms, offset = dict(linear(place).terms), linear(place).offset
    step = terms.pop(by, 0) if by is not None else 0
    count, size = write.sizes[by] if by is not None else 1, write.sizes[among]
    if terms:
        return _from_index_or_roll(write, eye, terms, (step, offset), by, among, dim)
    if by is None:
        if not 0 <= offset < size:
            return None
        is_last = offset + 1 == size and (not write.generic_sizes or size >= LEAST)
        item = tree.text(write.constant(-1 if is_last else offset))
        return indexed(eye, f"{before}[{item}]")
    index = write.slice_of(offset, step, count, size)
    if index is None:
        return None
    selected = eye if index == ":" else indexed(eye, before + index)
    return Method(selected, "flip", (tree.Number(dim),)) if step < 0 else selected


def _from_index_or_roll(
    write: Tensors,
    eye: Tree,
    terms: dict,
    line: tuple[int, int],
    by: Letter,
    among: str,
    dim: int,
) -> Tree | None:
    """As `_selected`, for a place that is an element of an integer tensor, eye(n)[index], or a
    remainder, as in eye(n).roll(1, 0).
    """
    if len(terms) != 1 or line != (0, 0):
        return None
    ((atom, factor),) = terms.items()
    if factor != 1:
        return None
    if isinstance(atom, Picked):
        index = write.index(atom.value, [by]) if by else write.single_index(atom.value)
        return None if index is None else Subscript(eye, (*[ALL] * dim, index))
    size = write.sizes[among]
    if by is None or write.sizes[by] != size or not isinstance(atom, Part):
        return None
    return _rolled(eye, atom, by, size, dim)


def _rolled(eye: Tree, part: Part, by: str, size: int, dim: int) -> Tree | None:
    """eye(n).roll(1, 0) for a place that is the letter plus a number, modulo n; else None."""
    terms, offset = linear(part.place)
    if terms != ((by, 1),) or (part.by, part.size) != (1, size):
        return None
    offset %= size
    shift = offset if 2 * offset <= size else offset - size
    amount = tree.Number(-shift if dim == 0 else shift)
    return Method(eye, "roll", (amount, tree.Number(0)))


def _weighted_ones(
    write: Tensors,
    ones: Tree,
    delta: Relation,
    rest: Sequence[Expr],
    row: Letter,
    column: Letter,
) -> Tree | None:
    """x * eye(n)[1:]: ones with a weight for each column, or row; diag(x) for all of eye(n)."""
    for weighted, other in ((column, row), (row, column)):
        place = None if other is None else solve(delta.left, delta.right, other)
        if weighted is None or (other is not None and place is None):
            continue
        substitution = {} if other is None else {other: place}
        weights = substituted(product_of(rest), substitution, write.sizes)  # type: ignore[arg-type]
        if letters_of(weights) - {*write.fixed} != {weighted}:
            continue
        written = write.tensor(weights, [weighted])
        if written is not None and isinstance(ones, Call):
            return Call("diag", (in_numbers(written),))
        if written is not None:
            is_row = weighted == row
            return Infix("*", Subscript(written, (ALL, NEW_DIMENSION)) if is_row else written, ones)
    return None


# ---- bounds: triangles and bands -----------------------------------------------------------------


def _triangle(
    write: Tensors, plain: Plain, bound: Relation, rest: Sequence[Expr], row: str, column: str
) -> Tree | None:
    """tril(A) or triu(A) for a bound between the letters, or a triangle of ones times the weights
    of rows or of columns; None for other relations.
    """
    weights = product_of(rest)
    for letter in (row, column):
        if rest and letters_of(weights) - {*write.fixed} == {letter}:
            ones = triangle(bound, row, column, write.ones([row], [column]))
            written = write.tensor(weights, [letter])
            if ones is None or written is None:
                return None
            return Infix(
                "*", written if letter == column else Subscript(written, (ALL, NEW_DIMENSION)), ones
            )
    whole = plain(rest, [row], [column])
    return None if whole is None else triangle(bound, row, column, whole)


def _repeated(write: Tensors, bounds_: list[Relation], row: str, column: str) -> Tree | None:
    """kron(eye(n), ones(2, 1)) for [0 ≤ i-2j < 2]: each row of an identity repeated; else None."""
    times, remainder = divmod(write.sizes[row], write.sizes[column])
    inside = plus(row, column, -times)
    wanted = [plus(inside, 0), plus(times - 1, inside, -1)]
    result = [plus(bound.right, bound.left, -1) for bound in bounds_]
    if remainder or times < 2 or result[0] == result[1] or not {*result} <= {*wanted}:
        return None
    eye = Call("eye", (write.length([column]),))
    return Call("kron", (eye, Call("ones", (write.constant(times), tree.Number(1)))))


def _windows(
    write: Tensors, bounds_: list[Relation], rest: Sequence[Expr], row: str, column: str
) -> Tree | None:
    """eye(n).unfold(0, k, 1) @ w: windows of k columns, weighted by the position inside."""
    extent = _extent_of_windows(bounds_, row, column)
    if extent is None:
        return None
    step, before, width = extent
    windows = _unfolded(write, row, column, step, width, before)
    if windows is None:
        return None
    if not rest:
        return Method(windows, "sum", (tree.Number(-1),))
    inner = write.with_sizes({INSIDE: width})
    inside = {column: plus(Linear(((row, step),), -before), INSIDE)}
    weights = substituted(product_of(rest), inside, inner.sizes)
    if letters_of(weights) - {*write.fixed} != {INSIDE}:
        return None
    written = inner.tensor(weights, [INSIDE])
    return None if written is None else Infix("@", windows, written)


def _extent_of_windows(
    bounds_: list[Relation], row: str, column: str
) -> tuple[int, int, int] | None:
    """The step from window to window, the number of columns by which the first one starts before
    column 0, and the width, of windows between two bounds; None for other bounds.
    """
    result: dict[int, tuple[int, int]] = {}
    for bound in bounds_:
        form = linear(plus(bound.right, bound.left, -1))
        terms = dict(form.terms)
        sign = terms.pop(column, 0)
        step = -sign * terms.pop(row, 0)
        if terms or sign not in (1, -1):
            return None
        result[sign] = step, form.offset
    if {*result} != {1, -1} or result[1][0] != result[-1][0]:
        return None
    step, before = result[1]
    return step, before, result[-1][1] + before + 1


def _unfolded(
    write: Tensors, row: str, column: str, step: int, width: int, before: int
) -> Tree | None:
    """eye(n).unfold(0, k, 1), eye(n + 2).unfold(0, k, 1)[:, 1:-1]: windows that start `before`
    columns before the first one, and may extend beyond the last.
    """
    rows, columns = write.sizes[row], write.sizes[column]
    if step < 1 or width < 1 or before < 0:
        return None
    padded = max((rows - 1) * step + width, before + columns)
    if (padded - width) // step + 1 != rows:
        return None
    length, padding = write.length([column]), padded - columns
    eye = Call("eye", (Infix("+", length, tree.Number(padding)) if padding else length,))
    sizes = [write.constant(width), tree.Number(step)]
    windows = Method(eye, "unfold", (tree.Number(0), *sizes))
    inside = write.slice_of(before, 1, columns, padded)
    return indexed(windows, f":, {inside}") if padding else windows


# ---- properties of deltas ------------------------------------------------------------------------


def determines_places(
    relations: Sequence[Expr], of: Sequence[str], by: Sequence[str], sizes: Mapping[str, int]
) -> bool:
    """Whether relations are deltas that determine a place for each letter in `of`, in terms of
    letters `by` and integer tensors.
    """
    if len(relations) == 1 and _determines_flat_place(relations[0], of, by, sizes):
        return True
    if len(relations) != len(of):
        return False
    waiting = [*relations]
    for letter in of:
        for relation in waiting:
            assert isinstance(relation, Relation)
            place = solve(relation.left, relation.right, letter)
            if relation.symbol != "==" or place is None:
                continue
            low, high = bounds(place, sizes)
            if letters_of(Relation("==", place, 0)) <= {*by} and low >= 0 and high < sizes[letter]:
                waiting.remove(relation)
                break
        else:
            return False
    return True


def is_identity(
    relations: Sequence[Expr], rows: Sequence[str], columns: Sequence[str], sizes: Mapping[str, int]
) -> bool:
    """Whether the only relation is a delta of the row-major positions of rows and columns."""
    lengths = {prod(sizes[letter] for letter in letters) for letters in (rows, columns)}
    if len(relations) != 1 or len(lengths) > 1:
        return False
    (e,) = relations
    sides = [Linear(tuple(_row_major_strides(k, sizes).items()), 0) for k in (rows, columns)]
    pair = (e.left, e.right) if isinstance(e, Relation) and e.symbol == "==" else ()
    return any(all(_same(*both) for both in zip(pair[::step], sides)) for step in (1, -1) if pair)


def _same(a: Place, b: Place) -> bool:
    return plus(a, b, -1) == 0


def _row_major_strides(letters: Sequence[str], sizes: Mapping[str, int]) -> dict[str, int]:
    """The row-major stride of each letter, in elements."""
    result: dict[str, int] = {}
    stride = 1
    for letter in reversed(letters):
        result[letter] = stride
        stride *= sizes[letter]
    return result


def _determines_flat_place(
    e: Expr, of: Sequence[str], by: Sequence[str], sizes: Mapping[str, int]
) -> bool:
    """Whether a delta determines the row-major position of all letters in `of`."""
    if not isinstance(e, Relation) or e.symbol != "==":
        return False
    position = Linear(tuple(_row_major_strides(of, sizes).items()), 0)
    size = prod(sizes[letter] for letter in of)
    for flat, place in ((e.left, e.right), (e.right, e.left)):
        if _same(flat, position):
            low, high = bounds(place, sizes)
            return letters_of(Relation("==", place, 0)) <= {*by} and low >= 0 and high < size
    return False
