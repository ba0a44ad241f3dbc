"""The shortest formula that can be found for a node: a search, under a budget.

A gradient is first brought into a normal form (the rules of RULES and NORMAL). Then, inputs first,
each node keeps the few shortest of the equal nodes that the rules of CANDIDATES and LAYOUT make of
it, with the few shortest for each of its inputs. Rounds are repeated until the formula gets no
shorter. Named nodes are atoms; a subexpression that equals a name's definition becomes the name.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ...graphs import OPS, Node, intern, walk
from ...graphs.shapes import TELLING, numel
from ...graphs.substitution import substitute
from .. import tree
from ..tree import Name
from .formula import MOST, TOO_LONG, Telling, Writer
from .names import Names
from .rules import CANDIDATES, IN_CODE, LAYOUT, NORMAL, RULES, apply_rules
from .rules.atoms import definition
from .rules.products import constant_value, product_of
from .simplify import LARGE, Rewriter, merged, stripped

HOPELESS = 2 * TOO_LONG  # a formula of this length will not be read
KEPT = 4  # ways to say a node
WIDE = 36  # nodes; in a larger graph only the best way to say each is looked for first
NARROW = 16  # nodes; in a larger graph a quick search looks for no other ways
ROUNDS = 4
SHORT = 12  # length of a formula in which nothing is looked for that may have a name of its own
BEHIND = 9  # longer than where another search began: no search has made up for more
BUDGET = 1200  # other ways to say a node that are tried in one search
# What counts beside names, numbers, operators and calls.
ROW, TURNED, BESIDE, FOREIGN, CONVERTED = 1.25, 0.75, 0.625, 12.0, 0.25
UNNAMED = 12.0  # a size that no tensor tells, so that the formula holds for no other

NORMALISING = merged(RULES, NORMAL)
ALTERNATIVES = merged(CANDIDATES, LAYOUT)
HOLDS = {"eq": False, "ne": True}


class Shortener:
    """Finds short formulas in terms of `names`. What it learns of a node it knows for the next.

    `program` are nodes that the user wrote; `telling` is as in `formula`. A `quick` search takes
    the first way that is shortest.
    """

    def __init__(
        self,
        names: Mapping[Node, Name],
        program: Collection[Node] = (),
        telling: Telling | None = None,
        quick: bool = False,
    ):
        familiar = [stripped(n, {}) for n in program]
        self.counted = Counting(familiar)
        ways = (False, True) if any(n.op.name != "input" for n in names) else (False,)
        self.searches = [
            Search(Names(names, opened, familiar), familiar, telling, quick) for opened in ways
        ]

    def __call__(self, node: Node) -> Node:
        """An equal node whose formula is the shortest that was found."""
        result: list[tuple[Search, Node]] = []
        for k, search in enumerate(self.searches):
            first = self.searches[0]
            if k and (search.repeats(first, node) or search.begins_behind(first, node)):
                continue
            short = search(node)
            if short is not None:
                result.append((search, short))
        once = any(search.length.in_statements for search, _ in result)
        lengths = [s.length.measured(s.names.hide(short), once) for s, short in result]
        if not result:
            return node
        search, short = result[lengths.index(min(lengths))]
        return self.counted(search.names.show(short))


class Length:
    """How long formulas are: their names, numbers, operators and calls, with a little taste.

    A row times a matrix counts more than a matrix times a column, `A.T` for a name less than a
    transpose of anything else, but more in what is computed element by element, a mask as numbers
    more than a choice, and what PyTorch has no name for counts most; what stands in the user's own
    program, `familiar`, is taken as it is.
    """

    def __init__(
        self,
        names: Mapping[Node, Name],
        familiar: Collection[Node],
        telling: Telling | None,
    ):
        self.writer = Writer(names, telling, familiar)
        self.names, self.familiar, self.telling = names, familiar, telling is not None
        self.ends = {*names, *familiar}
        self.sizes: dict[int, float] = {}
        self.found: dict[Node, float] = {}
        self.tastes: dict[Node, float] = {}
        self.parts: dict[int, tuple[float, list[tree.Tree]]] = {}
        self.lengths: dict[tuple[Node, bool], float] = {}
        self.in_statements = False

    def __call__(self, node: Node) -> float:
        """The length of a node's formula."""
        return self.measured(node, self.in_statements)

    def measured(self, node: Node, in_statements: bool) -> float:
        """The same; in statements, where what is repeated is written once and has a name."""
        key = node, in_statements
        if key not in self.lengths:
            self.lengths[key] = self._once(node) if in_statements else self._whole(node)
        return self.lengths[key]

    def _whole(self, node: Node) -> float:
        for n in walk([node], lambda n: () if n in self.found else n.inputs):
            if n not in self.found:
                inner = 0 if n in self.ends else sum(self.found[i] for i in n.parents)
                self.found[n] = self._taste(n) + inner
        return self._size(self.writer.tree(node)) + self.found[node]

    def _once(self, node: Node) -> float:
        nodes = walk([node], lambda n: () if n in self.ends else n.inputs)
        return sum(map(self._taste, nodes)) + tree.length(self.writer.tree(node), self._opened)

    def _opened(self, part: tree.Tree) -> tuple[float, list[tree.Tree]]:
        if id(part) not in self.parts:
            self.parts[id(part)] = self._own(part), tree.children(part)
        return self.parts[id(part)]

    def _taste(self, n: Node) -> float:
        if n in self.tastes:
            return self.tastes[n]
        own = 0.0
        if n not in self.ends:
            own += ROW * self._is_row(n)
            if n.op.name == "matmul" and not n.shape:  # x @ A @ y reads as well as x @ y
                own -= ROW * self._is_row(n.parents[0])
            own += BESIDE * self._has_turned(n)
            own += CONVERTED * any(self.writer.takes_no_mask(n, k) for k in range(len(n.inputs)))
            foreign = self.writer.is_foreign(n)
            mixed = n.op.of_one_kind and len({i.dtype for i in n.parents}) > 1
            own += FOREIGN if foreign or mixed or _compares_digits(n) else 0
        self.tastes[n] = own
        return own

    def _is_row(self, n: Node) -> bool:
        """Whether `n` is written as a row times a matrix."""
        if n.op.name != "matmul" or n in self.ends:
            return False
        return n.parents[0].ndim == 1 < n.parents[1].ndim

    def _has_turned(self, n: Node) -> bool:
        """Whether `n` computes with a name's transpose, element by element; 2 * A.T does not."""
        alone = n.op.name in ("mul", "div", "neg") and sum(bool(i.shape) for i in n.parents) == 1
        if alone or n.op.family != "elementwise":
            return False
        return any(i.op.name == "transpose" and i.parents[0] in self.names for i in n.parents)

    def _size(self, written: tree.Tree) -> float:
        stack = [written]
        while stack:
            part = stack[-1]
            inner = tree.children(part)
            waiting = [child for child in inner if id(child) not in self.sizes]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            self.sizes[id(part)] = self._own(part) + sum(self.sizes[id(child)] for child in inner)
        return self.sizes[id(written)]

    def _own(self, part: tree.Tree) -> float:
        if isinstance(part, tree.Number):
            unnamed = self.telling and part.value >= TELLING[0]
            return 1 + (part.value < 0) + UNNAMED * unnamed
        if isinstance(part, tree.Bracketed):
            return 0
        named = isinstance(part, tree.Attribute) and isinstance(part.base, tree.Name)
        return TURNED if named else 1 + tree.listed(part)


