"""Text for terminals that can show only ASCII."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

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
        "—": "-",
        "⟨": "<",
        "⟩": ">",
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


def parts_in_ascii(parts: Sequence[str]) -> Iterator[str]:
    """The parts of a text in ASCII. Each is converted in the context of the whole text."""
    whole, end = _with_products("".join(parts)), 0
    for part in parts:
        start, end = end, end + len(part)
        yield in_ascii(whole[start:end])


def _with_products(text: str) -> str:
    """`text` with `*` for products; a `·` between spaces is a zero."""
    return re.sub(r"(?<=[\w\])])·(?=[\w(\[-])", "*", text)


def in_ascii(text: str) -> str:
    """`text` with ASCII replacements for other characters: 10^12 for 10¹², alpha for α."""
    text = _with_products(text)
    text = re.sub("[⁰¹²³⁴-⁹]+", lambda power: "^" + power[0].translate(DIGITS), text)
    return re.sub(r"[^\x00-\x7f]", lambda sign: _closest_ascii(sign[0]), text.translate(SIGNS))


def _closest_ascii(sign: str) -> str:
    """The name of a Greek letter, a letter without its accent, or ? for other characters."""
    greek = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", unicodedata.name(sign, ""))
    if greek:
        return greek[2].lower() if greek[1] == "SMALL" else greek[2].capitalize()
    plain = unicodedata.normalize("NFKD", sign)
    return "".join(c for c in plain if c.isascii() and (c.isalnum() or c == " ")) or "?"
