"""The cost of gradients and Jacobians, computed from shapes: FLOP, passes, memory."""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from ..autodiff.forward import transposed
from ..autodiff.reverse import Step, backward
from ..graphs import AGAIN, INTERMEDIATE, OPS, Node, intern, walk
from ..graphs.flops import total
from ..language.problem import Input
from .analysis import Analysis
from .phrases import item_size


class Passes(NamedTuple):
    """FLOP in addition to the forward pass: those shared by all passes, and those of each pass."""

    shared: int
    each: int

    def times(self, count: int) -> int:
        """The FLOP of `count` passes."""
        return self.shared + count * self.each


class FullJacobian(NamedTuple):
    """The cost of a full Jacobian: a reverse pass for each row, or a forward one a column."""

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
    """A tensor that is saved for backward; `memory` is the node that owns its memory, another one
    if the tensor is a view.
    """

    node: Node
    memory: Node


class Saved(NamedTuple):
    """The tensors of the forward pass that are saved for one operation."""

    node: Node
    reads: tuple[Read, ...]


class Cost(NamedTuple):
    """FLOP of the forward pass, of a VJP and of a JVP; the Jacobians; the tensors saved."""

    forward: int
    vjp: Passes
    jvp: Passes
    jacobians: tuple[FullJacobian, ...]
    saved: tuple[Saved, ...]

    @property
    def saved_tensors(self) -> dict[Node, list[Node]]:
        """The saved tensors, and the operations that read each."""
        result: dict[Node, list[Node]] = {}
        for saved in self.saved:
            for memory in dict.fromkeys(read.memory for read in saved.reads):
                result.setdefault(memory, []).append(saved.node)
        return result


def size_of(node: Node, dtype: str) -> int:
    """The size of a tensor in bytes."""
    return node.numel * item_size(node.dtype, dtype)


def cost(a: Analysis) -> Cost:
    """The cost of a problem's gradients and Jacobians."""
    p, grads = a.problem, a.gradients.of
    computed_nodes = computed(p.out)
    tangents = {
        x.node: OPS["input"](name=f"t_{x.name}", shape=x.shape, is_direction=True) for x in p.wrt
    }

    def back(*wrt: Input) -> Passes:
        return _passes([grads[x.node] for x in wrt], [p.seed.node], computed_nodes)

    def forward(*wrt: Input) -> Passes:
        directions = {x.node: tangents[x.node] for x in wrt}
        return _passes(
            [transposed(grads, p.seed.node, directions)], directions.values(), computed_nodes
        )

    written = _as_written(computed_nodes)
    steps = (_saved(step, computed_nodes, written) for step in reversed(a.gradients.steps))
    return Cost(
        total(walk([p.out])),
        back(*p.wrt),
        forward(*p.wrt),
        tuple(FullJacobian(x, p.out.numel, x.node.numel, back(x), forward(x)) for x in p.wrt),
        tuple(s for s in steps if s.reads),
    )


def computed(out: Node) -> dict[Node, int]:
    """The nodes that the forward pass computes, with their positions in topological order; includes
    the expansions of operators that are computed or differentiated by expansion.
    """

    def parts(node: Node) -> tuple[Node | None, ...]:
        op = node.op
        through = op.expand is not None and (op.rule is None or op.value is None)
        return (*node.inputs, op.expanded(node)) if through else node.inputs

    return {node: place for place, node in enumerate(walk([out], parts))}


def _passes(
    roots: list[Node | None], varying: Collection[Node], computed_nodes: Mapping[Node, int]
) -> Passes:
    """FLOP of `roots` in addition to the forward pass; nodes that depend on `varying` are computed
    again in every pass.
    """
    depends, shared, each = set(varying), [], []
    result = [root for root in roots if root is not None]
    for node in walk(result, lambda n: () if n in computed_nodes else n.inputs):
        if node in computed_nodes or node in depends:
            continue
        if depends.isdisjoint(node.parents):
            shared.append(node)
        else:
            depends.add(node)
            each.append(node)
    return Passes(total(shared), total(each))


def _as_written(nodes: Collection[Node]) -> dict[Node, Node]:
    """The nodes of the program by equivalent nodes: their expansions, and for one of several
    outputs the node with all outputs.
    """
    parts = {
        intern(n.op, n.inputs, n.attrs): n
        for n in nodes
        if n.span and any(isinstance(part, Node) for part in n.op.saved_for(n))
    }
    meanings = {n.expansion: n for n in nodes if n.expansion and n.expansion not in n.inputs}
    return parts | meanings


def _saved(step: Step, computed_nodes: Mapping[Node, int], written: Mapping[Node, Node]) -> Saved:
    """The tensors saved for one operation: those that its rule reads, or its field `saved`."""

    def memory(node: Node) -> Node:
        while node in written:
            node = written[node]
        return _memory(node)

    saved = (n for n in _saved_nodes(step, computed_nodes) if n is not None and not _is_number(n))
    return Saved(step.node, tuple(Read(n, memory(n)) for n in dict.fromkeys(saved)))


def _saved_nodes(step: Step, computed_nodes: Mapping[Node, int]) -> Iterator[Node | None]:
    """The nodes of the forward pass that PyTorch saves for an operation."""
    node = step.node
    named = dict(zip(node.op.inputs, node.inputs)) | {"output": node, INTERMEDIATE: None}
    for part in node.op.saved_for(node):
        if part is ... and node.op.rule is None:
            for inner in reversed(_expansion_steps(step)):
                yield from _saved_nodes(inner, computed_nodes)
        elif part in (..., AGAIN):
            yield from _nodes_read(step, computed_nodes, again=part == AGAIN)
        else:
            yield named[part] if isinstance(part, str) else part


def _expansion_steps(step: Step) -> list[Step]:
    """The reverse pass through the expansion of an operation without a rule."""
    targets = dict.fromkeys(c.to for c in step.contributions)
    return backward(step.node.op.expanded(step.node), step.received, targets).steps


def _nodes_read(step: Step, computed_nodes: Mapping[Node, int], again: bool) -> list[Node]:
    """The nodes of the forward pass that one operation reads in the reverse pass; with `again` not
    its output, which is recomputed.
    """
    excluded = (step.received, step.node) if again else (step.received,)

    def is_read(node: Node) -> bool:
        return node in computed_nodes and node not in excluded

    def sources(node: Node) -> tuple[Node | None, ...]:
        ends = node is step.received or is_read(node) or node.op.shape_only
        return () if ends else node.inputs

    nodes = walk([c.sent for c in step.contributions], sources)
    return sorted(filter(is_read, nodes), key=computed_nodes.__getitem__)


def _is_number(node: Node) -> bool:
    """Whether a node is a scalar constant or a size, which is not saved as a tensor."""
    return node.op.shape_only or (node.op.name == "constant" and node.shape == ())


def _memory(node: Node) -> Node:
    """The node that owns the memory of a view; the node itself if it is not a view."""
    while node.op.shares_memory(node):
        node = node.inputs[0]  # type: ignore[assignment]
    return node
