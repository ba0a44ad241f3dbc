"""Where rules are kept: by the operators at whose nodes they are tried."""

from collections.abc import Callable, Iterator, Mapping

from ....errors import GradcliError
from ....graphs import Node

Rule = Callable[[Node], Node | None]
Table = dict[str, list[Callable]]

RULES: dict[str, list[Rule]] = {}  # by operator or family; tried until none has an answer
LAYOUT: dict[str, list[Rule]] = {}  # tried at the end: they only make a formula read better
NORMAL: dict[str, list[Rule]] = {}  # as RULES, where the shortest formula is searched for
OTHERS: dict[str, list[Callable]] = {}  # other ways to say a node, out of which the search chooses


def rule(*operators: str) -> Callable[[Rule], Rule]:
    """An identity, tried at every node of these operators or families; None: it does not apply."""
    return _kept(RULES, operators)


def layout(*operators: str) -> Callable[[Rule], Rule]:
    """An identity that is tried once, when all rules are done."""
    return _kept(LAYOUT, operators)


def normal(*operators: str) -> Callable[[Rule], Rule]:
    """An identity that leads to the form in which the search compares nodes."""
    return _kept(NORMAL, operators)


def other(*operators: str) -> Callable[[Callable], Callable]:
    """An identity that may make a formula shorter: it answers with equal nodes, or with one."""
    return _kept(OTHERS, operators)


def made_of(node: Node, table: Mapping[str, list[Callable]]) -> Iterator[Node]:
    """What the rules of a table make of a node. One that makes what has no shape, or not that of
    the node, took it for what it is not: no reason to refuse a request.
    """
    for rule in (*table.get(node.op.name, ()), *table.get(node.op.family, ())):
        try:
            result = rule(node)
            if result is None:
                continue
            built = (result,) if isinstance(result, Node) else [*result]
        except GradcliError:
            continue
        yield from (n for n in built if n.shape == node.shape and n.dtype == node.dtype)


def _kept(table: dict[str, list], operators: tuple[str, ...]) -> Callable:
    def keep(function: Callable) -> Callable:
        for name in operators:
            table.setdefault(name, []).append(function)
        return function

    return keep
