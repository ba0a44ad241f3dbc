"""torch.autocast on a CPU: which functions compute in the autocast dtype, and which in float32.

The lists are those of aten/src/ATen/autocast_mode.h.
"""

from collections.abc import Sequence
from typing import Any

from .apply import cast
from .dtypes import FLOAT32, FLOAT64
from .mode import MODE
from .tensor import Tensor

IN_ITS_DTYPE = frozenset((
    *("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
    *("linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "addbmm", "multi_dot", "prelu"),
    *("scaled_dot_product_attention", "linalg.multi_dot", "linalg.vecdot"),
))  # fmt: skip
IN_SINGLE = frozenset((
    *("binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss"),
    *("cross_entropy", "ctc_loss", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss"),
    *("margin_ranking_loss", "mse_loss", "multi_margin_loss", "multilabel_margin_loss"),
    *("nll_loss", "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss"),
    *("triplet_margin_loss", "cdist", "prod", "quantile", "nanquantile", "trace", "cholesky"),
    *("cholesky_solve", "inverse", "avg_pool3d", "max_pool3d", "adaptive_avg_pool3d"),
))  # fmt: skip


def autocast(name: str, args: Sequence[Any]) -> Sequence[Any]:
    """The arguments of the function `name`, cast as torch.autocast casts them if it is enabled."""
    wanted = MODE.autocast
    if wanted is None:
        return args
    if name in IN_SINGLE or (name.startswith("linalg.") and name not in IN_ITS_DTYPE):
        wanted = FLOAT32
    elif name not in IN_ITS_DTYPE:
        return args
    return [_as(a, wanted) for a in args]


def _as(value: Any, dtype: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_as(v, dtype) for v in value)
    fits = isinstance(value, Tensor) and value.dtype.is_floating and value.dtype is not FLOAT64
    return cast(value, dtype) if fits and value.dtype is not dtype else value
