"""A graph as code of NumPy, under `import numpy as np`, or JAX.

An operator is written by a template, the field `numpy` or `jax` of its definition, such as
"np.exp". Operators for which a template is not enough have a function in EQUIVALENTS.
"""

import ast
import re
from collections.abc import Mapping
from functools import lru_cache
from math import isfinite, isnan
from typing import Any

from ...errors import GradcliError
from ...graphs import OPS, Node
from ...graphs.shapes import axes, axis, numel
from ...operators.indexing import full_index, index_text, is_array, is_mask
from ...operators.leaves import Array
from ...operators.shaping import summed_axes
from .. import tree
from ..formulas.formula import IDIOMS, CodeWriter, GenericSizes, Idiom, register_in, spread
from ..formulas.rules.products import constant_value
from ..formulas.spelling import spelled
from ..tree import Attribute, Call, Infix, Listing, Method, Name, Number, Tree, Verbatim

OMITTED = (None, False)  # values of arguments that are omitted
MOST_NUMBERS = 1000  # most numbers of a tensor that is written out
SIMPLE = (
    ast.Compare, ast.BinOp, ast.UnaryOp, ast.Constant, ast.expr_context, ast.cmpop, ast.operator,
    ast.unaryop,
)  # fmt: skip


EQUIVALENTS: dict[str, Idiom] = {name: IDIOMS[name] for name in ("input", "constant")}
equivalent = register_in(EQUIVALENTS)


