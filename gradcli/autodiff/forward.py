"""Forward mode, from the reverse pass alone.

The VJP is linear in its seed, and its own VJP is the JVP.
"""

from collections.abc import Mapping

from ..graphs import OPS, Node
from .reverse import backward, from_several


def jvp(out: Node, tangents: Mapping[Node, Node]) -> Node | None:
    """The Jacobian of `out` times the tangents, each in the shape of its node, in one pass.

    None where `out` depends on none of them.
    """
    seed = OPS["input"](name="g", shape=out.shape, is_seed=True)
    return transposed(backward(out, seed, list(tangents)).of, seed, tangents)


def transposed(
    grads: Mapping[Node, Node | None], seed: Node, tangents: Mapping[Node, Node]
) -> Node | None:
    """The JVP from the gradients of its nodes for a seed."""
    seeds: dict[Node, Node] = {}
    for x, tangent in tangents.items():
        grad = grads[x]
        if grad is not None:
            seeds[grad] = seeds[grad] + tangent if grad in seeds else tangent
    return from_several(seeds, [seed]).of[seed]
