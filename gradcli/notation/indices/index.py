"""Gradients and Jacobians in index notation: `x.grad[i,k] = Σ_j g[i,j] a[k,j]`.

Letters are consistent: those of the output come first, an input has the same letters as in the
forward expression, and a sum in a gradient has the letters of the dimension that it sums over. They
are renamed only if the left side would otherwise have them in an order other than i, j, ...

A place is the index of an element along one dimension, as an expression: `i`, `i+1`, `y[i]` (see
places.py).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

from ...errors import if_applicable
from ...graphs import OPS, Node, walk
from ...graphs.shapes import axes
from .. import tree
from ..formulas.formula import GenericSizes
from ..formulas.sizes import of_sizes
from ..tree import Attribute, Indexed, Name, Tree
from . import places
from .collect import Simplifier
from .expressions import (
    ONE,
    Element,
    Expr,
    Function,
    Product,
    Relation,
    TooLong,
    delta,
    inner,
    is_condition,
    product_of,
    replaced,
)
from .lower import Lowering, holds_true_places
from .places import Place
from .written import LETTERS, IndexRenaming, Writing, free_letters

KnownSizes = Callable[[], Mapping[int, Node]]  # sizes, each as a node that expresses it
Values = Callable[[Node], Any]  # the array of a node, or None if it is unknown
LONGEST = 120  # names, numbers and symbols; longer equations are not shown


class Notation(NamedTuple):
    """An equation left = right.

    `plain` is the right side as typed input: `2*g[i,j]*a[i,j]`; `opaque` is the number of formulas
    in it with an index, such as inv(X)[j,i]. `expr` is the right side as an expression over nodes,
    whose names are in `names`; `places` are the indices of the left side. `meanings` are sentences
    that define names of the sides.
    """

    left: Tree
    right: Tree
    plain: str
    opaque: int
    expr: Expr
    places: tuple[Place, ...]
    names: Mapping[Node, Name]
    meanings: tuple[str, ...] = ()

    @property
    def conditions(self) -> int:
        """The number of different conditions, such as [x > 0], on the right side. A relation with a
        number, such as δ[i,2], counts twice, because it may be true for these values only. The
        index of the j-th True of a mask counts twice for the same reason.
        """
        inside = {*inner(self.expr)}
        functions = sum(is_condition(e) and isinstance(e, Function) for e in inside)
        fixed = sum(map(_is_fixed, inside))
        return functions + 2 * (fixed + any(map(_is_true_place, inside)))

    @property
    def has_literal_indices(self) -> bool:
        """Whether the right side has an index that may depend on values: that of δ[i,2], or of the
        j-th True of a mask.
        """
        inside = {*inner(self.expr)}
        deltas = (e for e in inside if isinstance(e, Relation) and e.symbol == "==")
        return any(map(_is_fixed, deltas)) or any(map(_is_true_place, inside))

    def at(self, places: Mapping[str, str]) -> "Notation":
        """The equation with letters replaced by other letters or numbers."""
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
        """The equation with the letters of the left side renamed to i, j, ... in this order:
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
    """Lowers nodes so that sizes, and numbers computed from them, stay symbolic: x.shape[1].
    `known` maps sizes to nodes that express them; None if all sizes are generic.
    """

    def __init__(self, names: Mapping[Node, str], values: Values | None, known: KnownSizes | None):
        super().__init__(names, values)
        self.known = known

    def _known(self, node: Node) -> Expr | None:
        """As in Lowering, but None for numbers computed from sizes; the sum of a mask that is True
        everywhere is its number of elements.
        """
        mask = node.parents[0] if node.op.name == "sum" else node
        if mask is not node and mask.dtype == "bool" and self.values is not None:
            result = self.values(mask)
            if result is not None and result.size and result.all():
                return self.count(mask, axes(node.attrs["dim"], mask.ndim))
        is_size = node.op.name != "constant" and node.shape == () and of_sizes(node)
        return None if is_size else super()._known(node)

    def count(self, x: Node, dims: Sequence[int]) -> Expr:
        """The number of elements of x along dimensions, as a size of a named node if possible."""
        number = super().count(x, dims)
        if number == ONE:
            return number
        size = Element(OPS["size"](self._named(x) or x, dim=tuple(dims)), ())
        known = {} if self.known is None else self.known()
        sizes = [x.shape[d] for d in dims if x.shape[d] != 1]
        generic = self.known is None or all(n in known for n in sizes)
        if self._named(x) or (generic and any(x.shape == node.shape for node in self.names)):
            return size
        if not all(n in known for n in sizes):
            return number
        return product_of([Element(known[n], ()) for n in sizes])

    def _named(self, x: Node) -> Node | None:
        """The first named node with the shape of x from which x is computed elementwise."""
        nodes = walk([x], lambda n: () if n in self.names else _same_shape_operands(n))
        return next((n for n in self.names if n in nodes and n.shape == x.shape), None)