class ArrayWriter(CodeWriter):
    """Writes formulas as NumPy code."""

    title, module, equivalents = "NumPy", "np", EQUIVALENTS

    def __init__(self, names: Mapping[Node, Name], generic_sizes: GenericSizes | None = None):
        super().__init__(names, generic_sizes)
        self.called = tree.words_in_use(names.values())
        self.helpers: dict[str, str] = {}  # by name: source of helper functions that formulas call

    def template(self, node: Node) -> str | None:
        """The template of an operation in the library, from its operator's definition; or None."""
        text = node.op.numpy
        return text(**node.attrs) if callable(text) else text

    def has_name(self, node: Node) -> bool:
        """Whether the library has a name for an operation."""
        return bool(self.template(node))

    def mentions(self, node: Node) -> tuple[int, ...]:
        """How often the text of a node contains each of its sources."""
        template = None if node.op.name in EQUIVALENTS else self.template(node)
        if not template or "{" not in template or node.op.variadic or self.by_expansion(node):
            return super().mentions(node)
        return tuple(template.count(f"{{{k}}}") for k in range(len(node.inputs)))

    def by_name(self, node: Node) -> Tree:
        """The formula of a node. Raises GradcliError if the library has no name for it."""
        template = self.template(node)
        if not template:
            raise self.refusal(node)
        return self._call(node, template)

    def refusal(self, node: Node, of: str = "") -> GradcliError:
        """The error for a node that the library does not support; `of` completes its message."""
        return GradcliError(
            "unsupported",
            f"{self.title} has no function for {node.op.name}{of}",
            span=node.span,
            hint="--target torch can express every operator",
        )

    def _call(self, node: Node, template: str) -> Tree:
        if "{" not in template:
            template += f"({', '.join(f'{{{k}}}' for k in range(len(node.inputs)))})"
        holes: dict[str, Tree | None] = {
            str(k): None if i is None else self.operand(node, k) for k, i in enumerate(node.inputs)
        }
        if template.startswith("{0}.") and node.inputs:
            holes["0"] = self.as_array(node, 0)
        if node.op.variadic:
            operands = tuple(self.operand(node, k) for k in range(len(node.inputs)))
            holes[node.op.inputs[0]] = Listing(operands, "[]")
        along = "{dim}" in template and not node.op.variadic and node.op.family != "reduction"
        if along and not node.parents[0].ndim:
            raise self.refusal(node, " of a single number")
        for name, value in node.attrs.items():
            usual = f"{{{name}?}}" in template and value == node.op.attributes[name]
            argument = self._dims(node) if name == "dim" else value
            holes[name] = (
                None if usual or any(argument is v for v in OMITTED) else self.plain(argument)
            )
        return spelled(template.replace("?}", "}"), holes)

    @staticmethod
    def _dims(node: Node) -> Any:
        """The argument `axis`: None for a full reduction, an int for a single dimension."""
        dim = node.attrs["dim"] if node.parents[0].ndim else None
        if not isinstance(dim, tuple):
            return dim
        return (dim[0] if len(dim) == 1 else dim) if dim else None

    def takes_no_mask(self, node: Node, place: int) -> bool:
        """Whether an operand must be converted from a mask to floats. NumPy computes a function
        whose operands are all masks in half precision, or raises an error.
        """
        if super().takes_no_mask(node, place):
            return True
        source = node.inputs[place]
        if source is None or source.dtype != "bool":
            return False
        numbers = [i for k, i in enumerate(node.inputs) if i and not node.op.is_integer_input(k)]
        short = node.dtype == "float" and all(i.dtype == "bool" for i in numbers)
        return short and re.search(r"\b(np|jnp|jax|scipy)\.", self.template(node) or "") is not None

    def in_numbers(self, mask: Node) -> Tree:
        """A mask converted to floats."""
        return Method(self.trees[mask], "astype", (Verbatim("float"),))

    def as_array(self, node: Node, place: int) -> Tree:
        """An operand; a Python number is converted to an array."""
        written = self.operand(node, place)
        number = node.inputs[place] in self.numbers
        return self.function_call("array", written) if number else written

    def library(self, name: str) -> str:
        """The library's function of this name."""
        return f"{self.module}.{name}"

    def function_call(self, name: str, *args: Tree, **named: Tree) -> Tree:
        """A call of one of the library's functions."""
        return Call(self.library(name), args, tuple(named.items()))

    def index(self, index: tuple) -> str:
        """An index in the library's syntax, between brackets."""
        return ", ".join(map(self.index_item, index))

    def index_item(self, item: Any) -> str:
        """One item of an index; lists are unchanged."""
        if isinstance(item, Array):
            if item.node is not None:
                return tree.text(self.trees[item.node])
            plain = item.text.startswith("[")
            return item.text if plain else array_text(item.value, self.module)
        return index_text((item,), self.place)

    def numbers_of(self, data: Array) -> Tree:
        """An array of numbers: by its name if it has one, otherwise written out."""
        if self._known(data.text):
            return Verbatim(data.text)
        check_written(data)
        return Verbatim(array_text(data.value, self.module))

    def _known(self, text: str) -> bool:
        """Whether a text is a name that the code defines, or a comparison of such names."""
        names = names_in(text)
        return bool(names) and names <= self.called


class JaxWriter(ArrayWriter):
    """Writes formulas as JAX code."""

    title, module = "JAX", "jnp"

    def template(self, node: Node) -> str | None:
        """JAX's spelling if there is one, else NumPy's with jax.numpy."""
        if node.op.jax is not None:
            return node.op.jax
        text = super().template(node)
        return text and _in_jax(text)

    def index_item(self, item: Any) -> str:
        """One item of an index; JAX needs arrays where NumPy accepts lists."""
        text = super().index_item(item)
        return f"jnp.array({text})" if text.startswith("[") else text


@lru_cache(maxsize=1_000)
def _in_jax(text: str) -> str:
    """A spelling of NumPy or SciPy with the modules of JAX."""
    return re.sub(r"\bnp\.", "jnp.", re.sub(r"\bscipy\.", "jax.scipy.", text))


# ---- numbers -------------------------------------------------------------------------------------


def check_written(data: Array) -> None:
    """Raise GradcliError if an array has too many numbers to be written out."""
    if data.value.size > MOST_NUMBERS:
        raise GradcliError(
            "unsupported",
            f"{data.value.size:,} numbers would have to be written out: {data.text}",
            hint=f"up to {MOST_NUMBERS:,} are",
        )


