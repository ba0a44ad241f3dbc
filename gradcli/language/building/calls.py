"""Calls of functions and methods: the operator and its arguments."""

import ast
import re
from collections.abc import Callable, Iterable
from typing import Any

from ...errors import MISUSES, GradcliError, Span, misused
from ...graphs import OPS, Node, Operator, Outputs, as_node
from ...operators import lookup
from ...operators.families import Shorthand
from ...operators.leaves import Array
from ..foreign import foreign, not_a_function, not_called
from ..libraries import check_takes_arrays, library_function
from ..libraries import function as of_library
from ..names import library_path
from ..namespaces import check_function, check_method
from ..refusals import refusal
from ..syntax import called_name, dotted
from ..vocabulary import (
    DTYPES,
    LAYOUTS,
    NARROW,
    PROPERTIES,
    PYTHON,
    SHORT_FLOATS,
    STORAGE,
    WITHOUT_DTYPE,
    function,
    library_name,
)
from .arrays import ARRAYS, by_method, method
from .facts import FACTS
from .indices import (
    array_module,
    check_not_supposed,
    index_array,
    is_array_program,
    literal_array,
)
from .makers import MAKERS, RANGES
from .operands import CHOOSE, in_words, is_number
from .python import PYTHONS
from .scope import Scope
from .updates import update

DEVICES = (  # those that PyTorch's error lists
    "cpu|cuda|ipu|xpu|mkldnn|opengl|opencl|ideep|hip|ve|fpga|maia|xla|lazy|vulkan|mps|meta|hpu|mtia|"
    "privateuseone"
)
KIND_OR_DEVICE = rf"({DEVICES})(:\d+)?|torch\.(cuda\.)?[A-Z][a-z]+Tensor"
DIMS = {"dim", "axis", "dim0", "dim1"}  # for which PyTorch also accepts an integer scalar tensor
ARRAY_BUILTINS = {"abs": "abs", "pow": "power", "divmod": "divmod"}  # of Python, applied to arrays
CONVERSIONS = {"bool", "float", "int"}  # of Python, which return a detached number
FUNCTIONS = MAKERS | FACTS | PYTHONS | RANGES | ARRAYS
IDENTITY = {  # methods that return the tensor itself, perhaps with another dtype
    *("clone", "contiguous", "requires_grad_", "retain_grad", "to", "type"),
    *("cpu", "cuda", "xpu", "pin_memory"),
}


def call(b: Scope, e: ast.Call) -> Any:
    """The value of a call."""
    if any(k.arg is None for k in e.keywords):
        hint = "write the arguments out"
        raise GradcliError("syntax", "an argument with ** is not part of the language", hint=hint)
    _check_keywords(b, e)
    updated = update(b, e)
    if updated is not None:
        return updated
    name, operands = _callee(b, e)
    args = [*operands, *b.several(e.args)]
    if isinstance(e.func, ast.Name) and name in PYTHON and args:
        of_number = name in CONVERSIONS and not is_array_program(b)
        if of_number or not _tensors(args):  # PyTorch's function accepts only tensors
            name = f"builtins.{name}"
    named = {str(k.arg): b.visit(k.value) for k in e.keywords if k.arg not in STORAGE}
    dtype = named.pop("dtype", None)
    special = FUNCTIONS.get(name)
    of_array = method(b, name, args, named) if operands else None
    if of_array is not None:
        args = by_method(name, args)
        dtype = _positional_dtype(of_array, args, dtype)
        value = applied(b, of_array, args, named, e)
    elif operands and name in IDENTITY:
        value, dtype = operands[0], dtype or _dtype_argument(name, args[1:])
    elif special is not None:
        value = _call_special(special, b, e, args, named, name)
    else:
        of_tensors = lookup(f"Tensor.{name}") if operands else None
        called = of_tensors or _library_function(b, e) or lookup(name)
        called = called or function(name, _function_span(b, e))
        if name == "sum" and _is_builtin_sum(b, e, args, named):
            named = {"dim": 0}
        value, dtype = _call_operator(b, e, called, args, named, dtype, is_method=bool(operands))
    return _as_dtype(b, value, dtype, e)


def _dtype_argument(name: str, args: list) -> str | None:
    """The dtype among the arguments of `x.to(...)` or `x.type(...)`; None if there is none."""
    if name not in ("to", "type"):
        return None
    dtypes = [_dtype_of_type(text) for text in args if isinstance(text, str)]
    for text in dtypes:
        _check_kind(text)
    return next((text for text in dtypes if text in DTYPES), None)


