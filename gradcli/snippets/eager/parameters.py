"""torch.nn.Parameter, buffers, lazy parameters, and the old Variable."""

from typing import Any

from ...lazy import np
from ..python.values import (
    EXCEPTIONS,
    MISSING,
    Builtin,
    Class,
    Machine,
    Module,
    Property,
    error,
    functions,
)
from .creation import leaf_tensor
from .mode import MODE
from .printing import parameter_text
from .records import detached
from .tables import TABLES
from .tensor import TENSOR, Tensor


def _parameter(m: Machine, cls: Class, data: Any = None, requires_grad: bool = True) -> Tensor:
    if data is None:
        data = leaf_tensor([], None)
    if not isinstance(data, Tensor):
        text = f"'{m.class_of(data).name}' object has no attribute 'detach'"
        raise error("AttributeError", text)
    if requires_grad and not data.dtype.is_floating:
        raise error(
            "RuntimeError",
            "Only Tensors of floating point and complex dtype can require gradients",
        )
    output = detached(data)
    output.requires_grad = requires_grad
    output.cls = cls
    return output


PARAMETER = Class(
    "Parameter",
    (TENSOR,),
    members={
        "__new__": Builtin("Parameter.__new__", _parameter),
        "__repr__": Builtin("__repr__", lambda m, self: parameter_text(self)),
    },
    module="torch.nn.parameter",
)


UNINITIALIZED = (
    "Attempted to use an uninitialized parameter in <method '{}' of 'torch._C.TensorBase' "
    "objects>. This error happens when you are using a `LazyModule` or explicitly manipulating "
    "`torch.nn.parameter.UninitializedParameter` objects. When using LazyModules Call `forward` "
    "with a dummy batch to initialize the parameters before calling torch functions"
)
NO_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens "
    "in `load_state_dict` when trying to load an uninitialized parameter into an initialized one. "
    "Call `forward` to initialize the parameters before accessing their attributes."
)
ALLOWED_WITHOUT_SHAPE = (  # the attributes of a parameter without a shape
    "requires_grad requires_grad_ grad grad_fn is_leaf device dtype register_hook retains_grad "
    "is_sparse __class__ __hash__ __eq__ __ne__"
)


class UninitializedClass(Class):
    """The class of lazy parameters, which have no shape yet. Their methods raise an error."""

    __slots__ = ()

    def own(self, name: str) -> Any:
        """The member `name` of this class; MISSING if it has none."""
        if name in self.members or name in ALLOWED_WITHOUT_SHAPE.split():
            return self.members.get(name, MISSING)
        inherited = TENSOR.own(name)
        if type(inherited) is not Builtin:
            return inherited

        def refuse(m: Machine, *args: Any, **named: Any) -> None:
            raise error("ValueError", UNINITIALIZED.format(name.strip("_")))

        return Builtin(name, refuse)


def _uninitialized(
    m: Machine, cls: Class, requires_grad: bool = True, device: Any = None, dtype: Any = None
) -> Tensor:
    output = Tensor(None, dtype or MODE.default_dtype, requires_grad=requires_grad)
    output.cls = cls
    return output


def _no_shape(m: Machine, self: Tensor) -> None:
    raise error("RuntimeError", NO_SHAPE)


def _materialize(m: Machine, self: Tensor, shape: Any) -> None:
    """Allocate a lazy parameter in the given shape. PyTorch leaves its elements uninitialised."""
    self.data = np.zeros(tuple(shape), self.dtype.numpy)
    self.cls = PARAMETER


UNINITIALIZED_PARAMETER = UninitializedClass(
    "UninitializedParameter",
    (PARAMETER,),
    members={
        "__new__": Builtin("UninitializedParameter.__new__", _uninitialized),
        "__repr__": Builtin("__repr__", lambda m, self: "<UninitializedParameter>"),
        "materialize": Builtin("materialize", _materialize),
        "shape": Property(Builtin("shape", _no_shape)),
    },
    module="torch.nn.parameter",
)


def _buffer(m: Machine, cls: Class, data: Any = None, *, persistent: bool = True) -> Tensor:
    """torch.nn.Buffer: a tensor that modules register as a buffer; its class is Tensor."""
    if data is None:
        data = leaf_tensor([], None)
    output = detached(data)
    output.requires_grad = data.requires_grad
    output.fields.update(_is_buffer=True, persistent=persistent)
    return output


BUFFER = Class(
    "Buffer",
    (TENSOR,),
    members={
        "__new__": Builtin("Buffer.__new__", _buffer),
        "__instancecheck__": Builtin(
            "__instancecheck__",
            lambda m, value: isinstance(value, Tensor) and "_is_buffer" in value.fields,
        ),
    },
    module="torch.nn.parameter",
)


CLASSES = (PARAMETER, BUFFER, UNINITIALIZED_PARAMETER)


def _variable(
    m: Machine,
    cls: Class,
    data: Any,
    requires_grad: bool = False,
    volatile: Any = None,
    **others: Any,
) -> Tensor:
    """torch.autograd.Variable: `data` as a tensor with the given requires_grad."""
    for name in others:
        text = f"'{name}' is an invalid keyword argument for this function"
        raise error("TypeError", text)
    if volatile is not None:
        m.warn(EXCEPTIONS["UserWarning"], VOLATILE)
    if not isinstance(data, Tensor):
        kind = m.class_of(data).name
        raise error("TypeError", f"Variable data has to be a tensor, but got {kind}")
    output = detached(data)
    if requires_grad and not output.dtype.is_floating:
        raise error(
            "RuntimeError",
            "Only Tensors of floating point and complex dtype can require gradients",
        )
    output.requires_grad = requires_grad
    return output


VOLATILE = "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."


def _queue_callback(m: Machine, callback: Any) -> None:
    """Register a function to call at the end of the running backward pass."""
    if MODE.running is None:
        text = "Final callbacks can only be installed during backward pass."
        raise error("RuntimeError", text)
    MODE.running.callbacks.append(callback)


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
