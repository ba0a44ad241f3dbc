"""Forward mode: tangents go through what was recorded, an operation after the other.

Through one operation they go as the way back of its way back; through those that put tensors
together as these go themselves, as zeros that are added up on two ways back lose their signs; and
through a quotient by PyTorch's own rule for it, (da - db * y) / b.
"""

from collections.abc import Sequence
from typing import Any

from ...graphs import Node
from ...lazy import np
from ..python.values import Class, Machine, Object, Unsupported
from .engine import Accumulator, Edge, Record, fitted, go_back, inputs_first, zeros_like
from .mode import recording
from .tensor import Tensor

TOGETHER = ("stack", "cat", "where")
Tangents = Sequence[Tensor | None]


class Linearized(Object):
    """What was recorded between inputs and outputs, to push tangents through."""

    __slots__ = ("inputs", "outputs", "seeds", "ways_back")
    cls = Class("Linearized")

    def __init__(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor]):
        self.outputs, self.inputs = outputs, inputs
        self.ways_back: dict[Record, tuple[list[Tensor], Tangents]] = {}
        self.seeds: list[Tensor] = []

    def pushed(self, m: Machine, tangents: Sequence[Tensor]) -> list[Tensor | None]:
        """The tangents of the outputs from those of the inputs; None where nothing arrives."""
        found: dict[Edge | None, Tensor] = {x.edge: t for x, t in zip(self.inputs, tangents)}
        starts = {edge.record for edge in found if edge}
        roots = [o.edge.record for o in self.outputs if o.edge]
        for record in inputs_first(roots, starts):
            if record in starts or isinstance(record, Accumulator):
                continue
            arriving = [found.get(edge) if edge else None for edge in record.edges]
            if any(t is not None for t in arriving):
                for place, tangent in enumerate(self._through(m, record, arriving)):
                    if tangent is not None:
                        found[Edge(record, place)] = tangent
        return [found.get(o.edge) if o.edge else None for o in self.outputs]

    def _through(self, m: Machine, record: Record, tangents: Tangents) -> Tangents:
        """The tangents of an operation's outputs from those of its inputs."""
        node = record.call[0] if isinstance(record.call, tuple) else None
        if isinstance(node, Node) and node.op.name in TOGETHER:
            return [_together(node, record.call[1], tangents)]
        if isinstance(node, Node) and node.op.name == "div" and not any(node.attrs.values()):
            return [_quotient(*record.call[1], *tangents)]
        seeds, back = self._way_back(m, record)
        pairs = [(g.edge, t) for g, t in zip(back, tangents) if g is not None and t is not None]
        roots = [(edge, tangent) for edge, tangent in pairs if edge is not None]
        wanted = [Edge(s.edge.record, 0) for s in seeds if s.edge]
        if not roots:
            return [None] * len(seeds)
        answers = go_back(m, roots, keep=True, create_graph=True, wanted=wanted, accumulate=False)
        return [answers[edge] for edge in wanted]

    def _way_back(self, m: Machine, record: Record) -> tuple[list[Tensor], Tangents]:
        """Seeds for an operation's outputs, and what it sends back for them."""
        if record not in self.ways_back:
            seeds = [
                Tensor(np.zeros(meta.shape, meta.dtype.numpy), meta.dtype, requires_grad=True)
                for meta in record.metas
            ]
            if not record.freed and any(s.version != s.tensor.version.number for s in record.saved):
                raise Unsupported("forward mode through what was changed in place after its use")
            sent = zip(record.edges, record.backward(m, record, [*seeds]))
            back = [
                None if edge is None or g is None else fitted(g, edge, k, record)
                for k, (edge, g) in enumerate(sent)
            ]
            self.ways_back[record] = seeds, back
            self.seeds += seeds
        return self.ways_back[record]


def _together(node: Node, operands: Sequence[Any], tangents: Tangents) -> Tensor:
    """An operation on tangents: 0 where there is none, and conditions as they are."""
    from .apply import apply

    given = [
        tangent
        if tangent is not None
        else zeros_like(operand)
        if isinstance(operand, Tensor) and operand.dtype.is_floating
        else 0.0
        if isinstance(operand, int | float) and not isinstance(operand, bool)
        else operand
        for operand, tangent in zip(operands, tangents, strict=False)
    ]
    with recording(True):
        return apply(node.op, given, node.attrs)


def _quotient(a: Any, b: Any, da: Tensor | None, db: Tensor | None) -> Tensor:
    """The tangent of a / b."""
    from .calls import call

    with recording(True):
        moved = None if db is None else call("mul", [db, call("div", [a, b], {})], {})
        if moved is None:
            rise = da
        elif da is None:
            rise = call("neg", [moved], {})
        else:
            rise = call("sub", [da, moved], {})
        return call("div", [rise, b], {})


def pushed(m: Machine, linearized: Linearized, tangents: Sequence[Tensor]) -> list[Tensor]:
    """The tangents of all outputs; zeros where nothing arrives."""
    with recording(True):
        found = linearized.pushed(m, tangents)
    return [zeros_like(o) if t is None else t for o, t in zip(linearized.outputs, found)]
