"""Formulas in several statements: repeated parts are named if that is shorter."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import combinations, count
from typing import NamedTuple

from ...graphs import Node, walk
from .. import tree
from ..tree import Block, Infix, Name, Prefix, Tree

LEAST_SAVING = 4  # names, numbers and symbols that a statement must save
CONSTANT_MATRICES = ("eye", "ones", "zeros")
NAMEABLE = (
    tree.Infix | tree.Call | tree.Method | tree.Prefix | tree.Attribute
)  # what can have a name


def shared(formula: Tree, used: Collection[str], worth: int = LEAST_SAVING) -> Tree:
    """The formula preceded by statements, each of which saves at least `worth` names, numbers and
    symbols. New names are not in `used`.
    """
    first: dict[str, Name] = {}
    same: dict[Tree, Tree] = {n: first.setdefault(n.text, n) for n in reversed(_leaves(formula))}
    formula = _replaced(formula, same)
    statements: list[tuple[Name, Tree]] = []
    while True:
        name = Name(f"#{len(statements)}")
        best, new = _most_saving(formula, statements, name, worth)
        if best is None:
            break
        formula = _replaced(formula, new)
        statements = [(n, _replaced(t, new)) for n, t in statements]
        statements.insert(_position(statements, best), (name, best))
    if not statements:
        return formula
    block: Tree = Block(tuple(statements), formula)
    names = (n for n in _names() if n not in used)
    for (numbered, _), name in zip(statements, names):  # in reading order
        block = _replaced(block, {numbered: Name(name)})
    return block


def in_terms_of(formula: Tree, statements: Iterable[tuple[Name, Tree]]) -> Tree:
    """The formula with names in place of parts that earlier statements define."""
    for name, part in statements:
        formula = _replaced(formula, _named(part, name))
    return formula


def _named(part: Tree, name: Name) -> dict[Tree, Tree]:
    return {part: name, tree.Bracketed(part): name}


def _names():
    yield from ("t", "u")
    yield from (f"t{k}" for k in count(1))


def _most_saving(
    formula: Tree, statements: list[tuple[Name, Tree]], name: Name, worth: int
) -> tuple[Tree | None, dict[Tree, Tree]]:
    """The repeated part that shortens the formulas most if it gets a name, None if none does; and
    the replacements for this part.
    """
    formulas = [formula, *(t for _, t in statements)]
    result: Counter[Tree] = Counter()
    multiples = dict[Tree, dict[Tree, Tree]]()  # for x: 2 * x and its replacement 2 * name
    signs: Counter[Tree] = Counter()  # for x: the occurrences of -x
    for part in (part for whole in formulas for part in _parts(whole)):
        result[part] += 1
        number, rest = _without_number(part)
        if number is not None:
            result[rest] += 1
            multiples.setdefault(rest, {})[part] = Infix("*", number, name)
        for argument in part.args if isinstance(part, tree.Call) else ():
            opposite = _opposite(argument)
            if opposite is not None:
                result[opposite] += 1
                signs[opposite] += 1
                multiples.setdefault(opposite, {})[argument] = Prefix("-", name)
    best, new, most = None, dict[Tree, Tree](), worth - 1
    for part, occurrences in result.items():
        saved = _saved(part, occurrences) - signs[part] if occurrences > 1 else 0
        if saved > most and (saved >= LEAST_SAVING or not _is_constant_matrix(part)):
            best, most = part, saved
            new = _named(part, name) | multiples.get(part, {})
    for part, products, factors in common_products(formulas):
        saved = _saved(part, len(products))
        if saved > most:
            best, new, most = part, {c.whole: c.without(factors, name) for c in products}, saved
    return best, new


def _is_number(part: Tree) -> bool:
    return isinstance(part.operand if isinstance(part, Prefix) else part, tree.Number)


def _without_number(product: Tree) -> tuple[Tree | None, Tree]:
    """2 and inv(A) @ b for 2 * inv(A) @ b; None and the product if it starts with no number."""
    if not isinstance(product, Infix) or product.symbol != "@":
        return None, product
    left = product.left
    if isinstance(left, Infix) and left.symbol == "*" and _is_number(left.left):
        return left.left, product._replace(left=left.right)
    number, rest = _without_number(left)
    return number, product._replace(left=rest)


def _opposite(part: Tree) -> Tree | None:
    """b - a for a - b, (b - a) / c for (a - b) / c, and X @ b for -X @ b; else None."""
    if isinstance(part, Infix) and part.symbol == "-":
        left, right = part.right, part.left
        return part._replace(left=left, right=right, ndims=part.ndims and part.ndims[::-1])
    if not isinstance(part, Infix) or part.symbol not in ("*", "/", "@"):
        return None
    first = part.left
    negative = isinstance(first, Prefix) and first.symbol == "-"
    opposite = first.operand if negative else _opposite(first)
    return None if opposite is None else part._replace(left=opposite)


def _is_constant_matrix(part: Tree) -> bool:
    """Whether a part consists of sizes only, such as eye(n), and is as readable as a name."""
    return isinstance(part, tree.Call) and part.function in CONSTANT_MATRICES


def _saved(part: Tree, times: int) -> int:
    return (times - 1) * tree.size(part) - times - 1


def _parts(whole: Tree) -> list[Tree]:
    """All calls, operations, methods and transposes in a formula, and indexed calls such as
    eye(n)[y].
    """
    out: list[Tree] = []
    stack = [whole]
    while stack:
        part = stack.pop()
        picked = isinstance(part, tree.Subscript) and isinstance(part.base, tree.Call)
        if picked or isinstance(part, NAMEABLE):
            out.append(part)
        stack += tree.children(part)
    return out


def _position(statements: list[tuple[Name, Tree]], part: Tree) -> int:
    """The position after the last statement whose name occurs in the part."""
    used = {p.text for p in _leaves(part)}
    return max((k + 1 for k, (name, _) in enumerate(statements) if name.text in used), default=0)


def _leaves(whole: Tree) -> list[Name]:
    out, stack = [], [whole]
    while stack:
        part = stack.pop()
        if isinstance(part, Name):
            out.append(part)
        stack += tree.children(part)
    return out


def _replaced(whole: Tree, new: Mapping[Tree, Tree]) -> Tree:
    """A formula with parts replaced as in `new`."""
    if whole in new:
        whole = new[whole]
        return whole if isinstance(whole, Name) else _rebuilt(whole, new)
    return _rebuilt(whole, new)


def _rebuilt(whole: Tree, new: Mapping[Tree, Tree]) -> Tree:
    if not isinstance(whole, tuple) or not hasattr(whole, "_fields"):
        return whole
    result = type(whole)(*(_within(field, new) for field in whole))
    if isinstance(result, tree.Bracketed) and isinstance(result.inner, Name):
        return result.inner
    return result


def _within(field, new: Mapping[Tree, Tree]):
    if isinstance(field, tuple):
        if hasattr(field, "_fields"):
            return _replaced(field, new)  # type: ignore[arg-type]
        return tuple(_within(inner, new) for inner in field)
    return field


# ---- common factors ------------------------------------------------------------------------------


TWO = tree.Number(2)
MOST = 16  # most products of a formula that are compared pairwise
Factor = tuple[str, Tree]  # "*" or "/", and the factor or divisor


class Chain(NamedTuple):
    """A product, its sign, and its factors."""

    whole: Tree
    negative: bool
    factors: tuple[Factor, ...]

    def without(self, common: Counter, name: Name) -> Tree:
        """The product with a name in place of some of its factors."""
        remaining, rest = Counter(common), list[Factor]()
        for f in self.factors:
            if remaining[f]:
                remaining[f] -= 1
            else:
                rest.append(f)
        out: Tree = Prefix("-", name) if self.negative else name
        if rest and rest[0][0] == "*" and _is_number(rest[0][1]):
            out, rest = Infix("*", rest[0][1], out), rest[1:]
        for symbol, part in _with_squares(rest):
            out = Infix(symbol, out, part)
        return out


def common_products(formulas: list[Tree]) -> Iterator[tuple[Tree, list[Chain], Counter]]:
    """Yield products that occur in several others, with these others and the factors."""
    chains = [c for whole in formulas for c in _products_in(whole)]
    if len(chains) > MOST:
        return
    seen = set()
    counts = [Counter(c.factors) for c in chains]
    for p, q in combinations(range(len(chains)), 2):
        common = counts[p] & counts[q]
        key = frozenset(common.items())
        if common.total() < 2 or key in seen or not any(s == "*" for s, _ in common):
            continue
        seen.add(key)
        products = [c for c, factors in zip(chains, counts, strict=True) if common <= factors]
        yield _product(chains[p].factors, common), products, common


def _product(factors: tuple[Factor, ...], common: Counter) -> Tree:
    """The product of some of the factors, in their order, but not starting with a divisor."""
    remaining, chosen = Counter(common), list[Factor]()
    for f in factors:
        if remaining[f]:
            remaining[f] -= 1
            chosen.append(f)
    chosen.sort(key=lambda f: f[0] != "*")
    (_, out), *rest = _with_squares(chosen)
    for symbol, part in rest:
        out = Infix(symbol, out, part)
    return out


def _products_in(whole: Tree) -> Iterator[Chain]:
    """Yield all products in a formula."""
    stack = [whole]
    while stack:
        part = stack.pop()
        if not _is_product(part):
            stack += tree.children(part)
            continue
        factors: list[Factor] = []
        spine = part
        while _is_product(spine):
            factors += _base_factors(spine.symbol, spine.right)  # type: ignore[union-attr]
            spine = spine.left  # type: ignore[union-attr]
        negative = isinstance(spine, Prefix) and spine.symbol == "-"
        factors += _base_factors("*", spine.operand if negative else spine)  # type: ignore[union-attr]
        yield Chain(part, negative, tuple(reversed(factors)))
        stack += dict.fromkeys(f for _, f in factors)


def _base_factors(symbol: str, part: Tree) -> list[Factor]:
    """x twice for x ** 2, so that a / x is recognised in a / x ** 2; other factors unchanged."""
    is_square = isinstance(part, Infix) and part.symbol == "**" and part.right == TWO
    return [(symbol, part.left)] * 2 if is_square else [(symbol, part)]  # type: ignore[union-attr]


def _with_squares(factors: list[Factor]) -> list[Factor]:
    """The factors with x ** 2 in place of two that are x."""
    counts, out = Counter(factors), list[Factor]()
    for symbol, part in dict.fromkeys(factors):
        pairs, single = divmod(counts[symbol, part], 2)
        out += [(symbol, Infix("**", part, TWO))] * pairs + [(symbol, part)] * single
    return out


def _is_product(part: Tree) -> bool:
    return isinstance(part, Infix) and part.symbol in ("*", "/")


# ---- parts without the seed ----------------------------------------------------------------------


def seedless_parts(grad: Node, seed: Node, names: Collection[Node], with_moved: bool) -> list[Node]:
    """The largest unnamed parts of a gradient that are numeric and do not depend on the upstream
    gradient `seed`.

    The operands of matrix products, of tensors times scalars, and of nodes that only move elements,
    are returned instead of these; if `with_moved`, nodes that move elements are returned too.
    """
    dependent = {seed}
    for n in walk([grad]):
        if not dependent.isdisjoint(n.parents):
            dependent.add(n)
    result: list[Node] = []
    waiting, seen = [grad], set[Node]()
    while waiting:
        n = waiting.pop()
        if n in seen or n in names:
            continue
        seen.add(n)
        product = n.op.name == "matmul" and n.ndim > 1
        only_moves = n.op.family in ("movement", "leaf") and not (with_moved and _holds_numbers(n))
        if n in dependent or product or only_moves or n.dtype == "bool" or _is_scaled(n):
            waiting += n.parents
        else:
            result.append(n)
    return result


def _is_scaled(node: Node) -> bool:
    """Whether a node is a tensor times a scalar, or divided by one."""
    return (
        node.op.name in ("mul", "div") and node.ndim > 0 and any(not i.ndim for i in node.parents)
    )


def _holds_numbers(node: Node) -> bool:
    """Whether a node depends on a leaf tensor other than constants such as ones and eye."""
    return any(n.ndim and not n.inputs and not n.op.index for n in walk([node]))
