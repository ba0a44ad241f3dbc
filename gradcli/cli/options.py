"""The options, each said once, and the way that commands take them."""

from collections.abc import Callable
from enum import StrEnum
from inspect import Parameter, Signature
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple

import typer

from ..explanation.section_names import SECTIONS
from ..limits import DEFAULTS, MOST_ORDER, PRECISIONS, WIDTHS
from .streams import ReaderGone, Streams


class Color(StrEnum):
    """When to use colour."""

    auto = "auto"
    always = "always"
    never = "never"


class Format(StrEnum):
    """What an explanation can be written as."""

    terminal = "terminal"
    plain = "plain"
    markdown = "markdown"
    json = "json"


class GraphFormat(StrEnum):
    """What a graph can be drawn as."""

    terminal = "terminal"
    plain = "plain"
    markdown = "markdown"
    json = "json"
    mermaid = "mermaid"
    dot = "dot"


class Target(StrEnum):
    """What a program can be written for."""

    torch = "torch"
    jax = "jax"
    numpy = "numpy"
    torch_function = "torch-function"
    custom_vjp = "custom-vjp"


class Option(NamedTuple):
    """The type of an option or argument, its value where it is left out, and what typer is told."""

    type: Any
    default: Any
    info: Any


def _argument(metavar: str, help: str, type: Any = str, default: Any = Parameter.empty) -> Option:
    return Option(type, default, typer.Argument(metavar=metavar, help=help, show_default=False))


def _option(type: Any, default: Any, *names: str, help: str, **told: Any) -> Option:
    told.setdefault("show_default", default not in (None, (), False))
    return Option(type, default, typer.Option(*names, help=help, **told))