class WithReductions(NamedSizes):
    """Lowers nodes so that reductions, and numbers computed from tensors, stay formulas:
    x.std(dim=0)[2], and x @ w of vectors.
    """

    def _lowered(self, node: Node, at: tuple[Place, ...]) -> Expr:
        is_number = not node.shape and node.op.family not in ("leaf", "elementwise")
        if node in self.names or node.op.shape_only:
            return super()._lowered(node, at)
        if is_number:
            return Element(node, at)
        if node.op.family == "reduction":
            of_row = _of_row(node, at)
            return Element(node, at) if of_row is None else Element(of_row, ())
        return super()._lowered(node, at)


def _of_row(node: Node, at: tuple[Place, ...]) -> Node | None:
    """The element of x.mean(dim=1) at 1 as a reduction of a row, `x[1].mean()`; None if the
    dimensions that are not reduced are not the first ones.
    """
    (x, *others), dim = node.parents, node.attrs.get("dim")
    dims = axes(dim, x.ndim) if isinstance(dim, int | tuple) and not others else ()
    kept = x.ndim - len(dims)
    first = tuple(p for p in at[:kept] if isinstance(p, int))
    if not dims or not kept or dims != (*range(kept, x.ndim),) or len(first) < kept:
        return None
    attrs = {**node.attrs, "dim": node.op.attributes["dim"]}
    if "keepdim" in attrs:
        attrs["keepdim"] = False
    result: Node | None = if_applicable(lambda: node.op(OPS["getitem"](x, index=first), **attrs))
    return result if result is not None and result.shape == () else None


