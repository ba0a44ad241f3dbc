"""Parameters of operators, and the assignment of the arguments of a call to them."""

import inspect
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..errors import GradcliError
from .node import CHOOSE, Node, Outputs, Ratio, Size, as_node

if TYPE_CHECKING:
    from .operator import Operator

REQUIRED = inspect.Parameter.empty
PLAIN = {int, float, bool, str, type(None)}  # types of attributes that need no copy
TENSORS = (Node, int, float)  # types accepted for a tensor argument
IN_PLACE = "changes its input in place, which gradcli never does"

# Names of operands and attributes in PyTorch and NumPy, where they differ from an operator's.
FIRST_INPUT = ("input", "x", "a", "A", "tensors", "mat1", "logits")
SECOND_INPUT = ("other", "input2", "mat2", "vec", "vec2", "tensor", "exponent", "B", "b", "x2", "y")
THIRD_INPUT = ("src", "source", "value", "input3")
NUMPY = {
    "axis": "dim",
    "axes": "dims",
    "axis0": "dim0",
    "axis1": "dim1",
    "axis2": "dim2",
    "keepdims": "keepdim",
    "ddof": "correction",
}
SYNONYMS = {"dim": "dims", "size": "shape"}  # for operators whose attribute has the second name


def parameters_of(function: Any, skip: int) -> tuple[dict, bool, dict]:
    """The parameters of a rule: tensors with defaults, whether they are variadic, attributes with
    defaults.

    They are read from the code object, because `inspect.signature` would take a tenth of the
    start-up time.
    """
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount][skip:]
    named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    defaults = function.__defaults__ or ()
    tensors = dict.fromkeys(positional, REQUIRED)
    tensors.update(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
    variadic = bool(code.co_flags & inspect.CO_VARARGS)
    if variadic:
        tensors[code.co_varnames[code.co_argcount + code.co_kwonlyargcount]] = REQUIRED
    return tensors, variadic, {k: (function.__kwdefaults__ or {}).get(k, REQUIRED) for k in named}


def bind(
    op: "Operator", args: Sequence, named: dict[str, Any]
) -> tuple[tuple[Node | None, ...], dict[str, Any]]:
    """The tensors and attributes of a call. Raises GradcliError if arguments do not fit."""
    arguments = in_deprecated_order(args, op.deprecated_orders, op.inputs) or _positional(op, args)
    for key, value in named.items():
        name = _parameter_name(op, key)
        if name in arguments:
            raise GradcliError(
                "arguments", f"{op.name}() got two values for {name}", hint=op.usage()
            )
        arguments[name] = value
    check_in_place(op.name, arguments.pop("inplace", False))
    chosen = {name: freeze(arguments.pop(name)) for name in op.attributes if name in arguments}
    attrs = op.attributes | chosen
    missing = [name for name, value in attrs.items() if value is REQUIRED]
    missing += [i for i in op.inputs if i not in arguments and i not in op.optional]
    if missing:
        raise GradcliError(
            "arguments", f"{op.name}() needs {' and '.join(missing)}", hint=op.usage()
        )
    _check_attributes(op, chosen)
    tensors = _tensors(op, arguments)
    if op.canonical_attributes:
        others = arguments.keys() - {*op.inputs}
        attrs = op.canonical_attributes(**attrs, **{name: arguments[name] for name in others})
    return tensors, attrs


def _check_attributes(op: "Operator", attrs: dict[str, Any]) -> None:
    for name, value in attrs.items():
        if _holds_tensors(value):
            raise GradcliError(
                "arguments",
                f"{name} of {op.name}() must be written as a number, got a tensor",
                hint=f"{op.usage()}; a size of a tensor x is x.shape[0]",
            )
        if isinstance(op.attributes[name], bool) and not isinstance(value, bool):
            raise GradcliError(
                "arguments", f"{name} of {op.name}() must be True or False, got {value!r}"
            )
        if isinstance(op.attributes[name], float) and not isinstance(value, int | float):
            message = f"{name} of {op.name}() must be a number, got {value!r}"
            raise GradcliError("arguments", message)
        omitted = value is None and op.attributes[name] is None
        if name in op.integer_attributes and not (omitted or _are_integers(value)):
            what = "integers" if isinstance(value, tuple) else "an integer"
            raise GradcliError("arguments", f"{name} of {op.name}() must be {what}, got {value!r}")


def _positional(op: "Operator", args: Sequence) -> dict[str, Any]:
    """Positional arguments, by the names of their parameters."""
    if not op.variadic and not op.collect and len(args) <= len(op.positional):
        return dict(zip(op.positional, args))
    arguments: dict[str, Any] = {}
    for position, name in enumerate(op.positional):
        rest = args[position:]
        if not rest:
            break
        if name == op.collect and not isinstance(rest[0], tuple | list):
            arguments[name] = tuple(rest)
            return arguments
        if op.variadic and name == op.inputs[0]:
            if isinstance(rest[0], tuple | list):
                arguments[name], args = tuple(rest[0]), [*args[:position], None, *rest[1:]]
                continue
            arguments[name] = tuple(rest)
            return arguments
        arguments[name] = rest[0]
    if len(args) > len(op.positional):
        most = "one argument" if len(op.positional) == 1 else f"{len(op.positional)} arguments"
        message = f"{op.name}() takes at most {most}, got {len(args)}"
        raise GradcliError("arguments", message, hint=op.usage())
    return arguments


@lru_cache(maxsize=1024)
def _parameter_name(op: "Operator", key: str) -> str:
    """The parameter for a keyword, which may be its name in PyTorch or NumPy."""
    name = NUMPY.get(key, key)
    other = SYNONYMS.get(name, name)
    if other in op.attributes:
        return other
    if name in op.attributes or name in op.inputs or name in (*op.positional, *op.by_name):
        return name
    for position, others in enumerate((FIRST_INPUT, SECOND_INPUT, THIRD_INPUT)):
        if name in others and len(op.inputs) > position:
            return op.inputs[position]
    raise GradcliError("arguments", f"{op.name}() has no argument {key}", hint=op.usage())


def _tensors(op: "Operator", arguments: dict[str, Any]) -> tuple[Node | None, ...]:
    if op.variadic:
        return tuple(_tensor(op, t, op.inputs[0]) for t in arguments[op.inputs[0]])
    tensors = (arguments.get(name) for name in op.inputs)
    return tuple(
        None if t is None and name in op.optional else _tensor(op, t, name)
        for t, name in zip(tensors, op.inputs, strict=True)
    )


def _tensor(op: "Operator", value, name: str) -> Node:
    if isinstance(value, TENSORS):
        return as_node(value)
    joins = "stack([a, b], 0) joins them; " if _holds_tensors(value) else ""
    cure = f"{CHOOSE}; " if isinstance(value, Outputs) else joins
    message = f"{name} of {op.name}() must be a tensor or a number, got {in_words(value)}"
    raise GradcliError("arguments", message, hint=cure + op.usage())


def _holds_tensors(value: object) -> bool:
    """Whether a value is a tensor, or a list that contains one."""
    if isinstance(value, tuple):
        return any(map(_holds_tensors, value))
    return isinstance(value, Node)


def in_words(value: Any) -> str:
    """A description of a value for error messages."""
    if isinstance(value, Outputs):
        return f"{len(value)} output{'s' * (len(value) != 1)}"
    if isinstance(value, tuple):
        return "a list of tensors" if _holds_tensors(value) else "a list"
    if isinstance(value, str | None):
        return "None" if value is None else f"the text {value!r}"
    kinds = {slice: "a slice", Node: "a tensor", type(...): "..."}
    other = f"the number {value}" if isinstance(value, int | float) else repr(value)
    return kinds.get(type(value), other)


def in_deprecated_order(
    args: Sequence, orders: Sequence[str], tensors: Collection[str]
) -> dict[str, Any]:
    """Arguments by name, according to the first of `orders` that has tensors at the same positions;
    {} if none has.
    """
    if not orders:
        return {}
    is_tensor = [isinstance(a, Node) for a in args]
    for names in map(str.split, orders):
        if is_tensor == [name in tensors for name in names]:
            return dict(zip(names, args, strict=True))
    return {}


def _are_integers(value: object) -> bool:
    """Whether a value is an integer, or a tuple of integers."""
    if isinstance(value, tuple):
        return all(map(_are_integers, value))
    return isinstance(value, int) and not isinstance(value, bool)


def check_in_place(name: str, inplace: object) -> None:
    """Raise GradcliError for inplace=True, and for a value that is not a flag."""
    if inplace not in (True, False, 0, 1):
        message = f"inplace of {name}() must be True or False, got {in_words(inplace)}"
        raise GradcliError("arguments", message, hint="leave it out")
    if inplace:
        message = f"{name}(inplace=True) {IN_PLACE}"
        raise GradcliError("unsupported", message, hint="leave inplace out")


def freeze(value):
    """`value` with lists as tuples, so that it is hashable, and Size and Ratio as plain numbers."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, Size | Ratio):
        return int(value) if isinstance(value, Size) else float(value)
    return tuple(map(freeze, value)) if isinstance(value, list | tuple) else value
