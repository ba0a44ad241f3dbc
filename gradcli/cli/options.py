"""The options, each declared once, and how commands take them."""

from collections.abc import Callable
from enum import StrEnum
from functools import cached_property, partial
from inspect import Parameter, Signature
from itertools import pairwise
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple

import typer

from ..errors import GradcliError
from ..explanation.choices import SECTIONS
from ..fields import FIELDS, Field
from ..limits import DEFAULTS, PRECISIONS, WIDTHS, Limits
from ..render.names import FORMATS, PLACES
from . import completion
from .streams import ReaderGone, Streams


def _choices(name: str, *words: str) -> Any:
    """A type of words out of which one is chosen."""
    return StrEnum(name, {word.replace("-", "_"): word for word in words})


Color = _choices("Color", "auto", "always", "never")
Format = _choices("Format", *FORMATS)
GraphFormat = _choices("GraphFormat", *FORMATS, "mermaid", "dot")
Place = _choices("Place", *PLACES)
Math = _choices("Math", "dollars")
Target = _choices("Target", "torch", "jax", "numpy", "torch-function", "custom-vjp")
Executor = _choices("Executor", "processes", "dask")


class Option(NamedTuple):
    """The type of an option or argument, its value where it is left out, what typer is told, and
    the names of an option.
    """

    type: Any
    default: Any
    info: Any
    names: tuple[str, ...] = ()


def _argument(
    metavar: str,
    help: str,
    type: Any = str,
    default: Any = Parameter.empty,
    complete: Callable[..., Any] | None = None,
) -> Option:
    info = typer.Argument(metavar=metavar, help=help, autocompletion=complete)
    return Option(type, default, info)


def _option(
    type: Any,
    default: Any,
    *names: str,
    complete: Callable[..., Any] | None = None,
    **text: Any,
) -> Option:
    return Option(type, default, typer.Option(*names, autocompletion=complete, **text), names)


def _of_request(name: str, field: Field) -> Option:
    """The option of a field of a request."""
    least, most = field.within
    return _option(
        field.type, field.default, *field.options, metavar=field.metavar, help=field.help,
        min=least, max=most, complete=COMPLETED.get(name),
    )  # fmt: skip


def _one_of(choices: type[StrEnum]) -> str:
    """`terminal, plain or json`, for the help."""
    *most, last = choices
    return f"{', '.join(most)} or {last}"


