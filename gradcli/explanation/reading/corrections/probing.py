"""Values of expressions on the line that raises. Only names keep their values, so if a correction
needs another value, the program is run once more, with each expression passed to a function that
stores it.
"""

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from ....snippets.python.values import Builtin, Machine
from ....snippets.reading import Reading, Setting

KINDS = (
    *(ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute),
    *(ast.ListComp, ast.DictComp),
)
KEEP = "keep()"  # the name of that function, which no program can use
LOAD = ast.Load()
Place = tuple[type, int, int, int, int]


def place_of(node: Any) -> Place:
    """The position of an expression in a text."""
    return type(node), node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def places_of(nodes: Iterable[ast.AST]) -> set[Place]:
    """The positions of expressions whose values can be stored: those that are read, except x.f in
    x.f(...).
    """
    expressions = [n for n in nodes if isinstance(n, KINDS)]
    called = {n.func for n in expressions if isinstance(n, ast.Call)}
    methods = {n for n in called if isinstance(n, ast.Attribute)}
    return {place_of(n) for n in expressions if n not in methods and _is_read(n)}


def _is_read(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", LOAD), ast.Load)


def probed(reading: Reading, places: Iterable[Place]) -> Mapping[Place, Any]:
    """The last value of each expression at these positions."""
    watch = _Watch(places)
    reading.again(reading.source, watch)
    return watch.values


class _Watch(Setting):
    """The setting for a program in which expressions are observed."""

    def __init__(self, places: Iterable[Place]):
        self.values: dict[Place, Any] = {}
        self.order = list(places)

    def names(self) -> Mapping[str, Any]:
        """The names of the program, and the function that stores values."""

        def keep(m: Machine, place: int, value: Any) -> Any:
            self.values[self.order[place]] = value
            return value

        return {KEEP: Builtin(KEEP, keep)}

    def change(self, tree: ast.Module) -> ast.Module:
        """The tree with each of these expressions passed to that function."""
        kept: ast.Module = _Kept(self.order).visit(tree)
        return ast.fix_missing_locations(kept)


class _Kept(ast.NodeTransformer):
    """Wraps expressions in calls of that function, except those within f-strings, whose positions
    are not exact before Python 3.12.
    """

    def __init__(self, order: list[Place]):
        self.numbers = {place: number for number, place in enumerate(order)}

    def visit(self, node: ast.AST) -> Any:
        """A node, after its children."""
        if isinstance(node, ast.FormattedValue):
            return node
        self.generic_visit(node)
        number = self.numbers.get(place_of(node)) if isinstance(node, KINDS) else None
        if number is None or not isinstance(node, ast.expr):
            return node
        kept = ast.Call(ast.Name(KEEP, LOAD), [ast.Constant(number), node], [])
        return ast.copy_location(kept, node)
