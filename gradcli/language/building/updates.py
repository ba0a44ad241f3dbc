"""`x.at[index].set(v)` and `.add(v)` of JAX: copies of an array that are changed at an index."""

import ast
from typing import Any

from ...errors import GradcliError
from ...graphs import Node, as_node
from ...lazy import np
from ...operators.leaves import numbers
from ..libraries.function import op
from .indices import indexed
from .operands import in_words
from .scope import Scope

OTHERS = {  # what else may be done there, written with set()
    **{"multiply": "x[i] * v", "mul": "x[i] * v", "divide": "x[i] / v", "subtract": "x[i] - v"},
    **{"power": "x[i] ** v", "min": "jnp.minimum(x[i], v)", "max": "jnp.maximum(x[i], v)"},
    "apply": "f(x[i])",
}


def update(b: Scope, e: ast.Call) -> Node | None:
    """The value of such a call; None for any other call."""
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
    if name not in ("set", "add") or len(e.args) != 1 or e.keywords:
        cure = OTHERS.get(name)
        hint = f"write x.at[i].set({cure})" if cure else "x.at[i].set(v) and x.at[i].add(v) are"
        raise GradcliError("unsupported", f"this form of x.at[i].{name}() is not read", hint=hint)
    return b.counted(_updated(b, base, place, b.visit(e.args[0]), name), e)


def _updated(b: Scope, base: Node, place: ast.Subscript, value: Any, name: str) -> Node:
    value = as_node(value)
    value = op.double(value) if base.dtype == "float" != value.dtype else value
    mask = None if isinstance(place.slice, ast.Tuple | ast.Slice) else b.visit(place.slice)
    if isinstance(mask, Node) and mask.dtype == "bool" and not value.ndim:
        over = (*mask.shape, *(1,) * (base.ndim - mask.ndim))
        new = base + value if name == "add" else value
        return op.where(op.reshape(mask, over), new, base)
    places = op.reshape(op.arange(end=base.numel), base.shape)
    picked = indexed(b, places, place)
    value = op.expand(value, shape=picked.shape)
    if name == "set":
        value = _last(b, value, picked)
    return op.put(base, picked, value, accumulate=name == "add")


def _last(b: Scope, value: Node, picked: Node) -> Node:
    """The value without a slope where a later element of it is written to the same place."""
    places = b.numbers(picked, "an index decides on what is written").reshape(-1)
    _, from_end = np.unique(places[::-1], return_index=True)
    if from_end.size == places.size:
        return value
    kept = np.zeros(places.size, bool)
    kept[places.size - 1 - from_end] = True
    return op.where(numbers(kept.reshape(picked.shape)), value, 0.0)
