"""Indexing of lists and tensors."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...errors import GradcliError
from ...graphs import OPS, Node, Outputs, walk
from ...graphs.operator import NeedsIntegers
from ...graphs.shapes import Conflict
from ...graphs.substitution import substitute
from ...lazy import np
from ...operators.indexing import full_index, is_array
from ...operators.leaves import Array
from ..libraries import JOINING
from ..libraries.function import op
from ..program import Statement
from ..syntax import dotted
from ..vocabulary import library_name
from .operands import List, in_words
from .scope import Scope

LONG = 32  # from this length on, PyTorch treats a list as a single index


def subscripted(b: Scope, e: ast.Subscript) -> Any:
    """The value of `x[...]` for a tensor or a tuple, and of `np.c_[...]` and `np.r_[...]`."""
    joined = _joined(e)
    if joined is not None:
        return b.visit(joined)
    base = b.visit(e.value)
    if isinstance(base, tuple):
        return item(b, base, b.visit(e.slice), e)
    if not isinstance(base, Node):
        raise GradcliError("index", f"{in_words(base)} cannot be indexed")
    return indexed(b, base, e)


def _joined(e: ast.Subscript) -> ast.expr | None:
    """The call that np.c_[a, b] or np.r_[a, b] abbreviates; None for another expression."""
    joining = JOINING.get(library_name(dotted(e.value) or "") or "")
    items = e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]
    if joining is None or any(isinstance(item, ast.Slice) for item in items):
        return None
    function, operand = joining
    operands = ", ".join(operand.format(ast.unparse(item)) for item in items)
    call = ast.parse(function.format(operands), mode="eval").body
    for node in ast.walk(call):
        ast.copy_location(node, e)
    return call


def indexed(b: Scope, base: Node, e: ast.Subscript) -> Node:
    """The elements of a tensor at the index in `e`."""
    items = [_index_item(b, *part) for part in _split_items(b, e.slice)]
    if is_array_program(b):
        _check_list(b, e.slice)
        return _of_array(b, base, items, e)
    while len(items) > 1 and items[-1] is Ellipsis and Ellipsis in items[:-1]:
        items.pop()  # PyTorch ignores a second ellipsis at the end
    return b.node(OPS["getitem"], (base,), e, index=tuple(items))


def _check_list(b: Scope, index: ast.expr) -> None:
    """Raise GradcliError if the index is a list, which JAX does not accept."""
    if isinstance(index, ast.List) and array_module(b) == "jax.numpy":
        text = b.source.segment(index)
        raise GradcliError(
            "index", "JAX does not accept a list as an index", hint=f"x[jnp.array({text})]"
        )


def _of_array(b: Scope, base: Node, items: list, e: ast.Subscript) -> Node:
    """The value of `x[...]` for an array of NumPy or JAX."""
    base, index = forward(base, items)
    result = b.tried(OPS["getitem"], (base,), {"index": index})
    return b.counted(picked_first(result, base, index).at(b.source.span(e)), e)


def sliced(b: Scope, parts: Iterable[Any]) -> slice:
    """The slice with these ends and step, as Python's slice() makes it."""
    result = slice(*(None if p is None else _end(b, p) for p in parts))
    if result.step == 0:
        hint = "x[::2] selects every other element"
        raise GradcliError("index", "the step of a slice cannot be 0", hint=hint)
    return result


def _end(b: Scope, part: Any) -> int:
    """An end or step of a slice, which may be an integer or boolean tensor of one element."""
    if not isinstance(part, Node):
        return b.whole(part)
    of_array = is_array_program(b) and (part.ndim or part.dtype == "bool")
    if part.numel != 1 or of_array:
        hint = "x[:n[0]] uses one of them"
        message = f"a slice goes from one integer to another, not to {in_words(part)}"
        raise GradcliError("index", message, hint=hint)
    if part.dtype == "float":
        message = "a slice is used, and what it selects depends on its values"
        raise NeedsIntegers(message, part, "int", "give it an integer with --value")
    b.indices += [part] * (part.dtype == "int")
    return int(b.numbers(part, "what a slice selects depends on its values").item())


