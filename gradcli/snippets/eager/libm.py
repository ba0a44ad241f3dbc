"""Logarithms in single precision with the rounding of the GNU C library, logf and log1pf, which
PyTorch calls for one element at a time.
"""

from typing import Any

from ...lazy import np

LN2 = float.fromhex("0x1.62e42fefa39efp-1")
OFFSET = 0x3F330000  # the bits of 0.699..., from which on the intervals of logf are counted
CENTRES = [  # 1 / c for a point c of each interval
    float.fromhex(f"0x1.{digits}")
    for digits in (
        *("661ec79f8f3bep+0", "571ed4aaf883dp+0", "49539f0f010bp+0", "3c995b0b80385p+0"),
        *("30d190c8864a5p+0", "25e227b0b8eap+0", "1bb4a4a1a343fp+0", "12358f08ae5bap+0"),
        *("0953f419900a7p+0", "0p+0", "e608cfd9a47acp-1", "ca4b31f026aap-1"),
        *("b2036576afce6p-1", "9c2d163a1aa2dp-1", "886e6037841edp-1", "767dcf5534862p-1"),
    )
]
OF_CENTRES = [  # log(c)
    float.fromhex(digits)
    for digits in (
        *("-0x1.57bf7808caadep-2", "-0x1.2bef0a7c06ddbp-2", "-0x1.01eae7f513a67p-2"),
        *("-0x1.b31d8a68224e9p-3", "-0x1.6574f0ac07758p-3", "-0x1.1aa2bc79c81p-3"),
        *("-0x1.a4e76ce8c0e5ep-4", "-0x1.1973c5a611cccp-4", "-0x1.252f438e10c1ep-5", "0x0p+0"),
        *("0x1.aa5aa5df25984p-5", "0x1.c5e53aa362eb4p-4", "0x1.526e57720db08p-3"),
        *("0x1.bc2860d22477p-3", "0x1.1058bc8a07ee1p-2", "0x1.4043057b6ee09p-2"),
    )
]
SERIES = [  # of log1p(r), from r ** 2 to r ** 4
    float.fromhex(digits)
    for digits in ("-0x1.ffffef20a4123p-2", "0x1.5575b0be00b6ap-2", "-0x1.00ea348b88334p-2")
]


def log(x: Any) -> Any:
    """The logarithm: log(c) of the centre of an interval, and a polynomial of x / c - 1."""
    x = np.asarray(x, np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = np.log(x.astype(np.float64)).astype(np.float32)
    bits = x.view(np.int32)
    above = bits - np.int32(OFFSET)
    interval, exponent = (above >> 19) & 15, above >> 23
    reduced = (bits - (exponent << 23)).astype(np.int32).view(np.float32).astype(np.float64)
    r = reduced * np.array(CENTRES)[interval] - 1
    start = np.array(OF_CENTRES)[interval] + exponent * LN2
    square, third, fourth = SERIES
    result = ((third * r + square) + fourth * (r * r)) * (r * r) + (start + r)
    usual = (bits >= 0x00800000) & (bits < 0x7F800000)  # positive, normal, finite
    return np.where(usual, result.astype(np.float32), plain)


LN2_PARTS = 6.9313812256e-01, 9.0580006145e-06  # their sum is log(2)
EVEN = (  # of (log(1 + f) - log(1 - f)) / f, in powers of f ** 2
    *(0.66666668653, 0.40000000596, 0.28571429849, 0.22222198546),
    *(0.18183572590, 0.15313838422, 0.14798198640),
)


def log1p(x: Any) -> Any:
    """log(1 + x), for 1 + x = 2 ** k * (1 + f): a series in f / (2 + f), each step rounded."""
    x = np.asarray(x, np.float32)
    one, high, low = (np.float32(n) for n in (1, *LN2_PARTS))
    with np.errstate(all="ignore"):
        near = (x > np.float32(-0.29289)) & (x < np.float32(0.41422))
        k, f, lost = (np.where(near, a, b) for a, b in zip((0, x, 0), _parts(x)))
        k, lost = k.astype(np.float32), lost.astype(np.float32)
        square, s = np.float32(0.5) * f * f, f / (np.float32(2) + f)
        series = np.float32(0)
        for factor in reversed(EVEN):
            series = s * s * (np.float32(factor) + series)
        even = s * (square + series)
        far = k * high - ((square - (even + (k * low + lost))) - f)
        result = np.where(near, f - (square - even), far)
        return np.where((x > -one) & (x < np.inf), result, np.log1p(x))


def _parts(x: Any) -> tuple[Any, Any, Any]:
    """k and f of 1 + x, and what its rounding loses, divided by it."""
    one = np.float32(1)
    whole = one + x
    bits = whole.view(np.int32)
    k, mantissa = (bits >> 23) - 127, bits & 0x007FFFFF
    lost = np.where(k > 0, one - (whole - x), x - (whole - one)) / whole
    below = mantissa < 0x3504F7  # below the root of 2
    scaled = np.where(below, mantissa | 0x3F800000, mantissa | 0x3F000000).astype(np.int32)
    return k + ~below, scaled.view(np.float32) - one, lost
