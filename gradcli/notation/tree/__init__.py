"""Formulas: what they are made of (`parts`), how long they are (`sizes`), how tightly their signs
bind (`precedence`), and their text (`as_text`).
"""

from .as_text import COMPARISONS, LONG, Texts, beginning, number, text, tokens
from .parts import (
    ALL,
    NEW_DIMENSION,
    Attribute,
    Between,
    Block,
    Bracketed,
    Call,
    Condition,
    Derivative,
    Indexed,
    Infix,
    LeftOut,
    Listing,
    Method,
    Multiples,
    Name,
    Number,
    Prefix,
    Quotient,
    Slice,
    Subscript,
    Sum,
    Token,
    Tree,
    Verbatim,
    children,
    leaves,
    length,
    listed,
    shortest,
    size,
    taken,
)  # fmt: skip

__all__ = [
    "ALL", "COMPARISONS", "LONG", "NEW_DIMENSION", "Attribute", "Between", "Block", "Bracketed",
    "Call", "Condition", "Derivative", "Indexed", "Infix", "LeftOut", "Listing", "Method",
    "Multiples", "Name", "Number", "Prefix", "Quotient", "Slice", "Subscript", "Sum", "Texts",
    "Token", "Tree", "Verbatim", "beginning", "children", "leaves", "length", "listed", "number",
    "shortest", "size", "taken", "text", "tokens",
]  # fmt: skip
