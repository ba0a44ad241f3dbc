"""Forward mode, from the reverse pass alone.

The VJP is linear in its seed, and its own VJP is the JVP.
"""

from collections.abc import Mapping

from ..graphs import OPS, Node
from .reverse import backward


def jvp(out: Node, tangents: Mapping[Node, Node]) -> Node | None:
    """The Jacobian of `out` times the tangents, each in the shape of its node.

    None where `out` depends on none of them.
    """
    seed = OPS["input"](name="g", shape=out.shape, is_seed=True)
    total = None
    for x, grad in backward(out, seed, list(tangents)).of.items():
        part = grad and backward(grad, tangents[x], [seed]).of[seed]
        if part is not None:
            total = part if total is None else total + part
    return total
