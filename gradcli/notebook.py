"""`%gradcli` and `%%gradcli` in IPython, whose shell is handed in: nothing here imports it."""

import shlex
import sys
from argparse import ArgumentParser, Namespace
from functools import partial
from typing import Any, NoReturn

from .api import explain
from .errors import GradcliError, did_you_mean
from .explained import Explanation
from .fields import FIELDS
from .language.given.options import read_names, read_shapes, read_values

NAME = "gradcli"
OPTIONS = "-s NAME=SHAPE, -v NAME=VALUE, -v NAME (a variable of the notebook), -g, -w and --full"


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise GradcliError("option", message, hint=f"the options are {OPTIONS}")


def add_magics(shell: Any) -> None:
    """Give an IPython shell the magics."""
    shell.register_magic_function(partial(_explained, shell), "line_cell", NAME)


def _explained(shell: Any, line: str, cell: str | None = None) -> Explanation | None:
    """The explanation of the program in the cell, or of the first word of the line; what is wrong
    is printed.
    """
    try:
        given = _read(line, cell)
        values, wrt = _values(given.values, shell.user_ns), ",".join(given.wrt) or None
        shapes = read_shapes(given.shapes)
        result = explain(given.expr, shapes=shapes, values=values, grad=given.grad, wrt=wrt)
    except GradcliError as error:
        print(error, file=sys.stderr)
        return None
    return Explanation(result._analysis, full=True) if given.full else result


def _read(line: str, cell: str | None) -> Namespace:
    parser = _Parser(prog=NAME, add_help=False, allow_abbrev=False)
    if cell is None:
        parser.add_argument("expr")
    for name in ("shapes", "values", "wrt"):
        parser.add_argument(*FIELDS[name].options, dest=name, action="append", default=[])
    parser.add_argument(*FIELDS["grad"].options)
    parser.add_argument("--full", action="store_true")
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise GradcliError("option", f"the line cannot be read: {error}") from None
    given = parser.parse_args(words)
    if cell is not None:
        given.expr = cell
    return given


def _values(texts: list[str], variables: dict[str, Any]) -> dict[str, Any]:
    """Values by name: as they were typed, or those that variables of the notebook have."""
    named = [text for text in texts if "=" not in text]
    values: dict[str, Any] = {**read_values([text for text in texts if "=" in text])}
    for name in read_names(",".join(named)) if named else ():
        if name not in variables:
            hint = did_you_mean(name, [*variables]) or "a value is NAME=VALUE, or a variable's name"
            raise GradcliError("value", f"the notebook has no variable {name}", hint=hint)
        values[name] = variables[name]
    return values
