"""The Jacobian of a vector as its gradients at all one-hot seeds at once, which are the rows of an
identity: `linalg.cross(eye(3), a[None])` for cross(a, x).
"""

from ...graphs import OPS, Node, intern, walk

CROSS = "cross_along"


def row_by_row(grad: Node, seed: Node) -> Node | None:
    """The gradient of a vector with the rows of an identity in place of the seed; None unless it is
    a vector that the seed reaches through cross products and elementwise operations, which treat
    each row alike.
    """
    if seed.ndim != 1 or grad.ndim != 1:
        return None
    rows: dict[Node, Node] = {seed: OPS["eye"](n=seed.shape[0])}
    for n in walk([grad]):
        if n in rows or not any(i in rows for i in n.parents):
            continue
        alike = n.op.family == "elementwise" or n.op.name == CROSS
        if not alike or n.ndim != 1 or None in n.inputs:
            return None
        operands = [rows.get(i) or _beside_rows(i, n) for i in n.parents]
        rows[n] = intern(n.op, tuple(operands), n.attrs)
    crossed = any(n.op.name == CROSS for n in rows)
    return rows.get(grad) if crossed else None


def _beside_rows(x: Node, of: Node) -> Node:
    """An operand without rows, with a dimension for them where the operator does not broadcast."""
    return x[None] if of.op.name == CROSS else x
