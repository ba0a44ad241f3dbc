"""Bessel functions with their derivatives, which PyTorch's functions of these lack: SciPy's.

Derivatives after Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), 9.1.27, 9.1.28
and 9.6.26 to 9.6.28.
"""

from ..graphs import OPS, Operator
from ..lazy import scipy_special
from .comparisons import where
from .families import named
from .special import special


def _bessel(name, in_torch, sentence, slope):
    def rule(g, y, x):
        return g * slope(y, x)

    return special(
        lambda x: getattr(scipy_special, name)(x),
        torch=None,
        torch_expand=lambda x: OPS[in_torch](x),
        numpy=f"scipy.special.{name}",
        jax="",
        domain=(0.2, 3.0),
    )(named(f"scipy_{name}", sentence)(rule))


def _slope_of_j1(y, x):
    inside = where(x.eq(0), 1, x)
    return where(x.eq(0), 0.5, scipy_j0(x) - y / inside)


FIRST, SECOND, MODIFIED = "of the first kind", "of the second kind", "modified, of the second kind"
scipy_j0: Operator = _bessel(
    "j0", "bessel_j0", f"Bessel function {FIRST}, of order 0.", lambda y, x: -scipy_j1(x)
)
scipy_j1: Operator = _bessel(
    "j1", "bessel_j1", f"Bessel function {FIRST}, of order 1.", _slope_of_j1
)
scipy_y0: Operator = _bessel(
    "y0", "bessel_y0", f"Bessel function {SECOND}, of order 0.", lambda y, x: -scipy_y1(x)
)
scipy_y1: Operator = _bessel(
    "y1", "bessel_y1", f"Bessel function {SECOND}, of order 1.", lambda y, x: scipy_y0(x) - y / x
)
scipy_k0: Operator = _bessel(
    *("k0", "modified_bessel_k0", f"Bessel function, {MODIFIED}, of order 0."),
    lambda y, x: -scipy_k1(x),
)
scipy_k1: Operator = _bessel(
    *("k1", "modified_bessel_k1", f"Bessel function, {MODIFIED}, of order 1."),
    lambda y, x: -scipy_k0(x) - y / x,
)
scipy_k0e: Operator = _bessel(
    *("k0e", "scaled_modified_bessel_k0", "exp(x) * k0(x)."), lambda y, x: y - scipy_k1e(x)
)
scipy_k1e: Operator = _bessel(
    *("k1e", "scaled_modified_bessel_k1", "exp(x) * k1(x)."),
    lambda y, x: y - scipy_k0e(x) - y / x,
)
