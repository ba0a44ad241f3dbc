"""The assignments of a derivation: those of the program that the output needs, and one for each
further node that is to have a name.
"""

import ast
import operator as python
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import copy
from itertools import chain, count, islice
from typing import Any, NamedTuple, cast

from ...budget import tick
from ...errors import EXPRESSION, GradcliError
from ...graphs import Node, walk
from ...language.problem import Problem
from ...language.program import Program, Statement, read_again
from ...notation.formulas.simplify import without_spans

SHORT = 200  # largest number of syntax nodes of an expression that is compared with others
# largest nesting depth of a statement; each term of a sum is a level, for which `ast` uses several
# stack frames
DEEP = 150


class Assignment(NamedTuple):
    """Statements that compute `nodes`. The last one assigns `names`; earlier ones, such as
    `n = x.shape[0]`, compute no tensor, unless two assignments were combined by `then`.

    `position` is the index of the statement in the program. `is_added` is true if the program does
    not have the name, or has it for another value. `again` are nodes of equal expressions, which
    share the name.
    """

    names: tuple[str, ...]
    nodes: tuple[Node, ...]
    statements: tuple[Statement, ...]
    position: int
    is_added: bool = False
    again: tuple[Node, ...] = ()

    @property
    def order(self) -> list[str]:
        """The names that the statements use and do not assign, in textual order, those of the last
        statement first. A formula writes a size n as that of the first of these tensors
        with a dimension of size n, such as x.shape[0].
        """
        names = chain.from_iterable(_names_in_order(s.value) for s in reversed(self.statements))
        own = {name for s in self.statements for name in s.names}
        return [name for name in dict.fromkeys(names) if name not in own]

    def then(self, later: "Assignment") -> "Assignment":
        """This assignment and a later one, which uses it, as one that assigns the later names."""
        nodes, statements = (*self.nodes, *later.nodes), (*self.statements, *later.statements)
        return later._replace(nodes=nodes, statements=statements)

    @property
    def value(self) -> str:
        """The right side as text."""
        return ast.unparse(self.statements[-1].value)

    @property
    def names_text(self) -> str:
        """The left side as text."""
        return ", ".join(self.names)

    @property
    def text(self) -> str:
        """The statements, a line each. Raises GradcliError ("limit") if one is nested deeply."""
        if any(_is_deep(s.value) for s in self.statements):
            raise GradcliError("limit", "a statement is too long to be analysed by itself")
        return "\n".join(map(_text, self.statements))

    def program(self, end: str = "") -> Program:
        """The statements as a program, with another statement at its end."""
        return read_again(f"{self.text}\n{end}".rstrip(), EXPRESSION)


def _text(s: Statement) -> str:
    """The text of a statement."""
    names = ["*" * (s.star == k) + name for k, name in enumerate(s.names)]
    return f"{', '.join(names)}{',' * (s.unpacks and len(names) == 1)} = {ast.unparse(s.value)}"


def _short_text(e: ast.expr) -> str | None:
    """An expression as text; None for a long one, which may be nested deeply."""
    return None if next(islice(ast.walk(e), SHORT, None), None) else ast.unparse(e)


def _is_deep(e: ast.AST) -> bool:
    level, depth = [e], 0
    while level and depth <= DEEP:
        level, depth = [*chain.from_iterable(map(ast.iter_child_nodes, level))], depth + 1
    return bool(level)


def _copied(e: ast.expr) -> ast.expr:
    """A copy of a syntax tree, made without recursion."""
    result = copy(e)
    stack: list[ast.AST] = [result]
    while stack:
        piece = stack.pop()
        for field, value in ast.iter_fields(piece):
            if isinstance(value, ast.AST):
                setattr(piece, field, copy(value))
                stack.append(getattr(piece, field))
            elif isinstance(value, list):
                items = [copy(item) for item in value]
                setattr(piece, field, items)
                stack += [item for item in items if isinstance(item, ast.AST)]
    return result


def _names(values: Iterable[ast.expr]) -> set[str]:
    pieces = chain.from_iterable(map(ast.walk, values))
    return {e.id for e in pieces if isinstance(e, ast.Name)}


