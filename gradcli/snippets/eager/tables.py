"""A module whose names are, in this order: the functions registered in TABLES for `places`, what
`more(name)` returns, and operators. `members` are there from the start.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from ...lazy import np
from ...public_names import OTHER_IN_TORCH, has
from ..python.calls import PASSING, argument_message
from ..python.values import MISSING, Builtin, Class, Instance, Module, Unsupported, error
from . import calls, duals
from .arguments import check_tensors
from .dtypes import BOOL, FLOAT64, INT64
from .maker_arguments import check_maker
from .mode import MODE
from .parameter_lists import check_keywords, in_current_order, message_if_too_many
from .signatures import knows, refuse_arguments, with_torch_names
from .tensor import Tensor, tensors_in
from .views import check_memory

TABLES: dict[str, dict[str, Builtin]] = {}
PYTHON_CLASSES = {"float": FLOAT64, "int": INT64, "bool": BOOL}  # Python's classes as dtypes


def dtype_of(value: Any) -> Any:
    """The dtype for Python's class float, int or bool; any other value is returned unchanged."""
    return PYTHON_CLASSES.get(value.name, value) if isinstance(value, Class) else value


def define(*places: str, name: str | None = None) -> Callable[[Any], Any]:
    """Register a function `(m, *args, **named)`, where `m` is the interpreter, in these modules:
    "torch", "Tensor", "F" (torch.nn.functional), "linalg" and others.
    """

    def register(function: Any) -> Any:
        key = name or function.__name__.lstrip("_")
        for place in places:
            TABLES.setdefault(place, {})[key] = Builtin(key, function)
        return function

    return register


def module(
    path: str,
    *places: str,
    members: dict[str, Any] | None = None,
    more: Callable[[str], Any] = lambda name: MISSING,
    operators: bool = True,
) -> Module:
    """A module with `members`, the functions registered for `places` (keys of TABLES), values that
    `more(name)` returns, and operators.
    """

    def find(name: str) -> Any:
        if path == "torch" and name in OTHER_IN_TORCH:
            raise Unsupported(f"torch.{name} (its arguments differ from those of F.{name})")
        for place in places:
            if name in TABLES.get(place, {}) and (place == places[0] or has(path, name)):
                return _checked(path, TABLES[place][name])
        result = more(name)
        private = name.startswith("_") and not name.endswith("__")  # `has` knows public names only
        if result is MISSING and (private or has(path, name)):
            result = operator(name, *places) if operators else MISSING
            if result is MISSING:
                raise Unsupported(f"{path}.{name}")
        return _checked(path, result)

    return Module(path, members, find)


MOST_SIZES = 16
MADE_FROM_DATA = ("tensor", "as_tensor", "asarray")  # these take their dtype from their argument


def number(value: Any) -> Any:
    """A NumPy number as a Python number, also in a short list; other values unchanged."""
    if isinstance(value, tuple | list):
        short = len(value) < MOST_SIZES
        holds = short and any(getattr(v, "array", None) is not None for v in value)
        return type(value)(map(number, value)) if holds else value
    array = getattr(value, "array", None)
    return value if array is None or not isinstance(array, np.generic) else array.item()


def of_numbers(function: Callable[..., Any], name: str = "") -> Callable[..., Any]:
    """`function`, a method of tensors, with NumPy numbers among its arguments converted to Python
    numbers, and its keywords checked.
    """

    def call(m: Any, self: Any, *args: Any, **named: Any) -> Any:
        args, named = tuple(map(number, args)), {k: number(v) for k, v in named.items()}
        (self, *rest), named = in_current_order(name, (self, *args), named)
        args = tuple(rest)
        if named:
            named = _checked_names(m, f"Tensor.{name}", args, named)
        listed = LIST_PARAMETERS.get(name)
        if listed in named and not args:
            args = (named.pop(listed),)
        if name in CHECKED_METHODS and (named or not args or any(type(a) is not int for a in args)):
            refuse_arguments(m, f"Tensor.{name}", args, named)
        try:
            return function(m, self, *args, **named)
        except REFUSED as e:
            text = str(e)
            if name in PYTHON_METHODS and type(e) is TypeError and text.startswith(f"{name}() "):
                raise error("TypeError", argument_message(f"Tensor.{name}", text)) from None
            refuse_arguments(m, f"Tensor.{name}", args, named)
            raise

    PASSING.add(call.__code__)
    return call


def _checked_names(m: Any, path: str, args: Any, named: dict[str, Any]) -> dict[str, Any]:
    """The keywords of a call, with PyTorch's names in place of NumPy's. Raises PyTorch's error for
    keywords that the function does not have.
    """
    if not knows(path, named) or isinstance(named.get("dtype"), str):
        refuse_arguments(m, path, args, named)
    return with_torch_names(path, named)


PYTHON_METHODS = ("backward", "register_hook", "register_post_accumulate_grad_hook")
CHECKED_METHODS = frozenset(  # methods whose arguments are checked before the call
    (
        *("permute", "expand", "repeat", "matmul", "view", "reshape"),
        *("sum", "mean", "max", "min", "std", "var", "clamp", "clip", "clamp_", "clip_"),
        *("uniform_", "normal_"),
    )
)
CHECKED_FUNCTIONS = frozenset(
    ("std", "var", "clamp", "clip", "max", "min", "reshape", "flip", "isclose", "pow")
)
LIST_PARAMETERS = {  # parameters that take a list or several arguments
    **{"expand": "size", "view": "size", "repeat": "repeats"},
    **{"permute": "dims", "reshape": "shape"},
}
REFUSED = (Unsupported, TypeError, AttributeError, IndexError, KeyError, ValueError)


