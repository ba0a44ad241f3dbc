"""The Jacobian of the output with respect to an input, the seed beside it and seed times Jacobian
below.
"""

from typing import Any

from ...backends.numeric import Evaluator
from ...graphs import Node
from ...graphs.shapes import Shape, numel
from ...language.problem import Input
from ...lazy import np
from ...notation import tree
from ...notation.element import short, written_out
from ...notation.structure import Structure, jacobian_structure
from ...notation.tree import Token
from .. import entries as texts
from ..analysis import Analysis
from ..blocks import Block, Line, Matrix, Prose, Row, Section, Table, plain, words
from ..elide import places
from ..wording import Wording, role_of, shape_text

CONFIRMED = 4_096  # entries up to which the structure is held against the matrix itself
LARGE = 1_000  # what a size is in "for real sizes"


def jacobian(a: Analysis, w: Wording, x: Input, full: bool, precision: int) -> Section:
    """The Jacobian for one input."""
    out = a.problem.out
    rows, columns = out.numel, x.node.numel
    title = plain(f"Jacobian of {a.problem.out_name} with respect to ", Token(x.name, role_of(x)))
    remark = plain(
        f"{shape_text((*out.shape, *x.shape))}"
        + (f", as a matrix {rows}×{columns}" if (out.ndim, x.node.ndim) != (1, 1) else "")
    )
    blocks: list[Block] = [Table((structure_row(structure_of(a, w, x), rows * columns),))]
    if a.gradient(x) is not None and rows and columns:
        blocks.append(matrix(a, w, x, full, precision))
        blocks += _column_by_column(a, w, x)
        blocks.append(Prose(_cost(a, w, x)))
    return Section("jacobian", title, remark, tuple(blocks))


def structure_of(a: Analysis, w: Wording, x: Input) -> Structure:
    """The structure of the Jacobian, held against its numbers, or against those at random values,
    while it is small.
    """
    grad = a.gradient(x)
    if grad is None:
        return Structure("zero", None, 0, a.problem.out.numel * x.node.numel)
    jacobian = a.jacobian(x)
    matrix = None
    if numel(jacobian.out) * numel(jacobian.x) <= CONFIRMED:
        matrix = jacobian.matrix() if jacobian.numeric else at_random_values(a, grad)
    if matrix is not None and not np.all(np.isfinite(matrix)):
        matrix = None
    shown = w.gradient(x)
    assert shown is not None
    found = jacobian_structure(a.problem.out, x.node, shown, a.problem.seed.node, w.names, matrix)
    if jacobian.numeric and matrix is not None:
        return found._replace(nonzero=int(np.count_nonzero(matrix)))
    return found


def at_random_values(a: Analysis, grad: Node) -> Any:
    """The matrix whose rows a gradient gives, at the values of the inputs, random where they have
    none.
    """
    from .checks import random_values

    out, seed = a.problem.out, a.problem.seed.node
    varying = Evaluator(random_values(a.problem), limits=a.problem.limits).varying(grad, seed)
    eye = np.eye(out.numel)
    return np.array([np.ravel(varying(row.reshape(out.shape))) for row in eye])


KINDS = {"row": "one row", "kronecker": "Kronecker product"}


def structure_row(s: Structure, total: int) -> Row:
    """`diag(2 * a)    diagonal: 6 of its 36 entries are not zero`."""
    kind = KINDS.get(s.name, s.name)
    if s.name == "dense" and s.nonzero is not None and s.nonzero < total:
        kind = "no special structure"
    verb = "is" if s.nonzero == 1 else "are"
    count = f"{total:,} entries"
    if s.nonzero is not None:
        count = f"{s.nonzero:,} of its {total:,} entries {verb} not zero"
    said = words(f"{kind}: {count}")
    return Row((said,) if s.formula is None else (tuple(tree.tokens(s.formula)), said))


