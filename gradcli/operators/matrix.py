"""Products of vectors and matrices.

The rules follow M. Giles, "Collected matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008), cited below as Giles with the section.
"""

from ..errors import GradcliError
from ..graphs import shapes
from ..lazy import np
from .families import composite, named, operator
from .guards import unless
from .leaves import eye


def _ranks(name, *ranks):
    """A function that checks the numbers of dimensions of the operands."""

    def check(*input_shapes):
        for s, rank in zip(input_shapes, ranks):
            if len(s) != rank:
                kinds = {1: "a vector", 2: "a matrix", 3: "a batch of matrices"}
                needed = " and ".join(kinds[r] for r in ranks)
                have = " and ".join(map(shapes.text, input_shapes))
                raise GradcliError("shape", f"{name}() needs {needed}, not shapes {have}")

    return check


def _product_shape(name, *ranks):
    check = _ranks(name, *ranks)

    def shape(a, b):
        check(a, b)
        if name == "bmm" and a[0] != b[0]:
            raise shapes.Conflict(
                f"bmm() needs batches of equal size, got {a[0]} and {b[0]}", a[0], b[0]
            )
        return shapes.matmul(a, b)

    return shape


def _multiplied(a, b):
    """The matrix product. A column times a row is computed elementwise, as in PyTorch, so that -0
    stays -0.
    """
    outer = np.ndim(a) == np.ndim(b) == 2 and a.shape[1] == 1 and min(len(a), b.shape[1]) > 1
    return a * b if outer and a.dtype.kind == "f" else np.matmul(a, b)


IN_ORDER = 4  # most terms of a sum that BLAS libraries add in order


def added_in_order(*factors):
    """The field `exact` of a matrix product: "all" if all sizes are small, because short sums are
    added in order.
    """
    short = all(len(x.shape) <= 2 and max(x.shape) <= IN_ORDER for x in factors)
    return "all" if short else ""


@operator(
    shape=shapes.matmul,
    value=_multiplied,
    rows=lambda a, b: (True, True) if len(a) == len(b) > 2 and a[0] == b[0] else (),
    spelling="{0} @ {1}",
    input_dtypes="numbers of one dtype",
    typical_inputs=("matrices",),
    rank="product",
    index="matmul",
    examples=(
        ("a @ b", "a=2x3,b=3x4"),
        ("a @ b", "a=2x3,b=3"),
        ("a @ b", "a=3,b=3x4"),
        ("a @ b", "a=3,b=3"),
        ("matmul(a, b)", "a=5x1x2x3,b=2x3x4"),
        ("a @ b", "a=3,b=5x3x4"),
        ("a @ b", "a=5x2x3,b=3"),
    ),
    flops=lambda out, a, b: 2 * shapes.numel(out) * a[-1],
    finite=True,
    numpy="{0} @ {1}",
    exact=lambda y, a, b: added_in_order(a, b),
)
def matmul(g, y, a, b):
    """Matrix product over the last dimension of a and the last but one of b. Giles 2.2.2."""
    if a.ndim == 1 and b.ndim == 1:
        return g * b, g * a
    if a.ndim == 1:
        return _on_vector(b, g), outer_product(a, g)
    if b.ndim == 1:
        return outer_product(g, b), _on_vector(a.mT, g)
    return g @ b.mT, a.mT @ g


def _on_vector(a, v):
    """a @ v, for batches of matrices and vectors too."""
    return a @ v if a.ndim == 2 else (a @ v.unsqueeze(dim=-1)).squeeze(dim=-1)


def outer_product(a, b):
    """The outer product of the vectors in the last dimensions of a and b."""
    return outer(a, b) if a.ndim == b.ndim == 1 else a.unsqueeze(dim=-1) * b.unsqueeze(dim=-2)


