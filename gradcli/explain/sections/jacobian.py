"""The Jacobian of the output with respect to an input, the seed beside it and seed times Jacobian below."""

from collections.abc import Iterable
from typing import Any

from ...backends.numeric import Evaluator
from ...graph import Node
from ...graph.shapes import Shape, numel
from ...language.problem import Input
from ...lazy import np
from ...notation import tree
from ...notation.structure import Structure, jacobian_structure
from ...notation.tree import Token
from ..analysis import Analysis
from ..blocks import Block, Line, Matrix, Prose, Row, Section, Table, plain
from ..elide import places
from ..numbers import number_text
from ..wording import Wording, role_of

CONFIRMED = 4_096  # entries up to which the structure is held against the matrix itself
LARGE = 1_000  # what a size is in "for real sizes"


def jacobian(a: Analysis, w: Wording, x: Input, full: bool, precision: int) -> Section:
    """The Jacobian for one input."""
    out = a.problem.out
    rows, columns = out.numel, x.node.numel
    title = plain(f"Jacobian of {a.problem.out_name} with respect to ", Token(x.name, role_of(x)))
    remark = plain(f"{'×'.join(map(str, (*out.shape, *x.shape))) or '()'}, as a matrix {rows}×{columns}")
    blocks: list[Block] = [Prose(_structure_line(structure_of(a, w, x), rows * columns))]
    if a.gradient(x) is not None and rows and columns:
        blocks.append(_matrix(a, w, x, full, precision))
        blocks += _column_by_column(a, w, x)
        blocks.append(Prose(_cost(a, w, x)))
    return Section("jacobian", title, remark, tuple(blocks))


def structure_of(a: Analysis, w: Wording, x: Input) -> Structure:
    """The structure of the Jacobian, held against its numbers, or against those at random values, while it is small."""
    grad = a.gradient(x)
    if grad is None:
        return Structure("zero", None, 0, a.problem.out.numel * x.node.numel)
    jacobian = a.jacobian(x)
    matrix = None
    if numel(jacobian.out) * numel(jacobian.x) <= CONFIRMED:
        matrix = jacobian.matrix() if jacobian.numeric else _at_random_values(a, grad)
    return jacobian_structure(a.problem.out, x.node, grad, a.problem.seed.node, w.names, matrix)


def _at_random_values(a: Analysis, grad: Node) -> Any:
    from .checks import random_values

    out, seed = a.problem.out, a.problem.seed.node
    varying = Evaluator(random_values(a.problem), limits=a.problem.limits).varying(grad, seed)
    eye = np.eye(out.numel)
    return np.array([np.ravel(varying(row.reshape(out.shape))) for row in eye])


def _structure_line(s: Structure, total: int) -> Line:
    kind = {"row": "one row", "dense": "dense"}.get(s.name, s.name)
    formula = (*tree.tokens(s.formula), Token(f": {kind}; ")) if s.formula is not None else (Token(f"{kind}: "),)
    if s.nonzero is None:
        return (*formula, Token(f"{total:,} entries"))
    return (*formula, Token(f"{s.nonzero:,} of its {total:,} entries {'is' if s.nonzero == 1 else 'are'} not zero"))


def _matrix(a: Analysis, w: Wording, x: Input, full: bool, precision: int) -> Matrix:
    out, seed = a.problem.out, a.problem.seed
    jac = a.jacobian(x)
    rows, rows_before = places(out.numel, 10**9 if full else 12)
    columns, columns_before = places(x.node.numel, 10**9 if full else 12)
    entries = tuple(_entries(jac.row(k)[columns], jac.numeric, precision) for k in rows)
    value, grad = a.value(seed.node), a.grad_value(x)
    return Matrix(
        seed_name=seed.name,
        seed=None if value is None else _entries(np.ravel(value)[rows], True, precision, "0"),
        row_labels=tuple(label(a.problem.out_name, out.shape, k) for k in rows),
        column_labels=tuple(label(x.name, x.shape, k) for k in columns),
        entries=entries,
        product_label=f"{x.name}.grad",
        product=None if grad is None else _entries(np.ravel(grad)[columns], True, precision, "0"),
        product_name=f"{seed.name}·J",
        skipped_rows=(rows_before, out.numel - len(rows)),
        skipped_columns=(columns_before, x.node.numel - len(columns)),
        input_role=role_of(x),
    )


def _entries(values: Iterable, numeric: bool, precision: int, zero: str = "·") -> tuple[str, ...]:
    if numeric:
        return tuple(zero if v == 0 else number_text(v, precision) for v in values)
    from ...backends.symbolic import element_text

    return tuple("·" if v == 0 else element_text(v) for v in values)


def label(name: str, shape: Shape, flat: int) -> str:
    """`a[0,1]`: the name of one element."""
    if not shape:
        return name
    return f"{name}[{','.join(str(k) for k in np.unravel_index(flat, shape))}]"


def _column_by_column(a: Analysis, w: Wording, x: Input) -> tuple[Table, ...]:
    """seed times Jacobian, written out for the first columns, where there are no numbers to show it."""
    grad = a.gradient(x)
    if a.known(grad) or a.problem.out.numel * x.node.numel > CONFIRMED:
        return ()
    from ...backends.symbolic import element_text

    elements = np.ravel(a.symbolic(grad)[0])
    shown = min(len(elements), 3)
    rows = [
        Row((plain(Token(label(f"{x.name}.grad", x.shape, k), role_of(x)), f" = {element_text(elements[k])}"),), 1) for k in range(shown)
    ]  # fmt: skip
    if shown < len(elements):
        rows.append(Row((plain(f"… and so on for the other {len(elements) - shown}"),), 1))
    head = Row((plain(w.seed, "·J, column by column:"),))
    return (Table((head, *rows)),)


def _cost(a: Analysis, w: Wording, x: Input) -> Line:
    """What the matrix would cost for real sizes, against one VJP."""
    out = a.problem.out
    if not out.shape:
        return plain(f"For a single number the Jacobian is one row, and {x.name}.grad is that row in the shape of {x.name}.")
    entries = LARGE ** (out.ndim + x.node.ndim)
    digits = len(str(entries)) - 1
    power = str(digits).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    size = _bytes(entries * 8)
    return plain(
        f"If every dimension were {LARGE}, this matrix would have 10{power} entries ({size}). backward never builds it: one pass back gives seed times Jacobian."
    )


def _bytes(count: int) -> str:
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB", "EB"):
        if count < 1000 or unit == "EB":
            return f"{count:,} {unit}"
        count //= 1000
    raise AssertionError


