"""The command line: commands, options, exit status."""

import sys
import traceback
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from ..errors import GradcliError, did_you_mean
from . import options as o
from .errors import message
from .streams import LazyInput, Streams

ANSWERED, NO, CANNOT, INTERRUPTED = 0, 1, 2, 130
# typer carries click within it, or beside it, by its version: the classes are the ancestors of its own.
UsageError, ClickException = typer.BadParameter.__mro__[1:3]


class ExplainByDefault(TyperGroup):
    """`gradcli EXPR` is `gradcli explain EXPR`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:
        own = {"--help", "--version", "--install-completion", "--show-completion"}
        if args and args[0] not in self.commands and args[0] not in own:
            args = ["explain", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=ExplainByDefault, no_args_is_help=True, add_completion=True, rich_markup_mode=None, pretty_exceptions_enable=False)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gradcli {__version__}")
        raise typer.Exit


@app.callback()
def gradcli(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.", show_default=False)] = False,
) -> None:
    """Explain gradients: what backward(gradient) computes, step by step.

    gradcli "out = a*a" -v "a=[[1,2,3],[4,5,6]]" -g a
    """


# ---- what commands have in common ----------------------------------------------------------------


def _limits(texts: list[str]) -> Any:
    from ..limits import DEFAULTS, Limits

    raised = {}
    for text in texts:
        kind, _, size = text.partition("=")
        if kind not in DEFAULTS or not size.replace("_", "").isdigit():
            raise GradcliError("option", f"--limit {text} is not KIND=N", hint=f"the kinds are {', '.join(DEFAULTS)}")
        raised[kind] = int(size)
    return Limits(raised)


def _analysis(streams: Streams, expr: str, shape, value, grad, wrt, random_seed: int, limit: list[str], dtype: str = "float64"):
    """The request of a command, understood."""
    from ..explain.analysis import Analysis
    from ..language.options import read_names, read_shapes, read_values
    from ..language.problem import pose

    if dtype not in ("float64", "float32"):
        raise GradcliError("option", f"--dtype {dtype} is not float64 or float32")
    if random_seed < 0:
        raise GradcliError("option", "--random-seed must not be below 0")
    problem = pose(
        streams.expression(expr), shapes=read_shapes(shape), values=read_values(value), grad=grad, wrt=read_names(wrt), limits=_limits(limit),
        random_seed=random_seed, stdin=LazyInput(streams),  # type: ignore[arg-type]
    )  # fmt: skip
    return Analysis(problem, dtype)


def _choices(show: str | None, element: str | None, full: bool, precision: int, analysis) -> Any:
    from ..explain.document import Choices, check_sections
    from .element import read_element

    names = tuple(n.strip() for n in show.split(",")) if show else ()
    check_sections(names)
    return Choices(names, read_element(element, analysis.problem) if element else None, full, precision)


def _emit(streams: Streams, analysis, choices, format, color, width, ascii_only, output) -> None:
    """Render an explanation and write it."""
    from ..render.formats import render

    environment = streams.environment(color.value, width, ascii_only, choices.precision, choices.full, output is not None)
    chosen = format.value if format is not None else "terminal" if streams.is_terminal and output is None else "plain"
    text = render(analysis, chosen, choices, environment)
    streams.write(text if text.endswith("\n") else text + "\n", output)


# ---- commands ------------------------------------------------------------------------------------


@app.command()
def explain(
    ctx: typer.Context, expr: o.Expression, shape: o.Shapes = [], value: o.Values = [], grad: o.Grad = None, wrt: o.Wrt = None, format: o.FormatOption = None,  # noqa: B006
    show: o.Show = None, element: o.Element = None, output: o.Output = None, precision: o.Precision = 5, width: o.Width = None,
    full: o.Full = False, ascii: o.Ascii = False, color: o.ColorOption = o.Color.auto, dtype: o.Dtype = "float64", random_seed: o.Seed = 0,
    limit: o.LimitOption = [], debug: o.Debug = False,  # noqa: B006
) -> None:  # fmt: skip
    """Explain a gradient: the answer in one line, then why."""
    streams: Streams = ctx.obj
    analysis = _analysis(streams, expr, shape, value, grad, wrt, random_seed, limit, dtype)
    choices = _choices(show, element, full, precision, analysis)
    _emit(streams, analysis, choices, format, color, width, ascii, output)


@app.command()
def grad(
    ctx: typer.Context, expr: o.Expression, shape: o.Shapes = [], value: o.Values = [], grad: o.Grad = None, wrt: o.Wrt = None, output: o.Output = None,  # noqa: B006
    dtype: o.Dtype = "float64", random_seed: o.Seed = 0, limit: o.LimitOption = [], debug: o.Debug = False,  # noqa: B006
) -> None:  # fmt: skip
    """Print the gradients alone, as JSON."""
    import json

    from ..explain.arrays import jsonable

    streams: Streams = ctx.obj
    analysis = _analysis(streams, expr, shape, value, grad, wrt, random_seed, limit, dtype)
    analysis.require_numbers()
    found = {x.name: jsonable(analysis.grad_value(x)) for x in analysis.problem.wrt}
    streams.write(json.dumps(found if len(found) > 1 else next(iter(found.values()))) + "\n", output)


@app.command()
def jacobian(
    ctx: typer.Context, expr: o.Expression, shape: o.Shapes = [], value: o.Values = [], grad: o.Grad = None, wrt: o.Wrt = None, format: o.FormatOption = None,  # noqa: B006
    output: o.Output = None, precision: o.Precision = 5, width: o.Width = None, full: o.Full = False, ascii: o.Ascii = False,
    color: o.ColorOption = o.Color.auto, random_seed: o.Seed = 0, limit: o.LimitOption = [], debug: o.Debug = False,  # noqa: B006
) -> None:  # fmt: skip
    """Print the Jacobian alone, rows and columns labelled, its structure named."""
    streams: Streams = ctx.obj
    analysis = _analysis(streams, expr, shape, value, grad, wrt, random_seed, limit)
    _emit(streams, analysis, _choices("jacobian", None, full, precision, analysis), format, color, width, ascii, output)


@app.command()
def graph(
    ctx: typer.Context, expr: o.Expression, shape: o.Shapes = [], value: o.Values = [], format: o.GraphFormatOption = None, output: o.Output = None,  # noqa: B006
    width: o.Width = None, ascii: o.Ascii = False, color: o.ColorOption = o.Color.auto, random_seed: o.Seed = 0,
    limit: o.LimitOption = [], debug: o.Debug = False,  # noqa: B006
) -> None:  # fmt: skip
    """Draw the graph: a tree, Mermaid or dot."""
    from ..render.drawing import render_graph

    streams: Streams = ctx.obj
    analysis = _analysis(streams, expr, shape, value, None, None, random_seed, limit)
    environment = streams.environment(color.value, width, ascii, 5, True, output is not None)
    chosen = format.value if format is not None else "terminal" if streams.is_terminal and output is None else "plain"
    streams.write(render_graph(analysis, chosen, environment) + "\n", output)


@app.command()
def check(
    ctx: typer.Context, expr: o.Expression, shape: o.Shapes = [], value: o.Values = [], grad: o.Grad = None, wrt: o.Wrt = None, format: o.FormatOption = None,  # noqa: B006
    output: o.Output = None, width: o.Width = None, ascii: o.Ascii = False, color: o.ColorOption = o.Color.auto, random_seed: o.Seed = 0,
    limit: o.LimitOption = [], debug: o.Debug = False,  # noqa: B006
) -> None:  # fmt: skip
    """Check a gradient: seed times Jacobian, and finite differences. Exit status 1 if anything disagrees."""
    from ..explain.sections.checks import run_checks

    streams: Streams = ctx.obj
    analysis = _analysis(streams, expr, shape, value, grad, wrt, random_seed, limit)
    _emit(streams, analysis, _choices("answer,checks,notes", None, False, 5, analysis), format, color, width, ascii, output)
    if not all(c.ok for c in run_checks(analysis)):
        raise typer.Exit(NO)


@app.command()
def batch(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON Lines, a request a line; - is standard input.")],
    output: o.Output = None, limit: o.LimitOption = [], debug: o.Debug = False,  # noqa: B006
) -> None:  # fmt: skip
    """Answer JSON Lines with JSON Lines, in their order. Exit status 1 if a line failed."""
    from .batch import answer_lines, request_lines

    streams: Streams = ctx.obj
    if not answer_lines(request_lines(file, streams), streams, output, _limits(limit)):
        raise typer.Exit(NO)


@app.command()
def ops(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="An operator, or a part of a name.", show_default=False)] = None,
    width: o.Width = None, ascii: o.Ascii = False, color: o.ColorOption = o.Color.auto, debug: o.Debug = False,
) -> None:  # fmt: skip
    """List the operators, or show one: signature, rule, caveats."""
    from ..explain.catalogue import catalogue
    from ..render.terminal import render_terminal

    streams: Streams = ctx.obj
    environment = streams.environment(color.value, width, ascii, 5, True, False)
    streams.write(render_terminal(catalogue(name), environment))


@app.command()
def examples(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="An example.", show_default=False)] = None,
    format: o.FormatOption = None, width: o.Width = None, ascii: o.Ascii = False, color: o.ColorOption = o.Color.auto, debug: o.Debug = False,
) -> None:  # fmt: skip
    """List worked examples, or explain one."""
    from ..examples import EXAMPLES, find, listing

    streams: Streams = ctx.obj
    if name is None:
        streams.write(listing())
        return
    example = EXAMPLES[find(name)]
    analysis = _analysis(streams, example.expr, example.shapes, example.values, example.grad, None, 0, [])
    if format is None or format.value != "json":
        streams.write(f"{example.question}\n\n    {example.command}\n\n")
    _emit(streams, analysis, _choices(None, None, False, 5, analysis), format, color, width, ascii, None)


COMMANDS = [command.callback.__name__ for command in app.registered_commands if command.callback]


# ---- the process ---------------------------------------------------------------------------------


def run(args: list[str] | None = None, streams: Streams | None = None) -> int:
    """Run a command line; the exit status is returned, and ends the process where this is its entry point."""
    arguments = sys.argv[1:] if args is None else args
    own = streams or Streams.of_process()
    for stream in (own.stdout, own.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _run(arguments, own)
        own.stdout.flush()
    except BrokenPipeError:
        _silence()
        status = ANSWERED
    if args is None:
        sys.exit(status)
    return status


def _run(arguments: list[str], streams: Streams) -> int:
    try:
        status = app(args=arguments, prog_name="gradcli", standalone_mode=False, obj=streams)
        return status if isinstance(status, int) else ANSWERED
    except GradcliError as error:
        return _fail(error, streams, arguments)
    except UsageError as error:
        return _fail(_usage(error, arguments), streams, arguments)
    except ClickException as error:
        return _fail(GradcliError("option", error.format_message()), streams, arguments)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except MemoryError:
        return _fail(GradcliError("limit", "there is not enough memory for this request"), streams, arguments)


def _usage(error: Any, arguments: list[str]) -> GradcliError:
    """What click found wrong, in our words."""
    text = error.format_message().rstrip(".")
    command = error.ctx.command_path if error.ctx else "gradcli"
    hint = f"{command} --help lists the options"
    if "unexpected extra argument" in text and arguments[0].isidentifier():
        near = did_you_mean(arguments[0], COMMANDS)
        return GradcliError("option", f"there is no command {arguments[0]}", hint=near or "gradcli --help lists them")
    if type(error).__name__ == "NoSuchOption" and error.option_name.lstrip("-")[:1].isalnum() and any(a.startswith("-") and len(a) > 2 for a in arguments):
        hint += '; an expression that begins with - comes after --: gradcli -- "-x * y"'
    return GradcliError("option", text[:1].lower() + text[1:], hint=hint)


def _fail(error: GradcliError, streams: Streams, arguments: list[str]) -> int:
    if "--debug" in arguments:
        streams.stderr.write("".join(traceback.format_exception(error)))
    text = message(error)
    if streams.wants_ascii:
        text = text.replace("…", "...").replace("×", "x").encode("ascii", "backslashreplace").decode()
    streams.stderr.write(text)
    return CANNOT


def _silence() -> None:
    """Nobody reads any more: whatever is still buffered must not complain at exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
