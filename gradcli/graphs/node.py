"""The graph: immutable nodes, built only by calling an operator.

A node knows its shape and dtype as soon as it exists. Nodes are equal when they are the same
object, and equal requests give the same object, so that rules share sub-expressions without
trying to. A node that the user wrote carries the span of its text, which keeps two `exp(x)` of a
user apart.
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
    """Operators by name. What is not there yet, `find` puts there: gradcli/operators sets it."""

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
CHOOSE = "choose one: [0]"  # of several outputs
_MADE = object()  # in a walk: all that the node below it on the stack needs is in order


def _both(name: str) -> tuple[Binary, Binary]:
    """Python's operator and its mirror image, for the operator of the table called `name`."""
    return (lambda a, b: OPS[name](a, b)), (lambda a, b: OPS[name](b, a))


class Node:
    """One value: an operator applied to other nodes.

    `inputs` are nodes, with None for an optional one left out; `attrs` are plain Python values.
    `dtype` is "float", "int" or "bool". `serial` tells nodes apart; as equal requests give the same
    node, it says nothing of their order in a program.
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

    if TYPE_CHECKING:  # Python's operators are set by _arithmetic, below

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
        """The inputs that are there."""
        return [i for i in self.inputs if i is not None]

    @property
    def mT(self) -> "Node":
        """The last two dimensions exchanged."""
        return OPS["transpose"](self, dim0=-2, dim1=-1)

    # Python's operators build graph; == stays identity, for nodes are keys of dictionaries.
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
        """The same computation as the text at `span`; an input is itself wherever it is named."""
        if self.op.name == "input":
            return self
        return intern(self.op, self.inputs, self.attrs, span)


class _Entry(ref):
    """A node for as long as something else needs it, and the key that it is found by."""

    __slots__ = ("key",)
    key: tuple


def _forget(entry: _Entry) -> None:
    if _interned.get(entry.key) is entry:
        del _interned[entry.key]


def intern(
    op: "Operator", inputs: tuple[Node | None, ...], attrs: dict[str, Any], span: Span | None = None
) -> Node:
    """The node of `op` over `inputs`; the same one when asked for the same again."""
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
    """1, 1.0, True and -0.0 are different attributes, though Python finds some of them equal."""
    kind = type(value)
    by_identity: Any = kind.__hash__
    return value if kind is str or by_identity is object.__hash__ else (kind, repr(value))


class Size(int):
    """A whole number that a program computes from sizes, and the graph that says how."""

    node: Node


class Ratio(float):
    """A number that a program computes from sizes, or has from a dtype, and that is not whole; its
    graph says how.
    """

    node: Node


def with_graph(value: float, node: Node) -> Any:
    """A number, and the graph that says where it is from."""
    built: Size | Ratio = Size(value) if isinstance(value, int) else Ratio(value)
    built.node = node
    return built


def as_node(value) -> Node:
    """A node for a Python number; a node stays as it is."""
    if isinstance(value, Node):
        return value
    if isinstance(value, Outputs):
        message = f"{len(value)} outputs stand where one tensor has to"
        raise GradcliError("arguments", message, hint=CHOOSE)
    if isinstance(value, Size | Ratio):
        return value.node
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a tensor")
    return intern(OPS["constant"], (), {"value": value})


def upstream(root: Node, sources=attrgetter("inputs")) -> Iterator[Node]:
    """Every node that `root` needs, itself first, each when it is asked for: for what a few of them
    decide.
    """
    seen, waiting = {root}, [root]
    while waiting:
        node = waiting.pop()
        yield node
        new = [n for n in sources(node) if n is not None and n not in seen]
        seen.update(new)
        waiting += new


def walk(roots: Iterable[Node], sources=attrgetter("inputs")) -> list[Node]:
    """Every node that `roots` need, inputs first, in the order in which they would be computed for
    one root after the other; without recursion.
    """
    tick()
    order: dict[Any, None] = {None: None}
    stack: list[Any] = [*roots][::-1]
    while stack:
        node = stack.pop()
        if node is _MADE:
            order[stack.pop()] = None
        elif node not in order:
            inner = sources(node)
            if inner:
                stack += (node, _MADE, *inner[::-1])
            else:
                order[node] = None
    del order[None]
    return list(order)


def downstream(
    order: Iterable[Node], starts: Iterable[Node], sources=attrgetter("inputs")
) -> set[Node]:
    """The nodes of `order`, inputs first, that depend on one of `starts`; these among them."""
    result = set(starts)
    for node in order:
        if not result.isdisjoint(sources(node)):
            result.add(node)
    return result


class Outputs(tuple["Node", ...]):
    """What an operation with several outputs gives: a tuple of nodes, as in PyTorch, and their
    names where PyTorch has them.
    """

    names: tuple[str, ...]

    def __new__(cls, nodes: Iterable[Node], names: tuple[str, ...] = ()) -> "Outputs":
        """The outputs, in order."""
        self = super().__new__(cls, nodes)
        self.names = names
        return self

    def at(self, span: Span) -> "Outputs":
        """The same outputs as the text at `span`."""
        return Outputs((node.at(span) for node in self), self.names)
