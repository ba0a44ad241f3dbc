"""The common parts of commands: from options to requests, and from answers to output."""

import os
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import GradcliError, unreadable
from ..language.problem import Problem
from ..limits import Limits
from ..render.names import DISCOURSE_WITH_MATH, ENDINGS, FORMATS
from .mistakes import check_expression
from .options import PAGE, Options
from .streams import LazyInput, Streams

if TYPE_CHECKING:
    from ..explanation.reading.answer import Answer
    from ..request import Request

# options for the destination and the format of an answer, which do not change its content
ELSEWHERE = ("-f", "--format", "-o", "--output", "--for", "--math")


def request_of(streams: Streams, options: Options, shapes_alone: bool = False) -> "Request":
    """The request described by a command's options. With `shapes_alone`, or if only sections in
    SHAPES_ALONE are shown, no arrays are allocated. Raises GradcliError.
    """
    from ..explanation.choices import SHAPES_ALONE
    from ..request import from_texts, listed

    limits = options.limits
    expr = streams.expression(options.expr, limits)
    check_expression(expr, streams.command)
    request = from_texts(expr, vars(options), limits, partial(LazyInput, streams))
    sections = {*listed(options.show)}
    shapes_alone |= bool(sections) and sections <= {*SHAPES_ALONE}
    return request.for_shapes() if shapes_alone else request


def choices_of(streams: Streams, options: Options, analysis: Any) -> Any:
    """The sections, precision and other choices for an analysis."""
    from ..explanation.choices import Choices
    from ..explanation.document import check_sections
    from ..request import listed

    names = tuple(listed(options.show))
    check_sections(names)
    element = (
        read_element(options.element, analysis.problem) if options.element is not None else None
    )
    entries = analysis.problem.limits.sizes["entries"]
    return Choices(names, element, options.full, options.precision, entries, command_text(streams))


def environment_of(streams: Streams, options: Options, full: bool) -> Any:
    """The environment in which the answer is shown. With `full`, nothing is omitted."""
    environment = streams.environment(
        options.color, options.width, options.precision, full, options.output is not None
    )
    return environment._replace(
        limits=options.limits, page=_page(streams, options), place=_markdown_site(options)
    )


def _markdown_site(options: Options) -> str:
    """The site that the Markdown is written for (`--for`, and `--math` for Discourse), or ""."""
    if options.math is None:
        return options.place or ""
    if options.place != "discourse":
        raise GradcliError("option", "--math dollars is for --for discourse")
    return DISCOURSE_WITH_MATH


def _page(streams: Streams, options: Options) -> str:
    """The kind of LaTeX document: "standalone", "overlay" or ""."""
    for name in PAGE:
        if getattr(options, name):
            if format_of(streams, options) != "latex":
                raise GradcliError("option", f"--{name} is for -f latex")
            return name
    return ""


def format_of(streams: Streams, options: Options) -> str:
    """The format that the options name; else the format of the output file's ending; else the
    default for a terminal, or for a file or pipe.
    """
    named = options.format or options.graph_format
    if options.place and named not in (None, "markdown"):
        raise GradcliError("option", f"--for {options.place} is Markdown, and -f {named} is not")
    if options.place or (options.copy and not named):
        return "markdown"
    named = named or ENDINGS.get(os.path.splitext(options.output or "")[1].lower())
    return named or ("terminal" if streams.is_terminal and options.output is None else "plain")


def explained(streams: Streams, analysis: Any, options: Options) -> None:
    """Render an explanation and write it."""
    from ..explanation import replies

    emit(streams, replies.explanation(analysis, choices_of(streams, options, analysis)), options)


def emit(streams: Streams, answer: Any, options: Options) -> None:
    """Render an answer and write it."""
    from ..render.formats import render

    environment = environment_of(streams, options, options.full)
    write(streams, render(answer, format_of(streams, options), environment), options)


def command_text(streams: Streams) -> str:
    """The command line as typed, without options for the format and the destination of the answer.
    Input from a pipe replaces `-`, if it is a single line.
    """
    import shlex

    result, skip, piped = list[str](), False, streams.piped.strip()
    for word in streams.arguments:
        option, equals, _ = word.partition("=")
        whole = word in ELSEWHERE
        if not (skip or whole or word == "--copy" or (equals and option in ELSEWHERE)):
            result.append(piped if word == "-" and piped and "\n" not in piped else word)
        skip = whole
    return shlex.join(["gradcli", *result])


def write(streams: Streams, text: str, options: Options) -> None:
    """Write an answer, or copy it to the clipboard. A final newline is added if it is missing.
    Raises GradcliError if both are requested.
    """
    if options.copy and options.output is not None:
        raise GradcliError(
            "option", "--copy and --output cannot be combined: an answer goes to one place"
        )
    text = text if text.endswith("\n") else text + "\n"
    format = FORMATS.get(format_of(streams, options))
    called = format.called if format else ""
    if not options.copy:
        streams.write(text, options.output, called)
        return

    copy_to_clipboard(text, streams)
    lines = text.count("\n")
    streams.warn(f"copied {lines:,} line{'s' * (lines != 1)} of {called or 'text'}")


def read_element(text: str, problem: Problem) -> tuple[str, tuple[int, ...]]:
    """The name and the index of an element such as `x[0,1]`; negative entries of the index are
    counted from the end. Raises GradcliError with code `option` or `index`.
    """
    match = re.fullmatch(r"\s*(\w+)(?:\.grad)?\s*(?:\[([-\d,\s]*)\])?\s*", text)
    names = [x.name for x in problem.wrt]
    if match is None or match[1] not in names:
        raise GradcliError(
            "option",
            f"--element {text} is not an element of an input",
            hint=f"as in --element {names[0]}[0]; there are {', '.join(names)}",
        )
    shape = problem.inputs[match[1]].shape
    try:
        place = tuple(int(k) for k in (match[2] or "").split(",") if k.strip())
    except ValueError:
        place = ()
    if len(place) != len(shape) or any(not -n <= k < n for k, n in zip(place, shape, strict=False)):
        raise GradcliError(
            "index",
            f"--element {text}: {match[1]} has shape {shape}",
            hint="a place is one integer below the size for each dimension, as in x[0,1]",
        )
    return match[1], tuple(k % n for k, n in zip(place, shape, strict=True))


REMOTE = ("SSH_TTY", "SSH_CONNECTION")  # variables set by ssh


def copy_to_clipboard(text: str, streams: Streams) -> None:
    """Copy text to the clipboard, or else ask the terminal to do so (OSC 52). Raises GradcliError
    if neither is possible.
    """
    import pyperclip

    try:
        if not any(map(streams.variables.get, REMOTE)):
            pyperclip.copy(text)
            return
    except pyperclip.PyperclipException:
        pass
    if not streams.stderr.isatty():
        raise GradcliError("option", "there is no clipboard here", hint="write to a file: -o FILE")
    import base64

    streams.stderr.write(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07")
    streams.stderr.flush()


def read_source(file: str, streams: Streams, limits: Limits) -> "list[Answer]":
    """The answers for the programs in a file, or in standard input."""
    from ..explanation.reading.answer import answer

    if file == "-":
        return answer(streams.expression(file, limits))
    try:
        with open(file, encoding="utf-8", errors="replace") as source:
            text = source.read(limits.sizes["length"] + 1)
    except OSError as error:
        raise unreadable(file, error) from None
    limits.check("length", len(text), file)
    return answer(text)
