"""How PyTorch lays a tensor out in memory: by rows, but for transposes and inverses.

torch.kron (2.13) refuses a tensor that lies there by columns beside one that does not.
"""

from ...graphs import Node

STARTS = {"matmul", "mm", "mv", "outer", "kron", "diag"}  # lay out anew what they compute
THROUGH = {"elementwise", "reduction"}  # families that keep the layout of their inputs
KEEPING = {"softmax", "log_softmax", "getitem", "cumsum", "flip", "roll", "tril", "triu"}


def is_by_rows(x: Node) -> bool:
    """Whether it is plain to see that a tensor is laid out row by row."""
    stack = [x]
    while stack:
        part = stack.pop()
        if part.op.family in THROUGH or part.op.name in KEEPING:
            stack.extend(part.parents)
        elif part.inputs and part.op.name not in STARTS:
            return False
    return True
