"""Parameters and buffers, and Variable as older programs call a tensor."""

from typing import Any

from ..python.values import Builtin, Class, Machine, Module, error, functions
from .members import detach
from .mode import MODE
from .printing import parameter_text
from .tables import TABLES
from .tensor import TENSOR, Tensor


def _parameter(m: Machine, cls: Class, data: Any = None, requires_grad: bool = True) -> Tensor:
    if data is None:
        from .creation import made

        data = made([], None)
    if not isinstance(data, Tensor):
        text = f"'{m.class_of(data).name}' object has no attribute 'detach'"
        raise error("AttributeError", text)
    if requires_grad and not data.dtype.is_floating:
        raise error(
            "RuntimeError",
            "Only Tensors of floating point and complex dtype can require gradients",
        )
    output = detach(m, data)
    output.requires_grad = requires_grad
    output.cls = cls
    return output


PARAMETER = Class(
    "Parameter",
    (TENSOR,),
    members={"__repr__": Builtin("__repr__", lambda m, self: parameter_text(self))},
    module="torch.nn.parameter",
    make=_parameter,
)


def _buffer(m: Machine, cls: Class, data: Any = None, *, persistent: bool = True) -> Tensor:
    """A tensor that modules register among their buffers; its class stays that of tensors."""
    if data is None:
        from .creation import made

        data = made([], None)
    output = detach(m, data)
    output.requires_grad = data.requires_grad
    output.fields.update(_is_buffer=True, persistent=persistent)
    return output


BUFFER = Class(
    "Buffer",
    (TENSOR,),
    members={
        "__instancecheck__": Builtin(
            "__instancecheck__",
            lambda m, value: isinstance(value, Tensor) and "_is_buffer" in value.fields,
        )
    },
    module="torch.nn.parameter",
    make=_buffer,
)


def _variable(
    m: Machine, cls: Class, data: Any, requires_grad: bool = False, volatile: Any = None
) -> Tensor:
    """A tensor; what it is given, with requires_grad as said."""
    from ..python.values import EXCEPTIONS

    if volatile is not None:
        m.warn(EXCEPTIONS["UserWarning"], VOLATILE)
    if not isinstance(data, Tensor):
        kind = m.class_of(data).name
        raise error("TypeError", f"Variable data has to be a tensor, but got {kind}")
    output = detach(m, data)
    if requires_grad and not output.dtype.is_floating:
        raise error(
            "RuntimeError",
            "Only Tensors of floating point and complex dtype can require gradients",
        )
    output.requires_grad = requires_grad
    return output


VOLATILE = "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."


def _queue_callback(m: Machine, callback: Any) -> None:
    """Call a function once the way back that runs has come to its end."""
    if MODE.way is None:
        text = "Final callbacks can only be installed during backward pass."
        raise error("RuntimeError", text)
    MODE.way.callbacks.append(callback)


ENGINE = Module("engine", functions({"queue_callback": _queue_callback}))
VARIABLE = Class(
    "Variable",
    members={
        "_execution_engine": ENGINE,
        "__instancecheck__": Builtin(
            "__instancecheck__", lambda m, value: isinstance(value, Tensor)
        ),
    },
    module="torch.autograd.variable",
    make=_variable,
)
TABLES.setdefault("autograd", {})["Variable"] = VARIABLE  # type: ignore[assignment]
