"""Places: in index notation, the index of an element along one dimension, as an expression: `i`,
`i+1`, `3i+j`, `i//3`, `i%3`, `y[i]`.

A place is an int, a letter, or a Linear: integer multiples of atoms plus an offset. An atom is a
letter, a Part (a place after // and %, for reshape) or a Picked (an element of an integer tensor).
`sizes` maps letters to their sizes; a letter starts at 0.
"""

from collections.abc import Callable, Mapping, Sequence
from math import gcd
from typing import Any, NamedTuple, Union

from ...graphs.shapes import Shape
from .. import tree
from ..tree import Multiples, Quotient, Tree

Place = Union[int, str, "Linear"]


class Linear(NamedTuple):
    """The sum of times * atom, for the pairs (atom, times) in `terms`, plus an offset. A place that
    is a single letter or a number is never a Linear.
    """

    terms: tuple[tuple[Any, int], ...]
    offset: int


class Part(NamedTuple):
    """place // by % size for 0 ≤ place; place // by if size is 0."""

    place: Place
    by: int
    size: int


class Picked(NamedTuple):
    """The value of an expression (see expressions.py) as a place below `size`. Negative values
    count from the end, as in take and put.
    """

    value: Any
    size: int


def linear(place) -> Linear:
    """Any place, converted to a Linear."""
    if isinstance(place, Linear):
        return place
    if isinstance(place, int):
        return Linear((), place)
    return Linear(((place, 1),), 0)


def plain(terms: Mapping[Any, int], offset: int) -> Place:
    """The place that is the sum of times * atom, for the items of `terms`, plus an offset."""
    nonzero = tuple((atom, times) for atom, times in terms.items() if times)
    if not nonzero:
        return offset
    if offset == 0 and len(nonzero) == 1 and nonzero[0][1] == 1 and isinstance(nonzero[0][0], str):
        return nonzero[0][0]
    return Linear(nonzero, offset)


def plus(a, b, times: int = 1) -> Place:
    """a + times * b."""
    first, second = linear(a), linear(b)
    terms = dict(first.terms)
    for atom, n in second.terms:
        terms[atom] = terms.get(atom, 0) + times * n
    result = plain(terms, first.offset + times * second.offset)
    return result if isinstance(result, str | int) else _merge_parts(result)


def _merge_parts(form: Linear) -> Place:
    """Replace 2·(j//2) + j%2 by j."""
    for atom, times in form.terms:
        if isinstance(atom, Part) and atom.by == 1:
            rest = Part(atom.place, atom.size, 0)
            if (rest, times * atom.size) in form.terms:
                others = {a: n for a, n in form.terms if a not in (atom, rest)}
                return plus(plain(others, form.offset), atom.place, times)
    return form


