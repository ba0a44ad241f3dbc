"""Normal numbers of float32 in blocks of 16, to the bit as PyTorch's AVX2 kernel makes them.

Its logarithm, sine and cosine are Cephes' polynomials (S. Moshier, Methods and Programs for
Mathematical Functions, 1989), in which a product and the sum it goes into are rounded once, as the
processor's fused multiply-add does.
"""

import math
from typing import Any

from ...lazy import np

BLOCK = 16
LOG = (
    *(-1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1),
    *(-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
)
LOG_2 = (-2.12194440e-4, 0.693359375)  # its small and its large part
SINE = (8.3321608736e-3, -1.6666654611e-1)
COSINE = (-1.388731625493765e-3, 4.166664568298827e-2)
QUARTER_PI = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)  # minus its parts


def transformed(uniforms: Any, mean: float, std: float) -> Any:
    """Blocks of 16 uniform numbers as normal ones: number j with number j + 8 (Box-Muller)."""
    u = uniforms.reshape(-1, 2, BLOCK // 2)
    one, turn = u.dtype.type(1), u.dtype.type(2 * math.pi)
    if u.dtype == np.float32:
        radius = np.sqrt(np.float32(-2) * _log(one - u[:, 0]))
        sine, cosine = _sine_and_cosine(turn * u[:, 1])
        pair = np.stack([radius * cosine, radius * sine], 1).reshape(-1)
        return _fused(pair, np.float32(std), np.float32(mean))
    radius = np.sqrt(-2 * np.log(one - u[:, 0]))
    pair = [radius * np.cos(turn * u[:, 1]), radius * np.sin(turn * u[:, 1])]
    return np.stack(pair, 1).reshape(-1) * std + mean


def _fused(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once: the product of two float32 is exact in float64."""
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
    """Of numbers from 0 on."""
    octant = ((x * np.float32(4 / math.pi)).astype(np.int32) + 1) & ~1
    turns = octant.astype(np.float32)
    for part in QUARTER_PI:
        x = _fused(turns, np.float32(part), x)
    square = x * x
    cosine = _polynomial(square, 2.443315711809948e-5, COSINE) * square
    cosine = _fused(cosine, square, -(square * np.float32(0.5))) + np.float32(1)
    sine = _polynomial(square, -1.9515295891e-4, SINE) * square
    sine = _fused(sine, x, x)
    near = (octant & 2) == 0
    sines, cosines = np.where(near, sine, cosine), np.where(near, cosine, sine)
    return (
        np.where(octant & 4, -sines, sines),
        np.where((octant - 2) & 4, cosines, -cosines),
    )
