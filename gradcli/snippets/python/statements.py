"""Statements, compiled to Python functions that execute them in a frame, a dict of local variables.

Each function returns None, or how the statement ends: RETURN, BREAK or CONTINUE. A statement that
contains a yield is compiled to a Python generator, which yields the same values.
"""

import ast
from collections.abc import Callable
from collections.abc import Generator as HostGenerator
from typing import Any

from .calls import BREAK, CONTINUE, OUTER, RESULT, RETURN
from .expressions import Compiled, Expressions
from .objects import Generator, Iterable
from .operations import BINARY
from .patterns import Patterns
from .scopes import Scope, bind, size, yields
from .values import (
    EXCEPTIONS,
    MISSING,
    Absent,
    Class,
    Exhausted,
    Instance,
    Raised,
    Unsupported,
    error,
)

Store = Callable[[dict, Any], None]
Steps = HostGenerator[Any, Any, Any]


class Statements(Patterns, Expressions):
    """The part of the compiler that compiles statements."""

    def block(self, nodes: list[ast.stmt], *, generator: bool = False) -> Compiled:
        """A function that executes statements one after the other."""
        if generator:
            return self.generator_block(nodes)
        steps = [self.statement(n) for n in nodes]
        cost, m = sum(map(weight, nodes)), self.m
        if len(steps) == 1:
            (only,) = steps

            def one(f: dict) -> Any:
                m.left -= cost
                if m.left < 0:
                    m.refill()
                return only(f)

            return one

        def run(f: dict) -> Any:
            m.left -= cost
            if m.left < 0:
                m.refill()
            for step in steps:
                end = step(f)
                if end is not None:
                    return end
            return None

        return run

    def generator_block(self, nodes: list[ast.stmt]) -> Callable[[dict], Steps]:
        """A generator function that executes statements in order, some of which yield."""
        steps = [
            (self.generator_statement(n), True) if yields(n) else (self.statement(n), False)
            for n in nodes
        ]
        cost, m = sum(map(weight, nodes)), self.m

        def run(f: dict) -> Steps:
            m.spend(cost)
            for step, suspends in steps:
                end = (yield from step(f)) if suspends else step(f)
                if end is not None:
                    return end
            return None

        return run

    def place(self, node: ast.stmt) -> int:
        """Set `at` and `spread`, the line of the statement to compile and whether it has several
        lines. Returns the line.
        """
        self.at = node.lineno
        self.spread = node.end_lineno != node.lineno and not isinstance(node, ast.FunctionDef)
        return node.lineno

    def statement(self, node: ast.stmt) -> Compiled:
        """A function that executes the statement in a frame."""
        self.place(node)
        compile_node = getattr(self, "do_" + type(node).__name__, None)
        if compile_node is None:
            return self.refused(node, construct(node))
        return compile_node(node)

    def generator_statement(self, node: ast.stmt) -> Callable[[dict], Steps]:
        """A generator function that executes a statement that contains a yield."""
        self.place(node)
        compile_node = getattr(self, "gen_" + type(node).__name__, None)
        if compile_node is None:
            return self.refused(node, "yield here")
        # the condition of an if or while, or the iterable of a for
        header = getattr(node, "test", None) or getattr(node, "iter", None)
        if header is not None and yields(header):
            return self.refused(node, YIELD_INSIDE)
        return compile_node(node)

    # ---- simple ones -----------------------------------------------------------------------------

    def do_Expr(self, node: ast.Expr) -> Compiled:
        if isinstance(node.value, ast.Constant):
            return lambda f: None
        m, line, value = self.m, node.lineno, self.expression(node.value)

        def run(f: dict) -> None:
            m.line = line
            value(f)

        return run

    def do_Pass(self, node: ast.Pass) -> Compiled:
        return lambda f: None

    def do_Break(self, node: ast.Break) -> Compiled:
        return lambda f: BREAK

    def do_Continue(self, node: ast.Continue) -> Compiled:
        return lambda f: CONTINUE

    def do_Global(self, node: ast.Global) -> Compiled:
        return lambda f: None

    do_Nonlocal = do_Global

    def do_Return(self, node: ast.Return) -> Compiled:
        m, line = self.m, node.lineno
        value = self.expression(node.value) if node.value else (lambda f: None)

        def run(f: dict) -> str:
            m.line = line
            f[RESULT] = value(f)
            return RETURN

        return run

    def do_Assert(self, node: ast.Assert) -> Compiled:
        m, line, test = self.m, node.lineno, self.expression(node.test)
        message = self.expression(node.msg) if node.msg else None

        def run(f: dict) -> None:
            m.line = line
            if not m.truth(test(f)):
                args = (message(f),) if message else ()
                raise Raised(Instance(EXCEPTIONS["AssertionError"], payload=args))

        return run

    def do_Delete(self, node: ast.Delete) -> Compiled:
        m, line = self.m, node.lineno
        removals = [self.removal(t) for t in node.targets]

        def run(f: dict) -> None:
            m.line = line
            for remove in removals:
                remove(f)

        return run

    def removal(self, node: ast.expr) -> Compiled:
        """A function that deletes a target of `del`."""
        m = self.m
        if isinstance(node, ast.Name):
            return self.name_removal(node.id)
        if isinstance(node, ast.Attribute):
            value, name = self.expression(node.value), self.mangled(node.attr)
            return lambda f: m.delete(value(f), name)
        if isinstance(node, ast.Subscript):
            value, key = self.expression(node.value), self.expression(node.slice)
            return lambda f: m.delete_item(value(f), key(f))
        parts = [self.removal(e) for e in getattr(node, "elts", [])]

        def run(f: dict) -> None:
            for part in parts:
                part(f)

        return run

    def name_removal(self, name: str) -> Compiled:
        load, holder = self.load(name), self.holder(name)

        def run(f: dict) -> None:
            owner = holder(f)
            if name not in owner:
                load(f)
                raise error("NameError", f"name '{name}' is not defined")
            del owner[name]

        return run

    def holder(self, name: str) -> Callable[[dict], dict]:
        """A function that returns the frame in which a name is bound."""
        where, depth = self.scope.resolve(name)
        g = self.m.globals
        if where == "global":
            return lambda f: g
        if where == "local":
            return lambda f: f

        def run(f: dict) -> dict:
            for _ in range(depth):
                f = f[OUTER]
            return f

        return run

    # ---- assignments -----------------------------------------------------------------------------

    def store_name(self, name: str) -> Store:
        """A function that assigns a name."""
        if self.scope.kind == "comprehension" and name not in self.scope.names:
            return self.store_outside(name)
        where, _ = self.scope.resolve(name)
        observer, m = self.m.on_assign, self.m
        name = self.mangled(name) if self.scope.kind == "class" else name
        if observer is None:
            if where == "local":

                def local(f: dict, value: Any) -> None:
                    f[name] = value

                return local
            return self.store_outside(name)
        store = self.store_outside(name)

        def run(f: dict, value: Any) -> None:
            store(f, value)
            observer(name, value, m.line)

        return run

    def store_outside(self, name: str) -> Store:
        """A function that assigns a name of an outer scope."""
        if self.scope.kind == "comprehension" and name not in self.scope.names:
            depth, scope = 0, self.scope
            while scope.kind == "comprehension" and scope.parent is not None:
                depth, scope = depth + 1, scope.parent
            where, more = scope.resolve(name)
            depth += more
        else:
            where, depth = self.scope.resolve(name)
        g = self.m.globals

        def run(f: dict, value: Any) -> None:
            if where == "global":
                g[name] = value
                return
            for _ in range(depth):
                f = f[OUTER]
            f[name] = value

        return run

    def target(self, node: ast.expr) -> Store:
        """A function that assigns a value to an assignment target."""
        m = self.m
        if isinstance(node, ast.Name):
            return self.store_name(node.id)
        if isinstance(node, ast.Attribute):
            value, name = self.placed(node, self.expression(node.value)), self.mangled(node.attr)
            return lambda f, to: m.set(value(f), name, to)
        if isinstance(node, ast.Subscript):
            owner, key = self.expression(node.value), self.placed(node, self.expression(node.slice))
            return lambda f, to: m.set_item(owner(f), key(f), to)
        if isinstance(node, ast.Tuple | ast.List):
            return self.unpacking(node.elts)
        if isinstance(node, ast.Starred):
            return self.target(node.value)
        raise Unsupported("this assignment target", node.lineno)

    def unpacking(self, nodes: list[ast.expr]) -> Store:
        stores = [self.target(n) for n in nodes]
        starred = next((i for i, n in enumerate(nodes) if isinstance(n, ast.Starred)), None)
        count, m = len(nodes), self.m

        def run(f: dict, value: Any) -> None:
            for store, item in zip(stores, m.unpack(value, count, starred)):
                store(f, item)

        return run

    def do_Assign(self, node: ast.Assign) -> Compiled:
        m, line, value = self.m, node.lineno, self.placed(node, self.expression(node.value))
        stores = [self.target(t) for t in node.targets]
        if len(stores) == 1:
            (store,) = stores

            def one(f: dict) -> None:
                m.line = line
                store(f, value(f))

            return one

        def run(f: dict) -> None:
            m.line = line
            result = value(f)
            for store in stores:
                store(f, result)

        return run

    def do_AnnAssign(self, node: ast.AnnAssign) -> Compiled:
        line, m = node.lineno, self.m
        value = self.placed(node, self.expression(node.value)) if node.value else None
        store = self.target(node.target) if node.value else None
        noted = self.scope.kind == "class" and isinstance(node.target, ast.Name)
        name, annotation = getattr(node.target, "id", ""), ast.unparse(node.annotation)

        def run(f: dict) -> None:
            m.line = line
            if value is not None and store is not None:
                store(f, value(f))
            if noted:
                f.setdefault("__annotations__", {})[name] = annotation

        return run

    def do_AugAssign(self, node: ast.AugAssign) -> Compiled:
        m, line, op = self.m, node.lineno, BINARY[type(node.op).__name__]
        value = self.placed(node, self.expression(node.value))
        in_place = m.in_place
        if isinstance(node.target, ast.Name):
            load, store = self.load(node.target.id), self.store_name(node.target.id)
            host = op.host if op.sign in ("+", "-") else None

            def on_name(f: dict) -> None:
                m.line = line
                a, b = load(f), value(f)
                if host and type(a) in NUMBERS and type(b) in NUMBERS:
                    store(f, host(a, b))
                else:
                    store(f, in_place(op, a, b))

            return on_name
        if isinstance(node.target, ast.Attribute):
            owner, name = self.expression(node.target.value), self.mangled(node.target.attr)

            def on_attribute(f: dict) -> None:
                m.line = line
                target = owner(f)
                m.set(target, name, in_place(op, m.get(target, name), value(f)))

            return on_attribute
        if not isinstance(node.target, ast.Subscript):
            return self.refused(node, "this assignment target")
        owner, key = self.expression(node.target.value), self.expression(node.target.slice)

        def on_item(f: dict) -> None:
            m.line = line
            target, k = owner(f), key(f)
            m.set_item(target, k, in_place(op, m.get_item(target, k), value(f)))

        return on_item

    # ---- control flow ----------------------------------------------------------------------------

    def header(self, node: Any, *inner: ast.expr) -> int:
        """Set `at` and `spread` for the header of a compound statement, whose expressions are
        `inner`. Returns its line.
        """
        last = max((e.end_lineno or 0 for e in inner), default=node.lineno)
        self.at, self.spread = node.lineno, last != node.lineno
        return node.lineno

    def do_If(self, node: ast.If) -> Compiled:
        line, m = self.header(node, node.test), self.m
        test = self.expression(node.test)
        body, orelse = self.block(node.body), self.block(node.orelse)
        has_else = bool(node.orelse)

        def run(f: dict) -> Any:
            m.line = line
            result = test(f)
            if result is True or (result is not False and m.truth(result)):
                return body(f)
            return orelse(f) if has_else else None

        return run

    def do_While(self, node: ast.While) -> Compiled:
        line, m = self.header(node, node.test), self.m
        test = self.expression(node.test)
        body, orelse = self.block(node.body), self.block(node.orelse)

        def run(f: dict) -> Any:
            m.loops += 1
            try:
                end = looped(f)
            finally:
                m.loops -= 1
            return orelse(f) if end is MISSING else end

        def looped(f: dict) -> Any:
            """Run the loop; MISSING if its condition has become false."""
            while True:
                m.line = line
                m.left -= 1
                if not m.truth(test(f)):
                    return MISSING
                end = body(f)
                if end is not None and end is not CONTINUE:
                    return None if end is BREAK else end

        return run

    def do_For(self, node: ast.For) -> Compiled:
        line, m = self.header(node, node.iter), self.m
        values, store = self.expression(node.iter), self.target(node.target)
        body, orelse = self.block(node.body), self.block(node.orelse)
        iterate = m.loop_items

        def run(f: dict) -> Any:
            m.line = line
            for item in iterate(values(f)):
                m.left -= 1
                store(f, item)
                end = body(f)
                if end is not None and end is not CONTINUE:
                    return None if end is BREAK else end
                m.line = line
            return orelse(f)

        return run

    # ---- exceptions ------------------------------------------------------------------------------

    def do_Raise(self, node: ast.Raise) -> Compiled:
        m, line = self.m, node.lineno
        value = self.placed(node, self.expression(node.exc)) if node.exc else None
        cause = self.expression(node.cause) if node.cause else None

        def run(f: dict) -> None:
            m.line = line
            if value is None:
                if not m.handled:
                    raise error("RuntimeError", "No active exception to reraise")
                raise m.raising(m.handled[-1])
            raised = value(f)
            if isinstance(raised, Class) and raised.derives_from(EXCEPTIONS["BaseException"]):
                raised = m.call(raised)
            if not m.is_exception(raised):
                raise error("TypeError", "exceptions must derive from BaseException")
            if m.handled and m.handled[-1] is not raised:
                raised.fields["__context__"] = m.handled[-1]
            if cause is not None:
                raised.fields["__cause__"] = cause(f)
            raise m.raising(raised)

        return run

    def handler(self, node: ast.ExceptHandler) -> tuple[Callable, Callable[[dict, Any], None]]:
        """For an except clause: a test of an exception, and a function that binds the name."""
        m, line = self.m, node.lineno
        self.at, self.spread = line, False
        kinds = self.expression(node.type) if node.type else None
        store = self.store_name(node.name) if node.name else None

        def takes(f: dict, value: Instance) -> bool:
            if kinds is None:
                return True
            m.line = line
            wanted = kinds(f)
            return any(catches(value, k) for k in (wanted if type(wanted) is tuple else (wanted,)))

        def name(f: dict, value: Any) -> None:
            if store:
                store(f, value)

        return takes, name

    def do_Try(self, node: ast.Try) -> Compiled:
        return finished(self.gen_Try(node))

    def unname(self, node: ast.ExceptHandler) -> Callable[[dict], None]:
        """A function that deletes the name of the exception at the end of an except clause."""
        if not node.name:
            return lambda f: None
        holder, name = self.holder(node.name), node.name
        return lambda f: holder(f).pop(name, None)

    def do_With(self, node: ast.With) -> Compiled:
        return finished(self.gen_With(node))

    # ---- definitions -----------------------------------------------------------------------------

    def do_FunctionDef(self, node: ast.FunctionDef) -> Compiled:
        m, line = self.m, node.lineno
        decorators = self.decorators(node.decorator_list)
        make = self.function(node, node.name, node.body)
        store = self.store_name(node.name)

        def run(f: dict) -> None:
            m.line = line
            wrap = decorators(f)
            value = make(f)
            store(f, wrap(value))

        return run

    def decorators(self, nodes: list[ast.expr]) -> Callable[[dict], Callable[[Any], Any]]:
        """A function that evaluates decorators, and returns a function that applies them."""
        m, compiled = self.m, [(d.lineno, self.expression(d)) for d in nodes]

        def evaluated(f: dict) -> Callable[[Any], Any]:
            wrappers = [(line, d(f)) for line, d in compiled]

            def wrap(value: Any) -> Any:
                for line, wrapper in reversed(wrappers):
                    m.line = line
                    value = m.call(wrapper, (value,))
                return value

            return wrap

        return evaluated

    def do_ClassDef(self, node: ast.ClassDef) -> Compiled:
        m, line = self.m, node.lineno
        self.at, self.spread = line, False
        decorators = self.decorators(node.decorator_list)
        bases, keywords = self.items(node.bases), self.keywords(node.keywords)
        store = self.store_name(node.name)
        qualname = self.scope.inner_name(node.name)
        cell = Scope("cell", self.inner_parent(), qualname)
        cell.names.add("__class__")
        scope = Scope("class", cell, qualname)
        bind(scope, node.body)
        body = type(self)(m, scope).block(node.body)
        doc = ast.get_docstring(node, clean=False)
        in_class = self.scope.kind == "class"

        def run(f: dict) -> None:
            m.line = line
            wrap = decorators(f)
            parents, named = bases(f), keywords(f)
            around: dict = {OUTER: f[OUTER] if in_class else f}
            members: dict = {OUTER: around}
            m.in_body(body, members)
            del members[OUTER]
            m.line = line
            value = m.make_class(node.name, parents, members, named, doc)
            around["__class__"] = value
            store(f, wrap(value))

        return run

    def do_Import(self, node: ast.Import) -> Compiled:
        m, line = self.m, node.lineno
        names = [(a.name, a.asname, self.store_name(bound_name(a))) for a in node.names]

        def run(f: dict) -> None:
            m.line = line
            for name, alias, store in names:
                module = m.module(name)
                store(f, module if alias else m.module(name.partition(".")[0]))

        return run

    def do_ImportFrom(self, node: ast.ImportFrom) -> Compiled:
        m, line, source = self.m, node.lineno, node.module or ""
        if node.level:
            return self.refused(node, "a relative import")
        if source == "__future__":
            return lambda f: None
        if node.names[0].name == "*":
            return self.import_all(source, line)
        names = [(a.name, self.store_name(bound_name(a))) for a in node.names]

        def run(f: dict) -> None:
            m.line = line
            module = m.module(source)
            for name, store in names:
                store(f, m.member(module, name))

        return run

    def import_all(self, source: str, line: int) -> Compiled:
        m = self.m

        def run(f: dict) -> None:
            m.line = line
            module = m.module(source)
            for other in m.stars:  # the later import takes precedence
                for name in [n for n, v in other.members.items() if f.get(n) is v]:
                    del f[name]
            for name in list(module.members):
                if not name.startswith("_"):
                    f[name] = module.members[name]
            m.stars.insert(0, module)

        return run

    # ---- statements that yield -------------------------------------------------------------------

    def gen_Expr(self, node: ast.Expr) -> Callable[[dict], Steps]:
        return self.gen_value(node, node.value, lambda f, value: None)

    def gen_Assign(self, node: ast.Assign) -> Callable[[dict], Steps]:
        stores = [self.target(t) for t in node.targets]

        def store(f: dict, value: Any) -> None:
            for one in stores:
                one(f, value)

        return self.gen_value(node, node.value, store)

    def gen_AnnAssign(self, node: ast.AnnAssign) -> Callable[[dict], Steps]:
        return self.gen_value(node, node.value, self.target(node.target))

    def gen_AugAssign(self, node: ast.AugAssign) -> Callable[[dict], Steps]:
        received = ast.copy_location(ast.Name(SENT, ast.Load()), node.value)
        self.scope.names.add(SENT)
        add = self.do_AugAssign(
            ast.copy_location(ast.AugAssign(node.target, node.op, received), node)
        )

        def store(f: dict, value: Any) -> None:
            f[SENT] = value
            add(f)

        return self.gen_value(node, node.value, store)

    def gen_Return(self, node: ast.Return) -> Callable[[dict], Steps]:
        def store(f: dict, value: Any) -> None:
            f[RESULT] = value

        step = self.gen_value(node, node.value, store)

        def run(f: dict) -> Steps:
            yield from step(f)
            return RETURN

        return run

    def gen_value(self, node: ast.stmt, value: Any, store: Store) -> Callable[[dict], Steps]:
        """A statement whose value is a yield; `store(frame, value)` receives the value sent."""
        m, line = self.m, node.lineno
        if isinstance(value, ast.YieldFrom):
            source = self.expression(value.value)

            def delegate(f: dict) -> Steps:
                m.line = line
                items = source(f)
                host = items.host if isinstance(items, Generator | Iterable) else m.iterate(items)
                store(f, (yield from host))

            return delegate
        if not isinstance(value, ast.Yield) or (value.value and yields(value.value)):
            return self.refused(node, YIELD_INSIDE)
        item = self.expression(value.value) if value.value else (lambda f: None)

        def run(f: dict) -> Steps:
            m.line = line
            received = yield item(f)
            m.line = line
            store(f, received)

        return run

    def gen_If(self, node: ast.If) -> Callable[[dict], Steps]:
        line, m = self.header(node, node.test), self.m
        test = self.expression(node.test)
        body, orelse = self.generator_block(node.body), self.generator_block(node.orelse)

        def run(f: dict) -> Steps:
            m.line = line
            return (yield from (body if m.truth(test(f)) else orelse)(f))

        return run

    def gen_While(self, node: ast.While) -> Callable[[dict], Steps]:
        line, m = self.header(node, node.test), self.m
        test = self.expression(node.test)
        body, orelse = self.generator_block(node.body), self.generator_block(node.orelse)

        def run(f: dict) -> Steps:
            while True:
                m.line = line
                m.spend()
                if not m.truth(test(f)):
                    return (yield from orelse(f))
                end = yield from body(f)
                if end is not None and end is not CONTINUE:
                    return None if end is BREAK else end

        return run

    def gen_For(self, node: ast.For) -> Callable[[dict], Steps]:
        line, m = self.header(node, node.iter), self.m
        values, store = self.expression(node.iter), self.target(node.target)
        body, orelse = self.generator_block(node.body), self.generator_block(node.orelse)

        def run(f: dict) -> Steps:
            m.line = line
            for item in m.loop_items(values(f)):
                m.spend()
                store(f, item)
                end = yield from body(f)
                if end is not None and end is not CONTINUE:
                    return None if end is BREAK else end
                m.line = line
            return (yield from orelse(f))

        return run

    def gen_With(self, node: ast.With) -> Callable[[dict], Steps]:
        return self.gen_with_items(node, node.items)

    def gen_with_items(self, node: ast.With, items: list[ast.withitem]) -> Callable[[dict], Steps]:
        if not items:
            return self.generator_block(node.body)
        item, *rest = items
        line, m = self.header(node, item.context_expr), self.m
        manager = self.expression(item.context_expr)
        store = self.target(item.optional_vars) if item.optional_vars else None
        body = self.gen_with_items(node, rest)

        def run(f: dict) -> Steps:
            m.line = line
            context = manager(f)
            leave, value = m.entered(context)
            try:
                if store:
                    store(f, value)
                end = yield from body(f)
            except Raised as e:
                if m.left_by(leave, context, e):
                    return None
                raise
            except GeneratorExit:
                m.call(leave, (context, None, None, None))
                raise
            m.line = line
            m.call(leave, (context, None, None, None))
            return end

        return run

    def _guarded(self, node: ast.Try) -> Callable[[dict], Steps]:
        """A try statement without its finally clause."""
        body, orelse = self.generator_block(node.body), self.generator_block(node.orelse)
        handlers = [
            (*self.handler(h), self.generator_block(h.body), self.unname(h)) for h in node.handlers
        ]
        m = self.m

        def run(f: dict) -> Steps:
            try:
                end = yield from body(f)
            except Raised as e:
                m.spend(5)
                value, line = m.caught(e), m.line
                for takes, name, handle, unname in handlers:
                    if takes(f, value):
                        name(f, value)
                        m.handled.append(value)
                        try:
                            return (yield from handle(f))
                        finally:
                            if value in m.handled:
                                m.handled.remove(value)
                            unname(f)
                m.line = line
                raise
            return (yield from orelse(f)) if end is None else end

        return run

    def gen_Try(self, node: ast.Try) -> Callable[[dict], Steps]:
        guarded, final, m = self._guarded(node), self.generator_block(node.finalbody), self.m

        def run(f: dict) -> Steps:
            try:
                end = yield from guarded(f)
            except (Unsupported, Exhausted):
                raise
            except (Raised, GeneratorExit):
                line = m.line
                last = yield from final(f)
                if last is not None:
                    return last
                m.line = line
                raise
            result = f.get(RESULT)
            last = yield from final(f)
            if last is not None:
                return last
            if end is RETURN:
                f[RESULT] = result
            return end

        return run


