"""Line breaking of formulas: possible breaks, and estimated widths.

A width is a number of characters. A formula is broken before an operator at the lowest nesting of
brackets. A fraction or root that is too wide for a line is written inline.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from ...budget import tick
from .pieces import (
    ABOVE,
    ABSOLUTE,
    BELOW,
    BELOW_GROUP,
    CASES,
    FLOOR,
    FRACTION,
    MATRIX,
    NORM,
    ROOT,
    TALL,
    TIMES,
    UNDER,
    Digits,
    Function,
    Identifier,
    Mark,
    Piece,
    Sign,
    Words,
    laid_out,
)

SMALL = 0.7  # relative size of an index or exponent
WIDTHS = {
    TIMES.text: 0.2, "⋅": 1.4, "(": 0.7, ")": 0.7, "[": 0.6, "]": 0.6, ",": 0.8, "⊤": 1.0, "∑": 2.5,
}  # fmt: skip
OPERATOR = 2.2  # including the space around it
TALL_BRACKET = 1.4
CELL_GAP = 1.8
RANKS = {  # operators that a line may begin with; lower ranks are preferred
    **dict.fromkeys((";", "=", "<", ">", "≤", "≥", "≠"), 0),
    **dict.fromkeys(("+", "−", "∨", "∧"), 1), ",": 2,
    **dict.fromkeys(("⊙", "⋅", "⊗", "/", TIMES.text), 3),
}  # fmt: skip
LAYOUT_SHARES = (1.0, 0.75, 0.5)  # shares of a line that a layout may take, tried in this order
INDENT = 2.0  # of a continuation line
CALLS = {ROOT: "sqrt", FLOOR: "floor", ABSOLUTE: "abs", NORM: "norm"}
# Costs: of a break for each bracket around it, of a line, of a character beyond the width.
DEPTH, LINE, OVERFULL = 3.0, 5.0, 100.0


def in_lines(result: Sequence[Piece], room: float) -> list[list[Piece]]:
    """Pieces broken into lines that are no wider than `room`, if possible."""
    lines: list[list[Piece]] = []
    for share in LAYOUT_SHARES:
        built = _with_inline_layouts(result, share * room)
        places = _cheapest(built, room - INDENT)
        lines = [built[start:end] for start, end in pairwise(places)]
        if max(map(width, lines)) <= room:
            break
    return [line if not k else _continued(line) for k, line in enumerate(lines)]


def _continued(line: list[Piece]) -> list[Piece]:
    """A continuation line; a product sign at its beginning is made visible."""
    return [Sign("⋅"), *line[1:]] if line[0] == TIMES else line


def _cheapest(built: Sequence[Piece], room: float) -> list[int]:
    """The positions at which lines begin, and the end, with the least total cost."""
    costs = _costs(built)
    places = [0, *(k for k, cost in enumerate(costs) if k and cost is not None), len(built)]
    widths = [0.0, *accumulate(width(built[a:b]) for a, b in pairwise(places))]
    # for each break: the least cost up to it, and the break at which the line before it begins
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(places)):
        choices: list[tuple[float, int]] = []
        for start in range(end - 1, -1, -1):
            over = max(0.0, widths[end] - widths[start] - room)
            if over and choices:
                break
            broken = LINE + (costs[places[start]] or 0) if start else 0
            choices.append((best[start][0] + broken + OVERFULL * over, start))
        best.append(min(choices))
    result, k = [len(built)], len(places) - 1
    while k:
        k = best[k][1]
        result.append(places[k])
    return result[::-1]


def _costs(built: Sequence[Piece]) -> list[float | None]:
    """The cost of a break before each piece: the nesting of brackets and the rank of the operator.
    None inside a layout, and before an operator without a left operand.
    """
    costs: list[float | None] = []
    brackets = marks = 0
    before: Piece | None = None
    for piece in built:
        text = piece.text if isinstance(piece, Sign) else ""
        behind = before.text if before in (Sign(","), Sign(";")) else ""
        rank = RANKS.get(behind or text)
        able = not marks and (behind or (text not in (",", ";") and _ends_operand(before)))
        costs.append(DEPTH * brackets + rank if able and rank is not None else None)
        brackets += (text in ("(", "[")) - (text in (")", "]"))
        if isinstance(piece, Mark):
            marks += (piece.place == "open") - (piece.place == "close")
        before = piece
    return costs


def _ends_operand(before: Piece | None) -> bool:
    """Whether a piece can be the end of a left operand."""
    if isinstance(before, Mark):
        return before.place == "close"
    return before is not None and (not isinstance(before, Sign) or before.text in ")]⊤∞𝟏𝟎⋯")


# ---- layouts that are too wide -------------------------------------------------------------------


def _with_inline_layouts(result: Sequence[Piece], room: float) -> list[Piece]:
    """The pieces, with layouts that are wider than a line written inline."""
    built = [*result]
    k = 0
    while k < len(built):
        piece = built[k]
        if isinstance(piece, Mark) and piece.place == "open":
            parts, end = _parts(built, k)
            if width(built[k : end + 1]) <= room - INDENT:
                k = end
            elif (instead := _inline(piece.layout, parts)) is not None:
                built[k : end + 1] = instead
                continue
            else:
                k = end
        k += 1
    return built


def _parts(built: Sequence[Piece], start: int) -> tuple[list[list[Piece]], int]:
    """The parts of the layout that opens at `start`, and the position where it closes."""
    parts: list[list[Piece]] = [[]]
    depth = 0
    for k in range(start, len(built)):
        piece = built[k]
        if isinstance(piece, Mark):
            depth += (piece.place == "open") - (piece.place == "close")
            if not depth:
                return parts, k
            if depth == 1 and piece.place in ("next", "row"):
                parts.append([])
                continue
        if k > start:
            parts[-1].append(piece)
    raise AssertionError("a layout that is not closed")


def _inline(layout: str, parts: list[list[Piece]]) -> list[Piece] | None:
    """A layout written inline; None if it cannot be."""
    if layout == FRACTION:
        return [*_parenthesized(parts[0]), Sign("/"), *_parenthesized(parts[1])]
    if layout in CALLS:
        return [Function(CALLS[layout]), Sign("("), *parts[0], Sign(")")]
    if layout in (ABOVE, BELOW, BELOW_GROUP) and parts[0]:
        return [*parts[0], *laid_out(layout, (), parts[1])]
    if layout == CASES and len(parts) == 4:
        value, (_, *condition), other, _ = parts
        comma = Sign(",")
        inside = [*condition, comma, *value, comma, *other]
        return [Function("where"), Sign("("), *inside, Sign(")")]
    return None


def _parenthesized(part: list[Piece]) -> list[Piece]:
    whole = len(part) == 1 or (isinstance(part[0], Mark) and _parts(part, 0)[1] == len(part) - 1)
    return part if whole else [Sign("("), *part, Sign(")")]


# ---- widths --------------------------------------------------------------------------------------


def width(result: Sequence[Piece]) -> float:
    """The estimated width of pieces, in characters."""
    tick()
    open_layouts: list[list[list[float]]] = [[[0.0]]]  # widths of the parts of open layouts, by row
    tall = tall_brackets(result)
    for k, piece in enumerate(result):
        if not isinstance(piece, Mark):
            open_layouts[-1][-1][-1] += TALL_BRACKET if k in tall else _width_of(piece)
        elif piece.place == "open":
            open_layouts.append([[0.0]])
        elif piece.place == "next":
            open_layouts[-1][-1].append(0.0)
        elif piece.place == "row":
            open_layouts[-1].append([0.0])
        elif len(open_layouts) > 1:
            rows = open_layouts.pop()
            open_layouts[-1][-1][-1] += _layout_width(piece.layout, rows)
    return open_layouts[0][0][0]


def _width_of(piece: Piece) -> float:
    if isinstance(piece, Sign):
        return WIDTHS.get(piece.text, OPERATOR)
    if isinstance(piece, Identifier):
        return 1.0 if len(piece.text) == 1 else 0.9 * len(piece.text)
    if isinstance(piece, Function):
        return 0.9 * len(piece.text) + 0.4
    assert isinstance(piece, Digits | Words)
    return 0.95 * len(piece.text)


def _layout_width(layout: str, rows: list[list[float]]) -> float:
    first, *others = rows[0]
    if layout in (MATRIX, CASES):
        columns = zip(*(row for row in rows if len(row) == len(rows[0])), strict=True)
        return sum(max(column) + CELL_GAP for column in columns)
    if layout == FRACTION:
        return max(rows[0]) + 0.5
    if layout in (ABOVE, BELOW, BELOW_GROUP, UNDER):
        return first + SMALL * sum(others)
    return sum(rows[0]) + 1.5


def tall_brackets(result: Sequence[Piece]) -> set[int]:
    """The positions of brackets around pieces that are taller than a line."""
    open_at: list[int] = []
    tall: set[int] = set()
    high: list[bool] = [False]
    for k, piece in enumerate(result):
        if isinstance(piece, Sign) and piece.text in "([":
            open_at.append(k)
            high.append(False)
        elif isinstance(piece, Sign) and piece.text in ")]" and open_at:
            start, inner = open_at.pop(), high.pop()
            tall |= {start, k} if inner else set()
            high[-1] = high[-1] or inner
        elif isinstance(piece, Mark) and piece.layout in TALL:
            high[-1] = True
    return tall
