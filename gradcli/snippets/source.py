"""Finds the programs in a pasted text: sessions with prompts, Markdown, prose with code.

A program has the line numbers of the text, since blank lines replace the lines before it. This
module knows Python's syntax, but not what programs do.
"""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

MARKS = str.maketrans(
    {
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2009\u202f", " "),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", None),
        "\u2212": "-",
    }
)
FENCE = re.compile(r"^\s{0,3}(```+|~~~+)\s*([\w+.-]*)[^`]*$")
NOT_PYTHON = {"text", "txt", "bash", "sh", "shell", "console", "output", "json", "yaml", "cpp", "c"}
PROMPT = re.compile(r"^(\s*)(>>>|\.\.\.)( ?)(.*)$")
CELL = re.compile(r"^(\s*)In\s*\[\s*\d*\s*\]:( ?)(.*)$")
CELL_GOES_ON = re.compile(r"^(\s*)\.\.\.:( ?)(.*)$")
MAGIC = re.compile(r"^\s*(%%?[a-z]|![a-z])")
CODE = re.compile(
    r"""^\s*(
        (import|from)\s+[\w.]+ | (def|class)\s+\w+ | (for|while|if|with|try|elif|else|except)\b.*:
        | @[\w.]+ | \#
        | [\w.,\s\[\]()*:'"-]+ \s* ([-+*/@%&|^]|//|\*\*)?=(?!=) | (print|assert|return|del)\b
        | [\w.\[\]()'",\s]*\.?\w+\(.*
    )""",
    re.VERBOSE,
)
TORCH = re.compile(r"\btorch\b|\.backward\(|\.grad\b|requires_grad|\bnn\.|\bF\.|autograd")
PATIENCE = 60  # lines that may be joined to complete a statement


class Program(NamedTuple):
    """A program of a text. `echo` says which expressions' values are displayed, as in an
    interactive session: "all", those that end "cells" of a notebook, or none ("").
    """

    source: str
    first_line: int
    echo: str = ""


def programs(text: str) -> list[Program]:
    """The programs in a text, in order; a text without valid Python is one program, too."""
    text = text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    lines = text.translate(MARKS).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    fenced = list(_fenced(lines))
    if fenced:
        blocks = [_moved(b, r.start) for r in fenced for b in _blocks(lines[r.start : r.stop])]
    else:
        blocks = _blocks(lines)
    blocks = [b for b in blocks if TORCH.search(b.source) and "(" in b.source] or blocks
    return blocks or [Program("\n".join(lines), 1)]


def _fenced(lines: Sequence[str]) -> Iterator[range]:
    """The line numbers of each fenced block (```) of Python."""
    opened: tuple[str, int, str] | None = None
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if opened is None and fence:
            opened = fence[1], number, fence[2].lower()
        elif opened is not None and fence and fence[1].startswith(opened[0]) and not fence[2]:
            if opened[2] not in NOT_PYTHON:
                yield range(opened[1] + 1, number)
            opened = None
    if opened is not None and opened[2] not in NOT_PYTHON:
        yield range(opened[1] + 1, len(lines))


def _moved(block: Program, above: int) -> Program:
    """A block with `above` lines of the text before it, with the line numbers of the text."""
    return block._replace(source="\n" * above + block.source, first_line=above + block.first_line)


def _blocks(lines: Sequence[str]) -> list[Program]:
    """The programs in lines that have no fences."""
    session = _session(lines)
    if session is not None:
        echo = "cells" if any(map(CELL_GOES_ON.match, lines)) else "all"
        return [_program(session, echo)] if any(session) else []
    plain = dedented(["" if MAGIC.match(line) else line for line in lines])
    if not any(line.strip() for line in plain):
        return []
    if parses("\n".join(plain)) and not _is_prose(plain):
        return [_program(plain)]
    runs = list(_runs(lines))
    code = sum(bool(CODE.match(line)) for line in plain)
    full = sum(bool(line.strip()) for line in plain)
    if not runs or code > 0.9 * full:  # a program with a syntax error, not prose
        return [_program(plain)]
    return runs


def _program(lines: Sequence[str], echo: str = "") -> Program:
    first = next((n for n, line in enumerate(lines, 1) if line.strip()), 1)
    return Program("\n".join(lines), first, echo)


def _session(lines: Sequence[str]) -> list[str] | None:
    """The statements of a session, with blank lines for its outputs; None without prompts."""
    results = goes_on = False
    result: list[str] = []
    for line in lines:
        prompt = PROMPT.match(line)
        cell = CELL.match(line) or (CELL_GOES_ON.match(line) if goes_on else None)
        if cell:
            results = goes_on = True
            result.append("" if MAGIC.match(cell[3]) else cell[3])
        elif prompt and (prompt[2] == ">>>" or goes_on):
            results = goes_on = True
            result.append(prompt[4])
        else:
            goes_on = False
            result.append("")
    return result if results else None


def dedented(lines: Sequence[str]) -> list[str]:
    """Lines without their common indentation."""
    widths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    width = min(widths, default=0)
    return [line[width:] if line.strip() else "" for line in lines]


def parses(text: str) -> bool:
    """Whether a text is Python."""
    return tree_of(text) is not None


def tree_of(text: str) -> ast.Module | None:
    """The syntax tree of a text; None if it is not valid Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_prose(lines: Sequence[str]) -> bool:
    """Whether a text that parses as Python is only prose: words, numbers, printed tensors."""
    tree = tree_of("\n".join(lines))
    return tree is not None and all(_is_bare(s) for s in tree.body)


def _is_bare(statement: ast.stmt) -> bool:
    """Whether a statement is an expression without effect: a word, a number, a printed tensor."""
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in ("tensor", "array")
    return not isinstance(value, ast.Await | ast.Yield)


def _runs(lines: Sequence[str]) -> Iterator[Program]:
    """The sequences of consecutive lines in prose that are valid Python, each as a program."""
    start = 0
    while start < len(lines):
        if not CODE.match(lines[start]):
            start += 1
            continue
        end = _end_of_run(lines, start)
        if end > start:
            run = dedented(lines[start:end])
            if any(line.strip() and not line.lstrip().startswith("#") for line in run):
                yield _program([*[""] * start, *run, *[""] * (len(lines) - end)])
        start = max(end, start + 1)


def _end_of_run(lines: Sequence[str], start: int) -> int:
    """The end of the longest valid Python from line `start` on; `start` if there is none."""
    end, failed = start, 0
    for stop in range(start + 1, len(lines) + 1):
        if failed > PATIENCE:
            break
        if not lines[stop - 1].strip():
            continue
        tree = tree_of("\n".join(dedented(lines[start:stop])))
        if tree is None:
            failed += 1
        elif tree.body and _is_bare(tree.body[-1]):
            break
        else:
            end, failed = stop, 0
    return end


# ---- a program that depends on earlier ones ------------------------------------------------------


def after(program: Program, before: Program, *, setup_alone: bool) -> Program:
    """`program` preceded by the program `before`; with `setup_alone`, without the top-level
    expression statements of that one, such as calls of print and backward.
    """
    earlier = before.source.split("\n")
    if setup_alone:
        for number in _printed_lines(before.source):
            earlier[number - 1] = ""
    later = program.source.split("\n")
    lines = [a or b for a, b in zip_longest(later, earlier, fillvalue="")]
    return program._replace(source="\n".join(lines))


def _printed_lines(source: str) -> set[int]:
    """The line numbers of top-level expression statements, such as calls of print and backward."""
    tree = tree_of(source)
    body = [] if tree is None else tree.body
    return {
        line
        for statement in body
        if isinstance(statement, ast.Expr)
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    }
