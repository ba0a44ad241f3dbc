"""A program that raises, its values at that moment, and edits for corrections."""

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, overload

from ....snippets.eager.tensor import Tensor
from ....snippets.eager.views import readable
from ....snippets.python.machine import Failure
from ....snippets.python.values import Instance
from ....snippets.reading import Reading
from .nodes import (
    ARITHMETIC,
    argument,
    calls_in,
    dotted,
    keyword,
    method,
    names_in,
    owner,
    value_of,
)
from .probing import KINDS, Place, place_of, places_of, probed
from .text import Edit, Text

N = TypeVar("N", bound=ast.AST)
LOOPS = (ast.For, ast.While)
OF_TORCH = ("torch.autograd.grad", "torch.autograd.backward", "autograd.grad", "autograd.backward")


class Program(Text):
    """The source of a program and the line at which it raises, 0 if it runs."""

    def __init__(self, source: str, line: int):
        super().__init__(source)
        self.line = line

    # ---- nodes ---------------------------------------------------------------------------------

    @cached_property
    def nodes(self) -> list[Any]:
        """All nodes of the statements on the line that raises."""
        return self.nodes_of(self.line)

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """The statements on the line that raises."""
        return self.statements_of(self.line)

    @property
    def statement(self) -> ast.stmt:
        """The first statement on the line that raises."""
        return self.statements[0]

    @cached_property
    def all_nodes(self) -> list[Any]:
        """All nodes of the program, in source order."""
        nodes = [n for n in ast.walk(self.tree) if hasattr(n, "lineno")]
        return sorted(nodes, key=lambda n: (n.lineno, n.col_offset))

    @overload
    def of_type(self, kind: type[N], /, *, everywhere: bool = False) -> list[N]: ...
    @overload
    def of_type(self, *kinds: type[ast.AST], everywhere: bool = False) -> list[Any]: ...
    def of_type(self, *kinds: Any, everywhere: bool = False) -> list[Any]:
        """The nodes of these classes, on the line that raises or everywhere."""
        nodes = self.all_nodes if everywhere else self.nodes
        return [n for n in nodes if isinstance(n, kinds)]

    def calls(self, *names: str, everywhere: bool = False) -> list[ast.Call]:
        """The calls of functions or methods with these names, or all calls, on the line that
        raises.
        """
        calls = self.of_type(ast.Call, everywhere=everywhere)
        return [n for n in calls if method(n) in names] if names else calls

    def methods(self, *names: str, everywhere: bool = False) -> list[ast.Call]:
        """The calls of the form x.name(...)."""
        calls = self.calls(*names, everywhere=everywhere)
        return [n for n in calls if isinstance(n.func, ast.Attribute)]

    def attributes(self, *names: str, everywhere: bool = False) -> list[ast.Attribute]:
        """The attributes with these names, or all of them, on the line that raises."""
        result = self.of_type(ast.Attribute, everywhere=everywhere)
        return [n for n in result if n.attr in names] if names else result

    def names(self, name: str, everywhere: bool = True) -> list[ast.Name]:
        """The occurrences of a name."""
        return [n for n in self.of_type(ast.Name, everywhere=everywhere) if n.id == name]

    @property
    def sides(self) -> list[ast.expr]:
        """The operands of all binary operations on the line that raises."""
        return [side for n in self.of_type(ast.BinOp) for side in (n.left, n.right)]

    @property
    def origins(self) -> list[ast.stmt]:
        """The earlier statements that assign the names on the line that raises."""
        return [s for n in self.of_type(ast.Name) for s in self.assignments(n.id, self.line)]

    @property
    def creations(self) -> list[ast.Call]:
        """The calls on the line that raises that create a tensor."""
        return [n for n in self.calls() if dotted(n.func).startswith("torch.") and n.args]

    # ---- functions and loops -------------------------------------------------------------------

    @property
    def classes(self) -> list[ast.ClassDef]:
        """The classes of the program."""
        return self.of_type(ast.ClassDef, everywhere=True)

    @cached_property
    def functions(self) -> dict[str, ast.FunctionDef]:
        """The functions and methods of the program, by name."""
        return {n.name: n for n in self.of_type(ast.FunctionDef, everywhere=True)}

    def loop(self, node: ast.AST) -> ast.For | ast.While | None:
        """The innermost loop around a node."""
        return next((n for n in self.around(node) if isinstance(n, LOOPS)), None)

    def outermost(self, node: ast.AST) -> ast.stmt:
        """The top-level statement that contains a node."""
        *_, last = (n for n in (node, *self.around(node)) if isinstance(n, ast.stmt))
        return last

    def outermost_in_loop(self, statement: ast.stmt) -> ast.stmt:
        """The ancestor of a statement that is in the same block as a backward pass, or in a loop's
        body.
        """
        backs = {id(self.blocks.get(self.statement_of(c))) for c in self.backwards}
        outer = [s for s in (statement, *self.around(statement)) if isinstance(s, ast.stmt)]
        return next((s for s in outer if id(self.blocks.get(s)) in backs), statement)

    def block_after(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements after a statement in the same block."""
        block = self.blocks.get(statement, [])
        return block[block.index(statement) + 1 :] if statement in block else []

    # ---- assignments --------------------------------------------------------------------------

    def assignments(self, name: str, before: int | None = None) -> list[ast.stmt]:
        """The statements that assign a name, or an attribute such as "self.h"."""
        result: list[ast.stmt] = []
        for node in self.of_type(ast.Assign, ast.AugAssign, ast.AnnAssign, everywhere=True):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            flat = [t for x in targets for t in getattr(x, "elts", [x])]
            if name in [dotted(t) for t in flat] and (before is None or node.lineno < before):
                result.append(node)
        return result

    def makers(self, node: ast.expr | str, before: int | None = None) -> list[ast.Assign]:
        """The assignments of a name before a line, last first."""
        name = node if isinstance(node, str) else dotted(node)
        given = self.assignments(name, before or self.line)
        return [s for s in reversed(given) if isinstance(s, ast.Assign)]

    def made(self, node: ast.expr, before: int | None = None) -> ast.expr:
        """The expression last assigned to a name before a line; the node itself if it is not a
        name.
        """
        given = self.assignments(dotted(node), before or self.line) if dotted(node) else []
        value = value_of(given[-1]) if given else None
        return value if isinstance(value, ast.expr) else node

    def slice_of(self, node: ast.AST, before: int) -> list[ast.stmt]:
        """The statements that a value depends on, nearest first."""
        result: dict[ast.stmt, None] = {}
        waiting = [(n, before) for n in names_in(node)]
        loops: set[ast.For] = set()
        while waiting:
            name, line = waiting.pop(0)
            for loop in [f for f in self._loops_over(name, line) if f not in loops]:
                loops.add(loop)
                waiting += [(n, loop.lineno) for n in names_in(loop.iter)]
            for statement in reversed([*self.assignments(name, line), *self._added(name, line)]):
                if statement not in result:
                    result[statement] = None
                    waiting += [(n, statement.lineno + 1) for n in names_in(value_of(statement))]
        return sorted(result, key=lambda s: -s.lineno)

    def _loops_over(self, name: str, before: int) -> list[ast.For]:
        """The loops before a line that have a name among their targets."""
        loops = [n for n in self.of_type(ast.For, everywhere=True) if n.lineno < before]
        return [n for n in loops if name in names_in(n.target)]

    def _added(self, name: str, before: int) -> list[ast.Expr]:
        """The statements that append to a list."""
        added = (f"{name}.append", f"{name}.extend")
        statements = self.of_type(ast.Expr, everywhere=True)
        return [s for s in statements if s.lineno < before and dotted(_called(s.value)) in added]

    # ---- backward passes -------------------------------------------------------------------------

    @cached_property
    def backwards(self) -> list[ast.Call]:
        """All calls of backward and grad, in source order."""
        return [
            n
            for n in self.calls(everywhere=True)
            if (method(n) == "backward" and isinstance(n.func, ast.Attribute)) or self.is_grad(n)
        ]

    @cached_property
    def here(self) -> list[ast.Call]:
        """The calls of backward and grad on the line that raises."""
        return [c for c in self.backwards if c in self.nodes]

    @property
    def roots(self) -> Iterator[tuple[ast.Call, ast.expr]]:
        """The calls of backward and grad on the line that raises, with the expressions they
        differentiate.
        """
        for call in self.here:
            root = self.root(call)
            if root is not None:
                yield call, root

    @property
    def loop_here(self) -> ast.For | ast.While | None:
        """The innermost loop around a call of backward or grad on the line that raises."""
        return next((loop for c in self.here if (loop := self.loop(c))), None)

    def feeds_backward(self, call: ast.Call) -> bool:
        """Whether a later backward pass depends on the gradients that a call of grad returns."""
        given = self.statement_of(call)
        later = [(c, self.root(c)) for c in self.backwards if c.lineno > given.lineno]
        roots = [(r, c.lineno) for c, r in later if r is not None]
        return self.is_grad(call) and any(given in self.slice_of(r, line) for r, line in roots)

    def is_grad(self, call: ast.Call) -> bool:
        """Whether a call is one of torch.autograd.grad."""
        name = dotted(call.func)
        return name.endswith("autograd.grad") or (
            name == "grad" and "autograd import" in self.source
        )

    def root(self, call: ast.Call) -> ast.expr | None:
        """The expression that a call of backward or grad differentiates."""
        named = keyword(call, "outputs") or keyword(call, "tensors")
        if named:
            return named.value
        if isinstance(call.func, ast.Attribute) and dotted(call.func) not in OF_TORCH:
            return call.func.value if method(call) == "backward" else None
        return call.args[0] if call.args else None

    def goes_back(self, node: ast.AST) -> bool:
        """Whether a node contains a call of backward()."""
        return bool(calls_in(node, "backward"))

    def inputs_of(self, call: ast.Call) -> ast.expr | None:
        """The expression for the inputs with respect to which a call differentiates."""
        return argument(call, 1, "inputs")

    def reads_grad(self, name: str) -> bool:
        """Whether the program reads the .grad of a name."""
        return any(dotted(n.value) == name for n in self.attributes("grad", everywhere=True))

    def reads_of(self, name: str) -> list[ast.Name]:
        """The nodes that read a name."""
        return [n for n in self.names(name) if isinstance(n.ctx, ast.Load)]


def _called(node: ast.AST) -> ast.expr | None:
    return node.func if isinstance(node, ast.Call) else None


class Proposal(NamedTuple):
    """A changed program that may run; `note` is a remark on the change.

    A `weak` proposal runs but may lose a part of what the author meant: it is tried last. One that
    `uncovers` may make the program raise earlier, at the actual mistake. With `reprints`, earlier
    output may change, as it was wrong because of the mistake.
    """

    source: str
    note: str = ""
    why: str = ""
    weak: bool = False
    uncovers: bool = False
    reprints: bool = False


class Case(Program):
    """A program that raises; if it runs, its failure has no message."""

    def __init__(self, reading: Reading, match: re.Match[str], failure: Failure | None = None):
        self.reading, self.match = reading, match
        self.failure = failure or reading.outcome.exception or Failure("", "", 0)
        self.message = self.failure.message
        super().__init__(reading.source, self.failure.line)

    # ---- values when it raised -------------------------------------------------------------------

    @cached_property
    def values(self) -> dict[str, Any]:
        """The last value of each name. Local names of the function that raises take precedence; of
        other functions' local names only tensors are included.
        """
        local = {a.name: a.tensor for a in self.reading.trace.assignments}
        return _readable(local | self.reading.outcome.scope | {**self.failure.names})

    @cached_property
    def scope(self) -> dict[str, Any]:
        """The values of global names."""
        return _readable(self.reading.outcome.scope)

    def value(self, node: ast.AST | None) -> Any:
        """The value of an expression: of a name, of an attribute of a module, or of any expression
        on the line that raises; None if it is not known.
        """
        value = self._held(node)
        if value is not None or not isinstance(node, KINDS):
            return value
        place = place_of(node)
        return self._probed.get(place) if place in self._places else None

    @cached_property
    def _places(self) -> Collection[Place]:
        return places_of(self.nodes)

    @cached_property
    def _probed(self) -> Mapping[Place, Any]:
        values = probed(self.reading, self._places)
        return {place: value for place, value in values.items() if not _unreadable(value)}

    def _held(self, node: ast.AST | None) -> Any:
        """The value of a name, or of an attribute of a module."""
        if isinstance(node, ast.Name) and node.id == "self":
            return self._self(node)
        if isinstance(node, ast.Name):
            return self.values.get(node.id)
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Subscript):
            return _item(self.value(node.value), value_of(node.slice))
        if isinstance(node, ast.Attribute):
            inner = self.value(node.value)
            if isinstance(inner, Instance):
                for fields in (inner.fields, *_members(inner), named_fields(inner)):
                    if node.attr in fields:
                        return fields[node.attr]
            if isinstance(inner, Tensor) and node.attr == "grad":
                return inner.grad
        return None

    def _self(self, node: ast.Name) -> Any:
        """A module of the class that contains a node."""
        if "self" in self.failure.names:
            return self.failure.names["self"]
        classes = [n.name for n in self.around(node) if isinstance(n, ast.ClassDef)]
        modules = self.reading.trace.modules.values()
        return next((m for m in modules if m.cls.name in classes), None)

    def tensor(self, node: ast.AST | None) -> Tensor | None:
        """The value of an expression, if it is a known tensor."""
        value = self.value(node)
        return value if isinstance(value, Tensor) else None

    def tensor_of(self, name: str) -> Tensor | None:
        """The value of a name, if it is a tensor."""
        value = self.values.get(name)
        return value if isinstance(value, Tensor) else None

    def shape(self, node: ast.AST | None) -> tuple[int, ...] | None:
        """The shape of an expression, if it is a known tensor."""
        tensor = self.tensor(node)
        return None if tensor is None else tensor.shape

    def number(self, node: ast.AST | None) -> int | None:
        """The integer value of an expression: a literal, a variable, or computed from these."""
        if isinstance(node, ast.BinOp):
            apply = ARITHMETIC.get(type(node.op))
            left, right = self.number(node.left), self.number(node.right)
            return apply(left, right) if apply and None not in (left, right) else None  # type: ignore[arg-type]
        if isinstance(node, ast.Call) and method(node) == "len" and node.args:
            value = self.value(node.args[0])
            if isinstance(value, Tensor):
                return value.shape[0] if value.ndim else None
            return len(value) if isinstance(value, list | tuple | dict | str) else None
        size = self._size(node)
        value = self.value(node) if size is None else size
        return value if type(value) is int else None

    def _size(self, node: ast.AST | None) -> int | None:
        """The size in x.shape[1] and x.size(1)."""
        if method(node) == "size" and isinstance(node, ast.Call):
            shape, place = self.shape(owner(node)), node.args[:1]
        elif isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "shape":
            shape, place = self.shape(owner(node.value)), [node.slice]
        else:
            return None
        dim = self.number(place[0]) if place else None
        known = shape is not None and dim is not None and -len(shape) <= dim < len(shape)
        return shape[dim] if known else None  # type: ignore[index]

    def listed(self, node: ast.AST) -> list[Tensor]:
        """The tensors in a list, literal or by name; [] if some are not known."""
        elements = getattr(node, "elts", None)
        values = self.value(node) if elements is None else [self.value(e) for e in elements]
        whole = isinstance(values, list | tuple) and all(isinstance(v, Tensor) for v in values)
        return list(values) if whole else []

    def is_list(self, node: ast.expr) -> bool:
        """Whether an expression is a list, or a name that is first assigned a list."""
        begun = any(isinstance(s.value, ast.List) for s in self.makers(node, node.lineno))
        return isinstance(self.value(node), list) or (isinstance(node, ast.Name) and begun)

    def module(self, node: ast.AST | None) -> Instance | None:
        """The value of an expression, if it is a module or another instance."""
        value = self.value(node)
        return value if isinstance(value, Instance) else None

    def is_module(self, node: ast.AST | None) -> bool:
        """Whether an expression is a module or another instance."""
        return self.module(node) is not None

    @property
    def calls_of_modules(self) -> list[tuple[ast.Call, Instance]]:
        """The calls of modules on the line that raises, each with its module."""
        pairs = [(call, self.module(call.func)) for call in self.calls()]
        return [(call, module) for call, module in pairs if module is not None]

    def called_class(self, call: ast.Call) -> str:
        """The class name of the module that is called; "" if none is."""
        module = self.module(call.func)
        return module.cls.name if module is not None else ""

    def is_loss(self, call: ast.Call) -> bool:
        """Whether a call computes a loss of PyTorch."""
        name = self.called_class(call) or method(call)
        name = name or method(call.func)  # such as nn.MSELoss()(x, y)
        return name.endswith(("Loss", "_loss", "cross_entropy", "with_logits", "div"))

    def leads_to_leaf(self, node: ast.AST) -> bool:
        """Whether an expression may depend on a tensor that requires grad: it uses one, a module, a
        function of the program, or an unknown value.
        """
        places = [node, *self.slice_of(node, getattr(node, "lineno", self.line))]
        return any(self._may_require(name) for p in places for name in names_in(p))

    def _may_require(self, name: str) -> bool:
        value = self.values.get(name)
        if isinstance(value, Tensor):
            return value.requires_grad
        return name in self.functions or isinstance(value, Instance) or "." in name

    @property
    def operands(self) -> list[ast.expr]:
        """The names on the line that raises whose values are tensors, in source order."""
        result: dict[str, ast.expr] = {}
        for node in self.of_type(ast.Name, ast.Attribute, ast.Subscript):
            stored = isinstance(getattr(node, "ctx", None), ast.Store)
            if not stored and isinstance(self.value(node), Tensor):
                result.setdefault(self.of(node), node)
        return list(result.values())

    @property
    def tensors(self) -> list[tuple[ast.expr, Tensor]]:
        """The operands, each with its tensor."""
        return [(n, self.value(n)) for n in self.operands]

    @property
    def leaves(self) -> list[str]:
        """The names of leaves that require grad."""
        values = self.scope.items()
        return [n for n, v in values if isinstance(v, Tensor) and v.requires_grad and v.is_leaf]

    # ---- proposals -------------------------------------------------------------------------------

    def proposal(self, *edits: Edit, **words: Any) -> Proposal:
        """The program after edits."""
        return Proposal(self.edited(*edits), **words)

    def change(self, *edits: Edit | None, **words: Any) -> Iterator[Proposal]:
        """The program after edits; nothing if there are none or one of them is None."""
        if edits and all(edits):
            yield self.proposal(*[e for e in edits if e], **words)

    def exchanged(self, a: ast.expr, b: ast.expr, **words: Any) -> Proposal:
        """The program with two expressions exchanged."""
        return self.proposal(self.replacing(a, self.of(b)), self.replacing(b, self.of(a)), **words)

    def replaced(self, node: ast.AST, text: str, **words: Any) -> Proposal:
        """The program with a node replaced."""
        return self.proposal(self.replacing(node, text), **words)

    def appended(self, node: ast.expr, text: str, **words: Any) -> Proposal:
        """The program with text, such as a method call, appended to an expression."""
        return self.proposal(self.appending(node, text), **words)

    def renamed_to(self, node: ast.expr, name: str, **words: Any) -> Proposal:
        """The program with another name of an attribute or method."""
        return self.proposal(self.renamed(node, name), **words)

    def without(self, call: ast.Call, **words: Any) -> Proposal:
        """The program with x in place of x.method(...)."""
        return self.proposal(self.without_method(call), **words)

    def first(self, node: ast.expr, text: str, **words: Any) -> Proposal:
        """The program with x.text.name in place of x.name."""
        return self.proposal(self.before_attribute(node, text), **words)

    def given(self, call: ast.Call, name: str, value: str, **words: Any) -> Proposal:
        """The program with a keyword argument added to a call."""
        return self.proposal(self.with_keyword(call, name, value), **words)

    # ---- edits -----------------------------------------------------------------------------------

    def numbers_as(self, form: str, nodes: list[ast.expr]) -> list[Edit]:
        """Edits that write the numbers among expressions as `form`, which contains {}."""
        return [
            self.replacing(n, form.format(float(n.value)))
            for n in nodes
            if isinstance(n, ast.Constant) and isinstance(n.value, int | float)
        ]

    def with_keyword(self, call: ast.Call, name: str, value: str) -> Edit:
        """A call with a keyword argument added or replaced."""
        named = keyword(call, name)
        if named:
            return self.replacing(named.value, value)
        return self.with_argument(call, f"{name}={value}")

    def with_argument(self, call: ast.Call, text: str) -> Edit:
        """A call with a positional argument appended."""
        arguments = [*call.args, *[k.value for k in call.keywords]]
        if not arguments:
            at = self.end(call) - 1
            return Edit(at, at, text)
        last = max(self.end(a) for a in arguments)
        while self.source[last] != "," and last < self.end(call) - 1:
            last += 1
        comma = self.source[last] == ","
        return Edit(last, last, f", {text}") if not comma else Edit(last, last + 1, f", {text},")

    def without_keyword(self, call: ast.Call, name: str) -> Edit | None:
        """A call without a keyword argument."""
        named = keyword(call, name)
        if named is None:
            return None
        start, end = self.start(named), self.end(named.value)
        before = re.search(r",\s*$", self.source[:start])
        if before:
            return Edit(before.start(), end, "")
        after = re.match(r"\s*,\s*", self.source[end:])
        return Edit(start, end + (after.end() if after else 0), "")

    def dot(self, node: ast.expr) -> int:
        """The offset of the dot before the name of an attribute or method."""
        name = _attribute(node)
        return self.source.rindex(".", 0, self.end(name) - len(name.attr))

    def before_attribute(self, node: ast.expr, text: str) -> Edit:
        """Write `value.text.attr` for `value.attr`."""
        at = self.dot(node)
        return Edit(at, at, text)

    def without_method(self, call: ast.Call) -> Edit:
        """Write `value` for `value.method(...)`."""
        return Edit(self.dot(call), self.end(call), "")

    def renamed(self, node: ast.expr, name: str) -> Edit:
        """Write `value.name` for `value.attr`."""
        attribute = _attribute(node)
        return Edit(self.end(attribute) - len(attribute.attr), self.end(attribute), name)


def named_fields(value: object) -> dict[str, Any]:
    """The values of a named tuple, by field; {} for other values."""
    if not isinstance(value, Instance) or "_fields" not in value.cls.members:
        return {}
    return dict(zip(value.cls.members["_fields"], value.payload))


def _item(holder: Any, key: Any) -> Any:
    """An item of a list, tuple or dict; None if it does not exist."""
    if isinstance(holder, dict):
        return holder.get(key) if isinstance(key, str | int) else None
    known = isinstance(holder, list | tuple) and type(key) is int
    return holder[key] if known and -len(holder) <= key < len(holder) else None


def _attribute(node: ast.expr) -> ast.Attribute:
    """The attribute in x.name and in x.name(...)."""
    name = node.func if isinstance(node, ast.Call) else node
    assert isinstance(name, ast.Attribute)
    return name


def _readable(values: dict[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in values.items() if not _unreadable(v)}


def _unreadable(value: Any) -> bool:
    return isinstance(value, Tensor) and not readable(value)


def _members(module: Instance) -> Iterator[dict[str, Any]]:
    for name in ("_parameters", "_modules", "_buffers"):
        fields = module.fields.get(name)
        if isinstance(fields, dict):
            yield fields


def is_computed(value: object) -> bool:
    """Whether a value is a tensor with a grad_fn."""
    return isinstance(value, Tensor) and value.record is not None


def layers_of(module: object) -> Iterator[Instance]:
    """A module and its submodules; nothing for other values."""
    if isinstance(module, Instance):
        yield module
        for inner in module.fields.get("_modules", {}).values():
            yield from layers_of(inner)


def weight_of(value: Any) -> Tensor | None:
    """The weight of a layer."""
    weights = value.fields.get("_parameters", {}) if isinstance(value, Instance) else {}
    weight = weights.get("weight")
    return weight if isinstance(weight, Tensor) else None


# ---- corrections by a single change --------------------------------------------------------------

Cure = Callable[[Case], Iterator[Proposal]]


def renaming(*names: str, to: str) -> Cure:
    """A correction that renames attributes or methods on the line that raises."""
    return lambda case: (case.renamed_to(n, to) for n in case.attributes(*names))


def giving(call: str, name: str, value: str) -> Cure:
    """A correction that passes a keyword argument to the calls of a function."""
    return lambda case: (case.given(c, name, value) for c in case.calls(call, everywhere=True))
