"""Slopes of JAX that its functions do not have here, as each would need a mechanism of its own."""

from ...language.names import libraries_of
from ...lazy import np
from ..analysis import Analysis
from .conventions import kinks_met

CODE = "not-in-jax"
ENDS = "Where a value is nan or infinite, slopes are those of PyTorch, and JAX's own may differ."
TIES = "JAX shares the gradient of {} among equal elements, in the order in which it compares them."
SHARED = {"cummax_values": "cummax", "cummin_values": "cummin"}


def not_in_jax(a: Analysis) -> list[tuple[str, str]]:
    """Notes on slopes at nan, at infinity and at ties, in a program of JAX."""
    if "jax" not in libraries_of(a.problem.program):
        return []
    met = dict.fromkeys(node.op.name for node, _ in kinks_met(a))
    texts = [TIES.format(SHARED[name]) for name in met if name in SHARED]
    return [(CODE, text) for text in (*texts, *([ENDS] if _holds_ends(a) else []))]


def _holds_ends(a: Analysis) -> bool:
    """Whether an input, a result or a gradient has nan or infinity in it."""
    nodes = [*a.problem.named.values(), a.problem.out, *(x.node for x in a.problem.inputs.values())]
    values = [a.value(n) for n in nodes if n.dtype == "float" and a.has_numbers(n)]
    values += [a.grad_value(x) for x in a.problem.wrt]
    return any(value is not None and not np.all(np.isfinite(value)) for value in values)
