"""The graph: immutable nodes, created only by calling an operator.

A node has its shape and dtype from the start. Nodes are compared by identity and interned: equal
calls return the same object, so that rules share subexpressions. A node that the user wrote has the
span of its text; two `exp(x)` in one text are therefore two nodes.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from weakref import ref

from ..budget import tick
from ..errors import GradcliError, Span
from .shapes import Shape, numel

if TYPE_CHECKING:
    from .operator import Operator


class Table(dict[str, "Operator"]):
    """Operators by name; `find`, set by gradcli/operators, imports those that are missing."""

    find: Callable[[str], None]

    def __missing__(self, name: str) -> "Operator":
        self.find(name)
        if name in self:
            return self[name]
        raise KeyError(name)


OPS = Table()

Binary = Callable[[Any, Any], "Node"]

_interned: "dict[tuple, _Entry]" = {}
_serials = count()
CHOOSE = "choose one: [0]"  # the hint if several outputs are passed where one tensor is expected
_DONE = object()  # on the stack of `walk`: all inputs of the node below it are in `order`


def _both(name: str) -> tuple[Binary, Binary]:
    """The binary method and its reflected method for the operator `name`."""
    return (lambda a, b: OPS[name](a, b)), (lambda a, b: OPS[name](b, a))


class Node:
    """One value: an operator applied to other nodes.

    `inputs` are nodes, or None for an omitted optional input; `attrs` are plain Python values.
    `dtype` is "float", "int" or "bool". `serial` is unique; because nodes are interned, it does not
    give their order in a program.
    """

    __slots__ = (
        "__weakref__",
        "attrs",
        "dtype",
        "expansion",
        "inputs",
        "op",
        "serial",
        "shape",
        "span",
    )

    op: "Operator"
    inputs: "tuple[Node | None, ...]"
    attrs: dict[str, Any]
    shape: Shape
    dtype: str
    span: Span | None
    expansion: "Node | None"
    serial: int

    if TYPE_CHECKING:  # Python's operators are assigned below, by _both

        def __add__(self, other: Any) -> "Node": ...

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def numel(self) -> int:
        """Number of elements."""
        return numel(self.shape)

    @property
    def parents(self) -> "list[Node]":
        """The inputs, without omitted ones."""
        return [i for i in self.inputs if i is not None]

    @property
    def mT(self) -> "Node":
        """The transpose of the last two dimensions."""
        return OPS["transpose"](self, dim0=-2, dim1=-1)

    # Python's operators build nodes; == compares identity, because nodes are dictionary keys.
    __add__, __radd__ = _both("add")
    __sub__, __rsub__ = _both("sub")
    __mul__, __rmul__ = _both("mul")
    __truediv__, __rtruediv__ = _both("div")
    __pow__, __rpow__ = _both("pow")
    __matmul__, __rmatmul__ = _both("matmul")
    __and__, __rand__ = _both("logical_and")
    __or__, __ror__ = _both("logical_or")
    __gt__, __ge__ = _both("gt")[0], _both("ge")[0]
    __lt__, __le__ = _both("lt")[0], _both("le")[0]

    def __neg__(self) -> "Node":
        return OPS["neg"](self)

    def __invert__(self) -> "Node":
        return OPS["logical_not"](self)

    def __getattr__(self, name: str):
        """Every operator is a method: `x.sum(dim=1)`."""
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            op = OPS[name]
        except KeyError:
            raise AttributeError(name) from None
        return lambda *args, **attrs: op(self, *args, **attrs)

    def __getitem__(self, index) -> "Node":
        return OPS["getitem"](self, index=index if isinstance(index, tuple) else (index,))

    def __iter__(self):
        raise TypeError("a node is not a sequence")

    def __repr__(self) -> str:
        return f"<{self.op.name} {list(self.shape)}>"

    def at(self, span: Span) -> "Node":
        """The same operation with another span; an input is returned unchanged."""
        if self.op.name == "input":
            return self
        return intern(self.op, self.inputs, self.attrs, span)

    def with_inputs(self, inputs: "tuple[Node | None, ...]") -> "Node":
        """The same operation on other inputs, with the same span."""
        same = inputs == self.inputs
        return self if same else intern(self.op, inputs, self.attrs, self.span)


class _Entry(ref):
    """A weak reference to an interned node, with the node's key in `_interned`."""

    __slots__ = ("key",)
    key: tuple


