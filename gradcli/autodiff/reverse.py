"""The reverse pass. It builds graph and computes nothing.

This is the only place that knows about broadcasting: what a rule answers is brought to the shape of
the input it is for by visible nodes, `expand` and `sum_to_size`.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from operator import attrgetter
from typing import Any, NamedTuple

from ..errors import MISUSES, GradcliError, misused
from ..gc_policy import uncollected
from ..graphs import OPS, Node, NoRule, StaysZero, shapes, walk
from ..remembering import remembered

PLACES = ("first", "second", "third", "fourth")


class Contribution(NamedTuple):
    """What one operation sends to one of its inputs."""

    slot: int  # which of the node's inputs
    to: Node
    local: Node  # what the rule answers
    sent: Node  # the same, in the shape of the input


class Step(NamedTuple):
    """One operation on the way back: what it receives and what it sends."""

    node: Node
    received: Node
    contributions: list[Contribution]


class Gradients(NamedTuple):
    """The gradient of every `wrt`, None where the output does not depend on it; the way there; what
    only a 0 reaches that stays 0.
    """

    of: dict[Node, Node | None]
    steps: list[Step]
    still: Collection[Node] = ()


def backward(
    out: Node, seed: Node, wrt: Collection[Node], made: Collection[Node] = (), zeros: bool = False
) -> Gradients:
    """The gradient of <seed, out> by every node of `wrt`, in the shape of that node."""
    return from_several({out: seed}, wrt, made, zeros)


def _nodes(result: Gradients) -> int:
    return len(walk([node for node in result.of.values() if node is not None]))


# The same program is often asked about with other values.
remembered_backward = remembered(100_000, lambda found, *_: _nodes(found))(backward)


@uncollected()
def from_several(
    seeds: Mapping[Node, Node],
    wrt: Collection[Node],
    made: Collection[Node] = (),
    zeros: bool = False,
    ends: Collection[Node] = (),
) -> Gradients:
    """The same for several outputs, each with its seed, in one pass.

    Operations are met in the order in which PyTorch goes back, the latest first, and what arrives
    at a node from several sides is added in that order; `made` are nodes in the order in which a
    program made them; what stands before `ends` depends on no `wrt`. With `zeros`, what flat
    operators send depends on what PyTorch computes it with, by a derivative of 0 that flows on, and
    a 0 that stays 0 on what PyTorch multiplies it by.
    """
    targets = set(wrt)
    before = {n for n in (*targets, *ends) if n.inputs}  # what is not looked into
    inputs = (lambda n: () if n in before else n.inputs) if before else attrgetter("inputs")
    active = conducting(walk([*made, *seeds], inputs), targets)
    grads, stay = dict(seeds), dict[Node, Node]()
    steps = []
    for node in reversed(active):
        received = _arrived(node, grads, stay, zeros)
        if node in targets or received is None:
            continue
        answers = _answers(node, received, active, zeros)
        contributions = _contributions(node, answers)
        if node in grads:
            _add(grads, [(to, sent) for _, to, _, sent in contributions])
            if contributions or not answers:
                steps.append(Step(node, received, contributions))
        else:
            _add(stay, [(to, OPS["still_zero"](sent)) for _, to, _, sent in contributions])
        stops = [(to, local) for _, to, local in answers if isinstance(local, StaysZero)]
        _add(stay, [(to, s.node or OPS["zeros"](size=to.shape)) for to, s in stops])
    of = {w: _arrived(w, grads, stay, zeros) if w in active else None for w in wrt}
    return Gradients(of, steps, stay.keys() - grads.keys())


def _add(grads: dict[Node, Node], sent: Sequence[tuple[Node, Node]]) -> None:
    """Add to what has arrived at nodes what is sent to them."""
    for to, local in sent:
        grads[to] = grads[to] + local if to in grads else local


def _arrived(
    node: Node, grads: Mapping[Node, Node], stay: Mapping[Node, Node], zeros: bool
) -> Node | None:
    """What a node receives; with `zeros` what stays 0 is part of it, otherwise it is but a 0."""
    result, zero = grads.get(node), stay.get(node)
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


def _answers(
    node: Node, received: Node, active: Collection[Node | None], zeros: bool
) -> list[tuple[int, Node, Node | StaysZero]]:
    """What the rule of a node answers for each input that counts: its slot, and the input."""
    result = _answer(node, received, active, zeros)
    answers = zip(
        node.inputs, _with_zeros(node, received, result) if zeros else result, strict=True
    )
    return [
        (slot, to, _derived(local, slot, node))
        for slot, (to, local) in enumerate(answers)
        if local is not None and to is not None and to in active
    ]


def _contributions(
    node: Node, answers: list[tuple[int, Node, Node | StaysZero]]
) -> list[Contribution]:
    return [
        Contribution(slot, to, local, fit(local, to.shape, node))
        for slot, to, local in answers
        if isinstance(local, Node)
    ]


def _with_zeros(node: Node, received: Node, answers: Sequence[Any]) -> Sequence[Any]:
    """What a rule answers, flat by what PyTorch computes it with, where that is flat: the output,
    where the rule takes it, otherwise the inputs. What it received may hold the output too.
    """
    flat = node.op.flat_inputs(node).values()
    if not flat:
        return answers
    text = [a for a in answers if isinstance(a, Node)]
    built = walk(text, lambda n: () if n is received else n.inputs)
    used = [i for i in ([node] if node in built else node.parents) if conducts(i)]
    return [
        reduce(OPS["flat_by"], used, a) if isinstance(a, Node) and i in flat else a
        for i, a in zip(node.inputs, answers, strict=True)
    ]


def _derived(local: Any, slot: int, node: Node) -> Node | StaysZero:
    """What a rule answers, where that is a gradient."""
    if isinstance(local, NoRule):
        message = f"{node.op.name}() has no derivative by its {PLACES[slot]} input"
        hint = f"PyTorch: {local.torch}"
        raise GradcliError("not-differentiable", message, hint=hint, span=node.span)
    return local


def _answer(
    node: Node, received: Node, active: Collection[Node | None], zeros: bool
) -> Sequence[Any]:
    """What the rule of `node` gives for every input; its meaning, where there is no rule.

    A rule says NotImplemented where the meaning serves better.
    """
    rule, answer = node.op.rule, NotImplemented
    if rule is not None:
        try:
            answer = rule(received, node, *node.inputs, **node.attrs)
        except MISUSES as error:
            raise misused(node.op.name, node.op.usage()).at(node.span) from error
    if answer is NotImplemented:
        inputs = dict.fromkeys(i for i in node.parents if i in active)
        result = backward(node.op.expanded(node), received, inputs, zeros=zeros)
        still = result.still
        of: dict[Node, Any] = {i: StaysZero(n) if i in still else n for i, n in result.of.items()}
        return [None if i is None else of.pop(i, None) for i in node.inputs]
    return answer if isinstance(answer, tuple) else (answer,)


def fit(local: Node, shape: shapes.Shape, node: Node) -> Node:
    """`local`, what the rule of `node` answers, in the shape of an input: undoes broadcasting."""
    if node.op.family == "elementwise" and local.shape != node.shape:
        local = local.expand(shape=node.shape)
    if local.shape == shape:
        return local
    return (
        local.expand(shape=shape)
        if shapes.fits(local.shape, shape)
        else local.sum_to_size(shape=shape)
    )