def _split_items(b: Scope, e: ast.expr) -> Iterator[tuple[Any, ast.expr, str]]:
    """The items of an index, each with its syntax and text."""
    if isinstance(e, ast.Tuple):
        yield from ((b.visit(part), part, b.source.segment(part)) for part in e.elts)
        return
    value, text = b.visit(e), b.source.segment(e)
    if not _is_several(value) or (isinstance(value, List) and is_array_program(b)):
        yield value, e, text
    elif isinstance(e, ast.List) and len(e.elts) == len(value):
        yield from ((v, part, b.source.segment(part)) for v, part in zip(value, e.elts))
    else:
        yield from ((v, e, f"{text}[{k}]") for k, v in enumerate(value))


def _is_several(value: Any) -> bool:
    """Whether a value indexes several dimensions: a tuple or, as in PyTorch, a short list with
    items other than numbers.
    """
    if not isinstance(value, List):
        return isinstance(value, tuple)
    more = Node | tuple | slice | None | type(...)
    return len(value) < LONG and any(isinstance(v, more) for v in value)


def unpacked_values(b: Scope, statement: Statement, value: Any) -> list:
    """The value of each name in an unpacking assignment; a starred name gets a list."""
    count = value.shape[0] if isinstance(value, Node) and value.ndim else 1
    count = len(value) if isinstance(value, tuple) else count
    star, surplus = statement.star, count - len(statement.names)
    if surplus if star is None else surplus < -1:
        have = "one value" if count == 1 else f"{count} values"
        names = "one name" if len(statement.names) == 1 else f"{len(statement.names)} names"
        message = f"{have} cannot be unpacked into {names}"
        # inference may choose the size of the tensor so that it can be unpacked
        error = Conflict(message, count, len(statement.names), code="arguments")
        raise error.at(b.source.span(statement.value))
    parts = several(b, value, statement.value)
    if star is None:
        return parts
    end = star + 1 + surplus
    return [*parts[:star], List(parts[star:end]), *parts[end:]]


def several(b: Scope, value: Any, e: ast.expr) -> list:
    """The parts of a list, or of a tensor along its first dimension."""
    if isinstance(value, Node) and value.ndim:
        return [b.node(OPS["getitem"], (value,), e, index=(k,)) for k in range(value.shape[0])]
    if isinstance(value, tuple):
        return list(value)
    raise GradcliError("arguments", f"{in_words(value)} cannot be unpacked", span=b.source.span(e))


def item(b: Scope, base: tuple, index: Any, e: ast.expr) -> Any:
    """An element of several values, or a slice of them."""
    if not isinstance(index, int | slice):
        raise GradcliError(
            "index", f"these {len(base)} values are numbered from 0 to {len(base) - 1}"
        )
    try:
        result = base[index]
    except IndexError:
        raise GradcliError("index", f"there are only {len(base)} values, numbered from 0") from None
    if isinstance(base, Outputs) and isinstance(result, Node):
        return result.at(b.source.span(e))
    return List(result) if isinstance(base, List) and isinstance(index, slice) else result


def _index_item(b: Scope, value: Any, e: ast.expr, text: str) -> Any:
    if isinstance(value, Node):
        return index_array(b, value, e, text)
    if isinstance(value, tuple):
        array = _listed(b, value, e)
        return Array(array, text) if array.dtype.kind == "b" else value
    if isinstance(value, bool):
        return Array(np.asarray(value), str(value))
    if value is None or value is Ellipsis or isinstance(value, slice):
        return value
    return b.whole(value)


def _listed(b: Scope, value: tuple, e: ast.expr) -> Any:
    """A list used as an index, as an array."""
    message, hint = "a list index must contain integers or True and False", None
    try:
        array = np.asarray(value)
    except ValueError:
        hint = "write a list for each dimension: x[[0, 1], [2, 2]]"
        message = f"{message}, and lists in it must have equal length"
    else:
        if array.dtype.kind in "bi" or not array.size:
            return array
    raise GradcliError("index", message, hint=hint, span=b.source.span(e))


