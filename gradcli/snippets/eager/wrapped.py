"""How a tensor prints within transforms of torch.func, which wrap it once for each transform."""

import textwrap

from ..python.values import Unsupported
from .printing import tensor_text
from .records import detached
from .tensor import Record, Tensor
from .transforms import running


def text(tensor: Tensor) -> str:
    """repr() of a tensor. Raises Unsupported for rows of a vmap, and within jvp."""
    around = running()
    if not around or (tensor.level == 0 and tensor.view is None and not tensor.fields):
        return tensor_text(tensor)
    if "unbatched" in tensor.fields and all(kind == "vmap" for kind, _ in around):
        return tensor_text(tensor)
    if tensor.level == 0 or any(kind not in ("grad", "vjp") for kind, _ in around):
        raise Unsupported("the print of a tensor within this transform")
    if _leads_outside(tensor):
        raise Unsupported("the print of a tensor that requires a gradient outside of the transform")
    result = tensor_text(detached(tensor))
    for level in range(1, min(tensor.level, len(around)) + 1):
        result = f"GradTrackingTensor(lvl={level}, value=\n{textwrap.indent(result, ' ' * 4)}\n)"
    return result


def _leads_outside(tensor: Tensor) -> bool:
    """Whether the graph of a tensor has leaves that were made outside of the transforms."""
    if not tensor.requires_grad:
        return False
    stack, seen = [tensor.edge], set()
    while stack:
        edge = stack.pop()
        if edge is None or edge.record in seen:
            continue
        seen.add(edge.record)
        if isinstance(edge.record, Record):
            stack += edge.record.edges
        elif edge.record.tensor.level == 0:
            return True
    return False
