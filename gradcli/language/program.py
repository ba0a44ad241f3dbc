"""Text to statements: Python's syntax, parsed with `ast` and never executed. The statements are not
interpreted here.
"""

import ast
import re
import textwrap
import warnings
from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import chain, count
from typing import NamedTuple

from ..errors import EXAMPLE, EXPRESSION, GradcliError, Span
from ..limits import Limits
from ..sized_cache import sized_cache
from .foreign import assigned, augmented, foreign_statement
from .refusals import CURES, ELSEWHERE, refusal
from .syntax import Source

# Brackets; also strings and comments, so that brackets within them are skipped.
BRACKETS_AND_TEXTS = r"""[()\[\]{}]|"[^"\n]*"|'[^'\n]*'|#[^\n]*"""
OVER_LINES = "within brackets an expression can continue over lines"
BYTES_OF_WORD = 1_200  # memory of a syntax tree for a name, a number or an opening bracket
PARSED = 200  # depth of nesting that Python's parser accepts
PARTS = "give parts of it names: h = ...; out = ... h ..."


class Statement(NamedTuple):
    """A statement `name = value`; `unpacks` is set for `a, b = value` and `a, = value`, and `star`
    is the position of a starred name.
    """

    names: tuple[str, ...]
    value: ast.expr
    unpacks: bool = False
    star: int | None = None


@lru_cache(maxsize=8)
def _pieces(values: tuple[ast.expr, ...]) -> tuple[ast.AST, ...]:
    """All syntax nodes, cached because inference needs them often."""
    return tuple(chain.from_iterable(map(ast.walk, values)))


class Program(NamedTuple):
    """A text, its statements, the last of which is the output, and the packages that it imports."""

    source: Source
    statements: tuple[Statement, ...]
    imported: frozenset[str] = frozenset()

    @property
    def values(self) -> tuple[ast.expr, ...]:
        """The right side of each statement."""
        return tuple(s.value for s in self.statements)

    @property
    def assigned(self) -> tuple[tuple[str, ...], ...]:
        """The names that each statement assigns to."""
        return tuple(s.names for s in self.statements)

    @property
    def names(self) -> dict[str, ast.expr]:
        """The right side of the last assignment to each name."""
        return {name: s.value for s in self.statements for name in s.names}

    @property
    def output_name(self) -> str:
        """The name that the last statement assigns to."""
        return self.assigned[-1][-1]

    @property
    def result(self) -> ast.expr:
        """The right side of the last statement."""
        return self.statements[-1].value

    @property
    def syntax(self) -> tuple[ast.AST, ...]:
        """All syntax nodes of all right sides."""
        return _pieces(self.values)

    @property
    def used(self) -> set[str]:
        """The names that occur on right sides."""
        return {e.id for e in self.syntax if isinstance(e, ast.Name)}

    def first_use(self, name: str) -> Span | None:
        """The span where a name first occurs on a right side; None if it does not."""
        spans = [
            self.source.span(e) for e in self.syntax if isinstance(e, ast.Name) and e.id == name
        ]
        return min(spans, key=lambda span: span.start, default=None)

    @property
    def needed(self) -> list[int]:
        """The indices of the statements that the output depends on, including the last."""
        *before, last = range(len(self.statements))
        positions, used = [last], self.only([last]).used
        for k in reversed(before):
            if not used.isdisjoint(self.statements[k].names):
                positions.append(k)
                used |= self.only([k]).used
        return positions[::-1]

    def named(self, name: str) -> str:
        """The text, in which a last expression without a name is assigned to `name`."""
        text, start = self.source.text, self.start
        before = text[:start].rstrip()
        bare = not before or before[-1] in ";\n" or before.count("\n") < text[:start].count("\n")
        return f"{text[:start]}{name} = {text[start:]}" if bare and not self._is_named else text

    @property
    def _is_named(self) -> bool:
        """Whether the last expression is a name."""
        return isinstance(self.result, ast.Name) and self.result.id == self.output_name

    def only(self, positions: Iterable[int]) -> "Program":
        """The program with only these statements."""
        return self._replace(statements=tuple(self.statements[k] for k in positions))

    def written(self, position: int, value: ast.expr) -> str:
        """The text of the program with another value for one of its statements."""
        values = [value if k == position else v for k, v in enumerate(self.values)]
        *steps, last = map(ast.unparse, values)
        named = [f"{', '.join(names)} = {text}" for names, text in zip(self.assigned, steps)]
        return "; ".join([*named, last])

    @property
    def span(self) -> Span:
        """The span of `result`."""
        return self.source.span(self.result)

    @property
    def start(self) -> int:
        """The position where `result` begins, including surrounding brackets."""
        start = self.span.start
        while opening := re.search(r"\(\s*$", self.source.text[:start]):
            start = opening.start()
        return start


