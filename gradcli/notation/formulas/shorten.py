"""A search for the shortest formula of a node, under a budget.

The gradient is first brought into a normal form (the rules of RULES and NORMAL). Then, inputs
first, the search derives equal nodes by the rules of CANDIDATES and LAYOUT, with the best
candidates for the inputs, and keeps a few of the shortest for each node. Rounds are repeated until
the formula gets no shorter. Named nodes are treated as inputs (atoms), and a subexpression that
equals the definition of a name is replaced by this name.
"""

from collections.abc import Collection, Iterator, Mapping
from math import inf, isfinite
from typing import Any

from ...graphs import OPS, Node, intern, walk
from ...graphs.shapes import numel
from ...graphs.substitution import rebuilt, substitute
from .. import tree
from ..tree import Name
from .formula import MOST, TOO_LONG, GenericSizes, Writer
from .names import Names
from .rules import CANDIDATES, FINAL, IN_CODE, LAYOUT, NORMAL, RULES, apply_rules
from .rules.atoms import definition
from .rules.factoring import canonical_sums, negative, terms_of_sum
from .rules.products import constant_value, product_of
from .simplify import LARGE, Rewriter, merged, stripped
from .sizes import is_generic_size

MOST_SEARCHED = 2 * TOO_LONG  # longer formulas are not searched
KEPT = 4  # equal nodes kept for each node
WIDE = 36  # in graphs of more nodes, the first search keeps one equal node for each
NARROW = 16  # in graphs of more nodes, a quick search keeps one equal node for each
ROUNDS = 4
SHORT = 12  # formulas up to this length are not searched for repeated parts
MOST_LONGER = 14  # a search whose first formula is longer than the best one by more is skipped
BUDGET = 1200  # equal nodes tried in one search
# Penalties, which are added to the number of names, numbers, operators and calls.
ROW, TRANSPOSE, INNER_TRANSPOSE = 0.875, 0.75, 0.625
FOREIGN, CONVERTED, UNFACTORED = 12.0, 0.25, 0.125
SIGNED = 8.0  # for 1 + sign(x), which is harder to read than a mask
AMPLITUDE = 4.125  # for a division that the program does not have
BY_ZERO = 24.0  # for such a division by an input whose value is 0
UNNAMED = 12.0  # for a generic size written as a number: the formula is wrong for other sizes

NORMALISING = merged(RULES, NORMAL)
ALTERNATIVES = merged(CANDIDATES, LAYOUT)
# Tables applied to the result of a search, in turn; the first whose result is not longer is used.
LAST = merged(LAYOUT, FINAL), merged(IN_CODE, FINAL)
HOLDS = {"eq": False, "ne": True}


class Shortener:
    """Finds short formulas in terms of `names`; intermediate results are cached for later calls.

    `program` are nodes that the user wrote; `generic_sizes` is as in `formula`. A `quick` search
    keeps fewer candidates. Formulas may divide by the inputs in `nonzero`, where that saves much,
    and do not divide by those in `zeros`, other than where the program does.
    """

    def __init__(
        self,
        names: Mapping[Node, Name],
        program: Collection[Node] = (),
        generic_sizes: GenericSizes | None = None,
        quick: bool = False,
        nonzero: Collection[Node] = (),
        zeros: Collection[Node] = (),
    ):
        familiar = [stripped(n, {}) for n in program]
        self.with_style = DimensionStyle(familiar)
        named = [n for n in names if n.op.name != "input"]
        # searches start with the definitions of no names, of the last one, and of all
        all_opened = dict.fromkeys(((), tuple(named[-1:]), tuple(named)))
        self.searches = [
            Search(Names(names, opened, familiar, nonzero, zeros), familiar, generic_sizes, quick)
            for opened in all_opened
        ]

    def __call__(self, node: Node) -> Node:
        """An equal node with the shortest formula that the search finds."""
        result: list[tuple[Search, Node]] = []
        first, least = self.searches[0], inf
        for search in self.searches:
            if search is not first and search.repeats(first, node):
                continue
            start = search.start(node)
            if start is None:
                continue
            length = search.length.measured(start, in_statements=True)
            least = min(least, length)
            if length <= least + MOST_LONGER:
                result.append((search, search(start)))
        once = any(search.length.in_statements for search, _ in result)
        lengths = [s.length.measured(s.names.with_atoms(short), once) for s, short in result]
        if not result:
            return node
        search, short = result[lengths.index(min(lengths))]
        return self.with_style(search.names.without_atoms(short))


