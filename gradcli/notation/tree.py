"""Formulas under one name: what they are made of, how long they are, and their text."""

from .trees import (
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
    length,
    listed,
    shortest,
    size,
    taken,
)  # fmt: skip
from .typeset.precedence import COMPARISONS, number
from .typeset.text import LONG, text, tokens

__all__ = [
    "ALL", "COMPARISONS", "LONG", "NEW_DIMENSION", "Attribute", "Between", "Block", "Bracketed",
    "Call", "Condition", "Derivative", "Indexed", "Infix", "LeftOut", "Listing", "Method",
    "Multiples", "Name", "Number", "Prefix", "Quotient", "Slice", "Subscript", "Sum", "Token",
    "Tree", "Verbatim", "children", "length", "listed",
    "number", "shortest", "size", "taken", "text",
    "tokens",
]  # fmt: skip
