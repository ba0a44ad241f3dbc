"""Questions in, why out: of a message what it means, of an expression why its gradient is so."""

import ast
import json
from typing import TYPE_CHECKING

from ..errors import GradcliError
from .asked import analysis_of, typed
from .mistakes import question
from .options import Given
from .streams import Streams

if TYPE_CHECKING:
    from ..explanation.analysis import Analysis
    from ..render.environment import Environment


def render_why(streams: Streams, given: Given, format: str, environment: "Environment") -> str:
    """The answer to a message, or to an expression where the text is none."""
    from ..explanation.messages import answer
    from ..render.formats import render_document

    result = answer.answer(given.expr)
    if result is None:
        return _why_expression(streams, given, format, environment)
    if format == "json":
        return json.dumps(answer.data(result), ensure_ascii=False)
    page = answer.document(result)._replace(command=typed(streams))
    return render_document(page, format, environment)


def _why_expression(streams: Streams, given: Given, format: str, environment: "Environment") -> str:
    """Raises GradcliError: what is no expression is a message, and one that is not known."""
    from ..explanation.arrays import jsonable
    from ..explanation.messages.answer import unknown
    from ..explanation.question import asked
    from ..explanation.why import why_expression
    from ..render.formats import render_document

    try:
        analysis = _analysis(streams, given)
        result = why_expression(analysis)
    except GradcliError as error:
        if error.code != "syntax":
            raise
        raise question(given.expr) or unknown(given.expr) from None
    if format == "json":
        return json.dumps(jsonable(result.data()), ensure_ascii=False)
    page = asked(result.document(), analysis.problem, typed(streams))
    return render_document(page, format, environment)


def _analysis(streams: Streams, given: Given) -> "Analysis":
    """The analysis of an expression; of a mask or of integers, which no problem has as its output,
    that of the same numbers as floats.
    """
    try:
        return analysis_of(streams, given)
    except GradcliError as error:
        if error.code != "not-differentiable":
            raise
        as_floats = Given(**vars(given) | {"expr": _as_floats(given.expr)})
        try:
            return analysis_of(streams, as_floats)
        except GradcliError:
            raise error from None


def _as_floats(program: str) -> str:
    """A program with its last value as floats."""
    *before, last = ast.parse(program.strip()).body
    lines = [ast.unparse(statement) for statement in before]
    if isinstance(last, ast.Expr):
        return "\n".join([*lines, f"({ast.unparse(last)}).double()"])
    if not isinstance(last, ast.Assign):
        return program
    return "\n".join([*lines, ast.unparse(last), f"{ast.unparse(last.targets[-1])}.double()"])


def render_listing(streams: Streams, format: str, environment: "Environment") -> str:
    """The messages that are known."""
    from ..explanation.messages.answer import listing, listing_document
    from ..render.formats import render_document

    if format == "json":
        return json.dumps(listing(), ensure_ascii=False)
    page = listing_document(environment.full)._replace(command=typed(streams))
    return render_document(page, format, environment)
