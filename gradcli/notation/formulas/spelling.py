"""Trees from text: of formulas, and of the `spelling` of operators.

A spelling is an expression with {0}, {1} for the operands and {dim} for an attribute: "{0} + {1}",
"max({0}, dim={dim}).values".
"""

import ast
import re
from collections.abc import Callable, Mapping
from functools import cache

from .. import tree
from ..tree import Tree

SYMBOLS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.MatMult: "@", ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.Gt: ">", ast.GtE: ">=",
    ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!=", ast.USub: "-", ast.Invert: "~",
}  # fmt: skip
LIBRARIES = ("torch", "F", "linalg", "special", "math")
HOLE = "hole_"


@cache
def _parsed(spelling: str) -> ast.expr:
    return ast.parse(re.sub(r"\{(\w+)\}", rf"{HOLE}\1", spelling), mode="eval").body


def spelled(
    spelling: str, holes: Mapping[str, Tree | None], called: Callable[[str], str] = str
) -> Tree:
    """The tree of a spelling with `holes` filled in; arguments whose hole is None are omitted.
    `called` maps names of functions to the names to write.
    """
    return _Reader(holes, called).read(_parsed(spelling))


def read(text: str) -> Tree:
    """The tree of a formula."""
    return _Reader({}).read(ast.parse(text, mode="eval").body)


def read_element(text: str, names: Mapping[str, tree.Name]) -> Tree:
    """The tree of a formula of elements, `2*a[0,1]`, with these names. Raises the errors of `ast`
    and RecursionError for a text that is too long.
    """
    return _ElementReader(names).read(ast.parse(text, mode="eval").body)


@cache
def _items(index: str) -> tuple[Tree, ...]:
    result = read(f"indexed[{index}]")
    assert isinstance(result, tree.Subscript)
    return result.items


def indexed(base: Tree, index: str) -> tree.Subscript:
    """base[index], for an index in Python's syntax."""
    return tree.Subscript(base, _items(index))


class _Reader:
    def __init__(self, holes: Mapping[str, Tree | None], called: Callable[[str], str] = str):
        self.holes, self.called = holes, called

    def read(self, e: ast.expr) -> Tree:
        method: Callable = getattr(self, f"_{type(e).__name__}")
        return method(e)

    def _hole(self, e: ast.expr) -> str | None:
        result = isinstance(e, ast.Name) and e.id.startswith(HOLE)
        return e.id.removeprefix(HOLE) if result else None  # type: ignore[attr-defined]

    def _is_filled(self, e: ast.expr) -> bool:
        hole = self._hole(e)
        return hole is None or self.holes[hole] is not None

    def _Name(self, e: ast.Name) -> Tree | None:
        hole = self._hole(e)
        return tree.Name(e.id) if hole is None else self.holes[hole]

    def _Constant(self, e: ast.Constant) -> Tree:
        if isinstance(e.value, int | float) and not isinstance(e.value, bool):
            return tree.Number(e.value)
        return tree.Verbatim("..." if e.value is ... else repr(e.value))

    def _BinOp(self, e: ast.BinOp) -> Tree:
        return tree.Infix(SYMBOLS[type(e.op)], self.read(e.left), self.read(e.right))

    def _Compare(self, e: ast.Compare) -> Tree:
        symbol = SYMBOLS[type(e.ops[0])]
        return tree.Infix(symbol, self.read(e.left), self.read(e.comparators[0]))

    def _UnaryOp(self, e: ast.UnaryOp) -> Tree:
        return tree.Prefix(SYMBOLS[type(e.op)], self.read(e.operand))

    def _Tuple(self, e: ast.Tuple) -> Tree:
        return tree.Listing(tuple(map(self.read, e.elts)))

    def _List(self, e: ast.List) -> Tree:
        return tree.Listing(tuple(map(self.read, e.elts)), "[]")

    def _Attribute(self, e: ast.Attribute) -> Tree:
        return tree.Attribute(self.read(e.value), e.attr)

    def _Subscript(self, e: ast.Subscript) -> Tree:
        hole = self._hole(e.slice)
        if hole is not None:
            return tree.Subscript(self.read(e.value), (self.holes[hole],))
        items = e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]
        return tree.Subscript(self.read(e.value), tuple(map(self.read, items)))

    def _Slice(self, e: ast.Slice) -> Tree:
        ends = (None if end is None else self.read(end) for end in (e.lower, e.upper, e.step))
        return tree.Slice(*ends)

    def _Call(self, e: ast.Call) -> Tree:
        args = tuple(self.read(a) for a in e.args if self._is_filled(a))
        keywords = (k for k in e.keywords if self._is_filled(k.value))
        named = tuple((k.arg or "", self.read(k.value)) for k in keywords)
        if isinstance(e.func, ast.Attribute) and not _is_library(e.func):
            return tree.Method(self.read(e.func.value), e.func.attr, args, named)
        return tree.Call(self.called(ast.unparse(e.func)), args, named)


class _ElementReader(_Reader):
    """Reads x[0,1] as one element of x, and products as products of numbers."""

    def __init__(self, names: Mapping[str, tree.Name]):
        super().__init__({})
        self.names = names

    def _Name(self, e: ast.Name) -> Tree:
        return self.names.get(e.id) or tree.Name(e.id)

    def _BinOp(self, e: ast.BinOp) -> Tree:
        return tree.Infix(SYMBOLS[type(e.op)], self.read(e.left), self.read(e.right), (0, 0))

    def _Subscript(self, e: ast.Subscript) -> Tree:
        result = super()._Subscript(e)
        return tree.Indexed(result.base, result.items)  # type: ignore[union-attr]


def _is_library(e: ast.Attribute) -> bool:
    """Whether a dotted name is a function of a library: torch.linalg.inv, linalg.lu."""
    while isinstance(e.value, ast.Attribute):
        e = e.value
    return isinstance(e.value, ast.Name) and e.value.id in LIBRARIES
