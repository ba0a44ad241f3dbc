"""Formulas as LaTeX, with commands of amsmath that KaTeX and MathJax support."""

import re
import textwrap
from collections.abc import Sequence
from itertools import zip_longest

from ..tree import Tree, beginning
from .breaking import in_lines, tall_brackets, width
from .mathematics import pieces
from .pieces import (
    ABOVE,
    ABSOLUTE,
    BELOW,
    BELOW_GROUP,
    CASES,
    DOT,
    FLOOR,
    FRACTION,
    MATRIX,
    NORM,
    ROOT,
    TIMES,
    UNDER,
    Digits,
    Function,
    Identifier,
    Mark,
    Piece,
    Sign,
    Words,
    has_left_side,
)  # fmt: skip

LAYOUTS = {  # the commands before a layout, between its parts, between rows, and after it
    FRACTION: ("\\frac{", "}{", "", "}"),
    ROOT: ("\\sqrt{", "", "", "}"),
    ABOVE: ("", "^{", "", "} "),
    BELOW: ("", "_{", "", "}"),
    BELOW_GROUP: ("{", "}_{", "", "}"),
    UNDER: ("", "_{", "", "} "),
    DOT: ("\\dot{", "", "", "}"),
    ABSOLUTE: ("\\left\\lvert ", "", "", " \\right\\rvert"),
    NORM: ("\\left\\lVert ", "", "", " \\right\\rVert"),
    FLOOR: ("\\left\\lfloor ", "", "", " \\right\\rfloor"),
    CASES: ("\\begin{cases} ", " & ", " \\\\ ", " \\end{cases}"),
    MATRIX: ("\\begin{bmatrix} ", " & ", " \\\\ ", " \\end{bmatrix}"),
}
PLACES = ("open", "next", "row", "close")
LONGEST = 500  # most characters of a formula
MOST_COLUMNS = 10  # most columns of amsmath's bmatrix
SIGNS = {
    "−": " - ", "+": " + ", "=": " = ", "≠": " \\ne ", "<": " < ", "≤": " \\le ", ">": " > ",
    "≥": " \\ge ", "∨": " \\lor ", "∧": " \\land ", "¬": "\\lnot ", "⊙": " \\odot ",
    "⋅": " \\cdot ", "⊗": " \\otimes ", "mod": " \\bmod ", "∂": "\\partial ", "⊤": "\\top",
    "∑": "\\sum", "∞": "\\infty", "⋯": "\\cdots", "𝟙": "\\mathbf{1}", "𝟏": "\\mathbf{1}",
    "𝟎": "\\mathbf{0}", ",": ", ", ":": "{:}", ";": ";\\quad ", TIMES.text: " ",
    "\N{INVISIBLE SEPARATOR}": "", "…": "\\ldots",
}  # fmt: skip
LETTERS = {
    "α": "\\alpha", "β": "\\beta", "γ": "\\gamma", "δ": "\\delta", "ϵ": "\\epsilon", "ζ": "\\zeta",
    "η": "\\eta", "θ": "\\theta", "ι": "\\iota", "κ": "\\kappa", "λ": "\\lambda", "μ": "\\mu",
    "ν": "\\nu", "ξ": "\\xi", "π": "\\pi", "ρ": "\\rho", "σ": "\\sigma", "τ": "\\tau",
    "ϕ": "\\phi", "χ": "\\chi", "ψ": "\\psi", "ω": "\\omega", "Γ": "\\Gamma", "Δ": "\\Delta",
    "Θ": "\\Theta", "Λ": "\\Lambda", "Ξ": "\\Xi", "Π": "\\Pi", "Σ": "\\Sigma", "Φ": "\\Phi",
    "Ψ": "\\Psi", "Ω": "\\Omega",
}  # fmt: skip
KNOWN = {  # functions with a command
    "arccos", "arcsin", "arctan", "cos", "cosh", "cot", "det", "exp", "log", "max", "min", "sin",
    "sinh", "tan", "tanh",
}  # fmt: skip
TEXT = {
    "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "$": "\\$", "&": "\\&", "#": "\\#",
    "%": "\\%", "_": "\\_", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}",
    "\N{NO-BREAK SPACE}": "~",
}  # fmt: skip
WORDS = {  # characters that text fonts lack
    "×": "$\\times$", "·": "$\\cdot$", "→": "$\\to$", "∂": "$\\partial$", "Σ": "$\\sum$",
    "δ": "$\\delta$", "≤": "$\\le$", "≥": "$\\ge$", "≠": "$\\ne$", "−": "$-$", "…": "\\ldots{}",
    "⋮": "$\\vdots$", "✓": "$\\surd$", "✗": "$\\times$", "–": "--", "—": "---",
    "⟨": "$\\langle$", "⟩": "$\\rangle$", "∞": "$\\infty$", "ᵀ": "$^\\top$",
    "▒": "$\\circ$", "█": "$\\bullet$",
}  # fmt: skip
IN_MATH = {  # characters of text with another command in math mode
    "\\": "\\backslash ", "^": "\\hat{}", "~": "\\sim ", "…": "\\ldots ", "\N{NO-BREAK SPACE}": "~",
    "–": "\\text{--}", "—": "\\text{---}",
}  # fmt: skip
POWER = "[⁰¹²³⁴-⁹]+"
SPECIAL = f"[{re.escape(''.join({*TEXT, *WORDS, *LETTERS}))}]"
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))