def array_text(value: Any, module: str) -> str:
    """An array as a call of np.array or jnp.array."""
    if value.size == 0:
        return f"{module}.zeros({value.shape})"
    return f"{module}.array({_nested(value.tolist(), module)})"


def _nested(value: Any, module: str) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_nested(v, module) for v in value)}]"
    if not isinstance(value, float):
        return str(value)
    if not isfinite(value):
        return f"{module}.nan" if isnan(value) else f"{'-' * (value < 0)}{module}.inf"
    return repr(value)


def expression(
    node: Node, names: Mapping[Node, Name], writer: type[ArrayWriter] = JaxWriter
) -> str:
    """`node` as an expression of the nodes in `names`."""
    return tree.text(writer(names).tree(node))


def names_in(text: str) -> set[str]:
    """The names in a comparison of names and numbers; empty for other texts."""
    if text.startswith("["):  # a list, which may be long
        return set()
    try:
        parts = list(ast.walk(ast.parse(text, mode="eval").body))
    except SyntaxError:
        return set()
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return names if all(isinstance(part, (ast.Name, *SIMPLE)) for part in parts) else set()


# ---- operators without a template ----------------------------------------------------------------
# Creation, indexing and reshaping. Sizes are written as sizes of named arrays where possible.


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


def in_jax(w: "ArrayWriter") -> bool:
    """Whether the code is JAX, not NumPy."""
    return w.module == "jnp"


# ---- leaves --------------------------------------------------------------------------------------


@equivalent
def tensor(w: "ArrayWriter", node: Node) -> Tree:
    return w.numbers_of(node.attrs["data"])


@register_in(EQUIVALENTS, "zeros", "ones")
def _filled(w: "ArrayWriter", node: Node) -> Tree:
    return w.function_call(node.op.name, w.attribute(node, "size"))


@equivalent
def full(w: "ArrayWriter", node: Node) -> Tree:
    return w.function_call("full", w.attribute(node, "size"), w.plain(node.attrs["fill_value"]))


@equivalent
def eye(w: "ArrayWriter", node: Node) -> Tree:
    n, m = node.shape
    typed = node.span is not None
    sizes = [Number(n) if typed else w.size(n, -2), Number(m) if typed else w.size(m, -1)]
    return w.function_call("eye", *sizes[: 1 if n == m else 2])


@equivalent
def arange(w: "ArrayWriter", node: Node) -> Tree:
    start, end, step = node.attrs.values()
    if node.span is None and (start, step) == (0, 1):
        return w.function_call("arange", w.size(end, -1))
    arguments = [end] if (start, step) == (0, 1) else [start, end, step][: 2 + (step != 1)]
    return w.function_call("arange", *map(w.plain, arguments))


@equivalent
def linspace(w: "ArrayWriter", node: Node) -> Tree:
    return w.function_call("linspace", *map(w.plain, node.attrs.values()))


@equivalent
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
    return tree.product(result)


@equivalent
def detach(w: "ArrayWriter", node: Node) -> Tree:
    base = w.operand(node, 0)
    return Call("jax.lax.stop_gradient", (base,)) if in_jax(w) else base


# ---- shapes --------------------------------------------------------------------------------------


@equivalent
def reshape(w: "ArrayWriter", node: Node) -> Tree:
    if node.parents[0] in w.numbers:
        return w.function_call("full", w.attribute(node, "shape"), w.operand(node, 0))
    sizes = w.attribute(node, "shape")
    if node.span is None and node.ndim == 1 and not isinstance(sizes, Attribute):
        return Method(w.operand(node, 0), "flatten")
    return Method(w.operand(node, 0), "reshape", spread(sizes))


@equivalent
def squeeze(w: "ArrayWriter", node: Node) -> Tree:
    (x,) = node.parents
    over = tuple(d for d in axes(node.attrs["dim"], x.ndim) if x.shape[d] == 1) if x.ndim else ()
    if node.attrs["dim"] == () or not over:
        return w.operand(node, 0)
    return Method(w.operand(node, 0), "squeeze", (w.plain(over[0] if len(over) == 1 else over),))


