"""How formulas write what no record of an operator can say: how tensors are made, indexed and
resized, in PyTorch's spelling.
"""

import ast
from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from ...graphs import Node
from ...graphs.shapes import Shape, axis, numel
from ...operators.indexing import is_mask
from ...operators.leaves import Array
from .. import tree
from ..tree import (
    NEW_DIMENSION,
    Attribute,
    Call,
    Listing,
    Method,
    Name,
    Number,
    Slice,
    Subscript,
    Tree,
    Verbatim,
)
from .spelling import read
from .strides import is_row_major

if TYPE_CHECKING:
    from .formula import Writer

Idiom = Callable[["Writer", Node], Tree]
IDIOMS: dict[str, Idiom] = {}
LOOSE = (ast.Compare, ast.BinOp, ast.UnaryOp)  # what may need brackets where it stands


def idiom(function: Idiom) -> Idiom:
    """How the operator of this function's name is written, where its record cannot say it."""
    IDIOMS[function.__name__.strip("_")] = function
    return function


# ---- leaves --------------------------------------------------------------------------------------


@idiom
def input_(w: "Writer", node: Node) -> Tree:
    return Name(node.attrs["name"])


@idiom
def constant(w: "Writer", node: Node) -> Tree:
    return w.number(node.attrs["value"])


@idiom
def tensor(w: "Writer", node: Node) -> Tree:
    text = str(node.attrs["data"])
    if text.startswith("["):
        return Call("tensor", (Verbatim(text),)) if node.dtype == "bool" else Verbatim(text)
    return read(text) if _is_loose(text) else Verbatim(text)


@lru_cache(1024)
def _is_loose(text: str) -> bool:
    return isinstance(ast.parse(text, mode="eval").body, LOOSE)


@idiom
def kron(w: "Writer", node: Node) -> Tree:
    parts = ((w.operand(node, k), is_row_major(x)) for k, x in enumerate(node.parents))
    return Call(
        w.function(node.op),
        tuple(part if by_rows else Method(part, "contiguous") for part, by_rows in parts),
    )


@idiom
def zeros(w: "Writer", node: Node) -> Tree:
    return _filled(w, node, "zeros")


@idiom
def ones(w: "Writer", node: Node) -> Tree:
    return _filled(w, node, "ones")


def _filled(w: "Writer", node: Node, name: str) -> Tree:
    like = w.same_kind(node)
    if like is not None:
        return Call(w.library(f"{name}_like"), (like,))
    sizes = w.attribute(node, "size")
    return Call(
        w.library(name), sizes.items if isinstance(sizes, Listing) and sizes.items else (sizes,)
    )


@idiom
def full(w: "Writer", node: Node) -> Tree:
    like, value = w.same_kind(node), w.plain(node.attrs["fill_value"])
    if like is not None:
        return Call(w.library("full_like"), (like, value))
    return Call(w.library("full"), (w.attribute(node, "size"), value))


@idiom
def eye(w: "Writer", node: Node) -> Tree:
    n, m = node.shape
    own = node.span is not None and w.generic_sizes is None
    sizes = map(Number, (n, m)) if own else (w.size(n, -2), w.size(m, -1))
    return Call(w.library("eye"), tuple(sizes)[: 1 if n == m else 2])


@idiom
def arange(w: "Writer", node: Node) -> Tree:
    start, end, step = node.attrs.values()
    given = [end] if (start, step) == (0, 1) else [start, end, step] if step != 1 else [start, end]
    if (node.span is None or w.generic_sizes is not None) and given == [end]:
        return Call(w.library("arange"), (w.count(end),))
    return Call(w.library("arange"), tuple(map(w.plain, given)))


@idiom
def size(w: "Writer", node: Node) -> Tree:
    """The number of elements, of x or of a name in its shape; or a product of sizes."""
    (x,) = node.parents
    dims = [axis(d, x.ndim) for d in node.attrs["dim"]] if x.ndim else []
    whole = w.shapes.get(x.shape)
    if len(dims) == x.ndim and whole is not None:
        return Method(whole, "numel")
    sizes = [
        Subscript(Attribute(whole, "shape"), (Number(d),)) if whole else _size_of(w, x, d)
        for d in dims
    ]
    sizes = [n for n in sizes if n != Number(1)]
    product: Tree = sizes[0] if sizes else Number(1)
    for other in sizes[1:]:
        product = tree.Infix("*", product, other)
    counted = Method(w.trees[x], "numel")
    longer = len(dims) == x.ndim > 1 and tree.size(product) > tree.size(counted)
    return counted if longer else product


def _size_of(w: "Writer", x: Node, d: int) -> Tree:
    """The size of a dimension: by place, else by the one name that has it, else as a number."""
    result = w.size(x.shape[d], d - x.ndim)
    if not isinstance(result, Number) or result.value == 1:
        return result
    own = [
        Subscript(Attribute(name, "shape"), (Number(axis),))
        for shape, name in w.shapes.items()
        for axis, n in enumerate(shape)
        if n == x.shape[d]
    ]
    return own[0] if len(own) == 1 else result


@idiom
def div(w: "Writer", node: Node) -> Tree:
    """x / 1 is x, where 1 is the size of what has no name: one label that is written out."""
    x, count = node.parents
    if count.op.name == "size" and w.trees[count] == Number(1) and x.dtype == node.dtype:
        return w.operand(node, 0)
    return w.by_spelling(node)


