"""The Jacobian of the output with respect to an input, with the seed in its margin and the VJP
below.
"""

from math import isqrt
from typing import Any

from ...errors import if_applicable
from ...graphs import Node
from ...graphs.shapes import multi_index
from ...language.generic_sizes import at_shapes
from ...language.problem import Input
from ...lazy import np
from ...notation import tree
from ...notation.jacobians.patterns import KRONECKER, PERMUTED_KRONECKER, picture
from ...notation.jacobians.structure import MOST_DRAWN, Structure, jacobian_pattern
from ...notation.tree import Name, Token
from .. import entries as written
from ..analysis import Analysis, is_large, once
from ..blocks import (
    UNWRITTEN,
    Block,
    Formula,
    Line,
    Matrix,
    Picture,
    Prose,
    Row,
    Section,
    Table,
    Tensor,
    element,
    equality,
    typed,
    words,
)
from ..formulas import by_index
from ..formulas.formula_writer import FormulaWriter
from ..formulas.shortest_structure import structure_of, without_number
from ..formulas.source_text import role_of
from ..notes import matrix_notes, not_finite
from ..phrases import (
    item_size,
    listed,
    sentence,
    shape_text,
    shown_indices,
    size_words,
    without_spaces,
)
from .element import shown_element

LARGE = 1_000  # the size assumed for "for real sizes"
OTHER = 20  # a size at which a program is built, to see whether it accepts other sizes
SHOWN = 12  # rows and columns up to which a matrix is shown in full
LONG, BRIEF = 100_000, 6  # of tensors with more elements than LONG only BRIEF rows are shown
FEW = 5  # columns that are shown if entries are long formulas
FIRST = 3  # number of columns for which seed times matrix is written out below the matrix
TOO_LONG = (
    "Its entries are too long for a table: --full shows them, and with values they are numbers."
)
READABLE = 60  # largest number of characters of an entry that is shown
UNCUT = 26  # largest number of characters of an entry that no table in a terminal cuts
TALL, WIDE = 12, 24  # largest height and width of a sparsity pattern, in cells
FINE = 100  # largest number of cells of its longer side, if it is drawn in pixels


def jacobian(a: Analysis, w: FormulaWriter, x: Input, full: bool, precision: int) -> Section:
    """The Jacobian for one input."""
    out = a.problem.out
    rows, columns = out.numel, x.node.numel
    title = words(f"Jacobian of {a.problem.out_name} with respect to ", Token(x.name, role_of(x)))
    remark = words(
        f"{shape_text((*out.shape, *x.shape))}"
        + (f", as a matrix {rows}×{columns}" if (out.ndim, x.node.ndim) != (1, 1) else "")
    )
    structure = shown_structure(a, w, x)
    blocks: list[Block] = [Table((structure_row(structure, rows * columns),))]
    if a.gradient(x) is not None and rows and columns:
        blocks += remarks(a, w, x, structure)
        cut = not full and max(rows, columns) > SHOWN
        symbolic = cut or not a.jacobian(x).numeric
        if symbolic and not by_index.is_by_element(structure.formula):
            blocks += _by_index(w, x)
        if cut:
            blocks += picture_of(a, w, x, structure)
        in_list: tuple[Table, ...] = ()
        if rows == 1 and not _fits(a, w, x):
            in_list = _column_by_column(a, w, x, _most(a, rows, columns, full))
        blocks += in_list or _in_a_table(a, w, x, full, precision)
        blocks.append(Prose(_cost(a, w, x), "size"))
    named = tuple(Row((line,)) for line in w.definitions(*_lines(blocks)))
    blocks = [Table(named), *blocks] if named else blocks
    return Section("jacobian", title, remark, tuple(blocks))


def _lines(blocks: list[Block]) -> list[Line]:
    cells = (c for b in blocks if isinstance(b, Table) for row in b.rows for c in row.cells)
    return [cell for cell in cells if not isinstance(cell, Tensor)]