def _product(name, ranks, sentence, examples):
    @named(name, sentence)
    def meaning(a, b):
        return a @ b

    return composite(
        shape=_product_shape(name, *ranks),
        value=lambda a, b: np.matmul(a, b),
        typical_inputs=("matrices",) if ranks == (2, 2) else (),
        input_dtypes="numbers of one dtype",
        examples=examples,
        exact=lambda y, a, b: added_in_order(a, b),
    )(meaning)


mm = _product("mm", (2, 2), "Product of two matrices.", (("mm(a, b)", "a=2x3,b=3x4"),))
mv = _product("mv", (2, 1), "Product of a matrix and a vector.", (("mv(a, b)", "a=2x3,b=3"),))
bmm = _product(
    "bmm", (3, 3), "Products of two batches of matrices.", (("bmm(a, b)", "a=2x3x4,b=2x4x2"),)
)


@composite(
    shape=lambda a, b: _dot_shape(a, b),
    value=lambda a, b: np.matmul(a, b),
    aliases=("vdot",),
    input_dtypes="numbers of one dtype",
    examples=(("dot(a, b)", "a=3,b=3"),),
    exact=lambda y, a, b: added_in_order(a, b),
)
def dot(a, b):
    """Sum of the products of two vectors."""
    return a @ b


def _dot_shape(a, b):
    _ranks("dot", 1, 1)(a, b)
    if a != b:
        raise shapes.Conflict(
            f"dot() needs vectors of equal length, got {a[0]} and {b[0]}", a[0], b[0]
        )
    return ()


@operator(
    shape=lambda a, b: (_ranks("outer", 1, 1)(a, b), (*a, *b))[1],
    value=lambda a, b: np.multiply.outer(a, b),
    aliases=("ger",),
    index="i,j->ij",
    examples=(("outer(a, b)", "a=2,b=3"),),
    flops=lambda out, a, b: shapes.numel(out),
    numpy="np.outer",
    exact="all",
)
def outer(g, y, a, b):
    """Every product of an element of a and an element of b."""
    return g @ b, g.mT @ a


@operator(
    shape=lambda s: (_ranks("trace", 2)(s), ())[1],
    value=lambda x: np.trace(x),
    dtype="number",
    index=lambda lower, i, x: lower.over(min(x.shape), lambda k: lower(x, (k, k))),
    method=True,
    typical_inputs=("square",),
    examples=(("trace(x)", "x=3x3"), ("x.trace()", "x=2x3")),
    flops=lambda out, s: min(s),
    numpy="np.trace",
    input_dtypes="numbers",
    exact="all",
)
def trace(g, y, x):
    """Sum of the diagonal."""
    unit = eye(n=x.shape[0], m=None if x.shape[0] == x.shape[1] else x.shape[1])
    return unless(unit.eq(0), g * unit, instead=0.0)


def _sides_of_a_square(a, b):
    """The sides of two matrices whose Kronecker product is square; () if it is not."""
    square = len(a) == len(b) == 2 and a[0] * b[0] == a[1] * b[1]
    return ((a[0], a[1]), (b[0], b[1])) if square else ()


@composite(
    typical_equal_sizes=_sides_of_a_square,
    examples=(("kron(a, b)", "a=2x3,b=2x2"), ("kron(a, b)", "a=2,b=3")),
    numpy="np.kron",
    exact="value",
)
def kron(a, b):
    """Kronecker product: every element of a times the whole of b, as blocks of a matrix."""
    ndim = max(a.ndim, b.ndim)
    left = a.reshape(shape=(1,) * (ndim - a.ndim) + a.shape)
    right = b.reshape(shape=(1,) * (ndim - b.ndim) + b.shape)
    spaced = left.reshape(shape=tuple(n for size in left.shape for n in (size, 1)))
    repeated = right.reshape(shape=tuple(n for size in right.shape for n in (1, size)))
    pairs = zip(left.shape, right.shape, strict=True)
    return (spaced * repeated).reshape(shape=tuple(m * n for m, n in pairs))
