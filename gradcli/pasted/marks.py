"""Distinguishes PyTorch programs from expressions."""

import re

# Syntax that programs use and the expression language lacks; a text without it is an expression.
MARKS = r"""
    (^|[;>:\n])[ \t]*(
        (import|from)\s+\w | (for|while|if|with|def|class|try)\b[^\n]*: | @\w | print\(
    ) | requires_grad | \bbackward\( | \bautograd\b(?!\.(?:numpy|scipy)\b)
    | \b(Parameter|Variable|manual_seed)\(
    | \bnn\.[A-Z] | ^\s*(```|>>>|In\s?\[) | \.(?!ix_)\w+_\( | \]\s*=[^=] | [-+*/@]=[^=]"""


def may_be_program(text: str) -> bool:
    """Whether a text has syntax that occurs in programs, but not in the expression language."""
    return re.search(MARKS, text, re.VERBOSE | re.MULTILINE) is not None
