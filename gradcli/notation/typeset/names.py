"""Names and numbers of programs as mathematics writes them: `W1` is W with an index, `lam` is λ."""

import re
from collections.abc import Iterator
from typing import Any

from .pieces import ABOVE, BELOW, Digits, Function, Identifier, Sign, Words, laid_out

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
    """A name and the index in it: W and 1 of W1, x and hat of x_hat; none in most."""
    result = None if text in LETTERS else INDEXED.fullmatch(text)
    if result is None:
        return text, ""
    return (result[1] or result[3], result[2] or result[4])


def number(text: str) -> Iterator[Any] | None:
    """The pieces of a number as Python writes it; None for what is no number."""
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
