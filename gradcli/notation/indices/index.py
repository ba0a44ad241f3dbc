"""Gradients and Jacobians in index notation: `x.grad[i,k] = Σ_j g[i,j] a[k,j]`.

The letters mean the same everywhere: those of the output come first, an input keeps the letters
that it has in the forward expression, a sum in a gradient reuses those of what it runs over. Only
where the left side would have them in another order they are renamed.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

from ...graphs import OPS, Node, walk
from ...graphs.shapes import axes
from .. import tree
from ..formulas.formula import Telling
from ..formulas.sizes import of_sizes
from ..tree import Attribute, Indexed, Name, Tree
from . import places
from .collect import Simplifier
from .expressions import (
    ONE,
    Element,
    Expr,
    Product,
    TooLong,
    delta,
    inner,
    product_of,
    replaced,
)
from .lower import Lowering
from .places import Place
from .written import LETTERS, Lettering, Writing, free_letters

Known = Callable[[], Mapping[int, Node]]  # sizes, each as the node of one that a named node has
Values = Callable[[Node], Any]  # the array of a node, or None where it depends on what has none
LONGEST = 120  # names, numbers and symbols: what is longer explains nothing


class Notation(NamedTuple):
    """left = right; `plain` is the right side as text that can be typed: `2*g[i,j]*a[i,j]`, and
    `opaque` counts the formulas in it of which only an element is said: inv(X)[j,i]. `expr` is the
    right side, `places` those of the left one, with the letters that it has, over nodes with
    `names`. `meanings` are sentences on names that only the sides have.
    """

    left: Tree
    right: Tree
    plain: str
    opaque: int
    expr: Expr
    places: tuple[Place, ...]
    names: Mapping[Node, Name]
    meanings: tuple[str, ...] = ()

    def at(self, places: Mapping[str, str]) -> "Notation":
        """The same with other letters, or with numbers, in the places of some letters."""
        word = re.compile(rf"\b({'|'.join(places)})\b")

        def renamed(part: Any) -> Any:
            if isinstance(part, str):
                return word.sub(lambda result: places[result[0]], part)
            if isinstance(part, tuple):
                built = map(renamed, part)
                return type(part)(*built) if hasattr(part, "_fields") else tuple(built)
            return part

        left, right = renamed(self.left), renamed(self.right)
        return self._replace(left=left, right=right, plain=renamed(self.plain))

    def in_order(self) -> "Notation":
        """With i, j, ... in this order on the left, where these letters are there in another:
        x.grad[i,j] = g[j,i].
        """
        at = self.left.places if isinstance(self.left, tree.Indexed) else ()
        places = tuple(map(tree.text, at))
        ordered = tuple(sorted(places))
        if not places or places == ordered or ordered != tuple(LETTERS[: len(places)]):
            return self
        return self.at(dict(zip(places, ordered)))

    def __str__(self) -> str:
        return f"{tree.text(self.left)} = {tree.text(self.right)}"


class JacobianElement(NamedTuple):
    """An element of a Jacobian, the places of its column, and the sizes of all letters."""

    element: Expr
    at: tuple[Place, ...]
    sizes: dict[str, int]


class NamedSizes(Lowering):
    """Expressions in which counts of elements, and what is computed from them, stay what they are:
    x.shape[1]; `known` are sizes
    that those of named nodes stand for, None where all sizes tell.
    """

    def __init__(self, names: Mapping[Node, str], values: Values | None, known: Known | None):
        super().__init__(names, values)
        self.known = known

    def _known(self, node: Node) -> Expr | None:
        """As in Lowering; how many labels count is how many there are, where all of them do."""
        mask = node.parents[0] if node.op.name == "sum" else node
        if mask is not node and mask.dtype == "bool" and self.values is not None:
            result = self.values(mask)
            if result is not None and result.size and result.all():
                return self.count(mask, axes(node.attrs["dim"], mask.ndim))
        counted = node.op.name != "constant" and node.shape == () and of_sizes(node)
        return None if counted else super()._known(node)

    def count(self, x: Node, dims: Sequence[int]) -> Expr:
        """How many elements x has along dimensions, read off a name where one has them."""
        number = super().count(x, dims)
        if number == ONE:
            return number
        whole = Element(OPS["size"](self._named(x) or x, dim=tuple(dims)), ())
        known = {} if self.known is None else self.known()
        sizes = [x.shape[d] for d in dims if x.shape[d] != 1]
        tell = self.known is None or all(n in known for n in sizes)
        if self._named(x) or (tell and any(x.shape == node.shape for node in self.names)):
            return whole
        if not all(n in known for n in sizes):
            return number
        return product_of([Element(known[n], ()) for n in sizes])

    def _named(self, x: Node) -> Node | None:
        """The first named node that x has its dimensions from, by operations element by element."""
        met = walk([x], lambda n: () if n in self.names else _like(n))
        return next((n for n in self.names if n in met and n.shape == x.shape), None)


class Indices:
    """The letters of a problem, and what is written with them; None: it is too long to read.

    `names` are the nodes that have a name: inputs, intermediates, the output, the seed; an output
    without one is `called` something. `values` may know the whole numbers and masks that decide
    what is picked, `known` the sizes that have a name; `telling` is as in `formula`.
    """

    def __init__(
        self,
        out: Node,
        seed: Node | None,
        names: Mapping[Node, Name],
        values: Values | None = None,
        called: str = "out",
        known: Known | None = None,
        telling: Telling | None = None,
    ):
        self.telling = telling
        self.out, self.seed, self.names, self.values = out, seed, names, values
        self.known = known
        self.called = names.get(out, Name(called))
        self.reserved = tree.taken(names.values())
        supply = free_letters(self.reserved)
        self.out_places = tuple(0 if n == 1 else next(supply) for n in out.shape)
        self._jacobians: dict[Node, JacobianElement | None] = {}

    @cached_property
    def forward(self) -> Expr | None:
        """The output in terms of what has a name."""
        return self._forward(
            {n: name for n, name in self.names.items() if n is not self.out or n.op.name == "input"}
        )

    @cached_property
    def letters(self) -> dict[Node, tuple[Place, ...]]:
        """The letters of the seed, of the output, and of what it is made of."""
        result = {} if self.seed is None else {self.seed: self.out_places}
        result[self.out] = self.out_places
        if self.forward is not None:
            self._take(self.forward, result)
        inputs = {n: name for n, name in self.names.items() if n.op.name == "input"}
        whole = self._forward(inputs) if len(inputs) + 2 < len(self.names) else None
        if whole is not None:
            self._take(whole, result)
        return result

    def _forward(self, names: Mapping[Node, Name]) -> Expr | None:
        """The output in terms of `names`."""
        built = self._lowered(self.out, self.out_places, names)
        if built is None:
            return None
        return Lettering({}, built[1])(built[0], {*self.reserved, *_plain(self.out_places)})

    def _lowered(
        self, node: Node, at: tuple[Place, ...], names: Mapping[Node, Name]
    ) -> tuple[Expr, dict[str, int]] | None:
        """The simplified expression of a node, and the sizes of its letters."""
        lower = NamedSizes({n: name.text for n, name in names.items()}, self.values, self.known)
        lower.sizes |= {p: n for p, n in zip(at, node.shape, strict=True) if isinstance(p, str)}
        try:
            return Simplifier(lower.sizes, cancel=True)(lower(node, at)), lower.sizes
        except (TooLong, RecursionError):
            return None

    def _take(self, e: Expr, letters: dict[Node, tuple[Place, ...]]) -> None:
        """Letters for the nodes that occur, where they have distinct ones."""
        elements = [part for part in inner(e) if isinstance(part, Element)]
        for part in elements:
            if part.node not in letters:
                result = _plain(part.places)
                if len(set(result)) == len(result) == sum(n != 1 for n in part.node.shape):
                    letters[part.node] = part.places
        for part in elements:
            if part.node not in letters:
                letters[part.node] = self._near(part)

    def _near(self, e: Element) -> tuple[Place, ...]:
        """A letter for each dimension: its own where it has one, else the next."""
        taken = set(self.reserved)
        out: list[Place | None] = []
        for place, n in zip(e.places, e.node.shape, strict=True):
            result = (
                sorted(places.letters(place, lambda value: set()))
                if not isinstance(place, int)
                else []
            )
            letter = result[0] if len(result) == 1 and result[0] not in taken else None
            out.append(0 if n == 1 else letter)
            taken |= {letter} if letter else set()
        supply = free_letters(taken | {p for p in out if isinstance(p, str)})
        return tuple(next(supply) if p is None else p for p in out)

    def places_of(self, x: Node) -> tuple[Place, ...]:
        """The letters of an input; 0 where its size is 1."""
        if x not in self.letters:
            supply = free_letters(self.reserved)
            self.letters[x] = tuple(0 if n == 1 else next(supply) for n in x.shape)
        return self.letters[x]

    # ---- what is written -------------------------------------------------------------------------

    def output(self) -> Notation | None:
        """`out[i,j] = Σ_k x[i,k] a[k,j]`."""
        if self.forward is None:
            return None
        names = {n: k for n, k in self.names.items() if n is not self.out or n.op.name == "input"}
        return self._notation(
            _indexed(self.called, self.out_places), self.forward, self.out_places, names
        )

    def gradient(self, x: Node, grad: Node, called: str = "grad") -> Notation | None:
        """`x.grad[i,k] = Σ_j g[i,j] a[k,j]`."""
        result = self.element(grad, Attribute(self.names[x], called), self.places_of(x))
        return None if result is None else result.in_order()

    def element(self, node: Node, left: Tree, at: tuple[Place, ...]) -> Notation | None:
        """An element of any node, which is called `left`, at some letters."""
        names = {n: name for n, name in self.names.items() if n is not node or n.op.name == "input"}
        built = self._lowered(node, at, names)
        if built is None:
            return None
        e = Lettering(self.letters, built[1])(built[0], {*self.reserved, *_plain(at)})
        return self._notation(_indexed(left, at), e, at)

    def jacobian(self, x: Node, grad: Node) -> Notation | None:
        """`∂out[i,j]/∂x[k,l] = δ[i,k] a[l,j]`."""
        result = self.jacobian_expression(grad)
        if result is None:
            return None
        e, at, sizes = result
        e = Lettering({}, sizes)(e, {*self.reserved, *_plain(self.out_places), *_plain(at)})
        out = self.called
        left = tree.Infix(
            "/",
            _indexed(Name("∂" + out.text, out.role), self.out_places),
            _indexed(Name("∂" + self.names[x].text, self.names[x].role), at),
        )
        return self._notation(left, e, (*self.out_places, *at))

    def jacobian_expression(self, grad: Node) -> JacobianElement | None:
        """The Jacobian's element at the output's letters and those of the input whose gradient it
        is; found once.
        """
        if grad not in self._jacobians:
            self._jacobians[grad] = self._jacobian_expression(grad)
        return self._jacobians[grad]

    def _jacobian_expression(self, grad: Node) -> JacobianElement | None:
        assert self.seed is not None
        supply = free_letters({*self.reserved, *_plain(self.out_places)})
        at = tuple(0 if n == 1 else next(supply) for n in grad.shape)
        names = {n: name for n, name in self.names.items() if n is not grad or n.op.name == "input"}
        lower = NamedSizes({n: name.text for n, name in names.items()}, self.values, self.known)
        for node, letters in ((self.out, self.out_places), (grad, at)):
            lower.sizes |= {
                p: n for p, n in zip(letters, node.shape, strict=True) if isinstance(p, str)
            }
        simplify = Simplifier(lower.sizes, cancel=True)
        try:
            e = replaced(lower(grad, at), self.seed, self._one_hot)
            if any(self.seed in walk([n]) for n in lower.opaque):
                return None
            return JacobianElement(simplify(simplify(e)), at, lower.sizes)
        except (TooLong, RecursionError):
            return None

    def holding_seed(self, grad: Node) -> list[str]:
        """The operators without index notation that a gradient hands the seed to."""
        lower = NamedSizes({n: name.text for n, name in self.names.items()}, self.values, None)
        with suppress(TooLong, RecursionError):
            lower(grad, [0 if n == 1 else lower.fresh(n) for n in grad.shape])
        return list(dict.fromkeys(n.op.name for n in lower.opaque if self.seed in walk([n])))

    def _one_hot(self, at: tuple[Place, ...]) -> Expr:
        deltas = tuple(
            delta(letter, place)
            for letter, place in zip(self.out_places, at, strict=True)
            if letter != 0
        )
        return Product(deltas) if deltas else ONE

    def _notation(
        self, left: Tree, e: Expr, at: tuple[Place, ...], names: Mapping[Node, Name] | None = None
    ) -> Notation | None:
        names = names or self.names
        right = Writing(names, telling=self.telling)(e)
        if tree.size(right) > LONGEST:
            return None
        plain = tree.text(Writing(names, "*", self.telling)(e))
        for symbol in ("*", "**", "/"):
            plain = plain.replace(f" {symbol} ", symbol)
        opaque = {p.node for p in inner(e) if isinstance(p, Element) and p.places}
        count = sum(bool(n.inputs) for n in opaque - {*self.names})
        return Notation(left, right, plain, count, e, at, names)


def _like(node: Node) -> list[Node]:
    """The inputs of an operation element by element that have its shape."""
    elementwise = node.op.family == "elementwise"
    return [n for n in node.parents if elementwise and n.shape == node.shape]


def _plain(at: Iterable[Place]) -> list[str]:
    return [p for p in at if isinstance(p, str)]


def _indexed(base: Tree, at: tuple[Place, ...]) -> Tree:
    return Indexed(base, tuple(places.written(p, _unpicked) for p in at)) if at else base


def _unpicked(value: Expr, alone: bool) -> Tree:
    raise TypeError("the letters of a left side are no numbers that a tensor holds")
