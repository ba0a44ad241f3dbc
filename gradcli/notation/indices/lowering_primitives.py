"""What operators may say about their elements: the words of the functions in `index` fields."""

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


class Meanings(ABC):
    """`self(x, places)` is the element of a node; `sizes` are those of the letters."""

    sizes: dict[str, int]

    @abstractmethod
    def __call__(self, node: Node, at: Sequence[Place]) -> Expr:
        """The element of a node at a place for each of its dimensions."""

    @abstractmethod
    def counted(self, e: Expr) -> Place | None:
        """The place that an element is in a list that counts; None for any other."""

    def fresh(self, size: int) -> str:
        """A letter that nobody has, running over `size`."""
        letter = f"_{len(self.sizes)}"
        self.sizes[letter] = size
        return letter

    def of(self, x: Node, at: Sequence[Place]) -> Expr:
        """The element of x that is met at place `at` of something that x is broadcast to."""
        return self(x, at[len(at) - x.ndim :])

    def number(self, value: float) -> Expr:
        """A number."""
        return Number(value)

    def count(self, x: Node, dims: Sequence[int]) -> Expr:
        """How many elements x has along dimensions."""
        return Number(shapes.numel([x.shape[d] for d in dims]))

    def delta(self, a: Place, b: Place) -> Expr:
        """1 where a is b, else 0."""
        return delta(a, b)

    def at_most(self, a: Place, b: Place) -> Expr:
        """1 where a ≤ b, else 0."""
        return Relation("<=", a, b)

    def plus(self, a: Place, b: Place, times: int = 1) -> Place:
        """a + times * b."""
        return places.plus(a, b, times)

    def product(self, *factors: Expr) -> Expr:
        """Factors, multiplied."""
        return Product(factors)

    def total(self, *terms: Expr) -> Expr:
        """Terms, added up."""
        return Total(terms)

    def within(self, place: Place, start: int, size: int) -> Expr:
        """1 where start ≤ place < start + size, else 0."""
        return Product((Relation("<=", start, place), Relation("<=", place, start + size - 1)))

    def whole(self, e: Expr) -> Expr:
        """A number cut towards 0: itself where it is 0 or 1."""
        return e if is_condition(e) else Function(OPS["long"], (e,))

    def over(self, size: int, body: Callable[[Place], Expr]) -> Expr:
        """The sum of body(letter) for a letter over `size`."""
        if size == 1:
            return body(0)
        letter = self.fresh(size)
        return Sum(letter, size, body(letter))

    def choice(self, condition: Expr, a: Expr, b: Expr) -> Expr:
        """a where the condition holds, otherwise b."""
        if any(isinstance(x, Number) and not isfinite(x.value) for x in (a, b)):
            return Function(OPS["where"], (condition, a, b))
        return Total(
            (Product((condition, a)), Product((Function(OPS["logical_not"], (condition,)), b)))
        )

    def usual(self, odd: Node, value: Node, instead: Node, at: Sequence[Place]) -> Expr:
        """value, though it is `instead` where `odd` holds: what is read is about the rest."""
        return self.of(value, at)

    def picked(self, index: Node, at: Sequence[Place], size: int) -> Place:
        """The place below `size` that a tensor of whole numbers holds."""
        value = Simplifier(self.sizes)(self(index, at))
        if isinstance(value, Number):
            return int(value.value) + size * (value.value < 0)
        counted = self.counted(value)
        return Linear(((Picked(value, size), 1),), 0) if counted is None else counted

    def split(
        self, at: Sequence[Place], old: Sequence[int], new: Sequence[int]
    ) -> tuple[Place, ...]:
        """The place in shape `new` of the element at `at` in shape `old`, counted row by row."""
        flat: Place = 0
        for place, n in zip(at, old, strict=True):
            flat = places.plus(places.plus(flat, flat, n - 1), place)
        out, stride = [], shapes.numel(new)
        for n in new:
            stride //= max(n, 1)
            out.append(places.part(flat, max(stride, 1), n, self.sizes))
        return tuple(out)

    def variance(self, x: Node, dim, keepdim: bool, correction: int) -> Node:
        """The mean squared distance from the mean, as a graph."""
        over = shapes.axes(dim, x.ndim)
        count = shapes.numel([x.shape[d] for d in over]) - correction
        spread = ((x - x.mean(dim=dim, keepdim=True)) ** 2).sum(dim=dim, keepdim=keepdim)
        if count <= 0 or not x.ndim:
            return spread / max(count, 0)
        size = OPS["size"](x, dim=over)
        return spread / (size - correction if correction else size)

    def joined(self, at: Sequence[Place], given: Sequence[Node], dim: int) -> Expr:
        """Tensors one after the other along dim."""
        axis, start, terms = shapes.axis(dim, len(at)), 0, []
        for x in given:
            size = x.shape[axis]
            if x.numel:
                inside = places.plus(at[axis], -start)
                there = [inside if d == axis else p for d, p in enumerate(at)]
                terms.append(Product((self.within(at[axis], start, size), self(x, there))))
            start += size
        return Total(tuple(terms))

    def stacked(self, at: Sequence[Place], given: Sequence[Node], dim: int) -> Expr:
        """Tensors of one shape along a new dimension."""
        axis = shapes.axis(dim, len(at))
        rest = [p for d, p in enumerate(at) if d != axis]
        terms = [Product((delta(at[axis], k), self(x, rest))) for k, x in enumerate(given)]
        return Total(tuple(terms))

    def mirrored(self, at: Sequence[Place], x: Node, dims: Sequence[int]) -> Expr:
        """x read backward along dims."""
        over = shapes.axes(dims, x.ndim)
        sizes = enumerate(zip(at, x.shape))
        return self(x, [places.plus(n - 1, p, -1) if d in over else p for d, (p, n) in sizes])

    def rolled(self, at: Sequence[Place], x: Node, far: Sequence[int]) -> Expr:
        """x moved on along each dimension, what leaves at one end coming in at the other."""
        if not x.numel:
            return ZERO
        moved = [places.plus(p, -shift % n) for p, shift, n in zip(at, far, x.shape)]
        return self(x, [places.part(p, 1, n, self.sizes) for p, n in zip(moved, x.shape)])

    def repeated(self, at: Sequence[Place], x: Node) -> Expr:
        """x laid side by side."""
        own = at[len(at) - x.ndim :]
        return self(x, [places.part(p, 1, n, self.sizes) for p, n in zip(own, x.shape)])

    def stretched(self, at: Sequence[Place], x: Node, count: int, dim: int) -> Expr:
        """Each slice of x along a dimension, count times."""
        of = places.part(at[dim], count, 0, self.sizes) if count else 0
        return self(x, [of if d == dim else p for d, p in enumerate(at)])

    def diagonal(self, at: Sequence[Place], x: Node, diagonal: int) -> Expr:
        """A vector as a diagonal, or the diagonal of a matrix."""
        down, right = max(-diagonal, 0), max(diagonal, 0)
        if x.ndim == 2:
            return self(x, [places.plus(at[0], down), places.plus(at[1 - x.ndim], right)])
        row = places.plus(at[0], -down)
        on = (delta(row, places.plus(at[1], -right)), self.within(row, 0, x.shape[0]))
        return Product((*on, self(x, [row])))

    def running(self, at: Sequence[Place], x: Node, dim: int) -> Expr:
        """The sum of all up to here along dim."""
        if not x.ndim:
            return self(x, at)
        axis = shapes.axis(dim, x.ndim)

        def body(letter: Place) -> Expr:
            there = [letter if d == axis else p for d, p in enumerate(at)]
            return Product((Relation("<=", letter, at[axis]), self(x, there)))

        return self.over(x.shape[axis], body)

    def padded(self, at: Sequence[Place], x: Node, amount: Sequence[Sequence[int]]) -> Expr:
        """x with zeros around it."""
        if not x.numel:
            return ZERO
        before = [a for a, _ in amount]
        inside = [self.within(p, a, n) for p, a, n in zip(at, before, x.shape)]
        return Product((*inside, self(x, [places.plus(p, -a) for p, a in zip(at, before)])))

    def window(self, at: Sequence[Place], x: Node, stride, dilation) -> Expr:
        """The element of x at a place in the kernel, at a position of the kernel."""
        n = len(stride)
        head, positions, kernel = at[: -2 * n], at[-2 * n : -n], at[-n:]
        return self(x, [*head, *_under(positions, kernel, stride, dilation)])

    def overlapping(self, at: Sequence[Place], w: Node, stride, dilation) -> Expr:
        """The sum of what windows hold of one element."""
        n = len(stride)
        sums = [(self.fresh(size), size) for size in w.shape[-2 * n :]]
        letters = [letter for letter, _ in sums]
        under = _under(letters[:n], letters[n:], stride, dilation)
        met = [delta(place, there) for place, there in zip(at[-n:], under)]
        body: Expr = Product((*met, self(w, [*at[:-n], *letters])))
        for letter, size in reversed(sums):
            body = Sum(letter, size, body)
        return body

    def clamped(self, at: Sequence[Place], x: Node, low: Node | None, high: Node | None) -> Expr:
        """x between bounds, either of which may be missing."""
        value = self.of(x, at)
        if low is not None:
            value = Function(OPS["maximum"], (value, self.of(low, at)))
        return value if high is None else Function(OPS["minimum"], (value, self.of(high, at)))

    def gathered(self, at: Sequence[Place], x: Node, index: Node, dim: int) -> Expr | None:
        """Along dim, the element that index names; None where one of them has no dimension."""
        if not x.ndim or x.ndim != index.ndim:
            return None if x.ndim else self(x, ())
        axis = shapes.axis(dim, x.ndim)
        named = self.picked(index, at, x.shape[axis])
        return self(x, [named if d == axis else p for d, p in enumerate(at)])

    def scattered(
        self, at: Sequence[Place], v: Node, index: Node, dim: int, shape: Sequence[int]
    ) -> Expr:
        """The sum of what index sends here along dim."""
        if not v.ndim:
            return self(v, at)
        axis = shapes.axis(dim, v.ndim)

        def body(letter: Place) -> Expr:
            there = [letter if d == axis else p for d, p in enumerate(at)]
            inside = [
                self.within(p, 0, n) for d, (p, n) in enumerate(zip(at, v.shape)) if d != axis
            ]
            named = self.picked(index, there, shape[axis])
            return Product((*inside, delta(at[axis], named), self(v, there)))

        return self.over(v.shape[axis], body)


def _under(
    positions: Sequence[Place], kernel: Sequence[Place], stride: Sequence[int], dilation
) -> list[Place]:
    """Where a place in the kernel is at a position of the kernel."""
    steps = zip(positions, kernel, stride, dilation)
    return [places.plus(places.plus(0, p, s), k, d) for p, k, s, d in steps]
