"""Substitution in graphs: of nodes by other nodes, and of operators by their expansions."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from ..errors import Span
from .node import Node, intern, walk

SPAN = attrgetter("span")


def substitute(
    node: Node, new: Mapping[Node, Node], span_of: Callable[[Node], Span | None] = SPAN
) -> Node:
    """`node`, with nodes replaced as in `new`; `span_of` returns the span for the new node that is
    built in place of a node.
    """
    (changed,) = substitute_all([node], new, span_of)
    return changed


def substitute_all(
    nodes: Iterable[Node], new: Mapping[Node, Node], span_of: Callable[[Node], Span | None] = SPAN
) -> list[Node]:
    """`substitute` for several nodes."""
    done: dict[Node | None, Node | None] = {None: None}
    roots = list(nodes)
    for n in walk(roots, lambda n: () if n in new else n.inputs):
        if n in new:
            done[n] = new[n]
        else:
            inputs = tuple(done[i] for i in n.inputs)
            span = span_of(n)
            same = n.span is span and inputs == n.inputs
            done[n] = n if same else intern(n.op, inputs, n.attrs, span)
    return [done[root] for root in roots]  # type: ignore[misc]


def with_attributes(node: Node, /, **attributes: Any) -> Node:
    """The same call with some attributes changed, without a span."""
    return node.op(*node.inputs, **{**node.attrs, **attributes})


def rebuilt(
    root: Node,
    make: Callable[[Node, tuple[Node | None, ...]], Node | None],
    same: Collection[Node] = (),
) -> Node:
    """`root`, rebuilt from its inputs. `make` takes a node and its new inputs, and returns the new
    node, or None for the same operation on these inputs. Nodes in `same` are unchanged.
    """
    (changed,) = rebuilt_all([root], make, same)
    return changed


def rebuilt_all(
    roots: Sequence[Node],
    make: Callable[[Node, tuple[Node | None, ...]], Node | None],
    same: Collection[Node] = (),
) -> list[Node]:
    """`rebuilt` for several nodes."""
    done: dict[Node | None, Node | None] = {None: None}
    for n in walk(roots, lambda n: () if n in same else n.inputs):
        if n in same:
            done[n] = n
            continue
        inputs = tuple([done[i] for i in n.inputs])
        built = make(n, inputs)
        done[n] = n.with_inputs(inputs) if built is None else built
    return [done[root] for root in roots]  # type: ignore[misc]


def expanded(
    roots: Iterable[Node], keep: Callable[[Node], bool] = lambda node: False
) -> dict[Node, Node]:
    """Map every node that `roots` depend on to an equal node made of operators that have no
    expansion. Nodes for which `keep` returns True are not expanded.
    """
    result: dict[Node, Node] = {}
    for node in walk(roots):
        result[node] = _expanded_node(node, result, keep)
    return result


def _expanded_node(node: Node, result: dict[Node, Node], keep: Callable[[Node], bool]) -> Node:
    """`node` applied to its expanded inputs, expanded recursively."""
    inputs = tuple(i and result[i] for i in node.inputs)
    if node.op.expand is None or keep(node):
        return node.with_inputs(inputs)
    meaning = node.op.expand(*inputs, **node.attrs)
    inner = {i: i for i in inputs if i is not None}  # already expanded
    for part in walk([meaning], lambda n: () if n in inner else n.inputs):
        if part not in inner:
            inner[part] = _expanded_node(part, inner, keep)
    return inner[meaning]