@equivalent
def unsqueeze(w: "ArrayWriter", node: Node) -> Tree:
    """x[None], x[:, None] or x[..., None] if the dimension is the first or last, otherwise
    np.expand_dims().
    """
    place = axis(node.attrs["dim"], node.ndim)
    if place in (0, node.ndim - 1) and node.ndim > 1:
        ahead = [":"] * place if place < 2 else ["..."]
        return tree.Subscript(w.as_array(node, 0), (*map(Verbatim, ahead), tree.NEW_DIMENSION))
    return w.function_call("expand_dims", w.operand(node, 0), Number(node.attrs["dim"]))


@equivalent
def expand(w: "ArrayWriter", node: Node) -> Tree:
    shape = w.attribute(node, "shape")
    if -1 in node.attrs["shape"]:
        shape = w.plain(node.shape)
    name = "full" if node.parents[0] in w.numbers else "broadcast_to"
    args = (shape, w.operand(node, 0)) if name == "full" else (w.operand(node, 0), shape)
    return w.function_call(name, *args)


@equivalent
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


@equivalent
def transpose(w: "ArrayWriter", node: Node) -> Tree:
    (x,) = node.parents
    base = w.operand(node, 0)
    if not x.ndim:
        return base
    first, second = (axis(d, x.ndim) for d in node.attrs.values())
    if {first, second} == {x.ndim - 2, x.ndim - 1}:
        return Attribute(base, "T" if x.ndim == 2 else "mT")
    return Method(base, "swapaxes", tuple(map(w.plain, node.attrs.values())))


@equivalent
def permute(w: "ArrayWriter", node: Node) -> Tree:
    dims = node.attrs["dims"]
    if dims == tuple(reversed(range(node.ndim))):
        return Attribute(w.operand(node, 0), "T")
    return Method(w.operand(node, 0), "transpose", tuple(map(w.plain, dims)))


@equivalent
def clamp(w: "ArrayWriter", node: Node) -> Tree:
    bounds = {k: w.operand(node, k) for k in (1, 2) if node.inputs[k] is not None}
    if len(bounds) == 2:
        return w.function_call("clip", w.operand(node, 0), *bounds.values())
    ((place, bound),) = bounds.items()
    if in_jax(w):
        return w.function_call("clip", w.operand(node, 0), **{("min", "max")[place - 1]: bound})
    return w.function_call(("maximum", "minimum")[place - 1], w.operand(node, 0), bound)


@equivalent
def pinv(w: "ArrayWriter", node: Node) -> Tree:
    _, atol, rtol = node.inputs
    if atol is not None:
        raise w.refusal(node, " with atol")
    named = {} if rtol is None else {"rtol": w.operand(node, 2)}
    named |= {"hermitian": Verbatim("True")} if node.attrs["hermitian"] else {}
    return w.function_call("linalg.pinv", w.operand(node, 0), **named)


@equivalent
def einsum(w: "ArrayWriter", node: Node) -> Tree:
    operands = (w.operand(node, k) for k in range(len(node.inputs)))
    return w.function_call("einsum", Verbatim(repr(node.attrs["equation"])), *operands)


@equivalent
def diag_embed(w: "ArrayWriter", node: Node) -> Tree:
    """x[..., None] * np.eye(n), for the last two dimensions and no offset."""
    (x,) = node.parents
    where = {name: value for name, value in node.attrs.items() if name != "offset"}
    first, second = (axis(d, node.ndim) for d in where.values())
    if node.attrs["offset"] or (first, second) != (node.ndim - 2, node.ndim - 1):
        raise w.refusal(node, ", but for the last two dimensions")
    unit = w.function_call("eye", w.size(x.shape[-1], -1))
    return Infix(
        "*", tree.Subscript(w.as_array(node, 0), (Verbatim("..."), tree.NEW_DIMENSION)), unit
    )


