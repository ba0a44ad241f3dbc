"""The values of the expressions on the lines that raise: names alone keep theirs, so the program is
run once more, with each other expression there handed to a function that keeps what it gave.
"""

import ast
from collections.abc import Mapping
from typing import Any

from ....snippets.python.values import Builtin, Machine
from ....snippets.reading import Reading, read
from .text import Text

KINDS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute, ast.ListComp)
KEEP = "keep()"  # the name of the function: no program can have it
LOAD = ast.Load()
Place = tuple[type, int, int, int, int]


def place_of(node: Any) -> Place:
    """Which expression of a text a node is."""
    return type(node), node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def probed(reading: Reading, text: Text, line: int) -> Mapping[Place, Any]:
    """The last value of each expression on a line."""
    nodes = text.nodes_of(line) if 0 < line <= len(text.lines) else []
    watch = _Watch({place_of(n) for n in nodes if isinstance(n, KINDS)})
    read(reading.source, echo=reading.echo, imports=reading.imports, setting=watch)
    return watch.values


class _Watch:
    """What a program runs with that is watched at some places."""

    start = 0

    def __init__(self, places: set[Place]):
        self.places = places
        self.values: dict[Place, Any] = {}
        self.order = list(places)

    def names(self) -> Mapping[str, Any]:
        """The function that keeps a value, beside the names of the program."""

        def keep(m: Machine, place: int, value: Any) -> Any:
            self.values[self.order[place]] = value
            return value

        return {KEEP: Builtin(KEEP, keep)}

    def change(self, tree: ast.Module) -> ast.Module:
        """The tree with each expression of the places within a call of that function."""
        kept: ast.Module = _Kept(self.order).visit(tree)
        return ast.fix_missing_locations(kept)


class _Kept(ast.NodeTransformer):
    """Expressions handed to the function; what is called, and the head of a function, is left."""

    def __init__(self, order: list[Place]):
        self.numbers = {place: number for number, place in enumerate(order)}

    def visit(self, node: ast.AST) -> Any:
        """A node, after what is in it."""
        number = self.numbers.get(place_of(node)) if isinstance(node, KINDS) else None
        kept: Any = node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
            node.args = [self.visit(a) for a in node.args]
            node.keywords = [self.visit(k) for k in node.keywords]
        elif isinstance(node, ast.FormattedValue):
            return node
        else:
            self.generic_visit(node)
        is_read = isinstance(getattr(node, "ctx", LOAD), ast.Load)
        if number is None or not isinstance(node, ast.expr) or not is_read:
            return node
        return ast.copy_location(
            ast.Call(ast.Name(KEEP, LOAD), [ast.Constant(number), kept], []), node
        )
