"""Python's operators on tensors: `+ - * / // % ** @`, comparisons, and `& | ^ ~ << >>` of masks and
integers.
"""

from collections.abc import Callable
from typing import Any

from ...graphs import OPS
from ...lazy import np
from ...operators import lookup
from ..python.values import Builtin, Machine, Unsupported, error
from .apply import apply, call_operator
from .autocast import autocast
from .calls import check_kind, in_place
from .checks import check_batches, check_broadcast, check_dot, check_mm, check_mv
from .dtypes import BOOL, as_array, result_type
from .kernels import check_alpha, check_divisor, check_dtypes, check_masks, not_implemented
from .mode import MODE
from .records import underived
from .single import fused_sum
from .tables import define, of_numbers
from .tensor import INFERENCE_SAVED, TENSOR, DualTensor, Tensor, scalar
from .views import check_writable

NUMBERS = bool | int | float
ELEMENTWISE = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "mod": "remainder"}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def _operand(value: Any) -> Any:
    """A tensor or a number as the other operand; NotImplemented for anything else."""
    return value if isinstance(value, Tensor | bool | int | float) else NotImplemented


def binary(name: str, left: Any, right: Any, record: str | None = None) -> Any:
    """An elementwise operator of two operands; `record` is a name for its grad_fn."""
    if _operand(left) is NotImplemented or _operand(right) is NotImplemented:
        return NotImplemented
    if name in ("mul", "div", "pow"):
        _check_may_be_saved(left, right)
    if name == "sub":
        check_masks(left, right)
    check_broadcast(left, right)
    if name == "remainder":
        check_dtypes(name, [left, right])
        check_divisor(left, right)
    lookup(name)
    return apply(OPS[name], [left, right], {}, name=record)


def all_single(*operands: Any) -> bool:
    """Whether all operands are tensors of single precision."""
    plain = (isinstance(o, Tensor) and not isinstance(o, DualTensor) for o in operands)
    return all(plain) and all(o.dtype.name == "float32" for o in operands)


def _check_may_be_saved(*operands: Any) -> None:
    """Refuse an inference tensor that the backward pass would need."""
    tensors = [t for t in operands if isinstance(t, Tensor)]
    saves = MODE.recording and any(t.requires_grad for t in tensors)
    if saves and any(t.inference for t in tensors):
        raise error("RuntimeError", INFERENCE_SAVED)


def _reflected(name: str) -> Callable[..., Any]:
    """Operators with the tensor on the right, such as `number - tensor`."""

    def method(m: Machine, self: Tensor, other: Any) -> Any:
        if name == "div" and getattr(other, "array", None) is not None:
            return m.call(m.get(other, "__rmul__"), [call_operator("reciprocal", self)])
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
    if dtype is BOOL:
        raise not_implemented("div_floor_cpu", dtype)
    check_divisor(a, b)
    x, y = (v.data if isinstance(v, Tensor) else v for v in (a, b))
    if dtype.kind == "int":
        x, y = as_array(x, dtype), as_array(y, dtype)
    with np.errstate(all="ignore"):
        output = Tensor(np.asarray(np.floor_divide(x, y)).astype(dtype.numpy), dtype)
    if MODE.recording and any(isinstance(v, Tensor) and v.requires_grad for v in (a, b)):
        underived(FLOOR_DIVIDE, None, [a, b], output, None)
    return output


FLOOR_DIVIDE = "derivative for aten::floor_divide is not implemented"


def power(m: Machine, a: Any, b: Any) -> Any:
    """a ** b."""
    if _operand(a) is NotImplemented or _operand(b) is NotImplemented:
        return NotImplemented
    _check_may_be_saved(a, b)
    check_broadcast(a, b)
    if isinstance(a, Tensor) and a.dtype.kind == "int" and isinstance(b, int) and b < 0:
        raise error("RuntimeError", "Integers to negative integer powers are not allowed.")
    return call_operator("pow", a, b)