def literal_array(b: Scope, node: Node, e: ast.expr, function: str) -> Any:
    """The array of a tensor whose values determine the result of `function`. Raises GradcliError if
    they are floats or placeholders.
    """
    text = b.source.segment(e)
    if node.dtype == "float":
        raise _undecided(text, function)
    check_not_supposed(b, node, e, function)
    return index_array(b, node, e)


def check_not_supposed(b: Scope, node: Node, e: ast.expr, function: str) -> None:
    """Raise GradcliError for a tensor that depends on placeholder values."""
    if any(n in b.supposed for n in walk([node])):
        raise _undecided(b.source.segment(e), function)


def _undecided(text: str, function: str) -> GradcliError:
    message = f"{text} determines the result of {function}(), and has no gradient through it"
    return GradcliError("needs-value", message, hint="give it integers with --value")


def index_array(b: Scope, node: Node, e: ast.expr, text: str = "") -> Any:
    """The values of a tensor used as an index, which determine the shape of the result."""
    text = text or b.source.segment(e)
    if node.dtype == "float":
        message = f"{text} is used as an index, and what it selects depends on its values"
        hint = "give it integers or a mask with --value"
        raise NeedsIntegers(message, node, "int", hint).at(b.source.span(e))
    value = b.numbers(node, f"what {text} selects depends on its values")
    b.indices += [node] * (node.dtype == "int")
    if value.ndim == 0 and value.dtype.kind != "b":
        return int(value)
    plain = substitute(node, {}, lambda _: None)
    return b.arrays.setdefault((plain, text), Array(value, text, plain))


# ---- where NumPy and JAX index differently -------------------------------------------------------
# Slices may have negative steps, and advanced indices that a slice separates move to the front.


def is_array_program(b: Scope) -> bool:
    """Whether a program calls functions of NumPy, SciPy or JAX, but none of PyTorch."""
    return bool(b.libraries) and "torch" not in b.libraries


def array_module(b: Scope) -> str:
    """The module of array functions, if the program calls no other module's."""
    return "jax.numpy" if "jax" in b.libraries else "numpy"


def forward(base: Node, index: Sequence[Any]) -> tuple[Node, tuple[Any, ...]]:
    """The base flipped along dimensions with negative steps, and the index with positive steps."""
    dim, flipped, items = 0, list[int](), list[Any]()
    for item in full_index(index, base.ndim):
        if isinstance(item, slice) and item.step is not None and item.step < 0:
            flipped.append(dim)
            item = _reversed_slice(item, base.shape[dim])
        items.append(item)
        dim += 0 if item is None else getattr(getattr(item, "value", None), "ndim", 1)
    return (op.flip(base, dims=tuple(flipped)), tuple(items)) if flipped else (base, tuple(index))


def _reversed_slice(s: slice, size: int) -> slice:
    """The same slice of a flipped dimension. Negative ends are valid for any size."""
    picked = range(size)[s]
    if not picked:
        return slice(0, 0)
    start = None if s.start is None or picked[0] == size - 1 else -picked[0] - 1
    stop = None if s.stop is None or not picked[-1] else -picked[-1]
    return slice(start, stop, -s.step)


def picked_first(node: Node, base: Node, index: Sequence[Any]) -> Node:
    """The result of PyTorch's indexing, with the dimensions of advanced indices moved to NumPy's
    position.

    They come first if a slice, None or ... separates two of them; integers count as advanced
    indices.
    """
    arrays = [k for k, item in enumerate(index) if is_array(item)]
    numbers = [k for k, item in enumerate(index) if isinstance(item, int)]
    taken = sorted(arrays + numbers)
    if not arrays or taken[-1] - taken[0] == len(taken) - 1:
        return node
    items = [item for item in full_index(index, base.ndim) if not isinstance(item, int)]
    picked = [k for k, item in enumerate(items) if is_array(item)]
    if picked[-1] - picked[0] != len(picked) - 1:
        return node  # PyTorch's order is NumPy's
    count = node.ndim - (len(items) - len(picked))
    return op.movedim(node, tuple(range(picked[0], picked[0] + count)), tuple(range(count)))
