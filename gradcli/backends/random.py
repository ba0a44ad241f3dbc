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

BLOCK = 16  # PyTorch computes normal numbers in blocks of this size, or in pairs if they are fewer
PART = 4096 * BLOCK  # elements that are converted at once, to save memory


class Stream:
    """The numbers that PyTorch draws from MT19937 after torch.manual_seed(seed), in double
    precision. Each call continues where the last ended.
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

    def normals_in_pairs(self, count: int) -> list[float]:
        """`count` normal numbers, two at a time from two uniform numbers by the Box-Muller
        transform, as PyTorch draws fewer than 16. If the second of a pair is not needed, it is
        saved for the next call.
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
    """torch.rand and torch.randn after torch.manual_seed(seed), as NumPy arrays.

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
        numbers = (
            self._blocks(count) if count >= BLOCK else np.array(self.normals_in_pairs(count), float)
        )
        return numbers.reshape(tuple(shape))

    def _blocks(self, count: int) -> Any:
        """`count` normal numbers, for a count of 16 or more. If it is no multiple of 16, the last
        16 numbers are drawn anew, as in PyTorch.
        """
        numbers = self.uniforms(count)
        multiple = count - count % BLOCK
        for k in range(0, multiple, PART):
            part = slice(k, min(k + PART, multiple))
            numbers[part] = box_muller(numbers[part])
        if multiple < count:
            numbers[-BLOCK:] = box_muller(self.uniforms(BLOCK))
        return numbers


def box_muller(uniforms: Any) -> Any:
    """The Box-Muller transform, which makes normal numbers of uniform ones, in blocks of 16.

    `uniforms` is a vector whose length is a multiple of 16. As in PyTorch, element j of a block is
    paired with element j + 8. math.log is used because np.log may differ in the last bit; np.exp of
    an imaginary number uses cosine and sine of the C library.
    """
    u, turns = uniforms.reshape(-1, 2, BLOCK // 2).swapaxes(0, 1).reshape(2, -1)
    logarithms = np.fromiter(map(math.log, (1 - u).tolist()), float, u.size)
    radius, unit = np.sqrt(-2 * logarithms), np.exp(1j * (2 * math.pi * turns))
    points = radius * np.array([unit.real, unit.imag])
    return points.reshape(2, -1, BLOCK // 2).swapaxes(0, 1).reshape(-1)