def _names_in_order(e: ast.AST) -> Iterator[str]:
    """The names in a syntax tree, from left to right."""
    stack = [e]
    while stack:
        e = stack.pop()
        if isinstance(e, ast.Name):
            yield e.id
        stack += [*ast.iter_child_nodes(e)][::-1]


def assignments(p: Problem, wanted: Collection[Node]) -> list[Assignment]:
    """The assignments that the output needs, in order. Each node in `wanted` that is a part of a
    statement has one, or shares that of an equal expression.
    """
    return _Naming(p, wanted).assignments()


def _by_span(p: Problem, nodes: Iterable[Node]) -> dict[tuple[int, int], Node]:
    """Nodes by the start and end of their expressions in the program's text."""
    spans = ((n.span, n) for n in nodes if n.span is not None)
    return {(s.start, s.end): n for s, n in spans if s.text == p.program.source.text}


def _with_equal_ones(
    wanted: dict[tuple[int, int], Node], p: Problem
) -> dict[tuple[int, int], Node]:
    """The `wanted` nodes and the nodes of equal expressions elsewhere in the program, by start and
    end in its text. Equal expressions share one name, so their gradients are added up.
    """
    if not wanted:
        return wanted
    text, lengths = p.program.source.text, {end - start for start, end in wanted}
    named = {text[start:end]: without_spans(n) for (start, end), n in wanted.items()}
    equal = {
        (start, end): n
        for (start, end), n in _by_span(p, walk([p.out])).items()
        if end - start in lengths and without_spans(n) is named.get(text[start:end])
    }
    return equal | wanted


