"""Random numbers that are the same in every run.

This module does not use numpy.random, whose import takes longer than a short answer.
"""

import math
from random import Random
from typing import Any

from ..graphs.shapes import Shape, numel
from ..lazy import np


class Numbers:
    """A sequence of random numbers; each call continues after the last one."""

    def __init__(self, seed: int):
        self._bits = Random(seed)

    def uniform(self, low: float, high: float, size: Shape) -> Any:
        """An array of this shape, uniformly distributed between `low` and `high`."""
        count = numel(size)
        bits = np.frombuffer(self._bits.randbytes(8 * count), "<u8") >> 11
        return low + (high - low) * (bits / 2**53).reshape(size)

    def signs(self, size: Shape) -> Any:
        """An array of this shape with random elements 1 and -1."""
        count = numel(size)
        bits = np.frombuffer(self._bits.randbytes(-(-count // 8)), np.uint8)
        return 1.0 - 2.0 * np.unpackbits(bits, count=count).reshape(size)

    def normal(self, size: Shape) -> Any:
        """An array of this shape of standard normal numbers (by Box and Muller's method)."""
        radius = np.sqrt(-2 * np.log1p(-self.uniform(0, 1, size)))
        return radius * np.cos(2 * math.pi * self.uniform(0, 1, size))
