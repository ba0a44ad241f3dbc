"""What NumPy and JAX say of elements picked by place, put at places and laid side by side."""

from typing import TYPE_CHECKING, Any

from ...graphs import OPS, Node
from ...graphs.shapes import axis, numel
from ...operators.indexing import full_index, is_array
from ...operators.leaves import Array
from .. import tree
from ..formulas.rules.products import constant_value
from ..tree import Attribute, Call, Method, Number, Tree, Verbatim
from .array_words import IN_OTHER_WORDS as IN_OTHER_WORDS  # with the words of this file
from .array_words import in_jax, in_other_words

if TYPE_CHECKING:
    from .array_code import ArrayWriter

PUT = '''
def put(shape, index, values):
    """Zeros of a shape with values added at an index."""
    out = np.zeros(shape)
    np.add.at(out, index, values)
    return out
'''
PUT_OVER = '''
def put_over(x, index, values):
    """A copy of x with other values at an index."""
    out = x.copy()
    out[index] = values
    return out
'''
PUT_DIAGONAL = '''
def put_diagonal(x, values, offset=0):
    """A copy of x with other values on a diagonal."""
    at = np.arange(np.diagonal(x, offset).size)
    out = x.copy()
    out[at + max(-offset, 0), at + max(offset, 0)] = values
    return out
'''
PUT_DIAGONAL_IN_JAX = '''
def put_diagonal(x, values, offset=0):
    """x with other values on a diagonal."""
    at = jnp.arange(jnp.diagonal(x, offset).size)
    return jnp.asarray(x).at[at + max(-offset, 0), at + max(offset, 0)].set(values)
'''


@in_other_words
def getitem(w: "ArrayWriter", node: Node) -> Tree:
    """x[index]; in two steps where whole numbers meet arrays, which NumPy takes together."""
    shape, base = node.parents[0].shape, w.as_array(node, 0)
    index = w.trimmed(node.attrs["index"], shape)
    first, rest = _steps_of(index, len(shape))
    if not first:
        return tree.Subscript(base, (Verbatim(w.index(index) or "()"),))
    return tree.Subscript(
        tree.Subscript(base, (Verbatim(w.index(first)),)), (Verbatim(w.index(rest)),)
    )


def _steps_of(index: tuple, ndim: int) -> tuple[tuple, tuple]:
    """An index as whole numbers first and arrays then; with nothing first where one step does."""
    if not any(map(is_array, index)) or not any(isinstance(i, int) for i in index):
        return (), index
    full, whole = full_index(index, ndim), slice(None)
    basic: list[Any] = []
    later: list[Any] = []
    for item in full:
        if is_array(item):
            basic += [whole] * (item.value.ndim if _is_mask(item) else 1)
            later.append(item)
        else:
            basic.append(item)
            later += [] if isinstance(item, int) else [whole]
    return tuple(basic), tuple(later)


def _is_mask(item: Any) -> bool:
    return isinstance(item, Array) and item.dtype == "bool"


@in_other_words
def put_at(w: "ArrayWriter", node: Node) -> Tree:
    index = w.trimmed(node.attrs["index"], node.shape)
    first, rest = _steps_of(index, node.ndim)
    if not first:
        return _put(w, w.attribute(node, "shape"), index, w.operand(node, 0))
    inner = w.shape(OPS["getitem"](OPS["zeros"](size=node.shape), index=first).shape)
    return _put(w, w.attribute(node, "shape"), first, _put(w, inner, rest, w.operand(node, 0)))


def _put(w: "ArrayWriter", shape: Tree, index: tuple, values: Tree) -> Tree:
    """Values added into zeros of a shape, at an index."""
    if in_jax(w):
        added = "add" if any(map(is_array, index)) else "set"
        at = Verbatim(f"{tree.text(w.function_call('zeros', shape))}.at[{w.index(index) or '()'}]")
        return Method(at, added, (values,))
    w.helpers["put"] = PUT
    return Call("put", (shape, _as_argument(w, index), values))


def _as_argument(w: "ArrayWriter", index: tuple) -> Tree:
    """An index as a value: np.s_[0, 1:], or the number or list that it is."""
    text = w.index(index)
    alone = len(index) == 1 and isinstance(index[0], int | tuple)
    return Verbatim(text if alone else f"np.s_[{text}]" if text else "()")


def _replaced(w: "ArrayWriter", node: Node, index: tuple) -> Tree:
    """x with src in place of what an index picks."""
    x, src = w.as_array(node, 0), w.operand(node, 1)
    if in_jax(w):
        array = tree.text(w.function_call("asarray", x))
        return Method(Verbatim(f"{array}.at[{w.index(index)}]"), "set", (src,))
    w.helpers["put_over"] = PUT_OVER
    return Call("put_over", (x, _as_argument(w, index), src))


@in_other_words
def select_scatter(w: "ArrayWriter", node: Node) -> Tree:
    whole = (slice(None),) * axis(node.attrs["dim"], node.ndim)
    return _replaced(w, node, (*whole, node.attrs["index"]))


@in_other_words
def slice_scatter(w: "ArrayWriter", node: Node) -> Tree:
    dim, start, end, step = node.attrs.values()
    part = slice(start, end, None if step == 1 else step)
    return _replaced(w, node, (*(slice(None),) * axis(dim, node.ndim), part))