def _forget(entry: _Entry) -> None:
    if _interned.get(entry.key) is entry:
        del _interned[entry.key]


def intern(
    op: "Operator", inputs: tuple[Node | None, ...], attrs: dict[str, Any], span: Span | None = None
) -> Node:
    """The node of `op` applied to `inputs`; the same object for the same arguments."""
    key = (op, inputs, tuple(map(_key, attrs.values())) if attrs else (), span)
    entry = _interned.get(key)
    node = None if entry is None else entry()
    if node is None:
        tick()
        node = Node()
        node.op, node.inputs, node.attrs, node.span, node.expansion = op, inputs, attrs, span, None
        op.infer(node)
        node.serial = next(_serials)
        entry = _interned[key] = _Entry(node, _forget)
        entry.key = key
    return node


def _key(value):
    """A hashable key for an attribute; it distinguishes 1, 1.0 and True, and 0.0 and -0.0."""
    kind = type(value)
    by_identity: Any = kind.__hash__
    return value if kind is str or by_identity is object.__hash__ else (kind, repr(value))


class Size(int):
    """An integer computed from sizes by a program; `node` is the graph of the computation."""

    node: Node


class Ratio(float):
    """A float computed from sizes or taken from a dtype; `node` is the graph of its computation."""

    node: Node


def with_graph(value: float, node: Node) -> Any:
    """A Size or Ratio of this value and graph."""
    built: Size | Ratio = Size(value) if isinstance(value, int) else Ratio(value)
    built.node = node
    return built


def as_node(value) -> Node:
    """A constant node for a Python number; nodes are returned unchanged. Raises GradcliError for
    several outputs.
    """
    if isinstance(value, Node):
        return value
    if isinstance(value, Outputs):
        message = f"{len(value)} outputs where one tensor is needed"
        raise GradcliError("arguments", message, hint=CHOOSE)
    if isinstance(value, Size | Ratio):
        return value.node
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a tensor")
    return intern(OPS["constant"], (), {"value": value})


def upstream(root: Node, sources: Callable[[Node], Iterable]) -> Iterator[Node]:
    """Yield `root` and the nodes that it depends on, lazily, so that a search can stop early."""
    seen, waiting = {root}, [root]
    while waiting:
        node = waiting.pop()
        yield node
        new = [n for n in sources(node) if n is not None and n not in seen]
        seen.update(new)
        waiting += new


def walk(roots: Iterable[Node], sources=attrgetter("inputs")) -> list[Node]:
    """All nodes that `roots` depend on, in topological order, inputs first. The order is that of
    evaluating one root after the other. The traversal does not recurse.
    """
    tick()
    order: dict[Any, None] = {None: None}
    stack: list[Any] = [*roots][::-1]
    while stack:
        node = stack.pop()
        if node is _DONE:
            order[stack.pop()] = None
        elif node not in order:
            inner = sources(node)
            if inner:
                stack += (node, _DONE, *inner[::-1])
            else:
                order[node] = None
    del order[None]
    return list(order)


def downstream(
    order: Iterable[Node], starts: Iterable[Node], sources=attrgetter("inputs")
) -> set[Node]:
    """The nodes of `order` that depend on a node of `starts`, and those of `starts`. In `order`,
    inputs come before the nodes that use them.
    """
    result = set(starts)
    for node in order:
        if not result.isdisjoint(sources(node)):
            result.add(node)
    return result


def value_inputs(node: "Node") -> tuple["Node | None", ...]:
    """The inputs on whose values a node depends: none if it depends on their shapes alone."""
    return () if node.op.shape_only else node.inputs


class Outputs(tuple["Node", ...]):
    """The outputs of an operation with several outputs: a tuple of nodes, named as in PyTorch where
    PyTorch returns a named tuple.
    """

    names: tuple[str, ...]

    def __new__(cls, nodes: Iterable[Node], names: tuple[str, ...] = ()) -> "Outputs":
        """A tuple of outputs, with names."""
        self = super().__new__(cls, nodes)
        self.names = names
        return self

    def at(self, span: Span) -> "Outputs":
        """The same outputs with another span."""
        return Outputs((node.at(span) for node in self), self.names)
