"""Tells a program of PyTorch from an expression."""

import re

# What the language does not have, and programs do; a text without any is not looked at further.
MARKS = r"""
    (^|[;>:\n])[ \t]*(
        (import|from)\s+\w | (for|while|if|with|def|class|try)\b[^\n]*: | @\w | print\(
    ) | requires_grad | \bbackward\( | \bautograd\b | \b(Parameter|Variable|manual_seed)\(
    | \bnn\.[A-Z] | ^\s*(```|>>>|In\s?\[) | \.(?!ix_)\w+_\( | \]\s*=[^=] | [-+*/@]=[^=]"""


def may_be_program(text: str) -> bool:
    """Whether a text has syntax that occurs in programs, but not in expressions of the language."""
    return re.search(MARKS, text, re.VERBOSE | re.MULTILINE) is not None
