"""Code wrapped to a width so that it stays valid: Python inside brackets, commands between
arguments.
"""

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from textwrap import wrap
from typing import NamedTuple

from ..budget import tick

OPERATORS = ("+ ", "- ", "* ", "/ ", "@ ", "& ", "| ", "== ", "< ", "> ", "<= ", ">= ")
INDENT = 4
NUMBER = re.compile(r" *\d+  ")  # of a line number in a listing
CODE = re.compile(r"""(?:[^'"#]|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")*""")  # code before a comment


class Break(NamedTuple):
    """A position at which a line may end, and the columns of the open brackets there."""

    at: int
    open: tuple[int, ...]


def wrapped(program: str, width: int) -> str:
    """The program with its lines wrapped to `width` columns, as far as brackets allow."""
    return "\n".join(part for line in program.split("\n") for part in _lines(line, width))


def _lines(line: str, width: int) -> list[str]:
    """The line, broken if it is longer than `width`."""
    if len(line) <= width:
        return [line]
    number = NUMBER.match(line)
    if number:
        head, *others = _lines(line[number.end() :], width - number.end())
        return [number[0] + head, *(" " * number.end() + other for other in others)]
    code = CODE.match(line)[0]  # type: ignore[index]  # it may be empty
    if code.endswith(" ") and code.strip() and line.startswith("#", len(code)):
        comment = line[len(code) + 1 :].strip()
        return [*_lines(code.rstrip(), width), *_commented(comment, width)]
    head = line[: len(line) - len(line.lstrip())]
    if line.startswith("# ", len(head)):
        return [head + part for part in _commented(line[len(head) + 2 :], width - len(head))]
    if "; " in line and "'" not in line:
        return [part for statement in line.split("; ") for part in _lines(statement, width)]
    name, equals, value = line.partition(" = ")
    if equals and any(not b.open for b in _breaks(value, Break(0, ()), 0)):
        line = f"{name} = ({value})"
    return _broken(line, width)


def _commented(text: str, width: int) -> list[str]:
    """A comment on separate lines below the code: wrapped as code, or between words."""
    lines = _broken(text, width - 2)
    if max(map(len, lines)) > width - 2:
        lines = wrap(text, width - 2, break_long_words=False, break_on_hyphens=False)
    return [f"# {line}" for line in lines]


def _broken(line: str, width: int) -> list[str]:
    """The better of two layouts: the content of the first bracket starts on the same line, or on a
    new one.
    """
    first = line.find("(") + 1
    beside = _filled(line, Break(0, ()), 0, width)
    below = [line[:first], *_filled(line, Break(first, (INDENT,)), INDENT, width)]
    return min(
        beside, below if first else beside, key=lambda ls: (max(width, *map(len, ls)), len(ls))
    )


def _filled(line: str, last: Break, column: int, width: int) -> list[str]:
    """The rest of a line from `last` on, filled up to `width` in each line; long rows of a nested
    list have a line each.
    """
    built = []
    depth = 0  # bracket depth of the rows of a nested list, once a row has been found
    tick()
    while depth or column + len(line) - last.at > width:
        result = _reached(line, last, column, width)
        least = min((len(b.open) for b in result), default=0)
        if not result or (least > depth > 0 and column + len(line) - last.at <= width):
            break
        outermost = [b for b in result if len(b.open) == least]
        in_rows = _is_long_row(line, last, outermost[0], width)
        depth, chosen = (least, outermost[0]) if in_rows else (0, outermost[-1])
        built.append(" " * column + line[last.at : chosen.at].rstrip())
        last, beside = chosen, chosen.open[-1]
        column = beside if beside <= width // 2 else INDENT * len(chosen.open)
    return [*built, " " * column + line[last.at :]]


def _is_long_row(line: str, since: Break, end: Break, width: int) -> bool:
    """Whether a row of a nested list ends there that should have a line of its own."""
    row = line[since.at : end.at].rstrip()
    return row.endswith("],") and len(row) > width // 4


def _reached(line: str, since: Break, column: int, width: int) -> list[Break]:
    """The positions inside brackets up to which the line fits; later ones are not computed."""

    def fits(b: Break) -> bool:
        return column + len(line[since.at : b.at].rstrip()) <= width

    return [b for b in takewhile(fits, _breaks(line, since, column)) if b.open]


def _breaks(line: str, since: Break, column: int) -> Iterator[Break]:
    """The positions after `since`, which is in `column`: after commas and before operators."""
    opened, text = list(since.open), False
    for at in range(since.at, len(line)):
        character = line[at]
        if character == "'":
            text = not text
        elif text:
            continue
        elif character in "([{":
            opened.append(column + at - since.at + 1)
        elif character in ")]}" and opened:
            opened.pop()
        elif at > since.at and _may_end_line(line, at):
            yield Break(at + 1, tuple(opened))


def _may_end_line(line: str, at: int) -> bool:
    """Whether a line may end with this character: a space, or a comma not followed by one."""
    if line[at] == ",":
        return line[at + 1 : at + 2] != " "
    return line[at] == " " and (line[at - 1] == "," or line.startswith(OPERATORS, at + 1))


def shell_lines(command: str, width: int) -> str:
    """A command in lines that a shell joins: broken between arguments, and within quoted ones that
    are longer than a line.
    """
    lines = [""]
    for argument in _arguments(command):
        longer = f"{lines[-1]} {argument}".lstrip()
        if lines[-1] and len(longer) > width - len(" \\"):
            lines.append(_quoted_lines(argument, width - len("   \\")))
        else:
            lines[-1] = longer
    return " \\\n  ".join(lines)


def _arguments(command: str) -> list[str]:
    """The arguments of a command, an option together with its value."""
    result = [""]
    for argument in shlex.split(command, posix=False):
        is_value = re.fullmatch(r"-\S+", result[-1]) and not argument.startswith("-")
        result[-1:] = [f"{result[-1]} {argument}"] if is_value else [result[-1], argument]
    return result[1:]


def _quoted_lines(argument: str, width: int) -> str:
    """A quoted argument as several strings that a shell concatenates; other arguments unchanged."""
    quoted = re.fullmatch(r"(-\S+ )?'([^']*)'", argument)
    if len(argument) <= width or not quoted:
        return argument
    pieces = re.findall(rf"(?s).{{1,{width - 3}}}(?: |$)|.{{1,{width - 3}}}", quoted[2])
    head = f"{quoted[1]}\\\n" if quoted[1] else ""
    return head + "\\\n".join(f"'{piece}'" for piece in pieces)
