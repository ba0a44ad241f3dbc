"""PyTorch's CPU random numbers from a seed, without PyTorch.

This module knows how torch.rand and torch.randn compute float64 numbers after torch.manual_seed,
from MT19937, a generator that NumPy has too. It does not know other dtypes, other distributions or
the GPU's generator.
"""

import math
from collections.abc import Sequence
from typing import Any

from ..errors import GradcliError
from ..graphs.shapes import numel
from ..lazy import np

BLOCK = 16  # torch.randn computes blocks of this size, unless it draws fewer numbers
PART = 4096 * BLOCK  # elements that are converted at once


class Stream:
    """MT19937 after torch.manual_seed(seed), as numbers in double precision; each call continues
    where the last ended.
    """

    def __init__(self, seed: int):
        self._words = np.random.RandomState(seed % 2**32)  # PyTorch also uses the low 32 bits
        self._spare: float | None = None  # the second number of a pair, for the next call

    def uniforms(self, count: int) -> Any:
        """`count` uniform numbers in [0, 1): multiples of 2**-53, each from two 32-bit words."""
        result = np.empty(count)
        for k in range(0, count, PART):
            part = result[k : k + PART]
            high, low = np.frombuffer(self._words.bytes(8 * part.size), "<u4").reshape(-1, 2).T
            part[:] = (high.astype(np.uint64) << np.uint64(32) | low) & np.uint64(2**53 - 1)
            part /= 2**53
        return result

    def pairs(self, count: int) -> list[float]:
        """Fewer than 16 normal numbers, each pair from two uniform numbers. If the second of a pair
        is not needed, it is saved for the next call.
        """
        result = [] if self._spare is None or not count else [self._spare]
        if result:
            self._spare = None
        while len(result) < count:
            angle, u = self.uniforms(2).tolist()
            radius, angle = math.sqrt(-2 * math.log1p(-u)), 2 * math.pi * angle
            result += radius * math.cos(angle), radius * math.sin(angle)
        if len(result) > count:
            self._spare = result.pop()
        return result


class Generator(Stream):
    """The stream of numbers after torch.manual_seed(seed); each call continues where the last
    ended.

    `seed` is an integer, 0 <= seed < 2**63; GradcliError "option" otherwise.
    """

    def __init__(self, seed: int):
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
            raise GradcliError(
                "option",
                f"{seed!r} is not a random seed",
                hint="an integer from 0 to 2**63 - 1",
            )
        super().__init__(seed)

    def rand(self, shape: Sequence[int]) -> Any:
        """torch.rand(shape, dtype=torch.float64), bit for bit."""
        return self.uniforms(numel(shape)).reshape(tuple(shape))

    def randn(self, shape: Sequence[int]) -> Any:
        """torch.randn(shape, dtype=torch.float64), bit for bit where the C library is the same."""
        count = numel(shape)
        numbers = self._blocks(count) if count >= BLOCK else np.array(self.pairs(count), float)
        return numbers.reshape(tuple(shape))

    def _blocks(self, count: int) -> Any:
        """16 normal numbers or more; the last 16 are drawn anew if `count` is no multiple of 16."""
        numbers = self.uniforms(count)
        multiple = count - count % BLOCK
        for k in range(0, multiple, PART):
            part = slice(k, min(k + PART, multiple))
            numbers[part] = transform(numbers[part])
        if multiple < count:
            numbers[-BLOCK:] = transform(self.uniforms(BLOCK))
        return numbers


def transform(uniforms: Any) -> Any:
    """The Box-Muller transform on blocks of 16, shape (16 k,); it pairs element j of a block with
    element j + 8. math.log is used because np.log may differ in the last bit; np.exp of an
    imaginary number uses cosine and sine of the C library.
    """
    u, turns = uniforms.reshape(-1, 2, BLOCK // 2).swapaxes(0, 1).reshape(2, -1)
    logarithms = np.fromiter(map(math.log, (1 - u).tolist()), float, u.size)
    radius, unit = np.sqrt(-2 * logarithms), np.exp(1j * (2 * math.pi * turns))
    points = radius * np.array([unit.real, unit.imag])
    return points.reshape(2, -1, BLOCK // 2).swapaxes(0, 1).reshape(-1)