def _compares_digits(n: Node) -> bool:
    """Whether `n` asks if a name has a value of which no two computations have the same digits."""
    if n.dtype != "bool" or len(n.parents) != 2:
        return False
    a, b = n.parents
    return any(x.op.digits == "vary" and definition(y) is not None for x, y in ((a, b), (b, a)))


class Search:
    """The search for short formulas with some names, one after the other."""

    def __init__(
        self,
        names: Names,
        familiar: Collection[Node],
        telling: Telling | None,
        quick: bool = False,
    ):
        self.names, self.quick = names, quick
        self.normal = Rewriter(NORMALISING)
        own = dict.fromkeys([*familiar, *(names.hide(n) for n in familiar)])
        self.divisors = divisors_of(own)
        self.length = Length(names.words, own, telling)
        self.left, self.folded, self.began = BUDGET, False, 0.0
        self.asked: set[Node] = set()  # in this search
        self.said: dict[Node, tuple[tuple[Node, ...], int]] = {}  # other ways, and what they cost

    def __call__(self, node: Node) -> Node | None:
        """The shortest node found, with atoms for names; None where the node is too large."""
        best = self._beginning(node)
        if best is None:
            return None
        at_once = self.length.measured(best, in_statements=False)
        self.length.in_statements = at_once > TOO_LONG
        self.left = BUDGET // 2 if self.length.in_statements else BUDGET
        if self.length(best) > HOPELESS or at_once > MOST:
            return best
        if len(walk([best])) > WIDE and not self.quick:
            best = self._searched(best, kept=1)
            self.asked = set()
        best = self._searched(best, self._kept(best))
        if not self.length.in_statements and at_once > SHORT:
            best = self._in_statements(best)
        laid = (Rewriter(rules).once(best) for rules in (LAYOUT, IN_CODE))
        return next((n for n in laid if self.length(n) <= self.length(best)), best)

    def _beginning(self, node: Node) -> Node | None:
        """A node in its normal form; None where it is too large."""
        start = never_zero(self.names.start(node), self.divisors)
        if len(walk([start])) > LARGE:
            return None
        self.names.settle(self.normal)
        self.folded, self.asked = False, set()
        best = self._normalised(start)
        self.began = self.length.measured(best, in_statements=True)
        return best

    def _in_statements(self, node: Node) -> Node:
        """The shortest node found from one that is, where what is repeated is said once."""
        self.length.in_statements, self.asked, self.left = True, set(), BUDGET
        return min(self._searched(node, self._kept(node)), node, key=self.length)

    def _kept(self, node: Node) -> int:
        return 1 if self.quick and len(walk([node])) > NARROW else KEPT

    def _searched(self, root: Node, kept: int) -> Node:
        """The shortest that rounds find in which each node has so many ways to say it."""
        best = root
        for _ in range(ROUNDS):
            new = self._round(root, kept)
            if self.length(new) < self.length(best):
                best = new
            again = self._normalised(new)
            if self.length(again) <= self.length(best):
                best = again
            if again is root or self.left <= 0:
                break
            root = again
        return best

    def repeats(self, before: "Search", node: Node) -> bool:
        """Whether the search for a node is the one `before` again: from the same beginning, with
        names that stand for the same, none of which was folded in.
        """
        if before.folded or before.names.start(node) is not self.names.start(node):
            return False
        self.names.settle(self.normal)
        return self.names.stand_for_the_same(before.names)

    def begins_behind(self, before: "Search", node: Node) -> bool:
        """Whether this search begins with so much more than the one `before` did that it will end
        with no less.
        """
        return self._beginning(node) is not None and self.began > before.began + BEHIND

    def _normalised(self, node: Node) -> Node:
        short = self._called(self._with_equal_sizes(self.normal(node)))
        if self.names.opened:
            return short
        with_names = self.names.folded(short, self.normal)
        self.folded = self.folded or with_names is not short
        return with_names

    def _with_equal_sizes(self, node: Node) -> Node:
        """The node with one way to count for each size, where sizes tell which are equal."""
        counts: dict[int, list[Node]] = {}
        for n in walk([node]) if self.length.writer.telling is not None else ():
            if n.op.name == "size":
                (x,) = n.parents
                counts.setdefault(numel(tuple(x.shape[d] for d in n.attrs["dim"])), []).append(n)
        best: dict[Node, Node] = {}
        for same in counts.values():
            if len(same) > 1:
                best |= dict.fromkeys(same, min(same, key=self.length))
        return self.normal(substitute(node, best)) if best else node

    def _called(self, node: Node) -> Node:
        """The node with what a function means called by that function, where both occur."""
        nodes = walk([node])
        built = [n for n in nodes if n.op.rule is None and n.op.family == "composite"]
        meant = {self.normal(stripped(n.op.expanded(n), {})): n for n in built}
        result = {m: n for m, n in meant.items() if m.inputs and m in nodes and m not in walk([n])}
        return self.normal(substitute(node, result)) if result else node

    def _round(self, root: Node, kept: int) -> Node:
        """The shortest way to say a node; of more than one the node itself is always kept."""
        ways: dict[Node, list[Node]] = {}
        for n in walk([root]):
            best = self._ways(n, ways, twice=kept > 1)[:kept] if n.inputs else [n]
            ways[n] = best if kept == 1 or n in best else [*best, n]
        return ways[root][0]

    def _ways(self, n: Node, ways: Mapping[Node, list[Node]], twice: bool) -> list[Node]:
        """The ways to say a node, the shortest first; rules may be applied `twice`."""
        seen: dict[Node, None] = {n: None}
        for built in self._made(n, ways):
            seen.setdefault(built)
        for result in list(seen):
            for new in self._others(result):
                seen.setdefault(new)
                if twice and new not in ways:
                    for newer in self._others(new):
                        seen.setdefault(newer)
        return sorted(seen, key=self.length)

    def _made(self, n: Node, ways: Mapping[Node, list[Node]]) -> Iterator[Node]:
        """The node made of other ways to say its inputs, one of them changed at a time."""
        best = [None if i is None else ways[i][0] for i in n.inputs]
        yield from self._both(n, best)
        for k, i in enumerate(n.inputs):
            for way in () if i is None else ways[i][1:]:
                yield from self._both(n, [*best[:k], way, *best[k + 1 :]])

    def _both(self, n: Node, inputs: list[Any]) -> Iterator[Node]:
        """The node in its normal form, and as it is."""
        new = intern(n.op, tuple(inputs), n.attrs, n.span)
        yield self.normal.top(new)
        yield new

    def _others(self, n: Node) -> tuple[Node, ...]:
        """What the rules make of a node."""
        if n not in self.asked:
            if self.left <= 0:
                return ()
            self.asked.add(n)
            if n not in self.said:
                built = [*apply_rules(n, ALTERNATIVES)]
                others = dict.fromkeys([*self._normal_too(built), *self._by_known_names(n)])
                self.said[n] = tuple(others), len(built)
            self.left -= self.said[n][1]
        return self.said[n][0]

    def _normal_too(self, made: list[Node]) -> Iterator[Node]:
        for new in made:
            yield new
            short = self.normal(new)
            yield short
            yield self.names.folded(short, self.normal)

    def _by_known_names(self, n: Node) -> Iterator[Node]:
        """What PyTorch says, and what names say, in the place of a node."""
        text = self.length.writer.torch_equivalent(n)
        if text is not None and (text.shape, text.dtype) == (n.shape, n.dtype):
            yield self.normal(text)
        yield from self.names.with_names(n, self.normal)


