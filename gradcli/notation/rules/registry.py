"""Where rules are kept: by the operators at whose nodes they are tried."""

from collections.abc import Callable

from ...graphs import Node

Rule = Callable[[Node], Node | None]

RULES: dict[str, list[Rule]] = {}  # by operator or family; tried until none has an answer
LAYOUT: dict[str, list[Rule]] = {}  # tried at the end: they only make a formula read better


def rule(*operators: str) -> Callable[[Rule], Rule]:
    """An identity, tried at every node of these operators or families; None: it does not apply."""
    return _kept(RULES, operators)


def layout(*operators: str) -> Callable[[Rule], Rule]:
    """An identity that is tried once, when all rules are done."""
    return _kept(LAYOUT, operators)


def _kept(table: dict[str, list[Rule]], operators: tuple[str, ...]) -> Callable[[Rule], Rule]:
    def keep(function: Rule) -> Rule:
        for name in operators:
            table.setdefault(name, []).append(function)
        return function

    return keep
