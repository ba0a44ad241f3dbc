"""The Jacobian of a node as a sum of products of arrays, placed by deltas: what it is computed by.

The gradient is linear in its seed. It is lowered to index notation down to the seed alone; nodes
that do not depend on the seed stay elements. With deltas in place of the seed, every term is a
product of arrays summed over letters, and deltas say where in the matrix it stands.
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
BYTES = 8  # of an entry of the matrix
BUDGET = 5_000  # what takes longer to find is computed sooner row by row
Letters = frozenset[str]


class Term(NamedTuple):
    """number * Σ over `sums` of the product of `groups`, at the places that `fixed` gives.

    `fixed` are letters of the matrix whose place the others decide, `free` the others, in their
    order, and `shape` their sizes. `strides`: where `fixed` are no more than equal to letters of
    `free`, how many bytes apart the neighbours along each of `free` stand in the matrix. A group is
    the product of all factors with the same letters, which are sorted. `single`: its numbers are
    those of one array, or 1 over those; `alone`: the node whose elements they are, each at its own
    place, if there is one.
    """

    number: float
    free: tuple[str, ...]
    shape: Shape
    fixed: tuple[tuple[str, Place], ...]
    strides: tuple[int, ...] | None
    sums: tuple[str, ...]
    groups: Mapping[tuple[str, ...], Expr]
    single: bool = False
    alone: Node | None = None

    def complete(self) -> "Term":
        """The same with what is read off its groups."""
        if self.sums or len(self.groups) != 1:
            return self._replace(single=False, alone=None)
        ((letters, e),) = self.groups.items()
        single = isinstance(e.base if isinstance(e, Power) else e, Element)
        bare = e if self.number == 1 and isinstance(e, Element) else None
        whole = bare is not None and bare.places == letters == self.free
        return self._replace(single=single, alone=bare.node if bare and whole else None)


class ClosedForm(NamedTuple):
    """The terms added up; `letters` are those of the matrix in its order, `shape` their sizes,
    `sizes` those of all letters, `nodes` those whose arrays it is computed from.
    """

    letters: tuple[str, ...]
    shape: Shape
    sizes: Mapping[str, int]
    terms: tuple[Term, ...]
    nodes: tuple[Node, ...]


def closed_form(grad: Node, seed: Node) -> ClosedForm | None:
    """The Jacobian whose VJP is `grad`, linear in `seed`; None where the operators on the way have
    no index notation, or there would be too many terms.
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
    whole = tuple(term.complete() for term in terms)
    shape = tuple(lower.sizes[k] for k in letters)
    return ClosedForm(letters, shape, lower.sizes, whole, _nodes(terms))


def _nodes(terms: Iterable[Term]) -> tuple[Node, ...]:
    grouped = (e for t in terms for group in t.groups.values() for e in inner(group))
    placed = (e for t in terms for _, p in t.fixed for e in inner(Relation("==", p, 0)))
    return tuple(dict.fromkeys(e.node for e in (*grouped, *placed) if isinstance(e, Element)))


class _Linear(Lowering):
    """Lowers what depends on the seed; all else is an element of its own."""

    def __init__(self, seed: Node):
        super().__init__({seed: "g"})
        self.known = {seed: True}

    def letter(self, size: int) -> Place:
        """A new letter; 0 where there is but one place."""
        return 0 if size == 1 else self.fresh(size)

    def depends(self, node: Node) -> bool:
        """Whether a node depends on the seed."""
        known = self.known
        for n in walk([node], lambda n: () if n in known else n.inputs):
            if n not in known:
                known[n] = any(known[i] for i in n.parents)
        return self.known[node]

    def usual(self, odd: Node, value: Node, instead: Node, at: Sequence[Place]) -> Expr:
        """Either of the two: numbers are asked for where `odd` holds too."""
        return self.choice(*(self.of(node, at) for node in (odd, instead, value)))

    def _lowered(self, node: Node, at: tuple[Place, ...]) -> Expr:
        if self.depends(node) or node.op.name == "constant":
            return super()._lowered(node, at)
        if node.op.family == "movement":
            moved = super()._lowered(node, at)
            if isinstance(moved, Element) and all(isinstance(p, int | str) for p in moved.places):
                return moved
        return Element(node, at)


