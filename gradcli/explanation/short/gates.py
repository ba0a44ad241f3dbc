"""Operations that send on what they receive at some places, and 0 at all others, as relu does."""

from typing import Any

from ...autodiff.reverse import Step
from ...graphs import OPS, Node
from ..analysis import Analysis


def let_through(a: Analysis, step: Step) -> Any:
    """The mask of the places at which an operation sends on what it receives; None where it does
    something else, and where its values are not known.
    """
    local = step.contributions[0].local if len(step.contributions) == 1 else None
    if local is None or local.op is not OPS["where"]:
        return None
    condition, yes, no = local.parents
    mask = a.value(condition)
    if mask is None or mask.shape != local.shape:
        return None
    if yes is step.received and _is_zero(no):
        return mask
    return ~mask if no is step.received and _is_zero(yes) else None


def _is_zero(node: Node) -> bool:
    return node.op.name == "constant" and node.attrs["value"] == 0
