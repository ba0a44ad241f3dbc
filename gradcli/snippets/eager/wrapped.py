"""Printing of tensors inside transforms of torch.func, where PyTorch wraps a tensor once for each
transform: GradTrackingTensor(lvl=1, value=...).
"""

import textwrap

from ..python.values import Unsupported
from .printing import tensor_text
from .records import detached, leaves
from .tensor import Tensor
from .transforms import running


def text(tensor: Tensor) -> str:
    """repr() of a tensor. Raises Unsupported inside vmap and jvp if it may differ there."""
    around = running()
    if not around or (tensor.level == 0 and tensor.view is None and not tensor.fields):
        return tensor_text(tensor)
    if "unbatched" in tensor.fields and all(kind == "vmap" for kind, _ in around):
        return tensor_text(tensor)
    if tensor.level == 0 or any(kind not in ("grad", "vjp") for kind, _ in around):
        raise Unsupported("printing a tensor inside this transform")
    if any(leaf.level == 0 for leaf in leaves(tensor)):
        raise Unsupported("printing a tensor that depends on a leaf outside the transform")
    result = tensor_text(detached(tensor))
    for level in range(1, min(tensor.level, len(around)) + 1):
        result = f"GradTrackingTensor(lvl={level}, value=\n{textwrap.indent(result, ' ' * 4)}\n)"
    return result
