"""SymPy expressions of single elements: conversion of numbers, simplification, and text in the
language of expressions.

For example `2*a[0,0]*g[0,0]` and `where(x[0] > 0, g[0], 0)`. Symbols are printed by name, without
interpretation. Terms and factors are ordered by the names and indices of their symbols, so that
x[2] comes before x[10].
"""

import math
import re
from fractions import Fraction
from typing import Any

from ..budget import tick
from ..errors import GradcliError
from ..lazy import np, sp
from ..operators.elements import cases, choice, negated, replaced

# Operator precedence, as in Python, weakest first: an operand of lower precedence needs
# parentheses.
COMPARISON, OR, AND, SUM, SIGN, PRODUCT, POWER, ATOM = range(8)

NAMES = {"Abs": "abs", "ceiling": "ceil", "Max": "maximum", "Min": "minimum"}
RECIPROCALS = {
    "cot": "tan",
    "sec": "cos",
    "csc": "sin",
    "coth": "tanh",
    "sech": "cosh",
    "csch": "sinh",
}
CONSTANTS = {
    "Infinity": ("inf", ATOM),
    "NegativeInfinity": ("-inf", SIGN),
    "ComplexInfinity": ("inf", ATOM),
    "NaN": ("nan", ATOM),
    "Pi": ("pi", ATOM),
    "Exp1": ("exp(1)", ATOM),
    "ImaginaryUnit": ("nan", ATOM),
    "BooleanTrue": ("True", ATOM),
    "BooleanFalse": ("False", ATOM),
}
INDEX = re.compile(r"\d+")
EXACT = 2**53  # floats below it without a fractional part are exact integers
ROUNDED_LENGTH = 15  # characters of the repr of a float that is probably a rounded fraction
MAX_DENOMINATOR = 1_000  # largest denominator of such a fraction


def as_sympy_number(value: bool | int | float) -> Any:
    """A Python number as a SymPy number.

    Integers are exact. A float that is a rounded simple fraction becomes that fraction:
    0.3333333333333333 is 1/3, while 0.1 stays 0.1. Other floats are unchanged.
    """
    if isinstance(value, bool):
        return sp.true if value else sp.false
    if isinstance(value, int):
        return sp.Integer(value)
    if math.isnan(value):
        return sp.nan
    if math.isinf(value):
        return sp.oo if value > 0 else -sp.oo
    if value.is_integer() and abs(value) < EXACT:
        return sp.Integer(int(value))
    if len(repr(value)) > ROUNDED_LENGTH:
        near = Fraction(value).limit_denominator(MAX_DENOMINATOR)
        if float(near) == value:
            return sp.Rational(near.numerator, near.denominator)
    return sp.Float(value)


# ---- tidying -------------------------------------------------------------------------------------


def tidy(x: Any) -> Any:
    """`x` with integral floats as integers, common factors extracted, and `where` merged."""
    odd = x.atoms(sp.Float, sp.core.numbers.ImaginaryUnit, sp.core.numbers.ComplexInfinity)
    if sp.I in odd:  # square root or logarithm of a negative number
        return sp.nan
    changed = {f: as_sympy_number(float(f)) for f in odd if f.is_Float and float(f).is_integer()}
    if sp.zoo in odd:
        changed[sp.zoo] = sp.oo
    return _shorter(replaced(sp, x, changed) if changed else x)


def _shorter(x: Any) -> Any:
    if x.is_Add:
        return _with_merged_where([_shorter(term) for term in x.args])
    if isinstance(x, sp.Piecewise):
        return cases(sp, x, _shorter)
    return _without_content(_multiplied_into_where(x)) if x.is_Mul else x


def _multiplied_into_where(x: Any) -> Any:
    """Rewrite `g*where(c, 1, 0)` as `where(c, g, 0)`, unless that would duplicate a factor."""
    choices = [f for f in x.args if isinstance(f, sp.Piecewise)]
    if len(choices) != 1:
        return x
    rest = x.func(*(f for f in x.args if f is not choices[0]))
    if not rest.is_Atom and sum(branch != 0 for branch, _ in choices[0].args) > 1:
        return x
    return cases(sp, choices[0], lambda branch: _shorter(rest * branch))


