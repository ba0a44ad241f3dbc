"""Tensors between signs: + - * / // % ** @, comparisons and the bits of masks and integers."""

from collections.abc import Callable
from typing import Any

from ...graphs import OPS
from ...lazy import np
from ...operators import lookup
from ..python.values import Builtin, Machine, Unsupported, error
from .apply import apply, call_operator
from .checks import check_batches, check_broadcast, check_dot, check_mm, check_mv
from .dtypes import BOOL, result_type
from .engine import INFERENCE_SAVED
from .mode import MODE
from .tables import define
from .tensor import TENSOR, Tensor

NUMBERS = bool | int | float
ELEMENTWISE = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "mod": "remainder"}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def _operand(value: Any) -> Any:
    """What stands beside a tensor: a tensor or a number; NotImplemented for anything else."""
    return value if isinstance(value, Tensor | bool | int | float) else NotImplemented


def binary(name: str, left: Any, right: Any, record: str | None = None) -> Any:
    """An elementwise operator of two operands; `record`: a name of its own for its record."""
    if _operand(left) is NotImplemented or _operand(right) is NotImplemented:
        return NotImplemented
    if name in ("mul", "div", "pow"):
        _check_kept(left, right)
    if name == "sub":
        check_masks(left, right)
    check_broadcast(left, right)
    lookup(name)
    return apply(OPS[name], [left, right], {}, name=record)


def _check_kept(*operands: Any) -> None:
    """Refuse a tensor of inference mode that would be kept for the way back."""
    tensors = [t for t in operands if isinstance(t, Tensor)]
    kept = MODE.recording and any(t.requires_grad for t in tensors)
    if kept and any(t.inference for t in tensors):
        raise error("RuntimeError", INFERENCE_SAVED)


SUBTRACTED_MASKS = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
    "`logical_xor()` operator instead."
)


def _is_mask(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype is BOOL


ONE_MASK = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
    "invert a mask, use the `~` or `logical_not()` operator instead."
)


def check_masks(left: Any, right: Any) -> None:
    """Refuse to subtract masks."""
    masks = [_is_mask(v) or isinstance(v, bool) for v in (left, right)]
    if all(masks):
        raise error("RuntimeError", SUBTRACTED_MASKS)
    if any(masks):
        raise error("RuntimeError", ONE_MASK)


def _reflected(name: str) -> Callable[..., Any]:
    """`number - tensor` and the like."""

    def method(m: Machine, self: Tensor, other: Any) -> Any:
        if _operand(other) is NotImplemented:
            return NotImplemented
        if name == "div" and isinstance(other, NUMBERS):
            return call_operator("mul", call_operator("reciprocal", self), other)
        record = "RsubBackward1" if name == "sub" and isinstance(other, NUMBERS) else None
        return binary(name, other, self, record)

    return method


def floor_divide(m: Machine, a: Any, b: Any) -> Any:
    """a // b, through which no gradient flows."""
    if _operand(a) is NotImplemented or _operand(b) is NotImplemented:
        return NotImplemented
    check_broadcast(a, b)
    dtype = result_type([a, b])
    x, y = (v.data if isinstance(v, Tensor) else v for v in (a, b))
    if dtype.kind == "int" and np.any(np.equal(y, 0)):
        raise error("RuntimeError", "ZeroDivisionError")
    with np.errstate(all="ignore"):
        return Tensor(np.asarray(np.floor_divide(x, y)).astype(dtype.numpy), dtype)


def power(m: Machine, a: Any, b: Any) -> Any:
    """a ** b."""
    if _operand(a) is NotImplemented or _operand(b) is NotImplemented:
        return NotImplemented
    _check_kept(a, b)
    check_broadcast(a, b)
    if isinstance(a, Tensor) and a.dtype.kind == "int" and isinstance(b, int) and b < 0:
        raise error("RuntimeError", "Integers to negative integer powers are not allowed.")
    return call_operator("pow", a, b)


def matmul(m: Machine, a: Any, b: Any) -> Any:
    """a @ b, with the record that PyTorch's choice of kernel leaves."""
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        return NotImplemented
    if not a.ndim or not b.ndim:
        said = (
            f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D"
        )
        raise error("RuntimeError", said)
    lookup("matmul")
    _check_kept(a, b)
    if a.ndim == b.ndim == 1:
        check_dot(a, b)
        return apply(OPS["matmul"], [a, b], {})
    if a.ndim == 2 and b.ndim == 1:
        check_mv(a, b)
        return apply(OPS["matmul"], [a, b], {})
    if b.ndim <= 2:
        matrix = b if b.ndim == 2 else call_operator("unsqueeze", b, dim=1)
        rows = a if a.ndim > 1 else call_operator("unsqueeze", a, dim=0)
        check_mm(rows, matrix)
    else:
        check_batches(a if a.ndim > 1 else call_operator("unsqueeze", a, dim=0), b)
    return apply(OPS["matmul"], [a, b], {})


