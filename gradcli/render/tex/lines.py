"""Lines of an explanation as LaTeX: equations, and words with inline formulas.

`room` is the width of a page in characters. If it is None, formulas are not broken, because the
width of the page is unknown.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from ...explanation.blocks import EQUALS, THEN, Formula, Line, Row, Tensor, is_words
from ...notation.tree import Name, Verbatim
from ...notation.typeset.latex import latex, latex_lines, latex_width, plain, text_in_math
from ..ascii import in_ascii

ROOM = {"standalone": 62, "overlay": 48}  # characters of an equation on a page
ITEM, DEPTH = 4.5, 2  # characters of indentation of a list item, and of each level below it
EQUALS_WIDTH = 2.4
SHAPE = r"\s*\(?\d+(?:×\d+)*,?\)?\s*"
LONGEST = 4_000  # characters in one display: MathJax accepts 5,120 after expansion of macros
LONG_WORD, BREAKABLE = r"[\w\\]{24,}", "\\_\\allowbreak{}"
UNSEEN = r"\\(left|right|math\w+|operatorname|text)"  # commands that print nothing


# ---- equations -----------------------------------------------------------------------------------


def aligned(lines: Iterable[Line], room: float | None = None) -> str:
    """Equations aligned at their first equals sign."""
    return align(rows_of(((line, "") for line in lines), room))


def align(rows: Iterable[str]) -> str:
    """Rows of equations, in several displays if they are too long for MathJax."""
    return "\n\n".join(
        "\\begin{align*}\n" + " \\\\\n".join(part) + "\n\\end{align*}" for part in _in_parts(rows)
    )


def _in_parts(rows: Iterable[str]) -> list[list[str]]:
    """The rows in groups of at most LONGEST characters; a longer row is a group by itself."""
    parts, size = list[list[str]]([[]]), 0
    for row in rows:
        if parts[-1] and size + len(row) > LONGEST:
            parts.append([])
            size = 0
        parts[-1].append(row)
        size += len(row)
    return parts


def rows_of(lines: Iterable[tuple[Line, str]], room: float | None = None) -> list[str]:
    """One or more rows for each statement of aligned lines. The remark on a line is next to its
    last row, or below it if it takes more than a third of the page.
    """
    block = [([*_split(line, THEN)] or [[]], beside) for line, beside in lines]
    sides = [_left_and_right(s) for statements, _ in block for s in statements]
    # a left side wider than half of the page gets a separate row
    lefts = [line_width(left) for left, _ in sides]
    edge = max((w for w in lefts if room is None or w <= room / 2), default=0.0)
    wide = max((line_width(right) for _, right in sides), default=0.0) + EQUALS_WIDTH
    remark_width = max((length(beside) + 2 for _, beside in block if beside), default=0)
    below = room is not None and edge + wide + remark_width > room and remark_width > room / 3
    room = room if room is None or below else room - remark_width
    rows = list[str]()
    for statements, beside in block:
        rows += [row for s in statements for row in _equation(s, room, edge)]
        if below and beside:
            rows.append(f" &\\quad {beside}")
        else:
            rows[-1] += beside_of(beside)
    return rows


def beside_of(built: str) -> str:
    """A text as the next column of aligned equations; "" if there is none."""
    return f" && {built}" if built else ""


def _left_and_right(pieces: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """The pieces before and after the first equals sign; without one, all are on the right."""
    sign = next((k for k, piece in enumerate(pieces) if piece == EQUALS), None)
    return ((), pieces) if sign is None else (pieces[:sign], pieces[sign + 1 :])


def _equation(pieces: Sequence[Any], room: float | None, edge: float) -> Iterator[str]:
    """An equation `left &= right`, with continuation lines if it does not fit."""
    left, right = _left_and_right(pieces)
    room = room and room - edge
    head, sign = mathematics(left), "=" if EQUALS in pieces else ""
    if line_width(left) > edge:
        yield from (f" & {line}" for line in _lines(left, room))
        head = ""
    room = room and room - EQUALS_WIDTH
    sides = [right] if room is None or line_width(right) <= room else _split(right, EQUALS)
    for side in sides:
        first, *others = _lines(side, room)
        yield f"{head} &{sign} {first}"
        yield from (f" &\\quad {{}} {line}" for line in others)
        head = ""


def length(text: str) -> int:
    """The approximate number of visible characters of LaTeX."""
    return len(re.sub(r"\\[a-zA-Z]+|[{}_^&]| +", "x", re.sub(UNSEEN, "", text)))


def line_width(pieces: Iterable[Any]) -> float:
    """The approximate width, in characters, of pieces in math mode."""
    return sum(latex_width(p.tree) if isinstance(p, Formula) else len(p.text) for p in pieces)


def _split(pieces: Sequence[Any], sign: Any) -> Iterator[list[Any]]:
    """The groups of pieces between occurrences of `sign`."""
    for is_sign, between in groupby(pieces, lambda piece: piece == sign):
        if not is_sign:
            yield [*between]


def _lines(pieces: Sequence[Any], room: float | None) -> list[str]:
    """One side of an equation in lines that fit, broken between its pieces and within formulas."""
    if room is None or line_width(pieces) <= room:
        return [mathematics(pieces)]
    lines: list[list[Any]] = [[]]
    for piece in pieces:
        if lines[-1] and line_width((*lines[-1], piece)) > room:
            lines.append([])
        lines[-1].append(piece)
    return [part for line in lines for part in _broken(line, room)]


def _broken(pieces: Sequence[Any], room: float) -> list[str]:
    if len(pieces) == 1 and isinstance(pieces[0], Formula):
        return latex_lines(pieces[0].tree, room)
    return [mathematics(pieces)]


# ---- pieces --------------------------------------------------------------------------------------


def mathematics(pieces: Iterable[Any]) -> str:
    """Pieces of a line in math mode."""
    return " ".join(_in_math(piece) for piece in pieces).strip()


def _in_math(piece: Any) -> str:
    """A piece of a line in math mode."""
    if isinstance(piece, Formula):
        return latex(piece.tree)
    text = piece.text.strip()
    if text in ("=", ""):
        return text
    if piece.role in ("number", "answer"):
        return latex(Verbatim(text))
    if piece.role == "seed" or piece.role.startswith("input:"):
        return latex(Name(text))
    return text_in_math(piece.text)


def inline(line: Line, room: float | None = None) -> str:
    """A line of words and inline formulas; a formula wider than `room` is displayed."""
    out: list[str] = []
    for piece in line:
        if room is not None and isinstance(piece, Formula) and latex_width(piece.tree) > room:
            out.append(f"\n{aligned([(piece,)], room)}\n")
        else:
            out.append(f"${_in_math(piece)}$" if _is_math(piece) else _words(piece))
    return "".join(out).replace("$$", " ")


def _is_math(piece: Any) -> bool:
    if isinstance(piece, Formula) or piece.text == EQUALS.text:
        return True
    return piece.role in ("seed", "number", "answer") or piece.role.startswith("input:")


def _words(piece: Any) -> str:
    if re.fullmatch(SHAPE, piece.text):
        return re.sub(r"\S+", lambda shape: f"${_shape(shape[0])}$", piece.text)
    return _code(piece.text) if _is_code(piece) else plain(piece.text)


def _shape(sizes: str) -> str:
    return sizes.replace("×", " \\times ")


def _is_code(piece: Any) -> bool:
    return not piece.role and re.search(r"[\w\]]", piece.text) is not None


def _code(text: str) -> str:
    """Code within text; spaces at its ends are outside."""
    inner = text.strip()
    built = re.sub(LONG_WORD, lambda word: word[0].replace("\\_", BREAKABLE), plain(inner))
    start = text[: len(text) - len(text.lstrip())]
    return f"{start}\\texttt{{{built}}}{text[len(text.rstrip()) :]}" if inner else text


def grouped(rows: Iterable[Row]) -> Iterator[tuple[bool, list[Row]]]:
    """Consecutive rows that are equations, or that are not, with that flag."""
    for are_equations, group in groupby(rows, lambda row: _is_equation(row.cells[0])):
        yield are_equations, [*group]


def _is_equation(cell: Line | Tensor) -> bool:
    """Whether a cell is an equation: it contains a formula and no words."""
    if isinstance(cell, Tensor):
        return False
    has = any(isinstance(piece, Formula) for piece in cell)
    return has and EQUALS in cell and not any(p[1] == "word" for p in cell if p[0] and p != EQUALS)


def formula_in_math(line: Line) -> list[str]:
    """A list of the formula of an answer in math mode, or of the words that replace it; empty for
    an empty line.
    """
    return [] if not line else [text(line) if is_words(line) else mathematics(line)]


def text(line: Line) -> str:
    """A line as text within an equation."""
    return "".join(_text(piece) for piece in line).strip()


def _text(piece: Any) -> str:
    if _is_math(piece) or not piece.text.strip():
        return _in_math(piece)
    if re.fullmatch(SHAPE, piece.text):
        return _shape(piece.text.strip())
    return text_in_math(piece.text, "texttt" if _is_code(piece) else "text")


def entry(number: str) -> str:
    """An element of a tensor, in math mode."""
    if number == "…":
        return "\\cdots"
    return latex(Verbatim(number))


# ---- environments --------------------------------------------------------------------------------


def array_of(rows: Sequence[Sequence[str]], columns: str) -> str:
    """Cells in an array."""
    lines = " \\\\\n".join(" & ".join(row) for row in rows)
    return f"\\begin{{array}}{{{columns}}}\n{lines}\n\\end{{array}}"


def displayed(text: str) -> str:
    """Displayed mathematics."""
    return f"\\[\n{text}\n\\]"


def verbatim(code: str) -> str:
    """Code in a verbatim environment, which it cannot end."""
    inside = in_ascii(code).replace("\\end{verbatim}", "\\end {verbatim}")
    return f"\\begin{{verbatim}}\n{inside}\n\\end{{verbatim}}"
