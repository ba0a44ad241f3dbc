"""What an answer costs, from shapes alone: operations, passes, memory."""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from ..autodiff.forward import transposed
from ..autodiff.reverse import Step, backward
from ..graphs import AGAIN, OPS, Node, intern, walk
from ..graphs.flops import total
from ..language.problem import Input
from .analysis import Analysis
from .quantities import item_size


class Passes(NamedTuple):
    """FLOP beside those of the forward pass: what all passes share, and what each adds."""

    shared: int
    each: int

    def times(self, count: int) -> int:
        """FLOP of so many passes."""
        return self.shared + count * self.each


class FullJacobian(NamedTuple):
    """A Jacobian with all its entries: a pass back for each of its rows, or a pass forward for each
    of its columns.
    """

    x: Input
    rows: int
    columns: int
    back: Passes
    forward: Passes

    @property
    def entries(self) -> int:
        """Rows times columns."""
        return self.rows * self.columns


class Read(NamedTuple):
    """A tensor that is kept for the way back; `memory` is the node whose memory it is, where it is
    a view of another.
    """

    node: Node
    memory: Node


class Saved(NamedTuple):
    """What is kept of the forward pass for one operation."""

    node: Node
    reads: tuple[Read, ...]


class Cost(NamedTuple):
    """FLOP of the forward pass, of a VJP and of a JVP beside it; every Jacobian; what is saved."""

    forward: int
    vjp: Passes
    jvp: Passes
    jacobians: tuple[FullJacobian, ...]
    saved: tuple[Saved, ...]

    @property
    def kept(self) -> dict[Node, list[Node]]:
        """The tensors that are saved, each once, and the operations that read them."""
        result: dict[Node, list[Node]] = {}
        for saved in self.saved:
            for memory in dict.fromkeys(read.memory for read in saved.reads):
                result.setdefault(memory, []).append(saved.node)
        return result


def size_of(node: Node, dtype: str) -> int:
    """Bytes of a tensor."""
    return node.numel * item_size(node.dtype, dtype)


def cost(a: Analysis) -> Cost:
    """The cost of a problem's gradients and Jacobians."""
    p, grads = a.problem, a.gradients.of
    there = computed(p.out)
    tangents = {
        x.node: OPS["input"](name=f"t_{x.name}", shape=x.shape, is_direction=True) for x in p.wrt
    }

    def back(*wrt: Input) -> Passes:
        return _passes([grads[x.node] for x in wrt], [p.seed.node], there)

    def forward(*wrt: Input) -> Passes:
        given = {x.node: tangents[x.node] for x in wrt}
        return _passes([transposed(grads, p.seed.node, given)], given.values(), there)

    written = _as_written(there)
    steps = (_saved(step, there, written) for step in reversed(a.gradients.steps))
    return Cost(
        total(walk([p.out])),
        back(*p.wrt),
        forward(*p.wrt),
        tuple(FullJacobian(x, p.out.numel, x.node.numel, back(x), forward(x)) for x in p.wrt),
        tuple(s for s in steps if s.reads),
    )


def computed(out: Node) -> dict[Node, int]:
    """All that the forward pass computes, numbered in order: with the parts of what is computed, or
    differentiated, through its meaning.
    """

    def parts(node: Node) -> tuple[Node | None, ...]:
        op = node.op
        through = op.expand is not None and (op.rule is None or op.value is None)
        return (*node.inputs, op.expanded(node)) if through else node.inputs

    return {node: place for place, node in enumerate(walk([out], parts))}


def _passes(
    roots: list[Node | None], varying: Collection[Node], there: Mapping[Node, int]
) -> Passes:
    """FLOP of `roots` beside those of the forward pass; what depends on `varying` is computed anew
    in every pass.
    """
    depends, shared, each = set(varying), [], []
    result = [root for root in roots if root is not None]
    for node in walk(result, lambda n: () if n in there else n.inputs):
        if node in there or node in depends:
            continue
        if depends.isdisjoint(node.parents):
            shared.append(node)
        else:
            depends.add(node)
            each.append(node)
    return Passes(total(shared), total(each))


def _as_written(there: Collection[Node]) -> dict[Node, Node]:
    """The nodes of the program that stand for others: for what they mean, and for one of several
    outputs where operations ask for all.
    """
    parts = {intern(n.op, n.inputs, n.attrs): n for n in there if callable(n.op.saved) and n.span}
    meanings = {n.expansion: n for n in there if n.expansion and n.expansion not in n.inputs}
    return parts | meanings


def _saved(step: Step, there: Mapping[Node, int], written: Mapping[Node, Node]) -> Saved:
    """What is kept for one operation: what its rule reads, unless it says otherwise."""

    def memory(node: Node) -> Node:
        while node in written:
            node = written[node]
        return _memory(node)

    kept = (n for n in _kept(step, there) if n is not None and not _is_number(n))
    return Saved(step.node, tuple(Read(n, memory(n)) for n in dict.fromkeys(kept)))


def _kept(step: Step, there: Mapping[Node, int]) -> Iterator[Node | None]:
    node, says = step.node, step.node.op.saved
    named = dict(zip(node.op.inputs, node.inputs)) | {"output": node}
    for part in says(node, *node.inputs, **node.attrs) if callable(says) else says:
        if part is ... and node.op.rule is None:
            for inner in reversed(_within(step)):
                yield from _kept(inner, there)
        elif part in (..., AGAIN):
            yield from _read(step, there, again=part == AGAIN)
        else:
            yield named[part] if isinstance(part, str) else part


def _within(step: Step) -> list[Step]:
    """The way back through what an operation means, where that is its rule."""
    wanted = dict.fromkeys(c.to for c in step.contributions)
    return backward(step.node.op.expanded(step.node), step.received, wanted).steps


def _read(step: Step, there: Mapping[Node, int], again: bool) -> list[Node]:
    """The nodes of the forward pass that one operation reads on the way back; or those that its
    output is computed from `again`.
    """
    own = (step.received, step.node) if again else (step.received,)

    def is_read(node: Node) -> bool:
        return node in there and node not in own

    def sources(node: Node) -> tuple[Node | None, ...]:
        ends = node is step.received or is_read(node) or node.op.shape_only
        return () if ends else node.inputs

    met = walk([c.sent for c in step.contributions], sources)
    return sorted(filter(is_read, met), key=there.__getitem__)


def _is_number(node: Node) -> bool:
    """Whether it is a number of the program, or a size, which takes no tensor."""
    return node.op.shape_only or (node.op.name == "constant" and node.shape == ())


def _memory(node: Node) -> Node:
    """The node whose memory a view shows."""
    while node.op.shares_memory(node):
        node = node.inputs[0]  # type: ignore[assignment]
    return node
