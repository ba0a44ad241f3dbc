"""Functions that return properties of tensors: sizes, numbers of dimensions, kinds of dtypes."""

import ast
from collections.abc import Callable
from functools import reduce
from typing import Any

from ...errors import GradcliError
from ...graphs import Node, as_node, shapes
from .indices import item, several
from .operands import List, in_words
from .scope import Scope

Fact = Callable[[Scope, ast.Call, list, dict], Any]


def _size(b: Scope, e: ast.Call, args: list, named: dict) -> Any:
    shape = b.shape(as_node(args[0]))
    dim = args[1] if len(args) > 1 else named.get("dim")
    return shape if dim is None else item(b, shape, dim, e)


def _numel(b: Scope, e: ast.Call, args: list, named: dict) -> Any:
    if len(args) == 1 and isinstance(args[0], tuple) and not named:
        return reduce(b.product, args[0], 1)
    return _of_tensors("numel", 1, lambda b, x: b.size(x))(b, e, args, named)


def _len(b: Scope, e: ast.Call, args: list, named: dict) -> int:
    if len(args) == 1 and isinstance(args[0], tuple) and not named:
        return len(args[0])
    return _of_tensors("len", 1, _first_size)(b, e, args, named)


def _first_size(b: Scope, x: Node) -> int:
    if not x.shape:
        raise GradcliError("arguments", f"{in_words(x)} has no length")
    return b.shape(x)[0]


def _broadcast_shapes(b: Scope, e: ast.Call, args: list, named: dict) -> tuple[int, ...]:
    return shapes.broadcast(*((s,) if isinstance(s, int) else s for s in args))


def _range(b: Scope, e: ast.Call, args: list, named: dict) -> List:
    numbers = range(*(b.whole(n, index=False) for n in args))
    b.limits.check("elements", len(numbers), "a list of numbers")
    return List(numbers)


def _tuple(b: Scope, e: ast.Call, args: list, named: dict) -> tuple:
    return tuple(_list(b, e, args, named))


def _list(b: Scope, e: ast.Call, args: list, named: dict) -> List:
    if named:
        raise TypeError("it takes no keywords")
    (value,) = args or ((),)
    return List(several(b, value, e))


def _of_tensors(name: str, count: int, fact: Callable[..., Any]) -> Fact:
    """A function of exactly `count` tensors and no other arguments, which returns the value of
    `fact` for these.
    """

    def ask(b: Scope, e: ast.Call, args: list, named: dict) -> Any:
        foreign = [in_words(a) for a in args if not isinstance(a, Node)]
        if named or foreign or len(args) != count:
            wrong = f", got {foreign[0]}" if foreign and len(args) == count else " and nothing else"
            message = f"{name}() takes {('one tensor', 'two tensors')[count - 1]}{wrong}"
            raise GradcliError("arguments", message)
        return fact(b, *args)

    return ask


OF_TENSORS: dict[tuple[str, ...], tuple[int, Callable[..., Any]]] = {
    ("nelement",): (1, lambda b, x: b.size(x)),
    ("dim", "ndimension"): (1, lambda b, x: x.ndim),
    ("is_floating_point",): (1, lambda b, x: x.dtype == "float"),
    ("is_signed",): (1, lambda b, x: x.dtype != "bool"),
    ("is_complex", "is_conj"): (1, lambda b, x: False),
    ("is_same_size",): (2, lambda b, x, other: x.shape == other.shape),
}
FACTS: dict[str, Fact] = {
    "size": _size,
    "numel": _numel,
    "len": _len,
    "is_tensor": lambda b, e, args, named: isinstance(args[0], Node),
    "range": _range,
    "list": _list,
    **dict.fromkeys(("tuple", "Size"), _tuple),
    "broadcast_shapes": _broadcast_shapes,
    **{name: _of_tensors(name, *fact) for names, fact in OF_TENSORS.items() for name in names},
}
