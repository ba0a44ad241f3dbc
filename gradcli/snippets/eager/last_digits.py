"""Which operations may differ from PyTorch's in the last digit of a number.

PyTorch takes roots, logarithms and their like from libraries that round otherwise on other
processors, and adds up long sums in the order of its vectors. In single precision the records of
operators say which ones are the same nevertheless; single.py has the order of their steps. What is
not known to be the same is noted here, so that the answer can say it.
"""

from ...graphs import Node
from .dtypes import DType
from .mode import MODE
from .single import BACKWARDS, KERNELS

# in double precision as in single: whole powers, the only exact ones, are multiplied out
STEPS_OF_SINGLES = (KERNELS.keys() | BACKWARDS.keys()) - {"pow"}


def note(node: Node, dtype: DType, *, back: bool = False) -> None:
    """Note that the program does an operation whose last digits may be others."""
    if node.dtype == "float" and not _is_exact(node, dtype, back):
        lines = MODE.unsure.setdefault(dtype.size, {})
        lines.setdefault(node.op.name, MODE.place())


def _is_exact(node: Node, dtype: DType, back: bool) -> bool:
    """Whether the last digits are PyTorch's, in a precision that is not single only of operators
    that have the same steps there.
    """
    op = node.op
    if dtype.size == 8 and op.name in STEPS_OF_SINGLES:
        return False
    if dtype.size == 2 and op.expand is not None:
        return False
    return op.is_exact(node, back=back)
