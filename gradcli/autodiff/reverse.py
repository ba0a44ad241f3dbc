"""The reverse pass. It builds a graph and computes no values.

Only this module handles broadcasting in gradients: the result of a rule is reshaped to the input by
the nodes `expand` and `sum_to_size`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from operator import attrgetter
from typing import Any, NamedTuple

from ..errors import MISUSES, GradcliError, misused
from ..graphs import OPS, Node, NoRule, StaysZero, shapes, walk
from ..graphs.substitution import rebuilt
from ..process import uncollected
from ..sized_cache import sized_cache

PLACES = ("first", "second", "third", "fourth")


class Contribution(NamedTuple):
    """The contribution of one operation to the gradient of one of its inputs."""

    slot: int  # the position among the node's inputs
    to: Node
    local: Node  # the result of the rule
    sent: Node  # `local`, expanded or summed to the shape of the input


class Step(NamedTuple):
    """One operation of the reverse pass: its upstream gradient and its contributions."""

    node: Node
    received: Node
    contributions: list[Contribution]


class Gradients(NamedTuple):
    """The gradient of each node of `wrt`, None if the output does not depend on it; the steps of
    the pass; and `zero_only`, the nodes that receive only persistent zeros (StaysZero).
    """

    of: dict[Node, Node | None]
    steps: list[Step]
    zero_only: Collection[Node] = ()


def backward(
    out: Node,
    seed: Node,
    wrt: Collection[Node],
    created: Collection[Node] = (),
    zeros: bool = False,
) -> Gradients:
    """The gradient of the inner product <seed, out> with respect to each node of `wrt`."""
    return from_several({out: seed}, wrt, created, zeros)


def _nodes(result: Gradients) -> int:
    return len(walk([node for node in result.of.values() if node is not None]))


# Cached, because the same program is often requested again with other values.
cached_backward = sized_cache(100_000, lambda result, *_: _nodes(result))(backward)


@uncollected()
def from_several(
    seeds: Mapping[Node, Node],
    wrt: Collection[Node],
    created: Collection[Node] = (),
    zeros: bool = False,
    ends: Collection[Node] = (),
) -> Gradients:
    """The same as `backward` for several outputs, each with its seed, in one pass.

    Operations are visited in PyTorch's order, the latest first, and contributions to a node are
    added in that order. `created` are nodes in the order in which a program created them. The
    inputs of nodes in `ends` are not visited. `zeros` is set for second derivatives: as in PyTorch,
    the gradient of an operator with the field `zero_second_derivative` then has a derivative of 0,
    not None, and persistent zeros (StaysZero) are added to other contributions.
    """
    targets = set(wrt)
    active = active_nodes(walk([*created, *seeds], _inputs_before(targets | {*ends})), targets)
    grads, stays_zero = dict(seeds), dict[Node, Node]()
    steps = []
    for node in reversed(active):
        received = _upstream_gradient(node, grads, stays_zero, zeros)
        if node in targets or received is None:
            continue
        results = _rule_results(node, received, active, zeros)
        contributions = _contributions(node, results)
        if node not in grads:
            _add(
                stays_zero, [(to, OPS["persistent_zero"](sent)) for _, to, _, sent in contributions]
            )
        elif contributions or not results:
            _add(grads, [(to, sent) for _, to, _, sent in contributions])
            steps.append(Step(node, received, contributions))
        _add(stays_zero, [(to, _zero(s, to)) for _, to, s in results if isinstance(s, StaysZero)])
    of = {w: _upstream_gradient(w, grads, stays_zero, zeros) if w in active else None for w in wrt}
    return Gradients(of, steps, stays_zero.keys() - grads.keys())


def _inputs_before(ends: Collection[Node]) -> Callable[[Node], Any]:
    """A function that returns the inputs of a node; () for a node in `ends`."""
    boundary = {n for n in ends if n.inputs}
    return (lambda n: () if n in boundary else n.inputs) if boundary else attrgetter("inputs")


def _add(grads: dict[Node, Node], sent: Sequence[tuple[Node, Node]]) -> None:
    """Accumulate contributions to the gradients of nodes."""
    for target, contribution in sent:
        grads[target] = grads[target] + contribution if target in grads else contribution


def _zero(result: StaysZero, to: Node) -> Node:
    """The persistent zero that a rule returns for an input."""
    return result.node or OPS["zeros"](size=to.shape)


def _upstream_gradient(
    node: Node, grads: Mapping[Node, Node], stays_zero: Mapping[Node, Node], zeros: bool
) -> Node | None:
    """The upstream gradient of a node; None if there is none. With `zeros`, persistent zeros are
    added to it; otherwise they only replace a missing gradient by 0.
    """
    result, zero = grads.get(node), stays_zero.get(node)
    if zero is None:
        return result
    if zeros:
        return zero if result is None else result + zero
    return OPS["zeros"](size=node.shape) if result is None else result


def active_nodes(order: Sequence[Node], wrt: Collection[Node]) -> dict[Node, None]:
    """The nodes through which a gradient flows to `wrt`, and those of `wrt`, as in `order`."""
    active: dict[Node, None] = {}
    for node in order:
        if node in wrt or (passes_gradient(node) and not active.keys().isdisjoint(node.inputs)):
            active[node] = None
    return active


def passes_gradient(node: Node) -> bool:
    """Whether a gradient can flow through a node."""
    return node.dtype == "float" and node.op.family != "barrier"


def _rule_results(
    node: Node, received: Node, active: Collection[Node | None], zeros: bool
) -> list[tuple[int, Node, Node | StaysZero]]:
    """Input position, input and result of a node's rule, for each input in `active`."""
    results = _apply_rule(node, received, active, zeros)
    if zeros:
        results = _with_zero_derivatives(node, received, results)
    return [
        (slot, to, _checked(local, slot, node))
        for slot, (to, local) in enumerate(zip(node.inputs, results, strict=True))
        if local is not None and to is not None and to in active
    ]


