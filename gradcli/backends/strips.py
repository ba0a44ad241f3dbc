"""What compiled loops compute of a block: simple operations on rows, a few rows at a time.

Rows lie along the last dimension. The places of a program are the arrays that it reads, those that
it writes, and what comes between, which is never more than a few rows long. Where the extension
module `_strips` is not built there are no programs, and NumPy computes everything.
"""

from array import array
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from ..graphs import Node
from ..graphs.shapes import numel
from ..lazy import np

try:
    from . import _strips
except ImportError:  # it was installed without a C compiler
    LOOPS: Mapping[str, int] = {}
else:
    LOOPS = {name: code for code, name in enumerate(_strips.LOOPS)}

WIDEST = 512  # elements of a row, of which enough must fit the first cache
MOST_NODES = 40  # of a program, in which each has 4 places at the most; 192 are too many


class Source(NamedTuple):
    """What a value is computed from: all of a node, or the rows at the same place."""

    node: Any
    by_rows: bool


Plan = Mapping[Node, Sequence[Source]]


class Rows(NamedTuple):
    """Rows of `width` elements, counted by the dimensions `lead`; 1 where none is known longer."""

    lead: tuple[int, ...]
    width: int

    def fits(self, other: "Rows") -> bool:
        """Whether one program can go through both."""
        return self.lead == other.lead and len({1, self.width, other.width}) < 3


def adds_rows(node: Node) -> bool:
    """Whether the value of `node` is the sum of those that parts of the rows give."""
    adds = node.op.adds_rows
    return adds is not None and adds(*[i and i.shape for i in node.inputs], **node.attrs)


def rows_of(node: Node, sources: Sequence[Source]) -> Rows | None:
    """The rows that a loop computes `node` from, where there is a loop for it."""
    if node.op.loop is None or _loop(node) not in LOOPS or node.dtype != "float":
        return None
    moving = [s.node.shape for s in sources if s.node is not None and s.by_rows]
    fixed = [s.node.shape for s in sources if s.node is not None and not s.by_rows]
    adds = adds_rows(node)
    (fixed if adds else moving).append(node.shape)
    lead, width = moving[0][:-1], max(shape[-1] for shape in moving)
    if not (lead and numel(lead) and 1 <= width <= WIDEST):
        return None
    in_rows = all(shape[:-1] == lead and shape[-1] in (1, width) for shape in moving)
    for_all = all(numel(shape) == numel(shape[-1:]) in (1, width) for shape in fixed)
    if node.op.family != "elementwise":  # it goes along the rows, or adds them up
        for_all &= width > 1 and node.shape[-1:] == (width if adds else 1,)
    return Rows(lead, width) if in_rows and for_all else None


class Program:
    """Nodes that one call computes. `sources` are what it reads, `outputs` what it gives."""

    def __init__(self, nodes: Sequence[Node], width: int, plan: Plan, outputs: Sequence[Node]):
        self.width, self.outputs = width, outputs
        inner = set(nodes)
        read = [s for node in nodes for s in plan[node] if s.node not in inner]
        self.sources = list(dict.fromkeys(read))
        self.numbers = list(dict.fromkeys(n for node in nodes for n in _numbers(node)))
        between = [node for node in nodes if node not in outputs]
        order: list[Hashable] = [*self.sources, *self.numbers, *outputs, *between]
        place = {key: k for k, key in enumerate(order)}
        steps = array("i")
        for node in nodes:
            operands = [place[s.node if s.node in inner else s] for s in plan[node]]
            operands += [place[number] for number in _numbers(node)]
            steps.extend((LOOPS[_loop(node)], place[node], operands[0], operands[-1]))
        self.steps = steps.tobytes()
        strides = array("q")
        for node, by_rows in self.sources:
            strides.extend(self._strides(node, by_rows))
        strides.extend((0, 0) * len(self.numbers))
        for node in (*outputs, *between):
            strides.extend(self._strides(node, not adds_rows(node)))
        self.strides = strides.tobytes()

    def _strides(self, node: Node, by_rows: bool) -> tuple[int, int]:
        """Of a place, in elements: from row to row, and within a row."""
        along = 1 < node.shape[-1] == self.width if node.shape else False
        return by_rows * (self.width if along else 1), int(along)

    def __call__(self, arrays: Sequence[Any], room: Mapping[Any, Any]) -> dict[Any, Any]:
        """The arrays of `outputs`, from those of `sources`; some of them have `room` already, where
        rows are written, or added up.
        """
        read = [np.ascontiguousarray(a, dtype=np.float64) for a in (*arrays, *self.numbers)]
        lead = next(a.shape[:-1] for a, source in zip(read, self.sources) if source.by_rows)
        made = {n: room[n] if n in room else np.empty((*lead, n.shape[-1])) for n in self.outputs}
        places = (*read, *made.values())
        _strips.run(self.steps, self.strides, places, len(read), numel(lead), self.width)
        return made


def _loop(node: Node) -> str:
    return node.op.loop.partition(" ")[0]


def _numbers(node: Node) -> list[float]:
    """The attributes that are operands of the loop."""
    return [float(node.attrs[name]) for name in node.op.loop.split()[1:]]
