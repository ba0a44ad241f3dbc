"""Trimmed documents, for answers that take too long to lay out."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any

from ..explanation.blocks import (
    Block,
    Document,
    Formula,
    Graph,
    Line,
    Matrix,
    Note,
    Prose,
    Row,
    Section,
    Step,
    Table,
    words,
)
from ..explanation.phrases import middle, shown_indices
from ..notation.tree import Token

FEW = 12  # rows, columns and items that are kept
NOTE = "not everything is shown, as the layout would take longer (--limit seconds=N)."


def trimmed(document: Document, tensors: bool) -> Document:
    """The document with the first and last parts of long tables and lists, and a note on that;
    `tensors`: elements of tensors are omitted, too.
    """
    shorter = _shortened(document)
    if not tensors and _size(shorter) == _size(document):
        return document
    note = _section("notes", words("Left out"), Note("not-shown", words(NOTE)))
    return shorter._replace(sections=(*shorter.sections, note), more=())


def _size(part: Any) -> int:
    """The number of pieces in a document or a part of one."""
    inside = isinstance(part, tuple) and not isinstance(part, Formula | Token)
    return sum(map(_size, part)) if inside else 1


def _shortened(document: Document) -> Document:
    answers, left = document.answers[:FEW], len(document.answers) - FEW
    more = (_section("answer", (), Prose(words(_omitted(left)))),) if left > 0 else ()
    sections = chain.from_iterable(
        map(_first_sections, groupby(document.sections, lambda s: s.name))
    )
    return document._replace(answers=answers, sections=(*more, *sections))


def _section(name: str, title: Line, block: Block) -> Section:
    return Section(name, title, (), (block,))


def _first_sections(named: tuple[str, Iterable[Section]]) -> Iterator[Section]:
    """The first sections with this name."""
    name, sections = named[0], [*named[1]]
    for section in sections[:FEW]:
        yield section._replace(blocks=_blocks(section.blocks))
    if len(sections) > FEW:
        yield _section(name, (), Prose(words(_omitted(len(sections) - FEW))))


def _blocks(blocks: Sequence[Block]) -> tuple[Block, ...]:
    return tuple(middle(blocks, 2 * FEW, _block, lambda n: Note("", words(_omitted(n)))))


def _block(block: Block) -> Block:
    match block:
        case Matrix():
            return _matrix(block)
        case Table():
            return Table(_rows(block.rows))
        case Step():
            return block._replace(sent=_rows(block.sent))
        case Graph():
            return block._replace(passes=())
    return block


def _rows(rows: Sequence[Row]) -> tuple[Row, ...]:
    return tuple(middle(rows, FEW, lambda row: row, lambda n: Row((words(_omitted(n)),))))


def _omitted(count: int) -> str:
    return f"… {count:,} more"


def _matrix(block: Matrix[Any]) -> Matrix[Any]:
    """The first and last rows and columns; earlier omissions are between these."""
    rows, rows_before = shown_indices(len(block.row_labels), FEW)
    columns, columns_before = shown_indices(len(block.column_labels), FEW)
    by_rows = ("seed", "row_labels", "row_places", "result")
    by_columns = ("product", "column_labels", "column_places", "tangent")
    kept = {name: _picked(getattr(block, name), rows) for name in by_rows}
    kept |= {name: _picked(getattr(block, name), columns) for name in by_columns}
    return block._replace(
        **kept,
        entries=tuple(_picked(block.entries[k], columns) for k in rows),
        skipped_rows=_skipped(block.skipped_rows, len(block.row_labels) - len(rows), rows_before),
        skipped_columns=_skipped(
            block.skipped_columns, len(block.column_labels) - len(columns), columns_before
        ),
    )


def _picked(cells: Any, at: Sequence[int]) -> Any:
    return cells and tuple(cells[k] for k in at)


def _skipped(before: tuple[int, int], count: int, head: int) -> tuple[int, int]:
    return (head, before[1] + count) if count else before
