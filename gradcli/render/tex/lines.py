"""Lines of an explanation as LaTeX: equations, and words with formulas among them.

A `room` is the width of a page in characters. Without one a formula is never broken, for nobody
knows where it is pasted.
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
SHAPE = r"\s*\(?\d+(?:×\d+)*,?\)?\s*"
LONG_WORD, BREAKABLE = r"[\w\\]{24,}", "\\_\\allowbreak{}"
UNSEEN = r"\\(left|right|math\w+|operatorname|text)"  # commands that print nothing


# ---- equations -----------------------------------------------------------------------------------


def aligned(lines: Iterable[Line], room: float | None = None) -> str:
    """Equations below each other, lined up at their first sign of equality."""
    return align(row for line in lines for row in rows_of(line, room=room))


def align(rows: Iterable[str]) -> str:
    """Rows of equations."""
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


def rows_of(line: Line, beside: str = "", room: float | None = None) -> list[str]:
    """A row or more for each statement of a line; what stands beside is said of the last, below it
    where it is long.
    """
    statements: list[list[Any]] = [[]]
    for piece in line:
        if piece == THEN:
            statements.append([])
        else:
            statements[-1].append(piece)
    wide = room is not None and length(beside) > room / 3
    left = None if room is None else room - (0 if wide or not beside else length(beside) + 2)
    rows = [row for statement in statements for row in _equation(statement, left)]
    return [*rows, f" &\\quad {beside}"] if wide else [*rows[:-1], rows[-1] + beside_of(beside)]


def beside_of(built: str) -> str:
    """What stands in the next column."""
    return f" && {built}" if built else ""


def _equation(pieces: Sequence[Any], room: float | None) -> Iterator[str]:
    """`left &= right`, and below it what there is no room for beside it."""
    sign = next((k for k, piece in enumerate(pieces) if piece == EQUALS), None)
    if sign is None:
        for k, line in enumerate(_lines(pieces, room)):
            yield f"& {'' if not k else chr(92) + 'quad {} '}{line}"
        return
    left, right = mathematics(pieces[:sign]), pieces[sign + 1 :]
    room = room and max(room - line_width(pieces[:sign]) - 2, room / 2)
    sides = [[*right]] if room is None or line_width(right) <= room else [*_sides(right)]
    for side in sides:
        for k, line in enumerate(_lines(side, room)):
            yield f"{left} &{'= ' if not k else chr(92) + 'quad {} '}{line}"
            left = ""


def length(made: str) -> int:
    """About as many characters as are seen of LaTeX."""
    return len(re.sub(r"\\[a-zA-Z]+|[{}_^&]| +", "x", re.sub(UNSEEN, "", made)))


def line_width(pieces: Iterable[Any]) -> float:
    """About how many characters wide pieces of a line are in math mode."""
    return sum(latex_width(p.tree) if isinstance(p, Formula) else len(p.text) for p in pieces)


def _sides(pieces: Sequence[Any]) -> Iterator[list[Any]]:
    """What stands between signs of equality."""
    for equals, side in groupby(pieces, lambda piece: piece == EQUALS):
        if not equals:
            yield [*side]


def _lines(pieces: Sequence[Any], room: float | None) -> list[str]:
    """A side of an equation, a formula in lines that there is room for."""
    if room is None or len(pieces) != 1 or not isinstance(pieces[0], Formula):
        return [mathematics(pieces)]
    return latex_lines(pieces[0].tree, room)


# ---- pieces --------------------------------------------------------------------------------------


def mathematics(pieces: Iterable[Any]) -> str:
    """Pieces of a line in math mode."""
    return " ".join(_in_math(piece) for piece in pieces).strip()


def _in_math(piece: Any) -> str:
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
    """A line of words and formulas within text; a formula wider than `room` in lines of its own."""
    out: list[str] = []
    for piece in line:
        if room is not None and isinstance(piece, Formula) and latex_width(piece.tree) > room:
            out.append(f"\n{aligned([(piece,)], room)}\n")
        else:
            out.append(f"${_in_math(piece)}$" if _is_math(piece) else _said(piece))
    return "".join(out).replace("$$", " ")


def _is_math(piece: Any) -> bool:
    if isinstance(piece, Formula) or piece.text == EQUALS.text:
        return True
    return piece.role in ("seed", "number", "answer") or piece.role.startswith("input:")


def _said(piece: Any) -> str:
    if re.fullmatch(SHAPE, piece.text):
        return re.sub(r"\S+", lambda shape: f"${_shape(shape[0])}$", piece.text)
    return _code(piece.text) if _is_code(piece) else plain(piece.text)


def _shape(said: str) -> str:
    return said.replace("×", " \\times ")


def _is_code(piece: Any) -> bool:
    return not piece.role and re.search(r"[\w\]]", piece.text) is not None


def _code(text: str) -> str:
    """Code within text, its spaces at the ends outside."""
    inner = text.strip()
    built = re.sub(LONG_WORD, lambda word: word[0].replace("\\_", BREAKABLE), plain(inner))
    start = text[: len(text) - len(text.lstrip())]
    return f"{start}\\texttt{{{built}}}{text[len(text.rstrip()) :]}" if inner else text


def grouped(rows: Iterable[Row]) -> Iterator[tuple[bool, list[Row]]]:
    """Rows that follow one another: whether they are equations, and which they are."""
    for are_equations, group in groupby(rows, lambda row: _is_equation(row.cells[0])):
        yield are_equations, [*group]


def _is_equation(cell: Line | Tensor) -> bool:
    """Whether a cell is set as an equation: it has a formula, and no words."""
    if isinstance(cell, Tensor):
        return False
    has = any(isinstance(piece, Formula) for piece in cell)
    return has and EQUALS in cell and not any(p[1] == "word" for p in cell if p[0] and p != EQUALS)


def formula_in_math(line: Line) -> list[str]:
    """What a formula is, where there is one."""
    return [] if not line else [text(line) if is_words(line) else mathematics(line)]


def text(line: Line) -> str:
    """A line within an equation."""
    return "".join(_text(piece) for piece in line).strip()


def _text(piece: Any) -> str:
    if _is_math(piece) or not piece.text.strip():
        return _in_math(piece)
    if re.fullmatch(SHAPE, piece.text):
        return _shape(piece.text.strip())
    return text_in_math(piece.text, "texttt" if _is_code(piece) else "text")


def entry(said: str) -> str:
    """An element of a tensor, in math mode."""
    if said == "…":
        return "\\cdots"
    return latex(Verbatim(said))


# ---- what lines stand in -------------------------------------------------------------------------


def array_of(rows: Sequence[Sequence[str]], columns: str) -> str:
    """Cells in columns."""
    lines = " \\\\\n".join(" & ".join(row) for row in rows)
    return f"\\begin{{array}}{{{columns}}}\n{lines}\n\\end{{array}}"


def displayed(made: str) -> str:
    """Mathematics in a line of its own."""
    return f"\\[\n{made}\n\\]"


def verbatim(code: str) -> str:
    """Lines of code, none of which ends them."""
    inside = in_ascii(code).replace("\\end{verbatim}", "\\end {verbatim}")
    return f"\\begin{{verbatim}}\n{inside}\n\\end{{verbatim}}"