IN_PYTHON = "torch.autograd"  # its functions are Python code, so Python checks their arguments


def _checked(path: str, value: Any) -> Any:
    """A function of a module, with checks and support for `out=`; other values unchanged."""
    if not isinstance(value, Builtin) or path.startswith(IN_PYTHON):
        return value
    function = value.function

    def call(m: Any, *args: Any, **named: Any) -> Any:
        for arg in args:
            if isinstance(arg, Instance) and arg.cls.lookup(OVERRIDE) is not MISSING:
                return m.call(m.get(arg, OVERRIDE), (checked, (arg.cls,), args, named))
        args, named = in_current_order(value.name, args, named)
        _check_arguments(m, path, value.name, args, named)
        if named:
            named = _checked_names(m, f"{path}.{value.name}", args, named)
        if value.name not in MADE_FROM_DATA:
            args, named = tuple(map(number, args)), {k: number(v) for k, v in named.items()}
        if MODE.dual_level and value.name in duals.LINEAR and args and duals.lives(args[0]):
            return duals.on_primal_and_tangent(function)(m, *args, **named)
        if args:
            check_tensors(m, path, value.name, args, named)
        if path == "torch":
            check_maker(m, value.name, args, named)
        out = named.pop("out", None)
        if "dtype" in named:
            named["dtype"] = dtype_of(named["dtype"])
        if out is not None:
            operands = tensors_in([*args, *named.values()])
            return _write_out(value.name, out, function(m, *args, **named), operands)
        result = _result(m, path, value, args, named)
        return calls.of_linalg(result) if path == "torch.linalg" else result

    checked = Builtin(_own_name(path, value.name), call, path)
    return checked


def _own_name(path: str, name: str) -> str:
    """The `__name__` of a function, such as linalg_inv for torch.linalg.inv."""
    inner = path.removeprefix("torch.")
    if inner in ("fft", "linalg", "special"):
        return f"{inner}_{name}"
    return "log_sigmoid" if name == "logsigmoid" else name


def _result(m: Any, path: str, value: Builtin, args: Any, named: Any) -> Any:
    """The result of a call. If it fails, raises PyTorch's error for arguments without a matching
    overload, if that is the reason.
    """
    try:
        return value.function(m, *args, **named)
    except REFUSED:
        refuse_arguments(m, f"{path}.{value.name}", args, named)
        raise


OVERRIDE = "__torch_function__"  # method of tensor-like classes of a program


def _check_arguments(m: Any, path: str, name: str, args: Any, named: Any) -> None:
    """Refuse a wrong number of arguments, or unknown keywords, before the call."""
    check_places(path, name, len(args))
    check_keywords(path, name, len(args), named)
    if path == "torch" and name in CHECKED_FUNCTIONS and (named or len(args) != 1):
        refuse_arguments(m, f"torch.{name}", args, named)


def check_places(path: str, name: str, count: int) -> None:
    """Refuse more positional arguments than a function accepts. `path` is its module."""
    message = message_if_too_many(path, name, count)
    if message == "":
        raise Unsupported(f"{name}() with {count} positional arguments")
    if message:
        raise error("TypeError", message)


def _write_out(name: str, out: Any, result: Any, operands: list[Tensor]) -> Any:
    """Write a result into the argument `out`, after the checks of PyTorch."""
    if not (isinstance(out, Tensor) and isinstance(result, Tensor)) or out.shape != result.shape:
        raise Unsupported(f"{name}() with several outputs or an out tensor of another shape")
    if MODE.recording and any(t.requires_grad for t in (out, *operands)):
        text = (
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
        raise error("RuntimeError", text)
    _check_memory(name, out, operands)
    out.write(result.data)
    out.changed()
    return out


SUMS_OF_PRODUCTS = ("mm", "matmul", "bmm", "mv", "addmm", "addmv", "baddbmm", "addbmm", "einsum")


def _check_memory(name: str, out: Tensor, operands: list[Tensor]) -> None:
    """Refuse an `out` that shares memory with an operand that the operation reads after writing."""
    shared = any(np.may_share_memory(out.data, o.data) for o in operands)
    if shared and (name in SUMS_OF_PRODUCTS or all(o.ndim > out.ndim for o in operands)):
        raise Unsupported(f"{name}() with an out that shares memory with an input")
    check_memory(out, operands)


def operator(name: str, *places: str) -> Any:
    """An operator of gradcli as a function that programs can call, in place if the name ends with
    an underscore; MISSING if there is none.
    """
    others = [f"{place}.{name}" for place in places[1:] if place != "torch"]
    for full in (f"{places[0]}.{name}", *others, name):
        if not name.startswith("_") and calls.known(full):
            return Builtin(name, partial(_call, full))
    in_place = name.endswith("_") and calls.known(name[:-1])
    return Builtin(name, partial(_call_in_place, name[:-1])) if in_place else MISSING


def _call_in_place(name: str, m: Any, input: Tensor, *args: Any, **named: Any) -> Any:
    return calls.in_place(name, input, args, named)


def _call(name: str, m: Any, *args: Any, **named: Any) -> Any:
    return calls.call(name, args, named)