def _call_operator(
    b: Scope,
    e: ast.Call,
    called: Any,
    args: list,
    named: dict[str, Any],
    dtype: str | None,
    is_method: bool,
) -> tuple[Any, str | None]:
    """The value of an operator or shorthand, converted to the dtype argument if there is one."""
    if isinstance(called, Operator) and called.unary_form and len(args) == 1 and not named:
        other, named = called.unary_form
        called = function(other, _function_span(b, e))
    if is_method and isinstance(called, Operator):
        args, named = _with_tensor(called, args, named)
    args, named = _with_integer_dims(b, called, args, named)
    dtype = _positional_dtype(called, args, dtype)
    if isinstance(called, Shorthand) and "dtype" in (called.function.__kwdefaults__ or ()):
        named["dtype"] = dtype
    _check_list(called, called_name(e) or called.name, args, named)
    if isinstance(called, Operator | Shorthand) and dtype is None:
        _check_kinds(called, args, named, e)
    if isinstance(called, Operator) and dtype is not None:
        _check_dtype(called)
    return applied(b, called, args, named, e), dtype


def _dtype_of_type(text: str) -> str:
    """long for "torch.LongTensor" and uint8 for "torch.ByteTensor"; other texts unchanged."""
    match = re.fullmatch(r"torch\.(?:cuda\.)?([A-Z][a-z]+)Tensor", text)
    name = match[1].lower() if match else text
    name = {"byte": "uint8", "char": "int8"}.get(name, name)
    return name if name in DTYPES else text


def _check_kind(text: str) -> None:
    """Raise GradcliError for an argument of x.to() or x.type() that is neither dtype nor device."""
    if text not in DTYPES and text not in LAYOUTS and not re.fullmatch(KIND_OR_DEVICE, text):
        message = f"{in_words(text)} is neither a dtype nor a device"
        raise GradcliError("arguments", message, hint="as in x.to(torch.float64) and x.to('cpu')")


def _tensors(args: list) -> list[Node]:
    return [a for a in args if isinstance(a, Node)]


def _check_keywords(b: Scope, e: ast.Call) -> None:
    """Raise GradcliError for a repeated keyword, which `ast.parse` accepts."""
    names = set()
    for k in e.keywords:
        if k.arg in names:
            span = b.source.span(k.value)
            message, hint = f"the argument {k.arg} is given twice", "leave one of the two out"
            raise GradcliError("syntax", message, span=span, hint=hint)
        names.add(k.arg)


def _call_special(
    special: Callable, b: Scope, e: ast.Call, args: list, named: dict[str, Any], name: str
) -> Any:
    """The value of a function that is not an operator; Python's exceptions become GradcliError."""
    try:
        return special(b, e, args, named)
    except MISUSES as error:
        raise misused(name.removeprefix("builtins.")) from error


def _with_tensor(op: Operator, args: list, named: dict[str, Any]) -> tuple[list, dict[str, Any]]:
    """The arguments of a method call, with its tensor assigned to the correct parameter."""
    if not op.inputs:
        message = f"{op.name}() is not a method of tensors"
        raise GradcliError("arguments", message, hint=op.usage())
    if op.order[0] in op.inputs:
        return args, named
    return args[1:], named | {op.inputs[0]: args[0]}


def _callee(b: Scope, e: ast.Call) -> tuple[str, list]:
    """The name of the called function, and the tensor before the dot of a method."""
    if isinstance(e.func, ast.Name):
        if e.func.id in b.scope:
            raise not_a_function(e.func.id, in_words(b.scope[e.func.id]))
        return e.func.id, []
    path = library_path(e.func, b.scope, called=True)
    if path is not None:
        written = dotted(e.func) or ""
        name = library_name(written)
        if name is None:
            check_function(written)
        else:
            check_takes_arrays(name, written, b.source.span(e.func))
        return path, []
    if not isinstance(e.func, ast.Attribute):
        if isinstance(e.func, ast.Call):
            b.visit(e.func)
        raise not_called(e)
    base = b.visit(e.func.value)
    if isinstance(base, Node) and e.func.attr in PROPERTIES:
        message = f"{e.func.attr} is not a method, and cannot be called"
        raise GradcliError("arguments", message, hint=f"write .{e.func.attr} without brackets")
    if isinstance(base, tuple) and e.func.attr not in ("size", "numel"):
        raise GradcliError(
            "arguments",
            f"there is no method {e.func.attr} of {in_words(base)}",
            hint=CHOOSE,
        )
    if not is_array_program(b):
        check_method(e.func.attr)
    return e.func.attr, [base]