def _contributions(
    node: Node, results: list[tuple[int, Node, Node | StaysZero]]
) -> list[Contribution]:
    return [
        Contribution(slot, to, local, fit(local, to.shape, node))
        for slot, to, local in results
        if isinstance(local, Node)
    ]


def _with_zero_derivatives(node: Node, received: Node, results: Sequence[Any]) -> Sequence[Any]:
    """The results of a rule, with second derivatives of 0 where the field `zero_second_derivative`
    asks for them.

    These are derivatives with respect to what PyTorch computes the gradient from: the output if the
    rule uses it, otherwise the inputs.
    """
    zero = node.op.inputs_with_zero_second_derivative(node).values()
    if not zero:
        return results
    nodes = [a for a in results if isinstance(a, Node)]
    order = walk(nodes, lambda n: () if n is received else n.inputs)
    used = [i for i in ([node] if node in order else node.parents) if passes_gradient(i)]
    return [
        reduce(OPS["zero_derivative_by"], used, a) if isinstance(a, Node) and i in zero else a
        for i, a in zip(node.inputs, results, strict=True)
    ]


def _checked(local: Any, slot: int, node: Node) -> Node | StaysZero:
    """The result of a rule for one input. Raises GradcliError for a NoRule."""
    if isinstance(local, NoRule):
        message = f"{node.op.name}() has no derivative with respect to its {PLACES[slot]} input"
        hint = f"PyTorch: {local.torch}"
        raise GradcliError("not-differentiable", message, hint=hint, span=node.span)
    return local


def _apply_rule(
    node: Node, received: Node, active: Collection[Node | None], zeros: bool
) -> Sequence[Any]:
    """The results of the rule of `node` for all inputs; without a rule, or if it returns
    NotImplemented, the gradients of its expansion.
    """
    rule, rule_result = node.op.rule, NotImplemented
    if rule is not None:
        try:
            rule_result = rule(received, node, *node.inputs, **node.attrs)
        except MISUSES as error:
            raise misused(node.op.name, node.op.usage()).at(node.span) from error
    if rule_result is NotImplemented:
        inputs = dict.fromkeys(i for i in node.parents if i in active)
        result = backward(node.op.expanded(node), received, inputs, zeros=zeros)
        zero_only = result.zero_only
        of: dict[Node, Any] = {
            i: StaysZero(n) if i in zero_only else n for i, n in result.of.items()
        }
        return [None if i is None else of.pop(i, None) for i in node.inputs]
    return rule_result if isinstance(rule_result, tuple) else (rule_result,)


def fit(local: Node, shape: shapes.Shape, node: Node) -> Node:
    """`local`, a result of the rule of `node`, expanded or summed to the shape of an input."""
    if node.op.family == "elementwise" and local.shape != node.shape:
        local = local.expand(shape=node.shape)
    if local.shape == shape:
        return local
    return (
        local.expand(shape=shape)
        if shapes.fits(local.shape, shape)
        else local.sum_to_size(shape=shape)
    )


def with_graph(grad: Node) -> Node:
    """A gradient in which operators are replaced as their field `with_graph` requires."""

    def for_second_order(node: Node, inputs: Sequence[Node | None]) -> Node | None:
        return node.op.with_graph and node.op.with_graph(*inputs, **node.attrs)

    return rebuilt(grad, for_second_order)


def double_backward_errors(out: Node, x: Node) -> dict[str, str]:
    """PyTorch's error messages for a double backward from out to x, by operator."""
    nodes = active_nodes(walk([out]), {x})
    messages = ((n.op, n.op.double_backward_error(n)) for n in nodes)
    return {op.part_of or op.name: text for op, text in messages if text is not None}
