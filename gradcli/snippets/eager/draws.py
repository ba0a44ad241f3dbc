"""PyTorch's random numbers on a CPU, from a seed, for the dtypes that programs use.

The generator is MT19937, as in NumPy; its 32-bit words are converted to numbers as in PyTorch.
Normal numbers of float32 tensors with at least 16 elements are those of CPUs with AVX2.
"""

import math
from collections.abc import Sequence
from typing import Any

from ...backends.random import BLOCK, Stream, box_muller
from ...lazy import np
from .dtypes import FLOAT64, DType


class Generator(Stream):
    """The random numbers after torch.manual_seed(seed)."""

    def __init__(self, seed: int = 0):
        super().__init__(seed)
        self.seed = seed

    def place(self) -> tuple[int, int, float | None]:
        """The position in the sequence of random words, to compare whether numbers were drawn."""
        _, key, position, *_ = self._words.get_state()
        return int(key[0]), int(position), self._spare

    def words(self, count: int) -> Any:
        """The next `count` 32-bit words."""
        return np.frombuffer(self._words.bytes(4 * count), "<u4") if count else np.zeros(0, "<u4")

    def uniform(self, shape: Sequence[int], dtype: DType) -> Any:
        """torch.rand: uniform numbers in [0, 1)."""
        count = math.prod(shape)
        if dtype is FLOAT64:
            return self.uniforms(count).reshape(shape)
        return (
            ((self.words(count) & 0xFFFFFF) / np.float32(2**24)).astype(dtype.numpy).reshape(shape)
        )

    def between(self, shape: Sequence[int], low: float, high: float, dtype: DType) -> Any:
        """Tensor.uniform_(low, high), rounded once as by a fused multiply-add."""
        numbers = self.uniform(shape, dtype).astype(np.longdouble)
        a, b = np.dtype(dtype.numpy).type(low), np.dtype(dtype.numpy).type(high)
        return (numbers * np.longdouble(b - a) + np.longdouble(a)).astype(dtype.numpy)

    def normal(
        self,
        shape: Sequence[int],
        dtype: DType,
        mean: float = 0.0,
        std: float = 1.0,
        in_order: bool = True,
    ) -> Any:
        """Tensor.normal_(mean, std). PyTorch transforms blocks of 16 uniform numbers if the tensor
        is contiguous (`in_order`) and has at least 16 elements; otherwise it transforms pairs.
        """
        count = math.prod(shape)
        if count < BLOCK or not in_order:
            pairs = np.array(self.normals_in_pairs(count)) * std + mean
            return pairs.astype(dtype.numpy).reshape(shape)
        numbers = self.uniform((count,), dtype)
        in_blocks = count - count % BLOCK
        numbers[:in_blocks] = transformed(numbers[:in_blocks], mean, std)
        if in_blocks < count:
            numbers[-BLOCK:] = transformed(self.uniform((BLOCK,), dtype), mean, std)
        return numbers.reshape(shape)

    def integers(self, low: int, high: int, shape: Sequence[int]) -> Any:
        """torch.randint: integers from low to high - 1."""
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
            partner = k + word % (count - k)
            result[[k, partner]] = result[[partner, k]]
        return result

    def exponential(self, shape: Sequence[int], rate: float = 1.0) -> Any:
        """Tensor.exponential_, in double precision."""
        return (-np.log1p(-self.uniforms(math.prod(shape))) / rate).reshape(shape)

    def log_normal(self, shape: Sequence[int], mean: float, std: float) -> Any:
        """Tensor.log_normal_, in double precision."""
        return np.exp(np.array(self.normals_in_pairs(math.prod(shape))) * std + mean).reshape(shape)

    def cauchy(self, shape: Sequence[int], median: float, sigma: float) -> Any:
        """Tensor.cauchy_, in double precision."""
        angles = math.pi * (self.uniforms(math.prod(shape)) - 0.5)
        return (median + sigma * np.tan(angles)).reshape(shape)

    def choices(self, weights: Any, count: int, replacement: bool) -> Any:
        """torch.multinomial: indices drawn for each row of weights."""
        if not replacement or count == 1:
            keys = weights / self.exponential(weights.shape).astype(weights.dtype)
            return np.argsort(-keys, axis=-1, kind="stable")[..., :count]
        sums = np.cumsum(weights, -1, dtype=weights.dtype)
        sums = sums / sums[..., -1:]
        sums[..., -1] = 1
        rows = [np.searchsorted(row, self.uniforms(count)) for row in sums]
        return np.array(rows)

    def gamma(self, shapes: Any) -> Any:
        """torch._standard_gamma, in double precision, for an array of shape parameters."""
        return np.array([self._gamma(a) for a in shapes.ravel().tolist()]).reshape(shapes.shape)

    def _gamma(self, alpha: float) -> float:
        """A gamma variate with shape `alpha`, by the method of Marsaglia and Tsang (2000)."""
        scale = 1.0
        if alpha < 1:
            if not alpha:
                return 0.0
            scale = (1 - self._double()) ** (1 / alpha)
            alpha += 1
        d = alpha - 1 / np.float32(3)
        c = 1 / math.sqrt(9 * d)
        while True:
            y = 0.0
            while y <= 0:
                (x,) = self.normals_in_pairs(1)
                y = 1 + c * x
            cube, u, square = y**3, 1 - self._double(), x * x
            if u < 1 - float(np.float32(0.0331)) * square * square or math.log(u) < (
                0.5 * square + d * (1 - cube + math.log(cube))
            ):
                return float(scale * d * cube)

    def poisson(self, rates: Any) -> Any:
        """torch.poisson, in double precision, for an array of rates."""
        draw = lambda rate: self._poisson(rate) if rate < 10 else self._large_poisson(rate)  # noqa: E731
        return np.array([draw(r) for r in rates.ravel().tolist()], float).reshape(rates.shape)

    def _poisson(self, rate: float) -> int:
        """A Poisson variate: the number of uniform numbers whose product exceeds exp(-rate)."""
        count, least = 0, math.exp(-rate)
        product = self._double() if rate else 0.0
        while product > least:
            product *= self._double()
            count += 1
        return count

    def _large_poisson(self, rate: float) -> int:
        """A Poisson variate by transformed rejection (Hörmann, 1993)."""
        b = 0.931 + 2.53 * math.sqrt(rate)
        a = -0.059 + 0.02483 * b
        inverse, sure_below = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
        while True:
            u, v = self._double() - 0.5, self._double()
            side = 0.5 - abs(u)
            k = math.floor((2 * a / side + b) * u + rate + 0.43)
            if side >= 0.07 and v <= sure_below:
                return k
            if k < 0 or (side < 0.013 and v > side):
                continue
            log_ratio = math.log(v) + math.log(inverse) - math.log(a / (side * side) + b)
            if log_ratio <= -rate + k * math.log(rate) - math.lgamma(k + 1):
                return k

    def _double(self) -> float:
        return float(self.uniforms(1)[0])

    def chances(self, shape: Sequence[int], probability: float) -> Any:
        """Tensor.bernoulli_(p): 1 where a uniform number in double precision is below p."""
        return (self.uniforms(math.prod(shape)) < probability).reshape(shape)


