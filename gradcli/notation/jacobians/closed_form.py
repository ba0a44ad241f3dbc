"""The Jacobian of a node as a sum of products of arrays, which can be computed as einsums.

The gradient is linear in its seed, the upstream gradient. Nodes that depend on the seed are lowered
to index notation; other nodes are arrays. With Kronecker deltas in place of the seed, every term is
a product of arrays, summed over index letters, and deltas determine its entries in the matrix.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ...graphs import Node, walk
from ...graphs.shapes import Shape, numel
from ..indices.collect import Simplifier
from ..indices.expressions import (
    ONE,
    Element,
    Expr,
    Number,
    Power,
    Product,
    Relation,
    Sum,
    TooLong,
    Total,
    delta,
    inner,
    letters_of,
    product_of,
    replaced,
    solve,
    substituted,
)
from ..indices.factors import split_number
from ..indices.lower import Lowering
from ..indices.places import Place

MOST_TERMS = 64
BYTES = 8  # size of an entry of the matrix
BUDGET = 5_000  # limit on simplification steps; with more, row-by-row products are faster
Letters = frozenset[str]


class Term(NamedTuple):
    """number * Σ over `sums` of the product of `groups`, added to the entries given by `fixed`.

    `free` are index letters of the matrix, in its order, and `shape` are their sizes. `fixed` maps
    the other letters of the matrix to places, which are index expressions such as 2 * i + 1, in
    terms of free letters. If each fixed letter equals a free one, `strides` are the strides in
    bytes, along each free letter, of a view of the matrix; otherwise None. `groups` maps sorted
    letters to the product of all factors with exactly these letters.
    """

    number: float
    free: tuple[str, ...]
    shape: Shape
    fixed: tuple[tuple[str, Place], ...]
    strides: tuple[int, ...] | None
    sums: tuple[str, ...]
    groups: Mapping[tuple[str, ...], Expr]

    @property
    def is_power(self) -> bool:
        """Whether the values are `number` times those of one array or a power of it, unsummed."""
        e = self._only_group
        return isinstance(e.base if isinstance(e, Power) else e, Element)

    @property
    def array_node(self) -> Node | None:
        """The node whose array is the values of the term, if there is one."""
        e = self._only_group
        if self.number != 1 or not isinstance(e, Element) or self.free not in self.groups:
            return None
        return e.node if e.places == self.free else None

    @property
    def _only_group(self) -> Expr | None:
        return None if self.sums or len(self.groups) != 1 else next(iter(self.groups.values()))


class ClosedForm(NamedTuple):
    """A sum of terms. `letters` are those of the matrix, rows first, and `shape` are their sizes.
    `sizes` are the sizes of all letters, and `nodes` are the nodes whose arrays are needed.
    """

    letters: tuple[str, ...]
    shape: Shape
    sizes: Mapping[str, int]
    terms: tuple[Term, ...]
    nodes: tuple[Node, ...]


def closed_form(grad: Node, seed: Node) -> ClosedForm | None:
    """The Jacobian whose vector-Jacobian product with `seed` is `grad`; None if an operator between
    them has no index notation, or there are too many terms.
    """
    lower = _Linear(seed)
    rows, columns = (tuple(lower.letter(n) for n in node.shape) for node in (seed, grad))
    letters = tuple(p for p in (*rows, *columns) if isinstance(p, str))

    def one_hot(at: tuple[Place, ...]) -> Expr:
        return Product(tuple(delta(r, p) for r, p in zip(rows, at, strict=True) if r != 0))

    try:
        e = Simplifier(lower.sizes, budget=BUDGET)(replaced(lower(grad, columns), seed, one_hot))
        if any(lower.depends(node) for node in lower.opaque):
            return None
        terms = _Terms(lower.sizes, letters)(e)
    except (TooLong, RecursionError):
        return None
    shape = tuple(lower.sizes[k] for k in letters)
    return ClosedForm(letters, shape, lower.sizes, tuple(terms), _nodes(terms))


def _nodes(terms: Iterable[Term]) -> tuple[Node, ...]:
    grouped = (e for t in terms for group in t.groups.values() for e in inner(group))
    placed = (e for t in terms for _, p in t.fixed for e in inner(Relation("==", p, 0)))
    return tuple(dict.fromkeys(e.node for e in (*grouped, *placed) if isinstance(e, Element)))


class _Linear(Lowering):
    """Lowers nodes that depend on the seed; other nodes become elements."""

    def __init__(self, seed: Node):
        super().__init__({seed: "g"})
        self.known = {seed: True}

    def letter(self, size: int) -> Place:
        """A new letter for a dimension, or the place 0 for a dimension of size 1."""
        return 0 if size == 1 else self.fresh(size)

    def depends(self, node: Node) -> bool:
        """Whether a node depends on the seed."""
        known = self.known
        for n in walk([node], lambda n: () if n in known else n.inputs):
            if n not in known:
                known[n] = any(known[i] for i in n.parents)
        return self.known[node]

    def unguarded(self, odd: Node, value: Node, instead: Node, at: Sequence[Place]) -> Expr:
        """The element of `instead` where `odd` holds, otherwise that of `value`.

        The overridden method omits the condition; here values are needed everywhere.
        """
        return self.choice(*(self.of(node, at) for node in (odd, instead, value)))

    def _lowered(self, node: Node, at: tuple[Place, ...]) -> Expr:
        if self.depends(node) or node.op.name == "constant":
            return super()._lowered(node, at)
        if node.op.family == "movement":
            lowered = super()._lowered(node, at)
            if isinstance(lowered, Element) and all(
                isinstance(p, int | str) for p in lowered.places
            ):
                return lowered
        return Element(node, at)


class _Terms:
    """Collects the terms of an expression; `letters` are those of the matrix."""

    def __init__(self, sizes: dict[str, int], letters: tuple[str, ...]):
        self.sizes, self.letters = sizes, letters
        self.simplify = Simplifier(sizes, budget=BUDGET)
        self.order: dict[Node, int] = {}  # nodes in the order of their first occurrence

    def __call__(self, e: Expr) -> list[Term]:
        out: list[Term] = []
        for sums, factors in self._expand(e):
            term = self._term(sums, factors)
            if term is None:
                continue
            for k, other in enumerate(out):
                merged = _merged(other, term)
                if merged is not None:
                    out[k] = merged
                    break
            else:
                out.append(term)
        return out

    def _expand(self, e: Expr) -> list[tuple[Letters, tuple[Expr, ...]]]:
        """The letters of the sums and the factors of each product in an expanded expression. Raises
        TooLong.
        """
        if isinstance(e, Total):
            return [product for t in e.terms for product in self._expand(t)]
        if isinstance(e, Sum):
            return [(sums | {e.letter}, factors) for sums, factors in self._expand(e.body)]
        if not isinstance(e, Product):
            return [(frozenset(), (e,))]
        out: list[tuple[Letters, tuple[Expr, ...]]] = [(frozenset(), ())]
        for factor in e.factors:
            expanded = self._expand(factor)
            out = [(a | b, (*head, *tail)) for a, head in out for b, tail in expanded]
            if len(out) > MOST_TERMS:
                raise TooLong
        return out

    def _term(self, sums: Letters, factors: Sequence[Expr]) -> Term | None:
        """The term of one product; None if it is 0. Raises TooLong."""
        fixed: dict[str, Place] = {}
        waiting, done = list(factors), list[Expr]()
        while waiting:
            first = waiting.pop(0)
            result = self._solved(first)
            if result is None:
                done.append(first)
                continue
            letter, place = result
            new = {letter: place}
            fixed = {k: self._substituted_place(p, new) for k, p in fixed.items()}
            if letter in self.letters:
                fixed[letter] = place
            sums -= {letter}
            waiting = [self.simplify(substituted(f, new, self.sizes)) for f in (*done, *waiting)]
            done = self.simplify.range_conditions(place, self.sizes[letter])
        return self._build_term(sums, done, fixed)

    def _solved(self, e: Expr) -> tuple[str, Place] | None:
        """A letter, and the place that a delta says it is equal to. Letters of sums are solved for
        first, and letters of the matrix only in terms of other letters of the matrix.
        """
        if isinstance(e, Relation) and e.symbol == "==":
            letters = letters_of(e)
            for letter in sorted(letters, key=lambda k: (k in self.letters, k)):
                place = solve(e.left, e.right, letter)
                if place is not None and (letter not in self.letters or letters <= {*self.letters}):
                    return letter, place
        return None

    def _substituted_place(self, place: Place, new: Mapping[str, Place]) -> Place:
        e = substituted(Relation("==", place, 0), new, self.sizes)
        assert isinstance(e, Relation)
        return e.left

    def _build_term(
        self, sums: Letters, factors: Iterable[Expr], fixed: Mapping[str, Place]
    ) -> Term | None:
        """The term of factors without deltas that can be solved. Raises TooLong."""
        above, below, rest = split_number(factors)
        if any(isinstance(part, Sum) for factor in rest for part in inner(factor)):
            raise TooLong
        groups: dict[Letters, list[Expr]] = {}
        for factor in rest:
            groups.setdefault(frozenset(letters_of(factor)), []).append(factor)
        used = frozenset[str]().union(*groups)
        number = above / below * numel([self.sizes[k] for k in sums - used])
        if number == 0:
            return None
        names = self._canonical_names(sums & used, rest)
        free = tuple(k for k in self.letters if k not in fixed)
        return Term(
            number,
            free,
            tuple(self.sizes[k] for k in free),
            tuple(sorted(fixed.items())),
            self._strides(free, fixed),
            tuple(sorted(names.values())),
            {
                tuple(sorted(names.get(k, k) for k in letters)): self._ordered_product(
                    [substituted(f, names, self.sizes) for f in group]
                )
                for letters, group in groups.items()
            },
        )

    def _strides(self, free: Sequence[str], fixed: Mapping[str, Place]) -> tuple[int, ...] | None:
        same = {k: p for k, p in fixed.items() if isinstance(p, str)}
        if len(same) < len(fixed) or any(self.sizes[k] != self.sizes[p] for k, p in same.items()):
            return None
        strides, stride = dict.fromkeys(free, 0), BYTES
        for k in reversed(self.letters):
            strides[same.get(k, k)] += stride
            stride *= self.sizes[k]
        return tuple(strides.values())

    def _canonical_names(self, sums: Letters, factors: Sequence[Expr]) -> dict[str, str]:
        """Canonical names for the letters of sums, so that equal terms compare equal."""
        occurrences: dict[str, list[tuple[int, int]]] = {k: [] for k in sums}
        for e in (part for f in factors for part in inner(f) if isinstance(part, Element)):
            for k, place in enumerate(e.places):
                if place in sums:
                    occurrences[place].append((self._rank(e.node), k))
        order = sorted(sums, key=lambda k: (self.sizes[k], sorted(occurrences[k])))
        names = {k: f"_{self.sizes[k]}.{place}" for place, k in enumerate(order)}
        self.sizes |= {new: self.sizes[k] for k, new in names.items()}
        return names

    def _ordered_product(self, factors: list[Expr]) -> Expr:
        """The product of factors in a canonical order."""

        def place(f: Expr) -> tuple[int, str]:
            return (self._rank(f.node), str(f.places)) if isinstance(f, Element) else (-1, str(f))

        return product_of(sorted(factors, key=place))

    def _rank(self, node: Node) -> int:
        return self.order.setdefault(node, len(self.order))


def _merged(a: Term, b: Term) -> Term | None:
    """a + b as one term, if they differ in at most one group; else None."""
    if a.fixed != b.fixed or a.sums != b.sums:
        return None
    different = [k for k in {*a.groups, *b.groups} if a.groups.get(k) != b.groups.get(k)]
    if not different:
        return a._replace(number=a.number + b.number)
    if len(different) > 1:
        return None
    parts = [Product((Number(t.number), t.groups.get(different[0], ONE))) for t in (a, b)]
    return a._replace(number=1.0, groups={**a.groups, different[0]: Total(tuple(parts))})
