"""From graphs to index notation, according to the field `index` of each operator. Its values:

- a function `(lower, i, *inputs, **attrs)`, where i has one place for each dimension of the output:
  returns an expression for the element at i, or a node that has the same element at i, or None if
  there is neither; it may use the methods of `lower`
- "sum", "mean", "sum_to_size", "put_at": as the operators of these names; "reshape": the same
  elements in row-major order
- "matmul", "einsum", or an equation of einsum
- None: an elementwise operator becomes arithmetic or a Function of elements; an operator that is
  defined by others (`expand`) is lowered through its expansion; any other operator is opaque, which
  means that its element is written as its formula with an index, such as f(x)[i]

A place is the index of an element along one dimension, as an expression: `i`, `i+1`, `y[i]` (see
places.py). Places are simplified; arithmetic is not. Guards against invalid values may be omitted:
see unguarded() in lowering_primitives.py.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from math import nan
from typing import Any, NamedTuple

from ...graphs import OPS, Node, shapes
from ...lazy import np
from ...operators.indexing import full_index
from ...operators.leaves import Array
from . import places
from .expressions import (
    MINUS,
    ONE,
    ZERO,
    Element,
    Expr,
    Function,
    Number,
    Power,
    Product,
    Sum,
    TooLong,
    Total,
    delta,
    divided,
    product_of,
)
from .lowering_primitives import LoweringPrimitives
from .places import Place

WRITTEN = ("[", "tensor(")  # prefixes of array literals
TRUE_AT = "nonzero({})"  # the text of the indices of a mask's True elements
MOST_NODES, DEEPEST = 600, 80  # lowered elements, and the depth of nested nodes

ARITHMETIC: dict[str, Callable[..., Expr]] = {
    "{0} + {1}": lambda a, b: Total((a, b)),
    "{0} - {1}": lambda a, b: Total((a, Product((MINUS, b)))),
    "{0} * {1}": lambda a, b: Product((a, b)),
    "{0} / {1}": divided,
    "{0} ** {1}": Power,
    "-{0}": lambda a: Product((MINUS, a)),
}


class IndexArray(NamedTuple):
    """A one-dimensional integer array in an index: the vector `node` if `column` is (), or column
    d of the matrix `node` if `column` is (d,).
    """

    node: Node
    column: tuple[int, ...]


class Lowering(LoweringPrimitives):
    """Lowers nodes to expressions.

    `names` are the nodes that become elements: inputs, the seed and named nodes. `values`
    returns the array of an integer or boolean node, or None if it is not known; without `values`,
    no such array is known. `opaque` collects nodes without index notation.
    """

    def __init__(self, names: Mapping[Node, str], values: Callable[[Node], Any] | None = None):
        self.names, self.values, self.remaining, self.depth = names, values, MOST_NODES, 0
        self.definitions = dict(_definitions(names))
        self.sizes: dict[str, int] = {}
        self.opaque: dict[Node, None] = {}
        self.index_nodes: dict[tuple[str, bytes], Node] = {}

    def __call__(self, node: Node, at: Sequence[Place]) -> Expr:
        """The element of a node at a place for each of its dimensions. Raises TooLong."""
        self.remaining, self.depth = self.remaining - 1, self.depth + 1
        if self.remaining < 0 or self.depth > DEEPEST:
            raise TooLong
        try:
            return self._lowered(
                node, tuple(0 if n == 1 else p for p, n in zip(at, node.shape, strict=True))
            )
        finally:
            self.depth -= 1

    def _lowered(self, node: Node, at: tuple[Place, ...]) -> Expr:
        if node in self.names or node in self.definitions:
            return Element(self.definitions.get(node, node), at)
        known = self._known(node)
        if known is not None:
            return known
        mask = (
            node.attrs["data"].node if node.op is OPS["tensor"] and node.dtype == "bool" else None
        )
        if mask is not None:  # a mask by which the program indexes: x > 0 in x[x > 0]
            return self._as_condition(mask, at)
        op = node.op
        if op.family == "elementwise" and op.index is None:
            return self._elementwise(self._of_argument(node), at)
        if callable(op.index):
            return self._by_function(node, at)
        if op.index is not None:
            form = FORMS.get(op.index)
            return form(self, node, at) if form else self._einsum(node, at, op.index)
        return self._expanded(node, at) if op.expand is not None else self.element(node, at)

    def _as_condition(self, mask: Node, at: tuple[Place, ...]) -> Expr:
        """A mask as a condition on elements, written in the same way for all values of the inputs:
        x < -1 in the mask (x > 0) | (x < -1) is written even if no element is less than -1.
        """
        without_values = copy(self)
        without_values.values = None
        return without_values(mask, at)

    def _of_argument(self, node: Node) -> Node:
        """The node x > 0 for relu(x) > 0, and x ≤ 0 for relu(x) ≤ 0, unless relu(x) has a name;
        other nodes unchanged.
        """
        if node.op.name not in ("gt", "le") or node.parents[0].op.name != "relu":
            return node
        output, bound = node.parents
        is_zero = bound.op.name == "constant" and bound.attrs["value"] == 0
        return (
            node.with_inputs((*output.parents, bound))
            if is_zero and output not in self.names
            else node
        )

    def _known(self, node: Node) -> Expr | None:
        """The number that all elements of a constant, a tensor with data, or an integer or boolean
        node with known values equal; None if they differ or are not known.
        """
        if node.op.name == "constant":
            return Number(node.attrs["value"])
        if node.op.family == "leaf" and "data" in node.attrs:
            array = node.attrs["data"].value
        elif node.dtype != "float" and self.values is not None and node.op.family != "leaf":
            array = self.values(node)
        else:
            return None
        if array is None or not array.size or (array != array.flat[0]).any():
            return None
        return Number(array.flat[0].item())

    def arange_place(self, e: Expr) -> Place | None:
        """The place that an element of an arange with step 1 or -1 equals, such as i for
        arange(3)[i]; None for other elements, also for those of tensors that have a name or are
        written as a list.
        """
        if not isinstance(e, Element) or e.node in self.names:
            return None
        data = e.node.attrs.get("data")
        if data is None:
            array = None if self.values is None else self.values(e.node)
        else:
            is_written = data.text.isidentifier() or data.text.startswith(WRITTEN)
            array = None if is_written else data.value
        if array is None or array.ndim != 1 or len(array) < 2:
            return None
        start, step = int(array[0]), int(array[1] - array[0])
        is_arange = abs(step) == 1 and np.array_equal(array, start + step * np.arange(len(array)))
        return places.plus(start, e.places[0], step) if is_arange else None

    # ---- operators -------------------------------------------------------------------------------

    def element(self, node: Node, at: Sequence[Place]) -> Expr:
        """An element of a node that is not lowered further."""
        if node.op.family != "leaf" and not node.op.shape_only:
            self.opaque[node] = None
        return Element(node, tuple(at))

    def _elementwise(self, node: Node, at: tuple[Place, ...]) -> Expr:
        args = tuple(self.of(x, at) for x in node.parents)
        form = ARITHMETIC.get(node.op.spelling or "")
        if form is not None:
            return form(*args)
        in_torch = node.op.in_torch(node)  # an equal node, if PyTorch does not have the operator
        if in_torch is not None:
            return self.of(in_torch, at)
        if len(args) < len(node.inputs):  # an omitted optional input: clamp(x, max=1)
            return self.element(node, at)
        return Function(node.op, args, tuple(node.attrs.items()))

    def _by_function(self, node: Node, at: tuple[Place, ...]) -> Expr:
        result = node.op.index(self, at, *node.inputs, **node.attrs)
        if isinstance(result, Node):
            return self(result, at)
        return self.element(node, at) if result is None else result

    def _expanded(self, node: Node, at: tuple[Place, ...]) -> Expr:
        """The lowered expansion of a node; a node with opaque nodes in it is opaque itself."""
        outside, self.opaque = self.opaque, {}
        try:
            lowered = self(node.op.expanded(node), at)
            is_opaque = bool(self.opaque)
        finally:
            self.opaque = outside
        return self.element(node, at) if is_opaque else lowered

    # ---- forms -----------------------------------------------------------------------------------

    def _reshape(self, node: Node, at: tuple[Place, ...]) -> Expr:
        (x,) = node.parents
        if not node.numel:
            return ZERO
        nontrivial = [(p, n) for p, n in zip(at, node.shape) if n != 1]
        if [n for _, n in nontrivial] == [n for n in x.shape if n != 1]:
            rest = iter([p for p, _ in nontrivial])
            return self(x, [0 if n == 1 else next(rest) for n in x.shape])
        return self(x, self.split(at, node.shape, x.shape))

    def _sum(self, node: Node, at: tuple[Place, ...]) -> Expr:
        (x,) = node.parents
        over = shapes.axes(node.attrs["dim"], x.ndim)
        rest = iter([p for d, p in enumerate(at) if d not in over] if node.attrs["keepdim"] else at)
        return self._over_axes(x, [None if d in over else next(rest) for d in range(x.ndim)])

    def _over_axes(self, x: Node, at: Sequence[Place | None]) -> Expr:
        """The sum over the dimensions whose place is None."""
        sums: dict[str, int] = {}
        full = [self._bound(sums, n) if p is None else p for p, n in zip(at, x.shape, strict=True)]
        return _summed(self(x, full), reversed(sums.items()))

    def _mean(self, node: Node, at: tuple[Place, ...]) -> Expr:
        (x,) = node.parents
        axes = shapes.axes(node.attrs["dim"], x.ndim)
        if 0 in [x.shape[d] for d in axes]:
            return Number(nan)
        count = self.count(x, axes)
        return divided(self._sum(node, at), count) if count != ONE else self._sum(node, at)

    def _sum_to_size(self, node: Node, at: tuple[Place, ...]) -> Expr:
        (x,) = node.parents
        lead = x.ndim - node.ndim
        full = [None if n == 1 != x.shape[lead + d] else at[d] for d, n in enumerate(node.shape)]
        return self._over_axes(x, [None] * lead + full)

    def _matmul(self, node: Node, at: tuple[Place, ...]) -> Expr:
        a, b = node.parents
        left, right = ("...ik" if a.ndim > 1 else "k"), ("...kj" if b.ndim > 1 else "k")
        dots = "..." if max(a.ndim, b.ndim) > 2 else ""
        out = dots + ("i" if a.ndim > 1 else "") + ("j" if b.ndim > 1 else "")
        return self._einsum(node, at, f"{left},{right}->{out}")

    def _einsum_attribute(self, node: Node, at: tuple[Place, ...]) -> Expr:
        from ...operators.contractions import spelled_out

        left, right = spelled_out(node.attrs["equation"], [i.ndim for i in node.parents])
        return self._einsum(node, at, ",".join(left) + "->" + right)

    def _einsum(self, node: Node, at: tuple[Place, ...], equation: str) -> Expr:
        """A product of elements, summed over the letters that are not on the right side."""
        left, _, right = equation.partition("->")
        operands = left.split(",")
        place_of = dict(_einsum_items(right, at))
        sizes: dict[str, int] = {}
        for term, x in zip(operands, node.parents, strict=True):
            for key, n in _einsum_items(term, x.shape):
                sizes[key] = sizes.get(key, 1) if n == 1 else n  # 1 is broadcast, also to 0
        sums: dict[str, int] = {}
        place_of |= {key: self._bound(sums, n) for key, n in sizes.items() if key not in place_of}
        factors = []
        for term, x in zip(operands, node.parents, strict=True):
            factors.append(self(x, [place_of[key] for key, _ in _einsum_items(term, x.shape)]))
        return _summed(product_of(factors), reversed(sums.items()))

    def _put_at(self, node: Node, at: tuple[Place, ...]) -> Expr:
        """An element of a tensor of zeros with v added at an index: an element of v times deltas
        and bounds, summed over index arrays and over slices with a step.
        """
        (v,) = node.parents
        items = self._items(node.attrs["index"], node.shape)
        if items is None:
            return self.element(node, at)
        if not v.numel:
            return ZERO
        factors: list[Expr] = []
        source: list[Place] = []
        sums: dict[str, int] = {}
        shared_place: Place | None = None  # the place in index arrays, which are broadcast together
        targets = iter(zip(at, node.shape, strict=True))
        for item in items:
            if item is None:
                source.append(0)
                continue
            place, size = next(targets)
            if isinstance(item, int):
                factors.append(delta(place, item % size))
            elif isinstance(item, IndexArray):
                if not item.node.numel:
                    return ZERO
                if shared_place is None:
                    shared_place = self._bound(sums, item.node.shape[0])
                    source.append(shared_place)
                picked = self.picked(item.node, (shared_place, *item.column), size)
                factors.append(delta(place, picked))
            elif positions := range(*item.indices(size)):
                factor, place_in_v = self._factor_and_index(positions, place, sums)
                factors.append(factor)
                source.append(place_in_v)
            else:
                return ZERO
        leading = [0] * (v.ndim - len(source))  # leading dimensions of size 1, which put_at allows
        return _summed(Product((*factors, self.of(v, leading + source))), sums.items())

    def _factor_and_index(
        self, positions: range, place: Place, sums: dict[str, int]
    ) -> tuple[Expr, Place]:
        """A factor, and an index into v. For consecutive positions, the factor is the bound that
        `place` is among them. Otherwise it is a delta of `place` and the position numbered by a new
        letter, which is added to `sums`.
        """
        start, step, count = positions.start, positions.step, len(positions)
        if step == 1 and count > 1:
            return self.within(place, start, count), places.plus(place, -start)
        among = self._bound(sums, count)
        return delta(place, places.plus(start, among, step)), among

    def _bound(self, sums: dict[str, int], size: int) -> Place:
        """A new letter, which is added to `sums` with its size; 0 for size 1."""
        if size == 1:
            return 0
        letter = self.fresh(size)
        sums[letter] = size
        return letter

    def getitem(self, at: Sequence[Place], x: Node, index: tuple) -> Expr | None:
        """An element of x[index]; None unless index arrays are one-dimensional, of one length, and
        adjacent.
        """
        items = self._items(index, x.shape)
        if items is None:
            return None
        remaining_places, sizes = iter(at), iter(x.shape)
        out: list[Place] = []
        shared_place: Place | None = None
        for item in items:
            if item is None:
                next(remaining_places)
                continue
            size = next(sizes)
            if isinstance(item, int):
                out.append(item % size)
            elif isinstance(item, IndexArray):
                shared_place = next(remaining_places) if shared_place is None else shared_place
                out.append(self.picked(item.node, (shared_place, *item.column), size))
            else:
                start, _, step = item.indices(size)
                out.append(places.plus(start, next(remaining_places), step))
        return self(x, out)

    def _items(self, index: tuple, shape: Sequence[int]) -> list | None:
        """The items of an index, one for every dimension, with arrays as IndexArray; None unless
        these are one-dimensional, of one length, and adjacent.
        """
        sizes, result = iter(shape), []
        for item in full_index(index, len(shape)):
            if isinstance(item, Array | tuple):
                listed = self._index_arrays(item, sizes)
                if listed is None:
                    return None
                result += listed
            else:
                result.append(item)
                if item is not None:
                    next(sizes, 1)
        arrays = [k for k, item in enumerate(result) if isinstance(item, IndexArray)]
        counts = {result[k].node.shape[0] for k in arrays}
        adjacent = arrays == list(range(min(arrays, default=0), max(arrays, default=-1) + 1))
        return result if adjacent and len(counts) <= 1 else None

    def _index_arrays(self, item: Any, sizes: Iterator[int]) -> "list[IndexArray] | None":
        """The index arrays of a mask, one for each of its dimensions, or of a one-dimensional
        integer array; None for other arrays.
        """
        array = np.asarray(item.value if isinstance(item, Array) else item)
        text = item.text if isinstance(item, Array) else str(list(item))
        if array.dtype.kind == "b" and array.ndim:
            for _ in range(array.ndim):
                next(sizes)
            places = self._index_node(np.argwhere(array), TRUE_AT.format(text))
            return [IndexArray(places, (d,)) for d in range(array.ndim)]
        if array.ndim != 1 or array.dtype.kind not in "iu":
            return None
        return [IndexArray(self._index_node(array % next(sizes), text), ())]

    def _index_node(self, array: Any, text: str) -> Node:
        """The node of an index array: one node for all equal arrays with the same text."""
        key = (text, array.tobytes())
        if key not in self.index_nodes:
            self.index_nodes[key] = OPS["tensor"](data=Array(array, text))
        return self.index_nodes[key]


def _summed(body: Expr, sums: Iterable[tuple[str, int]]) -> Expr:
    """The sum of body over letters, with their sizes, the innermost first."""
    for letter, size in sums:
        body = Sum(letter, size, body)
    return body


def indexing_mask(text: str) -> str | None:
    """The text of the mask m, if `text` is nonzero(m); otherwise None."""
    start, end = TRUE_AT.split("{}")
    inside = text.removeprefix(start).removesuffix(end)
    return inside if text == TRUE_AT.format(inside) else None


def holds_true_places(node: Node) -> bool:
    """Whether a node holds the indices of a mask's True elements."""
    data = node.attrs["data"] if node.op is OPS["tensor"] else None
    return isinstance(data, Array) and indexing_mask(data.text) is not None


