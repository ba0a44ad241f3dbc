"""The pieces of typeset formulas: signs, and marks around layouts such as fractions.

The writers of LaTeX and MathML define how each is printed.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple


class Identifier(NamedTuple):
    """A letter, or a word that is one variable; `role` says what it names, such as an input."""

    text: str
    role: str = ""


class Digits(NamedTuple):
    """A number without a sign."""

    text: str


class Sign(NamedTuple):
    """An operator, relation or bracket, as a Unicode character."""

    text: str


class Function(NamedTuple):
    """The name of a function, set upright."""

    text: str


class Words(NamedTuple):
    """Text within a formula."""

    text: str


class Mark(NamedTuple):
    """The opening of a layout, the beginning of its next part or row, or its close."""

    layout: str
    place: str


Piece = Identifier | Digits | Sign | Function | Words | Mark

# The layouts, and their parts.
FRACTION = "fraction"  # numerator, denominator
ROOT = "root"  # radicand
ABOVE = "above"  # base, exponent
BELOW = "below"  # base, index
BELOW_GROUP = "below a group"  # base that has an index itself, index
UNDER = "under"  # sum sign, letters
DOT = "dot"  # the part under the dot
ABSOLUTE, NORM, FLOOR = "absolute", "norm", "floor"  # the argument between the bars
CASES = "cases"  # rows of a value and a condition
MATRIX = "matrix"  # rows of entries
TALL = (FRACTION, CASES, MATRIX, UNDER)  # layouts that stretch the brackets around them

TIMES = Sign("\N{INVISIBLE TIMES}")  # written by juxtaposition
DIFFERENTIAL = Sign("∂")
TRANSPOSED = Sign("⊤")
EQUALS = Sign("=")
OPEN, CLOSE = Sign("("), Sign(")")


def laid_out(layout: str, *parts: Iterable[Any]) -> Iterator[Any]:
    """The pieces of a layout with these parts."""
    return in_rows(layout, [parts])


def in_rows(layout: str, rows: Iterable[Iterable[Iterable[Any]]]) -> Iterator[Any]:
    """The pieces of a layout with rows of parts."""
    yield Mark(layout, "open")
    for place, row in enumerate(rows):
        if place:
            yield Mark(layout, "row")
        for k, part in enumerate(row):
            if k:
                yield Mark(layout, "next")
            yield from part
    yield Mark(layout, "close")


def has_left_side(result: Sequence[Piece], k: int) -> bool:
    """Whether the sign at k has a left operand."""
    before = result[k - 1] if k else Mark("", "open")
    if isinstance(before, Mark):
        return before.place == "close"
    return not isinstance(before, Sign) or before.text in (")", "]", "⊤", "∞", "𝟏", "𝟎", "⋯")


LETTERS = {
    "loss": "L",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "eps": "ϵ", "zeta": "ζ",
    "eta": "η", "theta": "θ", "iota": "ι", "kappa": "κ", "lam": "λ", "lambda": "λ", "lambda_": "λ",
    "lambd": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ",
    "phi": "ϕ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ",
    "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
INDEXED = re.compile(r"(.*[^\W\d_])_?(\d+)|([^\W_]+)_(\w+)")
NUMBER = re.compile(r"(-?)(\d+\.?\d*|\.\d+)(?:e([-+]?\d+))?")


def identifier(text: str, role: str = "") -> Iterator[Any]:
    """The pieces of a name."""
    base, index = index_of(text)
    if not index:
        return iter([Identifier(LETTERS.get(text, text), role)])
    kind = Digits if index.isdecimal() else Identifier if len(index) == 1 else Words
    return laid_out(BELOW, [Identifier(LETTERS.get(base, base), role)], [kind(index)])


def index_of(text: str) -> tuple[str, str]:
    """A name and its index: W and 1 for W1, x and hat for x_hat, loss and "" for loss."""
    result = None if text in LETTERS else INDEXED.fullmatch(text)
    if result is None:
        return text, ""
    return (result[1] or result[3], result[2] or result[4])


def number(text: str) -> Iterator[Any] | None:
    """The pieces of a number in Python's syntax; None for other texts."""
    bare = text.removeprefix("-")
    if bare in ("inf", "nan", "torch.inf", "torch.nan"):
        sign = Sign("∞") if bare.endswith("inf") else Function("nan")
        return iter([*[Sign("−")] * (bare != text), sign])
    match = NUMBER.fullmatch(text)
    return None if match is None else _number(*match.groups())


def _number(minus: str, digits: str, power: str | None) -> Iterator[Any]:
    if minus:
        yield Sign("−")
    if power is None or digits != "1":
        yield Digits(digits.removesuffix("."))
    if power is not None:
        if digits != "1":
            yield Sign("⋅")
        exponent = int(power)
        below_one = [Sign("−")] * (exponent < 0)
        yield from laid_out(ABOVE, [Digits("10")], [*below_one, Digits(str(abs(exponent)))])
