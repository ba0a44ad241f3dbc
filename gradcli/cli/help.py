"""The help texts: commands by group, options by topic."""

import inspect
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from ..fields import FIELDS
from .streams import PIPE_WIDTH, Streams

ABOUT = "gradcli explains gradients: what backward(gradient) computes, step by step."
EXAMPLES = """\
  gradcli "x@a" --grad "[[1,2,3,4],[5,6,7,8]]"
  gradcli grad "a*a" -v "a=[1,2]" -g a
  gradcli why "grad can be implicitly created only for scalar outputs"
"""
FIRST = f"""\
{ABOUT}

{EXAMPLES}
gradcli examples lists worked examples, and gradcli --help all commands.
"""
GROUPS = ("Explain", "Derive", "Check", "For scripts", "Learn")
PANELS = {  # options by topic
    "The request": tuple(name for name in FIELDS if name != "allow_files"),
    "Who answers": ("jobs", "executor", "scheduler"),
    "The answer": (
        *("library", "format", "graph_format", "place", "math", "standalone", "overlay"),
        *("show", "element", "step", "full", "precision", "digits"),
        *("copy", "output", "resume", "width", "ascii", "color"),
    ),
}
OTHER_OPTIONS = "Besides"
WIDEST = 100  # columns that are still easy to read
LONGEST_NAME = 24  # of an option; longer names are on a separate line
COMMAND_LINES = ("gradcli ", "echo ")

Entry = tuple[str, str]


def width_of_help(ctx: Any) -> int:
    """The columns of the terminal, at most WIDEST."""
    streams = ctx.find_object(Streams)
    return min(WIDEST, streams.columns(streams.stdout) or PIPE_WIDTH) if streams else PIPE_WIDTH


def help_of_all(commands: Iterable[Any], options: Iterable[Any], width: int) -> str:
    """The help of gradcli: its usage, and a line for each command."""
    commands = list(commands)
    lines = [f"{ABOUT}\n", "Usage: gradcli EXPR [OPTIONS]", "       gradcli COMMAND [OPTIONS]\n"]
    lines += [f"Examples:\n{EXAMPLES}"]
    size = max(len(c.name) for c in commands)
    for group in GROUPS:
        entries = [(c.name, paragraphs(c)[0]) for c in commands if c.rich_help_panel == group]
        lines += [f"{group}:", *_entries(entries, size, width), ""]
    own = [_option(p) for p in options]
    lines += ["Options:", *_entries(own, max(len(name) for name, _ in own), width), ""]
    return "\n".join([*lines, "gradcli COMMAND --help shows the options of one."])


def help_of(command: Any, ctx: Any) -> str:
    """The description, the usage and the options of a command."""
    width, arguments = width_of_help(ctx), [p for p in command.params if p.opts[0][:1] != "-"]
    usage = " ".join(["gradcli", command.name, *(p.metavar for p in arguments), "[OPTIONS]"])
    lines = [f"Usage: {usage}\n", *_description(command, width)]
    shown = [("Arguments", [(p.metavar, p.help) for p in arguments]), *panels(command, ctx)]
    size = max(len(n) for _, entries in shown for n, _ in entries if len(n) <= LONGEST_NAME)
    for title, entries in shown:
        lines += [f"{title}:", *_entries(entries, size, width), ""] if entries else []
    return "\n".join(lines).rstrip("\n")


def panels(command: Any, ctx: Any) -> list[tuple[str, list[Entry]]]:
    """The options of a command, in the order of PANELS, and the rest."""
    options = {p.name: p for p in command.get_params(ctx) if p.opts[0][:1] == "-"}
    result = [
        (title, [_option(options.pop(name)) for name in names if name in options])
        for title, names in PANELS.items()
    ]
    return [*result, (OTHER_OPTIONS, [_option(p) for p in options.values()])]


def _option(parameter: Any) -> Entry:
    """The row of an option, `-s, --shape NAME=DIMS` and its sentence; long names are aligned if
    there is no short one.
    """
    names = ["-h", "--help"] if parameter.name == "help" else parameter.opts
    short = "" if names[0][:2] != "--" else "    "
    taken = "" if getattr(parameter, "is_flag", False) else f" {parameter.metavar}"
    return short + ", ".join(names) + taken, parameter.help or ""


def paragraphs(command: Any) -> list[str]:
    """The paragraphs of a command's docstring; the first one is its summary."""
    return inspect.cleandoc(command.help or "").split("\n\n")


def _description(command: Any, width: int) -> list[str]:
    """The docstring of a command, wrapped, except for example commands in it."""
    lines: list[str] = []
    for paragraph in paragraphs(command):
        if paragraph.startswith(COMMAND_LINES):
            lines += [*(f"  {line}" for line in paragraph.split("\n")), ""]
        else:
            lines += [*_wrapped(" ".join(paragraph.split()), width, ""), ""]
    return lines


def _entries(entries: Sequence[Entry], size: int, width: int) -> list[str]:
    """Names with sentences in a second column."""
    lines: list[str] = []
    for name, text in entries:
        beside = _wrapped(text, width, " " * (size + 4))
        if len(name) > size:
            lines.append(f"  {name}")
        else:
            beside[0] = f"  {name.ljust(size)}  {beside[0].lstrip()}"
        lines += beside
    return lines


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    """Lines wrapped between words."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [indent]