class Length:
    """The length of formulas: names, numbers, operators and calls, with penalties for style.

    A row times a matrix counts more than a matrix times a column; `A.T` for a named A less than
    other transposes, but more within elementwise operations; a converted mask more than `where`;
    operators that PyTorch lacks count most. A division by an input in `divisors` counts more by
    the number there, as the formula does not hold at 0. Nodes in `familiar`, those of the user's
    program, have no penalties.
    """

    def __init__(
        self,
        names: Mapping[Node, Name],
        familiar: Collection[Node],
        generic_sizes: GenericSizes | None,
        divisors: Mapping[Node, float],
    ):
        self.writer = Writer(names, generic_sizes, familiar)
        self.divisors = divisors
        self.names, self.generic_sizes = names, generic_sizes is not None
        self.ends = {*names, *familiar}
        self.sizes: dict[int, float] = {}
        self.total_penalties: dict[Node, float] = {}
        self.penalties: dict[Node, float] = {}
        self.parts: dict[int, tuple[float, list[tree.Tree]]] = {}
        self.lengths: dict[tuple[Node, bool], float] = {}
        self.in_statements = False

    def __call__(self, node: Node) -> float:
        """The length of a node's formula."""
        return self.measured(node, self.in_statements)

    def measured(self, node: Node, in_statements: bool) -> float:
        """The length of a node's formula; in statements, repeated parts count once."""
        key = node, in_statements
        if key not in self.lengths:
            measure = self._length_in_statements if in_statements else self._length_with_repetitions
            self.lengths[key] = measure(node)
        return self.lengths[key]

    def _length_with_repetitions(self, node: Node) -> float:
        for n in walk([node], lambda n: () if n in self.total_penalties else n.inputs):
            if n not in self.total_penalties:
                inner = 0 if n in self.ends else sum(self.total_penalties[i] for i in n.parents)
                self.total_penalties[n] = self._penalty(n) + inner
        return self._size(self.writer.tree(node)) + self.total_penalties[node]

    def _length_in_statements(self, node: Node) -> float:
        nodes = walk([node], lambda n: () if n in self.ends else n.inputs)
        return sum(map(self._penalty, nodes)) + tree.length(self.writer.tree(node), self._opened)

    def _opened(self, part: tree.Tree) -> tuple[float, list[tree.Tree]]:
        if id(part) not in self.parts:
            self.parts[id(part)] = self._own_length(part), tree.children(part)
        return self.parts[id(part)]

    def _penalty(self, n: Node) -> float:
        if n in self.penalties:
            return self.penalties[n]
        penalty = 0.0
        if n not in self.ends:
            penalty += ROW * self._is_row(n)
            if n.op.name == "matmul" and not n.shape:  # x @ A @ B @ y has no penalty
                penalty -= ROW * self._rows_on_the_left(n)
            penalty += INNER_TRANSPOSE * self._has_transpose(n) + UNFACTORED * _has_common_factor(n)
            penalty += SIGNED * _is_signed_mask(n) + self._of_divisors(n)
            penalty += CONVERTED * any(
                self.writer.takes_no_mask(n, k) for k in range(len(n.inputs))
            )
            foreign = self.writer.is_foreign(n)
            penalty += FOREIGN if foreign or _mixes_dtypes(n) or _compares_digits(n) else 0
        self.penalties[n] = penalty
        return penalty

    def _of_divisors(self, n: Node) -> float:
        """What counts more in a division by one of the `divisors`."""
        if not self.divisors or n.op.name != "div":
            return 0.0
        return max((self.divisors.get(f, 0.0) for f in _factors(n.parents[1])), default=0.0)

    def _is_row(self, n: Node) -> bool:
        """Whether `n` is written as a row times a matrix."""
        if n.op.name != "matmul" or n in self.ends:
            return False
        return n.parents[0].ndim == 1 < n.parents[1].ndim

    def _rows_on_the_left(self, n: Node) -> int:
        """The number of products in x @ A @ B @ y that are rows times a matrix."""
        count = 0
        while self._is_row(n.parents[0]):
            n, count = n.parents[0], count + 1
        return count

    def _has_transpose(self, n: Node) -> bool:
        """Whether `n` is elementwise with an operand A.T, for a named A, other than in 2 * A.T."""
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
            of_children = sum(self.sizes[id(child)] for child in inner)
            self.sizes[id(part)] = self._own_length(part) + of_children
        return self.sizes[id(written)]

    def _own_length(self, part: tree.Tree) -> float:
        if isinstance(part, tree.Number):
            unnamed = self.generic_sizes and isfinite(part.value) and is_generic_size(part.value)
            return 1 + (part.value < 0) + UNNAMED * unnamed
        if isinstance(part, tree.Bracketed):
            return 0
        named = isinstance(part, tree.Attribute) and isinstance(part.base, tree.Name)
        return TRANSPOSE if named else 1 + tree.listed(part)


