"""A way back of a program as a problem of its own, in the program's names.

The records that autograd kept become a graph of operators, and that a text in the language, one
statement for each value that has a name. Arrays stay arrays.
"""

import keyword
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...graphs import OPS, Node, intern
from ...notation import tree
from ...notation.formulas.formula import OwnWriter
from ...notation.tree import Name
from ...snippets.eager.engine import Record
from ...snippets.eager.tensor import Tensor
from ...snippets.trace import Backward

MOST_RECORDS = 60  # what is longer is a loop that is better looked at in numbers


class Unexplained(Exception):
    """A way back that is no graph of operators: through a Function, or a change in place."""


class Posed(NamedTuple):
    """A text in the language, the arrays of its inputs, its seed, and what it is by."""

    text: str
    values: dict[str, Any]
    seed: Any
    wrt: tuple[str, ...]
    leaves: dict[str, Tensor]


def posed(back: Backward) -> Posed:
    """The problem of a way back. Raises Unexplained where there is none."""
    if len(back.outputs) != 1:
        raise Unexplained("several outputs")
    return _Poser(back).posed()


class _Poser:
    def __init__(self, back: Backward):
        self.back = back
        self.nodes: dict[Any, Node] = {}  # by record or tensor
        self.inputs: dict[Node, tuple[str, Tensor]] = {}
        self.given = _free_names(back.names.values())
        self.names = {t: n for t, n in back.names.items() if n in self.given}

    def posed(self) -> Posed:
        """The text, with all that belongs to it."""
        (output,) = self.back.outputs
        record = output.record
        if record is None:
            raise Unexplained("the output is a leaf")
        order = self._order(record)
        named: list[tuple[str, Node]] = []
        for one in order:
            node = self._node(one)
            self.nodes[one] = node
            name = self._name(one)
            if name is not None:
                named.append((name, node))
        out = self.nodes[record]
        if not named or named[-1][1] is not out:
            named.append((self._fresh("out"), out))
        text = self._text(named)
        values = {name: t.data for name, t in self.inputs.values()}
        leaves = {name: t for name, t in self.inputs.values() if t.requires_grad}
        values |= {n: self.back.values[t] for n, t in leaves.items() if t in self.back.values}
        wrt = self._wanted(leaves)
        return Posed(text, values, self.back.seeds[0].data, wrt, leaves)

    def _wanted(self, leaves: Mapping[str, Tensor]) -> tuple[str, ...]:
        if self.back.wanted is None:
            return tuple(leaves)
        wanted = tuple(n for n, t in leaves.items() if any(t is w for w in self.back.wanted))
        if len(wanted) != len(self.back.wanted):
            raise Unexplained("gradients of values that are computed")
        return wanted

    def _order(self, last: Record) -> list[Record]:
        """The records that lead to one, inputs first."""
        order: list[Record] = []
        seen: set[Record] = set()
        stack: list[tuple[Record, bool]] = [(last, False)]
        while stack:
            record, done = stack.pop()
            if done:
                order.append(record)
            elif record not in seen:
                seen.add(record)
                stack.append((record, True))
                inner = [e.record for e in record.edges if e and isinstance(e.record, Record)]
                stack += [(r, False) for r in reversed(inner)]
        if len(order) > MOST_RECORDS:
            raise Unexplained(f"{len(order)} operations")
        return order

    def _node(self, record: Record) -> Node:
        call = record.call
        if record.name in ("CloneBackward0", "ToCopyBackward0"):
            (edge,) = record.edges
            return self._of_edge(edge, None)
        if not (isinstance(call, tuple) and isinstance(call[0], Node)):
            raise Unexplained(record.name)
        template, operands, _ = call
        inputs = [
            None if x is None else self._of_edge(edge, x) for edge, x in zip(record.edges, operands)
        ]
        if template.op.name == "getitem" and inputs[0] is not None:
            return _indexed(inputs[0], template.attrs["index"])
        return intern(template.op, tuple(inputs), template.attrs)

    def _of_edge(self, edge: Any, operand: Any) -> Node:
        if edge is not None and isinstance(edge.record, Record):
            return self.nodes[edge.record]
        tensor = edge.record.tensor if edge is not None else operand
        if isinstance(tensor, Tensor):
            return self._leaf(tensor)
        return intern(OPS["constant"], (), {"value": operand})

    def _leaf(self, tensor: Tensor) -> Node:
        if tensor not in self.nodes:
            name = self.names.get(tensor) or self._path(tensor) or self._fresh("t")
            node = OPS["input"](name=name, shape=tensor.shape, dtype=tensor.dtype.kind)
            self.nodes[tensor] = node
            self.inputs[node] = name, tensor
        return self.nodes[tensor]

    def _path(self, tensor: Tensor) -> str | None:
        """The name of a parameter within a module that has a name: `net.weight` as net_weight."""
        path = self.back.paths.get(tensor)
        return None if path is None else self._fresh(path.replace(".", "_"), plain=True)

    def _name(self, record: Record) -> str | None:
        call = record.call
        output = call[2] if isinstance(call, tuple) and len(call) == 3 else None
        return self.names.get(output) if isinstance(output, Tensor) else None

    def _fresh(self, start: str, plain: bool = False) -> str:
        taken = {n for n, _ in self.inputs.values()} | set(self.names.values())
        if (plain or start == "out") and start not in taken:
            return start
        return next(f"{start}{k}" for k in range(1, 10_000) if f"{start}{k}" not in taken)

    def _text(self, named: Iterable[tuple[str, Node]]) -> str:
        """Statements in the language."""
        names = {node: Name(name) for node, (name, _) in self.inputs.items()}
        lines = []
        for name, node in named:
            if node in names:
                continue
            lines.append(f"{name} = {tree.text(OwnWriter(names).tree(node))}")
            names[node] = Name(name)
        return "\n".join(lines)


def _indexed(node: Node, index: tuple[Any, ...]) -> Node:
    """A node indexed; x[0][1], as records have it, is x[0, 1]."""
    inner = node.attrs.get("index", ())
    if node.op.name == "getitem" and inner and all(type(i) is int for i in inner):
        node, index = node.parents[0], (*inner, *index)
    return intern(OPS["getitem"], (node,), {"index": index})


def _free_names(names: Iterable[str]) -> set[str]:
    """Names that stand for one tensor, and for nothing else in the language."""
    counted: dict[str, int] = {}
    for name in names:
        counted[name] = counted.get(name, 0) + 1
    return {
        n
        for n, count in counted.items()
        if count == 1 and n.isidentifier() and not keyword.iskeyword(n) and n != "g"
    }
