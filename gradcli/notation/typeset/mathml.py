"""Formulas as MathML Core. Roles are in `data-role` attributes, for colours of a page."""

from collections.abc import Sequence
from html import escape

from ..tree import Tree, text
from .breaking import tall_brackets
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
    UNDER,
    Digits,
    Function,
    Identifier,
    Mark,
    Piece,
    Sign,
    has_left_side,
)  # fmt: skip

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
PARTS = "</mrow><mrow>"
CELLS = ("</mtd><mtd>", "</mtd></mtr><mtr><mtd>")
LAYOUTS = {  # the tags before a layout, between its parts, between rows, and after it
    FRACTION: ("<mfrac><mrow>", PARTS, "", "</mrow></mfrac>"),
    ROOT: ("<msqrt>", "", "", "</msqrt>"),
    ABOVE: ("<msup><mrow>", PARTS, "", "</mrow></msup>"),
    BELOW: ("<msub><mrow>", PARTS, "", "</mrow></msub>"),
    BELOW_GROUP: ("<msub><mrow>", PARTS, "", "</mrow></msub>"),
    UNDER: ("<munder><mrow>", PARTS, "", "</mrow></munder>"),
    DOT: ("<mover><mrow>", "", "", "</mrow><mo>˙</mo></mover>"),
    ABSOLUTE: ("<mrow><mo>|</mo>", "", "", "<mo>|</mo></mrow>"),
    NORM: ("<mrow><mo>‖</mo>", "", "", "<mo>‖</mo></mrow>"),
    FLOOR: ("<mrow><mo>⌊</mo>", "", "", "<mo>⌋</mo></mrow>"),
    CASES: ("<mrow><mo>{</mo><mtable><mtr><mtd>", *CELLS, "</mtd></mtr></mtable></mrow>"),
    MATRIX: (
        "<mrow><mo>[</mo><mtable><mtr><mtd>", *CELLS, "</mtd></mtr></mtable><mo>]</mo></mrow>",
    ),
}  # fmt: skip
PLACES = ("open", "next", "row", "close")
PREFIX_MINUS = '<mo form="prefix">−</mo>'
NO_OPERATORS = ("⊤", "∞", "𝟙", "𝟏", "𝟎")  # signs that are names, not operators


def mathml(tree: Tree) -> str:
    """A formula as a <math> element."""
    result = pieces(tree)
    inside = f"<mtext>{escape(text(tree))}</mtext>" if result is None else written(result)
    return f'<math xmlns="{NAMESPACE}"><mrow>{inside}</mrow></math>'


def written(result: Sequence[Piece]) -> str:
    """The MathML elements of pieces."""
    tall = tall_brackets(result)
    return "".join(
        PREFIX_MINUS if _is_prefix(result, k) else _element(piece, k in tall)
        for k, piece in enumerate(result)
    )


def _is_prefix(result: Sequence[Piece], k: int) -> bool:
    """Whether a sign is a prefix minus after another sign, which MathML would not recognise."""
    after_sign = k > 0 and isinstance(result[k - 1], Sign)
    return after_sign and result[k] == Sign("−") and not has_left_side(result, k)


def _element(piece: Piece, tall: bool) -> str:
    if isinstance(piece, Mark):
        return LAYOUTS[piece.layout][PLACES.index(piece.place)]
    text = escape(piece.text)
    if isinstance(piece, Identifier):
        role = f' data-role="{escape(piece.role)}"' if piece.role else ""
        return f"<mi{role}>{text}</mi>"
    if isinstance(piece, Digits):
        return f"<mn>{text}</mn>"
    if isinstance(piece, Function):
        return f'<mi mathvariant="normal">{text}</mi>' if len(text) == 1 else f"<mi>{text}</mi>"
    if isinstance(piece, Sign) and text in "()[]" and not tall:
        # without the attribute it would stretch to the height of a fraction
        return f'<mo stretchy="false">{text}</mo>'
    if isinstance(piece, Sign):
        return f"<mi>{text}</mi>" if text in NO_OPERATORS else f"<mo>{text}</mo>"
    return f"<mtext>{text}</mtext>"
