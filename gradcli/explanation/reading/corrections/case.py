"""What a cure may ask of a program that raises, the kinds of errors, and what a cure proposes."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from ....snippets.eager.tensor import Tensor
from ....snippets.python.machine import Failure
from ....snippets.python.values import Instance
from ....snippets.reading import Reading
from ..graphs import readable
from .text import ARITHMETIC, Edit, Text, dotted, keyword, method

N = TypeVar("N", bound=ast.AST)
LOOPS = (ast.For, ast.While)


class Proposal(NamedTuple):
    """A changed program that may be cured; `note` is what should be known of the change.

    A `weak` one runs, but says less of what was meant than others do: it is tried last. One that
    `uncovers` lets the program raise earlier, where the mistake is.
    """

    source: str
    note: str = ""
    why: str = ""
    weak: bool = False
    uncovers: bool = False


class Kind(NamedTuple):
    """A kind of error: its message, one sentence why PyTorch raises it, and its cures."""

    pattern: re.Pattern[str]
    why: str
    cures: "Callable[[Case], Iterator[Proposal]]"


KINDS: list[Kind] = []
Cures = Callable[["Case"], Iterator[Proposal]]


def cures(pattern: str, why: str) -> Callable[[Cures], Cures]:
    """Register the cures of the errors whose messages begin like this."""

    def register(function: Cures) -> Cures:
        KINDS.append(Kind(re.compile(pattern, re.S), why, function))
        return function

    return register


def kinds(message: str) -> Iterator[tuple[Kind, re.Match[str]]]:
    """The kinds of errors that have a message."""
    for kind in KINDS:
        match = kind.pattern.match(message)
        if match:
            yield kind, match


class Case:
    """A program that raises; one that runs has a failure without a message."""

    def __init__(self, reading: Reading, match: re.Match[str]):
        self.reading, self.match = reading, match
        self.failure = reading.outcome.exception or Failure("", "", 0)
        self.line = self.failure.line
        self.text = Text(reading.source)

    # ---- what stands in the program --------------------------------------------------------------

    @cached_property
    def nodes(self) -> list[Any]:
        """All nodes of the statements that raise."""
        return self.text.nodes(self.line)

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """The statements of the line that raises."""
        return self.text.statements(self.line)

    @property
    def statement(self) -> ast.stmt:
        """The first of them."""
        return self.statements[0]

    @cached_property
    def all_nodes(self) -> list[Any]:
        """All nodes of the program, in the order of the text."""
        nodes = [n for n in ast.walk(self.text.tree) if hasattr(n, "lineno")]
        return sorted(nodes, key=lambda n: (n.lineno, n.col_offset))

    @cached_property
    def functions(self) -> dict[str, ast.FunctionDef]:
        """The functions and methods of the program by their names."""
        return {n.name: n for n in self.of_type(ast.FunctionDef, everywhere=True)}

    def calls(self, *names: str, everywhere: bool = False) -> list[ast.Call]:
        """The calls of functions or methods of these names, or of any, on the line that raises."""
        calls = self.of_type(ast.Call, everywhere=everywhere)
        return [n for n in calls if method(n) in names] if names else calls

    def of_type(self, *types: type[N], everywhere: bool = False) -> list[N]:
        """The nodes of these classes, on the line that raises."""
        nodes = self.all_nodes if everywhere else self.nodes
        return [n for n in nodes if isinstance(n, types)]

    def attributes(self, *names: str, everywhere: bool = False) -> list[ast.Attribute]:
        """The attributes of these names, or all, on the line that raises."""
        result = self.of_type(ast.Attribute, everywhere=everywhere)
        return [n for n in result if n.attr in names] if names else result

    @cached_property
    def backwards(self) -> list[ast.Call]:
        """All calls that go back, in the order of the text."""
        return [
            n
            for n in self.all_nodes
            if isinstance(n, ast.Call)
            and ((method(n) == "backward" and isinstance(n.func, ast.Attribute)) or self.is_grad(n))
        ]

    @staticmethod
    def argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
        """The argument of a call at a place, or of a name."""
        named = keyword(call, name)
        if named:
            return named.value
        return call.args[place] if len(call.args) > place else None

    def is_grad(self, call: ast.Call) -> bool:
        """Whether a call is torch.autograd.grad's."""
        name = dotted(call.func)
        return name.endswith("autograd.grad") or (
            name == "grad" and "autograd import" in self.text.source
        )

    def made(self, node: ast.expr, before: int | None = None) -> ast.expr:
        """The expression that a name was last given before a line; of no name the node itself."""
        given = self.assignments(dotted(node), before or self.line) if dotted(node) else []
        value = getattr(given[-1], "value", None) if given else None
        return value if isinstance(value, ast.expr) else node

    def assignments(self, name: str, before: int | None = None) -> list[ast.stmt]:
        """The statements that give a name, or an attribute "self.h", a value."""
        result: list[ast.stmt] = []
        for node in self.all_nodes:
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                flat = [t for x in targets for t in getattr(x, "elts", [x])]
                if name in [dotted(t) for t in flat] and (before is None or node.lineno < before):
                    result.append(node)
        return result

    def additions(self, name: str, before: int) -> list[ast.Expr]:
        """The statements that append to a list of this name."""
        return [
            n
            for n in self.all_nodes
            if isinstance(n, ast.Expr)
            and isinstance(n.value, ast.Call)
            and dotted(n.value.func) in (f"{name}.append", f"{name}.extend")
            and n.lineno < before
        ]

    def slice_of(self, node: ast.AST, before: int) -> list[ast.stmt]:
        """The statements that a value comes from, the nearest first."""
        result: dict[ast.stmt, None] = {}
        waiting = [(n, before) for n in names_in(node)]
        while waiting:
            name, line = waiting.pop(0)
            for statement in reversed([*self.assignments(name, line), *self.additions(name, line)]):
                if statement not in result:
                    result[statement] = None
                    value = getattr(statement, "value", None)
                    waiting += [(n, statement.lineno + 1) for n in names_in(value)]
        return sorted(result, key=lambda s: -s.lineno)

    def loop(self, node: ast.AST) -> ast.For | ast.While | None:
        """The innermost loop around a node."""
        return next((n for n in self.text.around(node) if isinstance(n, LOOPS)), None)

    def reads_grad(self, name: str) -> bool:
        """Whether the program asks for the gradient of a name."""
        return any(
            isinstance(n, ast.Attribute) and n.attr == "grad" and dotted(n.value) == name
            for n in self.all_nodes
        )

    # ---- what the program was when it raised -----------------------------------------------------

    @cached_property
    def values(self) -> dict[str, Any]:
        """The last value of each name, the names of the function that raises before others; of
        those within other functions tensors alone.
        """
        local = {a.name: a.tensor for a in self.reading.trace.assignments}
        return {
            n: v
            for n, v in (local | self.reading.outcome.scope | {**self.failure.names}).items()
            if not isinstance(v, Tensor) or readable(v)
        }

    @cached_property
    def scope(self) -> dict[str, Any]:
        """The values of the names of the program itself."""
        scope = self.reading.outcome.scope
        return {n: v for n, v in scope.items() if not isinstance(v, Tensor) or readable(v)}

    def value(self, node: ast.AST | None) -> Any:
        """The value of an expression that is a name, or an attribute of a module; else None."""
        if isinstance(node, ast.Name) and node.id == "self":
            return self._self(node)
        if isinstance(node, ast.Name):
            return self.values.get(node.id)
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Attribute):
            inner = self.value(node.value)
            if isinstance(inner, Instance):
                for fields in (inner.fields, *self._members(inner)):
                    if node.attr in fields:
                        return fields[node.attr]
            if isinstance(inner, Tensor) and node.attr == "grad":
                return inner.grad
        return None

    def _self(self, node: ast.Name) -> Any:
        """A module of the class that a node stands in."""
        if "self" in self.failure.names:
            return self.failure.names["self"]
        classes = [n.name for n in self.text.around(node) if isinstance(n, ast.ClassDef)]
        modules = self.reading.trace.modules.values()
        return next((m for m in modules if m.cls.name in classes), None)

    @staticmethod
    def _members(module: Instance) -> Iterator[dict[str, Any]]:
        for name in ("_parameters", "_modules", "_buffers"):
            fields = module.fields.get(name)
            if isinstance(fields, dict):
                yield fields

    def tensor(self, node: ast.AST | None) -> Tensor | None:
        """The value of an expression, where it is a tensor that is known."""
        value = self.value(node)
        return value if isinstance(value, Tensor) else None

    def number(self, node: ast.AST | None) -> int | None:
        """The integer that an expression is: written, of a name, or computed of these."""
        if isinstance(node, ast.BinOp):
            apply = ARITHMETIC.get(type(node.op))
            left, right = self.number(node.left), self.number(node.right)
            return apply(left, right) if apply and None not in (left, right) else None  # type: ignore[arg-type]
        if isinstance(node, ast.Call) and method(node) == "len" and node.args:
            value = self.value(node.args[0])
            if isinstance(value, Tensor):
                return value.shape[0] if value.ndim else None
            return len(value) if isinstance(value, list | tuple | dict | str) else None
        value = self.value(node)
        return value if type(value) is int else None

    def listed(self, node: ast.AST) -> list[Tensor]:
        """The tensors of a list that is written, or of a name; [] where not all are known."""
        elements = getattr(node, "elts", None)
        values = self.value(node) if elements is None else [self.value(e) for e in elements]
        whole = isinstance(values, list | tuple) and all(isinstance(v, Tensor) for v in values)
        return list(values) if whole else []

    @property
    def operands(self) -> list[ast.expr]:
        """The expressions on the line that raises that are tensors of a name, the first first."""
        result: dict[str, ast.expr] = {}
        for node in self.of_type(ast.Name, ast.Attribute, ast.Subscript):
            stored = isinstance(getattr(node, "ctx", None), ast.Store)
            if not stored and isinstance(self.value(node), Tensor):
                result.setdefault(self.text.of(node), node)
        return list(result.values())

    @property
    def creations(self) -> list[ast.Call]:
        """Calls on the line that raises that make a tensor."""
        return [n for n in self.calls() if dotted(n.func).startswith("torch.") and n.args]

    @property
    def leaves(self) -> list[str]:
        """Names of leaves that require grad."""
        values = self.scope.items()
        return [n for n, v in values if isinstance(v, Tensor) and v.requires_grad and v.is_leaf]

    # ---- proposals -------------------------------------------------------------------------------

    def proposal(self, *edits: Edit, **words: Any) -> Proposal:
        """The program after edits."""
        return Proposal(self.text.edited(*edits), **words)

    def together(self, edits: list[Edit], **words: Any) -> Iterator[Proposal]:
        """The program after all of these edits, if there are any."""
        if edits:
            yield self.proposal(*edits, **words)

    def exchanged(self, a: ast.expr, b: ast.expr, **words: Any) -> Proposal:
        """The program with two expressions in each other's place."""
        edits = self.text.replacing(a, self.text.of(b)), self.text.replacing(b, self.text.of(a))
        return self.proposal(*edits, **words)

    def replaced(self, node: ast.AST, text: str, **words: Any) -> Proposal:
        """The program with a node replaced."""
        return self.proposal(self.text.replacing(node, text), **words)

    def appended(self, node: ast.expr, text: str, **words: Any) -> Proposal:
        """The program with something called on an expression."""
        return self.proposal(self.text.appending(node, text), **words)

    def renamed_to(self, node: ast.Attribute, name: str, **words: Any) -> Proposal:
        """The program with another attribute."""
        return self.proposal(self.renamed(node, name), **words)

    def numbers_as(self, form: str, nodes: list[ast.expr]) -> list[Edit]:
        """The numbers among expressions, in the place of {} in a text."""
        numbers = [(n, getattr(n, "value", None)) for n in nodes if isinstance(n, ast.Constant)]
        return [
            self.text.replacing(n, form.format(float(v)))
            for n, v in numbers
            if isinstance(v, int | float)
        ]

    def with_keyword(self, call: ast.Call, name: str, value: str) -> Edit:
        """A call with one more keyword argument, or with another value of it."""
        for k in call.keywords:
            if k.arg == name:
                return self.text.replacing(k.value, value)
        return self.with_argument(call, f"{name}={value}")

    def with_argument(self, call: ast.Call, text: str) -> Edit:
        """A call with one more argument at its end."""
        arguments = [*call.args, *[k.value for k in call.keywords]]
        if not arguments:
            at = self.text.end(call) - 1
            return Edit(at, at, text)
        last = max(self.text.end(a) for a in arguments)
        while self.text.source[last] != "," and last < self.text.end(call) - 1:
            last += 1
        comma = self.text.source[last] == ","
        return Edit(last, last, f", {text}") if not comma else Edit(last, last + 1, f", {text},")

    def without_keyword(self, call: ast.Call, name: str) -> Edit | None:
        """A call without a keyword argument."""
        for k in call.keywords:
            if k.arg == name:
                start, end = self.text.start(k), self.text.end(k.value)
                source = self.text.source
                before = re.search(r",\s*$", source[:start])
                after = re.match(r"\s*,\s*", source[end:])
                if before:
                    return Edit(before.start(), end, "")
                return Edit(start, end + (after.end() if after else 0), "")
        return None

    def dot(self, node: ast.Attribute) -> int:
        """Where the dot before an attribute stands."""
        return self.text.source.rindex(".", 0, self.text.end(node) - len(node.attr))

    def before_attribute(self, node: ast.Attribute, text: str) -> Edit:
        """`value.text.attr` in the place of `value.attr`."""
        at = self.dot(node)
        return Edit(at, at, text)

    def without_method(self, call: ast.Call) -> Edit:
        """`value` in the place of `value.method(...)`."""
        assert isinstance(call.func, ast.Attribute)
        return Edit(self.dot(call.func), self.text.end(call), "")

    def renamed(self, node: ast.Attribute, name: str) -> Edit:
        """`value.name` in the place of `value.attr`."""
        return Edit(self.text.end(node) - len(node.attr), self.text.end(node), name)


def weight_of(value: Any) -> Tensor | None:
    """The weight of a layer."""
    weights = value.fields.get("_parameters", {}) if isinstance(value, Instance) else {}
    weight = weights.get("weight")
    return weight if isinstance(weight, Tensor) else None


def names_in(node: ast.AST | None) -> list[str]:
    """The names, and the attributes of self, that an expression reads."""
    if node is None:
        return []
    result = []
    for n in ast.walk(node):
        if isinstance(n, ast.Name):
            result.append(n.id)
        elif isinstance(n, ast.Attribute) and dotted(n).startswith("self."):
            result.append(dotted(n))
    return result