def _mixes_dtypes(n: Node) -> bool:
    """Whether PyTorch refuses the dtypes of the operands, other than of indices."""
    if not n.op.needs_one_dtype:
        return False
    is_index = n.op.is_integer_input
    return len({i.dtype for k, i in enumerate(n.inputs) if i is not None and not is_index(k)}) > 1


def _is_signed_mask(n: Node) -> bool:
    """Whether `n` is 1 + sign(x) or 1 - sign(x)."""
    if n.op.name not in ("add", "sub") or not any(i.op.name == "sign" for i in n.parents):
        return False
    return any(constant_value(i) is not None for i in n.parents)


def _has_common_factor(n: Node) -> bool:
    """Whether the terms of a sum share a factor or are all negative, as in -x - x ** 2."""
    terms = terms_of_sum(n)
    if not terms:
        return False
    first, *rest = (t.factors for t in terms)
    negative = all(t.coefficient < 0 for t in terms)
    return negative or any(f.shape and all(f in others for others in rest) for f in first)


def _compares_digits(n: Node) -> bool:
    """Whether `n` compares a named value with one whose last digits depend on the computation."""
    if n.dtype != "bool" or len(n.parents) != 2:
        return False
    a, b = n.parents
    return any(x.op.digits == "vary" and definition(y) is not None for x, y in ((a, b), (b, a)))


