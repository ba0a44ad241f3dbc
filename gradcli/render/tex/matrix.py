"""Jacobians as LaTeX. Long entries get names, which are defined below the matrix; a matrix wider
than a page is cut, or split into several.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from ...explanation.blocks import EQUALS, ZERO, Formula, Line, Matrix
from ...notation.tree import Indexed, Name, Number
from ...notation.typeset.latex import latex, latex_width, plain
from ..environment import Environment
from ..matrix import Cut, cut
from .lines import ROOM, array_of, displayed

LONG = 9  # characters of an entry that gets a name if there is not enough space for all
COLUMN_GAP = 2
LETTERS = ("J", "K", "E", "C", "M", "P", "Q", "R")
Cells = tuple[Formula, ...]


class MatrixLines(NamedTuple):
    """Arrays, the names in them with the entries that they denote, a remark on omitted parts."""

    arrays: list[str]
    definitions: list[Line]
    left_out: str


def render_matrix(block: Matrix[Formula], environment: Environment) -> MatrixLines:
    """Seed, labels, entries, and seed times matrix; a tangent above, its product at the right."""
    room = ROOM.get(environment.page, ROOM["standalone"])
    block, names = _with_entry_names(block, room - _label_width(block))
    left = room - _label_width(block)
    shown = cut(block, None if environment.full else left, environment, _column_width)
    arrays = [displayed(_array(block, part)) for part in _split(block, shown, left)]
    definitions: list[Line] = [(name, EQUALS, entry) for entry, name in names.items()]
    return MatrixLines(arrays, definitions, plain(shown.left_out))


def set_cell(cell: Formula | None) -> str:
    """A cell of a matrix, in math mode."""
    return "" if cell is None else "\\cdot" if cell == ZERO else latex(cell.tree)


# ---- available space -----------------------------------------------------------------------------


def _with_entry_names(
    block: Matrix[Formula], room: float
) -> tuple[Matrix[Formula], dict[Formula, Formula]]:
    """The matrix with names for its long entries if not all fit, and the name of each."""
    if sum(_column_width(block, k) + COLUMN_GAP for k in range(len(block.column_labels))) <= room:
        return block, {}
    rows = (*block.entries, block.product or (), block.tangent or ())
    used = {*re.findall(r"\w+", " ".join(cell.text for cell in chain(block.row_labels, *rows)))}
    letter = next(c for c in (*LETTERS, "entry") if not any(re.match(rf"{c}\d*$", u) for u in used))
    names: dict[Formula, Formula] = {}

    def cells(row: Cells | None) -> Cells | None:
        return row and tuple(map(name, row))

    def name(cell: Formula) -> Formula:
        if cell not in names and _width(cell) <= LONG:
            return cell
        number = Number(len(names) + 1)
        return names.setdefault(cell, Formula(Indexed(Name(letter), (number,))))

    entries = tuple(cells(row) or () for row in block.entries)
    product, tangent = cells(block.product), cells(block.tangent)
    return block._replace(entries=entries, product=product, tangent=tangent), names


def _split(block: Matrix[Formula], shown: Cut, room: float) -> Iterator[Cut]:
    """The columns in groups that fit, each with all rows."""
    part: list[int | None] = []
    total = 0.0
    for k in shown.columns:
        width = COLUMN_GAP + (1 if k is None else _column_width(block, k))
        if part and total + width > room:
            yield shown._replace(columns=part)
            part, total = [], 0.0
        part.append(k)
        total += width
    yield shown._replace(columns=part)


def _width(cell: Formula | None) -> float:
    return 0 if cell is None else 1 if cell == ZERO else latex_width(cell.tree)


def _column_width(block: Matrix[Formula], k: int) -> float:
    lines = [block.column_labels, *block.entries, block.product or (), block.tangent or ()]
    return max(_width(line[k]) for line in lines if line)


def _label_width(block: Matrix[Formula]) -> float:
    """The width of the labels to the left and right of the entries."""
    edges = (
        (block.seed_name, *(block.seed or ()), *[block.product_name] * bool(block.product)),
        (*block.row_labels, *[block.product_label] * bool(block.product)),
        (block.result_name, *(block.result or ())),
    )
    widths = [max(map(_width, edge)) for edge in edges]
    return sum(w + COLUMN_GAP for w in widths if w)


# ---- rows ----------------------------------------------------------------------------------------


def _array(block: Matrix[Formula], shown: Cut) -> str:
    rows = [*_header_rows(block, shown), *_body_rows(block, shown)]
    if block.product is not None:
        name, label = set_cell(block.product_name), set_cell(block.product_label)
        rows.append(["\\hline " + name, label, *_picked(block.product, shown), ""])
    edges = (bool(block.seed_name), True, *[True] * len(shown.columns), bool(block.result_name))
    kept = [_fitting_cells(row, edges) for row in rows]
    columns = "r|" * edges[0] + "l|" + "r" * len(shown.columns) + "|r" * edges[-1]
    return array_of(kept, columns)


def _header_rows(block: Matrix[Formula], shown: Cut) -> Iterator[list[str]]:
    """The labels of columns, and a tangent."""
    labels = _picked(block.column_labels, shown)
    yield [set_cell(block.seed_name), "", *labels, set_cell(block.result_name)]
    if block.tangent is not None:
        yield ["", set_cell(block.tangent_name), *_picked(block.tangent, shown), ""]


def _body_rows(block: Matrix[Formula], shown: Cut) -> Iterator[list[str]]:
    """The rows of the matrix, each with its element of the seed and of the result."""
    rule = "\\hline "
    for r in shown.rows:
        if r is None:
            yield [rule + "\\vdots", "\\vdots", *["\\vdots"] * len(shown.columns), "\\vdots"]
        else:
            weight, result = (set_cell(n[r]) if n else "" for n in (block.seed, block.result))
            entries = _picked(block.entries[r], shown)
            yield [rule + weight, set_cell(block.row_labels[r]), *entries, result]
        rule = ""


def _picked(cells: Sequence[Formula], shown: Cut) -> list[str]:
    return ["\\cdots" if k is None else set_cell(cells[k]) for k in shown.columns]


def _fitting_cells(row: list[str], edges: Sequence[bool]) -> list[str]:
    """The cells of a row that fit; a rule above it is kept."""
    rule = "\\hline " if row[0].startswith("\\hline ") else ""
    cells = [cell for cell, keep in zip([row[0].removeprefix(rule), *row[1:]], edges) if keep]
    return [rule + cells[0], *cells[1:]]
