"""The tables of rules, by the operators whose nodes they apply to."""

from collections.abc import Callable, Iterator, Mapping

from ....errors import GradcliError
from ....graphs import Node

Rule = Callable[[Node], Node | None]
Table = dict[str, list[Callable]]

RULES: dict[str, list[Rule]] = {}  # by operator or family; applied until none applies
LAYOUT: dict[str, list[Rule]] = {}  # applied once, at the end, for readability
NORMAL: dict[str, list[Rule]] = {}  # applied like RULES, but only in the search
FINAL: dict[str, list[Rule]] = {}  # like LAYOUT, but not tried in the search before
CANDIDATES: dict[str, list[Callable]] = {}  # return equal nodes, among which the search chooses


def rule(*operators: str) -> Callable[[Rule], Rule]:
    """Register an identity for all nodes of these operators or families, in RULES."""
    return _register(RULES, operators)


def layout(*operators: str) -> Callable[[Rule], Rule]:
    """Register an identity that is applied once, after all rules, in LAYOUT."""
    return _register(LAYOUT, operators)


def normal(*operators: str) -> Callable[[Rule], Rule]:
    """Register an identity that leads to the normal form of the search, in NORMAL."""
    return _register(NORMAL, operators)


def final(*operators: str) -> Callable[[Rule], Rule]:
    """Register an identity that is applied once, and only to the formula that was found."""
    return _register(FINAL, operators)


def candidate(*operators: str) -> Callable[[Callable], Callable]:
    """Register an identity that may make a formula shorter, with one result or several."""
    return _register(CANDIDATES, operators)


def apply_rules(node: Node, table: Mapping[str, list[Callable]]) -> Iterator[Node]:
    """The nodes that the rules of a table return for a node. A rule does not apply if its result
    has another shape or dtype, or if it raises a GradcliError.
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


def _register(table: dict[str, list], operators: tuple[str, ...]) -> Callable:
    def register(function: Callable) -> Callable:
        for name in operators:
            table.setdefault(name, []).append(function)
        return function

    return register