def _with_merged_where(terms: list) -> Any:
    """The sum of terms; `where` terms with the same condition are merged into `where(c, a, b)`."""
    total: list = []
    by_condition: dict[Any, tuple[list, list]] = {}
    for term in terms:
        if isinstance(term, sp.Piecewise) and len(term.args) == 2:
            (a, condition), (b, _) = term.args
            if negated(sp, condition) in by_condition:
                condition, a, b = negated(sp, condition), b, a
            for side, part in zip(by_condition.setdefault(condition, ([], [])), (a, b)):
                side.append(part)
        else:
            total.append(term)
    return sp.Add(
        *total, *(choice(sp, c, sp.Add(*a), sp.Add(*b)) for c, (a, b) in by_condition.items())
    )


def _without_content(x: Any) -> Any:
    """Rewrite `g*(2*a - 2*b)/6` as `g*(a - b)/3`."""
    if not x.is_Mul:
        return x
    scale, factors = sp.S.One, []
    for factor in x.args:
        base, power = factor.as_base_exp()
        content, rest = (sp.S.One, base)
        if base.is_Add and power.is_Integer:
            content, rest = base.primitive()
        scale *= content**power
        factors.append(factor if content is sp.S.One else rest**power)
    return x if scale is sp.S.One else x.func(scale, *factors)


# ---- text ----------------------------------------------------------------------------------------


def element_text(expression: Any) -> str:
    """The text of a SymPy expression, on one line."""
    return _Writer()(expression)


def elements_text(array: Any) -> Any:
    """The texts of an array of SymPy expressions, as nested lists; for a 0-d array, a str."""
    write = _Writer()
    array = np.asarray(array, dtype=object)
    texts = np.empty(array.shape, object)
    flat = texts.reshape(-1)
    for k, x in enumerate(array.reshape(-1)):
        tick()
        flat[k] = write(x)
    return texts.tolist()


