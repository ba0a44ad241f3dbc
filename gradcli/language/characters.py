"""Characters that are not part of the language, and their replacements."""

import re
import unicodedata

from ..errors import GradcliError, Span
from .foreign import DERIVATIVE

# Strings and comments, in which any characters are allowed; group 1 is a foreign character
# elsewhere.
FOREIGN = r'''"""(?:.|\n)*?"""|\'\'\'(?:.|\n)*?\'\'\'|"[^"\n]*"|'[^'\n]*'|#[^\n]*|([^\x00-\x7f])'''
QUOTES = "“”„‘’"
QUOTED = "the quotes around an expression are the shell's, and straight"
PRODUCT = "a product is written x * y, and of matrices A @ B"
# Replacements, by the characters they are for.
CURES = {
    "−–—‐‑‒": "a difference is written with the minus sign of the keyboard: x - y",
    "·×⋅∗∙•⊙∘": PRODUCT,
    "⊗": "write kron(A, B), or outer(x, y)",
    "÷∕⁄": "a quotient is written x / y",
    "≤": "a comparison is written x <= y",
    "≥": "a comparison is written x >= y",
    "≠": "a comparison is written x != y",
    "√": "a root is written sqrt(x)",
    "∑": "a sum is written x.sum()",
    "∏": "a product of all elements is written x.prod()",
    "‖∥": "a length is written norm(x)",
    "∣": "an absolute value is written abs(x)",
    "∞": "infinity is written inf",
    "′″∂∇": DERIVATIVE,
    "⊤": "a transpose is written A.T",
    "“”„": 'a string needs straight quotes: "mean"',
    "‘’": "a string needs straight quotes: 'mean'",
}
SPACES = "words are separated by an ordinary space"
SUBSCRIPTS = "an element is written x[0], and a name with a subscript x_0"


def check_characters(text: str, called: str, origin: str) -> None:
    """Raise GradcliError `syntax` for characters that are not part of the language. These are
    invisible characters, controls of text direction, and look-alikes of other characters.
    """
    for position, c in enumerate(text):
        if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
            message = f"there is an invisible character, U+{ord(c):04X}, in {called}"
            raise GradcliError(
                "syntax", message, span=_at(position, text, origin), hint="delete it"
            )
    for result in re.finditer(FOREIGN, text):
        c = result[1]
        if c is not None and not _is_name_character(c):
            message = f"{c} (U+{ord(c):04X}) is not part of the language"
            hint = QUOTED if c in QUOTES and result.start() == 0 else _cure(c)
            raise GradcliError("syntax", message, span=_at(result.start(), text, origin), hint=hint)


def _at(position: int, text: str, origin: str) -> Span:
    return Span(text, position, position + 1, origin)


def _is_name_character(c: str) -> bool:
    """Whether a character may occur in a name unchanged; Python reads ᵢ as i, and · as a letter."""
    return f"x{c}".isidentifier() and unicodedata.normalize("NFKC", c) == c and c != "·"


def _cure(c: str) -> str | None:
    """A hint on what to write instead of a character, or None."""
    for characters, cure in CURES.items():
        if c in characters:
            return cure
    if unicodedata.category(c) == "Zs":
        return SPACES
    kind, _, plain = unicodedata.decomposition(c).partition(" ")
    plain = chr(int(plain, 16)) if plain and " " not in plain else unicodedata.normalize("NFKC", c)
    if kind == "<super>":
        return _raised(plain)
    number = unicodedata.numeric(c, None)
    plain = plain if number is None else f"{number:g}"
    return SUBSCRIPTS if kind == "<sub>" else f"write {plain}" if plain.isascii() else None


def _raised(plain: str) -> str:
    if plain in "TH":
        return "a transpose is written A.T"
    if not plain.isalnum():
        return "a power is written x ** -1, and the inverse of a matrix inv(A)"
    return f"a power is written x ** {plain}"
