"""Unpooling: elements written to the indices that max pooling returned."""

from ..errors import GradcliError
from ..graphs import shapes
from ..lazy import np
from .families import composite, shorthand
from .indexing import in_range
from .leaves import zeros
from .windows import several


def _unpool(x, indices, *, size):
    out = np.zeros((*x.shape[:-1], size), x.dtype)
    np.put_along_axis(out, in_range(indices, size), x, -1)
    return out


@composite(
    shape=lambda s, indices, *, size: (*s[:-1], size),
    value=_unpool,
    dtype="first",
    integer_inputs=("indices",),
    rule=lambda g, y, x, indices, *, size: (g.gather(dim=-1, index=indices), None),
    examples=(("unpool(x, tensor([[[1, 3], [0, 2]]]), 4)", "x=1x2x2"),),
    torch=None,
    caveat="of elements written to one place the last remains, and all of them receive its "
    "gradient",
    exact="all",
)
def unpool(x, indices, *, size):
    """Zeros with the last dimension `size`, and x written at the indices along it."""
    return zeros(size=(*x.shape[:-1], size)).scatter(dim=-1, index=indices, src=x)


def _requested_size(n, output_size, usual, stride):
    """The requested size. Raises GradcliError if it is a stride or more from the usual one."""
    if len(output_size) not in (n, n + 2):
        message = (
            f"output_size of max_unpool{n}d() must have {n} or {n + 2} numbers, got {output_size}"
        )
        raise GradcliError("arguments", message)
    chosen = tuple(output_size)[-n:]
    for size, near, most in zip(chosen, usual, stride):
        if not near - most < size < near + most:
            message = f"output_size {size} is not between {near - most + 1} and "
            raise GradcliError("arguments", f"{message}{near + most - 1}, around the usual {near}")
    return chosen


def _unpooling(n):
    @shorthand(f"max_unpool{n}d", only_aliases=True, input_dtypes="floats")
    def max_unpool(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        """The elements of max_pool at the indices that they came from, zeros elsewhere."""
        kernel = several(kernel_size, n)
        stride = kernel if stride is None else several(stride, n)
        moves = zip(input.shape[-n:], kernel, stride, several(padding, n))
        size = tuple((m - 1) * s + k - 2 * p for m, k, s, p in moves)
        if output_size is not None:
            size = _requested_size(n, output_size, size, stride)
        message = f"input and indices have shapes {input.shape} and {indices.shape}"
        shapes.require_equal(indices.shape, input.shape, message)
        head, many = input.shape[:-n], shapes.numel(input.shape[-n:])
        rows, which = (t.reshape(shape=(*head, many)) for t in (input, indices))
        return unpool(rows, which, size=shapes.numel(size)).reshape(shape=(*head, *size))


for _n in (1, 2, 3):
    _unpooling(_n)