class Counting:
    """How a `program` counts dimensions: what it calls -1 and never 1 is -1 in a formula too."""

    def __init__(self, program: Collection[Node]):
        given = {d for n in program for d in _dims(n)}
        self.from_end = {d for d in given if d < 0}
        self.from_front = {d for d in given if d >= 0}

    def __call__(self, node: Node) -> Node:
        """The node with its dimensions counted as the program counts them."""
        if not self.from_end:
            return node
        done: dict[Node | None, Node | None] = {None: None}
        for n in walk([node]):
            dims = _dims(n)
            attrs = n.attrs | {"dim": self._counted(n, dims)} if dims else n.attrs
            done[n] = intern(n.op, tuple(done[i] for i in n.inputs), attrs, n.span)
        return done[node]  # type: ignore[return-value]

    def _counted(self, n: Node, dims: tuple[int, ...]) -> int | tuple[int, ...]:
        ndim = max(n.ndim, n.parents[0].ndim)
        from_end = tuple(d - ndim if d >= 0 else d for d in dims)
        if self.from_front.intersection(dims) or not self.from_end.issuperset(from_end):
            return n.attrs["dim"]
        return from_end if isinstance(n.attrs["dim"], tuple) else from_end[0]


def _dims(n: Node) -> tuple[int, ...]:
    """The dimensions that a node names of a tensor."""
    dim = n.attrs.get("dim") if n.inputs and not n.op.shape_only else None
    return dim if isinstance(dim, tuple) else () if dim is None else (dim,)


