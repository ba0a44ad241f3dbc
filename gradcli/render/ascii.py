"""Text for terminals that show nothing but ASCII."""

import re

SIGNS = str.maketrans(
    {
        "·": ".",
        "×": "x",
        "…": "...",
        "⋮": ":",
        "█": "#",
        "▒": "+",
        "✓": "ok",
        "✗": "!!",
        "–": "-",
        "│": "|",
        "─": "-",
        "┼": "+",
        "├": "|",
        "└": "`",
        "Σ": "sum",
        "δ": "delta",
        "∂": "d",
        "−": "-",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
        "‹": "<",
        "›": ">",
    }
)
DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def in_ascii(text: str) -> str:
    """`text` with words or like signs for what ASCII lacks; 10¹² is 10^12."""
    text = re.sub("[⁰¹²³⁴-⁹]+", lambda power: "^" + power[0].translate(DIGITS), text)
    return text.translate(SIGNS).encode("ascii", "backslashreplace").decode()
