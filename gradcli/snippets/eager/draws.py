"""PyTorch's random numbers on a CPU, from a seed, in the dtypes that programs use.

The generator is MT19937, whose stream NumPy shares: numbers are made of its 32-bit words as PyTorch
makes them; float32 normal numbers of 16 elements or more as it makes them on processors with AVX2.
"""

import math
from collections.abc import Sequence
from typing import Any

from ...lazy import np
from .box_muller import BLOCK, transformed
from .dtypes import FLOAT64, DType


class Generator:
    """The stream after torch.manual_seed(seed)."""

    def __init__(self, seed: int = 0):
        self.seed = seed
        self._words = np.random.RandomState(seed % 2**32)
        self._spare: float | None = None  # the second of a pair of normal numbers

    def words(self, count: int) -> Any:
        """The next 32-bit words."""
        return np.frombuffer(self._words.bytes(4 * count), "<u4") if count else np.zeros(0, "<u4")

    def _doubles(self, count: int) -> Any:
        high, low = self.words(2 * count).reshape(-1, 2).T.astype(np.uint64)
        return ((high << np.uint64(32) | low) & np.uint64(2**53 - 1)) / 2.0**53

    def uniform(self, shape: Sequence[int], dtype: DType) -> Any:
        """torch.rand: numbers in [0, 1)."""
        count = math.prod(shape)
        if dtype is FLOAT64:
            return self._doubles(count).reshape(shape)
        return (
            ((self.words(count) & 0xFFFFFF) / np.float32(2**24)).astype(dtype.numpy).reshape(shape)
        )

    def between(self, shape: Sequence[int], low: float, high: float, dtype: DType) -> Any:
        """Tensor.uniform_(low, high), rounded once as a fused multiply-add is."""
        numbers = self.uniform(shape, dtype).astype(np.longdouble)
        a, b = np.dtype(dtype.numpy).type(low), np.dtype(dtype.numpy).type(high)
        return (numbers * np.longdouble(b - a) + np.longdouble(a)).astype(dtype.numpy)

    def normal(
        self, shape: Sequence[int], dtype: DType, mean: float = 0.0, std: float = 1.0
    ) -> Any:
        """Tensor.normal_(mean, std): from 16 elements on they are made in blocks of 16."""
        count = math.prod(shape)
        if count < BLOCK:
            pairs = np.array(self._pairs(count)) * std + mean
            return pairs.astype(dtype.numpy).reshape(shape)
        flat = self.uniform((count,), dtype)
        whole = count - count % BLOCK
        flat[:whole] = transformed(flat[:whole], mean, std)
        if whole < count:
            flat[-BLOCK:] = transformed(self.uniform((BLOCK,), dtype), mean, std)
        return flat.reshape(shape)

    def _pairs(self, count: int) -> list[float]:
        result = [] if self._spare is None or not count else [self._spare]
        if result:
            self._spare = None
        while len(result) < count:
            angle, u = self._doubles(2).tolist()
            radius, turn = math.sqrt(-2 * math.log1p(-u)), 2 * math.pi * angle
            result += [radius * math.cos(turn), radius * math.sin(turn)]
        if len(result) > count:
            self._spare = result.pop()
        return result

    def integers(self, low: int, high: int, shape: Sequence[int]) -> Any:
        """torch.randint: whole numbers from low to high - 1."""
        count, span = math.prod(shape), high - low
        if span < 2**32:
            numbers = self.words(count).astype(np.int64)
        else:
            first, second = self.words(2 * count).reshape(-1, 2).T.astype(np.uint64)
            numbers = (first << np.uint64(32) | second) % np.uint64(span)
        return (numbers.astype(np.int64) % span + low).reshape(shape)

    def permutation(self, count: int) -> Any:
        """torch.randperm."""
        result = np.arange(count)
        for k, word in zip(range(count - 1), self.words(max(count - 1, 0)).tolist()):
            other = k + word % (count - k)
            result[[k, other]] = result[[other, k]]
        return result

    def exponential(self, shape: Sequence[int], rate: float = 1.0) -> Any:
        """Tensor.exponential_, in double precision."""
        return (-np.log1p(-self._doubles(math.prod(shape))) / rate).reshape(shape)

    def choices(self, weights: Any, count: int, replacement: bool) -> Any:
        """torch.multinomial: places in each row of weights."""
        if not replacement or count == 1:
            keys = weights / self.exponential(weights.shape).astype(weights.dtype)
            return np.argsort(-keys, axis=-1, kind="stable")[..., :count]
        sums = np.cumsum(weights, -1, dtype=weights.dtype)
        sums = sums / sums[..., -1:]
        sums[..., -1] = 1
        rows = [np.searchsorted(row, self._doubles(count)) for row in sums]
        return np.array(rows)

    def chances(self, shape: Sequence[int], probability: float) -> Any:
        """Tensor.bernoulli_(p): 1 where a number of double precision is below p."""
        return (self._doubles(math.prod(shape)) < probability).reshape(shape)