class Indices:
    """The letters of a problem, and its equations; an equation is None if it is too long to be
    shown.

    `names` are the named nodes: inputs, intermediates, the output, the seed; `called` names an
    output without a name. `values` returns arrays of integer tensors and masks, or None; `known`
    returns a node for each size that has a symbolic expression, and `generic_sizes` has the same
    meaning as in `formula`. `introduced` are further names, for gradients and Jacobians only.
    """

    def __init__(
        self,
        out: Node,
        seed: Node | None,
        names: Mapping[Node, Name],
        values: Values | None = None,
        called: str = "out",
        known: KnownSizes | None = None,
        generic_sizes: GenericSizes | None = None,
        introduced: Mapping[Node, Name] | None = None,
    ):
        self.generic_sizes, self.introduced = generic_sizes, introduced or {}
        self.out, self.seed, self.values = out, seed, values
        self.names = {**names, **self.introduced}
        self.known = known
        self.called = names.get(out, Name(called))
        self.reserved = tree.words_in_use(self.names.values())
        supply = free_letters(self.reserved)
        self.out_places = tuple(0 if n == 1 else next(supply) for n in out.shape)
        self._jacobians: dict[Node, JacobianElement | None] = {}

    @cached_property
    def forward(self) -> Expr | None:
        """The output in terms of named nodes."""
        return self._forward(self._names_of_output)

    @property
    def _names_of_output(self) -> dict[Node, Name]:
        names = self._names_beside(self.out)
        return {n: k for n, k in names.items() if n not in self.introduced}

    def _names_beside(self, node: Node) -> dict[Node, Name]:
        """The names that a node's formula may use: its own only if it is an input."""
        return {n: k for n, k in self.names.items() if n is not node or n.op.name == "input"}

    @cached_property
    def letters(self) -> dict[Node, tuple[Place, ...]]:
        """The letters of the seed, the output, and the nodes that it is computed from."""
        result = {} if self.seed is None else {self.seed: self.out_places}
        result[self.out] = self.out_places
        if self.forward is not None:
            self._add_letters(self.forward, result)
        inputs = {n: name for n, name in self.names.items() if n.op.name == "input"}
        named = len(self.names) - len(self.introduced)
        expanded = self._forward(inputs) if len(inputs) + 2 < named else None
        if expanded is not None:
            self._add_letters(expanded, result)
        return result

    def _forward(self, names: Mapping[Node, Name]) -> Expr | None:
        """The output in terms of `names`."""
        built = self._lowered(self.out, self.out_places, names)
        if built is None:
            return None
        return IndexRenaming({}, built[1])(built[0], {*self.reserved, *_plain(self.out_places)})

    def _lowered(
        self,
        node: Node,
        at: tuple[Place, ...],
        names: Mapping[Node, Name],
        lowering: type[NamedSizes] = NamedSizes,
    ) -> tuple[Expr, dict[str, int]] | None:
        """The simplified expression of a node, and the sizes of its letters."""
        lower = lowering({n: name.text for n, name in names.items()}, self.values, self.known)
        lower.sizes |= {p: n for p, n in zip(at, node.shape, strict=True) if isinstance(p, str)}
        try:
            return Simplifier(lower.sizes, cancel=True)(lower(node, at)), lower.sizes
        except (TooLong, RecursionError):
            return None

    def _add_letters(self, e: Expr, letters: dict[Node, tuple[Place, ...]]) -> None:
        """Add letters for the nodes in an expression: those of an element if all its places are
        different letters, else those of `_similar_letters`.
        """
        elements = [part for part in inner(e) if isinstance(part, Element)]
        for part in elements:
            if part.node not in letters:
                result = _plain(part.places)
                if len(set(result)) == len(result) == sum(n != 1 for n in part.node.shape):
                    letters[part.node] = part.places
        for part in elements:
            if part.node not in letters:
                letters[part.node] = self._similar_letters(part)

    def _similar_letters(self, e: Element) -> tuple[Place, ...]:
        """A letter for each dimension: that of its place, or the next unused one."""
        used = set(self.reserved)
        out: list[Place | None] = []
        for place, n in zip(e.places, e.node.shape, strict=True):
            result = (
                sorted(places.letters(place, lambda value: set()))
                if not isinstance(place, int)
                else []
            )
            letter = result[0] if len(result) == 1 and result[0] not in used else None
            out.append(0 if n == 1 else letter)
            used |= {letter} if letter else set()
        supply = free_letters(used | {p for p in out if isinstance(p, str)})
        return tuple(next(supply) if p is None else p for p in out)

    def places_of(self, x: Node) -> tuple[Place, ...]:
        """The letters of the dimensions of an input; 0 for dimensions of size 1."""
        if x not in self.letters:
            supply = free_letters(self.reserved)
            self.letters[x] = tuple(0 if n == 1 else next(supply) for n in x.shape)
        return self.letters[x]

    # ---- equations -------------------------------------------------------------------------------

    def output(self) -> Notation | None:
        """The output in index notation: `out[i,j] = Σ_k x[i,k] a[k,j]`."""
        if self.forward is None:
            return None
        left, names = _indexed(self.called, self.out_places), self._names_of_output
        return self._notation(left, self.forward, self.out_places, names)

    def gradient(self, x: Node, grad: Node, called: str = "grad") -> Notation | None:
        """A gradient in index notation: `x.grad[i,k] = Σ_j g[i,j] a[k,j]`."""
        result = self.element(grad, Attribute(self.names[x], called), self.places_of(x))
        return None if result is None else result.in_order()

    def element(
        self,
        node: Node,
        left: Tree,
        at: tuple[Place, ...],
        lowering: type[NamedSizes] = NamedSizes,
    ) -> Notation | None:
        """The equation of an element of any node, called `left`, at some places."""
        built = self._lowered(node, at, self._names_beside(node), lowering)
        if built is None:
            return None
        e = IndexRenaming(self.letters, built[1])(built[0], {*self.reserved, *_plain(at)})
        return self._notation(_indexed(left, at), e, at)

    def jacobian(self, x: Node, grad: Node) -> Notation | None:
        """An element of the Jacobian in index notation: `∂out[i,j]/∂x[k,l] = δ[i,k] a[l,j]`."""
        result = self.jacobian_expression(grad)
        if result is None:
            return None
        e, at, sizes = result
        e = IndexRenaming({}, sizes)(e, {*self.reserved, *_plain(self.out_places), *_plain(at)})
        out = self.called
        left = tree.Infix(
            "/",
            _indexed(Name("∂" + out.text, out.role), self.out_places),
            _indexed(Name("∂" + self.names[x].text, self.names[x].role), at),
        )
        return self._notation(left, e, (*self.out_places, *at))

    def jacobian_expression(self, grad: Node) -> JacobianElement | None:
        """An element of the Jacobian at letters of the output and the input; cached."""
        if grad not in self._jacobians:
            self._jacobians[grad] = self._jacobian_expression(grad)
        return self._jacobians[grad]

    def _jacobian_expression(self, grad: Node) -> JacobianElement | None:
        assert self.seed is not None
        supply = free_letters({*self.reserved, *_plain(self.out_places)})
        at = tuple(0 if n == 1 else next(supply) for n in grad.shape)
        names = self._names_beside(grad)
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
        """The operators without index notation that a gradient applies to the seed."""
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
        right = Writing(names, generic_sizes=self.generic_sizes)(e)
        if tree.size(right) > LONGEST:
            return None
        plain = tree.text(Writing(names, "*", self.generic_sizes)(e))
        for symbol in ("*", "**", "/"):
            plain = plain.replace(f" {symbol} ", symbol)
        opaque = {p.node for p in inner(e) if isinstance(p, Element) and p.places}
        count = sum(bool(n.inputs) for n in opaque - {*self.names})
        return Notation(left, right, plain, count, e, at, names)


def _is_fixed(e: Expr) -> bool:
    """Whether an expression is a relation between a place and a number."""
    return isinstance(e, Relation) and (isinstance(e.left, int) or isinstance(e.right, int))


def _is_true_place(e: Expr) -> bool:
    """Whether an expression is the index of a True element of a mask."""
    return isinstance(e, Element) and holds_true_places(e.node)


def _same_shape_operands(node: Node) -> list[Node]:
    """The operands of an elementwise operation that have its shape; [] for other operations."""
    elementwise = node.op.family == "elementwise"
    return [n for n in node.parents if elementwise and n.shape == node.shape]


def _plain(at: Iterable[Place]) -> list[str]:
    return [p for p in at if isinstance(p, str)]


def _indexed(base: Tree, at: tuple[Place, ...]) -> Tree:
    return Indexed(base, tuple(places.written(p, _unpicked) for p in at)) if at else base


def _unpicked(value: Expr, alone: bool) -> Tree:
    raise TypeError("places of a left side are no elements of integer tensors")