class _Writer:
    """Writes SymPy expressions as text; the text of a repeated subexpression is cached."""

    def __init__(self):
        self.known: dict[Any, tuple[str, int]] = {}
        self.symbols: dict[Any, tuple] = {}

    def __call__(self, x: Any) -> str:
        try:
            return self.text(sp.sympify(x))[0]
        except RecursionError:
            raise GradcliError("limit", "an element is nested too deeply to be written") from None

    def text(self, x: Any) -> tuple[str, int]:
        """The text of `x` and its precedence."""
        result = self.known.get(x)
        if result is None:
            result = self.known[x] = self.write(x)
        return result

    def parens(self, x: Any, precedence: int) -> str:
        """The text of `x`, in parentheses if its precedence is below `precedence`."""
        text, own = self.text(x)
        return text if own >= precedence else f"({text})"

    def write(self, x: Any) -> tuple[str, int]:
        if x.is_Symbol:
            return x.name, ATOM
        name = type(x).__name__
        if name in CONSTANTS:
            return CONSTANTS[name]
        if x.is_Relational:
            return f"{self.parens(x.lhs, SUM)} {x.rel_op} {self.parens(x.rhs, SUM)}", COMPARISON
        kinds = ("Number", "Add", "Mul", "Pow", "Piecewise")
        kind = next((k for k in kinds if getattr(x, f"is_{k}")), name)
        return getattr(self, f"_{kind}", self._call)(x)

    # ---- arithmetic ------------------------------------------------------------------------------

    def _Number(self, x: Any) -> tuple[str, int]:
        negative = x.is_negative
        if x.is_Float:
            return repr(float(x)), SIGN if negative else ATOM
        return str(x), SIGN if negative else ATOM if x.is_Integer else PRODUCT

    def _Add(self, x: Any) -> tuple[str, int]:
        parts = {term.as_coeff_Mul(rational=True)[0].q for term in x.args}
        if len(parts) == 1 and parts != {1}:  # (2*a - b)/3, not 2*a/3 - b/3
            content, rest = x.primitive()
            return self._fraction(
                False, [sp.Integer(content.p)] * (content.p != 1) + [rest], [sp.Integer(content.q)]
            )
        terms = sorted(x.args, key=self.term_order)
        signed = [self.signed(term) for term in terms]
        front = next((k for k, (negative, _) in enumerate(signed) if not negative), 0)
        signed.insert(0, signed.pop(front))
        (negative, head), *rest = signed
        joined = "".join(f" {'-' if minus else '+'} {text}" for minus, text in rest)
        return f"{'-' * negative}{head}{joined}", SUM

    def signed(self, term: Any) -> tuple[bool, str]:
        """Whether the text of a term begins with a minus, and the text without it."""
        text = self.parens(term, SIGN)
        return (True, text[1:]) if text.startswith("-") else (False, text)

    def _Mul(self, x: Any) -> tuple[str, int]:
        scale, rest = x.as_coeff_Mul()
        negative = bool(scale.is_extended_negative)
        top: list = []
        bottom: list = []
        for part, side in zip((-scale if negative else scale).as_numer_denom(), (top, bottom)):
            if part is not sp.S.One:
                side.append(part)
        for factor in sorted(sp.Mul.make_args(rest), key=self.order):
            base, power = factor.as_base_exp() if factor.is_Pow else (factor, sp.S.One)
            (bottom if power.is_Number and power.is_negative else top).append(
                sp.Pow(base, -power, evaluate=False)
                if power.is_Number and power.is_negative
                else factor
            )
        return self._fraction(negative, top, bottom)

    def _fraction(self, negative: bool, top: list, bottom: list) -> tuple[str, int]:
        text = "*".join(self.parens(part, PRODUCT) for part in top) if len(top) > 1 else ""
        if not text:
            whole = not bottom and not negative
            text = "1" if not top else self.parens(top[0], SUM if whole else PRODUCT)
        if len(bottom) == 1:
            text += f"/{self.parens(bottom[0], POWER)}"
        elif bottom:
            text += f"/({'*'.join(self.parens(part, PRODUCT) for part in bottom)})"
        return (f"-{text}", SIGN) if negative else (text, PRODUCT)

    def _Pow(self, x: Any) -> tuple[str, int]:
        base, power = x.base, x.exp
        if power is sp.S.One:
            return self.text(base)
        if power == sp.S.Half:
            return f"sqrt({self.text(base)[0]})", ATOM
        if power.is_Number and power.is_negative:
            return self._fraction(False, [], [sp.Pow(base, -power, evaluate=False)])
        return f"{self.parens(base, ATOM)}**{self.parens(power, POWER)}", POWER

    # ---- functions, choices and conditions -------------------------------------------------------

    def _call(self, x: Any) -> tuple[str, int]:
        name = x.func.__name__
        inside = ", ".join(self.text(arg)[0] for arg in x.args)
        if name in RECIPROCALS:
            return f"1/{RECIPROCALS[name]}({inside})", PRODUCT
        return f"{NAMES.get(name, name)}({inside})", ATOM

    def _Max(self, x: Any) -> tuple[str, int]:
        *rest, text = (self.text(arg)[0] for arg in sorted(x.args, key=self.term_order))
        for other in reversed(rest):
            text = f"{NAMES[x.func.__name__]}({other}, {text})"
        return text, ATOM

    _Min = _Max

    def _Piecewise(self, x: Any) -> tuple[str, int]:
        text = "nan"
        for value, condition in reversed(x.args):
            branch = self.text(value)[0]
            always = condition is sp.true
            text = branch if always else f"where({self.text(condition)[0]}, {branch}, {text})"
        return text, ATOM

    def _And(self, x: Any) -> tuple[str, int]:
        return self._combined(x, " & ", AND)

    def _Or(self, x: Any) -> tuple[str, int]:
        return self._combined(x, " | ", OR)

    def _combined(self, x: Any, sign: str, precedence: int) -> tuple[str, int]:
        parts = sorted(x.args, key=self.order)
        return sign.join(self.parens(part, precedence + 1) for part in parts), precedence

    def _Not(self, x: Any) -> tuple[str, int]:
        return f"~{self.parens(x.args[0], ATOM)}", SIGN

    # ---- order -----------------------------------------------------------------------------------

    def term_order(self, term: Any) -> tuple:
        """Sort key of a term: its symbols, then its factors; numbers come last."""
        factors = sorted(self.order(f) for f in sp.Mul.make_args(term) if not f.is_Number)
        return (not self.depends(term), self.depends(term), not factors, factors)

    def order(self, x: Any) -> tuple:
        """Sort key of a factor: powers of symbols first, then others, by symbols and indices."""
        base, power = x.as_base_exp() if x.is_Pow else (x, sp.S.One)
        plain = base.is_Symbol and power.is_Number
        return (
            0 if plain else 1,
            self.depends(base),
            -float(power) if plain else 0.0,
            "" if plain else self.text(x)[0].replace("<", "~"),  # x > 0 before x < 1
        )

    def depends(self, x: Any) -> tuple:
        """The symbols of an expression, sorted by name and then by index."""
        result = self.symbols.get(x)
        if result is None:
            names = sorted(map(_natural, {s.name for s in x.free_symbols}))
            result = self.symbols[x] = tuple(names)
        return result


def _natural(name: str) -> tuple[str, tuple[int, ...]]:
    head, _, place = name.partition("[")
    return head, tuple(map(int, INDEX.findall(place)))
