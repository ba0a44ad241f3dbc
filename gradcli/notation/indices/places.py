"""Places in a tensor, as index notation writes them: `i`, `i+1`, `3i+j`, `i//3`, `i%3`, `y[i]`.

A place is an int, a letter, or a Linear: whole multiples of atoms and an offset. An atom is a
letter, a Part (what is left of a place after // and %, as reshape needs it) or a Picked (a whole
number that a tensor holds). `sizes` gives every letter its size; a letter runs from 0.
"""

from collections.abc import Callable, Mapping
from math import gcd
from typing import Any, NamedTuple, Union

from .. import tree
from ..tree import Multiples, Quotient, Tree

Place = Union[int, str, "Linear"]


class Linear(NamedTuple):
    """The sum of times * atom, and the offset; more than a letter alone, more than a number."""

    terms: tuple[tuple[Any, int], ...]
    offset: int


class Part(NamedTuple):
    """place // by % size, where 0 ≤ place; a size of 0 leaves out the remainder."""

    place: Place
    by: int
    size: int


class Picked(NamedTuple):
    """The place below `size` that `value` (an expression of expressions.py) gives; below 0 it
    counts from the end, as the labels of take and put do.
    """

    value: Any
    size: int


def linear(place) -> Linear:
    """Any place as a Linear."""
    if isinstance(place, Linear):
        return place
    if isinstance(place, int):
        return Linear((), place)
    return Linear(((place, 1),), 0)


def plain(terms: Mapping[Any, int], offset: int) -> Place:
    """The shortest form of a sum."""
    kept = tuple((atom, times) for atom, times in terms.items() if times)
    if not kept:
        return offset
    if offset == 0 and len(kept) == 1 and kept[0][1] == 1 and isinstance(kept[0][0], str):
        return kept[0][0]
    return Linear(kept, offset)


def plus(a, b, times: int = 1) -> Place:
    """a + times * b."""
    first, second = linear(a), linear(b)
    terms = dict(first.terms)
    for atom, n in second.terms:
        terms[atom] = terms.get(atom, 0) + times * n
    result = plain(terms, first.offset + times * second.offset)
    return result if isinstance(result, str | int) else _put_together(result)


def _put_together(form: Linear) -> Place:
    """2·(j//2) + j%2 is j."""
    for atom, times in form.terms:
        if isinstance(atom, Part) and atom.by == 1:
            rest = Part(atom.place, atom.size, 0)
            if (rest, times * atom.size) in form.terms:
                kept = {a: n for a, n in form.terms if a not in (atom, rest)}
                return plus(plain(kept, form.offset), atom.place, times)
    return form


