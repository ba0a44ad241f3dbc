"""Kronecker products for torch.kron, which refuses tensors that are not contiguous in memory, as
transposes and inverses.
"""

from collections.abc import Callable, Mapping

from ...graphs import OPS, Node
from .. import tree
from ..formulas.formula import KEEPING, STARTS, THROUGH, is_row_major
from ..tree import Attribute, Call, Infix, Method, Name, Prefix, Subscript, Tree

LEAVES = ("eye", "ones", "zeros", "arange")
METHODS = {
    *KEEPING,
    "double",
    "flatten",
    "reshape",
    "contiguous",
    "numel",
    "shape",
    "sum",
    "unfold",
}


def with_strides(formula: Tree, names: Mapping[Node, Tree]) -> Tree:
    """The formula with contiguous operands of Kronecker products: kron(eye(n), a).T for
    kron(eye(n), a.T), and kron(a, inv(b).contiguous()) for kron(a, inv(b)).
    """
    if "kron(" not in tree.text(formula):
        return formula
    nodes = {name.text: node for node, name in names.items() if isinstance(name, Name)}
    return _rewritten(formula, lambda part: _is_contiguous(part, nodes))


def _rewritten(part: Tree, by_rows: Callable[[Tree], bool]) -> Tree:
    def inside(inner: Tree) -> Tree:
        return _rewritten(inner, by_rows)

    if isinstance(part, Infix):
        return part._replace(left=inside(part.left), right=inside(part.right))
    if isinstance(part, Prefix):
        return part._replace(operand=inside(part.operand))
    if isinstance(part, Method | Subscript | Attribute):
        return part._replace(base=inside(part.base))
    if not isinstance(part, Call):
        return part
    call = part._replace(args=tuple(map(inside, part.args)))
    return _kron(call, by_rows) if call.function == "kron" else call


def _kron(call: Call, by_rows: Callable[[Tree], bool]) -> Tree:
    if all(map(by_rows, call.args)):
        return call
    transposed = [t for part in call.args if (t := _transposed(part)) is not None]
    if len(transposed) == len(call.args) and all(map(by_rows, transposed)):
        return Attribute(call._replace(args=tuple(transposed)), "T")
    parts = (part if by_rows(part) else Method(part, "contiguous") for part in call.args)
    return call._replace(args=tuple(parts))


def _transposed(part: Tree) -> Tree | None:
    """The transpose of a formula with .T, or of a symmetric matrix; None for others."""
    if isinstance(part, Attribute) and part.name == "T":
        return part.base
    if not isinstance(part, Call):
        return None
    is_square_ones = part.function == "ones" and len({*part.args}) == 1 < len(part.args)
    is_diagonal = part.function in ("eye", "diag") and len(part.args) == 1
    return part if is_square_ones or is_diagonal else None


def _is_contiguous(part: Tree, nodes: Mapping[str, Node]) -> bool:
    """Whether a tensor is known to be contiguous in memory."""
    if isinstance(part, Name):
        return part.text in nodes and is_row_major(nodes[part.text])
    if isinstance(part, Call):
        op = OPS.get(part.function)
        if part.function in LEAVES or (op and op.name in STARTS):
            return True
        if op is None or not (op.family in THROUGH or op.name in KEEPING):
            return False
    elif isinstance(part, Infix) and (part.symbol == "@" or _decides_strides(part.left, nodes)):
        return True
    elif isinstance(part, Attribute) and part.name == "T":
        return isinstance(part.base, Call) and part.base.function == "inv"  # it is column-major
    elif isinstance(part, Method | Attribute) and part.name not in METHODS:
        return False
    inner = [part.base] if isinstance(part, Method) else tree.children(part)
    return all(_is_contiguous(child, nodes) for child in inner)


def _decides_strides(left: Tree, nodes: Mapping[str, Node]) -> bool:
    """Whether the left operand decides the strides of a result, as a contiguous A of A + A.T."""
    node = nodes.get(left.text) if isinstance(left, Name) else None
    if node is None or node.ndim < 2 or min(node.shape[-2:]) < 2:
        return False
    return is_row_major(node)