@in_other_words
def diagonal_scatter(w: "ArrayWriter", node: Node) -> Tree:
    offset, *dims = node.attrs.values()
    if node.ndim != 2 or [axis(d, 2) for d in dims] != [0, 1]:
        raise w.refusal(node, ", but for matrices")
    w.helpers["put_diagonal"] = PUT_DIAGONAL_IN_JAX if in_jax(w) else PUT_DIAGONAL
    ones = constant_value(node.parents[1]) == 1  # as many as there are
    values = Number(1) if ones else w.operand(node, 1)
    at = (Number(offset),) if offset else ()
    return Call("put_diagonal", (w.as_array(node, 0), values, *at))


def _places(w: "ArrayWriter", node: Node) -> Tree:
    """The elements of the output, counted row by row, in its shape."""
    count = w.function_call("arange", _count(w, node))
    return count if node.ndim == 1 else Method(count, "reshape", (w.attribute(node, "shape"),))


def _count(w: "ArrayWriter", node: Node) -> Tree:
    like = w.shapes.get(node.shape)
    return w.plain(numel(node.shape)) if like is None else Attribute(like, "size")


def _added(w: "ArrayWriter", node: Node, places: Tree) -> Tree:
    """The first input added into zeros, at places counted row by row."""
    values, at = w.operand(node, 0), places
    if node.inputs[0] in w.numbers:
        values = w.function_call("full", Number(1), values)
    elif node.parents[0].ndim != 1:
        values = Method(values, "flatten")
    if node.parents[0].ndim != 1 or node.op.name == "overlap":
        at = Method(places, "flatten")
    sums = w.function_call("bincount", at, weights=values, minlength=_count(w, node))
    return sums if node.ndim == 1 else Method(sums, "reshape", (w.attribute(node, "shape"),))


@in_other_words
def gather(w: "ArrayWriter", node: Node) -> Tree:
    x, index = node.parents
    if not x.ndim or not index.ndim:
        return w.function_call("take", w.operand(node, 0), w.operand(node, 1))
    base = _cut(w, w.operand(node, 0), x, index, node.attrs["dim"])
    return w.function_call(
        "take_along_axis", base, w.operand(node, 1), axis=Number(axis(node.attrs["dim"], x.ndim))
    )


def _cut(w: "ArrayWriter", base: Tree, x: Node, index: Node, dim: int) -> Tree:
    """x without what an index that is smaller never looks at."""
    parts = [
        ":" if d == axis(dim, x.ndim) or n == x.shape[d] else f":{w.place(n)}"
        for d, n in enumerate(index.shape)
    ]
    return base if set(parts) == {":"} else tree.Subscript(base, (Verbatim(", ".join(parts)),))


@in_other_words
def scatter_to(w: "ArrayWriter", node: Node) -> Tree:
    index = node.parents[1]
    if not node.ndim or not index.ndim:
        raise w.refusal(node, " of numbers")
    dim = axis(node.attrs["dim"], node.ndim)
    base = _cut(w, _places(w, node), node, index, dim)
    places = w.function_call("take_along_axis", base, w.operand(node, 1), axis=Number(dim))
    return _added(w, node, places)


@in_other_words
def windows(w: "ArrayWriter", node: Node) -> Tree:
    return _windows(w, node, w.operand(node, 0), **node.attrs)


@in_other_words
def overlap(w: "ArrayWriter", node: Node) -> Tree:
    stride, dilation = node.attrs["stride"], node.attrs["dilation"]
    kernel = node.parents[0].shape[-len(stride) :]
    return _added(w, node, _windows(w, node, _places(w, node), kernel, stride, dilation))


def _windows(
    w: "ArrayWriter", node: Node, base: Tree, kernel: Any, stride: Any, dilation: Any
) -> Tree:
    """What a kernel sees at each of its positions."""
    if in_jax(w):
        return _taken_windows(w, node, base, kernel, stride, dilation)
    reach = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True))
    last = tuple(range(-len(kernel), 0))
    view = Call(
        "np.lib.stride_tricks.sliding_window_view",
        (base, w.plain(reach), w.plain(last)),
    )
    steps = [f"::{n}" if n > 1 else ":" for n in (*stride, *dilation)]
    return (
        view
        if set(steps) == {":"}
        else tree.Subscript(view, (Verbatim(", ".join(["...", *steps])),))
    )


def _taken_windows(
    w: "ArrayWriter", node: Node, base: Tree, kernel: Any, stride: Any, dilation: Any
) -> Tree:
    """The same by lists of places, one for each dimension: positions by kernel."""
    n = len(kernel)
    whole = node.attrs.get("shape") or node.parents[0].shape
    items = []
    for d in range(n):
        size = whole[d - n]
        count = (size - dilation[d] * (kernel[d] - 1) - 1) // stride[d] + 1
        outer = _steps(w.place(count), stride[d], d, 2 * n)
        items.append(f"{outer} + {_steps(w.place(kernel[d]), dilation[d], n + d, 2 * n)}")
    return tree.Subscript(base, (Verbatim(", ".join(["...", *items])),))


def _steps(count: str, step: int, place: int, ndim: int) -> str:
    """0, step, 2 step, ... along one of ndim dimensions."""
    shape = ", ".join("-1" if d == place else "1" for d in range(ndim))
    return f"jnp.arange({count}).reshape({shape})" + (f" * {step}" if step > 1 else "")
