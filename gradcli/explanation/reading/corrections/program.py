"""A program that raises, and what stands in it: on the line that raises, or everywhere."""

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import Any, TypeVar, overload

from .nodes import argument, calls_in, dotted, keyword, method, names_in, value_of
from .text import Text

N = TypeVar("N", bound=ast.AST)
LOOPS = (ast.For, ast.While)
OF_TORCH = ("torch.autograd.grad", "torch.autograd.backward", "autograd.grad", "autograd.backward")


class Program(Text):
    """The text of a program, and the line where it raises; 0 of one that runs."""

    def __init__(self, source: str, line: int):
        super().__init__(source)
        self.line = line

    # ---- nodes ---------------------------------------------------------------------------------

    @cached_property
    def nodes(self) -> list[Any]:
        """All nodes of the statements that raise."""
        return self.nodes_of(self.line)

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """The statements of the line that raises."""
        return self.statements_of(self.line)

    @property
    def statement(self) -> ast.stmt:
        """The first of them."""
        return self.statements[0]

    @cached_property
    def all_nodes(self) -> list[Any]:
        """All nodes of the program, in the order of the text."""
        nodes = [n for n in ast.walk(self.tree) if hasattr(n, "lineno")]
        return sorted(nodes, key=lambda n: (n.lineno, n.col_offset))

    @overload
    def of_type(self, kind: type[N], /, *, everywhere: bool = False) -> list[N]: ...
    @overload
    def of_type(self, *kinds: type[ast.AST], everywhere: bool = False) -> list[Any]: ...
    def of_type(self, *kinds: Any, everywhere: bool = False) -> list[Any]:
        """The nodes of these classes, on the line that raises."""
        nodes = self.all_nodes if everywhere else self.nodes
        return [n for n in nodes if isinstance(n, kinds)]

    def calls(self, *names: str, everywhere: bool = False) -> list[ast.Call]:
        """The calls of functions or methods of these names, or of any, on the line that raises."""
        calls = self.of_type(ast.Call, everywhere=everywhere)
        return [n for n in calls if method(n) in names] if names else calls

    def methods(self, *names: str, everywhere: bool = False) -> list[ast.Call]:
        """The calls that are written x.name(...)."""
        calls = self.calls(*names, everywhere=everywhere)
        return [n for n in calls if isinstance(n.func, ast.Attribute)]

    def attributes(self, *names: str, everywhere: bool = False) -> list[ast.Attribute]:
        """The attributes of these names, or all, on the line that raises."""
        result = self.of_type(ast.Attribute, everywhere=everywhere)
        return [n for n in result if n.attr in names] if names else result

    def names(self, name: str, everywhere: bool = True) -> list[ast.Name]:
        """The places where a name is written."""
        return [n for n in self.of_type(ast.Name, everywhere=everywhere) if n.id == name]

    @property
    def creations(self) -> list[ast.Call]:
        """Calls on the line that raises that make a tensor."""
        return [n for n in self.calls() if dotted(n.func).startswith("torch.") and n.args]

    # ---- functions and loops -------------------------------------------------------------------

    @property
    def classes(self) -> list[ast.ClassDef]:
        """The classes of the program."""
        return self.of_type(ast.ClassDef, everywhere=True)

    @cached_property
    def functions(self) -> dict[str, ast.FunctionDef]:
        """The functions and methods of the program by their names."""
        return {n.name: n for n in self.of_type(ast.FunctionDef, everywhere=True)}

    def loop(self, node: ast.AST) -> ast.For | ast.While | None:
        """The innermost loop around a node."""
        return next((n for n in self.around(node) if isinstance(n, LOOPS)), None)

    def outermost(self, node: ast.AST) -> ast.stmt:
        """The statement of the program itself that a node stands in."""
        *_, last = (n for n in (node, *self.around(node)) if isinstance(n, ast.stmt))
        return last

    def block_after(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements of the same block that come after a statement."""
        block = self.blocks.get(statement, [])
        return block[block.index(statement) + 1 :] if statement in block else []

    # ---- where values come from ----------------------------------------------------------------

    def assignments(self, name: str, before: int | None = None) -> list[ast.stmt]:
        """The statements that give a name, or an attribute "self.h", a value."""
        result: list[ast.stmt] = []
        for node in self.of_type(ast.Assign, ast.AugAssign, ast.AnnAssign, everywhere=True):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            flat = [t for x in targets for t in getattr(x, "elts", [x])]
            if name in [dotted(t) for t in flat] and (before is None or node.lineno < before):
                result.append(node)
        return result

    def makers(self, node: ast.expr | str, before: int | None = None) -> list[ast.Assign]:
        """The assignments that give a name its value before a line, the last first."""
        name = node if isinstance(node, str) else dotted(node)
        given = self.assignments(name, before or self.line)
        return [s for s in reversed(given) if isinstance(s, ast.Assign)]

    def made(self, node: ast.expr, before: int | None = None) -> ast.expr:
        """The expression that a name was last given before a line; of no name the node itself."""
        given = self.assignments(dotted(node), before or self.line) if dotted(node) else []
        value = value_of(given[-1]) if given else None
        return value if isinstance(value, ast.expr) else node

    def slice_of(self, node: ast.AST, before: int) -> list[ast.stmt]:
        """The statements that a value comes from, the nearest first."""
        result: dict[ast.stmt, None] = {}
        waiting = [(n, before) for n in names_in(node)]
        while waiting:
            name, line = waiting.pop(0)
            for statement in reversed([*self.assignments(name, line), *self._added(name, line)]):
                if statement not in result:
                    result[statement] = None
                    waiting += [(n, statement.lineno + 1) for n in names_in(value_of(statement))]
        return sorted(result, key=lambda s: -s.lineno)

    def _added(self, name: str, before: int) -> list[ast.Expr]:
        """The statements that append to a list of this name."""
        added = (f"{name}.append", f"{name}.extend")
        statements = self.of_type(ast.Expr, everywhere=True)
        return [s for s in statements if s.lineno < before and dotted(_called(s.value)) in added]

    # ---- ways back -----------------------------------------------------------------------------

    @cached_property
    def backwards(self) -> list[ast.Call]:
        """All calls that go back, in the order of the text."""
        return [
            n
            for n in self.calls(everywhere=True)
            if (method(n) == "backward" and isinstance(n.func, ast.Attribute)) or self.is_grad(n)
        ]

    @cached_property
    def here(self) -> list[ast.Call]:
        """The calls that go back on the line that raises."""
        return [c for c in self.backwards if c in self.nodes]

    @property
    def ways(self) -> Iterator[tuple[ast.Call, ast.expr]]:
        """These calls, and what each goes back from."""
        for call in self.here:
            root = self.root(call)
            if root is not None:
                yield call, root

    def is_grad(self, call: ast.Call) -> bool:
        """Whether a call is torch.autograd.grad's."""
        name = dotted(call.func)
        return name.endswith("autograd.grad") or (
            name == "grad" and "autograd import" in self.source
        )

    def root(self, call: ast.Call) -> ast.expr | None:
        """What a call goes back from."""
        named = keyword(call, "outputs") or keyword(call, "tensors")
        if named:
            return named.value
        if isinstance(call.func, ast.Attribute) and dotted(call.func) not in OF_TORCH:
            return call.func.value if method(call) == "backward" else None
        return call.args[0] if call.args else None

    def goes_back(self, node: ast.AST) -> bool:
        """Whether a backward() stands in a node."""
        return bool(calls_in(node, "backward"))

    def inputs_of(self, call: ast.Call) -> ast.expr | None:
        """What a call asks the gradients of."""
        return argument(call, 1, "inputs")

    def reads_grad(self, name: str) -> bool:
        """Whether the program asks for the gradient of a name."""
        return any(dotted(n.value) == name for n in self.attributes("grad", everywhere=True))

    def reads_of(self, name: str) -> list[ast.Name]:
        """The places where a name is read."""
        return [n for n in self.names(name) if isinstance(n.ctx, ast.Load)]


def _called(node: ast.AST) -> ast.expr | None:
    return node.func if isinstance(node, ast.Call) else None