class _Naming:
    """Renames the variables of a program so that each name has one value."""

    def __init__(self, p: Problem, named_nodes: Collection[Node]):
        self.p, self.program = p, p.program
        self.wanted = _with_equal_ones(_by_span(p, named_nodes), p)
        self.used = {*p.inputs, *chain.from_iterable(p.program.assigned), p.seed.name}
        self.numbers = defaultdict[str, Iterator[int]](lambda: count(1))  # suffixes
        self.renamed: dict[str, str] = {}  # current names, by names of the program
        self.known: dict[Node, str] = {i.node: name for name, i in p.inputs.items()}
        self.result: list[Assignment] = []
        self.indices: dict[str, int] = {}  # assignments of the result, by the text of their value
        self.aside: list[Statement] = []  # statements that compute no tensor
        self.position = 0  # current statement

    def assignments(self) -> list[Assignment]:
        needed = self.program.needed
        last = {name: k for k in needed for name in self.program.statements[k].names}
        for k in needed:
            tick()
            s, values, self.position = self.program.statements[k], self.p.statement_values[k], k
            if any(isinstance(n, Node) for n in values):
                self._assigned(s, values, {n for n in s.names if last[n] == k}, k == needed[-1])
            else:
                self.aside.append(s._replace(value=self._renamed_value(s.value)))
        return self.result

    def _assigned(
        self, s: Statement, values: tuple, last: Collection[str], is_output: bool
    ) -> None:
        """Append a statement, or only record its name as an alias if its value already has a name.
        Its names in `last` are not assigned again later.
        """
        value = self._renamed_value(s.value, s)
        if len(values) == 1 and values[0] in self.known:
            self.renamed[s.names[0]] = self.known[values[0]]
            return
        names = {n: self._unique_name(n, n in last, is_output) for n in s.names}
        self.renamed |= {
            name: new for name, new in names.items() if name != new or name in self.renamed
        }
        is_renamed = tuple(names) != tuple(names.values())
        self._append(s._replace(names=tuple(names.values()), value=value), values, is_renamed)

    def _unique_name(self, name: str, is_last: bool, is_output: bool) -> str:
        """The name of a value: for the output, its own; for the last value with a name of the
        program, this name, unless it is that of an input; otherwise the name with a number.
        """
        if is_output:
            return self.p.out_name
        return (
            name if is_last and name not in self.p.inputs else self._new_name(name, numbered=True)
        )

    def _append(self, s: Statement, values: Sequence, is_added: bool = False) -> None:
        """Append an assignment, with the earlier statements that it needs."""
        before, used = list[Statement](), _names([s.value])
        for other in reversed(self.aside):
            if not used.isdisjoint(other.names):
                used |= _names([other.value])
                before.insert(0, other)
        assigned = {name: n for name, n in zip(s.names, values) if isinstance(n, Node)}
        statements = (*before, s)
        assignment = Assignment(
            tuple(assigned), (*assigned.values(),), statements, self.position, is_added
        )
        text = _short_text(s.value) if self.wanted and len(s.names) == 1 else None
        if text is not None:
            self.indices.setdefault(text, len(self.result))
        self.result.append(assignment)
        self.known |= {n: name for name, n in assigned.items()}

    def _renamed_value(self, e: ast.expr, within: Statement | None = None) -> ast.expr:
        """An expression with variables renamed. The parts of a statement that are `wanted` are
        replaced by new names, unless the expression is nested deeply.
        """
        if not self.renamed and not self.wanted:
            return e
        if not _is_deep(e):
            return cast(ast.expr, _InNames(self, within).visit(e))
        result = _copied(e)
        for name in [n for n in ast.walk(result) if isinstance(n, ast.Name)]:
            name.id = self.renamed.get(name.id, name.id)
        return result

    def part(self, e: ast.expr, node: Node, within: Statement) -> ast.expr:
        """The name of a part of a statement."""
        if node not in self.known and not self._is_again(e, node):
            digits = re.search(r"\d*$", within.names[0])
            name = self._new_name(f"z{digits[0] if digits else ''}")
            self._append(Statement((name,), e), [node], is_added=True)
        return ast.Name(self.known[node])

    def _is_again(self, e: ast.expr, node: Node) -> bool:
        """Whether a part equals an already named value; it then gets that name."""
        k = self.indices.get(_short_text(e) or "")
        if k is None or without_spans(self.result[k].nodes[-1]) is not without_spans(node):
            return False
        result = self.result[k]
        self.result[k] = result._replace(again=(*result.again, node))
        self.known[node] = result.names[-1]
        return True

    def _new_name(self, name_wanted: str, numbered: bool = False) -> str:
        """A new name: the one wanted if it is free and not `numbered`, otherwise with a number."""
        further = (f"{name_wanted}_{k}" for k in self.numbers[name_wanted])
        names = further if numbered else chain([name_wanted], further)
        name = next(n for n in names if n not in self.used)
        self.used.add(name)
        return name


class _InNames:
    """Replaces renamed variables and named subexpressions in a copy of a syntax tree."""

    def __init__(self, naming: _Naming, within: Statement | None):
        self.naming, self.within = naming, within

    def visit(self, e: ast.AST) -> ast.AST:
        """A piece of syntax in the new names."""
        if isinstance(e, ast.Name):
            new = self.naming.renamed.get(e.id)
            return e if new is None else ast.Name(new)
        within, node = self.within, None
        if within is not None and isinstance(e, ast.expr):
            node = self._named_part(e, within)
        changed = self._in_parts(e)
        if within is None or node is None:
            return changed
        return self.naming.part(cast(ast.expr, changed), node, within)

    def _in_parts(self, e: ast.AST) -> ast.AST:
        """A piece of syntax with its parts in the new names; the same object if nothing changes."""
        changed = {field: self._field(value) for field, value in ast.iter_fields(e)}
        if all(value is getattr(e, field) for field, value in changed.items()):
            return e
        result = copy(e)
        for field, value in changed.items():
            setattr(result, field, value)
        return result

    def _field(self, value: Any) -> Any:
        if isinstance(value, list):
            items = [self._field(item) for item in value]
            return value if all(map(python.is_, items, value)) else items
        return self.visit(value) if isinstance(value, ast.AST) else value

    def _named_part(self, e: ast.expr, within: Statement) -> Node | None:
        """The node of a subexpression that gets a name; None for any other expression."""
        source = self.naming.program.source
        span, whole = source.span(e), source.span(within.value)
        return None if span == whole else self.naming.wanted.get((span.start, span.end))
