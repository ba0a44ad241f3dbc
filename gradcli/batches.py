"""The lines of a batch: requests as JSON objects, and their answers."""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from math import isinf
from typing import TYPE_CHECKING, Any

from . import option_spelling
from .errors import EXPRESSION, INTERNAL, GradcliError, Span, did_you_mean, if_applicable
from .explanation.analysis import Analysis
from .explanation.arrays import check_numbers, jsonable
from .explanation.choices import SHAPES_ALONE
from .explanation.messages.answer import explained
from .fields import ANSWERS
from .fields import FIELDS as REQUEST
from .language.arguments.number_words import LARGEST
from .limits import NO_MEMORY, TOO_DEEP, Limits
from .request import of_values

if TYPE_CHECKING:
    from .explanation.data import Data

BYTE_ORDER_MARK = "\ufeff"
EXAMPLE = 'as in {"expr": "a * b"}'
OTHER_WORDS = {"seed": "grad", "cotangent": "grad", "program": "expr", "inputs": "values"}
ALONE = {"read": "a program", "why": "an error message"}  # fields of requests with no other field
FIELDS = {name: field.schema for name, field in REQUEST.items() if field.json is not None}
LARGE = re.compile(r"\d[eE]\+?\d{3}|\d{309}")  # a number that may overflow a double
NEED_NO_INTEGER_VALUES = frozenset({"formula", "claims"})
DERIVATIVES = frozenset(
    {"grad", "jacobian", "jacobian_values", "hessian", "formula", "index", "elements"}
)


def batch(
    requests: Iterable[str | dict[str, Any]], limits: Limits | None = None
) -> Iterator[dict[str, Any]]:
    """Yield an answer for every request, in order: {"id", "ok": true, ...} or {"id", "ok": false,
    "error": {...}}.
    """
    for request in requests:
        yield answer(request, limits or Limits())


def answer(request: str | dict[str, Any], limits: Limits) -> dict[str, Any]:
    """The answer to one request, given as JSON text or as a dict."""
    identity, fields, limits = None, {}, limits.renewed()
    try:
        fields = _object_of(request, limits)
        identity = jsonable(fields.get("id"))
        _check_fields(fields)
        return {"id": identity, "ok": True, **_answer(fields, limits)}
    except GradcliError as error:
        return {"id": identity, "ok": False, "error": _error_data(error, fields)}
    except Exception as error:  # an error in one line does not stop the batch
        return {"id": identity, "ok": False, "error": unforeseen(error)}


def identity_of(request: str, limits: Limits) -> Any:
    """The id for the answer to a request."""
    return if_applicable(lambda: jsonable(_object_of(request, limits).get("id")))