@sized_cache(1_000_000, lambda _, text, *__: len(text))
def read_program(text: str, limits: Limits, origin: str = EXPRESSION) -> Program:
    """The statements of `text`. Raises GradcliError `syntax` or `limit`."""
    limits.check("length", len(text), _name_of(origin))
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\xa0", " ")
    text = textwrap.dedent(text.expandtabs()).strip()
    source = Source(text, origin)
    if not (text.isascii() and text.replace("\n", "").isprintable()):
        from .characters import check_characters

        check_characters(text, _name_of(origin), origin)
    if not text:
        raise GradcliError("syntax", f"{_name_of(origin)} is empty", hint=EXAMPLE)
    _check_names(source, limits)
    _check_brackets(source, limits)
    _check_tree(text, limits, origin)
    body = _parse(text, source)
    if not body:
        whole = Span(text, 0, len(text), origin)
        raise GradcliError("syntax", f"{_name_of(origin)} is only a comment", span=whole)
    limits.check("operations", len(body), _name_of(origin))
    try:
        imported = _imported(body)
        body = body if _is_formula(body) else _in_full(body)
    except RecursionError:
        raise _too_deep(source) from None
    return Program(source, _statements(body, source), imported)


def _imported(body: list[ast.stmt]) -> frozenset[str]:
    """The packages that are imported: numpy for `import numpy.linalg as la`."""
    modules = [a.name for s in body if isinstance(s, ast.Import) for a in s.names]
    modules += [s.module or "" for s in body if isinstance(s, ast.ImportFrom)]
    return frozenset(name.partition(".")[0] for name in modules)


def read_again(text: str, origin: str) -> Program:
    """The statements of a generated text.

    Raises GradcliError `syntax` or `limit`.
    """
    source = Source(text, origin)
    body = _parse(text, source)
    return Program(source, _statements(body, source))


def _is_formula(body: list[ast.stmt]) -> bool:
    """Whether the program is one expression of names, numbers and operators."""
    alone = len(body) == 1 and isinstance(body[0], ast.Expr)
    return alone and not any(isinstance(n, ast.Call | ast.Attribute) for n in ast.walk(body[0]))


