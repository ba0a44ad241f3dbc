"""torch.typename: the name of the type of a value, or the name of a class or function, in PyTorch's
errors.
"""

from typing import Any

from ..python.objects import Function
from ..python.values import Bound, Builtin, Class, Machine
from .tables import define
from .tensor import Tensor

IN_C = (  # functions of torch.nn.functional that torch has too
    "adaptive_avg_pool1d avg_pool1d bilinear celu_ channel_shuffle conv1d conv2d conv3d conv_tbc "
    "conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity hardshrink "
    "pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu relu_ rrelu_ selu_ threshold_"
)
COMPILED_NN_FUNCTIONS = (  # functions of torch.nn.functional that are compiled
    "avg_pool2d avg_pool3d elu_ gelu hardtanh_ leaky_relu_ linear log_sigmoid one_hot "
    "scaled_dot_product_attention softplus softshrink"
)
DISPATCHED = (  # functions of torch.nn.functional that boolean_dispatch makes
    "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d "
    "fractional_max_pool3d max_pool1d max_pool2d max_pool3d"
)
IN_PYTHON = (  # functions of torch that are written in Python
    "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod "
    "cdist chain_matmul einsum lu meshgrid norm pca_lowrank split stft svd_lowrank tensordot "
    "unique unique_consecutive unravel_index"
)


PREFIXED = ("torch.fft", "torch.linalg", "torch.special")  # modules whose functions are compiled


@define("torch")
def typename(m: Machine, obj: Any) -> str:
    """The name of a class or a function; for any other value, that of its type."""
    if isinstance(obj, Tensor):
        return f"torch.{obj.dtype.legacy}"
    if isinstance(obj, Bound):
        obj = obj.function
    if isinstance(obj, Function):
        return m.call_name(obj)
    if isinstance(obj, Builtin):
        return _of_function(obj.module, obj.name)
    return (obj if isinstance(obj, Class) else m.class_of(obj)).full_name


def _of_function(module: str, name: str) -> str:
    if module == "torch.nn.functional":
        if name in COMPILED_NN_FUNCTIONS.split():
            return f"torch._C._nn.{name}"
        if name in DISPATCHED.split():
            return f"{module}.boolean_dispatch.<locals>.fn"
        if name not in IN_C.split():
            return f"{module}.{name}"
        module = "torch"
    if module in PREFIXED:
        return f"torch._C._{module.removeprefix('torch.')}.{name}"
    if module == "torch":
        home = "functional" if name in IN_PYTHON.split() else "_VariableFunctionsClass"
        return f"torch.{home}.{name}"
    return f"{module}.{name}" if module else name
