"""Two formulas brought together: the same for every value, and where sizes vary, for every size."""

from collections.abc import Iterable, Mapping

from ...graphs import Node
from ...graphs.substitution import substitute
from ...notation.formulas.simplify import simplify
from ...notation.indices.collect import Simplifier
from ...notation.indices.expressions import TooLong
from ...notation.indices.lower import Lowering
from ...notation.tree import Name
from .normal import normal_form
from .points import Point


def same(claim: Node, right: Node, point: Point, names: Mapping[Node, Name]) -> bool:
    """Whether two formulas are the same, by rewriting, or by index."""
    if claim.shape != right.shape:
        return False
    claim, right = (_with_seed(node, point) for node in (claim, right))
    atoms = {n: label for n, label in names.items() if n not in (claim, right)}
    inputs = {n: label for n, label in atoms.items() if n.op.name == "input"}
    return any(
        _by_rewriting(claim, right, known) or _by_index(claim, right, known)
        for known in (atoms, inputs)
    )


def _with_seed(node: Node, point: Point) -> Node:
    """The same with the seed that was given in place of its name."""
    seed = point.problem.seed
    return node if seed.value is None else substitute(node, {seed.node: seed.value})


def _by_rewriting(claim: Node, right: Node, names: Iterable[Node]) -> bool:
    """The same formula after simplification."""
    keep = tuple(names)
    if simplify(claim, keep=keep) is simplify(right, keep=keep):
        return True
    return claim.dtype == "float" and simplify(claim - right, keep=keep).op.name == "zeros"


def _by_index(claim: Node, right: Node, names: Mapping[Node, Name]) -> bool:
    """The same sums of the same elements, multiplied out."""
    lower = Lowering({n: label.text for n, label in names.items()})
    at = tuple(f"i{d}" for d in range(right.ndim))
    lower.sizes |= dict(zip(at, right.shape))
    collect = Simplifier(lower.sizes)
    try:
        short = (simplify(node, keep=names) for node in (claim, right))
        forms = [normal_form(collect(lower(node, at)), lower.sizes) for node in short]
    except (TooLong, RecursionError, OverflowError):
        return False
    return forms[0] == forms[1]