class _Terms:
    """The terms of an expression, like ones brought together; `letters` are the matrix's."""

    def __init__(self, sizes: dict[str, int], letters: tuple[str, ...]):
        self.sizes, self.letters = sizes, letters
        self.simplify = Simplifier(sizes, budget=BUDGET)
        self.order: dict[Node, int] = {}  # of the nodes, as they are met

    def __call__(self, e: Expr) -> list[Term]:
        out: list[Term] = []
        for sums, factors in self._spread(e):
            term = self._term(sums, factors)
            if term is None:
                continue
            for k, other in enumerate(out):
                both = _together(other, term)
                if both is not None:
                    out[k] = both
                    break
            else:
                out.append(term)
        return out

    def _spread(self, e: Expr) -> list[tuple[Letters, tuple[Expr, ...]]]:
        """The products whose total it is: the letters of their sums, and their factors. Raises
        TooLong.
        """
        if isinstance(e, Total):
            return [product for t in e.terms for product in self._spread(t)]
        if isinstance(e, Sum):
            return [(sums | {e.letter}, factors) for sums, factors in self._spread(e.body)]
        if not isinstance(e, Product):
            return [(frozenset(), (e,))]
        out: list[tuple[Letters, tuple[Expr, ...]]] = [(frozenset(), ())]
        for factor in e.factors:
            more = self._spread(factor)
            out = [(a | b, (*head, *tail)) for a, head in out for b, tail in more]
            if len(out) > MOST_TERMS:
                raise TooLong
        return out

    def _term(self, sums: Letters, factors: Sequence[Expr]) -> Term | None:
        """One product; None where it is always 0. Raises TooLong."""
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
            fixed = {k: self._moved(p, new) for k, p in fixed.items()}
            if letter in self.letters:
                fixed[letter] = place
            sums -= {letter}
            bounds = (0, place), (place, self.sizes[letter] - 1)
            guards = [self.simplify.relation("<=", *pair) for pair in bounds]
            waiting = [self.simplify(substituted(f, new, self.sizes)) for f in (*done, *waiting)]
            done = [g for g in guards if g != ONE]
        return self._grouped(sums, done, fixed)

    def _solved(self, e: Expr) -> tuple[str, Place] | None:
        """A letter and the place that a delta gives it; one of a sum before one of the matrix,
        which only others of the matrix decide.
        """
        if isinstance(e, Relation) and e.symbol == "==":
            letters = letters_of(e)
            for letter in sorted(letters, key=lambda k: (k in self.letters, k)):
                place = solve(e.left, e.right, letter)
                if place is not None and (letter not in self.letters or letters <= {*self.letters}):
                    return letter, place
        return None

    def _moved(self, place: Place, new: Mapping[str, Place]) -> Place:
        e = substituted(Relation("==", place, 0), new, self.sizes)
        assert isinstance(e, Relation)
        return e.left

    def _grouped(
        self, sums: Letters, factors: Iterable[Expr], fixed: Mapping[str, Place]
    ) -> Term | None:
        """The term of factors that hold no more deltas to solve. Raises TooLong."""
        above, below, rest = split_number(factors)
        groups: dict[Letters, list[Expr]] = {}
        for factor in rest:
            if any(isinstance(part, Sum) for part in inner(factor)):
                raise TooLong
            groups.setdefault(frozenset(letters_of(factor)), []).append(factor)
        used = frozenset[str]().union(*groups)
        number = above / below * numel([self.sizes[k] for k in sums - used])
        if number == 0:
            return None
        names = self._names(sums & used, rest)
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

    def _names(self, sums: Letters, factors: Sequence[Expr]) -> dict[str, str]:
        """Names for the letters of sums by where they stand, so that equal terms are equal."""
        standing: dict[str, list[tuple[int, int]]] = {k: [] for k in sums}
        for e in (part for f in factors for part in inner(f) if isinstance(part, Element)):
            for k, place in enumerate(e.places):
                if place in sums:
                    standing[place].append((self._place(e.node), k))
        order = sorted(sums, key=lambda k: (self.sizes[k], sorted(standing[k])))
        names = {k: f"_{self.sizes[k]}.{place}" for place, k in enumerate(order)}
        self.sizes |= {new: self.sizes[k] for k, new in names.items()}
        return names

    def _ordered_product(self, factors: list[Expr]) -> Expr:
        """The product, equal where the factors are."""

        def place(f: Expr) -> tuple[int, str]:
            return (self._place(f.node), str(f.places)) if isinstance(f, Element) else (-1, str(f))

        return product_of(sorted(factors, key=place))

    def _place(self, node: Node) -> int:
        return self.order.setdefault(node, len(self.order))


def _together(a: Term, b: Term) -> Term | None:
    """a + b as one term, where no more than one group tells them apart."""
    if a.fixed != b.fixed or a.sums != b.sums:
        return None
    different = [k for k in {*a.groups, *b.groups} if a.groups.get(k) != b.groups.get(k)]
    if not different:
        return a._replace(number=a.number + b.number)
    if len(different) > 1:
        return None
    parts = [Product((Number(t.number), t.groups.get(different[0], ONE))) for t in (a, b)]
    return a._replace(number=1.0, groups={**a.groups, different[0]: Total(tuple(parts))})
