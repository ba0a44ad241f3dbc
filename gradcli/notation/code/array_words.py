"""What NumPy and JAX say in other words than an operator's name: how arrays are made and resized.
Sizes are written through names wherever a name has them.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...graphs import Node
from ...graphs.shapes import axes, axis
from ...operators.shaping import summed_axes
from .. import tree
from ..tree import Attribute, Call, Infix, Listing, Method, Name, Number, Tree, Verbatim

if TYPE_CHECKING:
    from .array_code import ArrayWriter

IN_OTHER_WORDS: dict[str, Callable[["ArrayWriter", Node], Tree]] = {}


def in_other_words(function: Callable[["ArrayWriter", Node], Tree]) -> Callable:
    """How the operator of this function's name is said."""
    IN_OTHER_WORDS[function.__name__.strip("_")] = function
    return function


def in_jax(w: "ArrayWriter") -> bool:
    """Whether JAX is written, and not NumPy."""
    return w.module == "jnp"


# ---- leaves --------------------------------------------------------------------------------------


@in_other_words
def input_(w: "ArrayWriter", node: Node) -> Tree:
    return Name(node.attrs["name"])


@in_other_words
def constant(w: "ArrayWriter", node: Node) -> Tree:
    return w.number(node.attrs["value"])


@in_other_words
def tensor(w: "ArrayWriter", node: Node) -> Tree:
    return w.numbers_of(node.attrs["data"])


def _filled(w: "ArrayWriter", node: Node, name: str) -> Tree:
    return w.function_call(name, w.attribute(node, "size"))


@in_other_words
def zeros(w: "ArrayWriter", node: Node) -> Tree:
    return _filled(w, node, "zeros")


@in_other_words
def ones(w: "ArrayWriter", node: Node) -> Tree:
    return _filled(w, node, "ones")


@in_other_words
def full(w: "ArrayWriter", node: Node) -> Tree:
    return w.function_call("full", w.attribute(node, "size"), w.plain(node.attrs["fill_value"]))


@in_other_words
def eye(w: "ArrayWriter", node: Node) -> Tree:
    n, m = node.shape
    own = node.span is not None
    sizes = [Number(n) if own else w.size(n, -2), Number(m) if own else w.size(m, -1)]
    return w.function_call("eye", *sizes[: 1 if n == m else 2])


@in_other_words
def arange(w: "ArrayWriter", node: Node) -> Tree:
    start, end, step = node.attrs.values()
    if node.span is None and (start, step) == (0, 1):
        return w.function_call("arange", w.size(end, -1))
    given = [end] if (start, step) == (0, 1) else [start, end, step][: 2 + (step != 1)]
    return w.function_call("arange", *map(w.plain, given))


@in_other_words
def linspace(w: "ArrayWriter", node: Node) -> Tree:
    return w.function_call("linspace", *map(w.plain, node.attrs.values()))


@in_other_words
def size(w: "ArrayWriter", node: Node) -> Tree:
    """The number of elements of x, or a product of its sizes."""
    (x,) = node.parents
    whole = w.shapes.get(x.shape)
    base = whole or w.trees[x]
    dims = sorted({axis(d, x.ndim) for d in node.attrs["dim"]}) if x.ndim else []
    if len(dims) == x.ndim and (whole or isinstance(base, Name)):
        return Attribute(base, "size") if x.ndim else Number(1)
    shape = Attribute(base, "shape")
    result = [
        tree.Subscript(shape, (Number(d),)) if whole else w.size(x.shape[d], d - x.ndim)
        for d in dims
    ]
    product: Tree = result[0] if result else Number(1)
    for other in result[1:]:
        product = Infix("*", product, other)
    return product


@in_other_words
def detach(w: "ArrayWriter", node: Node) -> Tree:
    base = w.operand(node, 0)
    return Call("jax.lax.stop_gradient", (base,)) if in_jax(w) else base


# ---- shapes --------------------------------------------------------------------------------------


@in_other_words
def reshape(w: "ArrayWriter", node: Node) -> Tree:
    if node.parents[0] in w.numbers:
        return w.function_call("full", w.attribute(node, "shape"), w.operand(node, 0))
    sizes = w.attribute(node, "shape")
    if node.span is None and node.ndim == 1 and not isinstance(sizes, Attribute):
        return Method(w.operand(node, 0), "flatten")
    spread = isinstance(sizes, Listing) and sizes.items
    return Method(w.operand(node, 0), "reshape", sizes.items if spread else (sizes,))  # type: ignore[union-attr]


@in_other_words
def squeeze(w: "ArrayWriter", node: Node) -> Tree:
    (x,) = node.parents
    over = tuple(d for d in axes(node.attrs["dim"], x.ndim) if x.shape[d] == 1) if x.ndim else ()
    if node.attrs["dim"] == () or not over:
        return w.operand(node, 0)
    return Method(w.operand(node, 0), "squeeze", (w.plain(over[0] if len(over) == 1 else over),))