def matmul(m: Machine, a: Any, b: Any) -> Any:
    """a @ b, with the grad_fn of the kernel that PyTorch chooses."""
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        return NotImplemented
    if not a.ndim or not b.ndim:
        text = (
            f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D"
        )
        raise error("RuntimeError", text)
    lookup("matmul")
    a, b = autocast("matmul", [a, b])
    _check_may_be_saved(a, b)
    if a.ndim == b.ndim == 1:
        check_dot(a, b)
        _check_product("dot", a)
        return apply(OPS["matmul"], [a, b], {})
    if a.ndim == 2 and b.ndim == 1:
        check_mv(a, b)
        _check_product("addmv_impl_cpu", a)
        return apply(OPS["matmul"], [a, b], {})
    if b.ndim <= 2:
        matrix = b if b.ndim == 2 else call_operator("unsqueeze", b, dim=1)
        rows = a if a.ndim > 1 else call_operator("unsqueeze", a, dim=0)
        if b.ndim == 1 and a.shape[-1] == b.shape[0]:
            check_mv(a, b)
        check_mm(rows, matrix)
        _check_product("addmm_impl_cpu_", a)
    else:
        _check_product("bmm", a)
        check_batches(a, b)
    return apply(OPS["matmul"], [a, b], {})


def _check_product(kernel: str, a: Tensor) -> None:
    """Refuse a matrix product of masks."""
    if a.dtype is BOOL:
        raise not_implemented(kernel, BOOL)


def _comparison(name: str) -> Callable[..., Any]:
    def method(m: Machine, self: Tensor, other: Any) -> Any:
        if _operand(other) is NotImplemented:
            return NotImplemented
        check_broadcast(self, other)
        return call_operator(name, self, other)

    return method


def _bitwise(function: Any) -> Callable[..., Any]:
    """An operator & | ^ << >> of masks and integers."""

    def method(m: Machine, self: Any, other: Any) -> Any:
        if _operand(other) is NotImplemented or _operand(self) is NotImplemented:
            return NotImplemented
        check_broadcast(self, other)
        dtype = result_type([self, other])
        if dtype.is_floating:
            name = f"bitwise_{function.__name__.removeprefix('bitwise_')}"
            text = f"\"{name}_cpu\" not implemented for '{dtype.scalar_name}'"
            raise error("NotImplementedError", text)
        x, y = (v.data if isinstance(v, Tensor) else v for v in (self, other))
        return Tensor(np.asarray(function(x, y)).astype(dtype.numpy), dtype)

    return method


def _invert(m: Machine, self: Tensor) -> Tensor:
    if self.dtype.is_floating:
        text = "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        raise error("TypeError", text)
    if self.dtype.kind == "bool":
        return call_operator("logical_not", self)
    return Tensor(np.invert(self.data), self.dtype)


def _positive(m: Machine, self: Tensor) -> Tensor:
    check_dtypes("positive", [self])
    return self


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """An in-place operator without gradient, such as `//=` and `&=`: the result is written into the
    first operand.
    """

    def method(m: Machine, self: Tensor, other: Any) -> Any:
        if _operand(other) is NotImplemented:
            return NotImplemented
        operands = [o for o in (self, other) if isinstance(o, Tensor)]
        check_writable(self, operands[1:])
        if MODE.recording and any(o.requires_grad for o in operands):
            raise Unsupported("this in-place operation on a tensor that requires a gradient")
        check_kind(self, result_type([self, other]))
        result = function(m, self, other)
        if result.shape != self.shape:
            raise Unsupported("this in-place operation with a larger tensor")
        self.write(result.data)
        self.changed()
        return self

    return method


def _differentiable_in_place(name: str) -> Callable[..., Any]:
    """An in-place operator with gradient, such as `+=`."""

    def method(m: Machine, self: Tensor, other: Any) -> Any:
        if _operand(other) is NotImplemented:
            return NotImplemented
        return in_place(name, self, [other], {})

    return method


