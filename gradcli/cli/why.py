"""`gradcli why`: the meaning of an error message, or the cause of nan, inf or 0 in a gradient."""

import ast
from typing import TYPE_CHECKING

from ..errors import GradcliError
from .mistakes import question
from .options import Options
from .requests import command_text, request_of
from .streams import Streams

if TYPE_CHECKING:
    from ..explanation.analysis import Analysis
    from ..explanation.blocks import Reply


def why_of(streams: Streams, options: Options) -> "Reply":
    """The answer to a message, or to an expression if the text is not a message. Raises
    GradcliError; a text that is neither is reported as an unknown message.
    """
    from ..explanation import replies
    from ..explanation.messages import answer
    from ..explanation.reading.corrections.table import hint_of

    message, command = answer.answer(options.expr), command_text(streams)
    if message is not None:
        return replies.message(message, command)
    try:
        return replies.why(_analysis(streams, options), command)
    except GradcliError as error:
        if error.code != "syntax":
            raise
        hint = hint_of(options.expr)
        question_error = None if hint else question(options.expr)
        raise question_error or answer.unknown(options.expr, hint) from None


def _analysis(streams: Streams, options: Options) -> "Analysis":
    """The analysis of an expression; if its output is a mask or integers, which a problem cannot
    have as output, that of the same values as floats.
    """
    try:
        return request_of(streams, options).analysis()
    except GradcliError as error:
        if error.code != "not-differentiable":
            raise
        as_floats = Options(**vars(options) | {"expr": _as_floats(options.expr)})
        try:
            return request_of(streams, as_floats).analysis()
        except GradcliError:
            raise error from None


def _as_floats(program: str) -> str:
    """A program with its last value converted to floats."""
    *before, last = ast.parse(program.strip()).body
    lines = [ast.unparse(statement) for statement in before]
    if isinstance(last, ast.Expr):
        return "\n".join([*lines, f"({ast.unparse(last)}).double()"])
    if not isinstance(last, ast.Assign):
        return program
    return "\n".join([*lines, ast.unparse(last), f"{ast.unparse(last.targets[-1])}.double()"])
