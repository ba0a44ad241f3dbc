"""Operations whose result may differ from PyTorch's in the last digit.

PyTorch computes roots, logarithms and the like with libraries whose rounding depends on the CPU,
and long sums in the order of its vector instructions. In single precision, an operator's definition
says whether its result is exact nevertheless, since single.py repeats PyTorch's steps. Other
operations are noted here, so that the answer can mention them.
"""

from ...graphs import Node
from .dtypes import DType
from .mode import MODE
from .single import BACKWARDS, KERNELS

# exact in single precision only, by the kernels of single.py; integer powers are always exact
INEXACT_IN_DOUBLE = (KERNELS.keys() | BACKWARDS.keys()) - {"pow"}

# files of operators that PyTorch computes by factorisations: integers may come out as neighbours
FACTORING = (
    *("determinants", "inverses", "singular", "decompositions", "triangular"),
    *("least_squares", "spectral"),
)


def note(node: Node, dtype: DType, *, back: bool = False) -> None:
    """Note that the program runs an operation whose last digits may differ."""
    if node.dtype == "float" and not _is_exact(node, dtype, back):
        lines = MODE.unsure.setdefault(dtype.size, {})
        op = node.op
        name = op.name if op.torch else op.module.replace("_", " ")  # the name of its family
        lines.setdefault(name, MODE.place())
        MODE.factored |= op.module in FACTORING


def _is_exact(node: Node, dtype: DType, back: bool) -> bool:
    """Whether the last digits are PyTorch's. In double or half precision this holds only for
    operators whose steps are the same there.
    """
    op = node.op
    if dtype.size == 8 and op.name in INEXACT_IN_DOUBLE:
        return False
    if dtype.size == 2 and op.expand is not None:
        return False
    return op.is_exact(node, back=back)