def _library_function(b: Scope, e: ast.Call) -> Callable | None:
    """The called function of NumPy, SciPy or JAX; None for other functions."""
    path = dotted(e.func) or ""
    if path in ARRAY_BUILTINS and is_array_program(b):
        return library_function(f"{array_module(b)}.{ARRAY_BUILTINS[path]}")
    name = None if path.split(".")[0] in b.scope else library_name(path)
    return of_library(name, path, b.source.span(e.func)) if name else None


def _is_builtin_sum(b: Scope, e: ast.Call, args: list, named: dict[str, Any]) -> bool:
    """Whether a call of sum() is Python's builtin, which adds the rows of an array."""
    of_python = isinstance(e.func, ast.Name) and len(args) == 1 and not named
    return of_python and isinstance(args[0], Node) and args[0].ndim > 1 and is_array_program(b)


def _function_span(b: Scope, e: ast.Call) -> Span:
    span, is_method = b.source.span(e.func), isinstance(e.func, ast.Attribute)
    return span._replace(start=span.end - len(e.func.attr)) if is_method else span  # type: ignore[attr-defined]


def _check_list(called: Any, name: str, args: list, named: dict[str, Any]) -> None:
    """Raise GradcliError for single tensors if the first parameter, `tensors`, is a list."""
    tensors = args[0] if args else named.get("tensors")
    if called.positional[:1] == ("tensors",) and (isinstance(tensors, Node) or is_number(tensors)):
        message, hint = (
            f"{name}() needs its tensors in a list",
            f"write {name}([a, b])",
        )
        raise GradcliError("arguments", message, hint=hint)


def _check_dtype(called: Operator) -> None:
    """Raise GradcliError for a dtype if PyTorch's function takes none."""
    if called.family in WITHOUT_DTYPE and "dtype" not in called.by_name:
        raise GradcliError("arguments", f"{called.name}() takes no dtype", hint=called.usage())


def _numeric_operands(called: Any, args: list, named: dict[str, Any]) -> list[Any]:
    """The operands of a call that are tensors or numbers, without indices, masks and attributes."""
    positional = called.positional
    bindings = [*zip((*positional, *(None,) * len(args)), args), *_in_order(positional, named)]
    integers = getattr(called, "integer_inputs", ())
    promotes = isinstance(called, Operator) and called.family == "elementwise"
    inputs = called.inputs if promotes and not called.needs_one_dtype else ()
    result: list[Any] = []
    for name, value in bindings:
        if isinstance(value, tuple):
            result += _tensors(list(value))
        elif (
            name not in integers if isinstance(value, Node) else name in inputs and is_number(value)
        ):
            result.append(value)
    return result


def _in_order(positional: Iterable[str], named: dict[str, Any]) -> list[tuple[str, Any]]:
    """The keyword arguments, in the order of the parameters."""
    return sorted(named.items(), key=lambda item: [*positional, item[0]].index(item[0]))


def _with_integer_dims(
    b: Scope, called: Any, args: list, named: dict[str, Any]
) -> tuple[list, dict[str, Any]]:
    """The arguments, with integer scalar tensors as integers where dimensions are expected."""

    def number(name: str | None, value: Any) -> Any:
        is_one = isinstance(value, Node) and value.dtype == "int" and value.op.name == "tensor"
        return int(b.numbers(value, "")) if name in DIMS and is_one and not value.ndim else value

    return (
        [number(name, a) for name, a in zip((*called.positional, *(None,) * len(args)), args)],
        {name: number(name, value) for name, value in named.items()},
    )


def applied(b: Scope, called: Any, args: list, named: dict[str, Any], e: ast.expr) -> Any:
    """The value of an operator or a shorthand on its arguments."""
    try:
        return _applied(b, called, args, named, e)
    except GradcliError as error:
        has_other_hint = error.hint or getattr(called, "variadic", False)
        if isinstance(e, ast.Call) and error.code in ("arguments", "shape") and not has_other_hint:
            error.hint = called.usage()
        _name_as_typed(error, e)
        raise


def _check_kinds(
    called: Operator | Shorthand, args: list, named: dict[str, Any], e: ast.Call
) -> None:
    """Raise GradcliError if an operand has a dtype that the operator does not take."""
    try:
        called.check_dtypes(_numeric_operands(called, args, named))
    except GradcliError as error:
        _name_as_typed(error, e)
        raise


# The name of the called operator in a message, and in a hint with its signature.
OF_MESSAGE = re.compile(r"(^|\bof )([\w.]+)\(")
OF_USAGE = re.compile(r"(^signature: )([\w.]+)\(")  # only hints that start with a signature


