"""PyTorch's dtypes and its rules of type promotion."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from ...lazy import np
from ..python.values import Builtin, Class, Machine, Object, Property, error

KINDS = ("bool", "int", "float")  # in the order of promotion


class DType(Object):
    """A dtype: its names in PyTorch and NumPy, its kind, and its rank within the kind."""

    __slots__ = ("kind", "legacy", "name", "numpy", "rank", "size")
    cls = Class("dtype", module="torch", shown="torch.dtype")

    def __init__(self, name: str, numpy: str, kind: str, rank: int, legacy: str, size: int):
        self.name, self.numpy, self.kind, self.rank = name, numpy, kind, rank
        self.legacy, self.size = legacy, size  # such as FloatTensor; bytes per element

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    @property
    def precision(self) -> str:
        """The NumPy dtype in which this floating dtype is computed: float64 or float32."""
        return "float64" if self.name == "float64" else "float32"

    @property
    def is_floating(self) -> bool:
        """Whether tensors of this dtype can require a gradient."""
        return self.kind == "float"

    @property
    def computed_in(self) -> str:
        """NumPy's dtype in which tensors of this dtype are computed: float32 for float16."""
        return "float32" if self.name == "float16" else self.numpy

    @property
    def type_name(self) -> str:
        """The name of a tensor of this dtype in some errors: "torch.FloatTensor"."""
        if self.name in ("bool", "bfloat16"):
            return f"CPU{self.scalar_name}Type"
        return f"torch.{self.legacy}"

    @property
    def scalar_name(self) -> str:
        """The name of this dtype in other errors: "Float", "Long"."""
        return self.legacy.removesuffix("Tensor")


BOOL = DType("bool", "bool", "bool", 0, "BoolTensor", 1)
UINT8 = DType("uint8", "uint8", "int", 0, "ByteTensor", 1)
INT8 = DType("int8", "int8", "int", 1, "CharTensor", 1)
INT16 = DType("int16", "int16", "int", 2, "ShortTensor", 2)
INT32 = DType("int32", "int32", "int", 3, "IntTensor", 4)
INT64 = DType("int64", "int64", "int", 4, "LongTensor", 8)
FLOAT16 = DType("float16", "float16", "float", 0, "HalfTensor", 2)
BFLOAT16 = DType("bfloat16", "float32", "float", 0, "BFloat16Tensor", 2)  # stored in float32
FLOAT32 = DType("float32", "float32", "float", 1, "FloatTensor", 4)
FLOAT64 = DType("float64", "float64", "float", 2, "DoubleTensor", 8)
ALL = (BOOL, UINT8, INT8, INT16, INT32, INT64, FLOAT16, BFLOAT16, FLOAT32, FLOAT64)
BY_NUMPY = {d.numpy: d for d in ALL if d is not BFLOAT16}
BY_NAME = {d.name: d for d in ALL} | {
    **{"float": FLOAT32, "double": FLOAT64, "half": FLOAT16},
    **{"long": INT64, "int": INT32, "short": INT16},
}


def unformatted(name: str) -> Callable[..., str]:
    """The `__format__` of a type written in C++, which accepts no format specification."""

    def text(m: Machine, self: Any, spec: str = "") -> str:
        if spec:
            raise error("TypeError", f"unsupported format string passed to {name}.__format__")
        return m.text(self)

    return text


DType.cls.members.update(
    {
        "__format__": Builtin("__format__", unformatted("torch.dtype")),
        "__repr__": Builtin("__repr__", lambda m, self: repr(self)),
        "is_floating_point": Property(
            Builtin("is_floating_point", lambda m, self: self.is_floating)
        ),
        "is_complex": Property(Builtin("is_complex", lambda m, self: False)),
        "is_signed": Property(
            Builtin("is_signed", lambda m, self: self.name not in ("bool", "uint8"))
        ),
        "itemsize": Property(Builtin("itemsize", lambda m, self: self.size)),
    }
)


def of_array(array: Any) -> DType:
    """The dtype of a NumPy array. Raises KeyError if there is none for it."""
    return BY_NUMPY[array.dtype.name]


def of_number(value: bool | int | float, default: DType = FLOAT32) -> DType:
    """The dtype that torch.tensor() gives to a number; `default` is the default dtype of floats."""
    if isinstance(value, bool):
        return BOOL
    return INT64 if isinstance(value, int) else default


def promoted(dtypes: Iterable[DType]) -> DType | None:
    """The dtype to which the given dtypes are promoted; None if there are none."""
    result: DType | None = None
    for dtype in dtypes:
        result = dtype if result is None else _wider(result, dtype)
    return result


@cache
def _wider(a: DType, b: DType) -> DType:
    if a.kind != b.kind:
        return max(a, b, key=lambda d: KINDS.index(d.kind))
    if {a, b} >= {UINT8} and a.kind == "int" and a is not b:  # uint8 and int8 give int16
        other = b if a is UINT8 else a
        return INT16 if other is INT8 else other
    if {a, b} == {FLOAT16, BFLOAT16}:
        return FLOAT32
    return max(a, b, key=lambda d: d.rank)


def result_type(operands: Iterable[Any], default: DType = FLOAT32) -> DType:
    """The dtype of an operation on tensors and numbers: torch.result_type.

    Tensors with dimensions have priority over 0-dim tensors, and both over numbers: an operand of
    lower priority counts only if it is of a higher kind (bool < int < float).
    """
    groups: tuple[list[DType], list[DType], list[DType]] = ([], [], [])
    for value in operands:
        if isinstance(value, bool | int | float):
            groups[2].append(of_number(value, default))
        else:
            groups[0 if value.ndim else 1].append(value.dtype)
    result: DType | None = None
    for dtype in map(promoted, groups):
        if dtype is not None and (
            result is None or KINDS.index(dtype.kind) > KINDS.index(result.kind)
        ):
            result = dtype
    assert result is not None
    return result


def rounded(array: Any, dtype: DType) -> Any:
    """An array rounded to `dtype`. Only bfloat16, which is stored in float32, needs this: its lower
    16 bits are rounded off, half to even. Returns the array itself if nothing changes.
    """
    if dtype is not BFLOAT16:
        return array
    single = np.asarray(array, np.float32)
    bits = single.view(np.uint32)
    if not (bits & 0xFFFF).any():
        return array
    upper = (bits + (0x7FFF + ((bits >> 16) & 1))) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(single), single, upper.astype(np.uint32).view(np.float32))


def as_array(value: Any, dtype: DType) -> Any:
    """`value` as a NumPy array of this dtype; integers wrap around as in PyTorch."""
    return np.asarray(value).astype(dtype.numpy, copy=False)
