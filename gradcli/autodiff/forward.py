"""Forward mode, by two reverse passes.

The VJP is linear in its seed, and the VJP of this linear map is the JVP. An elementwise operation
on the seed is a diagonal matrix and equals its transpose, so the JVP reuses it: a rule that
replaces an infinite derivative by 0 does so for tangents too. If a rule compares its seed with 0,
as that of xlogy does, the JVP still contains the seed, which is then replaced by 1.
"""

from collections.abc import Collection, Mapping
from functools import reduce
from operator import add

from ..graphs import OPS, Node, downstream, walk
from ..graphs.substitution import substitute
from .reverse import from_several


def jvp(out: Node, tangents: Mapping[Node, Node], ends: Collection[Node] = ()) -> Node | None:
    """The derivative of `out` along the tangents of its inputs; None if `out` depends on none of
    these inputs. Each tangent has the shape of its input. Nodes in `ends` are treated as constants.
    """
    seed = OPS["input"](name="\0seed", shape=out.shape, is_direction=True)
    grads = from_several({out: seed}, list(tangents), ends=ends).of
    result = transposed(grads, seed, tangents, ends)
    same = {n: n for n in (*tangents, *tangents.values(), *ends)}
    return result and substitute(result, same | {seed: OPS["ones"](size=out.shape)})


def transposed(
    grads: Mapping[Node, Node | None],
    seed: Node,
    tangents: Mapping[Node, Node],
    ends: Collection[Node] = (),
) -> Node | None:
    """The JVP, from the gradients of a VJP with a symbolic seed; None if all gradients are None."""
    seeds: dict[Node, Node] = {}
    for x, tangent in tangents.items():
        grad = grads[x]
        if grad is not None:
            seeds[grad] = seeds[grad] + tangent if grad in seeds else tangent
    fixed = {*tangents, *ends}
    last, arrived = _diagonal(seeds, seed, fixed), dict[Node, Node | None](seeds)
    if arrived.keys() != set(last):
        arrived = from_several(seeds, last, ends=fixed).of
    new, parts = {n: n for n in (*fixed, *tangents.values())}, list[Node]()
    for node in last:
        arriving = arrived[node]
        if arriving is not None:
            new[seed] = arriving
            parts.append(substitute(node, new))
    return reduce(add, parts) if parts else None


def _diagonal(grads: Collection[Node], seed: Node, inputs: Collection[Node]) -> Collection[Node]:
    """The last nodes on each path from the seed that are elementwise functions of the seed."""
    elementwise, ends = {seed}, set[Node]()
    order = walk(grads, lambda n: () if n in inputs else n.inputs)
    dependent = downstream(order, [seed])
    for node in order:
        dependent_inputs = [i for i in node.parents if i in dependent]
        if not dependent_inputs:
            continue
        is_elementwise = node.op.family == "elementwise" and node.dtype == "float"
        if is_elementwise and node.shape == seed.shape and elementwise.issuperset(dependent_inputs):
            elementwise.add(node)
        else:
            ends.update(elementwise.intersection(dependent_inputs))
    ends.update(elementwise.intersection(grads))
    return [node for node in order if node in ends]


def tangents_along(out: Node, tangents: Mapping[Node, Node]) -> dict[Node, Node]:
    """The tangents of the nodes from `tangents` to `out` that have one, in topological order."""
    result = dict(tangents)
    for node in walk([out]):
        moving = {i: result[i] for i in node.parents if i in result}
        if moving and node not in result:
            tangent = jvp(node, moving, ends=node.parents)
            if tangent is not None:
                result[node] = tangent
    return result
