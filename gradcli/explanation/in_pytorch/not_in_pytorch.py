"""Derivatives that PyTorch does not compute, and operations that it warns of."""

from collections.abc import Iterable

from ...autodiff.create_graph import refused_again
from ...graphs import Node, walk
from ...graphs.shapes import broadcast, text
from ...language.problem import Problem
from ..analysis import Analysis
from .not_in_jax import not_in_jax

CODE = "not-in-pytorch"


def not_in_pytorch(a: Analysis) -> list[tuple[str, str]]:
    """Notes on inputs of operators with respect to which PyTorch has no derivative, and on
    gradients that it does not differentiate; in a program of JAX on slopes that are not JAX's.
    """
    names = (name for x in a.problem.wrt for name in a.refused_again(x))
    return [*_fixed(a), *_not_again(names), *not_in_jax(a)]


def hessian_not_in_pytorch(p: Problem) -> list[tuple[str, str]]:
    """Notes on gradients that PyTorch does not differentiate, for a Hessian."""
    return _not_again(name for x in p.wrt for name in refused_again(p.out, x.node))


def _not_again(names: Iterable[str]) -> list[tuple[str, str]]:
    text = "PyTorch does not differentiate the gradient of {}: it raises an error."
    return [(CODE, text.format(name)) for name in dict.fromkeys(names)]


def _fixed(a: Analysis) -> list[tuple[str, str]]:
    result = []
    for step in a.gradients.steps:
        op = step.node.op
        fixed = op.inputs_without_derivative(step.node)
        for c in step.contributions if fixed else ():
            name = op.inputs[c.slot]
            if name in fixed:
                text = (
                    f"PyTorch has no derivative with respect to the {name} of {op.name}: it raises "
                    "an error."
                )
                result.append((CODE, text))
    return result


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
