"""Methods of dual tensors (forward-mode AD) that need no JVP rule of their own.

Linear methods and in-place changes are applied to both primal and tangent; methods that read
values, such as item(), are applied to the primal.
"""

from collections.abc import Callable
from typing import Any

from ...lazy import np
from ..python.values import MISSING, Builtin, Machine, Property, Unsupported
from .indexing import set_item
from .mode import MODE
from .tensor import TENSOR, DualTensor, Tensor, tensors_in

LINEAR = frozenset((
    *("view", "reshape", "t", "T", "mT", "transpose", "permute", "unsqueeze", "squeeze", "expand"),
    *("expand_as", "view_as", "reshape_as", "flatten", "ravel", "unflatten", "movedim", "moveaxis"),
    *("swapaxes", "swapdims", "unbind", "split", "chunk", "tensor_split", "hsplit", "vsplit"),
    *("narrow", "select", "diagonal", "unfold", "contiguous", "clone", "__getitem__"),
    *("float", "double", "half", "to", "type"),
))  # fmt: skip
READ = (
    *("detach", "item", "tolist", "__float__", "__int__", "__bool__", "__format__", "__len__"),
    *("long", "int", "bool"),
)
SIGNS = ("add", "sub", "mul", "truediv", "pow")
OUT_OF_PLACE = {f"__i{sign}__": f"__{sign}__" for sign in SIGNS}
Function = Callable[..., Any]


def lives(value: Any) -> bool:
    """Whether a value is a dual tensor whose dual_level() has not ended."""
    return bool(MODE.dual_level) and isinstance(value, DualTensor) and value.lives


def member_of_duals(name: str) -> Any:
    """A method or property of dual tensors; MISSING if it is the same as for all tensors."""
    if name == "__iter__":
        return Builtin(name, _rows)
    member: Any = TENSOR.own(name) if name in LINEAR or name in READ or _changes(name) else MISSING
    if member is MISSING:
        return MISSING
    if isinstance(member, Property):
        return Property(Builtin(name, on_primal_and_tangent(member.fget.function)))
    if name in LINEAR:
        return Builtin(name, on_primal_and_tangent(member.function))
    if name in READ:
        return Builtin(name, _read(member.function))
    return Builtin(name, _in_place(name, member.function))


def _changes(name: str) -> bool:
    in_place = name.endswith("_") and not name.startswith("_") and not name.startswith("requires")
    return name in OUT_OF_PLACE or name == "__setitem__" or in_place


def on_primal_and_tangent(function: Function) -> Function:
    """A function linear in its first argument, applied to both primal and tangent."""

    def call(m: Machine, self: Any, *args: Any, **named: Any) -> Any:
        if not lives(self):
            return function(m, self, *args, **named)
        if any(lives(t) for t in tensors_in([*args, *named.values()])):
            raise Unsupported("this operation on several dual tensors")
        primal = function(m, self.primal, *args, **named)
        return _paired(primal, function(m, self.tangent, *args, **named))

    return call


def _paired(primal: Any, tangent: Any) -> Any:
    if isinstance(primal, Tensor):
        return DualTensor(primal, tangent) if primal.dtype.is_floating else primal
    return type(primal)(map(_paired, primal, tangent))


def _rows(m: Machine, self: DualTensor) -> Any:
    rows = m.call(m.get(self, "unbind"))
    return m.call(m.get(rows, "__iter__"))


def _read(function: Function) -> Function:
    def call(m: Machine, self: DualTensor, *args: Any) -> Any:
        return function(m, self.primal if lives(self) else self, *args)

    return call


def _in_place(name: str, function: Function) -> Function:
    """An in-place method of dual tensors: writes the new primal and tangent."""

    def call(m: Machine, self: DualTensor, *args: Any, **named: Any) -> Any:
        if not lives(self):
            return function(m, self, *args, **named)
        if self.primal.requires_grad or self.tangent.requires_grad:
            raise Unsupported("an in-place change of a dual tensor that requires a gradient")
        if name == "__setitem__":
            return _set_item(m, self, *args)
        if name in ("zero_", "fill_", "copy_"):
            _set_item(m, self, ..., *(args or (0.0,)))
        else:
            if any(_shares_memory(self, t) for t in tensors_in([*args, *named.values()])):
                raise Unsupported(
                    "an in-place change of a dual tensor by a tensor that shares its memory"
                )
            plain = OUT_OF_PLACE.get(name, name[:-1])
            _set_item(m, self, ..., m.call(m.get(self, plain), args, named))
        return self

    return call


def _shares_memory(a: DualTensor, b: Tensor) -> bool:
    """Whether two tensors may share memory, in which case PyTorch's tangent is wrong."""
    other = b.primal if isinstance(b, DualTensor) and lives(b) else b
    return bool(np.may_share_memory(a.primal.data, other.data))


def _set_item(m: Machine, self: DualTensor, index: Any, value: Any) -> None:
    """self[index] = value; the tangent of a value that is not dual is 0."""
    if any(lives(t) for t in tensors_in([index])):
        raise Unsupported("an index that is a dual tensor")
    primal, tangent = (value.primal, value.tangent) if lives(value) else (value, 0.0)
    if isinstance(primal, Tensor) and primal.requires_grad:
        raise Unsupported("an in-place change of a dual tensor that requires a gradient")
    set_item(m, self.primal, index, primal)
    set_item(m, self.tangent, index, tangent)
