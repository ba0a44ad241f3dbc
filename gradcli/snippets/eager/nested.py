"""The argument of torch.tensor: nested lists, arrays and tensors.

They are converted in PyTorch's order, on which its errors depend: first the sizes, from the first
item of each list; then the dtype; then each number.
"""

from collections.abc import Iterable
from typing import Any

from ...lazy import np
from ..python.operations import plain
from ..python.values import Instance, Unsupported, error
from .dtypes import BY_NUMPY, DType, of_number, promoted
from .mode import MODE
from .tensor import Tensor

KNOWN = (
    "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, "
    "uint16, uint8, and bool"
)
NEGATIVE_STRIDE = (
    "At least one stride in the given numpy array is negative, and tensors with negative strides "
    "are not currently supported. (You can probably work around this by making a copy of your "
    "array  with array.copy().) "
)
NO_INDEX = "only integer tensors of a single element can be converted to an index"
NO_NUMBER = "only one element tensors can be converted to Python scalars"
SEQUENCES = (list, tuple, range, str)


def read(data: Any, dtype: DType | None) -> tuple[Any, DType]:
    """The argument of torch.tensor as an array, and its dtype."""
    if isinstance(data, Tensor):
        kind = dtype or data.dtype
        return np.array(data.data.astype(kind.numpy)), kind
    array = getattr(data, "array", None)
    if array is not None:
        check_array(array)
        kind = dtype or BY_NUMPY[array.dtype.name]
        return np.array(array.astype(kind.numpy)), kind
    if isinstance(data, str):
        raise error("TypeError", "new(): invalid data type 'str'")
    sizes = _sizes(data)
    kind = dtype or _inferred(data)
    values = list(_elements(data, sizes, kind)) if 0 not in sizes else []
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array(values).astype(kind.numpy).reshape(sizes), kind


def check_array(array: Any) -> None:
    """Refuse a NumPy array that cannot be converted to a tensor."""
    name = array.dtype.type.__name__
    if array.dtype.kind in "UO":
        text = f"can't convert np.ndarray of type numpy.{name}. The only supported types are: "
        raise error("TypeError", f"{text}{KNOWN}.")
    if any(step < 0 for step in array.strides):
        raise error("ValueError", NEGATIVE_STRIDE)
    if array.dtype.name not in BY_NUMPY:
        raise Unsupported(f"a tensor of {array.dtype.name}")


def _listed(data: Any) -> Any:
    """A list, tuple, range, string or array as a Python or NumPy value; None for other values."""
    if isinstance(data, SEQUENCES):
        return data
    if isinstance(data, Instance):
        value = plain(data)
        return value if isinstance(value, SEQUENCES) else None
    array = getattr(data, "array", None)
    return None if isinstance(array, np.generic) else array


def _sizes(data: Any) -> list[int]:
    sizes: list[int] = []
    while (listed := _listed(data)) is not None:
        if isinstance(listed, str):  # each character is a string again
            raise error("ValueError", "too many dimensions 'str'")
        if not isinstance(listed, SEQUENCES) and not listed.ndim:
            raise error("TypeError", "len() of unsized object")
        sizes.append(len(listed))
        if not sizes[-1]:
            break
        data = listed[0]
        if isinstance(data, np.ndarray):
            return [*sizes, *data.shape]
    return sizes


def _inferred(data: Any) -> DType:
    """The dtype to which all numbers in nested lists are promoted."""
    if isinstance(data, Tensor):
        return data.dtype
    if isinstance(data, bool | int | float):
        return of_number(data, MODE.default_dtype)
    listed = getattr(data, "array", _listed(data))
    if isinstance(listed, str):
        raise error("TypeError", "new(): invalid data type 'str'")
    if isinstance(listed, SEQUENCES):
        return promoted(_inferred(d) for d in listed) or MODE.default_dtype
    if listed is None:
        if isinstance(data, complex):
            raise Unsupported("a complex number")
        raise error("RuntimeError", f"Could not infer dtype of {_kind(data)}")
    check_array(listed)
    return BY_NUMPY[listed.dtype.name]


def _elements(data: Any, sizes: list[int], kind: DType, dim: int = 0) -> Iterable[Any]:
    """The numbers in nested lists of the given sizes, in row-major order."""
    if dim == len(sizes):
        yield _number(data, kind)
        return
    listed = data if isinstance(data, np.ndarray) else _listed(data)
    if isinstance(data, Tensor) and data.ndim:
        listed = data.data
    if listed is None:
        raise error("TypeError", "not a sequence")
    if len(listed) != sizes[dim]:
        text = f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(listed)})"
        raise error("ValueError", text)
    if dim == len(sizes) - 1:
        yield from (_number(part, kind) for part in listed)
        return
    for part in listed:
        yield from _elements(part, sizes, kind, dim + 1)


def _number(value: Any, kind: DType) -> Any:
    """`value` as a number of the dtype `kind`, converted as in PyTorch's C++ code."""
    if isinstance(value, bool | int | float):
        return _in_range(value, kind)
    value = getattr(value, "array", value)
    if isinstance(value, np.generic):
        return value
    if isinstance(value, Tensor):
        if kind.is_floating:
            if value.numel != 1:
                raise error("ValueError", NO_NUMBER)
        elif value.numel != 1 or value.dtype.is_floating:
            raise error("TypeError", NO_INDEX)
        return value.data.reshape(())[()]
    if isinstance(value, complex):
        raise Unsupported("a complex number")
    if kind.is_floating:
        raise error("TypeError", f"must be real number, not {_kind(value)}")
    raise error("TypeError", f"'{_kind(value)}' object cannot be interpreted as an integer")


def _in_range(value: Any, kind: DType) -> Any:
    """`value`; raises PyTorch's error if it is an integer out of the range of the dtype."""
    if kind.kind != "int" or not isinstance(value, int):
        return value
    if not -(2**63) <= value < 2**63:
        raise error("ValueError", "Overflow when unpacking long long")
    limits = np.iinfo(kind.numpy)
    if not min(limits.min, -limits.max) <= value <= limits.max:  # unsigned dtypes wrap around
        text = f"value cannot be converted to type {kind.numpy} without overflow"
        raise error("RuntimeError", text)
    return value


def _kind(value: Any) -> str:
    return str(getattr(getattr(value, "cls", None), "name", type(value).__name__))
