"""Numbers as formulas: math.sqrt(8) for 2.8284271247461903, 2 * pi for 6.283185307179586.

Their roots are powers, 8 ** 0.5, until `with_root_calls` writes them as calls.
"""

from fractions import Fraction
from math import isclose, isfinite, isqrt, log, pi

from ..tree import Call, Infix, Name, Number, Prefix, Tree

TOLERANCE = 1e-15  # relative
LARGEST = 1_000  # of roots that are recognised, and their reciprocals
LARGEST_DIVISOR = 12  # of a root
DIGITS = 6  # most digits of a number that is recognised as a factor of a root of pi
MULTIPLES = 64  # largest n for which n * pi, pi / n and n / pi are recognised
HALF = Number(0.5)


def numeral(value: float, point: bool = False) -> Tree:
    """A number; square roots of integers, and their reciprocals, are written as powers."""
    if not (isinstance(value, float) and isfinite(value)):
        return Number(value, point)
    result = _root(abs(value))
    if result is None:
        return Number(value, point)
    return _negated(result) if value < 0 else result


def _negated(written: Tree) -> Tree:
    """The negated formula: -5 ** 0.5 / 3 for 5 ** 0.5 / 3, and -2 * pi for 2 * pi."""
    if isinstance(written, Infix) and written.symbol in ("*", "/"):
        return written._replace(left=_negated(written.left))
    if isinstance(written, Number):
        return Number(-written.value)
    return Prefix("-", written)


def divisor_of_root(value: float) -> int:
    """The denominator with which a number is written: 3 for 5 ** 0.5 / 3; 1 for other numbers."""
    written = numeral(abs(value))
    divides = isinstance(written, Infix) and written.symbol == "/"
    return written.right.value if divides else 1  # type: ignore[union-attr]


def _root(value: float) -> Tree | None:
    if value == round(value, 6) or not 1 / LARGEST < value < LARGEST:
        return None
    power = 0.5 if value > 1 else -0.5
    whole = round(value ** (1 / power))
    if isqrt(whole) ** 2 == whole:  # 1/3 is not a root
        return None
    if abs(whole**power - value) > TOLERANCE * value:
        return _multiple_of_a_root(value)
    return Infix("**", Number(whole), Number(power))