def without_factor(left: Place, right: Place) -> tuple[Place, Place] | None:
    """Both sides of left == right without what all of their difference is a multiple of: i and
    j + 1 for 2i and 2j + 2. None where they are never equal, as 2i and 2j + 1.
    """
    terms, offset = linear(plus(right, left, -1))
    factor = gcd(*(n for _, n in terms))
    if factor < 2:
        return left, right
    if offset % factor:
        return None
    less = plain({a: -n // factor for a, n in terms if n < 0}, max(-offset, 0) // factor)
    more = plain({a: n // factor for a, n in terms if n > 0}, max(offset, 0) // factor)
    return less, more


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
    """place // by % size, in its shortest form; for places that are never negative. Without a
    remainder where size is 0.
    """
    if size == 1:
        return 0
    if isinstance(place, int):
        return place // by % size if size else place // by
    place = _without_rounds(place, by * size, sizes) if size else place
    place, by = _reduced(place, by, sizes)
    form = linear(place)
    whole = {atom: n // by for atom, n in form.terms if n % by == 0}
    rest = {atom: n for atom, n in form.terms if n % by}
    over = plain(rest, form.offset % by)
    low, high = bounds(over, sizes)
    if low >= 0 and high < by:
        less = {
            a: n % size if size and isinstance(a, str) and n > 0 else n for a, n in whole.items()
        }
        result = plain(less, form.offset // by)
        low, high = bounds(result, sizes)
        if low >= 0 and (high < size or not size):
            return result
        if isinstance(result, int):
            return result % size
        return Linear(((Part(result, 1, size), 1),), 0)
    high = bounds(place, sizes)[1]
    if whole and low >= 0 and (not size or high // by < size):  # (4i+j)//2 = 2i + j//2
        return plus(plain(whole, form.offset // by), part(over, by, 0, sizes))
    return Linear(((Part(place, by, 0 if high // by < size else size), 1),), 0)


def _reduced(place: Place, by: int, sizes: Mapping[str, int]) -> tuple[Place, int]:
    """A fraction of the same whole part: (5j+k) // 15 is j // 3, where k is below 5."""
    form = linear(place)
    for shared in sorted({gcd(n, by) for _, n in form.terms} - {1, by}, reverse=True):
        whole = {a: n // shared for a, n in form.terms if n % shared == 0}
        rest = plain({a: n for a, n in form.terms if n % shared}, form.offset % shared)
        low, high = bounds(rest, sizes)
        if low >= 0 and high < shared:
            return plain(whole, form.offset // shared), by // shared
    return place, by


def _without_rounds(place: Place, round_: int, sizes: Mapping[str, int]) -> Place:
    """What has the same remainder: 4i+j is j, where 4 is divided by."""
    for atom, times in linear(place).terms:
        if isinstance(atom, Part) and (atom.by, atom.size) == (1, round_):
            # (i+1)%4 + 3 goes round as i+4 does
            place = plus(plus(place, Linear(((atom, times),), 0), -1), atom.place, times)
    form = linear(place)
    rest = plain({a: n for a, n in form.terms if n % round_}, form.offset % round_)
    return rest if bounds(rest, sizes)[0] >= 0 else place


def substitute(
    place, new: Mapping[str, Place], inside: Callable, sizes: Mapping[str, int]
) -> Place:
    """The place with letters replaced; `inside` does the same to the expression of a Picked."""
    form = linear(place)
    out: Place = form.offset
    for atom, times in form.terms:
        if isinstance(atom, str):
            to: Place = new.get(atom, atom)
        elif isinstance(atom, Part):
            inner = substitute(atom.place, new, inside, sizes)
            to = Linear(((Part(inner, atom.by, atom.size), 1),), 0)
            if all(letter in sizes for letter in letters(inner, lambda e: set())):
                to = part(
                    inner, atom.by, atom.size or 1 + bounds(inner, sizes)[1] // atom.by, sizes
                )
        else:
            to = Linear(((Picked(inside(atom.value), atom.size), 1),), 0)
        out = plus(out, to, times)
    return out


def letters(place, inside: Callable) -> set[str]:
    """The letters that a place depends on; `inside` answers for the expression of a Picked."""
    if isinstance(place, str):
        return {place}
    result: set[str] = set()
    for atom, _ in linear(place).terms:
        if isinstance(atom, str):
            result.add(atom)
        else:
            result |= letters(atom.place, inside) if isinstance(atom, Part) else inside(atom.value)
    return result


def picked(place) -> list[Any]:
    """The expressions whose whole numbers a place depends on."""
    result: list[Any] = []
    for atom, _ in linear(place).terms:
        if isinstance(atom, Picked):
            result.append(atom.value)
        elif isinstance(atom, Part):
            result += picked(atom.place)
    return result


def at(place, env: Mapping[str, int], inside: Callable) -> int:
    """The place as a number, every letter having the value that `env` gives; nothing may be left
    open.
    """
    if isinstance(place, int):
        return place
    if isinstance(place, str):
        return env[place]
    total = place.offset
    for atom, times in place.terms:
        if isinstance(atom, str):
            value = env[atom]
        elif isinstance(atom, Part):
            value = at(atom.place, env, inside) // atom.by
            value = value % atom.size if atom.size else value
        else:
            value = inside(atom.value)
            value = value + atom.size * (value < 0)
        total = total + times * value
    return total


def written(place, inside: Callable, times: str = "") -> Tree:
    """As it is written: 2i+1, or 2*i+1 where a star is written for `times`; `inside` writes the
    expression of a Picked, alone or with something beside it.
    """
    if isinstance(place, int):
        return tree.Number(place)
    form = linear(place)
    alone = len(form.terms) == 1 and form.offset == 0
    terms = tuple((_atom(atom, inside, alone and abs(n) == 1, times), n) for atom, n in form.terms)
    return terms[0][0] if alone and terms[0][1] == 1 else Multiples(terms, form.offset, times)


def _atom(atom, inside: Callable, alone: bool, times: str) -> Tree:
    if isinstance(atom, str):
        return tree.Name(atom)
    if isinstance(atom, Picked):
        return inside(atom.value, alone)
    return Quotient(written(atom.place, inside, times), atom.by, atom.size)