def latex(tree: Tree) -> str:
    """A formula as LaTeX, for math mode."""
    result = pieces(tree)
    return text_in_math(beginning(tree, LONGEST)) if result is None else written(result)


def latex_lines(tree: Tree, room: float) -> list[str]:
    """A formula as LaTeX, broken into lines of about `room` characters."""
    result = pieces(tree)
    if result is None:
        cut = textwrap.wrap(beginning(tree, LONGEST), int(room), break_on_hyphens=False)
        return [text_in_math(line) for line in cut]
    if width(result) <= room:
        return [written(result)]
    first, *others = in_lines(result, room)
    return [written(first), *map(_continued, others)]


def _continued(line: Sequence[Piece]) -> str:
    """A continuation line, whose first operator is written as a command without spaces."""
    sign = line[0].text if isinstance(line[0], Sign) else ""
    return f"{SIGNS[sign].strip()} {written(line[1:])}" if sign in SIGNS else written(line)


def latex_width(tree: Tree) -> float:
    """The estimated width of a formula, in characters."""
    result = pieces(tree)
    return len(beginning(tree, LONGEST)) if result is None else width(result)


def written(result: Sequence[Piece]) -> str:
    """The LaTeX of pieces."""
    tall, wide = tall_brackets(result), _wide(result)
    parts = [_piece(result, k, k in tall, wide.get(k)) for k in range(len(result))]
    built = re.sub(r" +(?=[ }),_^])", "", "".join(parts))
    return re.sub(r"(?<=[_^])\{(\w)\}", r"\1", re.sub(r"(?<=[{(]) +", "", built)).strip()


def _piece(result: Sequence[Piece], k: int, tall: bool, columns: int | None) -> str:
    piece = result[k]
    if isinstance(piece, Mark):
        if columns is not None:
            return _array(piece, columns)
        return LAYOUTS[piece.layout][PLACES.index(piece.place)]
    if isinstance(piece, Sign):
        return _sign(result, k, tall)
    if isinstance(piece, Identifier):
        return _letters(piece.text)
    if isinstance(piece, Function):
        known = piece.text in KNOWN
        return f"\\{piece.text}" if known else f"\\operatorname{{{_word(piece.text)}}}"
    return piece.text if isinstance(piece, Digits) else text_in_math(piece.text)


