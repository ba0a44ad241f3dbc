"""PyTorch's checks of the shapes and dtypes of arguments, with its error messages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...lazy import np
from ..python.values import Class, error
from .tensor import MetaTensor, Tensor

MM = "mat1 and mat2 shapes cannot be multiplied ({} and {})"
BATCHES = "Expected size for first two dimensions of batch2 tensor to be: {} but got: {}."
MV = "size mismatch, got input ({}), mat ({}), vec ({})"
LONG_NAMES = {  # names of dtypes in C++
    **{"float32": "float", "float64": "double", "int64": "long int", "int32": "int"},
    **{"int16": "short int", "int8": "signed char", "uint8": "unsigned char", "bool": "bool"},
    **{"float16": "c10::Half", "bfloat16": "c10::BFloat16"},
}


def check_broadcast(a: Any, b: Any) -> None:
    """Refuse two shapes that cannot be broadcast together."""
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        return
    width = max(a.ndim, b.ndim)
    for back in range(1, min(a.ndim, b.ndim) + 1):
        n, k = a.shape[-back], b.shape[-back]
        if n != k and 1 not in (n, k):
            raise error(
                "RuntimeError",
                f"The size of tensor a ({n}) must match the size of tensor b ({k}) at "
                f"non-singleton dimension {width - back}",
            )


def check_output(target: Tensor, other: Tensor) -> None:
    """Refuse an operand that would broadcast the target of an in-place operation."""
    check_broadcast(target, other)
    check_output_shape(target, np.broadcast_shapes(target.shape, other.shape))


def check_output_shape(target: Tensor, shape: Sequence[int] | None) -> None:
    """Refuse to write a result of this shape over a tensor of another one."""
    if shape != target.shape:
        text = f"output with shape {list(target.shape)} doesn't match the broadcast shape "
        raise error("RuntimeError", f"{text}{list(shape or ())}")


def check_broadcast_all(tensors: Sequence[Tensor]) -> None:
    """Refuse several tensors that cannot be broadcast together, one after another."""
    shape: tuple[int, ...] = ()
    for tensor in tensors:
        check_broadcast(Tensor(np.broadcast_to(0.0, shape)), tensor)
        shape = np.broadcast_shapes(shape, tensor.shape)


def _dims(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


def check_same(names: str, a: Tensor, b: Tensor) -> None:
    """Refuse operands of addmm of different dtypes; `names` is how the message calls them."""
    if a.dtype is not b.dtype:
        kinds = f"{a.dtype.scalar_name} and {b.dtype.scalar_name}"
        raise error("RuntimeError", f"{names} must have the same dtype, but got {kinds}")


def _check_mapped(a: Tensor, b: Tensor) -> None:
    """Refuse the operands of a matrix product inside vmap, if they cannot be multiplied.

    PyTorch computes one product for all rows of the vmap, and its message shows the shapes of that
    product. Operands outside of a vmap are not checked.
    """
    rows_a, rows_b = (t.fields.get("batched") for t in (a, b))
    inner, other = a.shape[-1], b.shape[max(b.ndim - 2, 0)]
    if inner == other or not (rows_a or rows_b):
        return
    left = (a.numel // (inner or 1) * (rows_a or 1), inner)
    if b.ndim == 1 and not rows_b:
        raise error("RuntimeError", MV.format(left[0], _dims(left), other))
    if not rows_b and b.ndim == 2:
        raise error("RuntimeError", MM.format(_dims(left), _dims(b.shape)))
    if b.ndim == 1 and not rows_a:
        raise error("RuntimeError", MM.format(_dims(left), _dims((other, rows_b or 1))))
    count = (rows_a or rows_b) * np.broadcast(*(np.empty(t.shape[:-2]) for t in (a, b))).size
    raise error("RuntimeError", BATCHES.format([count, inner], [count, other]))


def check_mm(a: Tensor, b: Tensor, *, added: bool = False) -> None:
    """Refuse matrices that cannot be multiplied. `added`: in addmm, which linear calls, too."""
    if isinstance(a, MetaTensor) != isinstance(b, MetaTensor):
        raise error("RuntimeError", "Tensor on device meta is not on the expected device cpu!")
    if added:
        check_same("mat1 and mat2", a, b)
    _check_mapped(a, b)
    if a.shape[-1] != b.shape[-2]:
        left = (
            (a.numel // a.shape[-1] if a.shape[-1] else 0, a.shape[-1]) if a.ndim > 2 else a.shape
        )
        raise error(
            "RuntimeError",
            MM.format(_dims(left), _dims(b.shape)),
        )
    if a.dtype is not b.dtype:
        kinds = f"{LONG_NAMES[a.dtype.name]} != {LONG_NAMES[b.dtype.name]}"
        text = "expected m1 and m2 to have the same dtype, but got: "
        raise error("RuntimeError", text + kinds)


def check_bmm(a: Tensor, b: Tensor) -> None:
    """Refuse arguments that bmm does not take."""
    for name, tensor in (("batch1", a), ("batch2", b)):
        if tensor.ndim != 3:
            raise error("RuntimeError", f"{name} must be a 3D tensor")
    _check_batches(a, b, a.shape[0], b.shape[0])


def check_batches(a: Tensor, b: Tensor) -> None:
    """Refuse batches of matrices that matmul cannot multiply.

    If the other operand is a matrix or a vector that requires a gradient, PyTorch folds the batch
    into one matrix and transposes both; its message shows those shapes.
    """
    if a.ndim < 3 and a.requires_grad and a.shape[-1] != b.shape[-2]:
        rows = (b.numel // (b.shape[-2] or 1), b.shape[-2])
        if a.ndim == 1:
            raise error("RuntimeError", MV.format(rows[0], _dims(rows), a.shape[0]))
        raise error("RuntimeError", MM.format(_dims(rows), _dims(a.shape[::-1])))
    if a.ndim == 1:
        a = Tensor(a.data[None], a.dtype)
    batches = [np.broadcast_to(0.0, t.shape[:-2]) for t in (a, b)]
    check_broadcast(*map(Tensor, batches))
    count = np.broadcast(*batches).size
    _check_batches(a, b, count, count)


def _check_batches(a: Tensor, b: Tensor, left: int, right: int) -> None:
    _check_mapped(a, b)
    expected, actual = [left, a.shape[-1]], [right, b.shape[-2]]
    if actual != expected:
        raise error("RuntimeError", BATCHES.format(expected, actual))
    if a.dtype is not b.dtype:
        text = f"expected scalar type {a.dtype.scalar_name} but found {b.dtype.scalar_name}"
        raise error("RuntimeError", text)


def check_mv(a: Tensor, b: Tensor) -> None:
    """Refuse a matrix and a vector that cannot be multiplied."""
    _check_mapped(a, b)
    if a.shape[-1] != b.shape[0]:
        raise error(
            "RuntimeError",
            MV.format(a.shape[0], _dims(a.shape), b.shape[0]),
        )
    if a.dtype is not b.dtype:
        kinds = b.dtype.scalar_name, a.dtype.scalar_name, b.dtype.scalar_name
        text = "addmv input tensors must have the same dtype, but got {}, {}, and {}"
        raise error("RuntimeError", text.format(*kinds))


def check_dot(a: Tensor, b: Tensor) -> None:
    """Refuse two vectors that have no dot product."""
    if a.ndim != 1 or b.ndim != 1:
        raise error(
            "RuntimeError",
            f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors",
        )
    if a.dtype is not b.dtype:
        raise error(
            "RuntimeError",
            "dot : expected both vectors to have same dtype, but found "
            f"{a.dtype.scalar_name} and {b.dtype.scalar_name}",
        )
    _check_mapped(a, b)
    if a.numel != b.numel:
        raise error(
            "RuntimeError",
            f"inconsistent tensor size, expected tensor [{a.numel}] and src [{b.numel}] to have "
            f"the same number of elements, but got {a.numel} and {b.numel} elements respectively",
        )


def dimension(dim: int, ndim: int) -> int:
    """A dimension as a non-negative int. Raises the program's IndexError if out of range."""
    width = max(ndim, 1)
    if not -width <= dim < width:
        raise error(
            "IndexError",
            f"Dimension out of range (expected to be in range of [{-width}, {width - 1}], but got "
            f"{dim})",
        )
    return dim % width


