"""Trigonometric and hyperbolic functions, their inverses, and angles."""

import math

from ..lazy import np
from . import elements
from .arithmetic import piecewise_constant
from .bounds import NOT_NEGATIVE, WAVE
from .comparisons import where
from .families import composite, elementwise
from .pointwise import rsqrt


def _inverse(**fields):
    """Declare an inverse function; NumPy's names begin with arc."""

    def declare(rule):
        name = rule.__name__
        long = f"arc{name[1:]}"
        return elementwise(
            lambda x: getattr(np, long)(x),
            symbolic=lambda sp, x: getattr(sp, name)(x),
            dtype="float",
            aliases=(long,),
            numpy=f"np.{long}",
            **fields,
        )(rule)

    return declare


@elementwise(bounds=WAVE)
def sin(g, y, x):
    """Sine."""
    return g * cos(x)


@elementwise(bounds=WAVE)
def cos(g, y, x):
    """Cosine."""
    return g * -sin(x)


@elementwise(domain=(-1.2, 1.2))
def tan(g, y, x):
    """Tangent."""
    return g * (1 + y**2)


@_inverse(domain=(-0.9, 0.9))
def asin(g, y, x):
    """Inverse of sine."""
    return g * rsqrt(1 - x * x)


@_inverse(domain=(-0.9, 0.9))
def acos(g, y, x):
    """Inverse of cosine."""
    return g * -rsqrt(1 - x * x)


@_inverse()
def atan(g, y, x):
    """Inverse of tangent."""
    return g / (x * x + 1)


@elementwise()
def sinh(g, y, x):
    """Hyperbolic sine."""
    return g * cosh(x)


@elementwise(bounds=NOT_NEGATIVE)
def cosh(g, y, x):
    """Hyperbolic cosine."""
    return g * sinh(x)


@elementwise(bounds=WAVE, exact="all")
def tanh(g, y, x):
    """Hyperbolic tangent."""
    return g * (1 - y * y)


@_inverse()
def asinh(g, y, x):
    """Inverse of hyperbolic sine."""
    return g * rsqrt(x * x + 1)


@_inverse(domain=(1.2, 3.0))
def acosh(g, y, x):
    """Inverse of hyperbolic cosine."""
    return g * rsqrt(x * x - 1)


@_inverse(domain=(-0.9, 0.9))
def atanh(g, y, x):
    """Inverse of hyperbolic tangent."""
    return g / (1 - x * x)


@piecewise_constant(
    lambda x: np.where(np.isnan(x), x, np.where(np.less(x, 0), np.pi, 0)),
    lambda sp, x: elements.choice(sp, elements.compare(sp, "Lt", x, sp.S.Zero), sp.pi, sp.S.Zero),
    "constant but for its jump at 0: the gradient is 0 everywhere",
    lambda y, x: x.eq(0),
    dtype="float",
    numpy="np.where({0} < 0, np.pi, 0.0)",
    jax="jnp.angle",
)
def angle(x):
    """pi where x is below 0, otherwise 0."""


@composite(examples=(("deg2rad(x)", "x=3"),), exact="all")
def deg2rad(x):
    """Degrees as radians."""
    return x * (math.pi / 180)


@composite(examples=(("rad2deg(x)", "x=3"),), exact="all")
def rad2deg(x):
    """Radians as degrees."""
    return x * (180 / math.pi)


@elementwise(symbolic=elements.named("sinc"))
def sinc(g, y, x):
    """sin(pi * x) / (pi * x), and 1 at 0."""
    z, square = x * math.pi, x * x * math.pi
    # sin(z) is computed first, as in PyTorch: in a second backward pass, which runs in reverse, its
    # contribution to the gradient of z is then added last, and rounding errors are the same
    difference = -sin(z) + z * cos(z)
    return where(square.eq(0), 0, g * (difference / square))