def _in_full(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that compute something, with full names of functions."""
    from .pasting.imports import in_full
    from .pasting.statements import remarks, single_assignments

    of_python = any(isinstance(s, ast.Import | ast.ImportFrom) for s in body)
    body = in_full(single_assignments(body), of_python) or body
    aside = set(remarks(body, of_python))
    return [s for s in body if s not in aside] or body


def _name_of(origin: str) -> str:
    """The name of a text in messages: the expression, or the option or input that it belongs to."""
    if origin.startswith("--"):
        return f"the text after {origin}"
    return "the expression" if origin == EXPRESSION else f"the value of {origin}"


def _check_names(source: Source, limits: Limits) -> None:
    """Raise GradcliError if a name is too long for answers; comments are checked too."""
    if len(source.text) <= limits.sizes["name"]:
        return
    for word in re.finditer(r"(?<!\w)[^\W\d]\w*", source.text):
        start, end = word.span()
        begin = Span(source.text, start, start + 1, source.origin)
        limits.check("name", end - start, "a name", begin)


def _check_brackets(source: Source, limits: Limits) -> None:
    """Raise GradcliError for too deeply nested brackets; the syntax tree lacks some of them."""
    text = source.text
    if sum(map(text.count, "([{")) <= limits.sizes["nesting"]:
        return
    depth = deepest = position = 0
    for result in re.finditer(BRACKETS_AND_TEXTS, text):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(result[0], 0)
        if depth > deepest:
            deepest, position = depth, result.start()
    span = Span(text, position, position + 1, source.origin)
    try:
        limits.check("nesting", deepest, _name_of(source.origin), span)
    except GradcliError as error:
        error.hint = error.hint if deepest <= PARSED else PARTS
        raise


def _check_tree(text: str, limits: Limits, origin: str) -> None:
    """Raise GradcliError for a program whose syntax tree would not fit into memory."""
    if BYTES_OF_WORD * len(text) > limits.sizes["memory"]:
        words = sum(1 for _ in re.finditer(r"\w+|[\[({]", text))
        what = f"the syntax tree of {_name_of(origin)}"
        limits.check("memory", BYTES_OF_WORD * words, what)


def _parse(text: str, source: Source) -> list[ast.stmt]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.parse(text).body
    except SyntaxError as error:
        if "nested" in str(error.msg) or "too complex" in str(error.msg):
            raise _too_deep(source) from None
        from .syntax_errors import syntax_error

        raise syntax_error(error, text, source.origin) from None
    except (RecursionError, MemoryError):
        raise _too_deep(source) from None


def _too_deep(source: Source) -> GradcliError:
    return GradcliError(
        "limit",
        f"{_name_of(source.origin)} is too long, or nested too deeply, for one statement: Python's "
        f"parser takes some 2,900 terms and {PARSED} brackets, and no --limit raises that",
        hint=PARTS,
    )


def _nameless(e: ast.expr, source: Source) -> GradcliError:
    """The error for an expression statement that is not the last one."""
    function = e.func if isinstance(e, ast.Call) else None
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    why = refusal(name)
    if why not in (None, ELSEWHERE):
        span = source.span(e)
        return GradcliError("unsupported", f"{name} {why}", span=span, hint=CURES.get(why))
    message, hint = "only the last statement may be without a name", "write h = ... before it"
    if "\n" in source.text:
        hint += f"; {OVER_LINES}"
    return GradcliError("syntax", message, span=source.span(e), hint=hint)


def _statements(body: list[ast.stmt], source: Source) -> tuple[Statement, ...]:
    """The statements. If the last one is an expression, it gets a new name: `result` for
    `out = x @ a; out.sum()`. A name as the last statement keeps its name: y for `y = x @ a; y`.
    """
    *steps, last = body
    before = [_assignment(s, source) for s in steps]
    if not isinstance(last, ast.Expr):
        return *before, _assignment(last, source)
    _check_unstarred(last.value, "a statement", OVER_LINES, source)
    taken = {name for s in before for name in s.names}
    return *before, Statement((_name_for(last.value, taken),), last.value)


def _name_for(result: ast.expr, taken: Collection[str]) -> str:
    """The name of a last expression: its own, if it is the name of a value."""
    if isinstance(result, ast.Name) and result.id in taken:
        return result.id
    names = chain(["out", "result"], map("result{}".format, count(2)))
    return next(n for n in names if n not in taken)


def _assignment(node: ast.stmt, source: Source) -> Statement:
    if isinstance(node, ast.Expr):
        _check_unstarred(node.value, "a statement", OVER_LINES, source)
        raise _nameless(node.value, source)
    if isinstance(node, ast.Assign):
        _check_unstarred(node.value, "a value", "a product is written y = x * 2", source)
    if isinstance(node, ast.AugAssign):
        raise augmented(node, source)
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Name):
            return Statement((target.id,), node.value)
        names, star = _several_names(target)
        if names:
            return Statement(names, node.value, unpacks=True, star=star)
        raise assigned(node, source)
    raise foreign_statement(node, source.span(node))


def _check_unstarred(value: ast.expr, what: str, hint: str, source: Source) -> None:
    """Raise GradcliError for a value that begins with `*`."""
    if isinstance(value, ast.Starred):
        message, span = f"{what} cannot begin with *", source.span(value)
        raise GradcliError("syntax", message, span=span, hint=hint)


def _several_names(target: ast.expr) -> tuple[tuple[str, ...], int | None]:
    """The names in `a, *b = ...`, and the position of the starred name; () for other targets."""
    elements = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    stars = [k for k, t in enumerate(elements) if isinstance(t, ast.Starred)]
    names = [t.value if isinstance(t, ast.Starred) else t for t in elements]
    plain = tuple(t.id for t in names if isinstance(t, ast.Name))
    whole = len(plain) == len(names) and len(stars) < 2
    return plain if whole else (), stars[0] if stars else None