def per_dimension(value: Any, n: int) -> list[int]:
    """One number for each of n dimensions; an int, or a list of one, is repeated."""
    if not isinstance(value, Sequence):
        return [value] * n
    return list(value) * (n if len(value) == 1 else 1)


def check_dims(tensor: Tensor, dims: Any) -> None:
    """Refuse dimensions that a tensor does not have."""
    for dim in dims if isinstance(dims, tuple | list) else (dims,):
        if isinstance(dim, int) and not isinstance(dim, bool):
            dimension(dim, tensor.ndim)


def check_floating(name: str, tensor: Tensor) -> None:
    """Refuse an integer tensor as the argument of a function that needs floats, such as mean.
    `name` is the function in the message.
    """
    if not tensor.dtype.is_floating:
        raise error(
            "RuntimeError",
            f"{name}(): could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {tensor.dtype.scalar_name}",
        )


INF = float("inf")
RANGES = {  # smallest and largest finite value of each dtype
    **{"float16": (-65504.0, 65504.0), "float32": (-3.4028234663852886e38, 3.4028234663852886e38)},
    **{"uint8": (-255, 255), "int8": (-128, 127), "int16": (-(2**15), 2**15 - 1)},
    "int32": (-(2**31), 2**31 - 1),
}
C_TYPES = LONG_NAMES | {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t"}


def check_fits(value: Any, dtype: Any) -> None:
    """Refuse to write a number into a tensor whose dtype cannot represent it."""
    if not isinstance(value, int | float) or value != value or value in (INF, -INF):
        return
    low, high = RANGES.get(dtype.name, (-INF, INF))
    if not low <= value <= high:
        text = f"value cannot be converted to type {C_TYPES[dtype.name]} without overflow"
        raise error("RuntimeError", text)


LINALG_ERROR = Class("_LinAlgError", (error("RuntimeError", "").value.cls,), module="torch._C")
Check = Callable[..., None]
CHECKS: dict[str, list[Check]] = {}  # by name of the function, in the order in which they run


def check(*names: str) -> Callable[[Check], Check]:
    """Register a check of the arguments of these functions."""

    def register(function: Check) -> Check:
        for name in names:
            CHECKS.setdefault(name, []).append(function)
        return function

    return register


def refuse(name: str, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Run the checks that are registered for the function `name` on its arguments."""
    first = args[0] if args else None
    if isinstance(first, list | tuple) and first:
        first = first[0]
    if isinstance(first, Tensor | str):
        for function in CHECKS.get(name, ()):
            function(*args, **named)


def refuse_if(condition: bool, text: str, kind: str = "RuntimeError") -> None:
    """Raise an exception of the program where a condition holds."""
    if condition:
        raise error(kind, text)


def needs(ndim: int, message: str, *names: str) -> None:
    """Register a check of the functions `names`: the input must have at least `ndim` dimensions."""

    def checked(input: Tensor, *_: Any, **__: Any) -> None:
        refuse_if(input.ndim < ndim, message)

    check(*names)(checked)
