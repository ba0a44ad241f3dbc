"""What stands in brackets: places in lists and in tensors."""

import ast
from typing import TYPE_CHECKING, Any

from ..errors import GradcliError
from ..graphs import OPS, Node, Outputs, walk
from ..graphs.operator import Unlabelled
from ..lazy import np
from ..operators.leaves import Array
from .operands import in_words

if TYPE_CHECKING:
    from .build import Builder


def subscripted(b: "Builder", e: ast.Subscript) -> Any:
    """What stands in brackets behind a tensor, or behind several values, takes out of it."""
    base, index = b.visit(e.value), e.slice
    if isinstance(base, tuple):
        return item(b, base, b.visit(index), e)
    if not isinstance(base, Node):
        raise GradcliError("index", f"{in_words(base)} cannot be indexed")
    items = index.elts if isinstance(index, ast.Tuple) else [index]
    return b.node(OPS["getitem"], (base,), e, index=tuple(_index_item(b, i) for i in items))


def item(b: "Builder", base: tuple, place: Any, e: ast.expr) -> Any:
    """One of several values, or a slice of them."""
    if not isinstance(place, int | slice):
        raise GradcliError(
            "index", f"these {len(base)} values are numbered from 0 to {len(base) - 1}"
        )
    try:
        found = base[place]
    except IndexError:
        raise GradcliError("index", f"there are only {len(base)} values, numbered from 0") from None
    if isinstance(base, Outputs) and isinstance(found, Node):
        return found.at(b.source.span(e))
    return found


def _index_item(b: "Builder", e: ast.expr) -> Any:
    value = b.visit(e)
    if isinstance(value, Node):
        return index_array(b, value, e)
    if isinstance(value, tuple):
        array = _listed(b, value, e)
        return Array(array, b.source.segment(e)) if array.dtype.kind == "b" else value
    if isinstance(value, bool):
        return Array(np.asarray(value), str(value))
    if value is None or value is Ellipsis or isinstance(value, slice):
        return value
    return b.whole(value)


def _listed(b: "Builder", value: tuple, e: ast.expr) -> Any:
    """The array of a list in brackets."""
    said, hint = "a list index holds whole numbers or True and False", None
    try:
        array = np.asarray(value)
    except ValueError:
        hint = "lists for several dimensions stand apart: x[[0, 1], [2, 2]]"
        said = f"{said}, and lists in it have one length"
    else:
        if array.dtype.kind in "bi" or not array.size:
            return array
    raise GradcliError("index", said, hint=hint, span=b.source.span(e))


def known_array(b: "Builder", node: Node, e: ast.expr) -> Any:
    """As `index_array`, of a tensor whose numbers are written out in what is said."""
    text = b.source.segment(e)
    if node.dtype == "float":
        raise _undecided(text)
    check_given(b, node, e)
    return index_array(b, node, e)


def check_given(b: "Builder", node: Node, e: ast.expr) -> None:
    """Refuse a tensor that depends on numbers that are made up."""
    if any(n in b.supposed for n in walk([node])):
        raise _undecided(b.source.segment(e))


def _undecided(text: str) -> GradcliError:
    said = f"{text} decides on a shape, or on numbers that are written out"
    return GradcliError("needs-value", said, hint="give it whole numbers with --value")


def index_array(b: "Builder", node: Node, e: ast.expr) -> Any:
    """A tensor used as an index: its numbers are needed now, for the result's shape."""
    text = b.source.segment(e)
    if node.dtype == "float":
        said = f"{text} is used as an index, and what it picks depends on its numbers"
        hint = "give it whole numbers or a mask with --value"
        raise Unlabelled(said, node, "int", hint).at(b.source.span(e))
    value = b.numbers(node, f"what {text} picks depends on its numbers")
    b.indices += [node] * (node.dtype == "int")
    return int(value) if value.ndim == 0 and value.dtype.kind != "b" else Array(value, text)