MOST_JOBS = 1_000
FORMATTED = "as for a terminal, or plain in a pipe, if left out."
COMPLETED: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("shapes", "values", "tangents", "target"), completion.inputs_with_sign),
    "wrt": completion.inputs,
    "against": completion.frameworks,
    "dtype": completion.dtypes,
}
OPTIONS = {
    **{name: _of_request(name, field) for name, field in FIELDS.items() if field.options},
    "expr": _argument("EXPR", 'An expression: "relu(x @ W + b).sum()"; - reads standard input.'),
    "question": _argument(
        "[EXPR|MESSAGE]", "An expression, or an error message of PyTorch; - reads standard input.",
        str | None, None,
    ),
    "file": _argument("FILE", "JSON Lines, a request a line; - reads standard input."),
    "source": _argument("FILE", "A program, or a page with several; - reads standard input."),
    "answer": _argument("FILE", "An answer that -f json printed; - reads standard input."),
    "operator": _argument(
        "[WORD]", "An operator; a family; or a word of a name or of a meaning.", str | None, None,
        complete=completion.operators,
    ),
    "example": _argument(
        "[NAME]", "An example.", str | None, None, complete=completion.examples,
    ),
    "format": _option(
        Format | None, None, "-f", "--format", metavar="FORMAT",
        help=f"{_one_of(Format)}; {FORMATTED}",
    ),
    "place": _option(
        Place | None, None, "--for", metavar="PLACE",
        help=f"Markdown as a place shows it: {_one_of(Place)}.",
    ),
    "math": _option(
        Math | None, None, "--math", metavar="dollars",
        help="With --for discourse, where its plugin for mathematics is on: $$ around equations.",
    ),
    "copy": _option(
        bool, False, "--copy", help="Copy to the clipboard, as Markdown if no format is given.",
    ),
    "standalone": _option(
        bool, False, "--standalone", help="LaTeX as a document that compiles by itself.",
    ),
    "overlay": _option(
        bool, False, "--overlay", help="LaTeX as slides (Beamer), an equation after the other.",
    ),
    "graph_format": _option(
        GraphFormat | None, None, "-f", "--format", metavar="FORMAT",
        help=f"{_one_of(GraphFormat)}; {FORMATTED}",
    ),
    "library": _option(
        Target, Target.torch, "-t", "--target", metavar="NAME",
        help=f"{_one_of(Target)}: lines for a library, or a function with a backward of its own; "
        "torch, if left out.",
    ),
    "output": _option(
        str | None, None, "-o", "--output", metavar="FILE", help="Write to a file.",
    ),
    "resume": _option(
        bool, False, "--resume", help="Go on with the file of -o, which was half written.",
    ),
    "jobs": _option(
        int, 1, "-j", "--jobs", metavar="N", min=1, max=MOST_JOBS,
        help="Processes that answer lines at the same time; 1, if left out.",
    ),
    "executor": _option(
        Executor, Executor.processes, "--executor", metavar="NAME",
        help=f"{_one_of(Executor)}: processes of this machine, or the workers of a Dask cluster; "
        "processes, if left out.",
    ),
    "scheduler": _option(
        str | None, None, "--scheduler", metavar="ADDRESS",
        help="The scheduler of the Dask cluster: tcp://HOST:8786.",
    ),
    "show": _option(
        list[str], (), "--show", metavar="SECTION,...", complete=completion.sections,
        help=f"Only these: {', '.join(SECTIONS)}. Repeatable.",
    ),
    "step": _option(
        bool, False, "--step", help="An operation at a time, forward and back, by keys.",
    ),
    "element": _option(
        str | None, None, "--element", metavar="x[0,1]", help="The element to follow.",
    ),
    "precision": _option(
        int, 5, "-p", "--precision", metavar="N", min=PRECISIONS[0], max=PRECISIONS[1],
        help=f"Significant digits, {PRECISIONS[0]} to {PRECISIONS[1]}; 5, if left out.",
    ),
    "digits": _option(
        int | None, None, "-p", "--precision", metavar="N", min=PRECISIONS[0], max=PRECISIONS[1],
        help=f"Significant digits, {PRECISIONS[0]} to {PRECISIONS[1]}; all of them, if left out.",
    ),
    "width": _option(
        int | None, None, "--width", metavar="N", min=WIDTHS[0], max=WIDTHS[1],
        help=f"Columns, {WIDTHS[0]} to {WIDTHS[1]}; those of the terminal, if left out.",
    ),
    "full": _option(
        bool, False, "--full", help="Everything, and nothing left out of lists and tables.",
    ),
    "port": _option(
        int, 0, "--port", metavar="N", min=0, max=65_535,
        help="The port of the address; one that is free, if left out.",
    ),
    "open": _option(bool, False, "--open", help="Open the page in a browser."),
    "ascii": _option(bool, False, "--ascii", help="Nothing but ASCII."),
    "color": _option(
        Color, Color.auto, "--color", metavar="WHEN",
        help=f"{_one_of(Color)}; it goes before NO_COLOR and FORCE_COLOR.",
    ),
    "limit": _option(
        list[str], (), "--limit", metavar="KIND=N",
        help=f"Raise a limit: {', '.join(DEFAULTS)}.",
    ),
    "debug": _option(bool, False, "--debug", help="Show a traceback with an error."),
}  # fmt: skip

