"""A Jacobian as a product or sum of Jacobians of parts of its gradient.

A product is split at a bottleneck: a node that all paths from the seed (the upstream gradient) to
the gradient pass through. For example, the Hessian of ((D @ x) ** 2).sum() is 2 * D.T @ D, where
index notation would expand its sums.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, reduce

from ...graphs import OPS, Node, walk
from ...graphs.substitution import substitute
from .. import tree
from ..formulas.rules.products import product_of
from ..tree import Attribute, Call, Infix, Subscript, Tree, length_in_statements
from .layouts import Layout
from .matrix_products import added, is_multiple, multiplied, scaled

Write = Callable[[Layout, bool], Tree | None]  # (layout, columns are those of the input) -> formula

Term = tuple[str, Node]  # sign and term

MOST_SPLITS = 6  # largest number of splits that are tried
LONG_PART = 9  # formulas longer than this are composed further
LONGEST = 80  # most names, numbers and symbols in a formula; longer formulas explain nothing
SUM_SPELLINGS = {"{0} + {1}": "+", "{0} - {1}": "-"}  # spellings of operators


class Composition:
    """Formulas of Jacobians: those that `write` returns, and products and sums of these."""

    def __init__(self, write: Write):
        self.write = cache(write)

    def __call__(self, layout: Layout, to_input: bool = True, deep: int = 2) -> Tree | None:
        """The shortest product of two matrices, or the sum of terms if there is no short product;
        None if there is neither, or the formula would be too long. `to_input` says whether the
        columns are those of the input. `deep` is the depth to which factors without a formula are
        composed themselves.
        """
        products = []
        for before, after in _splits(layout):
            halves = [(before, False), (after, to_input)]
            written = [self._part(*half, deep - 1) for half in halves if not _is_reshape(half[0])]
            formulas = [one for one in written if one is not None]
            if formulas and len(formulas) == len(written):
                times = _product_with_multiple if _is_multiple(after) else _product
                products.append(reduce(times, formulas))
        result = min(products, key=length_in_statements, default=None)
        if result is None or (deep > 1 and length_in_statements(result) > LONG_PART):
            result = _shorter(result, self._sum(layout, to_input, deep))
        return None if result is None or tree.size(result) > LONGEST else result

    def _part(self, layout: Layout, to_input: bool, deep: int) -> Tree | None:
        written = self.write(layout, to_input)
        if deep and (written is None or length_in_statements(written) > LONG_PART):
            written = _shorter(written, self(layout, to_input, deep))
        return written

    def _sum(self, layout: Layout, to_input: bool, deep: int) -> Tree | None:
        """The sum of the matrices of a gradient's terms, grouped by common bottlenecks; None if the
        gradient has one group, or if a group has no formula.
        """
        out: Tree | None = None
        grad, seed = layout.grad, layout.seed
        groups = _grouped(_terms(grad, seed), seed)
        if len(groups) == 1 and deep:
            deep -= 1
            groups = _grouped(_terms(_expanded_sum(grad, seed), seed), seed)
        for sign, node in groups if len(groups) > 1 else ():
            written = self._part(layout._replace(grad=node), to_input, deep)
            if written is None:
                return None
            out = added(out, written, sign == "-")
        return out


def _shorter(one: Tree | None, other: Tree | None) -> Tree | None:
    if one is None or other is None:
        return one or other
    return min(one, other, key=length_in_statements)


def _is_reshape(layout: Layout) -> bool:
    """Whether the gradient is a reshaped seed, so that the matrix is an identity."""
    node = layout.grad
    while node.op.index == "reshape":
        (node,) = node.parents
    return node is layout.seed


def _is_multiple(layout: Layout) -> bool:
    """Whether the gradient is the seed times scalars."""
    result = product_of(layout.grad)
    return result is not None and all(f is layout.seed or not f.shape for f in result.factors)


def _product_with_multiple(left: Tree, right: Tree) -> Tree:
    """c * A for A @ (c * eye(n)), A / c for A @ (eye(n) / c)."""
    if isinstance(right, Infix) and right.symbol == "/":
        return Infix("/", _product_with_multiple(left, right.left), right.right)
    if isinstance(right, Infix) and right.symbol == "*" and _is_call("eye", right.right):
        return scaled(right.left, left)
    return _product(left, right)


def _product(left: Tree, right: Tree) -> Tree:
    """left @ right, scalars first; kron(eye(n), A @ B) for kron(eye(n), A) and kron(eye(n), B)."""
    number, rest = _split_number(left)
    if _is_call("eye", rest):
        return scaled(number, right)
    left = scaled(number, rest)
    if isinstance(right, Infix) and right.symbol == "/" and _is_count(right.right):
        return Infix("/", _product(left, right.left), right.right)
    number, rest = _split_number(right)
    if _is_call("eye", rest):
        return scaled(number, left)
    if number is not None:
        return scaled(number, _product(left, rest))
    if isinstance(left, Call) and isinstance(right, Call) and _is_call("kron", left, right):
        a, b = zip(left.args, right.args)
        if _is_call("eye", *a) or _is_call("eye", *b):
            return Call("kron", (_product(*a), _product(*b)))
    return multiplied(left, right)


def _split_number(written: Tree) -> tuple[Tree | None, Tree]:
    """The scalar factor of a matrix, None for 1 or a tensor of weights, and the matrix."""
    if isinstance(written, Call) and written.function == "diag" and len(written.args) == 1:
        number, weights = _split_number(written.args[0])
        return number, written if number is None else Call("diag", (weights,))
    if not isinstance(written, Infix) or written.symbol != "*":
        return None, written
    is_number = isinstance(written.left, tree.Number) or is_multiple(written)
    return (written.left, written.right) if is_number else (None, written)


def _is_count(written: Tree) -> bool:
    """Whether a formula is a number or a size: x.shape[0], x.numel()."""
    if isinstance(written, Subscript) and isinstance(written.base, Attribute):
        return written.base.name == "shape"
    number = isinstance(written, tree.Number)
    return number or (isinstance(written, tree.Method) and written.name == "numel")


def _is_call(function: str, *written: Tree) -> bool:
    return all(isinstance(w, Call) and w.function == function for w in written)


def _splits(layout: Layout) -> Iterator[tuple[Layout, Layout]]:
    """Yield the layouts before and after each bottleneck, smallest first."""
    bottlenecks = sorted(_bottlenecks(layout.grad, layout.seed), key=lambda n: n.numel)
    for node in bottlenecks[:MOST_SPLITS]:
        seed = OPS["input"](name="\0seed", shape=node.shape, is_direction=True)
        after = substitute(layout.grad, {node: seed})
        yield Layout(layout.out, node, layout.seed), Layout(seed, after, seed)


def _bottlenecks(grad: Node, seed: Node) -> list[Node]:
    """The nodes through which all paths from the seed to the gradient pass."""
    flow = _flow(grad, seed)
    between = [*flow][1:-1]
    result, last = [], flow[seed]
    for position, node in enumerate(between, 1):
        if last <= position:
            result.append(node)
        last = max(last, flow[node])
    return result


def _flow(grad: Node, seed: Node) -> dict[Node, int]:
    """The nodes that depend on the seed, in order, each with the position of its last use."""
    reach = {seed: 0}
    for node in walk([grad]):
        parents = [i for i in node.parents if i in reach]
        if parents:
            reach |= dict.fromkeys((*parents, node), len(reach))
    return reach


def _terms(grad: Node, seed: Node) -> list[Term]:
    """The terms of a gradient that is a sum of nodes that depend on the seed. If the gradient is no
    such sum, or one of too many terms, it is the only term itself.
    """
    flow = _flow(grad, seed)
    result: list[Term] = []
    waiting = [("+", grad)]
    while waiting:
        sign, node = waiting.pop()
        symbol = SUM_SPELLINGS.get(node.op.spelling or "")
        flows = [n for n in node.parents if n.shape == node.shape and n in flow]
        if symbol is None or len(flows) < 2:
            result.append((sign, node))
        else:
            left, right = flows
            waiting += [("+" if symbol == sign else "-", right), (sign, left)]
        if len(result) + len(waiting) > LONGEST:
            return [("+", grad)]
    return result


def _expanded_sum(grad: Node, seed: Node) -> Node:
    """A @ x + B @ x for (A + B) @ x, through all operators between the sum and the gradient, which
    are linear in the seed. The gradient itself if it has no such sum.
    """
    flow = _flow(grad, seed)
    node, parts = grad, [i for i in grad.parents if i in flow]
    while len(parts) == 1 and node is not seed:
        node, parts = parts[0], [i for i in parts[0].parents if i in flow]
    symbol = SUM_SPELLINGS.get(node.op.spelling or "")
    if symbol is None or node is grad or [i.shape for i in parts] != [node.shape] * 2:
        return grad
    left, right = (substitute(grad, {node: i}) for i in parts)
    return left + right if symbol == "+" else left - right


def _grouped(terms: Sequence[Term], seed: Node) -> list[Term]:
    """The terms; those that share a bottleneck are added, and positive terms come first."""
    groups: list[tuple[set[Node], list[Term]]] = []
    for term in terms:
        bottlenecks = {*_bottlenecks(term[1], seed)}
        group = next((g for g in groups if g[0] & bottlenecks), None)
        if group is None:
            groups.append((bottlenecks, [term]))
        else:
            group[0].intersection_update(bottlenecks)
            group[1].append(term)
    sums = [_sum_of(members) for _, members in groups]
    return sorted(sums, key=lambda term: term[0] == "-")


def _sum_of(terms: Sequence[Term]) -> Term:
    (first, out), *others = sorted(terms, key=lambda term: term[0] == "-")
    for sign, node in others:
        out = out + node if sign == first else out - node
    return first, out