LOG = (
    *(-1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1),
    *(-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
)
LOG_2 = (-2.12194440e-4, 0.693359375)  # log(2) as a sum of two float32 numbers
SINE = (8.3321608736e-3, -1.6666654611e-1)
COSINE = (-1.388731625493765e-3, 4.166664568298827e-2)
QUARTER_PI = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)  # -pi / 4


def transformed(uniforms: Any, mean: float, std: float) -> Any:
    """Normal numbers from uniform ones: numbers j and j + 8 of 16 form a Box-Muller pair."""
    if uniforms.dtype != np.float32:
        return box_muller(uniforms) * std + mean
    u = uniforms.reshape(-1, 2, BLOCK // 2)
    radius = np.sqrt(np.float32(-2) * _log(np.float32(1) - u[:, 0]))
    sine, cosine = _sine_and_cosine(np.float32(2 * math.pi) * u[:, 1])
    pair = np.stack([radius * cosine, radius * sine], 1).reshape(-1)
    return _fused(pair, np.float32(std), np.float32(mean))


def _fused(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once: the product of two float32 numbers is exact in float64."""
    return (a.astype(np.float64) * b + c).astype(np.float32)


def _polynomial(x: Any, first: float, others: tuple[float, ...]) -> Any:
    result = np.full_like(x, first)
    for coefficient in others:
        result = _fused(result, x, np.float32(coefficient))
    return result


def _log(x: Any) -> Any:
    bits = x.view(np.int32)
    exponent = (bits >> 23).astype(np.float32) - np.float32(126)
    half = np.float32(0.5)
    x = ((bits & 0x007FFFFF) | half.view(np.int32)).view(np.float32)
    small = x < np.float32(0.707106781186547524)
    exponent -= small
    x = (x - np.float32(1)) + np.where(small, x, np.float32(0))
    square = x * x
    y = _polynomial(x, 7.0376836292e-2, LOG) * x
    y = _fused(y, square, exponent * np.float32(LOG_2[0]))
    y = _fused(square, -half, y)
    return _fused(exponent, np.float32(LOG_2[1]), x + y)


def _sine_and_cosine(x: Any) -> tuple[Any, Any]:
    """Sine and cosine of non-negative numbers."""
    octant = ((x * np.float32(4 / math.pi)).astype(np.int32) + 1) & ~1
    turns = octant.astype(np.float32)
    for part in QUARTER_PI:
        x = _fused(turns, np.float32(part), x)
    square = x * x
    cosine = _polynomial(square, 2.443315711809948e-5, COSINE) * square
    cosine = _fused(cosine, square, -(square * np.float32(0.5))) + np.float32(1)
    sine = _polynomial(square, -1.9515295891e-4, SINE) * square
    sine = _fused(sine, x, x)
    is_unswapped = (octant & 2) == 0
    sines, cosines = np.where(is_unswapped, sine, cosine), np.where(is_unswapped, cosine, sine)
    return (
        np.where(octant & 4, -sines, sines),
        np.where((octant - 2) & 4, cosines, -cosines),
    )
