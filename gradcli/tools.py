"""The tools that AI assistants may call, by name; each returns a text.

The arguments of a call are fields of a request, which FIELDS in `fields` defines, and TOOL_FIELDS.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from . import option_spelling
from .errors import GradcliError, did_you_mean
from .explanation.choices import SECTIONS
from .fields import FIELDS, QUESTIONS
from .limits import Limits
from .request import of_values

SHORT, LONG = 4_000, 40_000  # most bytes of an answer by default, and of requested sections
CUT = '\n... the rest is left out: select sections with "show"\n'
TOOL_FIELDS: dict[str, dict[str, Any]] = {
    "show": {
        "type": "array",
        "items": {"enum": [*SECTIONS]},
        "description": "Only these sections, in full. By default the answer on one screen.",
    },
    "code": FIELDS["read"].schema,
}
in_json = partial(option_spelling.respell, spelling=option_spelling.JSON)


class Tool(NamedTuple):
    """A tool: title, description, fields, required fields, and function."""

    title: str
    description: str
    fields: tuple[str, ...]
    needed: tuple[str, ...]
    answer: Callable[[dict[str, Any], Limits], str]

    @property
    def arguments(self) -> dict[str, Any]:
        """The JSON Schema of each field that JSON has."""
        names = [name for name in self.fields if name in TOOL_FIELDS or FIELDS[name].json]
        return {name: TOOL_FIELDS.get(name) or FIELDS[name].schema for name in names}

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the fields of a call."""
        return {
            "type": "object",
            "properties": self.arguments,
            "required": [*self.needed],
            "additionalProperties": False,
        }


def call(name: str, fields: Any, limits: Limits) -> str:
    """The answer of a tool. Raises GradcliError."""
    tool = TOOLS[name]
    if not isinstance(fields, dict):
        raise GradcliError("request", f"the arguments of {name} are an object")
    arguments = tool.arguments
    for field in fields:
        if field not in arguments:
            hint = did_you_mean(field, arguments) or f"it has {', '.join(arguments)}"
            raise GradcliError("request", f"{name} has no argument {field}", hint=hint)
    for field in tool.needed:
        kinds, message = (dict | str, "an object") if field == "claim" else (str, "a text")
        if not isinstance(fields.get(field), kinds):
            message = f"{name} needs {field}, {message}"
            raise GradcliError("request", message, hint=arguments[field]["description"])
    try:
        return tool.answer(fields, limits)
    except GradcliError as error:
        option_spelling.respell_error(error, option_spelling.JSON)
        if error.code == "file":
            error.hint = "files cannot be opened from here: give the numbers themselves"
        if error.code == "limit" and error.hint:
            error.hint = error.hint.replace("--limit", "gradcli mcp --limit")
        raise


def _explain(fields: dict[str, Any], limits: Limits) -> str:
    show = fields.get("show") or []
    if not isinstance(show, list) or not all(isinstance(name, str) for name in show):
        raise GradcliError("request", "show is a list of sections", hint=", ".join(SECTIONS))
    return _rendered(fields, limits, tuple(show))


def _check(fields: dict[str, Any], limits: Limits) -> str:
    return _rendered(fields, limits, ("claims", "checks"))


def _rendered(fields: dict[str, Any], limits: Limits, show: tuple[str, ...]) -> str:
    from .explanation import replies
    from .explanation.choices import Choices
    from .render.environment import Environment
    from .render.formats import render

    analysis = of_values(fields, limits, option_spelling.JSON).one(suppose=True)
    answer = replies.explanation(analysis, Choices(show=show))
    text = render(answer, "plain", Environment(say=in_json))
    return _cut(text, LONG if show else SHORT)


def _cut(text: str, most: int) -> str:
    """`text` cut at the end of a line to at most `most` bytes, with a remark if it was cut."""
    data = text.encode(errors="surrogatepass")
    if len(data) <= most:
        return text
    part = data[: most - len(CUT)].decode(errors="ignore")
    return part[: part.rfind("\n")] + CUT


def _formula(fields: dict[str, Any], limits: Limits) -> str:
    from .explanation import replies
    from .explanation.closed_forms import notes_on_lines
    from .explanation.data import Data
    from .explanation.formulas.assumed_shapes import as_note
    from .render.environment import Environment
    from .render.formats import render_formulas

    request = of_values(fields, limits.for_shapes(), option_spelling.JSON)
    data = Data(request.analysis(suppose=True))
    text = render_formulas(replies.formulas(data), "plain", Environment(say=in_json))
    notes = [*notes_on_lines(data), *as_note(data.w, option_spelling.JSON)]
    return "\n".join([text, *(f"note: {in_json(message)}" for _, message in notes)]) + "\n"


def _read(fields: dict[str, Any], limits: Limits) -> str:
    from .explanation import replies
    from .explanation.reading.answer import answer
    from .render.environment import Environment
    from .render.formats import render

    limits.check("length", len(fields["code"]), "the program")
    result = replies.programs(answer(fields["code"]))
    return _cut(render(result, "plain", Environment(say=in_json)), SHORT)


TOOLS = {
    "explain_gradient": Tool(
        "Explain a gradient",
        "Explains what backward() computes for tensor code in the words of PyTorch, NumPy or JAX: "
        "the graph, the Jacobian and its structure, the backward pass step by step, gradients as "
        "formulas and in numbers, checked against finite differences. Nothing is executed.",
        (*QUESTIONS["explain"], "show"),
        ("expr",),
        _explain,
    ),
    "gradient_formula": Tool(
        "Gradient as a formula",
        "The closed form of the gradient with respect to each input, in the shortest matrix "
        "notation, for tensors of any size: softmax(x @ W, dim=1) gives W.grad and x.grad. g is "
        "the seed, the gradient that flows into the output.",
        QUESTIONS["formula"],
        ("expr",),
        _formula,
    ),
    "check_gradient_claim": Tool(
        "Check a derived gradient",
        "Checks a formula that somebody derived for a gradient: whether it is right for all "
        "values, where it differs, and the smallest change that corrects it.",
        QUESTIONS["check"],
        ("expr", "claim"),
        _check,
    ),
    "read_pytorch_snippet": Tool(
        "Read a PyTorch program",
        "Follows a pasted program of PyTorch line by line without running it in Python: what it "
        "prints, each backward() explained, the error that it raises, why, and the corrected "
        "program.",
        ("code",),
        ("code",),
        _read,
    ),
}