def _in_a_table(a: Analysis, w: FormulaWriter, x: Input, full: bool, precision: int) -> list[Block]:
    """The matrix, and seed times matrix below it."""
    readable = full or _readable(a, w, x)
    block = matrix(a, w, x, full, precision) if readable else Prose(words(TOO_LONG))
    return [block, *_column_by_column(a, w, x, FIRST)]


SINGLE = Structure("a single number", None, None, 1)
SHADES = ("· all zero", "▒ some zero", "█ none zero")
KINDS = {
    "row": "one row",
    "unknown": "structure not searched for",
    KRONECKER: "Kronecker product",
    PERMUTED_KRONECKER: "permuted Kronecker product",
}


def shown_structure(a: Analysis, w: FormulaWriter, x: Input) -> Structure:
    """The structure of the Jacobian; if this has a single entry, only the formula of the entry."""
    p = a.problem
    if p.seed.implicit and (p.out.shape, x.shape) == ((), ()):
        written = w.gradient(x) if a.gradient(x) is not None else tree.Number(0)
        return SINGLE._replace(formula=written and w.in_statements(written))
    single = p.out.numel * x.node.numel == 1
    s = SINGLE if single and not a.jacobian(x).numeric else structure_of(a, w, x)
    return s._replace(formula=s.formula and w.with_definitions(s.formula))


def structure_row(s: Structure, total: int) -> Row:
    """The closed form, the structure and the number of nonzero entries as a row: `diag(2 * a)
    diagonal: 6 of its 36 entries are not zero`; "at most" if the number depends on unknown values.
    """
    text = words(kind_of(s, total))
    return Row((text,) if s.formula is None else ((Formula(s.formula),), text))


def kind_of(s: Structure, total: int) -> str:
    """The structure and count of entries: `diagonal: 6 of its 36 entries are not zero`."""
    if total == 1:
        return SINGLE.name
    kind = KINDS.get(s.name, s.name)
    if s.blocks:
        kind = f"{kind}, a block for each {','.join(letter for letter, *_ in s.blocks)}"
    if s.name == "dense" and s.nonzero != total:
        kind = "no known structure" if s.nonzero is None else "no special structure"
    verb = "is" if s.nonzero == 1 else "are"
    count = f"{total:,} entries"
    bound = "at most " if s.at_most and s.nonzero else ""
    if s.nonzero == 0:
        return f"{kind}: all of its {count} are zero"
    if s.nonzero is not None and not (bound and s.nonzero == total):
        count = f"{bound}{s.nonzero:,} of its {total:,} entries {verb} not zero"
    return f"{kind}: {count}"


def remarks(a: Analysis, w: FormulaWriter, x: Input, s: Structure) -> list[Block]:
    """Remarks on entries for which the closed form is not finite, or differs from the numbers."""
    count = without_number(a, s, x) or 0
    entries = "one entry" if count == 1 else f"{count:,} entries"
    _, message = not_finite("The formula", f"for {entries}")
    texts = [message] * bool(count) + [text for _, text in matrix_notes(a, w, x, s)]
    return [Prose(words(sentence(text))) for text in texts]


def _by_index(w: FormulaWriter, x: Input) -> list[Block]:
    """The Jacobian by index, `∂out[i,j]/∂x[k,l] = δ[i,k] a[l,j]`, with its symbols explained."""
    result = by_index.jacobian(w, x)
    if result is None:
        return why_no_index(w, x)
    explained = by_index.signs(str(result), result.meanings)
    return [Table((Row((equality(result.left, result.right),)),)), *explained]


def why_no_index(w: FormulaWriter, x: Input) -> list[Block]:
    """Why the index notation is missing."""
    grad = w.read_off(x)
    return [] if grad is None else [Prose(words(_no_index_sentence(w, grad)))]


