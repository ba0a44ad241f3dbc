"""Shape arithmetic: pure functions on tuples of ints.

Conflicts are raised as `Conflict`, which has the two sizes that differ, so that omitted sizes can
be inferred from it (language/inference/infer.py).
"""

from collections.abc import Sequence
from functools import lru_cache

from ..errors import GradcliError

Shape = tuple[int, ...]

MOST_DIMENSIONS = 32  # NumPy has at most 64, and a Jacobian has the dimensions of two tensors

# Sizes used for dimensions of unknown size. They, their pairwise sums and their products all
# differ, so that a number in a result shows the dimensions from which it was computed. They are
# far apart, so that the output size of a convolution is not a small number.
GENERIC_SIZES = (101, 163, 227, 293, 367, 439, 509, 577, 653, 743, 821, 907, 1021, 1201, 1399, 1481)


class Conflict(GradcliError):
    """Two sizes must be equal and are not; `left` and `right` are these sizes."""

    def __init__(
        self, message: str, left: int, right: int, hint: str | None = None, code: str = "shape"
    ):
        super().__init__(code, message, hint=hint)
        self.left, self.right = left, right


def text(shape: Sequence[int]) -> str:
    """A shape as Python and PyTorch print it: (2, 3)."""
    return repr(tuple(shape))


def numel(shape: Sequence[int]) -> int:
    """Number of elements."""
    count = 1
    for size in shape:
        count *= size
    return count


def is_square(shape: Sequence[int]) -> bool:
    """Whether a shape is that of a square matrix, or of a batch of square matrices."""
    return len(shape) > 1 and shape[-1] == shape[-2]


@lru_cache
def multi_index(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The multi-index of a flat index, in C order. The shape may be larger than any array's."""
    index = []
    for size in reversed(shape):
        flat, at = divmod(int(flat), size)
        index.append(at)
    return tuple(reversed(index))


def broadcast(*shapes: Shape) -> Shape:
    """The shape to which NumPy and PyTorch broadcast `shapes`. Raises Conflict."""
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    ndim = max(map(len, shapes))
    out = []
    for axis, sizes in enumerate(zip(*((1,) * (ndim - len(s)) + s for s in shapes), strict=True)):
        wide = [n for n in sizes if n != 1]
        for size in wide:
            if size != wide[0]:
                raise Conflict(
                    f"shapes {' and '.join(map(text, shapes))} do not broadcast: "
                    f"dimension {axis - ndim} is {wide[0]} in one and {size} in the other",
                    wide[0],
                    size,
                    hint="aligned at the last dimension, sizes must be equal, or one of them 1",
                )
        out.append(wide[0] if wide else 1)
    return tuple(out)


def axis(dim: int, ndim: int) -> int:
    """The non-negative index of dimension `dim`; 0-d tensors count as one-dimensional."""
    room = max(ndim, 1)
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise GradcliError("arguments", f"dim must be an integer, got {dim!r}")
    if not -room <= dim < room:
        raise GradcliError(
            "index",
            f"dimension {dim} is out of range for a tensor with {ndim} "
            f"dimension{'s' * (ndim != 1)}",
            hint=f"dim must be from {-room} to {room - 1}",
        )
    return dim % room


def out_of_range(index: int, size: int, first: int, of: str | None = None) -> GradcliError:
    """The error for an index out of range. `of` describes what is indexed, a dimension by default;
    its first valid index is `first`.
    """
    message = f"index {index} is out of range for {of or f'a dimension of size {size}'}"
    hint = f"indices must be from {first} to {size - 1}" if size else "it has no elements"
    return GradcliError("index", message, hint=hint)


def axes(dim, ndim: int) -> tuple[int, ...]:
    """A `dim` argument (None, an int or several) as a sorted tuple of non-negative indices."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    result = tuple(axis(d, ndim) for d in (dim if isinstance(dim, tuple) else (dim,)))
    if len(set(result)) != len(result):
        raise GradcliError("arguments", f"dim {dim} names a dimension twice")
    return tuple(sorted(result)) if ndim else ()


def reduce(shape: Shape, over: Sequence[int], keepdim: bool) -> Shape:
    """The shape after a reduction over the axes `over`."""
    if keepdim:
        return tuple(1 if i in over else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in over)


def require_equal(have: Shape, want: Shape, message: str, hint: str | None = None) -> None:
    """Raise a Conflict for the first two different sizes, or a GradcliError for different ranks.
    `{have}` and `{want}` in the message are replaced by the shapes.
    """
    if have != want:
        message = message.replace("{have}", text(have)).replace("{want}", text(want))
        differing = [(a, b) for a, b in zip(have, want, strict=False) if a != b]
        if len(have) != len(want):
            raise GradcliError("shape", message, hint=hint)
        raise Conflict(message, *differing[0], hint)


def matmul(a: Shape, b: Shape) -> Shape:
    """The shape of a @ b. Raises Conflict."""
    if not a or not b:
        raise GradcliError(
            "shape",
            f"@ needs at least one dimension on both sides, not shapes {text(a)} and {text(b)}",
            hint="to multiply by a number, use *",
        )
    m, k = (a if len(a) > 1 else (1, *a))[-2:]
    k2, n = (b if len(b) > 1 else (*b, 1))[-2:]
    if k != k2:
        raise Conflict(
            f"shapes {text(a)} and {text(b)} cannot be multiplied: the last dimension of the left "
            f"is {k}, "
            f"and dimension {max(-2, -len(b))} of the right is {k2}",
            k,
            k2,
            hint="those two must be equal",
        )
    head = broadcast(a[:-2], b[:-2])
    return head + ((m,) if len(a) > 1 else ()) + ((n,) if len(b) > 1 else ())


def fits(small: Shape, big: Shape) -> bool:
    """Whether `small` can be broadcast to `big`."""
    if len(small) > len(big):
        return False
    tail = big[len(big) - len(small) :]
    return all(s in (1, b) for s, b in zip(small, tail, strict=True))


def reshape(old: Shape, new: Shape) -> Shape:
    """`new` with -1 replaced. Raises GradcliError if the numbers of elements differ."""
    total, known = numel(old), numel([n for n in new if n != -1])
    hint = f"the product of all sizes must be {total}; one may be -1, which is then inferred"
    if any(n < -1 for n in new) or new.count(-1) > 1:
        raise GradcliError(
            "shape", f"{text(new)} is not a shape", hint="at most one size may be -1"
        )
    if -1 in new:
        if known == 0 or total % known:
            message = f"shape {text(new)} is invalid for input of size {total}"
            raise Conflict(f"{message}: {total} is not a multiple of {known}", total, known, hint)
        return tuple(total // known if n == -1 else n for n in new)
    if total != known:
        raise Conflict(
            f"shape {text(new)} has {known} elements and the input, of shape {text(old)}, has "
            f"{total}",
            total,
            known,
            hint,
        )
    return new
