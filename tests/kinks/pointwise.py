"""Pointwise and special functions at ties, poles, jumps, ±0, infinities, nan, and of nothing."""

from math import inf, nan

ODD = [-inf, -3.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.5, 7.0, inf, nan]
WEIGHTS = [2.0, -1.0, 0.5, 3.0, -2.0, 1.0, 0.0, -0.5, 1.5, 4.0, 1.0, -3.0]
HALVES = [-2.5, -1.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, 1e300, inf, -inf, nan]
POLES = [-3.0, -2.0, -1.5, -1.0, -0.0, 0.0, 0.5, 1.0, 1.461632144968362, 10.0, inf, nan]
TINY = [-1e-300, -2e-16, -0.0, 0.0, 5e-324, 1e-17, 2.220446049250313e-16, 3e-16]
A = [0.0, 0.0, -0.0, 1.0, inf, inf, -inf, nan, 1.0, 2.0, -3.0, 5.0]
B = [0.0, -0.0, 0.0, 1.0, inf, -inf, 1.0, 1.0, nan, inf, -3.0, 2.0]
ENDS = {
    "a": [2.0, inf, inf, 0.0, 0.0, nan, nan, 2.0],
    "x": [inf, 1.0, inf, 0.0, 2.0, 0.0, inf, 0.0],
}

