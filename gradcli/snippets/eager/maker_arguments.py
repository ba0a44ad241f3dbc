"""PyTorch's errors for the arguments of factory functions such as zeros: sizes that are not
integers, strings as dtypes, unknown options.

This module knows the signatures of the factory functions; it creates no tensor.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..python.operations import plain
from ..python.values import Class, Machine, Unsupported, error
from .arguments import kind_of, no_overload
from .dtypes import DType
from .parameter_lists import too_many_message
from .signatures import Function, overload_of, refuse_overloads
from .tensor import Tensor

OPTIONS = (
    "torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, "
    "bool pin_memory = False, bool requires_grad = False"
)
OUT = f"Tensor out = None, {OPTIONS}"
DRAWN = f"torch.Generator generator, {OUT}"
SIZE = "tuple of ints size"
LINE = (
    *("Tensor start, Tensor end", "Number start, Tensor end"),
    *("Tensor start, Number end", "Number start, Number end"),
)
MOMENTS = ("Tensor mean, Tensor std", "Tensor mean, float std = 1", "float mean, Tensor std")
OVERLOADS = {  # of factory functions with several signatures
    **dict.fromkeys(("rand", "randn"), tuple(f"({SIZE}, *, {o})" for o in (DRAWN, OUT))),
    "randint": tuple(
        f"({ends}, {SIZE}, *, {o})"
        for ends in ("int high", "int low, int high")
        for o in (DRAWN, OUT)
    ),
    "randperm": tuple(f"(int n, *, {o})" for o in (DRAWN, OUT)),
    "eye": tuple(f"({n}, *, {OUT})" for n in ("int n", "int n, int m")),
    "arange": (
        f"(Number end, *, {OUT})",
        f"(Number start, Number end, *, {OPTIONS})",
        f"(Number start, Number end, Number step = 1, *, {OUT})",
    ),
    "linspace": tuple(f"({ends}, int steps, *, {OUT})" for ends in LINE),
    "normal": (
        *(f"({m}, *, torch.Generator generator = None, Tensor out = None)" for m in MOMENTS),
        f"(float mean, float std, {SIZE}, *, torch.Generator generator = None, {OUT})",
    ),
}
MADE_FROM_SIZES = ("zeros", "ones", "empty", "rand", "randn")
LIKE = ("zeros_like", "ones_like", "empty_like", "full_like")
SINGLE = ("zeros", "ones", "empty", "full", "tensor", "as_tensor", *LIKE)
NAMED = {  # parameters besides the options
    **dict.fromkeys(MADE_FROM_SIZES, ("size",)),
    "randint": ("low", "high", "size"),
    "randperm": ("n",),
    "eye": ("n", "m"),
    "arange": ("start", "end", "step"),
    "linspace": ("start", "end", "steps"),
    "normal": ("mean", "std", "size"),
}
COMMON = (
    *("dtype", "layout", "device", "pin_memory", "requires_grad", "out", "generator"),
    *("memory_format", "names"),
)


def check_maker(m: Machine, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Refuse arguments that a factory function does not take."""
    if name not in OVERLOADS and name not in SINGLE:
        return
    _check_options(m, name, args, named)
    if name in MADE_FROM_SIZES:
        _check_sizes(m, name, args, named)
    elif name in CHECKS:
        CHECKS[name](m, args, named)


