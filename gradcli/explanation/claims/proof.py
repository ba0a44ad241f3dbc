"""Two formulas brought together: the same for every value, and where sizes vary, for every size."""

from collections.abc import Iterable, Mapping

from ...graphs import OPS, Node
from ...notation.collect import Simplifier
from ...notation.expressions import (
    MINUS,
    ZERO,
    Element,
    Expr,
    Product,
    Sum,
    TooLong,
    Total,
    inner,
    parts,
    rebuilt,
    substituted,
)
from ...notation.lower import Lowering
from ...notation.simplify import simplify, substitute
from ...notation.tree import Name
from .points import Point


def same(claim: Node, point: Point, name: str, names: Mapping[Node, Name]) -> bool:
    """Whether a formula is the gradient of `name`, by rewriting, or by index."""
    right = point.gradient(name)
    if right is None or claim.shape != right.shape:
        return False
    pair = [_with_seed(node, point) for node in (claim, right)]
    atoms = {n: label for n, label in names.items() if n not in pair}
    return _by_rewriting(*pair, atoms) or _by_index(*pair, atoms)


def _with_seed(node: Node, point: Point) -> Node:
    """The same with the seed that was given in place of its name."""
    seed = point.problem.seed
    if seed.value is None:
        return node
    one = OPS["constant"](value=1.0) if seed.implicit and not seed.node.shape else seed.value
    return substitute(node, {seed.node: one})


def _by_rewriting(claim: Node, right: Node, names: Iterable[Node]) -> bool:
    """The same formula after simplification, with what has a name as it is, or looked into."""
    for keep in (tuple(names), ()):
        if simplify(claim, keep=keep) is simplify(right, keep=keep):
            return True
        if claim.dtype == "float" and simplify(claim - right, keep=keep).op.name == "zeros":
            return True
    return False


def _by_index(claim: Node, right: Node, names: Mapping[Node, Name]) -> bool:
    """The same sums of the same elements."""
    inputs = {n: label for n, label in names.items() if n.op.name == "input"}
    return any(_index_forms_agree(claim, right, known) for known in (names, inputs))


def _index_forms_agree(claim: Node, right: Node, names: Mapping[Node, Name]) -> bool:
    lower = Lowering({n: label.text for n, label in names.items()})
    at = tuple(f"i{d}" for d in range(right.ndim))
    lower.sizes |= dict(zip(at, right.shape))
    collect = Simplifier(lower.sizes)
    try:
        forms = [collect(lower(node, at)) for node in (claim, right)]
        if _ordered(forms[0]) == _ordered(forms[1]):
            return True
        opposite = Product((MINUS, forms[1]))
        return collect(Total((forms[0], opposite))) == ZERO
    except (TooLong, RecursionError):
        return False


def _ordered(e: Expr, depth: int = 0) -> Expr:
    """The expression with the letters of its sums numbered, factors and terms in one order."""
    if isinstance(e, Sum):
        letter = f"#{depth}"
        body = substituted(e.body, {e.letter: letter}, {})
        return Sum(letter, e.size, _ordered(body, depth + 1))
    made = tuple(_ordered(part, depth) for part in parts(e))
    if isinstance(e, Product | Total):
        made = tuple(sorted(made, key=_place_in_order))
    return rebuilt(e, made) if made else e


def _place_in_order(e: Expr) -> tuple[str, list[int]]:
    return repr(e), [part.node.serial for part in inner(e) if isinstance(part, Element)]