CASES = [
    *((f"special.{f}(a.detach(), x)", ENDS, None) for f in ("gammainc", "gammaincc")),
    # logarithms, powers, hyperbolic functions
    ("acosh(x)", {"x": ODD}, WEIGHTS),
    ("asinh(x) + arcsinh(x)", {"x": ODD}, WEIGHTS),
    ("atanh(x)", {"x": ODD}, WEIGHTS),
    ("exp2(x) + log2(x)", {"x": ODD}, WEIGHTS),
    ("log10(x)", {"x": ODD}, None),
    ("deg2rad(x) - rad2deg(x)", {"x": ODD}, WEIGHTS),
    ("sinc(x)", {"x": ODD}, WEIGHTS),
    ("sinc(x)", {"x": TINY}, None),
    ("angle(x) * x", {"x": ODD}, WEIGHTS),
    ("logit(x)", {"x": [-3.0, -0.0, 0.0, 0.5, 1.0, inf, nan]}, None),  # 8 fill registers
    ("logit(x, 0.2)", {"x": [-1.0, 0.0, 0.2, 0.5, 0.8, 1.0, 2.0, inf, nan]}, None),
    ("logit(x, 0.6)", {"x": [0.1, 0.4, 0.5, 0.6, 0.9, 2.0, nan]}, None),
    ("logit(x, -0.1)", {"x": [-1.0, 0.1, 0.5, 2.0, nan]}, None),
    ("logit(x, eps=0.0)", {"x": [0.0, 1.0, 0.25, -0.0, 2.0]}, None),
    ("x.logit()", {"x": 0.0}, None),
    # rounding
    ("trunc(x) * x + fix(x)", {"x": HALVES}, WEIGHTS),
    ("frac(x)", {"x": HALVES}, WEIGHTS),
    ("round(x) * x", {"x": HALVES}, WEIGHTS),
    ("round(x, decimals=0) * x", {"x": HALVES}, WEIGHTS),
    ("round(x, decimals=2) * x", {"x": [0.125, 0.375, -0.005, 2.675, inf, nan]}, None),
    ("round(x, decimals=-1) * x", {"x": [5.0, 15.0, 25.0, -5.0, 14.999, inf]}, None),
    ("fmod(a, b)", {"a": A, "b": B}, WEIGHTS),
    ("fmod(a, b)", {"a": [6.0, -6.0, 5.5, -5.5], "b": [3.0, 3.0, -2.0, 2.0]}, None),
    ("fmod(x, 2)", {"x": HALVES}, WEIGHTS),
    ("fmod(x, 0.0)", {"x": [1.0, 0.0]}, None),
    ("div(a, b, rounding_mode='floor') * a", {"a": A, "b": B}, WEIGHTS),
    ("div(a, b, rounding_mode='trunc') * b", {"a": A, "b": B}, WEIGHTS),
    ("div(a, b, rounding_mode='floor') + a", {"a": [1.0, -1.0], "b": [0.1, 0.0]}, None),
    ("div(a, b, rounding_mode='trunc') + a", {"a": [7.0, -7.0], "b": [2.0, 2.0]}, None),
    ("div(a, b, rounding_mode=None)", {"a": [1.0, 0.0], "b": [0.0, 0.0]}, None),
    ("torch.divide(a, 3, rounding_mode='floor') + a", {"a": [[-7.0, 7.0, 9.0]]}, None),
    # signs, neighbours, nan
    ("sgn(x) + x.sgn() * x", {"x": ODD}, WEIGHTS),
    ("copysign(a, b)", {"a": A, "b": B}, WEIGHTS),
    ("copysign(x, -1.5)", {"x": ODD}, WEIGHTS),
    ("copysign(x, -0.0)", {"x": [1.0, -1.0]}, None),
    ("nextafter(a, b)", {"a": A, "b": B}, WEIGHTS),
    ("frexp(x).mantissa", {"x": ODD}, WEIGHTS),
    ("frexp(x)[0] * frexp(x).exponent", {"x": [0.5, 1.0, 4.0, -8.0, 3.0]}, None),
    ("frexp(x).mantissa", {"x": [1.7e308, 2.2e-308]}, None),
    ("nan_to_num(x)", {"x": ODD}, WEIGHTS),
    ("nan_to_num(x, 2.0, 3.0, -4.0) * x", {"x": ODD}, WEIGHTS),
    ("nan_to_num(x, nan=-1.0, posinf=1.0)", {"x": [nan, inf, -inf]}, None),
    ("nan_to_num(1 / x)", {"x": [0.0, -0.0, 2.0]}, None),
    ("where(isnan(x), 0, x) + where(isinf(x), 0, x)", {"x": ODD}, WEIGHTS),
    ("x * isfinite(x)", {"x": ODD}, WEIGHTS),
    ("conj(x) + real(x) + x.resolve_conj() + conj_physical(x)", {"x": ODD}, None),
    # two numbers
    ("atan2(a, b)", {"a": A, "b": B}, WEIGHTS),
    ("atan2(a, b)", {"a": 1e-200, "b": 1e-200}, 1e200),  # a * a is 0
    ("arctan2(a, b)", {"a": [[0.0], [-0.0]], "b": [0.0, -0.0, 1.0, -1.0]}, None),
    ("hypot(a, b)", {"a": A, "b": B}, WEIGHTS),
    ("hypot(a, b)", {"a": [3e200, 3e-200], "b": [4e200, 4e-200]}, None),
    ("logaddexp(a, b)", {"a": A, "b": B}, WEIGHTS),
    ("logaddexp(a, b)", {"a": [-inf, 1000.0, -inf], "b": [-inf, 1000.0, 0.0]}, None),
    ("logaddexp2(a, b)", {"a": A, "b": B}, WEIGHTS),
    ("ldexp(a, b)", {"a": A, "b": B}, WEIGHTS),
    ("ldexp(x, tensor([3, -2, 5]))", {"x": [1.5, -2.0, 0.0]}, None),
    ("ldexp(x, tensor([0, 62, 63, 64, 65, 1023, -1]))", {"x": [1.5] * 7}, None),
    ("fmax(a, b)", {"a": A, "b": B}, WEIGHTS),
    ("fmin(a, b)", {"a": A, "b": B}, WEIGHTS),
    ("fmax(a, b) - fmin(a, b)", {"a": [nan, nan, 1.0], "b": [nan, 2.0, nan]}, None),
    ("fmax(a, b)", {"a": [[1.0, 2.0]], "b": [[1.0], [2.0]]}, [[1.0, 2.0], [3.0, 4.0]]),
    ("clamp_min(a, b) + clamp_max(a, b)", {"a": A, "b": B}, WEIGHTS),
    ("clamp_min(x, 0.5) + x.clamp_max(2.5)", {"x": ODD}, WEIGHTS),
    ("clamp(x, a, None) + clamp(x, None, a)", {"x": A, "a": B}, WEIGHTS),
    ("clamp(x, a, b)", {"x": [2.0, 2.0, 0.0], "a": [3.0, nan, 1.0], "b": [1.0, 1.0, nan]}, None),
    ("float_power(a, b)", {"a": A, "b": B}, WEIGHTS),
    ("float_power(x, 3) + float_power(2, x)", {"x": ODD}, WEIGHTS),
    ("lerp(a, b, 0.5) + lerp(a, b, 0.25)", {"a": A, "b": B}, WEIGHTS),
    ("lerp(a, b, w)", {"a": [1.0, 2.0], "b": [3.0, inf], "w": [[0.0], [0.5], [2.0]]}, None),
    ("addcmul(x, a, b, value=-0.5)", {"x": ODD, "a": A, "b": B}, WEIGHTS),
    ("addcdiv(x, a, b, value=2)", {"x": ODD, "a": A, "b": B}, WEIGHTS),
    ("add(a, b, alpha=-2) + sub(a, b, alpha=0.5)", {"a": A, "b": B}, WEIGHTS),
    ("rsub(a, b) + torch.rsub(a, b, alpha=3)", {"a": A, "b": B}, WEIGHTS),
    ("add(a, b, alpha=0)", {"a": [1.0], "b": [inf]}, None),
    ("fill(x, c) * x", {"x": [1.0, nan, inf], "c": 2.0}, [1.0, 2.0, 3.0]),
    # gamma
    ("lgamma(x)", {"x": POLES}, WEIGHTS),
    ("digamma(x)", {"x": POLES}, WEIGHTS),
    ("polygamma(0, x)", {"x": POLES}, WEIGHTS),
    ("polygamma(1, x)", {"x": [-1.5, 0.5, 1.0, 10.0, inf, nan]}, None),
    ("x.polygamma(2) + torch.special.polygamma(3, x)", {"x": [0.0, 0.5, 1.0, 20.0, nan]}, None),
    ("polygamma(1, x) + polygamma(4, x)", {"x": [inf, -inf, 1e10, -4.0]}, None),
    ("lgamma(x) + torch.special.gammaln(x)", {"x": [1e-300, 1e305, -inf]}, None),
    ("mvlgamma(x, 2)", {"x": [[1.5, 3.0], [0.75, inf]]}, None),
    ("torch.special.multigammaln(x, 1)", {"x": 2.0}, None),
    # error functions, Bessel functions, entropies
    ("erfc(x)", {"x": ODD}, WEIGHTS),
    ("erfc(x)", {"x": [6.0, 20.0, 27.0, 30.0]}, None),
    ("erfinv(x)", {"x": ODD}, WEIGHTS),
    ("torch.special.erfcx(x)", {"x": ODD}, WEIGHTS),
    ("torch.special.ndtr(x)", {"x": ODD}, WEIGHTS),
    ("torch.special.log_ndtr(x)", {"x": ODD}, WEIGHTS),
    ("torch.special.log_ndtr(x)", {"x": [-40.0, -10.0, 10.0]}, None),
    ("torch.special.ndtri(x)", {"x": [0.0, 1.0, 0.5, 1e-10, -1.0, 2.0, nan]}, None),
    ("i0(x)", {"x": ODD}, WEIGHTS),
    ("torch.special.i0e(x)", {"x": ODD}, WEIGHTS),
    ("torch.special.i1(x)", {"x": ODD}, WEIGHTS),
    ("torch.special.i1e(x)", {"x": ODD}, WEIGHTS),
    ("torch.special.i1(x) + torch.special.i1e(x)", {"x": TINY}, None),
    ("torch.special.entr(x)", {"x": ODD}, WEIGHTS),
    ("xlogy(a, b)", {"a": A, "b": B}, WEIGHTS),
    ("xlogy(a, b)", {"a": [0.0, 0.0, 0.0], "b": [-1.0, nan, 0.0]}, None),
    ("xlogy(x, 0.0) + xlogy(2, x)", {"x": [0.0, 1.0, -1.0]}, None),
    ("torch.special.xlog1py(a, b)", {"a": A, "b": B}, WEIGHTS),
    ("torch.special.xlog1py(a, b)", {"a": [0.0, 0.0], "b": [-1.0, -2.0]}, None),
    *(
        (f"mvlgamma(x, {p})", {"x": [0.0, -0.0, 0.5, -1.0, 1.5, inf, nan]}, [seed] * 7)
        for p in (1, 2, 3)
        for seed in (1.0, inf, nan)
    ),
    ("lgamma(x)", {"x": [1e-320, -1e-310, 1e-300, 1e-299]}, None),
    ("x * torch.special.spherical_bessel_j0(x)", {"x": [0.0, -0.0, inf, -inf, nan]}, None),
    ("x * torch.special.airy_ai(x)", {"x": [90.0, 110.0, 1e5, 1e160, inf, nan]}, None),
    # no elements, no dimensions
    ("lgamma(x) + i0(x) + trunc(x)", {"x": []}, []),
    ("hypot(a, b) + fmax(a, b)", {"a": [[]], "b": 1.0}, [[]]),
    ("frexp(x).mantissa * atan2(x, 2 * x)", {"x": 3.0}, None),
    # ---- values of 0 that have a sign ------------------------------------------------------------
    *(
        (f"1 / {text}", {"x": [-0.0, 0.0, -1.5, 4.0, -4.0]}, [1.0, 2, 3, 4, 5])
        for text in (
            *("elu(x)", "selu(x)", "celu(x, 0.5)", "elu(x, 0.5)", "(x % 2)", "(x % -2)"),
            *("clamp(x, min=0)", "clamp(x, -0.0, 2)", "clamp(x, max=0)", "relu6(x)"),
        )
    ),
]
