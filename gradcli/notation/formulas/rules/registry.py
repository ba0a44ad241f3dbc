"""The tables of rules, by the operators whose nodes they apply to."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from ....errors import GradcliError
from ....graphs import Node

MOST_KINDS = 4096  # kinds of nodes for which a table caches the rules that may match
Rule = Callable[[Node], Node | None]
Table = dict[str, list[Callable]]

RULES: dict[str, list[Rule]] = {}  # by operator or family; applied until none applies
LAYOUT: dict[str, list[Rule]] = {}  # applied once, at the end, for readability
NORMAL: dict[str, list[Rule]] = {}  # applied like RULES, but only in the search
FINAL: dict[str, list[Rule]] = {}  # like LAYOUT, but only for the formula that the search chose
CANDIDATES: dict[str, list[Callable]] = {}  # return equal nodes, among which the search chooses


def rule(*operators: str) -> Callable[[Rule], Rule]:
    """Register an identity for all nodes of these operators or families, in RULES."""
    return _register(RULES, operators)


def layout(*operators: str) -> Callable[[Rule], Rule]:
    """Register an identity that is applied once, after all rules, in LAYOUT."""
    return _register(LAYOUT, operators)


def normal(*operators: str) -> Callable[[Rule], Rule]:
    """Register an identity that brings formulas into the normal form used in the search for the
    shortest one, in NORMAL.
    """
    return _register(NORMAL, operators)


def final(*operators: str) -> Callable[[Rule], Rule]:
    """Register an identity that is applied once, and only to the formula that was found."""
    return _register(FINAL, operators)


def candidate(*operators: str) -> Callable[[Callable], Callable]:
    """Register an identity that may make a formula shorter, with one result or several."""
    return _register(CANDIDATES, operators)


class Rules(dict[str, list[Callable]]):
    """A complete table that skips rules which cannot match. Some rules have `kind(node)`, a cheap
    summary of a node such as the set of operators in a product; such a rule is tried only if
    `may_match(kind(node))` is true.
    """

    def __init__(self, table: Mapping[str, list[Callable]]):
        super().__init__(table)
        self._kinds: dict[str, list[Callable[[Node], Hashable]]] = {}
        self._chosen: dict[tuple, list[Callable]] = {}

    def __setitem__(self, name: str, rules: list[Callable]) -> None:
        super().__setitem__(name, rules)
        self._kinds.clear()
        self._chosen.clear()

    def of(self, node: Node) -> list[Callable]:
        """The rules that may apply to a node."""
        kinds = self._kinds.get(node.op.name)
        if kinds is None:
            functions = [rule.kind for rule in _rules_of(node, self) if hasattr(rule, "kind")]
            kinds = self._kinds[node.op.name] = [*dict.fromkeys(functions)]
        results = [kind(node) for kind in kinds]
        key = node.op.name, *results
        rules = self._chosen.get(key)
        if rules is None:
            if len(self._chosen) >= MOST_KINDS:
                self._chosen.clear()
            of_kind = dict(zip(kinds, results, strict=True))
            rules = self._chosen[key] = [
                getattr(rule, "equal", rule)
                for rule in _rules_of(node, self)
                if not hasattr(rule, "kind") or rule.may_match(of_kind[rule.kind])
            ]
        return rules


def _rules_of(node: Node, table: Mapping[str, list[Any]]) -> list[Any]:
    return [*table.get(node.op.name, ()), *table.get(node.op.family, ())]


def apply_rules(node: Node, table: Mapping[str, list[Callable]]) -> Iterator[Node]:
    """The nodes that the rules of a table return for a node. A rule does not apply if its result
    has another shape or dtype, or if it raises a GradcliError.
    """
    for rule in table.of(node) if isinstance(table, Rules) else _rules_of(node, table):
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
