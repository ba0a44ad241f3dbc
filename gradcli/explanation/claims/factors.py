"""Claims that differ from the gradient by one factor for all elements."""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from ...language.program import Program, read_again
from ...lazy import np
from .claim import ORIGIN, built
from .edits import Correction, divisors, negated, numbers, scaled, with_another
from .findings import Finding, close
from .points import Point

LARGEST = 12  # largest numerator or denominator of a reported factor
SAME = 1e-6  # factors with at most this relative difference count as the same
TIMES = {Fraction(2): "twice", Fraction(3): "three times", Fraction(1, 2): "half"}
COFACTORS = (1, 2, Fraction(1, 2))  # a missing factor is a size times one of these, as 2 * n
MEAN, SUM = "a mean divides by it", "a sum does not divide by it"


def scaled_by_number(
    program: Program, findings: list[Finding], whole: bool
) -> Iterator[Correction]:
    """The formula divided by the ratio of claim to gradient, if it is the same number at all points
    at which they were compared. With `whole` the ratio is an integer or the reciprocal of one,
    otherwise another fraction.
    """
    ratio = _same_ratio(findings)
    if ratio is None:
        return
    exact = Fraction(ratio).limit_denominator(LARGEST)
    is_near = abs(float(exact) - ratio) <= SAME * abs(ratio)
    is_whole = 1 in (abs(exact.numerator), exact.denominator)
    small = abs(exact.numerator) <= LARGEST
    if is_near and small and is_whole == whole and exact not in (0, 1):
        yield Correction(_without(program, exact), _too_large(exact))


def other_numbers(program: Program, findings: list[Finding]) -> Iterator[Correction]:
    """The formula with one of its numbers replaced by another integer, if that corrects it."""
    ratio = _same_ratio(findings)
    if ratio is None:
        return
    above = ((position, n, n / ratio) for position, n in numbers(program))
    below = ((position, n, n * ratio) for position, n in divisors(program))
    for position, number, right in (*above, *below):
        new = round(right)
        if abs(new - right) <= SAME * abs(right):
            yield Correction(with_another(program, position, str(new)), f"{number} should be {new}")


def sizes_for_numbers(
    program: Program, findings: list[Finding], sizes: list[str]
) -> Iterator[Correction]:
    """The formula with a numeric divisor replaced by one of the `sizes` that varies among the
    points, if that corrects it.
    """
    ratios, divided_by = _ratios(findings), [*divisors(program)]
    if ratios is None or not divided_by:
        return
    for size in sizes:
        counts = [_size_at(size, t.point) for t in findings]
        for position, number in divided_by if len(set(counts)) > 1 else ():
            if all(abs(number * r - n) <= SAME * n for r, n in zip(ratios, counts)):
                yield Correction(
                    with_another(program, position, size), f"{number} should be {size}"
                )


def scaled_by_size(
    program: Program, findings: list[Finding], size: str, known: bool
) -> Iterator[Correction]:
    """The formula multiplied or divided by `size`, an expression such as x.numel(), if that
    corrects it, possibly with another factor of 2, 1/2 or -1.

    If the size is the same at all points, a constant factor would fit as well. A correction is
    then yielded only if `known`: the factor must be the size, because a formula mentions it, or
    corrections are tried at other sizes too.
    """
    ratios = _ratios(findings)
    counts = [_size_at(size, t.point) for t in findings]
    if ratios is None or (len(set(counts)) == 1 and not known):
        return
    for divide in (True, False):
        rest = [r / n if divide else r * n for r, n in zip(ratios, counts)]
        cofactor = Fraction(rest[0]).limit_denominator(2)
        opposite = all(abs(r + 1) < SAME for r in ratios)  # only the sign is wrong
        same = all(abs(r - cofactor) < SAME for r in rest)
        if same and not opposite and abs(cofactor) in COFACTORS:
            why = f"{size} times too {'large' if divide else 'small'}: {MEAN if divide else SUM}"
            built = scaled(program, size, divide)
            if cofactor != 1:
                built = _without(read_again(built, ORIGIN), cofactor)
                why = f"{why}; apart from that {_too_large(cofactor)}"
            yield Correction(built, why)
            return


def _same_ratio(findings: list[Finding]) -> float | None:
    """The ratio of claim to gradient, if it is the same at all points; None otherwise."""
    ratios = _ratios(findings)
    if ratios is None or max(ratios) - min(ratios) > SAME * abs(ratios[0]):
        return None
    return ratios[0]


@lru_cache(maxsize=128)  # every edit is tried with the same sizes
def _size_at(size: str, point: Point) -> float:
    """The value at a point of a size, an expression such as x.numel()."""
    return float(point(built(read_again(size, ORIGIN), point.problem)))


def _ratios(findings: list[Finding]) -> list[float] | None:
    """The ratio of claim to gradient at each point; None if it differs between elements."""
    result = [ratio(t) for t in findings]
    numbers = [r for r in result if r is not None]
    return numbers if len(numbers) == len(result) else None


def ratio(finding: Finding) -> float | None:
    """The ratio of claim to gradient at a point; None if it differs between elements."""
    if finding.value is None or finding.shape != finding.right.shape or not np.any(finding.right):
        return None
    with np.errstate(all="ignore"):
        result = float(np.sum(finding.value * finding.right) / np.sum(finding.right**2))
        return result if result and close(finding.value, result * finding.right) else None


def _too_large(factor: Fraction) -> str:
    """The text about a claim that is `factor` times the gradient."""
    times = TIMES.get(abs(factor), f"{abs(factor)} times")
    large = "" if abs(factor) == 1 else f"it is {times} what it should be"
    return " and ".join(filter(None, ("the sign is wrong" if factor < 0 else "", large)))


def _without(program: Program, factor: Fraction) -> str:
    """The text of the formula divided by a number."""
    if factor < 0:
        text = negated(program)
        return text if factor == -1 else _without(read_again(text, ORIGIN), -factor)
    if factor.numerator == 1:
        return scaled(program, str(factor.denominator))
    if factor.denominator == 1:
        return scaled(program, str(factor), divide=True)
    return scaled(program, f"{factor.denominator} / {factor.numerator}")