def _no_index_sentence(w: FormulaWriter, grad: Node) -> str:
    through = w.indices.holding_seed(grad)
    if not through:
        return "Written by index it would be too long to read."
    has = "have" if len(through) > 1 else "has"
    seed = w.problem.seed.name
    return f"By index it has no formula: {seed} goes into {listed(through)}, which {has} none."


def picture_of(a: Analysis, w: FormulaWriter, x: Input, s: Structure) -> list[Block]:
    """The sparsity pattern of a matrix that is too large to be shown; empty if it has no zeros."""
    out, grad = a.problem.out, w.read_off(x)
    total = out.numel * x.node.numel
    if grad is None or out.numel == 1 or s.nonzero in (0, total) or total > MOST_DRAWN:
        return []
    if a.jacobian(x).numeric:
        pattern = a.jacobian(x).matrix != 0
    else:
        pattern = jacobian_pattern(out, x.node, grad, a.problem.seed.node, w.names)
    if pattern is None:
        return []
    size = max(-(-out.numel // TALL), -(-x.node.numel // WIDE))
    cells = picture(pattern, size)
    if len({shade for row in cells for shade in row}) == 1:
        return []
    small = -(-max(pattern.shape) // FINE)
    fine = tuple("".join(map(str, row)) for row in picture(pattern, small))
    shades = {shade for row in cells for shade in row}
    meant = ", ".join(text for shade, text in enumerate(SHADES) if shade in shades)
    meant = meant if size > 1 else "· zero, █ not zero"
    drawn = (
        "solid where none of them is zero, faint where some are" if small > 1 else "solid if not 0"
    )
    return [Picture(cells, fine, _legend(size, meant), _legend(small, drawn))]


def _legend(size: int, extent: str) -> Line:
    of = "one entry" if size == 1 else f"{size}×{size} entries"
    return words(f"A cell is {of}: {extent}.")


def _readable(a: Analysis, w: FormulaWriter, x: Input) -> bool:
    """Whether entries are numbers, or short formulas; three of the first row are tested."""
    entry, columns = written.in_symbols(a, w, x), x.node.numel
    if entry is None or a.problem.out.numel * columns == 1:
        return True
    tried = (entry(0, c) for c in (0, columns // 2, columns - 1))
    widest = READABLE if columns == 1 else UNCUT
    return all(t is not UNWRITTEN and len(without_spaces(t.text)) <= widest for t in tried)


def _fits(a: Analysis, w: FormulaWriter, x: Input) -> bool:
    """Whether the entries of the first row are numbers, or short enough to fit on one line."""
    entry, columns = written.in_symbols(a, w, x), min(x.node.numel, SHOWN)
    return entry is None or sum(len(entry(0, c).text) for c in range(columns)) <= READABLE


def matrix(
    a: Analysis,
    w: FormulaWriter,
    x: Input,
    full: bool,
    precision: int,
    margin: bool = True,
    letter="J",
) -> Matrix[Formula]:
    """The matrix, called `letter`, with its labels; with a `margin` also the seed and seed times
    matrix.
    """
    out = a.problem.out
    most = _most(a, out.numel, x.node.numel, full)
    rows, rows_before = shown_indices(out.numel, most)
    columns, columns_before = shown_indices(x.node.numel, most)
    entry = written.in_symbols(a, w, x, precision)
    many = not full and len(columns) > FEW
    if entry and many and len(entry(rows[0], columns[0]).text) > written.WIDE:
        columns, columns_before = shown_indices(x.node.numel, FEW)
    part = part_of_matrix(a, w, x, rows, columns, precision, margin, letter)
    return part._replace(
        skipped_rows=(rows_before, out.numel - len(rows)),
        skipped_columns=(columns_before, x.node.numel - len(columns)),
    )


def part_of_matrix(
    a: Analysis,
    w: FormulaWriter,
    x: Input,
    rows: list[int],
    columns: list[int],
    precision: int,
    margin: bool = True,
    letter: str = "J",
) -> Matrix[Formula]:
    """The part of the matrix with these rows and columns."""
    out, seed = a.problem.out, a.problem.seed
    entry = written.in_symbols(a, w, x, precision)
    entries = written.of_rows(a, x, entry, rows, columns, precision)
    value, grad = (a.value(seed.node), a.grad_value(x)) if margin else (None, None)
    own, of_output = Name(seed.name, "seed"), Name(a.problem.out_name)
    of_input = Name(x.name, role_of(x))
    return Matrix(
        seed_name=typed(own) if margin else None,
        seed=_margin(seed.node, value, rows, precision) if margin else None,
        row_labels=tuple(element(of_output, multi_index(k, out.shape)) for k in rows),
        column_labels=tuple(element(of_input, multi_index(k, x.shape)) for k in columns),
        entries=entries,
        product_label=typed(w.gradient_of(x)),
        product=None if grad is None else written.numbers(np.ravel(grad)[columns], precision),
        product_name=typed(tree.Infix("·", own, Name(letter))),
        skipped_rows=(0, 0),
        skipped_columns=(0, 0),
        input_role=role_of(x),
        row_places=tuple(multi_index(k, out.shape) for k in rows),
        column_places=tuple(multi_index(k, x.shape) for k in columns),
    )


def _margin(seed: Node, value: Any, rows: list[int], precision: int) -> tuple[Formula, ...]:
    """The elements of the seed for each row: numbers, or `g[0,1]` if the seed is a symbol."""
    if value is None:
        name = Name(seed.attrs["name"], "seed")
        return tuple(element(name, multi_index(k, seed.shape)) for k in rows)
    return written.numbers(np.ravel(value)[rows], precision)


def _most(a: Analysis, rows: int, columns: int, full: bool) -> int:
    """The largest number of rows and columns to show; with `full` bounded by the limit of entries,
    and fewer if each row takes long.
    """
    entries, total = a.problem.limits.sizes["entries"], rows * columns
    if full and total <= entries:
        return total
    if max(rows, columns) > LONG:
        return BRIEF
    return max(isqrt(entries), SHOWN) if full else SHOWN


def _column_by_column(a: Analysis, w: FormulaWriter, x: Input, most: int) -> tuple[Table, ...]:
    """Seed times Jacobian written out for `most` columns, if it has no numbers."""
    grad = a.gradient(x)
    if grad is None or a.has_numbers(grad):
        return ()
    shown = min(x.node.numel, most)
    rows = [
        Row((line,), 1)
        for line in (shown_element(a, w, x, multi_index(k, x.shape)) for k in range(shown))
        if line is not None
    ]
    if not rows:
        return ()
    if shown < x.node.numel:
        rest = x.node.numel - shown
        so_on = f"… and so on for the other {rest:,}" if rest > 1 else "… and so on for the last"
        rows.append(Row((words(so_on),), 1))
    return (Table((Row((words(w.seed, "·J, column by column:"),)), *rows)),)


def _cost(a: Analysis, w: FormulaWriter, x: Input) -> Line:
    """The memory of the matrix at real sizes, compared with one VJP."""
    out = a.problem.out
    if not out.shape:
        return words(
            f"For a single number the Jacobian is one row, and {w.gradient_name(x)} is that row in "
            f"the shape of {x.name}."
        )
    if not _has_any_size(a):
        return words("backward never builds this matrix: one pass back gives seed times Jacobian.")
    size = size_words(LARGE ** (out.ndim + x.node.ndim), item_size("float", a.dtype))
    return words(
        f"If every dimension were {LARGE}, this matrix would have {size}. "
        "backward never builds it: one pass back gives seed times Jacobian."
    )


@once
def _has_any_size(a: Analysis) -> bool:
    """Whether the program accepts other sizes, unlike one with `cross`."""
    p = a.problem
    larger = {x.name: (OTHER,) * len(x.shape) for x in p.inputs.values()}
    return is_large(p) or if_applicable(lambda: at_shapes(p, larger)) is not None
