"""`x.at[index].set(v)`, `.add(v)` and others in JAX: copies of an array, changed at an index."""

import ast
from typing import Any

from ...errors import GradcliError
from ...graphs import Node, as_node
from ...lazy import np
from ...operators.leaves import numbers
from ..libraries import library_function
from ..libraries.function import op
from .indices import indexed
from .operands import in_words
from .scope import Scope

COMBINED = {  # by name of the update: the function that combines x[i] with a value
    **{"multiply": "multiply", "mul": "multiply", "divide": "divide", "power": "power"},
    **{"min": "minimum", "max": "maximum"},
}


def update(b: Scope, e: ast.Call) -> Node | None:
    """The value of a call such as `x.at[index].set(v)`; None for any other call."""
    place = e.func.value if isinstance(e.func, ast.Attribute) else None
    if not isinstance(place, ast.Subscript) or getattr(place.value, "attr", "") != "at":
        return None
    assert isinstance(e.func, ast.Attribute)
    assert isinstance(place.value, ast.Attribute)
    base, name = b.visit(place.value.value), e.func.attr
    if not isinstance(base, Node):
        raise GradcliError("arguments", f"{in_words(base)} has no attribute at")
    if name == "get" and not e.args and not e.keywords:
        return indexed(b, base, place)
    known = name in COMBINED or name in ("set", "add", "subtract")
    if not known or len(e.args) != 1 or e.keywords:
        hint = "write x.at[i].set(f(x[i]))" if name == "apply" else "as in x.at[i].set(v)"
        raise GradcliError(
            "unsupported", f"this form of x.at[i].{name}() is not supported", hint=hint
        )
    value = b.visit(e.args[0])
    if name == "subtract":
        name, value = "add", -as_node(value)
    if name in COMBINED:
        value = _combined(b, base, place, name, value)
        name = "set"
    return b.counted(_updated(b, base, place, value, name), e)


def _combined(b: Scope, base: Node, place: ast.Subscript, name: str, value: Any) -> Node:
    """x[i] combined with a value. Raises GradcliError for an index that occurs twice."""
    picked = indexed(b, _flat_indices(base), place)
    written = b.numbers(picked, "what is written depends on an index")
    if np.unique(written).size < written.size:
        message = f"x.at[i].{name}() changes one element twice, and JAX has no gradient of that"
        raise GradcliError("unsupported", message, hint="change one after the other")
    combine = library_function(f"jax.numpy.{COMBINED[name]}")
    assert combine is not None
    return combine(indexed(b, base, place), as_node(value))


def _flat_indices(base: Node) -> Node:
    """The row-major flat indices of the elements of an array."""
    return op.reshape(op.arange(end=base.numel), base.shape)


def _updated(b: Scope, base: Node, place: ast.Subscript, value: Any, name: str) -> Node:
    value = as_node(value)
    value = op.double(value) if base.dtype == "float" != value.dtype else value
    mask = None if isinstance(place.slice, ast.Tuple | ast.Slice) else b.visit(place.slice)
    if isinstance(mask, Node) and mask.dtype == "bool" and not value.ndim:
        over = (*mask.shape, *(1,) * (base.ndim - mask.ndim))
        new = base + value if name == "add" else value
        return op.where(op.reshape(mask, over), new, base)
    picked = indexed(b, _flat_indices(base), place)
    value = op.expand(value, shape=picked.shape)
    if name == "set":
        value = _last(b, value, picked)
    return op.put(base, picked, value, accumulate=name == "add")


def _last(b: Scope, value: Node, picked: Node) -> Node:
    """The value, with zeros for elements that a later one overwrites at the same index, so that no
    gradient flows to them.
    """
    indices = b.numbers(picked, "what is written depends on an index").reshape(-1)
    _, from_end = np.unique(indices[::-1], return_index=True)
    if from_end.size == indices.size:
        return value
    mask = np.zeros(indices.size, bool)
    mask[indices.size - 1 - from_end] = True
    return op.where(numbers(mask.reshape(picked.shape)), value, 0.0)
