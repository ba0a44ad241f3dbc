"""A Jacobian cut to a width: which columns are shown, and their texts; and its sparsity pattern."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..explanation.blocks import Formula, Matrix, Picture
from ..explanation.phrases import without_spaces
from .ascii import in_ascii
from .environment import Environment

LONGEST_ENTRY, SHORTEST_ENTRY = 26, 8
GAP = 5  # characters that are not entries if one column is shown
GAPS = 7  # characters that are not entries if two columns are shown
GAP_AFTER = 2  # spaces after a column
SHADES = "·▒█"


class Cut(NamedTuple):
    """The visible indices of rows and columns, with None for gaps, and a sentence on these."""

    columns: list[int | None]
    rows: list[int | None]
    left_out: str


def texts(matrix: Matrix[Formula]) -> Matrix[str]:
    """The matrix with the text of each cell; "" for a part without a name."""
    return Matrix(*map(_text, matrix))


def _text(part: Any) -> Any:
    if isinstance(part, Formula):
        return part.text
    return tuple(map(_text, part)) if isinstance(part, tuple) else part


def in_signs_of_ascii(matrix: Matrix[str]) -> Matrix[str]:
    """The matrix with its cells in ASCII, which may be longer."""
    cells = ("column_labels", "row_labels", "entries", "seed", "product", "tangent", "result")
    return matrix._replace(**{name: _spelled(getattr(matrix, name)) for name in cells})


def _spelled(part: Any) -> Any:
    return tuple(map(_spelled, part)) if isinstance(part, tuple) else part and in_ascii(part)


def fitted(matrix: Matrix[str], room: int, longest: int) -> Matrix[str]:
    """The matrix, without spaces around / and ** in its entries if it fits into `room`, or its
    entries into `longest` characters, only without these spaces.
    """
    entries = tuple(tuple(map(without_spaces, row)) for row in matrix.entries)
    without = matrix._replace(entries=entries)
    fits = _width(without) <= room < _width(matrix)
    uncut = _longest(without) <= longest < _longest(matrix)
    return without if fits or uncut else matrix


def _longest(matrix: Matrix[str]) -> int:
    return max((len(entry) for row in matrix.entries for entry in row), default=0)


def _width(matrix: Matrix[str]) -> int:
    columns = range(len(matrix.column_labels))
    return sum(column_width(matrix, k) + GAP_AFTER for k in columns) - GAP_AFTER


def column_width(matrix: Matrix[str], k: int) -> int:
    """The width of column k, in characters."""
    lines = [*matrix.entries, *(n for n in (matrix.product, matrix.tangent) if n is not None)]
    return max(len(line[k]) for line in [matrix.column_labels, *lines])


def cut(
    matrix: Matrix[Any],
    room: float | None,
    environment: Environment,
    width: Callable[[Matrix[Any], int], float] = column_width,
) -> Cut:
    """The columns that fit into `room` characters (None: no limit): the first and the last ones, or
    only the first; `width` returns the width of a column.
    """
    count = len(matrix.column_labels)
    widths = [width(matrix, k) for k in range(count)] if room is not None else []
    keep = list(range(count))
    skipped = matrix.skipped_columns[1]
    while (
        room is not None
        and len(keep) > 1
        and sum(widths[k] + GAP_AFTER for k in keep) - GAP_AFTER
        > room - (GAP_AFTER + 1) * (skipped > 0 or len(keep) < count)
    ):
        keep.pop(len(keep) - len(keep) // 3 - 1)
    columns = _with_gap(keep, matrix.skipped_columns)
    columns += [None] if keep and keep[-1] < count - 1 else []
    rows = _with_gap([*range(len(matrix.row_labels))], matrix.skipped_rows)
    hidden = (matrix.skipped_rows[1], "row"), (skipped + count - len(keep), "column")
    parts = [f"{n:,} {what}{'s' * (n > 1)}" for n, what in hidden if n]
    left_out = f"… {' and '.join(parts)} left out ({environment.shows_more})" if parts else ""
    return Cut(columns, rows, environment.say(left_out))


def _with_gap(keep: list[int], skipped: tuple[int, int]) -> list[int | None]:
    """`keep` with None where indices are missing, here or in the matrix."""
    out: list[int | None] = []
    for before, k in zip([-1, *keep], keep, strict=False):
        if k != before + 1 or (skipped[1] and k == skipped[0]):
            out.append(None)
        out.append(k)
    return out


def in_groups(columns: list[int | None], matrix: Matrix[str], room: int) -> list[list[int | None]]:
    """The columns in groups that fit into `room` characters."""
    groups: list[list[int | None]] = [[]]
    used = 0
    for k in columns:
        width = 2 + (1 if k is None else column_width(matrix, k))
        if groups[-1] and used + width > room:
            groups.append([])
            used = 0
        groups[-1].append(k)
        used += width
    return groups


def longest_entry(room: int) -> int:
    """The largest length of an entry with which two columns fit into `room` characters, or one
    column if two would be too narrow.
    """
    half = (room - GAPS) // 2
    widest = half if half >= SHORTEST_ENTRY else room - GAP
    return max(SHORTEST_ENTRY, min(LONGEST_ENTRY, widest))


def shortened(
    matrix: Matrix[str], longest: int = LONGEST_ENTRY, ellipsis: str = "…"
) -> Matrix[str]:
    """The matrix with entries truncated to the width of a column."""

    def cells(row: tuple[str, ...] | None) -> tuple[str, ...] | None:
        end = longest - len(ellipsis)
        return row and tuple(c if len(c) <= longest else c[:end] + ellipsis for c in row)

    return matrix._replace(
        entries=tuple(cells(row) or () for row in matrix.entries),
        product=cells(matrix.product),
        tangent=cells(matrix.tangent),
    )


def drawn(picture: Picture) -> str:
    """A sparsity pattern in characters, two per cell, which makes cells nearly square."""
    return "\n".join("".join(2 * SHADES[shade] for shade in row) for row in picture.cells)
