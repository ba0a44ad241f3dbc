"""Which operations may differ from PyTorch's in the last digit of a number.

PyTorch takes roots, logarithms and their like from libraries that round otherwise on other
processors, and adds up long sums in the order of its vectors. What is known of both is in
single.py; what is not known is noted here, so that the answer can say it.
"""

from ...graphs import Node
from .dtypes import DType
from .mode import MODE


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Operators some of whose results were measured to be a neighbour of PyTorch's.
LIBRARY = _names(
    """
    acos acosh asin asinh atan atan2 atanh celu cos cosh elu entr erf erfc erfinv exp exp2 expm1
    gelu glu i0 lgamma log log10 log1p log2 logaddexp logcumsumexp logit logsigmoid logsumexp mish
    ndtr polygamma pow selu sin sinc sinh softplus sqrt tan xlogy
    binary_cross_entropy binary_cross_entropy_with_logits cdist cholesky corrcoef cov cross_along
    det eigh_vectors eigvalsh group_norm instance_norm interpolate inv kl_div matrix_exp nll_loss
    prod qr_q qr_r quantile rms_norm scaled_dot_product_attention solve svdvals
    """
)
LIBRARY_BACK = LIBRARY | _names(  # further ones whose backward pass does
    """
    cosine_embedding_loss cosine_similarity cumprod log_softmax renorm softmax standardize std
    tanhshrink var
    """
)
HALF = _names(  # further ones in half precision
    """
    addcdiv cosine_similarity huber_loss margin_ranking_loss mse_loss pairwise_distance renorm rsqrt
    smooth_l1_loss softmax softsign standardize tanhshrink
    """
)
SUMS = _names(  # whose order is that of vectors of floats, and not known of doubles
    "cumsum layer_norm log_softmax mean softmax standardize std sum var vector_norm"
)
PRODUCTS = _names("matmul mm bmm mv addmm addmv addbmm baddbmm linear bilinear einsum tensordot")
WHOLE_POWERS = (-2, -1, 0, 1, 2, 3)  # exponents of powers that are multiplied out
LONG = 16  # terms of an element, from which on a product is added up in parts


def note(node: Node, dtype: DType, *, back: bool = False) -> None:
    """Note that the program does an operation whose last digits may be others."""
    name = node.op.name
    if node.dtype != "float":
        return
    known = LIBRARY_BACK if back else LIBRARY
    more = HALF if dtype.size == 2 else SUMS if dtype.size == 8 else ()
    if (name in known and not _is_power(node)) or name in more or _is_long(node, back):
        lines = MODE.unsure.setdefault(dtype.size, {})
        lines.setdefault(name, MODE.place())


def _is_power(node: Node) -> bool:
    """Whether an operation is a power that is computed by multiplying."""
    exponent = node.inputs[-1]
    if exponent is None or exponent.op.name != "constant":
        return False
    return node.op.name == "pow" and exponent.attrs["value"] in WHOLE_POWERS


def _is_long(node: Node, back: bool) -> bool:
    """Whether an operation is a convolution, or multiplies long rows; back also long columns."""
    name = node.op.name
    if name.startswith("conv"):
        return True
    given = [i.shape for i in node.inputs if i is not None and i.shape]
    return name in PRODUCTS and any(max(s if back else s[-1:]) > LONG for s in given)