def _comparison(name: str) -> Callable[..., Any]:
    def method(m: Machine, self: Tensor, other: Any) -> Any:
        if _operand(other) is NotImplemented:
            return NotImplemented
        check_broadcast(self, other)
        return call_operator(name, self, other)

    return method


def _bits(function: Any) -> Callable[..., Any]:
    """& | ^ of masks and integers."""

    def method(m: Machine, self: Any, other: Any) -> Any:
        if _operand(other) is NotImplemented or _operand(self) is NotImplemented:
            return NotImplemented
        check_broadcast(self, other)
        dtype = result_type([self, other])
        if dtype.is_floating:
            name = f"bitwise_{function.__name__.removeprefix('bitwise_')}"
            said = f"\"{name}_cpu\" not implemented for '{dtype.scalar_name}'"
            raise error("NotImplementedError", said)
        x, y = (v.data if isinstance(v, Tensor) else v for v in (self, other))
        return Tensor(np.asarray(function(x, y)).astype(dtype.numpy), dtype)

    return method


def _invert(m: Machine, self: Tensor) -> Tensor:
    if self.dtype.is_floating:
        said = f"\"bitwise_not_cpu\" not implemented for '{self.dtype.scalar_name}'"
        raise error("NotImplementedError", said)
    return Tensor(np.invert(self.data), self.dtype)


def _negative(m: Machine, self: Tensor) -> Tensor:
    if self.dtype is BOOL:
        raise error("RuntimeError", NEGATED_MASK)
    return call_operator("neg", self)


NEGATED_MASK = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
    "mask, use the `~` or `logical_not()` operator instead."
)


def _changed(name: str) -> Callable[..., Any]:
    """+= and the like: the tensor itself changes."""

    def method(m: Machine, self: Tensor, other: Any) -> Any:
        from .calls import in_place

        if _operand(other) is NotImplemented:
            return NotImplemented
        return in_place(name, self, [other], {})

    return method


def _members() -> dict[str, Callable[..., Any]]:
    members: dict[str, Callable[..., Any]] = {}
    for sign, name in ELEMENTWISE.items():
        members[f"__{sign}__"] = lambda m, a, b, name=name: binary(name, a, b)
        members[f"__r{sign}__"] = _reflected(name)
        members[f"__i{sign}__"] = _changed(name)
    for name in COMPARISONS:
        members[f"__{name}__"] = _comparison(name)
    for sign, function in (
        ("and", np.bitwise_and),
        ("or", np.bitwise_or),
        ("xor", np.bitwise_xor),
        ("lshift", np.left_shift),
        ("rshift", np.right_shift),
    ):
        members[f"__{sign}__"] = members[f"__r{sign}__"] = _bits(function)
    return members | {
        "__floordiv__": floor_divide,
        "__rfloordiv__": lambda m, a, b: floor_divide(m, b, a),
        "__pow__": power,
        "__rpow__": lambda m, a, b: power(m, b, a),
        "__ipow__": _changed("pow"),
        "__matmul__": matmul,
        "__rmatmul__": lambda m, a, b: matmul(m, b, a),
        "__neg__": _negative,
        "__pos__": lambda m, a: a,
        "__invert__": _invert,
        "__abs__": lambda m, a: call_operator("abs", a),
    }


TENSOR.members.update({name: Builtin(name, f) for name, f in _members().items()})


@define("torch", "Tensor", name="matmul")
def _matmul(m: Machine, input: Tensor, other: Tensor) -> Tensor:
    return matmul(m, input, other)


@define("torch", "Tensor")
def mm(m: Machine, input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices."""
    if input.ndim != 2 or mat2.ndim != 2:
        which = "self" if input.ndim != 2 else "mat2"
        raise error("RuntimeError", f"{which} must be a matrix")
    return matmul(m, input, mat2)


@define("torch", "Tensor")
def dot(m: Machine, input: Tensor, other: Tensor) -> Tensor:
    """The dot product of two vectors."""
    check_dot(input, other)
    return matmul(m, input, other)


@define("torch", "Tensor", name="floor_divide")
def _floor_divide(m: Machine, input: Any, other: Any) -> Any:
    return floor_divide(m, input, other)


def _two(name: str) -> None:
    """The function and the method of a sign."""

    def function(m: Machine, input: Any, other: Any, *, alpha: Any = 1, **named: Any) -> Any:
        if named:
            raise Unsupported(f"{', '.join(named)} of torch.{name}")
        if alpha != 1:
            other = (
                call_operator("mul", other, alpha) if isinstance(other, Tensor) else other * alpha
            )
        result = binary(name, input, other)
        if result is NotImplemented:
            raise error(
                "TypeError",
                f"{name}(): argument 'other' must be Tensor, not {m.class_of(other).name}",
            )
        return result

    for own in {"sub": ("sub", "subtract"), "mul": ("mul", "multiply")}.get(name, (name,)):
        define("torch", "Tensor", name=own)(function)


for _name in ("add", "sub", "mul"):
    _two(_name)
