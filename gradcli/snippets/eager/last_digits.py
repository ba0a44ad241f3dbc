"""Notes operations whose result may differ from PyTorch's in the last digit, so that the answer can
mention them.

PyTorch computes roots, logarithms and the like with libraries whose rounding depends on the CPU,
and long sums in the order of its vector instructions. single.py repeats these steps for some
operators; `is_exact` in an operator's definition says for which results are exact.
"""

from ...graphs import Node
from .dtypes import DType
from .mode import MODE
from .single import BACKWARDS, KERNELS

# exact in single precision only (kernels of single.py); pow is exact for integer exponents
INEXACT_IN_DOUBLE = (KERNELS.keys() | BACKWARDS.keys()) - {"pow"}

# modules of operators that factorise matrices: an integer result may be off by the last digit
FACTORING = (
    *("determinants", "inverses", "singular", "decompositions", "triangular"),
    *("least_squares", "spectral"),
)


def note(node: Node, dtype: DType, *, back: bool = False) -> None:
    """Record in MODE that the program applies an operator whose last digits may differ, with the
    line. `back`: in the backward pass.
    """
    if node.dtype == "float" and not _is_exact(node, dtype, back):
        lines = MODE.unsure.setdefault(dtype.size, {})
        op = node.op
        name = op.name if op.torch else op.module.replace("_", " ")  # the file of its family
        lines.setdefault(name, MODE.place())
        MODE.factored |= op.module in FACTORING


def _is_exact(node: Node, dtype: DType, back: bool) -> bool:
    """Whether the last digits are PyTorch's. In double and half precision, that is true only of
    operators that are computed in the same steps as in PyTorch there.
    """
    op = node.op
    if dtype.size == 8 and op.name in INEXACT_IN_DOUBLE:
        return False
    if dtype.size == 2 and op.expand is not None:
        return False
    return op.is_exact(node, back=back)