def _sign(result: Sequence[Piece], k: int, tall: bool) -> str:
    sign = result[k].text  # type: ignore[union-attr]
    if sign in "([":
        return f"\\left{sign}" if tall else sign
    if sign in ")]":
        return f"\\right{sign}" if tall else sign
    if sign == TIMES.text:
        return _between(result[k - 1], result[k + 1])
    if sign in ("−", "+") and not has_left_side(result, k):
        return SIGNS[sign].strip()
    return SIGNS.get(sign, sign)


def _between(left: Piece, right: Piece) -> str:
    """The space between factors: a thin space, unless both are single letters."""
    words = any(isinstance(p, Function | Words) or _is_word(p) for p in (left, right))
    return " \\, " if words or right == Sign("𝟙") else " "


def _is_word(piece: Piece) -> bool:
    return isinstance(piece, Identifier) and len(piece.text) > 1


def _letters(word: str) -> str:
    r"""A variable: a letter unchanged, a word in \mathit."""
    if len(word) == 1 and (word.isascii() or word in LETTERS):
        built = LETTERS.get(word, word)
        return built + " " if built.startswith("\\") else _word(built)
    plain_letters = all(c.isascii() or c in LETTERS for c in word)
    return f"\\mathit{{{_word(word)}}}" if plain_letters else text_in_math(word, "textit")


def _word(word: str) -> str:
    """A word in math mode, escaped; a space ends a command before a letter."""
    signs = "\0".join(LETTERS.get(c, TEXT.get(c, c)) for c in word)
    return re.sub(r"(\\[A-Za-z]+)\0(?=[A-Za-z])", r"\1 ", signs).replace("\0", "")


def plain(text: str) -> str:
    """Text with LaTeX's special characters escaped."""
    apart = ["".join(map(_character, part)) for part in text.split("--")]  # -- is a dash
    return re.sub(POWER, lambda result: _power(result[0]), "-{}-".join(apart))


def text_in_math(text: str, command: str = "text") -> str:
    r"""Text in math mode.

    Characters that need a command are written outside of \text, because MathJax shows commands
    within it literally.
    """
    parts = re.split(f"({POWER})|({SPECIAL})", text)
    runs = [f"\\{command}{{{run}}}" if run else "" for run in parts[::3]]
    signs = [
        f"{{}}{_power(p)[1:-1]}" if p else _sign_of(c) for p, c in zip(parts[1::3], parts[2::3])
    ]
    return "".join(run + sign for run, sign in zip_longest(runs, signs, fillvalue=""))


def _sign_of(c: str) -> str:
    built = IN_MATH.get(c) or _character(c)
    return f"{built[1:-1]} " if built.startswith("$") else built


def _character(c: str) -> str:
    return f"${LETTERS[c]}$" if c in LETTERS else TEXT.get(c) or WORDS.get(c, c)


def _power(digits: str) -> str:
    return f"$^{{{''.join(map(SUPERSCRIPTS.__getitem__, digits))}}}$"


def _wide(result: Sequence[Piece]) -> dict[int, int]:
    """The marks of matrices with more columns than bmatrix allows, and their numbers of columns."""
    wide: dict[int, int] = {}
    marks: list[int] = []
    for k, piece in enumerate(result):
        if isinstance(piece, Mark) and piece.layout == MATRIX:
            marks.append(k)
            if piece.place == "close":
                places = [result[m].place for m in marks]  # type: ignore[union-attr]
                rows = places.count("row") + 1
                columns = places.count("next") // rows + 1
                wide |= dict.fromkeys(marks, columns) if columns > MOST_COLUMNS else {}
                marks = []
    return wide


def _array(mark: Mark, columns: int) -> str:
    begin = f"\\left[\\begin{{array}}{{{'c' * columns}}} "
    return {"open": begin, "close": " \\end{array}\\right]"}.get(
        mark.place, LAYOUTS[MATRIX][PLACES.index(mark.place)]
    )