class Search:
    """The search for short formulas with a set of names."""

    def __init__(
        self,
        names: Names,
        familiar: Collection[Node],
        generic_sizes: GenericSizes | None,
        quick: bool = False,
    ):
        self.names, self.quick = names, quick
        self.normal = Rewriter(NORMALISING)
        in_program = dict.fromkeys([*familiar, *(names.with_atoms(n) for n in familiar)])
        self.divisors = divisors_of(in_program)
        by_zero = {x: BY_ZERO for x in names.zeros if x not in names.divisors}
        new_divisors = dict.fromkeys(names.amplitudes, AMPLITUDE) | by_zero
        self.length = Length(names.words, in_program, generic_sizes, new_divisors)
        self.remaining, self.used_definitions = BUDGET, False
        self.expanded_nodes: set[Node] = set()  # in this search
        self.cached: dict[Node, tuple[tuple[Node, ...], int]] = {}  # equal nodes, and their cost

    def __call__(self, start: Node) -> Node:
        """The shortest node that the search from `start` finds."""
        best = start
        at_once = self.length.measured(best, in_statements=False)
        self.length.in_statements = at_once > TOO_LONG
        self.remaining = BUDGET // 2 if self.length.in_statements else BUDGET
        if self.length(best) > MOST_SEARCHED or at_once > MOST:
            return best
        if len(walk([best])) > WIDE and not self.quick:
            best = self._search(best, kept=1)
            self.expanded_nodes = set()
        best = self._search(best, self._kept(best))
        if not self.length.in_statements and at_once > SHORT:
            best = self._in_statements(best, start)
        laid = (Rewriter(rules).once(best) for rules in LAST)
        return next((n for n in laid if self.length(n) <= self.length(best)), best)

    def start(self, node: Node) -> Node | None:
        """The normal form of a node with atoms for named nodes; None if it is too large."""
        start = never_zero(self.names.start(node), self.divisors)
        if len(walk([start])) > LARGE:
            return None
        self.names.find_definitions(self.normal)
        self.used_definitions, self.expanded_nodes = False, set()
        return self._normalised(start)

    def _in_statements(self, node: Node, first: Node) -> Node:
        """The shortest node, with repeated parts counted once, that a search from this node finds;
        or one from `first`, the normal form of the formula, if that is shorter: e ** 2 / t ** 2 - 1
        / t for a sum t.
        """
        self.length.in_statements, results = True, [node]
        before = [first] if self.length(first) < self.length(node) else []
        for start in dict.fromkeys((node, self._with_one_sign(node), *before)):
            self.expanded_nodes, self.remaining = set(), BUDGET
            results.append(self._search(start, self._kept(start)))
        return min(reversed(results), key=self.length)  # the last of equally short ones

    def _with_one_sign(self, node: Node) -> Node:
        """The node with -(x - y) in place of y - x if it has both, and with sums of the same terms
        in the same order, so that one name suffices.
        """
        sums = canonical_sums(walk([node]))
        same = {n: first if sign > 0 else -first for n, (sign, first) in sums.items()}
        return self.normal(substitute(node, same)) if same else node

    def _kept(self, node: Node) -> int:
        return 1 if self.quick and len(walk([node])) > NARROW else KEPT

    def _search(self, root: Node, kept: int) -> Node:
        """The shortest node of several rounds, which keep `kept` equal nodes for each node."""
        best = root
        for _ in range(ROUNDS):
            new, *ties = self._round(root, kept)
            if self.length(new) < self.length(best):
                best = new
            again = min(map(self._normalised, [new, *ties]), key=self.length)
            if self.length(again) <= self.length(best):
                best = again
            if again is root or self.remaining <= 0:
                break
            root = again
        return best

    def repeats(self, before: "Search", node: Node) -> bool:
        """Whether the search for a node would repeat the one for `before`: the same start and
        definitions of names, none of which was used.
        """
        if before.used_definitions or before.names.start(node) is not self.names.start(node):
            return False
        self.names.find_definitions(self.normal)
        return self.names.has_same_definitions(before.names)

    def _normalised(self, node: Node) -> Node:
        short = self._with_composites(self._with_equal_sizes(self.normal(node)))
        if self.names.opened:
            return short
        with_names = self.names.with_equal_definitions(short, self.normal)
        self.used_definitions = self.used_definitions or with_names is not short
        return with_names

    def _with_equal_sizes(self, node: Node) -> Node:
        """The node with equal sizes written alike, if sizes are generic."""
        counts: dict[int, list[Node]] = {}
        for n in walk([node]) if self.length.writer.generic_sizes is not None else ():
            if n.op.name == "size":
                (x,) = n.parents
                counts.setdefault(numel(tuple(x.shape[d] for d in n.attrs["dim"])), []).append(n)
        best: dict[Node, Node] = {}
        for same in counts.values():
            if len(same) > 1:
                best |= dict.fromkeys(same, min(same, key=self.length))
        return self.normal(substitute(node, best)) if best else node

    def _with_composites(self, node: Node) -> Node:
        """The node with composite operators in place of their expansions, if it contains both."""
        nodes = walk([node])
        built = [n for n in nodes if n.op.rule is None and n.op.family == "composite"]
        expansions = {self.normal(stripped(n.op.expanded(n), {})): n for n in built}
        result = {
            m: n for m, n in expansions.items() if m.inputs and m in nodes and m not in walk([n])
        }
        return self.normal(substitute(node, result)) if result else node

    def _round(self, root: Node, kept: int) -> list[Node]:
        """The shortest equal nodes of one round, of one length; candidates of each node include the
        node itself.
        """
        ways: dict[Node, list[Node]] = {}
        for n in walk([root]):
            best = self._candidates(n, ways, twice=kept > 1)[:kept] if n.inputs else [n]
            ways[n] = best if kept == 1 or n in best else [*best, n]
        least = self.length(ways[root][0])
        return [n for n in ways[root] if self.length(n) == least]

    def _candidates(self, n: Node, ways: Mapping[Node, list[Node]], twice: bool) -> list[Node]:
        """Equal nodes, shortest first; with `twice`, rules are applied again to their results."""
        seen: dict[Node, None] = {n: None}
        for built in self._with_inputs(n, ways):
            seen.setdefault(built)
        for result in list(seen):
            for new in self._rewrites(result):
                seen.setdefault(new)
                if twice and new not in ways:
                    for newer in self._rewrites(new):
                        seen.setdefault(newer)
        return sorted(seen, key=self.length)

    def _with_inputs(self, n: Node, ways: Mapping[Node, list[Node]]) -> Iterator[Node]:
        """Yield the node with candidates for its inputs, changing one input at a time."""
        best = [None if i is None else ways[i][0] for i in n.inputs]
        yield from self._raw_and_normal(n, best)
        for k, i in enumerate(n.inputs):
            for way in () if i is None else ways[i][1:]:
                yield from self._raw_and_normal(n, [*best[:k], way, *best[k + 1 :]])

    def _raw_and_normal(self, n: Node, inputs: list[Any]) -> Iterator[Node]:
        """Yield the normal form of a node, and the node."""
        new = n.with_inputs(tuple(inputs))
        yield self.normal.top(new)
        yield new

    def _rewrites(self, n: Node) -> tuple[Node, ...]:
        """Equal nodes according to the rules and names; cached."""
        if n not in self.expanded_nodes:
            if self.remaining <= 0:
                return ()
            self.expanded_nodes.add(n)
            if n not in self.cached:
                built = [*apply_rules(n, ALTERNATIVES)]
                others = dict.fromkeys([*self._normal_too(built), *self._by_known_names(n)])
                self.cached[n] = tuple(others), len(built)
            self.remaining -= self.cached[n][1]
        return self.cached[n][0]

    def _normal_too(self, made: list[Node]) -> Iterator[Node]:
        for new in made:
            yield new
            short = self.normal(new)
            yield short
            yield self.names.with_equal_definitions(short, self.normal)

    def _by_known_names(self, n: Node) -> Iterator[Node]:
        """Yield the equivalent in PyTorch, and equal nodes with names."""
        text = self.length.writer.torch_equivalent(n)
        if text is not None and (text.shape, text.dtype) == (n.shape, n.dtype):
            yield self.normal(text)
        yield from self.names.with_names(n, self.normal)