NUMBERS = frozenset({int, float, bool})
YIELD_INSIDE = "yield inside an expression"
SENT = "<sent>"  # key of the value of a yield in a frame; no valid name


def finished(steps: Callable[[dict], Steps]) -> Compiled:
    """A plain function for a statement without a yield, from its generator function."""

    def run(f: dict) -> Any:
        try:
            next(steps(f))
        except StopIteration as end:
            return end.value
        raise AssertionError

    return run


def catches(value: Instance, kind: Any) -> bool:
    """Whether `except kind` catches an exception."""
    if isinstance(kind, Absent):
        raise Unsupported(kind.name)
    if not isinstance(kind, Class) or not kind.derives_from(EXCEPTIONS["BaseException"]):
        text = "catching classes that do not inherit from BaseException is not allowed"
        raise error("TypeError", text)
    return value.cls.derives_from(kind)


def bound_name(alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def construct(node: ast.stmt) -> str:
    """The name of a statement that the interpreter does not support, for its message."""
    return {
        "AsyncFunctionDef": "async def",
        "AsyncFor": "async for",
        "AsyncWith": "async with",
        "TryStar": "except*",
        "TypeAlias": "a type statement",
    }.get(type(node).__name__, type(node).__name__)


def weight(node: ast.stmt) -> int:
    """The steps that a statement costs: its expressions, without those in inner blocks."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Try):
        return 3
    if isinstance(node, ast.If | ast.While):
        return 1 + size(node.test)
    if isinstance(node, ast.For):
        return 2 + size(node.iter)
    if isinstance(node, ast.With | ast.Match):
        return 4
    return size(node)