@equivalent
def solve(w: "ArrayWriter", node: Node) -> Tree:
    a, b = node.parents
    left, right = w.operand(node, 0), w.operand(node, 1)
    if not node.attrs["left"]:
        transposed = w.function_call("linalg.solve", Attribute(left, "mT"), Attribute(right, "mT"))
        return Attribute(transposed, "mT")
    if b.ndim > 1 and b.shape == a.shape[:-1]:
        column = tree.Subscript(right, (Verbatim("..."), tree.NEW_DIMENSION))
        return tree.Subscript(
            w.function_call("linalg.solve", left, column), (Verbatim("..."), Number(0))
        )
    return w.function_call("linalg.solve", left, right)


# ---- indexing and scattering ---------------------------------------------------------------------


@equivalent
def getitem(w: "ArrayWriter", node: Node) -> Tree:
    """x[index], or x[integers][arrays], because NumPy would treat integers as arrays."""
    shape, base = node.parents[0].shape, w.as_array(node, 0)
    index = w.trimmed(node.attrs["index"], shape)
    first, rest = _split_index(index, len(shape))
    if not first:
        return tree.Subscript(base, (Verbatim(w.index(index) or "()"),))
    return tree.Subscript(
        tree.Subscript(base, (Verbatim(w.index(first)),)), (Verbatim(w.index(rest)),)
    )


def _split_index(index: tuple, ndim: int) -> tuple[tuple, tuple]:
    """An index split into integers and arrays; the first part is empty if one step is enough."""
    if not any(map(is_array, index)) or not any(isinstance(i, int) for i in index):
        return (), index
    full, whole = full_index(index, ndim), slice(None)
    basic: list[Any] = []
    later: list[Any] = []
    for item in full:
        if is_array(item):
            basic += [whole] * (item.value.ndim if is_mask(item) else 1)
            later.append(item)
        else:
            basic.append(item)
            later += [] if isinstance(item, int) else [whole]
    return tuple(basic), tuple(later)


@equivalent
def put_at(w: "ArrayWriter", node: Node) -> Tree:
    index = w.trimmed(node.attrs["index"], node.shape)
    first, rest = _split_index(index, node.ndim)
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
    """An index as an argument: np.s_[0, 1:], or a single integer or list."""
    text = w.index(index)
    alone = len(index) == 1 and isinstance(index[0], int | tuple)
    return Verbatim(text if alone else f"np.s_[{text}]" if text else "()")


def _with_values_at(w: "ArrayWriter", node: Node, index: tuple) -> Tree:
    """x with src at an index."""
    x, src = w.as_array(node, 0), w.operand(node, 1)
    if in_jax(w):
        array = tree.text(w.function_call("asarray", x))
        return Method(Verbatim(f"{array}.at[{w.index(index)}]"), "set", (src,))
    w.helpers["put_over"] = PUT_OVER
    return Call("put_over", (x, _as_argument(w, index), src))


@equivalent
def select_scatter(w: "ArrayWriter", node: Node) -> Tree:
    whole = (slice(None),) * axis(node.attrs["dim"], node.ndim)
    return _with_values_at(w, node, (*whole, node.attrs["index"]))


@equivalent
def slice_scatter(w: "ArrayWriter", node: Node) -> Tree:
    dim, start, end, step = node.attrs.values()
    part = slice(start, end, None if step == 1 else step)
    return _with_values_at(w, node, (*(slice(None),) * axis(dim, node.ndim), part))


@equivalent
def diagonal_scatter(w: "ArrayWriter", node: Node) -> Tree:
    offset, *dims = node.attrs.values()
    if node.ndim != 2 or [axis(d, 2) for d in dims] != [0, 1]:
        raise w.refusal(node, ", but for matrices")
    w.helpers["put_diagonal"] = PUT_DIAGONAL_IN_JAX if in_jax(w) else PUT_DIAGONAL
    ones = constant_value(node.parents[1]) == 1  # a number is broadcast
    values = Number(1) if ones else w.operand(node, 1)
    at = (Number(offset),) if offset else ()
    return Call("put_diagonal", (w.as_array(node, 0), values, *at))


