"""Products of Householder reflections, in which LAPACK's QR decomposition returns Q."""

from ..errors import GradcliError
from ..graphs import shapes
from .families import composite
from .lapack import LINALG, matrix
from .leaves import eye
from .shaping import expand
from .triangular import triangle


def _check(A, tau):
    if not tau or tau[-1] > min(matrix(A)[-2:]) or A[:-2] != tau[:-1]:
        have = f"{shapes.text(A)} and {shapes.text(tau)}"
        raise GradcliError("shape", f"tau needs a number for each reflection, not shapes {have}")


def _rule(g, y, x, v, tau):
    along_x, along_g = v.mT @ x, v.mT @ g
    to_v = -tau * (g @ along_x.mT + x @ along_g.mT)
    return reflected(g, v, tau), to_v, -(along_g @ along_x.mT)


@composite(
    rule=_rule,
    torch=None,
    index=lambda lower, i, x, v, tau: lower.element(reflected(x, v, tau), i),
    examples=(("reflected(x, v, tau)", "x=3x2,v=3x1,tau=1x1"),),
    exact="all",
)
def reflected(x, v, tau):
    """x - tau * v @ v.mT @ x: the reflection along v if tau is 2 / |v|**2."""
    return x - tau * (v @ (v.mT @ x))


def _columns(A):
    """The vectors of the reflections: the columns of A below a diagonal of ones."""
    return triangle(A, upper=False, strict=True) + eye(n=A.shape[-2], m=A.shape[-1])


def _one_after_the_other(x, A, tau, order):
    """The reflections along the columns of A, applied to x in this order."""
    columns = _columns(A)
    for k in order:
        x = reflected(x, columns[..., k : k + 1], tau[..., k, None, None])
    return x


SINGULAR = (
    "where tau times the squared length of a reflection's vector is 1, PyTorch's gradient divides "
    "by 0 and is nan; inf and nan spread here as the formula's products have it"
)


def _is_singular(y, input, tau, *_, **__):
    """The mask of reflections that are singular."""
    lengths = (_columns(input) ** 2).sum(-2)
    return (tau * lengths[..., : tau.shape[-1]]).eq(1)


@composite(
    torch=LINALG + "householder_product",
    kink=_is_singular,
    caveat=SINGULAR,
    aliases=("orgqr",),
    examples=(("householder_product(A, tau)", "A=3x2,tau=2"),),
    input_dtypes="floats of one dtype",
)
def householder_product(input, tau):
    """The first columns of a product of reflections: Q of a QR decomposition."""
    _check(input.shape, tau.shape)
    if input.shape[-2] < input.shape[-1]:
        message = f"there are fewer rows than columns in {shapes.text(input.shape)}"
        raise GradcliError("shape", message)
    start = expand(eye(n=input.shape[-2], m=input.shape[-1]), shape=input.shape)
    return _one_after_the_other(start, input, tau, reversed(range(tau.shape[-1])))


@composite(
    order="input tau other left transpose",
    kink=_is_singular,
    caveat=SINGULAR,
    examples=(
        ("ormqr(A, tau, b)", "A=3x2,tau=2,b=3x2"),
        ("ormqr(A, tau, b, left=False, transpose=True)", "A=3x2,tau=2,b=2x3"),
    ),
    input_dtypes="floats of one dtype",
)
def ormqr(input, tau, other, *, left=True, transpose=False):
    """A matrix multiplied by a product of reflections, from the left or the right."""
    _check(input.shape, tau.shape)
    count = range(tau.shape[-1])
    side = other.shape[-2 if left else -1]
    if len(count) != min(side, input.shape[-1]) or other.shape[:-2] != input.shape[:-2]:
        have = " and ".join(map(shapes.text, (input.shape, tau.shape, other.shape)))
        raise GradcliError("shape", f"ormqr() takes as many reflections as matrices, got {have}")
    order = count if transpose == left else reversed(count)
    return (
        _one_after_the_other(other, input, tau, order)
        if left
        else (_one_after_the_other(other.mT, input, tau, order).mT)
    )
