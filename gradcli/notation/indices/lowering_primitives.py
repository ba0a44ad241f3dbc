"""The methods of Lowering that functions in `index` fields use to define elements of operators.

A place is the index of an element along one dimension, as an expression: `i`, `i+1`, `y[i]` (see
places.py). `at` has one place for each dimension of a tensor.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import isfinite

from ...graphs import OPS, Node, shapes
from . import places
from .collect import Simplifier
from .expressions import (
    ZERO,
    Expr,
    Function,
    Number,
    Product,
    Relation,
    Sum,
    Total,
    delta,
    is_condition,
)
from .places import Linear, Picked, Place


class LoweringPrimitives(ABC):
    """The base class of Lowering. `sizes` maps letters to their sizes."""

    sizes: dict[str, int]

    @abstractmethod
    def __call__(self, node: Node, at: Sequence[Place]) -> Expr:
        """The element of a node at a place for each of its dimensions."""

    @abstractmethod
    def arange_place(self, e: Expr) -> Place | None:
        """The place that an element of an arange equals; None for other elements."""

    def fresh(self, size: int) -> str:
        """A new letter of this size."""
        letter = f"_{len(self.sizes)}"
        self.sizes[letter] = size
        return letter

    def of(self, x: Node, at: Sequence[Place]) -> Expr:
        """The element of x at `at`, the places in a shape that x is broadcast to."""
        return self(x, at[len(at) - x.ndim :])

    def number(self, value: float) -> Expr:
        """A number as an expression."""
        return Number(value)

    def count(self, x: Node, dims: Sequence[int]) -> Expr:
        """The number of elements of x along dimensions."""
        return Number(shapes.numel([x.shape[d] for d in dims]))

    def delta(self, a: Place, b: Place) -> Expr:
        """1 if a is b, otherwise 0."""
        return delta(a, b)

    def at_most(self, a: Place, b: Place) -> Expr:
        """1 if a ≤ b, otherwise 0."""
        return Relation("<=", a, b)

    def plus(self, a: Place, b: Place, times: int = 1) -> Place:
        """a + times * b."""
        return places.plus(a, b, times)

    def product(self, *factors: Expr) -> Expr:
        """The product of factors."""
        return Product(factors)

    def total(self, *terms: Expr) -> Expr:
        """The sum of terms."""
        return Total(terms)

    def within(self, place: Place, start: int, size: int) -> Expr:
        """1 if start ≤ place < start + size, otherwise 0."""
        return Product((Relation("<=", start, place), Relation("<=", place, start + size - 1)))

    def truncated(self, e: Expr) -> Expr:
        """A number truncated to an integer; conditions are unchanged."""
        return e if is_condition(e) else Function(OPS["long"], (e,))

    def over(self, size: int, body: Callable[[Place], Expr]) -> Expr:
        """The sum of body(letter) for a letter over `size`."""
        if size == 1:
            return body(0)
        letter = self.fresh(size)
        return Sum(letter, size, body(letter))

    def choice(self, condition: Expr, a: Expr, b: Expr) -> Expr:
        """`a` if the condition holds, otherwise b."""
        if any(isinstance(x, Number) and not isfinite(x.value) for x in (a, b)):
            return Function(OPS["where"], (condition, a, b))
        return Total(
            (Product((condition, a)), Product((Function(OPS["logical_not"], (condition,)), b)))
        )

    def unguarded(self, odd: Node, value: Node, instead: Node, at: Sequence[Place]) -> Expr:
        """The element of `value`. The exception, `instead` where `odd` holds, is not written."""
        return self.of(value, at)

    def picked(self, index: Node, at: Sequence[Place], size: int) -> Place:
        """An element of an integer tensor as a place in a dimension of this size: a number or an
        index expression if its value is known, otherwise a Picked.
        """
        value = Simplifier(self.sizes)(self(index, at))
        if isinstance(value, Number):
            return int(value.value) + size * (value.value < 0)
        arange_place = self.arange_place(value)
        return Linear(((Picked(value, size), 1),), 0) if arange_place is None else arange_place

    def split(
        self, at: Sequence[Place], old: Sequence[int], new: Sequence[int]
    ) -> tuple[Place, ...]:
        """The places in shape `new` of the element that is at `at` in shape `old`, if both have
        their elements in row-major order.
        """
        flat: Place = 0
        for place, n in zip(at, old, strict=True):
            flat = places.plus(places.plus(flat, flat, n - 1), place)
        out, stride = [], shapes.numel(new)
        for n in new:
            stride //= max(n, 1)
            out.append(places.part(flat, max(stride, 1), n, self.sizes))
        return tuple(out)

    def variance(self, x: Node, dim, keepdim: bool, correction: int) -> Node:
        """The variance of x as a graph."""
        over = shapes.axes(dim, x.ndim)
        count = shapes.numel([x.shape[d] for d in over]) - correction
        total = ((x - x.mean(dim=dim, keepdim=True)) ** 2).sum(dim=dim, keepdim=keepdim)
        if count <= 0 or not x.ndim:
            return total / max(count, 0)
        size = OPS["size"](x, dim=over)
        return total / (size - correction if correction else size)

    def concatenated(self, at: Sequence[Place], tensors: Sequence[Node], dim: int) -> Expr:
        """An element of `cat` along dim."""
        axis, start, terms = shapes.axis(dim, len(at)), 0, []
        for x in tensors:
            size = x.shape[axis]
            if x.numel:
                inside = places.plus(at[axis], -start)
                there = [inside if d == axis else p for d, p in enumerate(at)]
                terms.append(Product((self.within(at[axis], start, size), self(x, there))))
            start += size
        return Total(tuple(terms))

    def stacked(self, at: Sequence[Place], tensors: Sequence[Node], dim: int) -> Expr:
        """An element of `stack` along a new dimension."""
        axis = shapes.axis(dim, len(at))
        rest = [p for d, p in enumerate(at) if d != axis]
        terms = [Product((delta(at[axis], k), self(x, rest))) for k, x in enumerate(tensors)]
        return Total(tuple(terms))

    def flipped(self, at: Sequence[Place], x: Node, dims: Sequence[int]) -> Expr:
        """An element of x.flip(dims)."""
        over = shapes.axes(dims, x.ndim)
        sizes = enumerate(zip(at, x.shape))
        return self(x, [places.plus(n - 1, p, -1) if d in over else p for d, (p, n) in sizes])

    def rolled(self, at: Sequence[Place], x: Node, shifts: Sequence[int]) -> Expr:
        """An element of x rolled by `shifts` along each dimension."""
        if not x.numel:
            return ZERO
        shifted = [places.plus(p, -shift % n) for p, shift, n in zip(at, shifts, x.shape)]
        return self(x, [places.part(p, 1, n, self.sizes) for p, n in zip(shifted, x.shape)])

    def repeated(self, at: Sequence[Place], x: Node) -> Expr:
        """An element of x.repeat(...)."""
        places_of_x = at[len(at) - x.ndim :]
        return self(x, [places.part(p, 1, n, self.sizes) for p, n in zip(places_of_x, x.shape)])

    def repeat_interleaved(self, at: Sequence[Place], x: Node, count: int, dim: int) -> Expr:
        """An element of x.repeat_interleave(count, dim)."""
        place = places.part(at[dim], count, 0, self.sizes) if count else 0
        return self(x, [place if d == dim else p for d, p in enumerate(at)])

    def diagonal(self, at: Sequence[Place], x: Node, diagonal: int) -> Expr:
        """An element of the diagonal of a matrix, or of a diagonal matrix of a vector."""
        down, right = max(-diagonal, 0), max(diagonal, 0)
        if x.ndim == 2:
            return self(x, [places.plus(at[0], down), places.plus(at[1 - x.ndim], right)])
        row = places.plus(at[0], -down)
        conditions = (delta(row, places.plus(at[1], -right)), self.within(row, 0, x.shape[0]))
        return Product((*conditions, self(x, [row])))

    def cumulative_sum(self, at: Sequence[Place], x: Node, dim: int) -> Expr:
        """An element of x.cumsum(dim)."""
        if not x.ndim:
            return self(x, at)
        axis = shapes.axis(dim, x.ndim)

        def body(letter: Place) -> Expr:
            source = [letter if d == axis else p for d, p in enumerate(at)]
            return Product((Relation("<=", letter, at[axis]), self(x, source)))

        return self.over(x.shape[axis], body)

    def padded(self, at: Sequence[Place], x: Node, amount: Sequence[Sequence[int]]) -> Expr:
        """An element of x padded with zeros."""
        if not x.numel:
            return ZERO
        before = [a for a, _ in amount]
        inside = [self.within(p, a, n) for p, a, n in zip(at, before, x.shape)]
        return Product((*inside, self(x, [places.plus(p, -a) for p, a in zip(at, before)])))

    def window(self, at: Sequence[Place], x: Node, stride, dilation) -> Expr:
        """An element of x.unfold(...): the element of x under one element of the kernel, for one
        position of the kernel.
        """
        n = len(stride)
        head, positions, kernel = at[: -2 * n], at[-2 * n : -n], at[-n:]
        return self(x, [*head, *_input_places(positions, kernel, stride, dilation)])

    def folded(self, at: Sequence[Place], w: Node, stride, dilation) -> Expr:
        """An element of fold(w): the sum of overlapping windows."""
        n = len(stride)
        sums = [(self.fresh(size), size) for size in w.shape[-2 * n :]]
        letters = [letter for letter, _ in sums]
        input_places = _input_places(letters[:n], letters[n:], stride, dilation)
        deltas = [delta(place, input_place) for place, input_place in zip(at[-n:], input_places)]
        body: Expr = Product((*deltas, self(w, [*at[:-n], *letters])))
        for letter, size in reversed(sums):
            body = Sum(letter, size, body)
        return body

    def clamped(self, at: Sequence[Place], x: Node, low: Node | None, high: Node | None) -> Expr:
        """An element of x.clamp(low, high)."""
        value = self.of(x, at)
        if low is not None:
            value = Function(OPS["maximum"], (value, self.of(low, at)))
        return value if high is None else Function(OPS["minimum"], (value, self.of(high, at)))

    def gathered(self, at: Sequence[Place], x: Node, index: Node, dim: int) -> Expr | None:
        """An element of x.gather(dim, index); that of x if x is 0-d, None if the ranks differ."""
        if not x.ndim or x.ndim != index.ndim:
            return None if x.ndim else self(x, ())
        axis = shapes.axis(dim, x.ndim)
        picked = self.picked(index, at, x.shape[axis])
        return self(x, [picked if d == axis else p for d, p in enumerate(at)])

    def scattered(
        self, at: Sequence[Place], v: Node, index: Node, dim: int, shape: Sequence[int]
    ) -> Expr | None:
        """An element of zeros(shape).scatter_add(dim, index, v); None if the ranks differ."""
        if not v.ndim or {v.ndim, index.ndim} != {len(shape)}:
            return None if v.ndim or shape else self(v, ())
        axis = shapes.axis(dim, v.ndim)

        def body(letter: Place) -> Expr:
            source = [letter if d == axis else p for d, p in enumerate(at)]
            inside = [
                self.within(p, 0, n) for d, (p, n) in enumerate(zip(at, v.shape)) if d != axis
            ]
            target = self.picked(index, source, shape[axis])
            return Product((*inside, delta(at[axis], target), self(v, source)))

        return self.over(v.shape[axis], body)


def _input_places(
    positions: Sequence[Place], kernel: Sequence[Place], stride: Sequence[int], dilation
) -> list[Place]:
    """The places in the input under one element of the kernel, for one position of the kernel."""
    steps = zip(positions, kernel, stride, dilation)
    return [places.plus(places.plus(0, p, s), k, d) for p, k, s, d in steps]
