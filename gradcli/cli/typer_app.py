"""The commands as a typer app: help, completion, and errors in command lines."""

import os
import sys
from collections.abc import Collection, Mapping
from enum import StrEnum
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .. import __version__
from ..errors import GradcliError
from . import completion
from .options import COMPLETING, OPTIONS, Command, Option, in_full
from .streams import ReaderGone, Streams
from .usage import check_not_a_command, expression_last, is_extra, usage_error

# typer contains click or depends on it, according to its version: its classes derive from these.
UsageError: Any
ClickException: Any
UsageError, ClickException = typer.BadParameter.__mro__[1:3]
OF_THE_GROUP = {"-h", "--help", "--version", "--install-completion", "--show-completion"}


class Group(TyperGroup):
    """All commands; `gradcli EXPR` means `gradcli explain EXPR`."""

    all_names: tuple[str, ...]

    def get_help(self, ctx: Any) -> str:
        """The help of all commands, by group."""
        from .help import help_of_all, width_of_help

        return help_of_all(list(self.commands.values()), self.get_params(ctx), width_of_help(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in OF_THE_GROUP:
            if not ctx.resilient_parsing:  # when completing a line
                check_not_a_command(args, self.all_names)
            args = ["explain", *args]
        return super().parse_args(ctx, in_full(args))


class OneCommand(TyperCommand):
    """A command whose help groups its options."""

    def get_help(self, ctx: Any) -> str:
        """The description, usage and options of the command."""
        from .help import help_of

        return help_of(self, ctx)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gradcli {__version__}")
        raise typer.Exit


VERSION = typer.Option(
    "--version", callback=_version, is_eager=True, help="Show the version.", show_default=False
)


def _gradcli(version: Annotated[bool, VERSION] = False) -> None:
    """Explain gradients: what backward(gradient) computes, step by step."""


def call(arguments: list[str], streams: Streams, commands: Mapping[str, Command]) -> int:
    """Run a command line; returns its exit status. Raises GradcliError for an invalid command line,
    and KeyboardInterrupt.
    """
    try:
        return _called(arguments, streams, commands)
    except UsageError as error:
        raise usage_error(error, arguments, [*commands]) from error
    except ClickException as error:
        raise GradcliError("option", error.format_message()) from error
    except typer.Abort:
        raise KeyboardInterrupt from None


def _called(arguments: list[str], streams: Streams, commands: Mapping[str, Command]) -> int:
    """Run a command line; returns its exit status. An argument that begins with - is taken for an
    expression if there is no such option.
    """
    app = _app(arguments, commands)
    try:
        return app(args=arguments, prog_name="gradcli", standalone_mode=False, obj=streams) or 0
    except UsageError as error:
        last = expression_last(error, arguments)
        if last is None:
            raise
        try:
            return _called(last, streams, commands)
        except UsageError as other:
            raise error if is_extra(other) else other from None


def _app(arguments: list[str], commands: Mapping[str, Command]) -> typer.Typer:
    """The app with only the requested command, because building all takes as long as an answer."""
    if COMPLETING in os.environ:
        # typer would import rich for markup in help texts, which have none; halves the time of a
        # completion
        sys.modules["rich"] = None  # type: ignore[assignment]
        return app_of(commands)
    if arguments and arguments[0] in ("--install-completion", "--show-completion"):
        completion.with_own_scripts()
    if not arguments or arguments[0].startswith("--") or arguments[0] == "-h":
        return app_of(commands)
    wanted = arguments[0] if arguments[0] in commands else "explain"
    return app_of(commands, [wanted])


def app_of(commands: Mapping[str, Command], names: Collection[str] = ()) -> typer.Typer:
    """The app of the commands with these `names`, or of all, which also has completion."""
    group = type("Group", (Group,), {"all_names": tuple(commands)})
    app = typer.Typer(
        cls=group,
        add_completion=not names,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_gradcli)
    for name in names or commands:
        command = commands[name]
        app.command(name, cls=OneCommand, rich_help_panel=command.group)(_function(command))
    return app


def _function(command: Command) -> Any:
    """The function of a command, with the signature from which typer reads its options."""

    def function(ctx: typer.Context, **options: Any) -> int:
        try:
            return command(ctx.obj, options)
        except BrokenPipeError:  # typer would exit with status 1
            raise ReaderGone from None

    parameters = [_parameter("ctx", typer.Context), *map(_option_parameter, command.names)]
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {p.name: p.annotation for p in parameters}
    function.__doc__ = command.function.__doc__
    return function


def _option_parameter(name: str) -> Parameter:
    option = OPTIONS[name]
    about: dict[str, Any] = {
        "metavar": option.metavar,
        "help": option.help,
        "autocompletion": getattr(completion, option.complete, None),
    }
    least, most = option.within
    if option.names:
        info = typer.Option(*option.names, min=least, max=most, **about)
    else:
        info = typer.Argument(**about)
    default = Parameter.empty if option.required else option.default
    return _parameter(name, Annotated[_type(name, option), info], default)


def _type(name: str, option: Option) -> Any:
    """The type from which typer parses an option: an enumeration for choices."""
    kind = option.type
    if option.choices:
        words = {word.replace("-", "_"): word for word in option.choices}
        kind = StrEnum(name, words)  # type: ignore[misc, no-redef]
    return kind | None if option.default is None and not option.required else kind


def _parameter(name: str, annotation: Any, default: Any = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
