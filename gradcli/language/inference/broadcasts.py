"""Ranks of inputs, inferred from a built program, that avoid implausible broadcasting."""

from collections.abc import Collection, Sequence
from itertools import permutations

from ...graphs import Node, downstream, walk
from .coefficients import COEFFICIENTS, GREEK


def unbroadcast_ranks(roots: list[Node]) -> dict[str, int]:
    """Ranks of inputs, by name, at which they are not broadcast implausibly.

    These pairs have the same rank: the operands of a difference, the operands of a loss, an integer
    tensor such as one_hot(y, n) and its factor, and c and f in `f * c + i * h` for gates f and i.
    An input with an upper-case name is not broadcast as the row of a matrix. Scalars are lam in
    `loss + lam * norm(w)` and in `A + lam * eye(n)`, and y in `y - w.T @ x`.
    """
    result: dict[str, int] = {}
    order = walk(roots, _sources)
    sums = [n.parents for n in order if n.op.sign in ("+", "-")]
    terms: dict[Node, list[Node]] = {}
    for product, term in (pair for both in sums for pair in permutations(both)):
        terms.setdefault(product, []).append(term)
    varying = downstream(order, [n for n in order if n.op.name == "input"], _sources)
    of_products = downstream(
        order, [n for n in order if "matrices" in n.op.typical_inputs], _sources
    )
    for node in order:
        for operand, other in permutations(_operands(node), 2):
            by_number = not other.ndim and other in varying
            x = _begins_with(operand, varying) if by_number else operand
            if x.op.name != "input" or not x.ndim:
                continue
            is_product = other in of_products
            if by_number and (is_product or x.attrs["name"] in COEFFICIENTS):
                rank: int | None = 0
            else:
                rank = _rank_beside(node, x, other, terms.get(node, []), is_product)
            if rank is not None and x not in walk([other]):
                result[x.attrs["name"]] = rank
    return _columns(order) | _batches(order) | result


def _rank_beside(
    node: Node, x: Node, other: Node, terms: list[Node], is_product: bool
) -> int | None:
    """The rank at which the input x is not broadcast implausibly in `node`, whose other operand is
    `other`; None if it may have any rank. `terms` are the nodes that are added to `node`;
    `is_product` says whether `other` depends on a product of matrices.
    """
    if _multiplies(node, x, other, terms):
        return 0
    if x.ndim >= other.ndim or 1 in other.shape:
        return None
    gated = node.op.sign == "*" and is_product and _is_gated(x, other, terms)
    return other.ndim if _has_same_rank(node, x, other) or gated else None


def _batches(order: list[Node]) -> dict[str, int]:
    """Ranks of images, such as x in `conv2d(x, w, b)`: they have a batch dimension, and the rank of
    the kernel.
    """
    first = (node.parents[:2] for node in order if "batches" in node.op.typical_inputs)
    single = ((x, kernel) for x, kernel in first if x.ndim < kernel.ndim)
    return {x.attrs["name"]: kernel.ndim for x, kernel in single if x.op.name == "input"}


def _columns(order: list[Node]) -> dict[str, int]:
    """Ranks of vectors, such as z in `outer(x, y) @ z`: lower-case names after a matrix that is
    computed from vectors and upper-case names only.
    """
    result = {}
    for node in order:
        pair = "matrices" in node.op.typical_inputs and len(node.parents) == 2
        left, x = node.parents if pair else (node, node)
        inputs = {n for n in (left, x) if n.op.name == "input"}
        if x not in inputs or left in inputs or left.op.family == "movement":
            continue
        if x.ndim != 2 or left.ndim != 2:
            continue
        sources = [n for n in walk([left]) if n.op.name == "input"]
        if sources and not _is_upper(x) and all(n.ndim < 2 or _is_upper(n) for n in sources):
            result[x.attrs["name"]] = 1
    return result


def _is_upper(x: Node) -> bool:
    is_input = x.op.name == "input"
    return bool(is_input and x.attrs["name"][0].isupper())


def _operands(node: Node) -> Sequence[Node]:
    """The two operands of an elementwise operation or of a loss; empty for other nodes."""
    elementwise = node.op.family == "elementwise" and len(node.parents) == 2
    return node.parents if elementwise else _compared(node)


def _compared(node: Node) -> list[Node]:
    pairs = zip(node.op.inputs, node.inputs, strict=False)
    return [i for name, i in pairs if name in node.op.typical_same_shape and i is not None]


def _has_same_rank(node: Node, x: Node, other: Node) -> bool:
    """Whether an operand should have as many dimensions as the other one."""
    counts = node.op.sign == "*" and other.dtype == "int" and other.op.name != "input"
    compared = x in _compared(node) and x.dtype == "float"
    return compared or counts or node.op.sign == "-" or _is_upper(x)


def _is_gated(x: Node, other: Node, other_terms: Sequence[Node]) -> bool:
    """Whether x is c in `f * c + i * h`, where f and the added term are functions of matrices."""
    function = other.op.family == "elementwise" and not other.op.sign
    added = [n for n in other_terms if n.op.sign == "*"]
    same_shape = any(n.shape == other.shape and x not in walk([n]) for n in added)
    return function and same_shape and x.attrs["name"] not in GREEK


def _multiplies(node: Node, x: Node, other: Node, other_terms: Sequence[Node]) -> bool:
    """Whether x is probably a scalar factor or divisor of `other` in `node`, a term of a sum with
    `other_terms`.

    It is if `other` is a scalar and so is another term, as in loss + lam * norm(w); if `other` is a
    constant matrix such as eye(n); if `other` is a matrix product and another term is a constant
    matrix; or if `other` is an input with an upper-case name and another term is a matrix.
    """
    if node.op.sign not in ("*", "/") or (node.op.sign == "/" and node.parents[1] is not x):
        return False
    if not other.ndim:
        return any(not n.ndim and n.parents for n in other_terms)
    if other.ndim != 2:
        return False
    of_a_matrix = _is_upper(other) and not _is_upper(x) and any(n.ndim == 2 for n in other_terms)
    constants = [n for n in other_terms if n.ndim == 2 and _is_constant(n)]
    to_constant = "matrices" in other.op.typical_inputs and bool(constants)
    return (_is_constant(other) and bool(other_terms)) or of_a_matrix or to_constant


def _is_constant(node: Node) -> bool:
    return all(n.op.name != "input" for n in walk([node]))


def _begins_with(node: Node, varying: Collection[Node]) -> Node:
    """y for `-y` and `1 - y`: the node without elementwise operations with constants."""
    while node.op.family == "elementwise" and sum(i in varying for i in node.parents) == 1:
        node = next(i for i in node.parents if i in varying)
    return node


def _sources(node: Node) -> Sequence[Node | None]:
    """The inputs of a node, or its expansion if there is one."""
    return node.inputs if node.expansion is None else (node.expansion,)
