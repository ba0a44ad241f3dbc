"""The reverse pass. It builds a graph and computes no values.

Only this module handles broadcasting in gradients: the result of a rule is brought to the shape of
the input by visible nodes, `expand` and `sum_to_size`.
"""

from collections.abc import Collection, Mapping, Sequence
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
    sent: Node  # the same, in the shape of the input


class Step(NamedTuple):
    """One operation of the reverse pass: its upstream gradient and its contributions."""

    node: Node
    received: Node
    contributions: list[Contribution]


class Gradients(NamedTuple):
    """The gradient of every `wrt`, None if the output does not depend on it; the steps of the pass;
    and the nodes in `still`, which receive only zeros that stay 0.
    """

    of: dict[Node, Node | None]
    steps: list[Step]
    still: Collection[Node] = ()


def backward(
    out: Node,
    seed: Node,
    wrt: Collection[Node],
    created: Collection[Node] = (),
    zeros: bool = False,
) -> Gradients:
    """The gradient of <seed, out> with respect to every node of `wrt`, in its shape."""
    return from_several({out: seed}, wrt, created, zeros)


def _nodes(result: Gradients) -> int:
    return len(walk([node for node in result.of.values() if node is not None]))


# The same program is often requested with other values.
cached_backward = sized_cache(100_000, lambda result, *_: _nodes(result))(backward)


@uncollected()
def from_several(
    seeds: Mapping[Node, Node],
    wrt: Collection[Node],
    created: Collection[Node] = (),
    zeros: bool = False,
    ends: Collection[Node] = (),
) -> Gradients:
    """The same for several outputs, each with its seed, in one pass.

    Operations are visited in PyTorch's order, the latest first, and contributions to a node are
    added in that order. `created` are nodes in the order in which a program created them; inputs of
    `ends` are not visited, as they depend on no `wrt`. With `zeros`, contributions of operators
    with the field `zero_second_derivative` depend, with a derivative of 0, on what PyTorch computes
    them from, and zeros that stay 0 on what PyTorch multiplies them by.
    """
    targets = set(wrt)
    boundary = {n for n in (*targets, *ends) if n.inputs}  # whose inputs are not visited
    inputs = (lambda n: () if n in boundary else n.inputs) if boundary else attrgetter("inputs")
    active = conducting(walk([*created, *seeds], inputs), targets)
    grads, stays_zero = dict(seeds), dict[Node, Node]()
    steps = []
    for node in reversed(active):
        received = _upstream_gradient(node, grads, stays_zero, zeros)
        if node in targets or received is None:
            continue
        results = _rule_results(node, received, active, zeros)
        contributions = _contributions(node, results)
        if node in grads:
            _add(grads, [(to, sent) for _, to, _, sent in contributions])
            if contributions or not results:
                steps.append(Step(node, received, contributions))
        else:
            _add(stays_zero, [(to, OPS["still_zero"](sent)) for _, to, _, sent in contributions])
        zero_results = [(to, local) for _, to, local in results if isinstance(local, StaysZero)]
        _add(stays_zero, [(to, s.node or OPS["zeros"](size=to.shape)) for to, s in zero_results])
    of = {w: _upstream_gradient(w, grads, stays_zero, zeros) if w in active else None for w in wrt}
    return Gradients(of, steps, stays_zero.keys() - grads.keys())


def _add(grads: dict[Node, Node], sent: Sequence[tuple[Node, Node]]) -> None:
    """Accumulate contributions to the gradients of nodes."""
    for target, contribution in sent:
        grads[target] = grads[target] + contribution if target in grads else contribution


def _upstream_gradient(
    node: Node, grads: Mapping[Node, Node], stays_zero: Mapping[Node, Node], zeros: bool
) -> Node | None:
    """The upstream gradient of a node; None if there is none. Zeros that stay 0 are added with
    `zeros`; without, they only turn None into zeros.
    """
    result, zero = grads.get(node), stays_zero.get(node)
    if zero is None:
        return result
    if zeros:
        return zero if result is None else result + zero
    return OPS["zeros"](size=node.shape) if result is None else result


def conducting(order: Sequence[Node], wrt: Collection[Node]) -> dict[Node, None]:
    """The nodes through which a gradient flows to `wrt`, in order; `wrt` count as leaves."""
    active: dict[Node, None] = {}
    for node in order:
        if node in wrt or (conducts(node) and not active.keys().isdisjoint(node.inputs)):
            active[node] = None
    return active


def conducts(node: Node) -> bool:
    """Whether a gradient can flow through a node."""
    return node.dtype == "float" and node.op.family != "barrier"


def _rule_results(
    node: Node, received: Node, active: Collection[Node | None], zeros: bool
) -> list[tuple[int, Node, Node | StaysZero]]:
    """Slot, input and result of a node's rule for each input in `active`."""
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
    """The results of a rule; those for inputs in `zero_second_derivative` get a derivative of 0
    with respect to what PyTorch computes them from: the output, if the rule uses it, otherwise the
    inputs. The upstream gradient is not searched for the output.
    """
    zero = node.op.inputs_with_zero_second_derivative(node).values()
    if not zero:
        return results
    nodes = [a for a in results if isinstance(a, Node)]
    order = walk(nodes, lambda n: () if n is received else n.inputs)
    used = [i for i in ([node] if node in order else node.parents) if conducts(i)]
    return [
        reduce(OPS["zero_derivative_by"], used, a) if isinstance(a, Node) and i in zero else a
        for i, a in zip(node.inputs, results, strict=True)
    ]


def _checked(local: Any, slot: int, node: Node) -> Node | StaysZero:
    """The result of a rule. Raises GradcliError for a NoRule."""
    if isinstance(local, NoRule):
        message = f"{node.op.name}() has no derivative with respect to its {PLACES[slot]} input"
        hint = f"PyTorch: {local.torch}"
        raise GradcliError("not-differentiable", message, hint=hint, span=node.span)
    return local


def _apply_rule(
    node: Node, received: Node, active: Collection[Node | None], zeros: bool
) -> Sequence[Any]:
    """The results of the rule of `node` for all inputs, or the gradients of its expansion, if there
    is no rule or it returns NotImplemented.
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
        still = result.still
        of: dict[Node, Any] = {i: StaysZero(n) if i in still else n for i, n in result.of.items()}
        return [None if i is None else of.pop(i, None) for i in node.inputs]
    return rule_result if isinstance(rule_result, tuple) else (rule_result,)


def fit(local: Node, shape: shapes.Shape, node: Node) -> Node:
    """`local`, a result of the rule of `node`, in the shape of an input: broadcasting is undone."""
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
    """A gradient with the values that its operators have with create_graph=True."""

    def for_second_order(node: Node, inputs: Sequence[Node | None]) -> Node | None:
        return node.op.with_graph and node.op.with_graph(*inputs, **node.attrs)

    return rebuilt(grad, for_second_order)


def refused_again(out: Node, x: Node) -> dict[str, str]:
    """The operators between x and out whose gradients PyTorch does not differentiate, by their
    names in PyTorch, with its error messages.
    """
    nodes = conducting(walk([out]), {x})
    messages = ((n.op, n.op.refused_again(n)) for n in nodes)
    return {op.part_of or op.name: text for op, text in messages if text is not None}
