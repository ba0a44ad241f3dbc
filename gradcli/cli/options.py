"""The options, each declared once, and how commands take them."""

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple

from ..errors import GradcliError
from ..explanation.choices import SECTIONS, TARGETS
from ..fields import FIELDS, Field
from ..limits import DEFAULTS, PRECISIONS, WIDTHS, Limits
from ..render.names import FORMATS, GRAPH_FORMATS, PLACES
from .streams import Streams

COMPLETING = "_GRADCLI_COMPLETE"  # set by shells when they ask for completions
FORMAT_NAMES = (*FORMATS,)
GRAPH_FORMAT_NAMES = (*dict.fromkeys((*FORMATS, *GRAPH_FORMATS)),)
TARGET_NAMES = (*TARGETS,)


class Option(NamedTuple):
    """An option; without `names` a positional argument.

    `type` is str, int, bool or, for an option that may be repeated, list[str]; `choices` are the
    allowed words, `within` the smallest and largest number. `complete` names the function of
    `completion` that lists completions.
    """

    type: Any
    default: Any
    names: tuple[str, ...] = ()
    metavar: str | None = None
    help: str = ""
    choices: tuple[str, ...] = ()
    within: tuple[int | None, int | None] = (None, None)
    complete: str = ""
    required: bool = False

    @property
    def repeatable(self) -> bool:
        """Whether the option may be repeated."""
        return bool(self.type == list[str])


def _option(type: Any, default: Any, *names: str, **others: Any) -> Option:
    return Option(type, default, names, **others)


def _argument(metavar: str, help: str, complete: str = "") -> Option:
    """A positional argument, which is optional if its `metavar` has brackets."""
    required = not metavar.startswith("[")
    return Option(str, None, (), metavar, help, complete=complete, required=required)


def _choice(choices: tuple[str, ...], default: str | None, *names: str, **others: Any) -> Option:
    return Option(str, default, names, choices=choices, **others)


def _of_request(name: str, field: Field) -> Option:
    """The option for a field of a request."""
    return _option(
        field.type, field.default, *field.options, metavar=field.metavar, help=field.help,
        within=field.within, complete=COMPLETED.get(name, ""),
    )  # fmt: skip


def _one_of(choices: tuple[str, ...]) -> str:
    """The choices of an option in the help: `terminal, plain or json`."""
    *most, last = choices
    return f"{', '.join(most)} or {last}"


EXECUTORS = ("processes", "dask")
COLORS = ("auto", "always", "never")
MOST_JOBS = 1_000
FORMATTED = "by default that of the ending of -o, else terminal, or plain in a pipe."
COMPLETED = {
    **dict.fromkeys(("shapes", "values", "tangents", "target"), "inputs_with_sign"),
    "wrt": "inputs",
    "against": "frameworks",
    "dtype": "dtypes",
}
OPTIONS = {
    **{name: _of_request(name, field) for name, field in FIELDS.items() if field.options},
    "expr": _argument("EXPR", 'An expression: "relu(x @ W + b).sum()"; - reads standard input.'),
    "question": _argument(
        "[EXPR|MESSAGE]", "An expression, or an error message of PyTorch; - reads standard input.",
    ),
    "file": _argument("FILE", "JSON Lines, one request per line; - reads standard input."),
    "source": _argument("FILE", "A program, or a page with several; - reads standard input."),
    "answer": _argument("FILE", "An answer that -f json printed; - reads standard input."),
    "operator": _argument(
        "[WORD]", "An operator; a family; or a word in a name or a description.",
        complete="operators",
    ),
    "example": _argument("[NAME]", "An example.", complete="examples"),
    "format": _choice(
        FORMAT_NAMES, None, "-f", "--format", metavar="FORMAT",
        help=f"{_one_of(FORMAT_NAMES)}; {FORMATTED}",
    ),
    "place": _choice(
        PLACES, None, "--for", metavar="PLACE",
        help=f"Markdown as a site displays it: {_one_of(PLACES)}.",
    ),
    "math": _choice(
        ("dollars",), None, "--math", metavar="dollars",
        help="With --for discourse, if its math plugin is on: $$ around equations.",
    ),
    "copy": _option(
        bool, False, "--copy", help="Copy to the clipboard, as Markdown if no format is given.",
    ),
    "standalone": _option(
        bool, False, "--standalone", help="LaTeX as a complete document.",
    ),
    "overlay": _option(
        bool, False, "--overlay", help="LaTeX as slides (Beamer), one equation after the other.",
    ),
    "graph_format": _choice(
        GRAPH_FORMAT_NAMES, None, "-f", "--format", metavar="FORMAT",
        help=f"{_one_of(GRAPH_FORMAT_NAMES)}; {FORMATTED}",
    ),
    "library": _choice(
        TARGET_NAMES, "torch", "-t", "--target", metavar="NAME",
        help=f"{_one_of(TARGET_NAMES)}: lines for a library, or a function with its own "
        "backward; torch by default.",
    ),
    "output": _option(
        str, None, "-o", "--output", metavar="FILE",
        help="Write to a file, in the format of its ending: .html, .md, .tex, .svg, .json.",
    ),
    "resume": _option(
        bool, False, "--resume", help="Continue the file of -o, which was not finished.",
    ),
    "jobs": _option(
        int, 1, "-j", "--jobs", metavar="N", within=(1, MOST_JOBS),
        help="Number of processes that answer lines in parallel; 1 by default.",
    ),
    "executor": _choice(
        EXECUTORS, "processes", "--executor", metavar="NAME",
        help=f"{_one_of(EXECUTORS)}: processes of this machine, or the workers of a Dask cluster; "
        "processes by default.",
    ),
    "scheduler": _option(
        str, None, "--scheduler", metavar="ADDRESS",
        help="The scheduler of the Dask cluster: tcp://HOST:8786.",
    ),
    "show": _option(
        list[str], (), "--show", metavar="SECTION,...", complete="sections",
        help=f"Only these: {', '.join(SECTIONS)}. Repeatable.",
    ),
    "step": _option(
        bool, False, "--step", help="One operation at a time, forward and back, with keys.",
    ),
    "element": _option(
        str, None, "--element", metavar="x[0,1]", help="The element to follow.",
    ),
    "precision": _option(
        int, 5, "-p", "--precision", metavar="N", within=PRECISIONS,
        help=f"Significant digits, {PRECISIONS[0]} to {PRECISIONS[1]}; 5 by default.",
    ),
    "digits": _option(
        int, None, "-p", "--precision", metavar="N", within=PRECISIONS,
        help=f"Significant digits, {PRECISIONS[0]} to {PRECISIONS[1]}; all by default.",
    ),
    "width": _option(
        int, None, "--width", metavar="N", within=WIDTHS,
        help=f"Columns, {WIDTHS[0]} to {WIDTHS[1]}; those of the terminal by default.",
    ),
    "full": _option(
        bool, False, "--full", help="Everything, with complete lists and tables.",
    ),
    "port": _option(
        int, 0, "--port", metavar="N", within=(0, 65_535),
        help="The port of the address; a free one by default.",
    ),
    "open": _option(bool, False, "--open", help="Open the page in a browser."),
    "ascii": _option(bool, False, "--ascii", help="ASCII characters only."),
    "color": _choice(
        COLORS, "auto", "--color", metavar="WHEN",
        help=f"{_one_of(COLORS)}; it overrides NO_COLOR and FORCE_COLOR.",
    ),
    "limit": _option(
        list[str], (), "--limit", metavar="KIND=N",
        help=f"Raise a limit: {', '.join(DEFAULTS)}.",
    ),
    "debug": _option(bool, False, "--debug", help="Show a traceback with an error."),
}  # fmt: skip