LONG_NAMES = {option.names[0]: option.names[-1] for option in OPTIONS.values() if option.names}
OTHER_NAMES = {  # what options are called elsewhere
    "--seed": "--grad",
    "--gradient": "--grad",
    "--shapes": "--shape",
    "--values": "--value",
    "-h": "--help",
}
TAKE_A_VALUE = {
    name for option in OPTIONS.values() if option.type is not bool for name in option.names
}


def in_full(arguments: list[str]) -> list[str]:
    """Options by their long names, which click finds 4 ms sooner; what stands after an option that
    takes a value is no option.
    """
    result, is_value = list[str](), False
    for k, word in enumerate(arguments):
        if word == "--" and not is_value:
            return result + arguments[k:]
        name, equals, value = word.partition("=")
        known = OTHER_NAMES.get(name) or (LONG_NAMES.get(name, name) if not equals else name)
        result.append(word if is_value else known + equals + value)
        is_value = not is_value and not equals and known in TAKE_A_VALUE
    return result


def is_json(arguments: list[str]) -> bool:
    """Whether JSON is asked for, of a command that has another format too."""
    words = in_full(arguments)
    pairs = pairwise(words)
    return ("--format", "json") in pairs or not {"--format=json", "-fjson"}.isdisjoint(words)


ANSWER = ("format", "place", "math", "copy", "output")
PAGE = ("standalone", "overlay")  # what LaTeX is made as
SHOWN = ("show", "element", "step", "precision", "full")
WORKERS = ("jobs", "executor", "scheduler")
LOOK = ("width", "ascii", "color")
ALWAYS = ("limit", "debug")


def read_limits(texts: list[str], files: bool = True) -> Limits:
    """The limits after --limit; `files`: whether values may be read from files. Raises
    GradcliError.
    """
    raised = {}
    for text in texts:
        kind, _, size = text.partition("=")
        digits = size.replace("_", "")
        if kind not in DEFAULTS or not (digits.isascii() and digits.isdigit() and len(digits) < 30):
            kinds = f"the kinds are {', '.join(DEFAULTS)}"
            message = f"--limit {text} is not KIND=N with a whole number N that is not negative"
            raise GradcliError("option", message, hint=kinds)
        raised[kind] = int(digits)
    return Limits(raised, files=files)


class Given(SimpleNamespace):
    """What was typed for each of OPTIONS; for one that the command does not take, its default."""

    def __getattr__(self, name: str) -> Any:
        if name not in OPTIONS:
            raise AttributeError(name)
        return OPTIONS[name].default

    @cached_property
    def limits(self) -> Limits:
        """The limits after --limit, whose budget the whole command has. Raises GradcliError."""
        return read_limits(self.limit)


def takes(*names: str) -> Callable[[Callable[[Streams, Given], None]], Callable[..., None]]:
    """A command with the options `names`; it is called with the streams and what was given."""
    return partial(Taking, names)


class Taking:
    """A command with options. Its signature, from which typer makes them, is built when it is
    read: of the one command that is called.
    """

    __name__: str

    def __init__(self, names: tuple[str, ...], command: Callable[[Streams, Given], None]):
        self.names, self.command = names, command
        self.__name__, self.__doc__ = command.__name__, command.__doc__

    def __call__(self, ctx: typer.Context, **given: Any) -> None:
        try:
            self.command(ctx.obj, Given(**given))
        except BrokenPipeError:  # typer would make it exit status 1
            raise ReaderGone from None

    @cached_property
    def __signature__(self) -> Signature:
        return Signature([_parameter("ctx", typer.Context), *map(_option_parameter, self.names)])

    @cached_property
    def __annotations__(self) -> dict[str, Any]:  # type: ignore[override]
        return {p.name: p.annotation for p in self.__signature__.parameters.values()}


def _option_parameter(name: str) -> Parameter:
    option = OPTIONS[name]
    return _parameter(name, Annotated[option.type, option.info], option.default)


def _parameter(name: str, annotation: Any, default: Any = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
