"""Products with an added term, products of several matrices, and products of vectors."""

from functools import reduce

from ..errors import GradcliError
from ..graphs import as_node, shapes
from ..lazy import np
from .arithmetic import in_kind_of
from .contractions import einsum
from .families import composite, elementwise, is_integer, require, shorthand
from .guards import otherwise, through
from .inverses import inv
from .joining import stack
from .lapack import square
from .leaves import arange, eye
from .matrix import added_in_order, bmm, matmul, mm, mv, outer

# ---- a product and an added term -----------------------------------------------------------------


@elementwise(
    lambda x: np.zeros_like(x),
    expand=lambda x: x * 0,
    index=lambda lower, i, x: x * 0,
    dtype="float",
    torch=None,
    examples=(("addmm(x, a, b, beta=0)", "x=2x4,a=2x3,b=3x4"),),
    exact="all",
)
def left_out(g, y, x):
    """0 * x as in BLAS: 0, even where x is nan."""
    return g * 0


def _times(factor, x):
    return x if factor == 1 else x * factor


def _unless_0(factor, x):
    return _times(factor, x) if factor else left_out(x)


def _added(beta, input, alpha, product, scaled=_unless_0):
    if float in map(type, (beta, alpha)) and input.dtype != "float" != product.dtype:
        message = "beta and alpha of integers and masks must be integers"
        raise GradcliError("arguments", message, hint="convert to floats: x.double()")
    if shapes.broadcast(input.shape, product.shape) != product.shape:
        have, want = shapes.text(input.shape), shapes.text(product.shape)
        raise GradcliError("shape", f"shape {have} cannot be added to a product of shape {want}")
    return _unless_0(beta, input) + scaled(alpha, product)


def _with_product(factors, sizes, *, input_dtypes="numbers of one dtype", **fields):
    """Declare a function beta * input + alpha * (a product of two `factors`), with PyTorch's
    deprecated orders of parameters.
    """
    starts = ("beta input alpha", "beta input", "input beta alpha", "input beta")

    def declare(meaning):
        name = meaning.__name__
        calls = f"{name}(x, a, b)", f"{name}(x, a, b, beta=0.5, alpha=2)"
        return composite(
            examples=tuple((call, sizes) for call in calls),
            order=f"input {factors} * beta alpha",
            deprecated_orders=tuple(f"{start} {factors}" for start in starts),
            input_dtypes=input_dtypes,
            **fields,
        )(meaning)

    return declare


@_with_product(
    "mat1 mat2",
    "x=2x4,a=2x3,b=3x4",
    exact=lambda y, x, a, b, **_: added_in_order(a, b) if x.ndim < 2 else "",
)
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta times input plus alpha times the product of two matrices."""
    return _added(beta, input, alpha, mm(mat1, mat2))


@_with_product("mat vec", "x=2,a=2x3,b=3")
def addmv(input, mat, vec, *, beta=1, alpha=1):
    """beta times input plus alpha times the product of a matrix and a vector."""
    return _added(beta, input, alpha, mv(mat, vec))


@_with_product("vec1 vec2", "x=2x3,a=2,b=3", input_dtypes=("any of one dtype", slice(1, None)))
def addr(input, vec1, vec2, *, beta=1, alpha=1):
    """beta times input plus alpha times the outer product of two vectors."""
    return _added(beta, input, alpha, outer(vec1, vec2), _times)


@_with_product("batch1 batch2", "x=2x4,a=2x2x3,b=2x3x4")
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta times input plus alpha times the products of two batches of matrices."""
    return _added(beta, input, alpha, bmm(batch1, batch2), _times)


