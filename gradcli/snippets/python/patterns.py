"""Match statements and their patterns, compiled to functions."""

import ast
from collections.abc import Callable
from typing import Any

from .expressions import Compiled, Expressions
from .methods import PLAIN_CLASSES
from .operations import plain
from .scopes import yields
from .values import MISSING, Class, error

Test = Callable[[dict, Any], bool]
# classes whose positional pattern matches the value itself, as in `case int(x)`
WHOLE = frozenset(cls for kind, cls in PLAIN_CLASSES.items() if kind is not type(None))


class Patterns(Expressions):
    """The part of the compiler that compiles patterns."""

    def header(self, node: Any, *inner: ast.expr) -> int:
        raise NotImplementedError

    def do_Match(self, node: ast.Match) -> Compiled:
        line, m = self.header(node, node.subject), self.m
        subject = self.expression(node.subject)
        cases = []
        for case in node.cases:
            self.at, self.spread = case.pattern.lineno, False
            test = self.pattern(case.pattern)
            guard = self.expression(case.guard) if case.guard else None
            cases.append((case.pattern.lineno, test, guard, self.block(case.body)))

        def run(f: dict) -> Any:
            m.line = line
            value = subject(f)
            for at, test, guard, body in cases:
                m.line = at
                if test(f, value) and (guard is None or m.truth(guard(f))):
                    return body(f)
            return None

        return run

    def gen_Match(self, node: ast.Match) -> Compiled:
        if yields(node):
            return self.refused(node, "yield inside a match statement")
        return self.do_Match(node)

    def pattern(self, node: ast.pattern) -> Test:
        """A test `(frame, value) -> bool` of a pattern, which also binds its names."""
        compile_node = getattr(self, "pattern_" + type(node).__name__)
        return compile_node(node)

    def pattern_MatchValue(self, node: ast.MatchValue) -> Test:
        value, m = self.expression(node.value), self.m
        return lambda f, subject: m.equal(subject, value(f))

    def pattern_MatchSingleton(self, node: ast.MatchSingleton) -> Test:
        return lambda f, subject: subject is node.value

    def pattern_MatchAs(self, node: ast.MatchAs) -> Test:
        inner = self.pattern(node.pattern) if node.pattern else None
        store = self.store_name(node.name) if node.name else None

        def test(f: dict, subject: Any) -> bool:
            if inner is not None and not inner(f, subject):
                return False
            if store is not None:
                store(f, subject)
            return True

        return test

    def pattern_MatchOr(self, node: ast.MatchOr) -> Test:
        tests = [self.pattern(p) for p in node.patterns]
        return lambda f, subject: any(t(f, subject) for t in tests)

    def pattern_MatchSequence(self, node: ast.MatchSequence) -> Test:
        starred = next(
            (i for i, p in enumerate(node.patterns) if isinstance(p, ast.MatchStar)), None
        )
        tests = [self.part(p) for p in node.patterns]
        count, m = len(tests), self.m

        def test(f: dict, subject: Any) -> bool:
            host = plain(subject)
            if type(host) not in (list, tuple, range):
                return False
            if len(host) < count - 1 or (starred is None and len(host) != count):
                return False
            items = m.unpack(host, count, starred)
            return all(t(f, item) for t, item in zip(tests, items))

        return test

    def part(self, node: ast.pattern) -> Test:
        """The test of one item of a sequence pattern, which may be starred."""
        if not isinstance(node, ast.MatchStar):
            return self.pattern(node)
        store = self.store_name(node.name) if node.name else None

        def test(f: dict, subject: Any) -> bool:
            if store is not None:
                store(f, subject)
            return True

        return test

    def pattern_MatchMapping(self, node: ast.MatchMapping) -> Test:
        pairs = [(self.expression(k), self.pattern(p)) for k, p in zip(node.keys, node.patterns)]
        rest = self.store_name(node.rest) if node.rest else None

        def test(f: dict, subject: Any) -> bool:
            host = plain(subject)
            if type(host) is not dict:
                return False
            keys = [k(f) for k, _ in pairs]
            if not all(k in host and t(f, host[k]) for k, (_, t) in zip(keys, pairs)):
                return False
            if rest is not None:
                rest(f, {k: v for k, v in host.items() if k not in keys})
            return True

        return test

    def pattern_MatchClass(self, node: ast.MatchClass) -> Test:
        cls, m = self.expression(node.cls), self.m
        tests = [self.pattern(p) for p in node.patterns]
        named = [(k, self.pattern(p)) for k, p in zip(node.kwd_attrs, node.kwd_patterns)]

        def test(f: dict, subject: Any) -> bool:
            kind = cls(f)
            if not isinstance(kind, Class):
                raise error("TypeError", "called match pattern must be a class")
            if not m.is_instance(subject, kind):
                return False
            if kind in WHOLE:
                return all(t(f, subject) for t in tests)
            names = kind.lookup("__match_args__")
            names = () if names is MISSING else names
            if len(tests) > len(names):
                raise error(
                    "TypeError",
                    f"{kind.name}() accepts {len(names)} positional sub-pattern"
                    f"{'' if len(names) == 1 else 's'} ({len(tests)} given)",
                )
            pairs = [*zip(names, tests), *named]
            return all(m.has(subject, n) and t(f, m.get(subject, n)) for n, t in pairs)

        return test
