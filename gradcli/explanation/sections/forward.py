"""The forward pass: each operation with its source text."""

from ..analysis import Analysis
from ..blocks import Row, Section, Table, Tensor, equality, plain, words
from ..formulas import by_index
from ..formulas.formula_writer import FormulaWriter
from ..phrases import middle, shape_text


def forward(a: Analysis, w: FormulaWriter, most: int) -> Section:
    """A row for every operation, in order; at most about `most` of them."""
    rows = middle(
        w.source.operations(),
        most,
        lambda node: _row(node, a, w),
        lambda n: Row((words(f"… {n:,} more operations"),)),
    )
    return Section("forward", words("Forward"), (), (Table(tuple(rows)), *_in_indices(a, w)))


def _row(node, a: Analysis, w: FormulaWriter) -> Row:
    value = a.value(node)
    cells = (w.source.titled(node, whole=True), plain(shape_text(node.shape)))
    return Row(cells if value is None else (*cells, Tensor(value)))


def _in_indices(a: Analysis, w: FormulaWriter) -> tuple[Table, ...]:
    """The output in index notation, if it has no value."""
    if a.has_numbers(a.problem.out):
        return ()
    written = by_index.output(w)
    return (Table((Row((equality(written.left, written.right),)),)),) if written is not None else ()