OPTIONS = {
    "expr": _argument(
        "EXPR", 'An expression, as "relu(x @ W + b).sum()"; - reads it from standard input.'
    ),
    "question": _argument(
        "[EXPR|MESSAGE]", "An expression, or an error message of PyTorch; - is standard input.",
        str | None, None,
    ),
    "file": _argument("FILE", "JSON Lines, a request a line; - is standard input."),
    "source": _argument("FILE", "A program, or a page with several; - is standard input."),
    "operator": _argument("[NAME]", "An operator, or a part of a name.", str | None, None),
    "example": _argument("[NAME]", "An example.", str | None, None),
    "shape": _option(
        list[str], (), "-s", "--shape", metavar="NAME=DIMS",
        help="The shape of an input: x=2x3. Repeatable.",
    ),
    "value": _option(
        list[str], (), "-v", "--value", metavar="NAME=VALUE",
        help="The value of an input: a list, a pasted tensor, an expression, @file. Repeatable.",
    ),
    "grad": _option(
        list[str], (), "-g", "--grad", metavar="SEED",
        help="The seed, the argument of backward(): as a value, or over inputs: ones_like(out). "
        "Again for each further order.",
    ),
    "order": _option(
        int, 1, "--order", metavar="N", min=1, max=MOST_ORDER,
        help="The derivative of order N: the gradient of the gradient.",
    ),
    "tangent": _option(
        list[str], (), "--tangent", metavar="NAME[=VALUE]",
        help="The direction in which an input moves: a value, or over inputs: ones_like(x); a "
        "symbol without one. Repeatable.",
    ),
    "target": _option(
        list[str], (), "--target", metavar="NAME=VALUE",
        help="The gradient that an input should have; written as a value is. Repeatable.",
    ),
    "wrt": _option(
        list[str], (), "-w", "--wrt", metavar="NAME,...",
        help="The inputs to differentiate by; all of them, if left out. Repeatable.",
    ),
    "assume": _option(
        list[str], (), "--assume", metavar="NAME=WORD,...",
        help="What a matrix is: symmetric, posdef, orthogonal, diagonal. Shortens formulas.",
    ),
    "format": _option(
        Format | None, None, "-f", "--format", help="terminal, or plain in a pipe, if left out.",
    ),
    "graph_format": _option(
        GraphFormat | None, None, "-f", "--format",
        help="terminal, or plain in a pipe, if left out.",
    ),
    "library": _option(
        Target, Target.torch, "-t", "--target",
        help="Lines for a library, or a function with a backward of its own.",
    ),
    "output": _option(
        str | None, None, "-o", "--output", metavar="FILE", help="Write to a file.",
    ),
    "show": _option(
        list[str], (), "--show", metavar="SECTION,...",
        help=f"Only these: {', '.join(SECTIONS)}. Repeatable.",
    ),
    "element": _option(
        str | None, None, "--element", metavar="x[0,1]", help="The element to follow.",
    ),
    "precision": _option(
        int, 5, "-p", "--precision", metavar="N", min=PRECISIONS[0], max=PRECISIONS[1],
        help="Significant digits.",
    ),
    "width": _option(
        int | None, None, "--width", metavar="N", min=WIDTHS[0], max=WIDTHS[1],
        help="Columns; those of the terminal, if left out.",
    ),
    "full": _option(
        bool, False, "--full", help="Leave nothing out of long lists and large tables.",
    ),
    "expand": _option(
        bool, False, "--expand", help="In terms of what operators are made of, where they are.",
    ),
    "against": _option(
        list[str], (), "--against", metavar="torch,jax",
        help="Compare with PyTorch, with JAX, or with both, where they are installed. Repeatable.",
    ),
    "claim": _option(
        list[str], (), "--claim", metavar='"W = g.T @ x"',
        help="A formula that you derived: is it the gradient of W? Repeatable.",
    ),
    "ascii": _option(bool, False, "--ascii", help="Nothing but ASCII."),
    "color": _option(Color, Color.auto, "--color", help="Before NO_COLOR and FORCE_COLOR."),
    "dtype": _option(
        str, "float64", "--dtype", metavar="NAME",
        help="The precision of the numbers: float64 or float32.",
    ),
    "random_seed": _option(
        int, 0, "--random-seed", metavar="N",
        help="Where randn and rand begin, as torch.manual_seed.",
    ),
    "limit": _option(
        list[str], (), "--limit", metavar="KIND=N",
        help=f"Raise a limit: {', '.join(DEFAULTS)}.",
    ),
    "allow_files": _option(
        bool, False, "--allow-files", help="Let requests name files for values: @file.",
    ),
    "debug": _option(bool, False, "--debug", help="Show a traceback with an error."),
}  # fmt: skip

LONG_NAMES = {
    names[0]: names[1]
    for names in (option.info.param_decls for option in OPTIONS.values())
    if names and len(names) == 2
}

VALUES = ("expr", "shape", "value")
REQUEST = (*VALUES, "grad", "wrt")
LOOK = ("width", "ascii", "color")
ALWAYS = ("random_seed", "limit", "debug")


class Given(SimpleNamespace):
    """What was typed for each of OPTIONS; for one that the command does not take, its default."""

    def __getattr__(self, name: str) -> Any:
        if name not in OPTIONS:
            raise AttributeError(name)
        return OPTIONS[name].default


def takes(*names: str) -> Callable[[Callable[[Streams, Given], None]], Callable[..., None]]:
    """A command with the options `names`; it is called with the streams and what was given."""

    def decorate(command: Callable[[Streams, Given], None]) -> Callable[..., None]:
        def call(ctx: typer.Context, **given: Any) -> None:
            try:
                command(ctx.obj, Given(**given))
            except BrokenPipeError:  # typer would make it exit status 1
                raise ReaderGone from None

        parameters = [_parameter("ctx", typer.Context), *map(_option_parameter, names)]
        call.__name__, call.__doc__ = command.__name__, command.__doc__
        call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {p.name: p.annotation for p in parameters}
        return call

    return decorate


def _option_parameter(name: str) -> Parameter:
    option = OPTIONS[name]
    return _parameter(name, Annotated[option.type, option.info], option.default)


def _parameter(name: str, annotation: Any, default: Any = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
