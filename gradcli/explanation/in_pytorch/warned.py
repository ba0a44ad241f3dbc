"""Operations that PyTorch warns of."""

from ...graphs import Node, walk
from ...graphs.shapes import broadcast, text
from ...language.problem import Problem

WARNED = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


def broadcast_losses(p: Problem) -> list[tuple[str, str]]:
    """Notes on losses whose input and target have different shapes, as a column and a row ("Using a
    target size that is different to the input size").
    """
    nodes = walk([p.out, *p.named.values()])
    text = [_apart(n) for n in nodes if n.op.name in WARNED]
    return [("broadcast-loss", s) for s in dict.fromkeys(text) if s]


def _apart(node: Node) -> str | None:
    x, t = (i.shape for i in node.parents[:2])
    if x == t:
        return None
    return (
        f"{node.op.name} compares an input of shape {text(x)} with a target of shape {text(t)}, "
        f"broadcast to {text(broadcast(x, t))}: PyTorch warns that this may not be meant."
    )