def without_factor(left: Place, right: Place) -> tuple[Place, Place] | None:
    """Both sides of left == right divided by their common factor: i and j + 1 for 2i and 2j + 2.
    Unchanged if there is none, None if the sides are never equal, as 2i and 2j + 1.
    """
    terms, offset = linear(plus(right, left, -1))
    factor = gcd(*(n for _, n in terms))
    if factor < 2:
        return left, right
    if offset % factor:
        return None
    lower = plain({a: -n // factor for a, n in terms if n < 0}, max(-offset, 0) // factor)
    higher = plain({a: n // factor for a, n in terms if n > 0}, max(offset, 0) // factor)
    return lower, higher


def bounds(place, sizes: Mapping[str, int]) -> tuple[int, int]:
    """The least and the greatest value of a place."""
    form = linear(place)
    low = high = form.offset
    for atom, times in form.terms:
        least, most = _atom_bounds(atom, sizes)
        low, high = low + min(times * least, times * most), high + max(times * least, times * most)
    return low, high


def _atom_bounds(atom, sizes) -> tuple[int, int]:
    if isinstance(atom, str):
        return 0, sizes[atom] - 1
    if isinstance(atom, Picked):
        return 0, atom.size - 1
    most = bounds(atom.place, sizes)[1] // atom.by
    return 0, min(most, atom.size - 1) if atom.size else most


def part(place: Place, by: int, size: int, sizes: Mapping[str, int]) -> Place:
    """place // by % size in its shortest form, for nonnegative places; place // by if size is 0."""
    if size == 1:
        return 0
    if isinstance(place, int):
        return place // by % size if size else place // by
    place = _remainder_only(place, by * size, sizes) if size else place
    place, by = _reduced(place, by, sizes)
    form = linear(place)
    whole = {atom: n // by for atom, n in form.terms if n % by == 0}
    rest = {atom: n for atom, n in form.terms if n % by}
    below = plain(rest, form.offset % by)
    low, high = bounds(below, sizes)
    if low >= 0 and high < by:
        reduced = {
            a: n % size if size and isinstance(a, str) and n > 0 else n for a, n in whole.items()
        }
        result = plain(reduced, form.offset // by)
        low, high = bounds(result, sizes)
        if low >= 0 and (high < size or not size):
            return result
        if isinstance(result, int):
            return result % size
        return Linear(((Part(result, 1, size), 1),), 0)
    high = bounds(place, sizes)[1]
    if whole and low >= 0 and (not size or high // by < size):  # (4i+j)//2 = 2i + j//2
        return plus(plain(whole, form.offset // by), part(below, by, 0, sizes))
    return Linear(((Part(place, by, 0 if high // by < size else size), 1),), 0)


def _reduced(place: Place, by: int, sizes: Mapping[str, int]) -> tuple[Place, int]:
    """Place and divisor reduced by a common factor, if there is one: (5j+k) // 15 is j // 3 if
    k < 5.
    """
    form = linear(place)
    for shared in sorted({gcd(n, by) for _, n in form.terms} - {1, by}, reverse=True):
        whole = {a: n // shared for a, n in form.terms if n % shared == 0}
        rest = plain({a: n for a, n in form.terms if n % shared}, form.offset % shared)
        low, high = bounds(rest, sizes)
        if low >= 0 and high < shared:
            return plain(whole, form.offset // shared), by // shared
    return place, by


def _remainder_only(place: Place, modulus: int, sizes: Mapping[str, int]) -> Place:
    """A place with the same remainder modulo `modulus`: j for 4i+j modulo 4."""
    for atom, times in linear(place).terms:
        if isinstance(atom, Part) and (atom.by, atom.size) == (1, modulus):
            # (i+1)%4 + 3 has the remainder of i+4
            place = plus(plus(place, Linear(((atom, times),), 0), -1), atom.place, times)
    form = linear(place)
    rest = plain({a: n for a, n in form.terms if n % modulus}, form.offset % modulus)
    return rest if bounds(rest, sizes)[0] >= 0 else place


def runs_over(at: Sequence[Place], shape: Shape, sizes: Mapping[str, int]) -> bool:
    """Whether places are letters that run over all elements of a tensor of this shape."""
    return all(
        p == 0 if n == 1 else isinstance(p, str) and sizes[p] == n for p, n in zip(at, shape)
    )


def substitute(
    place, new: Mapping[str, Place], in_picked: Callable, sizes: Mapping[str, int]
) -> Place:
    """The place with letters replaced; `in_picked` does the same for the expression of a Picked."""
    form = linear(place)
    out: Place = form.offset
    for atom, times in form.terms:
        if isinstance(atom, str):
            replacement: Place = new.get(atom, atom)
        elif isinstance(atom, Part):
            inner = substitute(atom.place, new, in_picked, sizes)
            replacement = Linear(((Part(inner, atom.by, atom.size), 1),), 0)
            if all(letter in sizes for letter in letters(inner, lambda e: set())):
                replacement = part(
                    inner, atom.by, atom.size or 1 + bounds(inner, sizes)[1] // atom.by, sizes
                )
        else:
            replacement = Linear(((Picked(in_picked(atom.value), atom.size), 1),), 0)
        out = plus(out, replacement, times)
    return out


def letters(place, of_picked: Callable) -> set[str]:
    """The letters of a place; `of_picked` returns those of the expression of a Picked."""
    if isinstance(place, str):
        return {place}
    result: set[str] = set()
    for atom, _ in linear(place).terms:
        if isinstance(atom, str):
            result.add(atom)
        else:
            result |= (
                letters(atom.place, of_picked) if isinstance(atom, Part) else of_picked(atom.value)
            )
    return result


def picked(place) -> list[Any]:
    """The expressions of all Picked in a place."""
    result: list[Any] = []
    for atom, _ in linear(place).terms:
        if isinstance(atom, Picked):
            result.append(atom.value)
        elif isinstance(atom, Part):
            result += picked(atom.place)
    return result


def at(place, env: Mapping[str, int], of_picked: Callable) -> int:
    """The value of a place, from those of letters in `env`; `of_picked` evaluates a Picked."""
    if isinstance(place, int):
        return place
    if isinstance(place, str):
        return env[place]
    total = place.offset
    for atom, times in place.terms:
        if isinstance(atom, str):
            value = env[atom]
        elif isinstance(atom, Part):
            value = at(atom.place, env, of_picked) // atom.by
            value = value % atom.size if atom.size else value
        else:
            value = of_picked(atom.value)
            value = value + atom.size * (value < 0)
        total = total + times * value
    return total


def written(place, of_picked: Callable, times: str = "") -> Tree:
    """The tree of a place: 2i+1, or 2*i+1 if `times` is a star. `of_picked` returns the tree of the
    expression of a Picked; its second argument is whether the place consists of this Picked only.
    """
    if isinstance(place, int):
        return tree.Number(place)
    form = linear(place)
    alone = len(form.terms) == 1 and form.offset == 0
    terms = tuple(
        (_atom(atom, of_picked, alone and abs(n) == 1, times), n) for atom, n in form.terms
    )
    return terms[0][0] if alone and terms[0][1] == 1 else Multiples(terms, form.offset, times)


def _atom(atom, of_picked: Callable, alone: bool, times: str) -> Tree:
    if isinstance(atom, str):
        return tree.Name(atom)
    if isinstance(atom, Picked):
        return of_picked(atom.value, alone)
    return Quotient(written(atom.place, of_picked, times), atom.by, atom.size)
