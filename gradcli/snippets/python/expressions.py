"""Expressions, compiled to Python functions from a frame (a dict of local variables) to a value.

The functions are closures of this file, made from the syntax tree. `m.line` is the line that
Python's traceback would show: a statement sets it; in a statement of several lines, an operation
sets it to its own line after its operands are evaluated.
"""

import ast
from collections.abc import Callable, Iterator
from typing import Any

from .builtins import SUPER
from .calls import OUTER
from .objects import Code, Function, Iterable
from .operations import BINARY, COMPARED, iterator_class, translated
from .scopes import Scope, bind, yields
from .values import MISSING, Unsupported, error

Compiled = Callable[[dict], Any]
NUMBERS = frozenset({int, float, bool})
HUGE = 1 << 4000
FAST = frozenset({"Add", "Sub", "Lt", "LtE", "Gt", "GtE", "Eq", "NotEq"})


class Expressions:
    """The part of the compiler that compiles expressions."""

    def __init__(self, m: Any, scope: Scope):
        self.m, self.scope = m, scope
        self.at = 0  # the line of the current statement
        self.spread = False  # whether the current statement has several lines

    def expression(self, node: ast.expr) -> Compiled:
        """A function that evaluates the expression in a frame."""
        compile_node = getattr(self, type(node).__name__, None)
        if compile_node is None:
            return self.refused(node, type(node).__name__)
        return compile_node(node)

    def refused(self, node: Any, what: str) -> Compiled:
        """A function that raises Unsupported for the construct `what` when it is executed."""
        line = node.lineno

        def run(f: dict) -> Any:
            raise Unsupported(what, line)

        return run

    def placed(self, node: Any, last: Compiled, line: int | None = None) -> Compiled:
        """`last`, the last operand of a node, which then sets the current line to the node's."""
        if not self.spread:
            return last
        m, at = self.m, line or node.lineno

        def run(f: dict) -> Any:
            value = last(f)
            m.line = at
            return value

        return run

    # ---- literals and names ----------------------------------------------------------------------

    def Constant(self, node: ast.Constant) -> Compiled:
        value = node.value
        return lambda f: value

    def Name(self, node: ast.Name) -> Compiled:
        load = self.load(node.id)
        if not self.spread:
            return load
        m, line = self.m, node.lineno

        def run(f: dict) -> Any:
            m.line = line
            return load(f)

        return run

    def load(self, name: str) -> Compiled:
        """A function that returns the value of a name in a frame."""
        where, depth = self.scope.resolve(name)
        if self.scope.kind == "class":
            return self.load_in_class(name, where, depth)
        if where == "global":
            return self.load_global(name)
        if where == "local":

            def local(f: dict) -> Any:
                try:
                    return f[name]
                except KeyError:
                    raise unbound(name, free=False) from None

            return local
        return self.load_up(name, depth)

    def load_global(self, name: str) -> Compiled:
        """A function that returns the value of a global or built-in name."""
        g, builtins, starred = self.m.globals, self.m.builtins, self.m.starred
        stars = self.m.stars

        def run(f: dict) -> Any:
            value = g.get(name, MISSING)
            if value is MISSING:
                value = starred(name) if stars else MISSING
                if value is MISSING:
                    value = builtins.get(name, MISSING)
                if value is MISSING:
                    raise error("NameError", f"name '{name}' is not defined")
            return value

        return run

    def load_up(self, name: str, depth: int) -> Compiled:
        """A function that returns the value of a name in the frame `depth` levels up."""
        if depth == 1:

            def one(f: dict) -> Any:
                try:
                    return f[OUTER][name]
                except KeyError:
                    raise unbound(name, free=True) from None

            return one

        def run(f: dict) -> Any:
            for _ in range(depth):
                f = f[OUTER]
            if name not in f:
                raise unbound(name, free=True)
            return f[name]

        return run

    def load_in_class(self, name: str, where: str, depth: int) -> Compiled:
        """A function that returns the value of a name in a class body."""
        if where == "local":  # a name that the class body has not yet bound is global
            outer = self.load_global(name)
        else:
            outer = self.load_global(name) if where == "global" else self.load_up(name, depth)
        return lambda f: f[name] if name in f else outer(f)

    def JoinedStr(self, node: ast.JoinedStr) -> Compiled:
        parts = [self.expression(v) for v in node.values]
        m = self.m

        def run(f: dict) -> str:
            text = "".join([p(f) for p in parts])
            m.spend(0, len(text))
            return text

        return run

    def FormattedValue(self, node: ast.FormattedValue) -> Compiled:
        value, m = self.expression(node.value), self.m
        conversion = chr(node.conversion) if node.conversion > 0 else None
        spec = self.expression(node.format_spec) if node.format_spec else (lambda f: "")
        return lambda f: m.format(m.converted(value(f), conversion), spec(f))

    # ---- displays --------------------------------------------------------------------------------

    def items(self, nodes: list[ast.expr]) -> Compiled:
        """A function that evaluates the items of a display, or positional arguments, to a list."""
        parts = [self.expression(n.value if isinstance(n, ast.Starred) else n) for n in nodes]
        if not any(isinstance(n, ast.Starred) for n in nodes):
            return lambda f: [p(f) for p in parts]
        starred = [isinstance(n, ast.Starred) for n in nodes]
        m = self.m

        def run(f: dict) -> list[Any]:
            values: list[Any] = []
            for part, many in zip(parts, starred):
                value = part(f)
                if not many:
                    values.append(value)
                    continue
                if not m.iterable(value):
                    text = f"Value after * must be an iterable, not {m.type_name(value)}"
                    raise error("TypeError", text)
                for item in m.iterate(value):
                    m.spend(6, 8)
                    values.append(item)
            return values

        return run

    def Tuple(self, node: ast.Tuple) -> Compiled:
        items = self.items(node.elts)
        return lambda f: tuple(items(f))

    def List(self, node: ast.List) -> Compiled:
        items, m, size = self.items(node.elts), self.m, 60 + 8 * len(node.elts)

        def run(f: dict) -> list[Any]:
            m.spend(0, size)
            return items(f)

        return run

    def Set(self, node: ast.Set) -> Compiled:
        items, m = self.items(node.elts), self.m
        return lambda f: {m.key(v) for v in items(f)}

    def Dict(self, node: ast.Dict) -> Compiled:
        keys = [self.expression(k) if k else None for k in node.keys]
        pairs = list(zip(keys, [self.expression(v) for v in node.values]))
        m = self.m

        def run(f: dict) -> dict[Any, Any]:
            m.spend(0, 100 * len(pairs))
            result: dict[Any, Any] = {}
            for key, value in pairs:
                if key is None:
                    mapping = value(f)
                    if not m.is_mapping(mapping):
                        text = f"'{m.type_name(mapping)}' object is not a mapping"
                        raise error("TypeError", text)
                    m.update(result, mapping)
                else:
                    k = m.key(key(f))
                    result[k] = value(f)
            return result

        return run

    # ---- operators -------------------------------------------------------------------------------

    def BinOp(self, node: ast.BinOp) -> Compiled:
        left = self.expression(node.left)
        right = self.placed(node, self.expression(node.right))
        name = type(node.op).__name__
        op, binary = BINARY[name], self.m.binary
        if name in FAST:
            host = op.host

            def fast(f: dict) -> Any:
                a, b = left(f), right(f)
                if type(a) in NUMBERS and type(b) in NUMBERS:
                    return host(a, b)
                return binary(op, a, b)

            return fast
        if name == "Mult":

            def times(f: dict) -> Any:
                a, b = left(f), right(f)
                numbers = type(a) in NUMBERS and type(b) in NUMBERS
                if numbers and -HUGE < a < HUGE and -HUGE < b < HUGE:
                    return a * b
                return binary(op, a, b)

            return times
        return lambda f: binary(op, left(f), right(f))

    def UnaryOp(self, node: ast.UnaryOp) -> Compiled:
        operand, m = self.placed(node, self.expression(node.operand)), self.m
        name = type(node.op).__name__
        if name == "Not":
            return lambda f: not m.truth(operand(f))
        return lambda f: m.unary(name, operand(f))

    def BoolOp(self, node: ast.BoolOp) -> Compiled:
        parts, m = [self.expression(v) for v in node.values], self.m
        first, last = parts[:-1], parts[-1]
        decides = isinstance(node.op, ast.Or)
        line, spread = node.lineno, self.spread

        def run(f: dict) -> Any:
            for part in first:
                value = part(f)
                if spread:
                    m.line = line
                if m.truth(value) is decides:
                    return value
            return last(f)

        return run

    def Compare(self, node: ast.Compare) -> Compiled:
        left = self.expression(node.left)
        rights = [self.placed(node, self.expression(c)) for c in node.comparators]
        tests = [self.comparison(type(op).__name__) for op in node.ops]
        if len(tests) == 1:
            test, right = tests[0], rights[0]
            name = type(node.ops[0]).__name__
            if name in FAST:
                host = COMPARED[name][3]

                def fast(f: dict) -> Any:
                    a, b = left(f), right(f)
                    if type(a) in NUMBERS and type(b) in NUMBERS:
                        return host(a, b)
                    return test(a, b)

                return fast
            return lambda f: test(left(f), right(f))
        m = self.m
        pairs = list(zip(tests, rights))

        def run(f: dict) -> Any:
            a = left(f)
            result: Any = True
            for i, (test, right) in enumerate(pairs):
                if i and not m.truth(result):
                    return result
                b = right(f)
                result = test(a, b)
                a = b
            return result

        return run

    def comparison(self, name: str) -> Callable[[Any, Any], Any]:
        """A function of two values that computes the comparison `name`: Lt, Is, In, ..."""
        m = self.m
        if name == "Is":
            return lambda a, b: a is b
        if name == "IsNot":
            return lambda a, b: a is not b
        if name == "In":
            return lambda a, b: m.contains(b, a)
        if name == "NotIn":
            return lambda a, b: not m.contains(b, a)
        return lambda a, b: m.compare(name, a, b)

    def IfExp(self, node: ast.IfExp) -> Compiled:
        test, body, orelse = map(self.expression, (node.test, node.body, node.orelse))
        truth = self.m.truth
        return lambda f: body(f) if truth(test(f)) else orelse(f)

    def NamedExpr(self, node: ast.NamedExpr) -> Compiled:
        value, store = self.expression(node.value), self.store_name(node.target.id)

        def run(f: dict) -> Any:
            result = value(f)
            store(f, result)
            return result

        return run

    # ---- attributes, indices, calls --------------------------------------------------------------

    def Attribute(self, node: ast.Attribute) -> Compiled:
        value = self.placed(node, self.expression(node.value), node.end_lineno)
        get, name = self.m.get, self.mangled(node.attr)
        return lambda f: get(value(f), name)

    def mangled(self, name: str) -> str:
        """A private name such as __x, mangled in a class: _Class__x. Other names unchanged."""
        if not name.startswith("__") or name.endswith("__"):
            return name
        scope: Scope | None = self.scope
        while scope is not None and scope.kind not in ("cell", "class"):
            scope = scope.parent
        if scope is None:
            return name
        owner = scope.qualname.rpartition(".")[2].lstrip("_")
        return f"_{owner}{name}" if owner else name

    def Subscript(self, node: ast.Subscript) -> Compiled:
        value = self.expression(node.value)
        index = self.placed(node, self.expression(node.slice))
        get_item = self.m.get_item

        def run(f: dict) -> Any:
            a, i = value(f), index(f)
            if type(i) is int and type(a) in (list, tuple):
                try:
                    return a[i]
                except IndexError as e:
                    raise translated(e) from None
            return get_item(a, i)

        return run

    def Slice(self, node: ast.Slice) -> Compiled:
        parts = [
            self.expression(p) if p else (lambda f: None)
            for p in (node.lower, node.upper, node.step)
        ]
        return lambda f: slice(*[p(f) for p in parts])

    def Starred(self, node: ast.Starred) -> Compiled:
        return self.refused(node, "a starred expression here")

    def Call(self, node: ast.Call) -> Compiled:
        if self.is_bare_super(node):
            return self.bare_super(node)
        line = node.func.end_lineno if isinstance(node.func, ast.Attribute) else node.lineno
        call = self.m.call
        plain = not any(isinstance(a, ast.Starred) for a in node.args) and not node.keywords
        if plain and len(node.args) == 0:
            function = self.placed(node, self.expression(node.func), line)
            return lambda f: call(function(f), ())
        function = self.expression(node.func)
        if plain and len(node.args) == 1:
            argument = self.placed(node, self.expression(node.args[0]), line)
            return lambda f: call(function(f), (argument(f),))
        args = self.items(node.args)
        if not node.keywords:
            args = self.placed(node, args, line)
            return lambda f: call(function(f), tuple(args(f)))
        named, m, spread = self.keywords(node.keywords), self.m, self.spread

        def run(f: dict) -> Any:
            target = function(f)
            values = tuple(args(f))
            keywords = named(f, target)
            if spread:
                m.line = line
            return call(target, values, keywords)

        return run

    def keywords(self, nodes: list[ast.keyword]) -> Callable[..., dict[str, Any]]:
        """A function that evaluates the keyword arguments of a call to a dict."""
        pairs = [(k.arg, self.expression(k.value)) for k in nodes]
        m = self.m
        if all(name for name, _ in pairs):
            simple = [(str(name), value) for name, value in pairs]
            return lambda f, target=None: {name: value(f) for name, value in simple}

        def run(f: dict, target: Any = None) -> dict[str, Any]:
            result: dict[str, Any] = {}
            for name, value in pairs:
                if name is not None:
                    more = {name: value(f)}
                else:
                    mapping, more = value(f), {}
                    if not m.is_mapping(mapping):
                        text = f"argument after ** must be a mapping, not {m.type_name(mapping)}"
                        raise error("TypeError", f"{m.call_name(target)}() {text}")
                    m.update(more, mapping)
                for key, item in more.items():
                    if type(key) is not str:
                        raise error("TypeError", "keywords must be strings")
                    if key in result:
                        text = f"got multiple values for keyword argument '{key}'"
                        raise error("TypeError", f"{m.call_name(target)}() {text}")
                    result[key] = item
            return result

        return run

    def is_bare_super(self, node: ast.Call) -> bool:
        function = node.func
        if not isinstance(function, ast.Name) or function.id != "super":
            return False
        return (
            not node.args and not node.keywords and self.scope.resolve("__class__")[0] != "global"
        )

    def bare_super(self, node: ast.Call) -> Compiled:
        """super() without arguments: super(__class__, first parameter)."""
        function, owner_class = self.load("super"), self.load("__class__")
        scope: Scope | None = self.scope
        while scope is not None and scope.kind != "function":
            scope = scope.parent
        if scope is None or scope.first is None:
            return self.refused(node, "super() outside a method")
        first = self.load(scope.first)
        call = self.m.call

        def run(f: dict) -> Any:
            target = function(f)
            args = (owner_class(f), first(f)) if target is SUPER else ()
            return call(target, args)

        return run

    # ---- functions -------------------------------------------------------------------------------

    def inner_parent(self) -> Scope:
        """The parent scope of a function or comprehension that is defined here; not a class."""
        return self.scope.parent if self.scope.kind == "class" else self.scope  # type: ignore

    def Lambda(self, node: ast.Lambda) -> Compiled:
        return self.function(node, "<lambda>", [])

    def function(self, node: Any, name: str, body: list[ast.stmt]) -> Compiled:
        """A function that evaluates a def or lambda to a Function."""
        qualname = self.scope.inner_name(name)
        code = Code(name, qualname, node.lineno)
        a = node.args
        positional = [*a.posonlyargs, *a.args]
        code.names = tuple(self.mangled(p.arg) for p in positional)
        code.positional_only = len(a.posonlyargs)
        code.keyword_only = tuple(p.arg for p in a.kwonlyargs)
        code.star = a.vararg.arg if a.vararg else None
        code.stars = a.kwarg.arg if a.kwarg else None
        code.simple = not (code.keyword_only or code.star or code.stars)
        scope = Scope("function", self.inner_parent(), qualname)
        scope.names.update((*code.names, *code.keyword_only))
        scope.names.update(n for n in (code.star, code.stars) if n)
        scope.first = code.names[0] if code.names else code.star
        self.body(code, scope, node, body)
        defaults = [self.expression(d) for d in a.defaults]
        keyword_defaults = [
            (p.arg, self.expression(d)) for p, d in zip(a.kwonlyargs, a.kw_defaults) if d
        ]
        in_class = self.scope.kind == "class"

        def run(f: dict) -> Function:
            return Function(
                code,
                f[OUTER] if in_class else f,
                tuple([d(f) for d in defaults]),
                {k: d(f) for k, d in keyword_defaults},
            )

        return run

    def body(self, code: Code, scope: Scope, node: Any, body: list[ast.stmt]) -> None:
        """Compile the body of a def or lambda into `code`."""
        if isinstance(node, ast.Lambda):
            bind(scope, [node.body])
            inner = type(self)(self.m, scope)
            inner.spread = node.lineno != node.end_lineno
            code.value = inner.expression(node.body)
            if yields(node.body):
                code.value = self.refused(node, "yield in a lambda")
            return
        code.doc = ast.get_docstring(node)
        code.generator = any(yields(s) for s in body)
        if node.lineno:
            code.body = self.block_of(code, scope, body)
            return

        m, home = self.m, self.m.globals

        def first(frame: dict) -> Any:  # compiles a library's function on its first call
            before = m.globals, m.on_assign
            m.globals, m.on_assign = home, None
            try:
                code.body = self.block_of(code, scope, body)
            finally:
                m.globals, m.on_assign = before
            return code.body(frame)

        code.body = first

    def block_of(self, code: Code, scope: Scope, body: list[ast.stmt]) -> Compiled:
        """Compile the statements of a function body."""
        bind(scope, body)
        inner = type(self)(self.m, scope)
        return inner.block(body, generator=code.generator)

    def block(self, nodes: list[ast.stmt], *, generator: bool = False) -> Compiled:
        raise NotImplementedError

    def store_name(self, name: str) -> Callable[[dict, Any], None]:
        raise NotImplementedError

    def target(self, node: ast.expr) -> Callable[[dict, Any], None]:
        raise NotImplementedError

    # ---- comprehensions --------------------------------------------------------------------------

    def ListComp(self, node: ast.ListComp) -> Compiled:
        start, rows, inner = self.comprehension(node)
        item, m = inner.expression(node.elt), self.m

        def run(f: dict) -> list[Any]:
            frame, first = start(f)
            result = []
            for _ in rows(frame, first):
                m.spend(2, 8)
                result.append(item(frame))
            return result

        return run

    def SetComp(self, node: ast.SetComp) -> Compiled:
        start, rows, inner = self.comprehension(node)
        item, m = inner.expression(node.elt), self.m

        def run(f: dict) -> set[Any]:
            frame, first = start(f)
            result = set()
            for _ in rows(frame, first):
                m.spend(2, 60)
                result.add(m.key(item(frame)))
            return result

        return run

    def DictComp(self, node: ast.DictComp) -> Compiled:
        start, rows, inner = self.comprehension(node)
        key, value, m = inner.expression(node.key), inner.expression(node.value), self.m

        def run(f: dict) -> dict[Any, Any]:
            frame, first = start(f)
            result = {}
            for _ in rows(frame, first):
                m.spend(2, 100)
                k = m.key(key(frame))
                result[k] = value(frame)
            return result

        return run

    def GeneratorExp(self, node: ast.GeneratorExp) -> Compiled:
        start, rows, inner = self.comprehension(node)
        item, m, line = inner.expression(node.elt), self.m, node.lineno

        def items(frame: dict, first: Any) -> Iterator[Any]:
            outside = m.line
            for _ in rows(frame, first):
                m.spend(2)
                m.line = line
                value = item(frame)
                m.line = outside
                yield value
                outside = m.line

        def run(f: dict) -> Iterable:
            frame, first = start(f)
            return Iterable(GENERATOR_EXPRESSION, items(frame, iter(first)))

        return run

    def comprehension(self, node: Any) -> tuple[Callable, Callable, "Expressions"]:
        """The parts of a compiled comprehension: a function that makes its frame and first
        iterator, a function that runs its loops, and the compiler for its items.
        """
        scope = Scope("comprehension", self.inner_parent(), self.scope.inner_name("<listcomp>"))
        for generator in node.generators:
            bind(scope, [generator.target])
        inner = type(self)(self.m, scope)
        inner.spread, inner.at = self.spread, self.at
        first = self.expression(node.generators[0].iter)
        in_class, m = self.scope.kind == "class", self.m
        if any(g.is_async for g in node.generators):
            first = self.refused(node, "async")

        def start(f: dict) -> tuple[dict, Any]:
            items = m.iterate(first(f))
            return {OUTER: f[OUTER] if in_class else f}, items

        return start, inner.loops(node.generators), inner

    def loops(self, generators: list[ast.comprehension]) -> Callable[[dict, Any], Iterator[Any]]:
        """A generator that yields once for each iteration of the innermost loop."""
        head, *rest = generators
        store = self.target(head.target)
        tests = [self.expression(t) for t in head.ifs]
        m = self.m
        source = self.expression(rest[0].iter) if rest else None
        deeper = self.loops(rest) if rest else None

        def run(frame: dict, items: Any) -> Iterator[Any]:
            for item in items:
                m.spend(3)
                store(frame, item)
                if not all(m.truth(t(frame)) for t in tests):
                    continue
                if deeper is None or source is None:
                    yield None
                else:
                    yield from deeper(frame, m.iterate(source(frame)))

        return run


GENERATOR_EXPRESSION = iterator_class("generator")


def unbound(name: str, *, free: bool) -> Exception:
    """The exception for a local variable without a value; `free`: of an enclosing function."""
    if free:
        return error(
            "NameError",
            f"cannot access free variable '{name}' where it is not associated with a value in "
            "enclosing scope",
        )
    return error(
        "UnboundLocalError",
        f"cannot access local variable '{name}' where it is not associated with a value",
    )