def _multiple_of_a_root(value: float) -> Tree | None:
    """A multiple of a root: 5 ** 0.5 / 3, or 2 * 3 ** 0.5 / 5; None for other numbers."""
    square = Fraction(value**2).limit_denominator(LARGEST_DIVISOR**2)
    if not isclose(float(square) ** 0.5, value, rel_tol=TOLERANCE):
        return None
    whole = square.numerator * square.denominator
    times = _square_in(whole)
    if not 1 < whole // times**2 < LARGEST:
        return None
    ratio = Fraction(times, square.denominator)
    result: Tree = Infix("**", Number(whole // times**2), HALF)
    if ratio.numerator > 1:
        result = Infix("*", Number(ratio.numerator), result)
    return Infix("/", result, Number(ratio.denominator)) if ratio.denominator > 1 else result


def by_pi(value: float, name: Tree) -> Tree | None:
    """A number as a formula in pi, called `name`: (2 * pi) ** -0.5; None for other numbers."""
    formulas = (f for number, f in _MADE_OF_PI if isclose(abs(value), number, rel_tol=TOLERANCE))
    result = next(formulas, None)
    written = result(name) if result else _in_pi(abs(value), name) or _times_root(abs(value), name)
    return _negated(written) if written is not None and value < 0 else written


def _in_pi(value: float, name: Tree) -> Tree | None:
    """4 * pi, pi / 3, 2 / pi, or 6 * pi ** 2; None for other numbers."""
    if _is_multiple(value / pi**2):
        return Infix("*", Number(round(value / pi**2)), Infix("**", name, Number(2)))
    larger = max(value / pi, pi / value) if value else 0.0
    if _is_multiple(larger):
        whole = Number(round(larger))
        return Infix("*", whole, name) if value > pi else Infix("/", name, whole)
    if _is_multiple(value * pi):
        return Infix("/", Number(round(value * pi)), name)
    below = 1 / (value * pi) if value else 0.0
    return (
        Infix("/", Number(1), Infix("*", Number(round(below)), name))
        if _is_multiple(below)
        else None
    )


def _times_root(value: float, name: Tree) -> Tree | None:
    """0.134145 * (2 / pi) ** 0.5, a number of few digits times a root; None for other numbers."""
    for number, formula in _ROOTS_OF_PI:
        times = float(f"{value / number:.{DIGITS}g}")
        if times and isfinite(times) and isclose(times * number, value, rel_tol=TOLERANCE):
            whole = int(times) if times.is_integer() else times
            return Infix("*", Number(whole), formula(name))
    return None


def by_log(value: float) -> Tree | None:
    """A simple multiple of the logarithm of 2, 3, 5 or 10: math.log(10) / 20; None for others."""
    for base in (2, 3, 5, 10) if value != round(value, DIGITS) else ():
        exact = value / log(base)
        times = Fraction(exact).limit_denominator(MULTIPLES) if isfinite(exact) else Fraction(0)
        if times and abs(times) < MULTIPLES and isclose(times, exact, rel_tol=TOLERANCE):
            written: Tree = Call("math.log", (Number(base),))
            if abs(times.numerator) > 1:
                written = Infix("*", Number(abs(times.numerator)), written)
            if times.denominator > 1:
                written = Infix("/", written, Number(times.denominator))
            return written if value > 0 else _negated(written)
    return None


def _is_multiple(ratio: float) -> bool:
    whole = round(ratio) if ratio < MULTIPLES + 0.5 else 0
    return whole > 1 and isclose(ratio, whole, rel_tol=TOLERANCE)


def root_below(value: float) -> float | None:
    """The divisor that replaces a factor: (2 * pi) ** 0.5 for (2 * pi) ** -0.5, in x / (2 * pi) **
    0.5; None for other numbers.
    """
    written = by_pi(abs(value), Name("pi")) or numeral(abs(value))
    if not isinstance(written, Infix) or not isinstance(written.right, Number):
        return None
    return 1 / abs(value) if written.symbol == "**" and written.right.value < 0 else None


def split_root(value: float) -> tuple[Fraction | float, Fraction | float]:
    """t and s for a number t * s ** 0.5 in which t is a simple fraction and s one times a power of
    pi: 1/2 and 1 / pi for 0.5 * pi ** -0.5; the number and 1 if there are none.
    """
    for power in (1, -1, 0):
        exact = value**2 / pi**power
        square = Fraction(exact).limit_denominator(LARGEST_DIVISOR**2)
        if 0 < square < LARGEST and isclose(square, exact, rel_tol=TOLERANCE):
            above, below = map(_square_in, (square.numerator, square.denominator))
            rest = square / Fraction(above, below) ** 2
            times = Fraction(above if value > 0 else -above, below)
            return (times, rest * pi**power if power else rest)
    return value, 1


def _square_in(n: int) -> int:
    """The largest integer whose square divides n."""
    return max(k for k in range(1, isqrt(n) + 1) if n % k**2 == 0)


def with_root_calls(written: Tree) -> Tree:
    """A number with math.sqrt(x) in place of x ** 0.5; `torch.sqrt` takes tensors only."""
    if isinstance(written, Prefix):
        return written._replace(operand=with_root_calls(written.operand))
    if not isinstance(written, Infix):
        return written
    if written.symbol == "**" and written.right in (HALF, Number(-0.5)):
        root = Call("math.sqrt", (written.left,))
        return root if written.right == HALF else Infix("/", Number(1), root)
    left, right = with_root_calls(written.left), with_root_calls(written.right)
    if written.symbol == "*" and isinstance(right, Infix) and right.left == Number(1):
        return right._replace(left=left)  # 4 / math.sqrt(pi) for 4 * pi ** -0.5
    return written._replace(left=left, right=right)


_ROOTS_OF_PI = (
    ((2 / pi) ** 0.5, lambda p: Infix("**", Infix("/", Number(2), p), HALF)),
    ((2 * pi) ** 0.5, lambda p: Infix("**", Infix("*", Number(2), p), HALF)),
    ((2 * pi) ** -0.5, lambda p: Infix("**", Infix("*", Number(2), p), Number(-0.5))),
    (pi**-0.5, lambda p: Infix("**", p, Number(-0.5))),
)
_MADE_OF_PI = (
    (pi, lambda p: p),
    (2 * pi, lambda p: Infix("*", Number(2), p)),
    (pi / 2, lambda p: Infix("/", p, Number(2))),
    (pi / 180, lambda p: Infix("/", p, Number(180))),
    (180 / pi, lambda p: Infix("/", Number(180), p)),
    (1 / pi, lambda p: Infix("/", Number(1), p)),
    (pi**0.5, lambda p: Infix("**", p, HALF)),
    (2 / pi**0.5, lambda p: Infix("/", Number(2), Infix("**", p, HALF))),
    (pi**0.5 / 2, lambda p: Infix("/", Infix("**", p, HALF), Number(2))),
    *_ROOTS_OF_PI,
)