def _members() -> dict[str, Callable[..., Any]]:
    members: dict[str, Callable[..., Any]] = {}
    for sign, name in ELEMENTWISE.items():
        members[f"__{sign}__"] = lambda m, a, b, name=name: binary(name, a, b)
        members[f"__r{sign}__"] = _reflected(name)
        members[f"__i{sign}__"] = _differentiable_in_place(name)
    for name in COMPARISONS:
        members[f"__{name}__"] = _comparison(name)
    for sign, function in (
        ("and", np.bitwise_and),
        ("or", np.bitwise_or),
        ("xor", np.bitwise_xor),
        ("lshift", np.left_shift),
        ("rshift", np.right_shift),
    ):
        members[f"__{sign}__"] = members[f"__r{sign}__"] = _bitwise(function)
        members[f"__i{sign}__"] = _in_place(_bitwise(function))
    return members | {
        "__floordiv__": floor_divide,
        "__rfloordiv__": lambda m, a, b: floor_divide(m, b, a),
        "__ifloordiv__": _in_place(floor_divide),
        "__pow__": power,
        "__rpow__": lambda m, a, b: power(m, b, a),
        "__ipow__": _differentiable_in_place("pow"),
        "__matmul__": matmul,
        "__rmatmul__": lambda m, a, b: matmul(m, b, a),
        "__neg__": lambda m, a: call_operator("neg", a),
        "__pos__": _positive,
        "__invert__": _invert,
        "__abs__": lambda m, a: call_operator("abs", a),
    }


TENSOR.members.update({name: Builtin(name, of_numbers(f)) for name, f in _members().items()})


@define("torch", "Tensor", name="matmul")
def _matmul(m: Machine, input: Tensor, other: Tensor) -> Tensor:
    if not isinstance(other, Tensor):
        raise Unsupported(f"matmul() of {m.class_of(other).name}")
    return matmul(m, input, other)


@define("torch", "Tensor")
def mm(m: Machine, input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices."""
    if input.ndim != 2 or mat2.ndim != 2:
        which = "self" if input.ndim != 2 else "mat2"
        raise error("RuntimeError", f"{which} must be a matrix")
    return matmul(m, input, mat2)


@define("torch", "Tensor")
def mv(m: Machine, input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix and a vector."""
    if input.ndim != 2 or vec.ndim != 1:
        text = f"vector + matrix @ vector expected, got 1, {input.ndim}, {vec.ndim}"
        raise error("RuntimeError", text)
    return matmul(m, input, vec)


@define("torch", "Tensor")
def dot(m: Machine, input: Tensor, other: Tensor) -> Tensor:
    """The dot product of two vectors."""
    check_dot(input, other)
    return matmul(m, input, other)


@define("torch", "Tensor", name="floor_divide")
def _floor_divide(m: Machine, input: Any, other: Any) -> Any:
    return floor_divide(m, input, other)


def _define_binary(name: str) -> None:
    """Define a function, and the method of the same name, for a binary operator."""

    def function(m: Machine, input: Any, other: Any, *, alpha: Any = 1, **named: Any) -> Any:
        if named:
            raise Unsupported(f"the argument {', '.join(named)} of torch.{name}")
        alpha = scalar(alpha)
        check_alpha([o for o in (input, other) if _operand(o) is not NotImplemented], alpha)
        scaled = other
        if alpha != 1:
            if isinstance(other, Tensor) and other.dtype is BOOL:
                raise Unsupported(f"the argument alpha of torch.{name} for boolean tensors")
            scaled = (
                call_operator("mul", other, alpha) if isinstance(other, Tensor) else other * alpha
            )
        result = binary(name, input, scaled)
        if alpha != 1 and all_single(input, other):
            result.data[...] = fused_sum(name, input.data, other.data, alpha)
        if result is NotImplemented:
            raise Unsupported(f"torch.{name} of {m.class_of(other).name}")
        return result

    for spelling in {"sub": ("sub", "subtract"), "mul": ("mul", "multiply")}.get(name, (name,)):
        define("torch", "Tensor", name=spelling)(function)


for _name in ("add", "sub", "mul"):
    _define_binary(_name)
