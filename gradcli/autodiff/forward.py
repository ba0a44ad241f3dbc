"""Forward mode, from the reverse pass alone.

The VJP is linear in its seed, and its own VJP is the JVP. What it does with each element of the
seed by itself is a diagonal matrix, its own transpose, and taken as it is: a rule that puts 0 where
its slope is infinite does so for tangents too. Where a rule asks for a seed of 0, as
that of xlogy does, the seed is still there: it stands for any other than 0, and is 1.
"""

from collections.abc import Collection, Mapping
from functools import reduce
from operator import add

from ..graphs import OPS, Node, downstream, walk
from ..graphs.substitution import substitute
from .reverse import backward, from_several


def jvp(out: Node, tangents: Mapping[Node, Node]) -> Node | None:
    """The derivative of `out` along the tangents of its inputs, each of the input's shape.

    None where `out` depends on none of them.
    """
    seed = OPS["input"](name="\0seed", shape=out.shape, is_direction=True)
    result = transposed(backward(out, seed, list(tangents)).of, seed, tangents)
    kept = {n: n for n in (*tangents, *tangents.values())}
    return result and substitute(result, kept | {seed: OPS["ones"](size=out.shape)})


def transposed(
    grads: Mapping[Node, Node | None], seed: Node, tangents: Mapping[Node, Node]
) -> Node | None:
    """The JVP from the gradients of its nodes for a seed."""
    seeds: dict[Node, Node] = {}
    for x, tangent in tangents.items():
        grad = grads[x]
        if grad is not None:
            seeds[grad] = seeds[grad] + tangent if grad in seeds else tangent
    ends, arrived = _diagonal(seeds, seed, tangents), dict[Node, Node | None](seeds)
    if arrived.keys() != set(ends):
        arrived = from_several(seeds, ends, ends=tangents.keys()).of
    kept = {n: n for n in (*tangents, *tangents.values())}
    parts = [substitute(n, kept | {seed: t}) for n in ends if (t := arrived[n]) is not None]
    return reduce(add, parts) if parts else None


def _diagonal(grads: Collection[Node], seed: Node, inputs: Collection[Node]) -> Collection[Node]:
    """The nodes of gradients by `inputs` up to which each element of the seed goes its own way."""
    alone, ends = {seed}, set[Node]()
    order = walk(grads, lambda n: () if n in inputs else n.inputs)
    bound = downstream(order, [seed])
    for node in order:
        given = [i for i in node.parents if i in bound]
        if not given:
            continue
        single = node.op.family == "elementwise" and node.dtype == "float"
        if single and node.shape == seed.shape and alone.issuperset(given):
            alone.add(node)
        else:
            ends.update(alone.intersection(given))
    ends.update(alone.intersection(grads))
    return [node for node in order if node in ends]


def tangents_along(out: Node, tangents: Mapping[Node, Node]) -> dict[Node, Node]:
    """The tangent of every node on the way from those of `tangents` to `out`, in order, each from
    the tangents of its inputs; without one for what does not move.
    """
    result = dict(tangents)
    for node in walk([out]):
        moving = {i: result[i] for i in node.parents if i in result}
        if moving and node not in result:
            tangent = jvp(node, moving)
            if tangent is not None:
                result[node] = tangent
    return result