@idiom
def matmul(w: "Writer", node: Node) -> Tree:
    """(a * b) @ c, though it would mean the same without brackets."""
    left, right = w.operand(node, 0), w.operand(node, 1)
    x, written_out = node.parents[0], isinstance(left, tree.Infix)
    if written_out and x.op.name in ("mul", "div") and all(i.shape for i in x.parents):
        left = tree.Bracketed(left)
    return tree.Infix("@", left, right, (x.ndim, node.parents[1].ndim))


# ---- shapes and places ---------------------------------------------------------------------------


@idiom
def transpose(w: "Writer", node: Node) -> Tree:
    (x,) = node.parents
    given = tuple(node.attrs.values())
    base = w.operand(node, 0)
    if sorted(axis(d, x.ndim) for d in given) == [x.ndim - 2, x.ndim - 1]:
        plain = x.ndim == 2 and (node.span is None or given == (0, 1))
        return Attribute(base, "T" if plain else "mT")
    return Method(base, "transpose", tuple(map(w.plain, node.attrs.values())))


@idiom
def reshape(w: "Writer", node: Node) -> Tree:
    if node.parents[0] in w.numbers:
        return _of_number(w, node, node.parents[0])
    sizes = w.attribute(node, "shape")
    items = sizes.items if isinstance(sizes, Listing) else ()
    chosen = node.span is not None and any(isinstance(i, Number) for i in items)
    if not chosen and not isinstance(sizes, Attribute):
        ends = _flattened(node.parents[0].shape, node.shape)
        if ends is not None:
            return Method(w.operand(node, 0), "flatten", tuple(map(Number, ends)))
    return Method(w.operand(node, 0), "reshape", items or (sizes,))


def _flattened(shape: Shape, new: Shape) -> tuple[int, ...] | None:
    """The dimensions that are made into one, from the first to the last of them; to the end where
    the last is not said, and all where none is. None where it is not that which makes the shape.
    """
    for start in range(len(new)):
        end = start + len(shape) - len(new)
        middle, rest = shape[start : end + 1], shape[end + 1 :]
        if end > start and new == (*shape[:start], numel(middle), *rest):
            return (start, end) if end < len(shape) - 1 else (start,) if start else ()
    return None


@idiom
def expand(w: "Writer", node: Node) -> Tree:
    like, (x,) = w.like(node), node.parents
    if x in w.numbers:
        return _of_number(w, node, x)
    if like is not None:
        return Method(w.operand(node, 0), "expand_as", (like,))
    sizes = w.attribute(node, "shape")
    spread = isinstance(sizes, Listing) and sizes.items
    return Method(w.operand(node, 0), "expand", sizes.items if spread else (sizes,))  # type: ignore[union-attr]


def _of_number(w: "Writer", node: Node, x: Node) -> Tree:
    """A tensor of one number; a float keeps its point where it alone makes it one of floats."""
    like = w.same_kind(node)
    if like is not None:
        return Call(w.library("full_like"), (like, w.trees[x]))
    value = x.attrs.get("value")
    if isinstance(value, float) and isfinite(value):
        return Call(w.library("full"), (w.shape(node.shape), w.number(value, point=True)))
    number = w.trees[x]
    return Call(w.library("full"), (w.shape(node.shape), number))


@idiom
def getitem(w: "Writer", node: Node) -> Tree:
    index = w.trimmed(node.attrs["index"], node.parents[0].shape)
    return Subscript(w.operand(node, 0), tuple(_item(w, item) for item in index))


@idiom
def put(w: "Writer", node: Node) -> Tree:
    """x.index_put((tensor(0), y), v), where places are those of an index, counted row by row."""
    x, places, _ = node.parents
    index = _index_of_rows(places, x.shape)
    if index is None:
        return w.call(node)
    items = Listing(tuple(_as_places(w, item) for item in index))
    named = (("accumulate", Verbatim("True")),) if node.attrs["accumulate"] else ()
    return Method(w.operand(node, 0), "index_put", (items, w.operand(node, 2)), named)


def _index_of_rows(places: Node, shape: Shape) -> tuple | None:
    """The numbers and lists at which places counted row by row are picked; None for others."""
    counted = places.parents[0] if places.op.name == "getitem" else places
    base = counted.parents[0] if counted.op.name == "reshape" else counted
    if base.op.name != "arange" or counted.shape != shape or base.shape != (numel(shape),):
        return None
    index = places.attrs.get("index", (None,))
    plain = all(isinstance(i, int | tuple | Array) and not is_mask(i) for i in index)
    return index if plain else None


def _as_places(w: "Writer", item: Any) -> Tree:
    """One item of the index of index_put, which takes tensors alone."""
    written = _item(w, item)
    literal = not isinstance(item, Array) or item.text.startswith("[")
    return Call(w.library("tensor"), (written,)) if literal else written


def _item(w: "Writer", item: Any) -> Tree:
    """One item of an index."""
    if item is None:
        return NEW_DIMENSION
    if item is Ellipsis:
        return Verbatim("...")
    if isinstance(item, slice):
        start, stop = (None if end is None else w.plain(end) for end in (item.start, item.stop))
        return Slice(start, stop, None if item.step is None else Number(item.step))
    if isinstance(item, tuple):
        return Verbatim(str(list(item)))
    if not isinstance(item, Array):
        return w.plain(item)
    text = w.indices(item)
    return Verbatim(text) if text.startswith("[") else read(text)