@in_other_words
def unsqueeze(w: "ArrayWriter", node: Node) -> Tree:
    """x[:, None] where it is short."""
    place = axis(node.attrs["dim"], node.ndim)
    if place in (0, node.ndim - 1) and node.ndim > 1:
        ahead = [":"] * place if place < 2 else ["..."]
        return tree.Subscript(w.as_array(node, 0), (*map(Verbatim, ahead), tree.NEW_DIMENSION))
    return w.function_call("expand_dims", w.operand(node, 0), Number(node.attrs["dim"]))


@in_other_words
def expand(w: "ArrayWriter", node: Node) -> Tree:
    shape = w.attribute(node, "shape")
    if -1 in node.attrs["shape"]:
        shape = w.plain(node.shape)
    name = "full" if node.parents[0] in w.numbers else "broadcast_to"
    args = (shape, w.operand(node, 0)) if name == "full" else (w.operand(node, 0), shape)
    return w.function_call(name, *args)


@in_other_words
def sum_to_size(w: "ArrayWriter", node: Node) -> Tree:
    (x,) = node.parents
    over = summed_axes(x.shape, node.shape)
    lead = x.ndim - node.ndim
    base = w.as_array(node, 0)
    if not over:
        return base if not lead else Method(base, "reshape", (w.attribute(node, "shape"),))
    along = w.plain(over[0] if len(over) == 1 else over)
    if all(d < lead for d in over):
        return Method(base, "sum", (along,))
    if not lead:
        return Method(base, "sum", (along,), (("keepdims", Verbatim("True")),))
    return Method(Method(base, "sum", (along,)), "reshape", (w.attribute(node, "shape"),))


@in_other_words
def transpose(w: "ArrayWriter", node: Node) -> Tree:
    (x,) = node.parents
    base = w.operand(node, 0)
    if not x.ndim:
        return base
    first, second = (axis(d, x.ndim) for d in node.attrs.values())
    if {first, second} == {x.ndim - 2, x.ndim - 1}:
        return Attribute(base, "T" if x.ndim == 2 else "mT")
    return Method(base, "swapaxes", tuple(map(w.plain, node.attrs.values())))


@in_other_words
def permute(w: "ArrayWriter", node: Node) -> Tree:
    dims = node.attrs["dims"]
    if dims == tuple(reversed(range(node.ndim))):
        return Attribute(w.operand(node, 0), "T")
    return Method(w.operand(node, 0), "transpose", tuple(map(w.plain, dims)))


@in_other_words
def clamp(w: "ArrayWriter", node: Node) -> Tree:
    bounds = {k: w.operand(node, k) for k in (1, 2) if node.inputs[k] is not None}
    if len(bounds) == 2:
        return w.function_call("clip", w.operand(node, 0), *bounds.values())
    ((place, bound),) = bounds.items()
    if in_jax(w):
        return w.function_call("clip", w.operand(node, 0), **{("min", "max")[place - 1]: bound})
    return w.function_call(("maximum", "minimum")[place - 1], w.operand(node, 0), bound)


@in_other_words
def pinv(w: "ArrayWriter", node: Node) -> Tree:
    _, atol, rtol = node.inputs
    if atol is not None:
        raise w.refusal(node, " with atol")
    given = {} if rtol is None else {"rtol": w.operand(node, 2)}
    given |= {"hermitian": Verbatim("True")} if node.attrs["hermitian"] else {}
    return w.function_call("linalg.pinv", w.operand(node, 0), **given)


@in_other_words
def einsum(w: "ArrayWriter", node: Node) -> Tree:
    operands = (w.operand(node, k) for k in range(len(node.inputs)))
    return w.function_call("einsum", Verbatim(repr(node.attrs["equation"])), *operands)


@in_other_words
def diag_embed(w: "ArrayWriter", node: Node) -> Tree:
    """x[..., None] * np.eye(n), its last two dimensions moved where they belong."""
    (x,) = node.parents
    where = {name: value for name, value in node.attrs.items() if name != "offset"}
    first, second = (axis(d, node.ndim) for d in where.values())
    if node.attrs["offset"] or (first, second) != (node.ndim - 2, node.ndim - 1):
        raise w.refusal(node, ", but for the last two dimensions")
    unit = w.function_call("eye", w.size(x.shape[-1], -1))
    return Infix(
        "*", tree.Subscript(w.as_array(node, 0), (Verbatim("..."), tree.NEW_DIMENSION)), unit
    )


@in_other_words
def solve(w: "ArrayWriter", node: Node) -> Tree:
    a, b = node.parents
    left, right = w.operand(node, 0), w.operand(node, 1)
    if not node.attrs["left"]:
        turned = w.function_call("linalg.solve", Attribute(left, "mT"), Attribute(right, "mT"))
        return Attribute(turned, "mT")
    if b.ndim > 1 and b.shape == a.shape[:-1]:
        column = tree.Subscript(right, (Verbatim("..."), tree.NEW_DIMENSION))
        return tree.Subscript(
            w.function_call("linalg.solve", left, column), (Verbatim("..."), Number(0))
        )
    return w.function_call("linalg.solve", left, right)
