"""Functions without derivative in PyTorch: some Bessel and Airy functions, and orthogonal
polynomials.

PyTorch detaches their inputs, so the results have no grad_fn.
"""

from collections.abc import Callable

from ..errors import GradcliError
from ..graphs import OPS, as_node
from ..lazy import np, scipy_special
from . import elements
from .families import elementwise, named, shorthand
from .leaves import detach

NOTE = "PyTorch has no derivative: backward stops here, as at x.detach()"
UNSET = f"{NOTE}. At nan PyTorch returns uninitialized memory"
ROUGH = f"{NOTE}. Near 5 PyTorch's values are right to six digits only"


def _detached(
    name: str,
    sentence: str,
    value: Callable,
    numpy: str | None = None,
    caveat: str = NOTE,
    jax: str | None = None,
    poles: tuple[str, ...] = (),
):
    """Declare a function whose inputs are detached, under its PyTorch name."""
    count = value.__code__.co_argcount
    call = f"{name}(x)" if count == 1 else f"{name}(x, 3)"
    titled = named(name, f"{sentence} No gradient.")
    of_detached = elementwise(
        value,
        symbolic=elements.named(name),
        dtype="float",
        torch="torch.special.{name}",
        numbers=count > 1,
        domain=(0.2, 0.9),
        caveat=caveat,
        examples=((f"x * {call}", "x=3"), (f"x * special.{call}", "x=2x3")),
        numpy=numpy,
        jax=jax,
        poles=poles,
    )(titled((lambda g, y, x: None) if count == 1 else (lambda g, y, x, n: (None, None))))
    meaning = (
        (lambda input: of_detached(_cut_off(input)))
        if count == 1
        else (lambda input, n: of_detached(_cut_off(input), _cut_off(n)))
    )
    shorthand()(titled(meaning))
    return of_detached


def _cut_off(x):
    node = as_node(x)
    return node if node.op in (OPS["constant"], detach) else node.detach()


def _scipy(name, sentence, called, caveat=NOTE):
    def value(x):
        return getattr(scipy_special, called)(x)

    jax = None if called in ("i0", "i1") else ""
    poles = ("x",) if called[0] in "yk" else ()  # those of the second kind
    return _detached(name, sentence, value, f"scipy.special.{called}", caveat, jax, poles)


bessel_j0 = _scipy("bessel_j0", "Bessel function of the first kind, of order 0.", "j0", ROUGH)
bessel_j1 = _scipy("bessel_j1", "Bessel function of the first kind, of order 1.", "j1", ROUGH)
bessel_y0 = _scipy("bessel_y0", "Bessel function of the second kind, of order 0.", "y0", ROUGH)
bessel_y1 = _scipy("bessel_y1", "Bessel function of the second kind, of order 1.", "y1", ROUGH)
modified_bessel_i0 = _scipy("modified_bessel_i0", "i0, as a number.", "i0")
modified_bessel_i1 = _scipy("modified_bessel_i1", "i1, as a number.", "i1")
modified_bessel_k0 = _scipy(
    "modified_bessel_k0", "Modified Bessel function of the second kind, of order 0.", "k0"
)
modified_bessel_k1 = _scipy(
    "modified_bessel_k1", "Modified Bessel function of the second kind, of order 1.", "k1"
)
scaled_modified_bessel_k0 = _scipy(
    "scaled_modified_bessel_k0", "exp(x) * modified_bessel_k0(x).", "k0e"
)
scaled_modified_bessel_k1 = _scipy(
    "scaled_modified_bessel_k1", "exp(x) * modified_bessel_k1(x).", "k1e"
)
spherical_bessel_j0 = _detached(
    "spherical_bessel_j0",
    "sin(x) / x, and 1 at 0.",
    lambda x: np.where(np.isinf(x), 0.0, np.sinc(np.asarray(x) / np.pi)),
    "np.sinc({0} / np.pi)",
)
airy_ai = _detached(
    "airy_ai",
    "Airy's function Ai.",
    lambda x: np.where(np.greater(x, 1e3) & np.isfinite(x), 0.0, scipy_special.airy(x)[0]),
    "scipy.special.airy({0})[0]",
    jax="",
)


# ---- orthogonal polynomials ----------------------------------------------------------------------

MOST_DEGREE = 10_000  # the highest degree that is computed, in less than a second
HERMITE = 512  # the highest degree of PyTorch's Hermite polynomials; values are inf before it


def _polynomials(first: Callable, following: Callable, defined: int | None = None) -> Callable:
    """A function of x and the degree n, by a recurrence from the two previous degrees. It is 0 for
    negative n, and nan above `defined`, the highest degree in PyTorch.
    """

    def value(x, n):
        x, n = np.broadcast_arrays(np.asarray(x, float), np.trunc(n))
        if defined is not None:
            x, n = np.where(n > defined, np.nan, x), np.minimum(n, defined)
        if np.max(n, initial=0) > MOST_DEGREE:
            message = f"a polynomial of degree {np.max(n):,.0f} takes as many steps"
            raise GradcliError("limit", message, hint=f"{MOST_DEGREE:,} is the largest degree here")
        before, now = np.ones_like(x), first(x)
        out = np.where(n == 0, before, np.where(n == 1, now, 0.0))
        for k in range(1, int(np.max(n, initial=0))):
            before, now = now, following(k, x, now, before)
            out = np.where(n == k + 1, now, out)
        return out

    return value


CHEBYSHEV = {
    "t": ("first", lambda x: x),
    "u": ("second", lambda x: 2 * x),
    "v": ("third", lambda x: 2 * x - 1),
    "w": ("fourth", lambda x: 2 * x + 1),
}


def _chebyshev(letter, kind, first):
    value = _polynomials(first, lambda k, x, now, before: 2 * x * now - before)
    _detached(
        f"chebyshev_polynomial_{letter}",
        f"Chebyshev polynomial of the {kind} kind, of degree n.",
        value,
        caveat=UNSET,
    )
    _detached(
        f"shifted_chebyshev_polynomial_{letter}",
        f"Chebyshev polynomial of the {kind} kind, of degree n, at 2 * x - 1.",
        lambda x, n: value(2 * np.asarray(x) - 1, n),
        caveat=UNSET,
    )


for letter, (kind, first) in CHEBYSHEV.items():
    _chebyshev(letter, kind, first)

hermite_polynomial_h = _detached(
    "hermite_polynomial_h",
    "Physicists' Hermite polynomial of degree n.",
    _polynomials(lambda x: 2 * x, lambda k, x, now, before: 2 * x * now - 2 * k * before, HERMITE),
)
hermite_polynomial_he = _detached(
    "hermite_polynomial_he",
    "Probabilists' Hermite polynomial of degree n.",
    _polynomials(lambda x: x, lambda k, x, now, before: x * now - k * before, HERMITE),
)
laguerre_polynomial_l = _detached(
    "laguerre_polynomial_l",
    "Laguerre polynomial of degree n.",
    _polynomials(
        lambda x: 1 - x, lambda k, x, now, before: ((2 * k + 1 - x) * now - k * before) / (k + 1)
    ),
)
legendre_polynomial_p = _detached(
    "legendre_polynomial_p",
    "Legendre polynomial of degree n.",
    _polynomials(
        lambda x: x, lambda k, x, now, before: ((2 * k + 1) * x * now - k * before) / (k + 1)
    ),
)