LONG_NAMES = {option.names[0]: option.names[-1] for option in OPTIONS.values() if option.names}
OTHER_NAMES = {  # other names that are accepted
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
    """The arguments with the long names of options, which click parses 4 ms faster."""
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
    """Whether a command line has -f json, however it is written."""
    words = in_full(arguments)
    pairs = pairwise(words)
    return ("--format", "json") in pairs or not {"--format=json", "-fjson"}.isdisjoint(words)


def color_of(arguments: list[str]) -> str:
    """The last value of --color in a command line that may be invalid."""
    words = in_full(arguments)
    pairs = [word.partition("=")[::2] for word in words] + [*pairwise(words)]
    colors = [c for option, c in pairs if option == "--color" and c in COLORS]
    return colors[-1] if colors else "auto"


ANSWER = ("format", "place", "math", "copy", "output")
PAGE = ("standalone", "overlay")  # kinds of LaTeX documents
SHOWN = ("show", "element", "step", "precision", "full")
WORKERS = ("jobs", "executor", "scheduler")
LOOK = ("width", "ascii", "color")
ALWAYS = ("limit", "debug")


def read_limits(texts: list[str], files: bool = True) -> Limits:
    """The limits given by --limit; `files`: whether values may be read from files. Raises
    GradcliError.
    """
    raised = {}
    for text in texts:
        kind, _, size = text.partition("=")
        digits = size.replace("_", "")
        if kind not in DEFAULTS or not (digits.isascii() and digits.isdigit() and len(digits) < 30):
            kinds = f"the kinds are {', '.join(DEFAULTS)}"
            message = f"--limit must be KIND=N with an integer N of at least 0, got {text}"
            raise GradcliError("option", message, hint=kinds)
        raised[kind] = int(digits)
    return Limits(raised, files=files)


class Options(SimpleNamespace):
    """The values of OPTIONS on the command line, or their defaults."""

    def __getattr__(self, name: str) -> Any:
        if name not in OPTIONS:
            raise AttributeError(name)
        return OPTIONS[name].default

    @cached_property
    def limits(self) -> Limits:
        """The limits given by --limit: one object for the command, which has one budget of time."""
        return read_limits(self.limit)


class Command(NamedTuple):
    """A command in a `group` of the help. `names` are the keys of its options in OPTIONS; its
    `function` takes streams and options and returns an exit status, or None for 0.
    """

    group: str
    names: tuple[str, ...]
    function: Callable[[Streams, Options], int | None]

    def __call__(self, streams: Streams, values: dict[str, Any]) -> int:
        """Run the command with these values of options, by name; returns the exit status."""
        return self.function(streams, Options(**values)) or 0