class DimensionStyle:
    """Writes dimensions as the `program` does, which may count all of them from the end: dim=-1."""

    def __init__(self, program: Collection[Node]):
        dims = {d for n in program for d in _dims(n)}
        self.from_end = {d for d in dims if d < 0}
        self.from_front = {d for d in dims if d >= 0}

    def __call__(self, node: Node) -> Node:
        """The node with dimensions counted as in the program."""
        if not self.from_end:
            return node
        return rebuilt(node, self._rebuilt)

    def _rebuilt(self, n: Node, inputs: tuple[Node | None, ...]) -> Node | None:
        dims = _dims(n)
        if not dims:
            return None
        return intern(n.op, inputs, n.attrs | {"dim": self._counted(n, dims)}, n.span)

    def _counted(self, n: Node, dims: tuple[int, ...]) -> int | tuple[int, ...]:
        ndim = max(n.ndim, n.parents[0].ndim)
        from_end = tuple(d - ndim if d >= 0 else d for d in dims)
        if self.from_front.intersection(dims) or not self.from_end.issuperset(from_end):
            return n.attrs["dim"]
        return from_end if isinstance(n.attrs["dim"], tuple) else from_end[0]


def _dims(n: Node) -> tuple[int, ...]:
    """The dimensions in the attribute `dim` of a node."""
    dim = n.attrs.get("dim") if n.inputs and not n.op.shape_only else None
    return dim if isinstance(dim, tuple) else () if dim is None else (dim,)


def divisors_of(program: Collection[Node]) -> frozenset[Node]:
    """The divisors in a program, their factors, and 1 - x for x - 1. Empty if the program has masks
    or `where`, which may handle a divisor of 0.
    """
    nodes = walk(program)
    if any(n.dtype == "bool" or n.op.name == "where" for n in nodes):
        return frozenset()
    below = [n.parents[1] for n in nodes if n.op.name == "div"]
    opposite = [n for x in below if (n := negative(x)) is not None]
    return frozenset([*below, *opposite]).union(*map(_factors, below))


def _factors(x: Node) -> tuple[Node, ...]:
    """The factors of x, of which one is 0 where x is 0."""
    result = product_of(x)
    return () if result is None or not result.coefficient else tuple(result.factors)


def never_zero(node: Node, divisors: Collection[Node]) -> Node:
    """The node with comparisons of divisors with 0 decided: in a program that divides by 1 - c,
    where(1 - c == 0, 0, x) is x.
    """
    result = {}
    for n in walk([node]) if divisors else ():
        if n.op.name not in HOLDS or constant_value(n.parents[1]) != 0:
            continue
        parts = _factors(n.parents[0])
        if n.parents[0] in divisors or (parts and all(f in divisors for f in parts)):
            result[n] = OPS["full"](size=n.shape, fill_value=HOLDS[n.op.name])
    return substitute(node, result) if result else node
