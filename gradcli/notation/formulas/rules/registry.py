"""Where rules are kept: by the operators at whose nodes they are tried."""

from collections.abc import Callable

from ....graphs import Node

Rule = Callable[[Node], Node | None]

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


def _kept(table: dict[str, list], operators: tuple[str, ...]) -> Callable:
    def keep(function: Callable) -> Callable:
        for name in operators:
            table.setdefault(name, []).append(function)
        return function

    return keep