def failed(request: str, limits: Limits, error: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request that failed with `error`."""
    return {"id": identity_of(request, limits), "ok": False, "error": error}


def _error_data(error: GradcliError, fields: dict[str, Any]) -> dict[str, Any]:
    """An error as JSON; its span counts the characters of the field that contains the error."""
    option_spelling.respell_error(error, option_spelling.JSON)
    message: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.hint:
        message["hint"] = error.hint
    if error.span is not None:
        origin = error.span.origin
        field = "expr" if origin == EXPRESSION else option_spelling.field_of(origin)
        text: Any = fields
        for key in field.split(".", 1):
            text = text.get(key) if isinstance(text, dict) else None
        message["span"] = _span_in_typed(
            error.span, text if isinstance(text, str) else error.span.text
        )
        if field != "expr":
            message["in"] = field
    return message


def _span_in_typed(span: Span, typed: str) -> list[int]:
    """`span` as [start, end] in the text as typed.

    The text of the span may differ from `typed` in whitespace, so a position is determined by the
    number of other characters before it. If these differ, the span is returned unchanged.
    """
    places = [k for k, c in enumerate(typed) if not (c.isspace() or c == BYTE_ORDER_MARK)]
    if "".join(typed[k] for k in places) != "".join(span.text.split()):
        return [span.start, span.end]
    leading = len("".join(span.text[: span.start].split()))
    trailing = len("".join(span.text[: span.end].split()))
    if leading == trailing:  # the span contains only whitespace
        end = places[leading - 1] + 1 if leading else 0
        return [end, end]
    return [places[leading], places[trailing - 1] + 1]


def unforeseen(error: Exception) -> dict[str, Any]:
    """The error, as JSON, for an exception that is a bug of gradcli."""
    if isinstance(error, MemoryError | RecursionError):
        deep = isinstance(error, RecursionError)
        return {"code": "limit", "message": TOO_DEEP if deep else NO_MEMORY}
    hint = "this is a bug of gradcli, not of the request: please report it with this line"
    return {"code": INTERNAL, "message": f"{type(error).__name__}: {error}", "hint": hint}


def _object_of(request: str | dict[str, Any], limits: Limits) -> dict[str, Any]:
    fields = _parsed(request, limits) if isinstance(request, str) else request
    if not isinstance(fields, dict):
        raise GradcliError("request", "a request is a JSON object", hint=EXAMPLE)
    return fields


def _check_fields(fields: dict[str, Any]) -> None:
    for name in fields:
        if name not in FIELDS:
            near = did_you_mean(OTHER_WORDS.get(name, str(name)), FIELDS)
            hint = near or f"its fields are {', '.join(FIELDS)}"
            raise GradcliError("request", f"a request has no field {name}", hint=hint)
    alone = next((name for name in ALONE if name in fields), None)
    if alone is not None:
        _check_alone(alone, fields)
    elif not isinstance(fields.get("expr"), str):
        raise GradcliError("request", "a request needs the field expr, a text", hint=EXAMPLE)


def _check_alone(name: str, fields: dict[str, Any]) -> None:
    """Raise GradcliError unless this field is a string, and the only one except `id`."""
    example = f'as in {{"{name}": {REQUEST[name].example}}}'
    if not isinstance(fields[name], str):
        raise GradcliError("request", f"{name} is a text: {ALONE[name]}", hint=example)
    extra = [other for other in fields if other not in ("id", name)]
    if extra:
        message = f"a request with the field {name} has no field {extra[0]}"
        raise GradcliError("request", message, hint=example)


def _double(text: str) -> float:
    """A number literal as a float. Raises GradcliError `value` if it overflows."""
    number = float(text)
    if isinf(number):
        raise GradcliError("value", f"{text} does not fit in a double", hint=LARGEST)
    return number


def _parsed(text: str, limits: Limits) -> Any:
    limits.check("length", len(text), "the request")
    try:
        return json.loads(text, parse_float=_double if LARGE.search(text) else None)
    except (ValueError, RecursionError) as error:
        reason = "too deeply nested"
        if isinstance(error, ValueError):
            reason = "a number has more digits than Python reads"
        if isinstance(error, json.JSONDecodeError):  # its line number would always be 1
            reason = f"{error.msg} at character {error.pos + 1}"
        raise GradcliError("request", f"the line is not JSON: {reason}", hint=EXAMPLE) from None


def _answer(fields: dict[str, Any], limits: Limits) -> dict[str, Any]:
    if "read" in fields:
        from .explanation.reading.answer import answer as read
        from .explanation.reading.answer import data

        limits.check("length", len(fields["read"]), "the program")
        return data(read(fields["read"]))
    if "why" in fields:
        limits.check("length", len(fields["why"]), "the message")
        return explained(fields["why"])
    wanted = _wanted(fields.get("want"))
    limits = limits if set(wanted) - {*SHAPES_ALONE, "formula"} else limits.for_shapes()
    suppose = NEED_NO_INTEGER_VALUES.issuperset(wanted)
    request = of_values(fields, limits, option_spelling.JSON)
    scalar = "hessian" in wanted
    analysis = request.analysis(scalar=True) if scalar else request.one(suppose)
    result = dict(_answers(analysis, wanted))
    check_numbers(result, limits)
    return jsonable(result)


def _answers(a: Analysis, wanted: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if "grad" in wanted:
        a.require_numbers()
    plain = {"output", "grad", "jacobian_values", "index"}.issuperset(wanted)
    data = None if plain else _data(a)
    for name in wanted:
        if name == "output":
            yield name, a.value(a.problem.out)
        elif name == "grad":
            yield name, a.grad_values()
        elif name == "jacobian_values":
            yield name, _jacobian_values(a)
        elif name == "index":
            yield from _by_index(a)
        elif data is not None:
            yield name, _explained(data, name, wanted)
    notes = [] if "notes" in wanted else _notes(a, data, wanted)
    if notes:
        yield "notes", notes


def _jacobian_values(a: Analysis) -> dict[str, Any]:
    """Each Jacobian as an array of shape (rows, columns), without computing its structure."""
    result = {x.name: a.jacobian(x) for x in a.problem.wrt}
    if not all(jacobian.numeric for jacobian in result.values()):
        a.require_values("Jacobian")
    return {name: jacobian.matrix for name, jacobian in result.items()}


def _data(a: Analysis) -> "Data":
    from .explanation.data import Data

    return Data(a)


def _by_index(a: Analysis) -> Iterator[tuple[str, Any]]:
    """Gradients, output and Jacobians in index notation."""
    from .explanation.data import sides
    from .explanation.formulas import by_index
    from .explanation.formulas.formula_writer import writer_of

    w, wrt = writer_of(a), a.problem.wrt
    grads = {x.name: sides(by_index.gradient(w, x)) for x in wrt}
    output = sides(by_index.output(w))
    jacobians = {x.name: sides(by_index.jacobian(w, x)) for x in wrt}
    for key, suffix in (("index", ""), ("index_of", "_of")):
        yield f"index{suffix}", {name: result[key] for name, result in grads.items()}
        yield f"output_index{suffix}", output[key]
        yield f"jacobian_index{suffix}", {name: result[key] for name, result in jacobians.items()}


def _explained(data: "Data", name: str, wanted: tuple[str, ...]) -> Any:
    match name:
        case "formula":
            return {x.name: data.formula(x) for x in data.a.problem.wrt}
        case "hessian":
            from .explanation.higher.hessian import Hessian
            from .explanation.higher_data import blocks

            return blocks(Hessian(data.a))
        case "elements":
            return _elements(data)
        case "notes":
            return _notes(data.a, data, wanted)
        case _:
            return data(name)


def _elements(data: "Data") -> dict[str, Any]:
    p = data.a.problem
    grads = {x.name: data.a.gradient(x) for x in p.wrt}
    return {
        "output": data.elements(p.out),
        "grad": {n: None if g is None else data.elements(g) for n, g in grads.items()},
    }


def _notes(a: Analysis, data: "Data | None", wanted: Collection[str]) -> list[dict[str, str]]:
    """The notes for an answer.

    All notes if "notes" is requested; otherwise those on the requested answers: derivatives that
    PyTorch lacks, and closed forms. `collect` does not return the notes on assumed shapes and on
    the Hessian, so these are added in both cases.
    """
    from .explanation.in_pytorch.not_differentiated import (
        hessian_not_differentiated,
        not_differentiated,
    )

    result = []
    if data is not None:
        result += _on_formulas(data, wanted)
        matrices = data.a.problem.wrt if "jacobian" in wanted else ()
        result += [note for x in matrices for note in data.matrix_notes(x)]
    if "notes" not in wanted and not DERIVATIVES.isdisjoint(wanted):
        result += not_differentiated(a)
    if "hessian" in wanted:
        result += hessian_not_differentiated(a.problem)
    return [
        {"code": code, "message": option_spelling.respell(message, option_spelling.JSON)}
        for code, message in result
    ]


def _on_formulas(data: "Data", wanted: Collection[str]) -> list[tuple[str, str]]:
    """All notes if "notes" is requested; with "formula", those on closed forms."""
    from .explanation.formulas.assumed_shapes import as_note
    from .explanation.notes import collect, formulas_alone

    result = collect(data.a, data.w) if "notes" in wanted else []
    if "formula" in wanted:
        result += [] if "notes" in wanted else formulas_alone(data.w)
        result += as_note(data.w, option_spelling.JSON)
    return result


def _wanted(want: Any) -> tuple[str, ...]:
    if want is None:
        return ("output", "grad")
    names = [want] if isinstance(want, str) else want
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise GradcliError(
            "request", "want must be a list of names", hint=f"out of {', '.join(ANSWERS)}"
        )
    for name in names:
        if name not in ANSWERS:
            raise GradcliError(
                "request",
                f"want cannot contain {name}",
                hint=did_you_mean(name, ANSWERS) or f"it can contain {', '.join(ANSWERS)}",
            )
    return tuple(names)