def _wrong(m: Machine, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Exception:
    refuse_overloads(m, name, Function(tuple(map(overload_of, OVERLOADS[name]))), args, named)
    return no_overload(m, name, args, OVERLOADS[name], named)


def _check_options(m: Machine, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    dtype = named.get("dtype")
    known = dtype is None or isinstance(dtype, DType)
    fits = known or (isinstance(dtype, Class) and dtype.name in ("float", "int", "bool"))
    if name in OVERLOADS:
        flag = isinstance(named.get("requires_grad", False), bool)
        if not (fits and flag and all(k in COMMON or k in NAMED[name] for k in named)):
            raise _wrong(m, name, args, named)
    elif not fits:
        text = f"{name}(): argument 'dtype' must be torch.dtype, not {kind_of(m, dtype)}"
        raise error("TypeError", text)


def _check_sizes(m: Machine, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    if not args and "size" not in named:
        if name in OVERLOADS:
            raise _wrong(m, name, args, named)
        raise error("TypeError", f'{name}() missing 1 required positional arguments: "size"')
    first = plain(args[0] if args else named["size"])
    if isinstance(first, list | tuple):
        if len(args) > 1:
            if name in OVERLOADS:
                raise _wrong(m, name, args, named)
            raise error("TypeError", too_many_message(name, 1, 1, len(args)))
        sizes = [*first]
        if sizes and isinstance(sizes[0], float | str | None):
            text = (
                f"{name}(): argument 'size' (position 1) must be tuple of ints, but found element"
            )
            raise error("TypeError", f"{text} of type {kind_of(m, sizes[0])} at pos 0")
    elif _is_integer(first):
        sizes = [*args] or [first]
    else:
        if len(args) > 1 and name not in OVERLOADS:
            raise error("TypeError", too_many_message(name, 1, 1, len(args)))
        raise _wrong(m, name, args, named) if len(args) > 1 else _no_size(m, name, args, first)
    _check_integers(m, name, sizes)
    if name == "zeros" and any(isinstance(n, int) and n < 0 for n in sizes):
        raise error("RuntimeError", "zeros: Dimension size must be non-negative.")


def _no_size(m: Machine, name: str, args: Sequence[Any], value: Any, place: int = 1) -> Exception:
    if isinstance(value, Tensor) and value.ndim == 0:
        return Unsupported(f"a tensor of {value.dtype} as a size")
    position = f" (position {place})" if args else ""
    text = f"{name}(): argument 'size'{position} must be tuple of ints, not {kind_of(m, value)}"
    return error("TypeError", text)


def _is_integer(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.numel == 1 and value.dtype.kind == "int"
    return isinstance(value, int) and not isinstance(value, bool)


def _check_integers(m: Machine, name: str, sizes: Sequence[Any]) -> None:
    for place, size in enumerate(sizes, 1):
        if not _is_integer(size):
            if isinstance(size, Tensor):
                raise Unsupported(f"a tensor of {size.dtype} as a size")
            why = f"type must be tuple of ints,but got {kind_of(m, size)}"
            text = f"{name}(): argument 'size' failed to unpack the object at pos {place} with"
            raise error("TypeError", f'{text} error "{why}"')


def _check_full(m: Machine, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    arguments = dict(zip(("size", "fill_value"), args)) | dict(named)
    if "fill_value" not in arguments:
        raise error("TypeError", 'full() missing 1 required positional arguments: "fill_value"')
    size, value = plain(arguments["size"]), arguments["fill_value"]
    if not isinstance(size, list | tuple):
        raise _no_size(m, "full", args, size)
    _check_integers(m, "full", size)
    if not isinstance(value, bool | int | float | Tensor):
        text = "full(): argument 'fill_value' (position 2) must be Number, not"
        raise error("TypeError", f"{text} {kind_of(m, value)}")


def _check_randint(m: Machine, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    wrong = _wrong(m, "randint", args, named)
    names = ("low", "high", "size") if len(args) == 3 else ("high", "size")
    if "high" in named or ("size" in named and len(args) == 2):
        names = ("low", "high", "size")
    arguments = dict(zip(names, args)) | dict(named)
    if "size" not in arguments or "high" not in arguments or len(args) > 3:
        raise wrong
    size, low, high = plain(arguments["size"]), arguments.get("low", 0), arguments["high"]
    if not isinstance(size, list | tuple):
        raise wrong if "low" in arguments else _no_size(m, "randint", args[1:], size, 2)
    if not (_is_integer(low) and _is_integer(high) and all(map(_is_integer, size))):
        raise wrong
    if isinstance(low, int) and isinstance(high, int) and low >= high:
        text = f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        raise error("RuntimeError", text)


def _check_eye(m: Machine, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    arguments = dict(zip(("n", "m"), args)) | dict(named)
    if "n" not in arguments or ("m" in arguments and not _is_integer(arguments["m"])):
        raise _wrong(m, "eye", args, named)
    if not _is_integer(arguments["n"]):
        text = f"eye(): argument 'n' (position 1) must be int, not {kind_of(m, arguments['n'])}"
        raise error("TypeError", text)
    if isinstance(arguments["n"], int) and arguments["n"] < 0:
        raise error("RuntimeError", f"n must be greater or equal to 0, got {arguments['n']}")


def _check_randperm(m: Machine, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    arguments = [*args, *(named[k] for k in ("n",) if k in named)]
    if len(arguments) != 1:
        raise _wrong(m, "randperm", args, named)
    if not _is_integer(arguments[0]):
        text = f"randperm(): argument 'n' (position 1) must be int, not {kind_of(m, arguments[0])}"
        raise error("TypeError", text)
    if isinstance(arguments[0], int) and arguments[0] < 0:
        text = f"Trying to create tensor with negative dimension {arguments[0]}: [{arguments[0]}]"
        raise error("RuntimeError", text)


def _is_number(value: Any) -> bool:
    """Whether a value is a number, or a tensor with one element."""
    return value.numel == 1 if isinstance(value, Tensor) else isinstance(value, bool | int | float)


def _check_arange(m: Machine, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    names = ("end",) if len(args) == 1 and "end" not in named else ("start", "end", "step")
    arguments = dict(zip(names, args)) | {k: named[k] for k in NAMED["arange"] if k in named}
    if "end" not in arguments or len(args) > 3:
        raise _wrong(m, "arange", args, named)
    if not all(map(_is_number, arguments.values())):
        if len(args) != 1:
            raise _wrong(m, "arange", args, named)
        text = f"arange(): argument 'end' (position 1) must be Number, not {kind_of(m, args[0])}"
        raise error("TypeError", text)
    start, end, step = (
        v.data.item() if isinstance(v, Tensor) else v
        for v in (arguments.get("start", 0), arguments["end"], arguments.get("step", 1))
    )
    if step == 0:
        raise error("RuntimeError", "step must be nonzero")
    if (end < start) if step > 0 else (end > start):
        text = "upper bound and lower bound inconsistent with step sign"
        raise error("RuntimeError", text)


def _check_linspace(m: Machine, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    arguments = dict(zip(NAMED["linspace"], args)) | dict(named)
    if not all(k in arguments for k in NAMED["linspace"]) or not _is_integer(arguments["steps"]):
        raise _wrong(m, "linspace", args, named)
    check_steps(arguments["steps"])


def check_steps(steps: Any) -> None:
    """Refuse a negative number of points of torch.linspace or torch.logspace."""
    if isinstance(steps, int) and steps < 0:
        raise error("RuntimeError", "number of steps must be non-negative")


def _check_normal(m: Machine, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    arguments = dict(zip(NAMED["normal"], args)) | dict(named)
    moments = [arguments.get("mean"), arguments.get("std", 1.0)]
    if ("size" in arguments) == any(isinstance(v, Tensor) for v in moments):
        raise _wrong(m, "normal", args, named)
    if not isinstance(plain(arguments.get("size", ())), list | tuple):
        raise _wrong(m, "normal", args, named)
    if isinstance(moments[1], int | float):
        check_deviation(moments[1])


def check_deviation(std: float) -> None:
    """Refuse a negative standard deviation."""
    if std < 0:
        raise error("RuntimeError", f"normal expects std >= 0.0, but found std {std:g}")


def _check_tensor(m: Machine, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    if not args and "data" not in named:
        raise error("TypeError", 'tensor() missing 1 required positional arguments: "data"')
    if len(args) > 1:
        raise error("TypeError", too_many_message("tensor", 1, 1, len(args)))


CHECKS = {
    "full": _check_full,
    "randint": _check_randint,
    "eye": _check_eye,
    "randperm": _check_randperm,
    "arange": _check_arange,
    "linspace": _check_linspace,
    "normal": _check_normal,
    "tensor": _check_tensor,
}
