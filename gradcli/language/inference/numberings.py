"""Sizes for those that nothing fixes, in order of plausibility."""

from collections.abc import Callable, Collection, Iterator
from itertools import chain, count, islice, permutations

from ...graphs.shapes import Shape

PERMUTATIONS = 60  # of sizes where stand-ins told nothing
STEEPNESSES = (1, 1.2, 1.4)  # of sizes that fall as stand-ins do

Numberings = Callable[[int, Collection[int]], Iterator[Shape]]


def different(length: int, fixed: Collection[int]) -> Iterator[Shape]:
    """Sizes in order of plausibility: all different, each the smallest that the earlier ones allow.

    The later of these find an image that is larger than the kernels that move over it.
    """
    for start, attempts in ((2, 1000), (5, 40), (10, 40), (30, 2), (100, 2), (1000, 2)):
        pool = islice((n for n in count(start) if n not in fixed), max(length + 1, 8))
        yield from islice(permutations(pool, length), attempts)
    for steepness in STEEPNESSES:
        yield _falling(length, fixed, steepness)


def _falling(length: int, fixed: Collection[int], steepness: float) -> Shape:
    """Sizes as the stand-ins fall: each image larger than all kernels that move over it."""
    result: list[int] = []
    size = 2.0
    while len(result) < length:
        if round(size) not in (*fixed, *result):
            result.append(round(size))
        size = max(size * steepness, size + 1)
    return tuple(result[::-1])


def few(length: int, fixed: Collection[int]) -> Iterator[Shape]:
    """Sizes where stand-ins told nothing, some different ones and 3, as cross(x, y) needs it."""
    return chain(islice(different(length, fixed), PERMUTATIONS), ((3,) * length,))


def equal(length: int, fixed: Collection[int]) -> Iterator[Shape]:
    """A last resort, where sizes that all differ do not work, as prime ones where they are
    divided.
    """
    return ((n,) * length for n in (2, 4, 1))
