"""Parameters of operators, and the arguments of a call sorted into them."""

import inspect
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import GradcliError
from .node import CHOOSE, Node, Outputs, Ratio, Size, as_node

if TYPE_CHECKING:
    from .operator import Operator

REQUIRED = inspect.Parameter.empty
TENSORS = (Node, int, float)  # what a tensor is given as
IN_PLACE = "changes its input in place, and values never change here"

# What PyTorch and NumPy call the operands and attributes that have a shorter or another name here.
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
    "unbiased": "correction",
}
OTHERS = {"dim": "dims", "size": "shape"}  # where the second is an attribute


def parameters_of(function: Any, skip: int) -> tuple[dict, bool, dict]:
    """Tensors with their defaults, whether they are variadic, and attributes with their defaults.

    Read off the code object, for `inspect.signature` would cost a tenth of the start-up.
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
    """Arguments of a call, sorted into tensors and attributes."""
    given = in_older_order(args, op.older, op.inputs) or _by_place(op, args)
    for key, value in named.items():
        name = _meant(op, key)
        if name in given:
            raise GradcliError(
                "arguments", f"{op.name}() got two values for {name}", hint=op.usage()
            )
        given[name] = value
    check_in_place(op.name, given.pop("inplace", False))
    attrs = {name: freeze(given.pop(name, default)) for name, default in op.attributes.items()}
    missing = [name for name, value in attrs.items() if value is REQUIRED]
    missing += [i for i in op.inputs if i not in given and i not in op.optional]
    if missing:
        raise GradcliError(
            "arguments", f"{op.name}() needs {' and '.join(missing)}", hint=op.usage()
        )
    _check_attributes(op, attrs)
    tensors = _tensors(op, given)
    if op.settle:
        others = given.keys() - {*op.inputs}
        attrs = op.settle(**attrs, **{name: given[name] for name in others})
    return tensors, attrs


def _check_attributes(op: "Operator", attrs: dict[str, Any]) -> None:
    for name, value in attrs.items():
        if _holds_tensors(value):
            raise GradcliError(
                "arguments",
                f"{name} of {op.name}() must be written as a number, not a tensor",
                hint=op.usage(),
            )
        if isinstance(op.attributes[name], bool) and not isinstance(value, bool):
            raise GradcliError(
                "arguments", f"{name} of {op.name}() is True or False, not {value!r}"
            )
        if isinstance(op.attributes[name], float) and not isinstance(value, int | float):
            raise GradcliError("arguments", f"{name} of {op.name}() is a number, not {value!r}")
        left_out = value is None and op.attributes[name] is None
        if name in op.whole and not (left_out or _are_whole(value)):
            raise GradcliError(
                "arguments", f"{name} of {op.name}() takes whole numbers, not {value!r}"
            )


def _by_place(op: "Operator", args: Sequence) -> dict[str, Any]:
    """Positional arguments, by the name of their parameter."""
    given: dict[str, Any] = {}
    for place, name in enumerate(op.places):
        if name == op.collect and len(args) > place and not isinstance(args[place], tuple | list):
            given[name] = tuple(args[place:])
            return given
        if op.variadic and name == op.inputs[0] and len(args) > place:
            rest = args[place:]
            if isinstance(rest[0], tuple | list):
                given[name], args = tuple(rest[0]), [*args[:place], None, *rest[1:]]
                continue
            given[name] = tuple(rest)
            return given
        if len(args) > place:
            given[name] = args[place]
    if len(args) > len(op.places):
        most = "one argument" if len(op.places) == 1 else f"{len(op.places)} arguments"
        message = f"{op.name}() takes {most} at most, not {len(args)}"
        raise GradcliError("arguments", message, hint=op.usage())
    return given


def _meant(op: "Operator", key: str) -> str:
    """The parameter that a name means: its own, or one that PyTorch or NumPy has for its place."""
    name = NUMPY.get(key, key)
    other = OTHERS.get(name, name)
    if other in op.attributes:
        return other
    if name in op.attributes or name in op.inputs or name in op.places:
        return name
    for place, others in enumerate((FIRST_INPUT, SECOND_INPUT, THIRD_INPUT)):
        if name in others and len(op.inputs) > place:
            return op.inputs[place]
    raise GradcliError("arguments", f"{op.name}() has no argument {key}", hint=op.usage())


def _tensors(op: "Operator", given: dict[str, Any]) -> tuple[Node | None, ...]:
    if op.variadic:
        return tuple(_tensor(op, t, op.inputs[0]) for t in given[op.inputs[0]])
    tensors = (given.get(name) for name in op.inputs)
    return tuple(
        None if t is None and name in op.optional else _tensor(op, t, name)
        for t, name in zip(tensors, op.inputs, strict=True)
    )


def _tensor(op: "Operator", value, name: str) -> Node:
    if isinstance(value, TENSORS):
        return as_node(value)
    joins = "stack([a, b], 0) joins them; " if _holds_tensors(value) else ""
    cure = f"{CHOOSE}; " if isinstance(value, Outputs) else joins
    message = f"{name} of {op.name}() must be a tensor or a number, not {in_words(value)}"
    raise GradcliError("arguments", message, hint=cure + op.usage())


def _holds_tensors(value: object) -> bool:
    """Whether it is a tensor, or a list in which some are."""
    return isinstance(value, Node) or (isinstance(value, tuple) and any(map(_holds_tensors, value)))


def in_words(value: Any) -> str:
    """What a value is, in words."""
    if isinstance(value, Outputs):
        return f"{len(value)} output{'s' * (len(value) != 1)}"
    if isinstance(value, tuple):
        return "a list of tensors" if _holds_tensors(value) else "a list"
    if isinstance(value, str | None):
        return "None" if value is None else f"the text {value!r}"
    kinds = {slice: "a slice", Node: "a tensor", type(...): "..."}
    other = f"the number {value}" if isinstance(value, int | float) else repr(value)
    return kinds.get(type(value), other)


def in_older_order(
    args: Sequence, orders: Sequence[str], tensors: Collection[str]
) -> dict[str, Any]:
    """Arguments by name, in the first of `orders` that has tensors where they have; or none."""
    given = [isinstance(a, Node) for a in args]
    for names in map(str.split, orders):
        if given == [name in tensors for name in names]:
            return dict(zip(names, args, strict=True))
    return {}


def _are_whole(value: object) -> bool:
    """Whether it is a whole number, or several."""
    if isinstance(value, tuple):
        return all(map(_are_whole, value))
    return isinstance(value, int) and not isinstance(value, bool)


def check_in_place(name: str, inplace: object) -> None:
    """Refuse what PyTorch writes over its input; a flag that is False says nothing."""
    if inplace not in (True, False, 0, 1):
        message = f"inplace of {name}() is True or False, not {in_words(inplace)}"
        raise GradcliError("arguments", message, hint="leave it out")
    if inplace:
        message = f"{name}(inplace=True) {IN_PLACE}"
        raise GradcliError("unsupported", message, hint="leave inplace out")


def freeze(value):
    """Lists as tuples, so that attributes never change; numbers without where they come from."""
    if isinstance(value, Size | Ratio):
        return int(value) if isinstance(value, Size) else float(value)
    return tuple(map(freeze, value)) if isinstance(value, list | tuple) else value
