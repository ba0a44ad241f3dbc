"""Derivatives that PyTorch does not compute or JAX computes differently, and PyTorch's warnings."""

from collections.abc import Iterable

from ...autodiff.reverse import double_backward_errors
from ...graphs import Node, walk
from ...graphs.shapes import broadcast, text
from ...language.names import libraries_of
from ...language.problem import Problem
from ...lazy import np
from ..analysis import Analysis, once
from .kinks import kinks_hit

NOT_IN_PYTORCH, NOT_IN_JAX = "not-in-pytorch", "not-in-jax"


@once
def not_differentiated(a: Analysis) -> list[tuple[str, str]]:
    """Notes on inputs with respect to which PyTorch has no derivative, and on gradients that it
    does not differentiate again; for a JAX program, also on derivatives that differ from JAX's.
    """
    names = (name for x in a.problem.wrt for name in a.double_backward_errors(x))
    return [*_without_derivative(a), *_not_twice(names), *_not_in_jax(a)]


def hessian_not_differentiated(p: Problem) -> list[tuple[str, str]]:
    """Notes on gradients that PyTorch does not differentiate, for a Hessian."""
    return _not_twice(name for x in p.wrt for name in double_backward_errors(p.out, x.node))


def _not_twice(names: Iterable[str]) -> list[tuple[str, str]]:
    text = "PyTorch does not differentiate the gradient of {}: it raises an error."
    return [(NOT_IN_PYTORCH, text.format(name)) for name in dict.fromkeys(names)]


def _without_derivative(a: Analysis) -> list[tuple[str, str]]:
    """Notes on inputs with respect to which PyTorch has no derivative."""
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
                result.append((NOT_IN_PYTORCH, text))
    return result


WARNED = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


def broadcast_losses(p: Problem) -> list[tuple[str, str]]:
    """Notes on losses whose input and target have different shapes, such as a column and a row, for
    which PyTorch warns "Using a target size that is different to the input size".
    """
    nodes = walk([p.out, *p.named.values()])
    text = [_mismatch(n) for n in nodes if n.op.name in WARNED]
    return [("broadcast-loss", s) for s in dict.fromkeys(text) if s]


def _mismatch(node: Node) -> str | None:
    x, t = (i.shape for i in node.parents[:2])
    if x == t:
        return None
    return (
        f"{node.op.name} compares an input of shape {text(x)} with a target of shape {text(t)}, "
        f"broadcast to {text(broadcast(x, t))}: PyTorch warns that this may not be meant."
    )


NONFINITE = "Where a value is nan or infinite, derivatives are those of PyTorch; JAX's may differ."
TIES = "JAX shares the gradient of {} among equal elements: where it compares two, each gets half."
SHARED = {"cummax_values": "cummax", "cummin_values": "cummin"}


def _not_in_jax(a: Analysis) -> list[tuple[str, str]]:
    """Notes on derivatives at nan, at infinity and at ties, in a program of JAX."""
    if "jax" not in libraries_of(a.problem.program):
        return []
    at_kinks = dict.fromkeys(node.op.name for node, _ in kinks_hit(a))
    texts = [TIES.format(SHARED[name]) for name in at_kinks if name in SHARED]
    if _has_nonfinite(a):
        texts.append(NONFINITE)
    return [(NOT_IN_JAX, text) for text in texts]


def _has_nonfinite(a: Analysis) -> bool:
    """Whether an input, an intermediate or a gradient contains nan or infinity."""
    nodes = [*a.problem.named.values(), a.problem.out, *(x.node for x in a.problem.inputs.values())]
    values = [a.value(n) for n in nodes if n.dtype == "float" and a.has_numbers(n)]
    values += [a.grad_value(x) for x in a.problem.wrt]
    return any(value is not None and not np.all(np.isfinite(value)) for value in values)