@_with_product("batch1 batch2", "x=2x4,a=2x2x3,b=2x3x4")
def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta times input plus alpha times the sum of the products of two batches of matrices."""
    return _added(beta, input, alpha, bmm(batch1, batch2).sum(dim=0))


# ---- products of several matrices ----------------------------------------------------------------


@shorthand(input_dtypes="numbers of one dtype")
def multi_dot(tensors):
    """Product of matrices; the first and the last may be vectors."""
    return _chained("multi_dot", tensors, 2)


@shorthand(input_dtypes="numbers of one dtype")
def chain_matmul(*matrices):
    """Product of matrices."""
    listed = any(isinstance(m, tuple) for m in matrices)
    require(not listed, "chain_matmul() takes the matrices themselves, not a list of them")
    return _chained("chain_matmul", matrices, 1)


def _chained(name, tensors, least):
    tensors = [as_node(t) for t in tensors]
    if len(tensors) < least:
        raise GradcliError("arguments", f"{name}() needs at least {least} of them")
    for place, t in enumerate(tensors):
        ends = (1, 2) if least == 2 and place in (0, len(tensors) - 1) else (2,)
        if t.ndim not in ends:
            have = shapes.text(t.shape)
            raise GradcliError("shape", f"{name}() multiplies matrices, not shape {have}")
    return reduce(matmul, tensors)


@shorthand()
def matrix_power(A, n):
    """A @ A @ ... @ A, n factors; of the inverse, if n is negative."""
    A = as_node(A)
    square(A.shape)
    if not isinstance(n, int):
        raise GradcliError("arguments", f"the power of a matrix must be an integer, got {n!r}")
    if n < 0:
        inv.check_dtypes((A,), "matrix_power")
    elif n > 1:
        matmul.check_dtypes((A, A), "matrix_power")
    if n == 0:
        return in_kind_of(A**0 * eye(n=A.shape[-1]), A)
    power, result, left = (inv(A) if n < 0 else A), None, abs(n)
    while True:
        if left % 2:
            result = power if result is None else result @ power
        left //= 2
        if not left:
            return result
        power = power @ power


# ---- vectors -------------------------------------------------------------------------------------


@composite(
    rule=lambda g, y, a, b, *, dim: (cross_along(b, g, dim=dim), cross_along(g, a, dim=dim)),
    torch="torch.linalg.cross",
    spelling="linalg.cross({0}, {1}, dim={dim})",
    numpy="np.cross({0}, {1}, axis={dim})",
    examples=(("linalg.cross(a, b)", "a=2x3,b=2x3"), ("cross(a, b, dim=0)", "a=3x1,b=3x2")),
)
def cross_along(a, b, *, dim=-1):
    """The vector orthogonal to two vectors of length 3 along dim."""
    axis = shapes.axis(dim, a.ndim)
    if a.ndim != b.ndim or a.shape[axis] != 3 or b.shape[axis] != 3:
        have = f"{shapes.text(a.shape)} and {shapes.text(b.shape)}"
        needed = f"cross() needs size 3 along dimension {dim}"
        raise GradcliError("shape", f"{needed}, not shapes {have}")
    leading = (slice(None),) * axis
    (a0, a1, a2), (b0, b1, b2) = ([x[(*leading, k)] for k in range(3)] for x in (a, b))
    return stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], dim=axis)


@shorthand("linalg.cross", only_aliases=True, input_dtypes="numbers of one dtype")
def cross_of_rows(input, other, *, dim=-1):
    """The vector orthogonal to two vectors of length 3, along the last dimension."""
    return cross_along(input, other, dim=dim)


@shorthand(input_dtypes="numbers of one dtype")
def cross(input, other, dim=None):
    """The vector orthogonal to two vectors of length 3, along the first dimension of that size."""
    input, other = as_node(input), as_node(other)
    pairs = zip(input.shape, other.shape, strict=False)
    first = next((d for d, sizes in enumerate(pairs) if sizes == (3, 3)), -1)
    return cross_along(input, other, dim=first if dim is None else dim)


@shorthand(input_dtypes="floats of one dtype")
def vecdot(x, y, *, dim=-1):
    """Sum of products along dim."""
    return (as_node(x) * y).sum(dim=dim)


def _powers_rule(g, y, x, *, N):
    count = y.shape[-1]
    if count <= 2:  # a linear function
        return g[..., 1:].sum(dim=-1)
    last, rows = y[..., -1], x.unsqueeze(dim=-1).expand(shape=(*x.shape, count - 1))
    odd = (last.eq(0) | (last * 0).ne(0)).any()
    by_running_products = g[..., 1:].cumprod_backward(rows, rows.cumprod(dim=-1), dim=-1)
    below = through(powers(otherwise(odd, x, 1), N=count)[..., :-1], y[..., :-1])
    by_powers = otherwise(odd, g[..., 1:], 1) * arange(start=1, end=count) * below
    return otherwise(odd, by_powers, by_running_products).sum(dim=-1)


@composite(
    rule=_powers_rule,
    torch="torch.linalg.vander",
    spelling="linalg.vander({0}, N={N})",
    examples=(("linalg.vander(x)", "x=3"), ("linalg.vander(x, N=4)", "x=2x3")),
    integer_attributes=("N",),
)
def powers(x, *, N):
    """The powers of each element from 0 up to N, as a row."""
    return x.unsqueeze(dim=-1) ** arange(end=N)


@shorthand("linalg.vander", only_aliases=True, input_dtypes="numbers")
def rows_of_powers(x, *, N=None):
    """The powers of each element from 0 on, as a row."""
    x = as_node(x)
    x = x if x.ndim else x.unsqueeze(dim=0)
    N = x.shape[-1] if N is None else N
    require(is_integer(N) and N > 1, f"N of linalg.vander() must be above 1, got {N!r}")
    return powers(x, N=N)


@composite(
    examples=(("x * vander(x.detach())", "x=3"),),
    # PyTorch overwrites in place what its backward pass needs
    without_derivative=lambda x, *, N, increasing: ("x",) if N is None or N > 1 else (),
    integer_attributes=("N",),
)
def vander(x, *, N=None, increasing=False):
    """The powers of each element, as a row, the highest first."""
    require(N is None or (is_integer(N) and N >= 0), f"N of vander() must be at least 0, got {N!r}")
    require(x.ndim == 1, f"vander() takes a vector, not a tensor of {x.ndim} dimensions")
    result = powers(x, N=x.shape[0] if N is None else N)
    return result if increasing else result.flip(dims=(-1,))


@composite(
    torch="torch.nn.functional.bilinear",
    examples=(
        ("bilinear(a, b, weight)", "a=2x3,b=2x2,weight=4x3x2"),
        ("bilinear(a, b, weight, bias)", "a=3,b=2,weight=4x3x2,bias=4"),
    ),
    input_dtypes="numbers of one dtype",
)
def bilinear(input1, input2, weight, bias=None):
    """input1 @ weight[k] @ input2 + bias[k], for each output feature k."""
    have = f"{shapes.text(input1.shape)} and {shapes.text(input2.shape)}"
    message = f"bilinear() needs inputs whose shapes differ only in the last size, got {have}"
    shapes.require_equal(input1.shape[:-1], input2.shape[:-1], message)
    if bias is not None:
        message = "the bias of bilinear() must have shape {want} here, got {have}"
        shapes.require_equal(bias.shape, weight.shape[:1], message)
    result = einsum("...i,oij,...j->...o", input1, weight, input2)
    return result if bias is None else result + bias
