"""A Jacobian put together from those of parts of its gradient: the product of what comes before a
node that all of the seed flows through and of what comes after it, or a sum. So the Hessian of
((D @ x) ** 2).sum() is 2 * D.T @ D, where by element its sums are multiplied out.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, reduce

from ...graphs import OPS, Node, walk
from ...graphs.substitution import substitute
from .. import tree
from ..formulas.rules.products import product_of
from ..tree import Attribute, Call, Infix, Subscript, Tree, shortest
from .layouts import Layout
from .matrix_products import added, multiplied, scaled

Write = Callable[[Layout, bool], Tree | None]  # a matrix; whether the columns are the input's

Term = tuple[str, Node]  # a sign and what is added with it

MOST_HALVES = 6  # pairs that are tried
LONG_PART = 16  # size of a factor that is looked at for factors of its own
LONGEST = 80  # names, numbers and symbols: what is longer explains nothing
SUMS = {"{0} + {1}": "+", "{0} - {1}": "-"}  # spellings of operators


class Composition:
    """Matrices of layouts: those that `write` has, and what is composed of such."""

    def __init__(self, write: Write):
        self.write = cache(write)

    def __call__(self, layout: Layout, to_input: bool = True, deep: int = 2) -> Tree | None:
        """The shortest product of two matrices, or the sum of terms where there is none, or a long
        one; None where that would be too long. Columns are the input's where the layout leads
        `to_input`; of factors that have no form of their own `deep` says how far they are taken
        apart.
        """
        products = []
        for before, after in _halves(layout):
            both = [(before, False), (after, to_input)]
            written = [self._part(*half, deep - 1) for half in both if not _only_reshapes(half[0])]
            whole = [one for one in written if one is not None]
            if whole and len(whole) == len(written):
                times = _times_number if _is_multiple(after) else _times
                products.append(reduce(times, whole))
        result = min(products, key=tree.size, default=None)
        if result is None or (deep > 1 and tree.size(result) > LONG_PART):
            result = shortest((result, self._sum(layout, to_input, deep)))
        return None if result is None or tree.size(result) > LONGEST else result

    def _part(self, layout: Layout, to_input: bool, deep: int) -> Tree | None:
        written = self.write(layout, to_input)
        if deep and (written is None or tree.size(written) > LONG_PART):
            written = shortest((written, self(layout, to_input, deep)))
        return written

    def _sum(self, layout: Layout, to_input: bool, deep: int) -> Tree | None:
        """The terms of a gradient, those together that all of the seed flows into alike."""
        out: Tree | None = None
        grad, seed = layout.grad, layout.seed
        groups = _together(_terms(grad, seed), seed)
        if len(groups) == 1 and deep:
            deep -= 1
            groups = _together(_terms(_multiplied_out(grad, seed), seed), seed)
        for sign, node in groups if len(groups) > 1 else ():
            written = self._part(layout._replace(grad=node), to_input, deep)
            if written is None:
                return None
            out = added(out, written, sign == "-")
        return out


def _only_reshapes(layout: Layout) -> bool:
    """Whether its matrix is an identity, however the elements are arranged."""
    node = layout.grad
    while node.op.index == "reshape":
        (node,) = node.parents
    return node is layout.seed


def _is_multiple(layout: Layout) -> bool:
    """Whether its matrix is a single number times an identity."""
    result = product_of(layout.grad)
    return result is not None and all(f is layout.seed or not f.shape for f in result.factors)


def _times_number(left: Tree, right: Tree) -> Tree:
    """c * A for A @ (c * eye(n)), A / c for A @ (eye(n) / c)."""
    if isinstance(right, Infix) and right.symbol == "/":
        return Infix("/", _times_number(left, right.left), right.right)
    if isinstance(right, Infix) and right.symbol == "*" and _is("eye", right.right):
        return scaled(right.left, left)
    return _times(left, right)


def _times(left: Tree, right: Tree) -> Tree:
    """left @ right; a number of the right one goes before both, kron(eye(n), A) @ kron(eye(n), B)
    is kron(eye(n), A @ B).
    """
    number, rest = _number(left)
    if _is("eye", rest):
        return scaled(number, right)
    if isinstance(right, Infix) and right.symbol == "/" and _is_count(right.right):
        return Infix("/", _times(left, right.left), right.right)
    number, rest = _number(right)
    if _is("eye", rest):
        return scaled(number, left)
    if number is not None:
        return scaled(number, _times(left, rest))
    if isinstance(left, Call) and isinstance(right, Call) and _is("kron", left, right):
        a, b = zip(left.args, right.args)
        if _is("eye", *a) or _is("eye", *b):
            return Call("kron", (_times(*a), _times(*b)))
    return multiplied(left, right)


def _number(written: Tree) -> tuple[tree.Number | None, Tree]:
    """The number before a matrix, and the matrix; a tensor may weigh its rows or its columns."""
    if not isinstance(written, Infix) or written.symbol != "*":
        return None, written
    number = written.left
    return (number, written.right) if isinstance(number, tree.Number) else (None, written)


def _is_count(written: Tree) -> bool:
    """Whether it is a number or a size: x.shape[0], x.numel()."""
    if isinstance(written, Subscript) and isinstance(written.base, Attribute):
        return written.base.name == "shape"
    number = isinstance(written, tree.Number)
    return number or (isinstance(written, tree.Method) and written.name == "numel")


def _is(function: str, *written: Tree) -> bool:
    return all(isinstance(w, Call) and w.function == function for w in written)


def _halves(layout: Layout) -> Iterator[tuple[Layout, Layout]]:
    """Before and after each of the nodes that all of the seed flows through, the smallest of them
    first: the Jacobian is the product of theirs.
    """
    narrow = sorted(_narrow(layout.grad, layout.seed), key=lambda n: n.numel)
    for node in narrow[:MOST_HALVES]:
        seed = OPS["input"](name="\0seed", shape=node.shape, is_direction=True)
        after = substitute(layout.grad, {node: seed})
        yield Layout(layout.out, node, layout.seed), Layout(seed, after, seed)


def _narrow(grad: Node, seed: Node) -> list[Node]:
    """The nodes between both that no way from the seed passes by."""
    flow = _flow(grad, seed)
    between = [*flow][1:-1]
    result, last = [], flow[seed]
    for place, node in enumerate(between, 1):
        if last <= place:
            result.append(node)
        last = max(last, flow[node])
    return result


def _flow(grad: Node, seed: Node) -> dict[Node, int]:
    """What the seed flows through, in order; each with the last place in it where it is read."""
    reach = {seed: 0}
    for node in walk([grad]):
        parents = [i for i in node.parents if i in reach]
        if parents:
            reach |= dict.fromkeys((*parents, node), len(reach))
    return reach


def _terms(grad: Node, seed: Node) -> list[Term]:
    """What is added up, all of it with the seed in it; the gradient alone where it is no sum, or
    one of too many terms.
    """
    flow = _flow(grad, seed)
    result: list[Term] = []
    waiting = [("+", grad)]
    while waiting:
        sign, node = waiting.pop()
        symbol = SUMS.get(node.op.spelling or "")
        flows = [n for n in node.parents if n.shape == node.shape and n in flow]
        if symbol is None or len(flows) < 2:
            result.append((sign, node))
        else:
            left, right = flows
            waiting += [("+" if symbol == sign else "-", right), (sign, left)]
        if len(result) + len(waiting) > LONGEST:
            return [("+", grad)]
    return result


def _multiplied_out(grad: Node, seed: Node) -> Node:
    """A @ x + B @ x for (A + B) @ x, through whatever stands between the sum and the gradient: all
    that the seed flows through is linear. The gradient itself, where there is no such sum.
    """
    flow = _flow(grad, seed)
    node, parts = grad, [i for i in grad.parents if i in flow]
    while len(parts) == 1 and node is not seed:
        node, parts = parts[0], [i for i in parts[0].parents if i in flow]
    symbol = SUMS.get(node.op.spelling or "")
    if symbol is None or node is grad or [i.shape for i in parts] != [node.shape] * 2:
        return grad
    left, right = (substitute(grad, {node: i}) for i in parts)
    return left + right if symbol == "+" else left - right


def _together(terms: Sequence[Term], seed: Node) -> list[Term]:
    """Terms with nodes in common that all of the seed flows through, added up again; what is added
    first, where there is such a one.
    """
    groups: list[tuple[set[Node], list[Term]]] = []
    for term in terms:
        narrow = {*_narrow(term[1], seed)}
        group = next((g for g in groups if g[0] & narrow), None)
        if group is None:
            groups.append((narrow, [term]))
        else:
            group[0].intersection_update(narrow)
            group[1].append(term)
    sums = [_added(members) for _, members in groups]
    return sorted(sums, key=lambda term: term[0] == "-")


def _added(terms: Sequence[Term]) -> Term:
    (first, out), *others = sorted(terms, key=lambda term: term[0] == "-")
    for sign, node in others:
        out = out + node if sign == first else out - node
    return first, out