def matrix(
    a: Analysis, w: Wording, x: Input, full: bool, precision: int, margin: bool = True, letter="J"
) -> Matrix:
    """The matrix, called `letter`, with its labels; with a `margin` the seed beside it and seed
    times matrix below.
    """
    out, seed = a.problem.out, a.problem.seed
    rows, rows_before = places(out.numel, 10**9 if full else 12)
    columns, columns_before = places(x.node.numel, 10**9 if full else 12)
    entries = texts.rows(a, w, x, rows, columns, precision)
    value, grad = (a.value(seed.node), a.grad_value(x)) if margin else (None, None)
    return Matrix(
        seed_name=seed.name if margin else "",
        seed=None if value is None else texts.numbers(np.ravel(value)[rows], precision),
        row_labels=tuple(label(a.problem.out_name, out.shape, k) for k in rows),
        column_labels=tuple(label(x.name, x.shape, k) for k in columns),
        entries=entries,
        product_label=w.gradient_name(x),
        product=None if grad is None else texts.numbers(np.ravel(grad)[columns], precision),
        product_name=f"{seed.name}·{letter}",
        skipped_rows=(rows_before, out.numel - len(rows)),
        skipped_columns=(columns_before, x.node.numel - len(columns)),
        input_role=role_of(x),
    )


def label(name: str, shape: Shape, flat: int) -> str:
    """`a[0,1]`: the name of one element."""
    if not shape:
        return name
    return f"{name}[{','.join(str(k) for k in np.unravel_index(flat, shape))}]"


def _column_by_column(a: Analysis, w: Wording, x: Input) -> tuple[Table, ...]:
    """seed times Jacobian, written out for the first columns, where there are no numbers to show
    it.
    """
    grad = a.gradient(x)
    if grad is None or a.known(grad):
        return ()
    shown = min(x.node.numel, 3)
    rows = [
        Row((line,), 1)
        for line in (element_line(a, w, x, k) for k in range(shown))
        if line is not None
    ]
    if not rows:
        return ()
    if shown < x.node.numel:
        rest = x.node.numel - shown
        so_on = f"… and so on for the other {rest:,}" if rest > 1 else "… and so on for the last"
        rows.append(Row((words(so_on),), 1))
    return (Table((Row((words(w.seed, "·J, column by column:"),)), *rows)),)


def element_line(a: Analysis, w: Wording, x: Input, flat: int) -> Line | None:
    """`x.grad[0,0] = 1·1 + 2·1 + 3·1 + 4·1 = 10`; None where it cannot be written out."""
    grad = a.gradient(x)
    assert grad is not None
    place = tuple(int(k) for k in np.unravel_index(flat, x.shape)) if x.shape else ()
    written = written_out(w.without_implicit_seed(grad), place, w.names, a.value)
    if written.symbols is None and written.numbers is None and written.total is None:
        return None
    line: Line = (Token(label(w.gradient_name(x), x.shape, flat), role_of(x)),)
    for part in (written.symbols, written.numbers):
        if part is not None:
            line += (Token(" = "), *tree.tokens(part))
    return line + (
        (Token(" = "), Token(short(written.total), "number")) if written.total is not None else ()
    )


def _cost(a: Analysis, w: Wording, x: Input) -> Line:
    """What the matrix would cost for real sizes, against one VJP."""
    out = a.problem.out
    if not out.shape:
        return words(
            f"For a single number the Jacobian is one row, and {w.gradient_name(x)} is that row in "
            f"the shape of {x.name}."
        )
    entries = LARGE ** (out.ndim + x.node.ndim)
    digits = len(str(entries)) - 1
    power = str(digits).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    size = _bytes(entries * 8)
    return words(
        f"If every dimension were {LARGE}, this matrix would have 10{power} entries ({size}). "
        "backward never builds it: one pass back gives seed times Jacobian."
    )


def _bytes(count: int) -> str:
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB", "EB"):
        if count < 1000 or unit == "EB":
            return f"{count:,} {unit}"
        count //= 1000
    raise AssertionError