def divisors_of(program: Collection[Node]) -> frozenset[Node]:
    """What the nodes of a program are divided by, and its factors; nothing where it chooses between
    numbers, as one may be what it has where the divisor is 0.
    """
    nodes = walk(program)
    if any(n.dtype == "bool" or n.op.name == "where" for n in nodes):
        return frozenset()
    below = [n.parents[1] for n in nodes if n.op.name == "div"]
    return frozenset(below).union(*map(_factors, below))


def _factors(x: Node) -> tuple[Node, ...]:
    """Of which one is 0 where x is 0."""
    result = product_of(x)
    return () if result is None or not result.coefficient else tuple(result.factors)


def never_zero(node: Node, divisors: Collection[Node]) -> Node:
    """The node without the question whether a divisor is 0: where(1 - c == 0, 0, x) is x beside
    (x ** (1 - c) - 1) / (1 - c).
    """
    result = {}
    for n in walk([node]) if divisors else ():
        if n.op.name not in HOLDS or constant_value(n.parents[1]) != 0:
            continue
        parts = _factors(n.parents[0])
        if n.parents[0] in divisors or (parts and all(f in divisors for f in parts)):
            result[n] = OPS["full"](size=n.shape, fill_value=HOLDS[n.op.name])
    return substitute(node, result) if result else node
