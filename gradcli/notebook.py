"""`%gradcli` and `%%gradcli` for IPython; the shell is an argument, so IPython is not imported."""

import re
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import takewhile
from typing import Any, NoReturn

from .api import explanation_of
from .errors import GradcliError, did_you_mean
from .explained import Explanation
from .fields import FIELDS, QUESTIONS
from .language.arguments.option_texts import read_names, read_shapes, read_values
from .option_spelling import MAGIC, respell, respell_error
from .render.errors import message

NAME = "gradcli"
OPTIONS = (
    "-s NAME=SHAPE, -v NAME=VALUE, -v NAME (a variable of the notebook), -g, -w, --assume, "
    "--order, --expand, --dtype, --random-seed and --full"
)


in_magic = partial(respell, spelling=MAGIC)
FUNCTIONS = ({*QUESTIONS} | {"read", "why", "ops"}) - {"explain"}


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise GradcliError("option", message, hint=f"the options are {OPTIONS}")


def add_magics(shell: Any) -> None:
    """Register the magics in an IPython shell."""
    shell.register_magic_function(partial(_explained, shell), "line_cell", NAME)


def _explained(shell: Any, line: str, cell: str | None = None) -> Explanation | None:
    """The explanation of the program in the cell or the line; in the line, blanks need no quotes.
    Prints the error and returns None if there is one.
    """
    try:
        arguments = _read(line, cell)
        grad, *grads = arguments.grad or [None]
        fields = {
            "expr": arguments.expr,
            "allow_files": False,
            "shapes": read_shapes(arguments.shapes),
            "values": _values(arguments.values, shell.user_ns),
            "grad": grad,
            "grads": grads,
        }
        fields |= {name: ",".join(getattr(arguments, name)) or None for name in ("wrt", "assume")}
        for name in ("order", "expand", "dtype", "random_seed"):
            fields[name] = getattr(arguments, name)
        return explanation_of(fields, arguments.full, in_magic)
    except GradcliError as error:
        respell_error(error, MAGIC)
        print(message(error), end="", file=sys.stderr)
        return None


def _read(line: str, cell: str | None) -> Namespace:
    parser = _Parser(prog=NAME, add_help=False, allow_abbrev=False)
    if cell is None:
        parser.add_argument("expr", nargs="+")
    for name in QUESTIONS["explain"]:
        field: Any = FIELDS[name]
        if field.type is bool:
            parser.add_argument(*field.options, dest=name, action="store_true")
        elif field.options and field.type in (int, str):
            parser.add_argument(*field.options, dest=name, type=field.type, default=field.default)
        elif field.options:
            parser.add_argument(*field.options, dest=name, action="append", default=[])
    parser.add_argument("--full", action="store_true")
    arguments = parser.parse_args(_words(line, cell))
    arguments.expr = " ".join(arguments.expr) if cell is None else cell
    return arguments


def _words(line: str, cell: str | None) -> list[str]:
    """The words of a line, split as in a shell, but not within brackets. The word `explain` before
    an expression is removed.
    """
    try:
        words = [*_with_closed_brackets(shlex.split(line))]
    except ValueError as error:
        raise GradcliError("option", f"the line cannot be read: {error}") from None
    first = words[0] if words else ""
    if cell is not None or len(words) < 2:
        return words[first == "explain" and cell is not None :]
    named = re.match(r"[\w(]", words[1]) is not None
    if first in FUNCTIONS and named:
        text = f"the magic explains a gradient; {first} is a function"
        program = " ".join(takewhile(lambda word: word[0] != "-", words[1:]))
        raise GradcliError("option", text, hint=f'gradcli.{first}("{program}")')
    return words[first == "explain" and named :]


def _with_closed_brackets(words: Iterable[str]) -> Iterator[str]:
    """Words, joined until their brackets are closed: `a=[1, 2]`."""
    word = ""
    for part in words:
        word = f"{word} {part}" if word else part
        if sum(map(word.count, "([{")) <= sum(map(word.count, ")]}")):
            yield word
            word = ""
    if word:
        yield word


def _values(texts: list[str], variables: dict[str, Any]) -> dict[str, Any]:
    """Values by name: the texts, or values of the notebook's variables."""
    named = [text for text in texts if "=" not in text]
    values: dict[str, Any] = {**read_values([text for text in texts if "=" in text])}
    for name in read_names(",".join(named)) if named else ():
        if name not in variables:
            hint = did_you_mean(name, [*variables]) or "a value is NAME=VALUE, or a variable's name"
            raise GradcliError("value", f"the notebook has no variable {name}", hint=hint)
        values[name] = variables[name]
    return values