def _definitions(names: Iterable[Node]) -> Iterator[tuple[Node, Node]]:
    """Yield (expansion, node) for named nodes of composite operators: derivative rules may use the
    expansion, which is then written with the name of the node.
    """
    for node in names:
        inner = node
        # not expansions with temporary arrays (`workspace`), which may be large
        while inner.op.expand is not None and inner.op.workspace is None:
            inner = inner.op.expanded(inner)
            if inner.parents and inner not in names:
                yield inner, node


def _einsum_items(term: str, items: Sequence) -> list[tuple[str, Any]]:
    """The letters of an einsum term, each with its item; dimensions under an ellipsis are numbered
    from the last.
    """
    head, result, tail = term.partition("...")
    if not result:
        return list(zip(term, items, strict=True))
    middle = items[len(head) : len(items) - len(tail)]
    dots = [(f".{len(middle) - k}", item) for k, item in enumerate(middle)]
    return [*zip(head, items), *dots, *zip(tail, items[len(items) - len(tail) :])]


FORMS: dict[str, Callable[[Lowering, Node, tuple[Place, ...]], Expr]] = {
    "sum": Lowering._sum,
    "mean": Lowering._mean,
    "sum_to_size": Lowering._sum_to_size,
    "reshape": Lowering._reshape,
    "matmul": Lowering._matmul,
    "einsum": Lowering._einsum_attribute,
    "put_at": Lowering._put_at,
}
