"""The memory layout of PyTorch's tensors: row-major, except for transposes and inverses.

torch.kron (2.13) refuses a column-major tensor together with one that is not.
"""

from ...graphs import Node

STARTS = {"matmul", "mm", "mv", "outer", "kron", "diag"}  # their results are row-major
THROUGH = {"elementwise", "reduction"}  # families that preserve the layout of their inputs
KEEPING = {"softmax", "log_softmax", "getitem", "cumsum", "flip", "roll", "tril", "triu"}


def is_row_major(x: Node) -> bool:
    """Whether a tensor is known to be row-major in memory."""
    stack = [x]
    while stack:
        part = stack.pop()
        if part.op.family in THROUGH or part.op.name in KEEPING:
            stack.extend(part.parents)
        elif part.inputs and part.op.name not in STARTS:
            return False
    return True