def _name_as_typed(error: GradcliError, e: ast.expr) -> None:
    """Replace the name of an operator in an error by the name of the function that the user
    called, which may be composed of operators.
    """
    function = e.func if isinstance(e, ast.Call) else None
    typed = getattr(function, "attr", getattr(function, "id", None))

    def renamed(match: re.Match[str]) -> str:
        name = match[2].rpartition(".")[2]
        return match[0] if name == typed or not lookup(match[2]) else f"{match[1]}{typed}("

    if typed is not None:
        error.message = OF_MESSAGE.sub(renamed, error.message)
        error.hint = error.hint and OF_USAGE.sub(renamed, error.hint)


def _applied(b: Scope, called: Any, args: list, named: dict[str, Any], e: ast.expr) -> Any:
    if isinstance(called, Operator):
        return b.node(called, args, e, **named)
    assert isinstance(called, Shorthand)
    if called.name == "onehot" and b.seed_shape is not None:
        named.setdefault("shape", b.seed_shape)
    if args and called.positional and not called.of_numbers and is_number(args[0]):
        args = [as_node(args[0]), *args[1:]]
    if called.concrete and isinstance(e, ast.Call):
        args, named = _with_numbers(b, called, args, named, e)
    built = called.elements(args, named)
    b.limits.check("elements", built, f"what {called.name}() makes", b.source.span(e))
    value = b.tried(called, args, named)
    fresh = isinstance(value, Outputs) or (
        isinstance(value, Node) and not any(value is a for a in args)
    )
    return b.counted(value.at(b.source.span(e)) if fresh else value, e)


def _with_numbers(
    b: Scope, called: Shorthand, args: list, named: dict[str, Any], e: ast.Call
) -> tuple[list, dict[str, Any]]:
    """The arguments of a call; tensors that determine a shape are replaced by their values."""
    written: list[ast.expr] = list(e.args)
    if len(args) > len(written):
        written.insert(0, getattr(e.func, "value", e))
    if len(args) != len(written):
        raise foreign(e.args[0], b.source.span(e))
    names = (*called.positional, *(None,) * len(args))
    texts = {k.arg: k.value for k in e.keywords}
    bindings = dict(zip(names, args)) | named
    size = called.defaults.get(called.unless or "")
    free = bindings.get(called.unless, size) != size
    return [
        _numbers_in(b, a, text, called, free) if name in called.concrete else a
        for name, a, text in zip(names, args, written)
    ], {
        k: _numbers_in(b, v, texts[k], called, free) if k in called.concrete else v
        for k, v in named.items()
    }


def _numbers_in(b: Scope, value: Any, e: ast.expr, called: Shorthand, free: bool) -> Any:
    """The values of an argument; with `free`, they do not determine the shape."""
    if isinstance(value, tuple) and isinstance(e, ast.Tuple | ast.List):
        return tuple(_numbers_in(b, v, part, called, free) for v, part in zip(value, e.elts))
    if called.floats and isinstance(value, Node):
        text = b.source.segment(e)
        check_not_supposed(b, value, e, called.name)
        whose = "its numbers" if value.op.name == "input" else f"the numbers of {text}"
        return Array(b.numbers(value, f"the result of {called.name}() depends on {whose}"), text)
    if not isinstance(value, Node):
        return value
    return index_array(b, value, e) if free else literal_array(b, value, e, called.name)


def _positional_dtype(called: Any, args: list, dtype: Any) -> Any:
    """The dtype of a call: a positional one, which is removed from `args`, or the keyword."""
    position = called.positional.index("dtype") if "dtype" in called.positional else len(args)
    if position >= len(args) or len(args) > len(called.positional):  # with too many, the call fails
        return dtype
    if dtype is not None:
        raise GradcliError("arguments", f"{called.name}() got two values for dtype")
    return args.pop(position)


def _as_dtype(b: Scope, value: Any, dtype: Any, e: ast.expr) -> Any:
    if dtype is not None and not (isinstance(dtype, str) and dtype in DTYPES):
        message = f"dtype must be a type of numbers, such as torch.float64, got {in_words(dtype)}"
        raise GradcliError("arguments", message)
    if dtype in SHORT_FLOATS:
        raise GradcliError("unsupported", f"{dtype} {refusal(dtype)}", hint="leave it out")
    if dtype in NARROW:
        message = f"{dtype} wraps around on overflow; integers have 64 bits here"
        raise GradcliError("unsupported", message, hint="leave it out, or write torch.int64")
    kind = DTYPES.get(dtype or "")
    if not isinstance(value, Node) or kind is None or value.dtype == kind:
        return value
    return b.node(
        OPS[{"float": "double", "int": "long", "bool": "ne"}[kind]],
        (value, 0) if kind == "bool" else (value,),
        e,
    )
