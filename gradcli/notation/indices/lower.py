"""From graphs to index notation: what an operator's `index` means, a function for every form of it.

- a function `(lower, i, *inputs, **attrs)`: the element at place i, as an expression or a node made
  with the methods of Lowering; None where there is none to name
- "sum", "mean": of all along `dim`; "sum_to_size"; "reshape": the same elements, row by row;
  "put_at"
- "matmul", "einsum", or an equation of einsum
- none: an elementwise operator is a function, a composite is what it expands to, anything else is
  opaque: an element of its own, written as its formula with an index

Lowered expressions are exact: nothing is simplified here but places.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import nan
from typing import Any, NamedTuple

from ...graphs import OPS, Node, shapes
from ...lazy import np
from ...operators.contractions import spelled_out
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
from .lowering_primitives import Meanings
from .places import Place

WRITTEN = ("[", "tensor(")  # how a list begins whose numbers stand in the program
MOST_NODES, DEEPEST = 600, 80  # elements that are looked into, and nodes above one another

ARITHMETIC: dict[str, Callable[..., Expr]] = {
    "{0} + {1}": lambda a, b: Total((a, b)),
    "{0} - {1}": lambda a, b: Total((a, Product((MINUS, b)))),
    "{0} * {1}": lambda a, b: Product((a, b)),
    "{0} / {1}": divided,
    "{0} ** {1}": Power,
    "-{0}": lambda a: Product((MINUS, a)),
}


class Listed(NamedTuple):
    """Places in one dimension that an index lists: the rows of `node`, of which `column` is the
    one that counts where it has several.
    """

    node: Node
    column: tuple[int, ...]


class Lowering(Meanings):
    """Expressions of nodes.

    `names` are the nodes that stay elements: inputs, the seed, what the user gave a name. `values`
    may know the arrays of whole numbers and masks, which decide what is picked. `opaque` collects
    the nodes that nothing was known of.
    """

    def __init__(self, names: Mapping[Node, str], values: Callable[[Node], Any] | None = None):
        self.names, self.values, self.left, self.depth = names, values, MOST_NODES, 0
        self.meant = dict(_meanings(names))
        self.sizes: dict[str, int] = {}
        self.opaque: dict[Node, None] = {}
        self.lists: dict[tuple[str, bytes], Node] = {}

    def __call__(self, node: Node, at: Sequence[Place]) -> Expr:
        """The element of a node at a place for each of its dimensions. Raises TooLong."""
        self.left, self.depth = self.left - 1, self.depth + 1
        if self.left < 0 or self.depth > DEEPEST:
            raise TooLong
        try:
            return self._lowered(
                node, tuple(0 if n == 1 else p for p, n in zip(at, node.shape, strict=True))
            )
        finally:
            self.depth -= 1

    def _lowered(self, node: Node, at: tuple[Place, ...]) -> Expr:
        if node in self.names or node in self.meant:
            return Element(self.meant.get(node, node), at)
        known = self._known(node)
        if known is not None:
            return known
        op = node.op
        if op.family == "elementwise" and op.index is None:
            return self._elementwise(node, at)
        if callable(op.index):
            return self._by_function(node, at)
        if op.index is not None:
            form = FORMS.get(op.index)
            return form(self, node, at) if form else self._einsum(node, at, op.index)
        return self._expanded(node, at) if op.expand is not None else self.element(node, at)

    def _known(self, node: Node) -> Expr | None:
        """A number, or whole numbers and masks that are the same everywhere."""
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

    def counted(self, e: Expr) -> Place | None:
        """The place in a list that counts, as arange(3)[i] is i; None in one that has a name, or
        whose numbers somebody wrote.
        """
        if not isinstance(e, Element) or e.node in self.names:
            return None
        data = e.node.attrs.get("data")
        if data is None:
            array = None if self.values is None else self.values(e.node)
        else:
            given = data.text.isidentifier() or data.text.startswith(WRITTEN)
            array = None if given else data.value
        if array is None or array.ndim != 1 or len(array) < 2:
            return None
        start, step = int(array[0]), int(array[1] - array[0])
        counts = abs(step) == 1 and np.array_equal(array, start + step * np.arange(len(array)))
        return places.plus(start, e.places[0], step) if counts else None

    # ---- what operators say ----------------------------------------------------------------------

    def element(self, node: Node, at: Sequence[Place]) -> Expr:
        """An element of a node that is looked into no further."""
        if node.op.family != "leaf" and not node.op.shape_only:
            self.opaque[node] = None
        return Element(node, tuple(at))

    def _elementwise(self, node: Node, at: tuple[Place, ...]) -> Expr:
        args = tuple(self.of(x, at) for x in node.parents)
        form = ARITHMETIC.get(node.op.spelling or "")
        if form is not None:
            return form(*args)
        text = node.op.in_torch(node)  # in words that people know
        if text is not None:
            return self.of(text, at)
        if len(args) < len(node.inputs):  # an optional one left out: clamp(x, max=1)
            return self.element(node, at)
        return Function(node.op, args, tuple(node.attrs.items()))

    def _by_function(self, node: Node, at: tuple[Place, ...]) -> Expr:
        result = node.op.index(self, at, *node.inputs, **node.attrs)
        if isinstance(result, Node):
            return self(result, at)
        return self.element(node, at) if result is None else result

    def _expanded(self, node: Node, at: tuple[Place, ...]) -> Expr:
        """What the node is made of, unless that holds something opaque which has less of a name
        than the node.
        """
        before = dict(self.opaque)
        lowered = self(node.op.expanded(node), at)
        if len(self.opaque) == len(before):
            return lowered
        self.opaque = before
        return self.element(node, at)

    # ---- forms -----------------------------------------------------------------------------------

    def _reshape(self, node: Node, at: tuple[Place, ...]) -> Expr:
        (x,) = node.parents
        if not node.numel:
            return ZERO
        kept = [(p, n) for p, n in zip(at, node.shape) if n != 1]
        if [n for _, n in kept] == [n for n in x.shape if n != 1]:
            rest = iter([p for p, _ in kept])
            return self(x, [0 if n == 1 else next(rest) for n in x.shape])
        return self(x, self.split(at, node.shape, x.shape))

    def _sum(self, node: Node, at: tuple[Place, ...]) -> Expr:
        (x,) = node.parents
        over = shapes.axes(node.attrs["dim"], x.ndim)
        kept = iter([p for d, p in enumerate(at) if d not in over] if node.attrs["keepdim"] else at)
        return self._over_axes(x, [None if d in over else next(kept) for d in range(x.ndim)])

    def _over_axes(self, x: Node, at: list[Place | None]) -> Expr:
        """The sum over the dimensions where there is no place."""
        bound = [(d, self.fresh(x.shape[d])) for d, place in enumerate(at) if place is None]
        for d, letter in bound:
            at[d] = letter
        body = self(x, at)  # type: ignore[arg-type]
        for d, letter in reversed(bound):
            body = body if x.shape[d] == 1 else Sum(letter, x.shape[d], body)
        return body

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
        left, right = spelled_out(node.attrs["equation"], [i.ndim for i in node.parents])
        return self._einsum(node, at, ",".join(left) + "->" + right)

    def _einsum(self, node: Node, at: tuple[Place, ...], equation: str) -> Expr:
        """Products summed over the letters that the right side leaves out."""
        left, _, right = equation.partition("->")
        operands = left.split(",")
        where = dict(_spelled(right, at))
        sizes: dict[str, int] = {}
        for term, x in zip(operands, node.parents, strict=True):
            for key, n in _spelled(term, x.shape):
                sizes[key] = sizes.get(key, 1) if n == 1 else n  # of 0 too
        bound = {key: self.fresh(n) for key, n in sizes.items() if key not in where}
        where |= {key: 0 if sizes[key] == 1 else letter for key, letter in bound.items()}
        factors = []
        for term, x in zip(operands, node.parents, strict=True):
            factors.append(self(x, [where[key] for key, _ in _spelled(term, x.shape)]))
        body = product_of(factors)
        for key, letter in reversed(bound.items()):
            body = body if sizes[key] == 1 else Sum(letter, sizes[key], body)
        return body

    def _put_at(self, node: Node, at: tuple[Place, ...]) -> Expr:
        """v at its index in zeros: a sum over what an item of the index takes, of deltas."""
        (v,) = node.parents
        items = self._items(node.attrs["index"], node.shape)
        if items is None:
            return self.element(node, at)
        if not v.numel:
            return ZERO
        factors: list[Expr] = []
        source: list[Place] = []
        sums: dict[str, int] = {}
        together: Place | None = None  # the place in arrays, which are read side by side
        targets = iter(zip(at, node.shape, strict=True))
        for item in items:
            if item is None:
                source.append(0)
                continue
            place, size = next(targets)
            if isinstance(item, int):
                factors.append(delta(place, item % size))
            elif isinstance(item, Listed):
                if not item.node.numel:
                    return ZERO
                if together is None:
                    together = self._bound(sums, item.node.shape[0])
                    source.append(together)
                picked = self.picked(item.node, (together, *item.column), size)
                factors.append(delta(place, picked))
            else:
                start, stop, step = item.indices(size)
                count = len(range(start, stop, step))
                if not count:
                    return ZERO
                if step == 1 and count > 1:
                    factors.append(self.within(place, start, count))
                    source.append(places.plus(place, -start))
                else:
                    source.append(self._bound(sums, count))
                    factors.append(delta(place, places.plus(start, source[-1], step)))
        in_front = [0] * (v.ndim - len(source))  # dimensions of 1, which put_at lets pass
        expr: Expr = Product((*factors, self.of(v, in_front + source)))
        for letter, count in sums.items():
            expr = Sum(letter, count, expr)
        return expr

    def _bound(self, sums: dict[str, int], size: int) -> Place:
        if size == 1:
            return 0
        letter = self.fresh(size)
        sums[letter] = size
        return letter

    def taken(self, at: Sequence[Place], x: Node, index: tuple) -> Expr | None:
        """The element of x at place `at` of x[index]; None where arrays pick in another way than
        one list.
        """
        items = self._items(index, x.shape)
        if items is None:
            return None
        given, sizes = iter(at), iter(x.shape)
        out: list[Place] = []
        together: Place | None = None
        for item in items:
            if item is None:
                next(given)
                continue
            size = next(sizes)
            if isinstance(item, int):
                out.append(item % size)
            elif isinstance(item, Listed):
                together = next(given) if together is None else together
                out.append(self.picked(item.node, (together, *item.column), size))
            else:
                start, _, step = item.indices(size)
                out.append(places.plus(start, next(given), step))
        return self(x, out)

    def _items(self, index: tuple, shape: Sequence[int]) -> list | None:
        """One item for every dimension, lists of places as `Listed`; None where arrays are in
        another shape or apart.
        """
        sizes, result = iter(shape), []
        for item in full_index(index, len(shape)):
            if isinstance(item, Array | tuple):
                listed = self._listed(item, sizes)
                if listed is None:
                    return None
                result += listed
            else:
                result.append(item)
                if item is not None:
                    next(sizes, 1)
        where = [k for k, item in enumerate(result) if isinstance(item, Listed)]
        counts = {result[k].node.shape[0] for k in where}
        beside = where == list(range(min(where, default=0), max(where, default=-1) + 1))
        return result if beside and len(counts) <= 1 else None

    def _listed(self, item: Any, sizes: Iterator[int]) -> "list[Listed] | None":
        """What an array of an index picks of each dimension that it takes."""
        array = np.asarray(item.value if isinstance(item, Array) else item)
        text = item.text if isinstance(item, Array) else str(list(item))
        if array.dtype.kind == "b" and array.ndim:
            for _ in range(array.ndim):
                next(sizes)
            places = self._list(np.argwhere(array), f"nonzero({text})")
            return [Listed(places, (d,)) for d in range(array.ndim)]
        if array.ndim != 1 or array.dtype.kind not in "iu":
            return None
        return [Listed(self._list(array % next(sizes), text), ())]

    def _list(self, array: Any, text: str) -> Node:
        """A list of whole numbers as a node, the same one for the same list."""
        key = (text, array.tobytes())
        if key not in self.lists:
            self.lists[key] = OPS["tensor"](data=Array(array, text))
        return self.lists[key]


def _meanings(names: Iterable[Node]) -> Iterator[tuple[Node, Node]]:
    """What named nodes are made of, beside each: their rules speak of it."""
    for node in names:
        meant = node
        while meant.op.expand is not None and meant.op.workspace is None:  # it may be large
            meant = meant.op.expanded(meant)
            if meant.parents and meant not in names:
                yield meant, node


def _spelled(term: str, items: Sequence) -> list[tuple[str, Any]]:
    """The letters of an einsum term with what stands at them; dimensions under the dots are counted
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
