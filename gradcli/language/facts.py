"""Functions whose answer is a fact of the program: sizes, dimensions, kinds of numbers."""

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import GradcliError
from ..graphs import Node, Outputs, as_node, shapes
from .operands import in_words

if TYPE_CHECKING:
    from .build import Builder

Fact = Callable[["Builder", ast.Call, list, dict], Any]


def _size(b: "Builder", e: ast.Call, args: list, named: dict) -> Any:
    shape = b.shape(as_node(args[0]))
    place = args[1] if len(args) > 1 else named.get("dim")
    return shape if place is None else b.item(shape, place, e)  # type: ignore[arg-type]


def _numel(b: "Builder", e: ast.Call, args: list, named: dict) -> int:
    _check_alone("numel", args, named)
    return b.size(as_node(args[0]))


def _dim(b: "Builder", e: ast.Call, args: list, named: dict) -> int:
    _check_alone("dim", args, named)
    return as_node(args[0]).ndim


def _len(b: "Builder", e: ast.Call, args: list, named: dict) -> int:
    _check_alone("len", args, named)
    if isinstance(args[0], tuple | Outputs):
        return len(args[0])
    if not (isinstance(args[0], Node) and args[0].shape):
        raise GradcliError("arguments", f"{in_words(args[0])} has no length")
    return b.shape(args[0])[0]


def _check_alone(name: str, args: list, named: dict) -> None:
    if len(args) + len(named) != 1:
        raise GradcliError("arguments", f"{name}() takes one tensor and nothing else")


def _broadcast_shapes(b: "Builder", e: ast.Call, args: list, named: dict) -> tuple[int, ...]:
    return shapes.broadcast(*((s,) if isinstance(s, int) else s for s in args))


def _range(b: "Builder", e: ast.Call, args: list, named: dict) -> tuple[int, ...]:
    numbers = range(*map(b.whole, args))
    b.limits.check("elements", len(numbers), "a list of numbers")
    return tuple(numbers)


def _of_tensors(name: str, count: int, fact: Callable[..., Any]) -> Fact:
    """A fact of so many tensors and of nothing else."""

    def ask(b: "Builder", e: ast.Call, args: list, named: dict) -> Any:
        others = [in_words(a) for a in args if not isinstance(a, Node)]
        if named or others or len(args) != count:
            said = f"{name}() takes {('one tensor', 'two tensors')[count - 1]}"
            raise GradcliError("arguments", f"{said}, not {others[0]}" if others else said)
        return fact(*args)

    return ask


OF_TENSORS: dict[str, tuple[int, Callable[..., Any]]] = {
    "ndimension": (1, lambda x: x.ndim),
    "is_floating_point": (1, lambda x: x.dtype == "float"),
    "is_signed": (1, lambda x: x.dtype != "bool"),
    "is_complex": (1, lambda x: False),
    "is_conj": (1, lambda x: False),
    "is_same_size": (2, lambda x, other: x.shape == other.shape),
}
FACTS: dict[str, Fact] = {
    "size": _size,
    "numel": _numel,
    "nelement": _numel,
    "dim": _dim,
    "len": _len,
    "is_tensor": lambda b, e, args, named: isinstance(args[0], Node),
    "range": _range,
    "broadcast_shapes": _broadcast_shapes,
    **{name: _of_tensors(name, *entry) for name, entry in OF_TENSORS.items()},
}