def _flat_indices(w: "ArrayWriter", node: Node) -> Tree:
    """The row-major flat indices of the output, in its shape."""
    count = w.function_call("arange", _count(w, node))
    return count if node.ndim == 1 else Method(count, "reshape", (w.attribute(node, "shape"),))


def _count(w: "ArrayWriter", node: Node) -> Tree:
    like = w.shapes.get(node.shape)
    return w.plain(numel(node.shape)) if like is None else Attribute(like, "size")


def _added_at(w: "ArrayWriter", node: Node, places: Tree) -> Tree:
    """The first input added into zeros at flat indices."""
    values, at = w.operand(node, 0), places
    if node.inputs[0] in w.numbers:
        values = w.function_call("full", Number(1), values)
    elif node.parents[0].ndim != 1:
        values = Method(values, "flatten")
    if node.parents[0].ndim != 1 or node.op.name == "overlap":
        at = Method(places, "flatten")
    sums = w.function_call("bincount", at, weights=values, minlength=_count(w, node))
    return sums if node.ndim == 1 else Method(sums, "reshape", (w.attribute(node, "shape"),))


@equivalent
def gather(w: "ArrayWriter", node: Node) -> Tree:
    x, index = node.parents
    if not x.ndim or not index.ndim:
        return w.function_call("take", w.operand(node, 0), w.operand(node, 1))
    base = _cut_to_index(w, w.operand(node, 0), x, index, node.attrs["dim"])
    return w.function_call(
        "take_along_axis", base, w.operand(node, 1), axis=Number(axis(node.attrs["dim"], x.ndim))
    )


def _cut_to_index(w: "ArrayWriter", base: Tree, x: Node, index: Node, dim: int) -> Tree:
    """x without the elements that a smaller index cannot select."""
    parts = [
        ":" if d == axis(dim, x.ndim) or n == x.shape[d] else f":{w.place(n)}"
        for d, n in enumerate(index.shape)
    ]
    return base if set(parts) == {":"} else tree.Subscript(base, (Verbatim(", ".join(parts)),))


@equivalent
def scatter_to(w: "ArrayWriter", node: Node) -> Tree:
    index = node.parents[1]
    if not node.ndim or not index.ndim:
        raise w.refusal(node, " of numbers")
    dim = axis(node.attrs["dim"], node.ndim)
    base = _cut_to_index(w, _flat_indices(w, node), node, index, dim)
    places = w.function_call("take_along_axis", base, w.operand(node, 1), axis=Number(dim))
    return _added_at(w, node, places)


@equivalent
def windows(w: "ArrayWriter", node: Node) -> Tree:
    return _windows(w, node, w.operand(node, 0), **node.attrs)


@equivalent
def overlap(w: "ArrayWriter", node: Node) -> Tree:
    stride, dilation = node.attrs["stride"], node.attrs["dilation"]
    kernel = node.parents[0].shape[-len(stride) :]
    return _added_at(w, node, _windows(w, node, _flat_indices(w, node), kernel, stride, dilation))


def _windows(
    w: "ArrayWriter", node: Node, base: Tree, kernel: Any, stride: Any, dilation: Any
) -> Tree:
    """The windows of a kernel, one for each of its positions."""
    if in_jax(w):
        return _indexed_windows(w, node, base, kernel, stride, dilation)
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


def _indexed_windows(
    w: "ArrayWriter", node: Node, base: Tree, kernel: Any, stride: Any, dilation: Any
) -> Tree:
    """The windows by indexing. Each dimension has an index array: the positions of the kernel plus
    the offsets of elements within the kernel.
    """
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
    """0, step, 2 * step, ... along dimension `place` of `ndim`."""
    shape = ", ".join("-1" if d == place else "1" for d in range(ndim))
    return f"jnp.arange({count}).reshape({shape})" + (f" * {step}" if step > 1 else "")
