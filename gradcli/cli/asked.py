"""Options of a command, understood, and its answer written: what commands have in common."""

import shlex
from collections.abc import Sequence
from typing import Any

from ..errors import GradcliError
from ..pasted.request import in_language
from ..render.names import DISCOURSE_WITH_MATH
from .mistakes import check_expression
from .options import PAGE, Given
from .streams import LazyInput, Streams

# options for where an answer goes, and as what: they do not change what is said
ELSEWHERE = ("-f", "--format", "-o", "--output", "--for", "--math")
NAMES = {"markdown": "Markdown", "latex": "LaTeX", "json": "JSON"}  # of formats


def read_limits(texts: list[str], files: bool = True) -> Any:
    """The limits after --limit; `files`: whether values may be read from files. Raises
    GradcliError.
    """
    from ..limits import DEFAULTS, Limits

    raised = {}
    for text in texts:
        kind, _, size = text.partition("=")
        digits = size.replace("_", "")
        if kind not in DEFAULTS or not (digits.isascii() and digits.isdigit() and len(digits) < 30):
            kinds = f"the kinds are {', '.join(DEFAULTS)}"
            said = f"--limit {text} is not KIND=N with a whole number N that is not negative"
            raise GradcliError("option", said, hint=kinds)
        raised[kind] = int(digits)
    return Limits(raised, files=files)


def _asked(
    streams: Streams, given: Given, shapes_alone: bool = False, **seed: str | None
) -> dict[str, Any]:
    """What was asked, as `pose` takes it, with `grad` where there may be a seed; `shapes_alone`: no
    array of its shapes is made.
    """
    from ..explanation.section_names import SHAPES_ALONE
    from ..language.given.assumptions import read_assumptions
    from ..language.given.options import read_names, read_shapes, read_values

    sections, limits = set(_sections(given)), read_limits(given.limit)
    shapes_alone |= bool(sections) and sections <= set(SHAPES_ALONE)
    expr = streams.expression(given.expr, limits)
    check_expression(expr, streams.command)
    asked = {
        "expr": expr,
        "shapes": read_shapes(given.shape),
        "values": read_values(given.value),
        "wrt": read_names(",".join(given.wrt)) if given.wrt else None,
        "limits": limits.for_shapes() if shapes_alone else limits,
        "assume": read_assumptions(",".join(given.assume)) if given.assume else None,
        "random_seed": given.random_seed,
        "stdin": LazyInput(streams),
        **seed,
    }
    return in_language(asked)


def analysis_of(
    streams: Streams, given: Given, suppose: bool = False, shapes_alone: bool = False
) -> Any:
    """The request of a command, understood; `suppose`: labels that nobody gave are made up."""
    from ..explanation.analysis import Analysis
    from ..language.posing import pose

    if given.dtype not in ("float64", "float32"):
        said = f"--dtype {given.dtype} is not float64 or float32"
        hint = "float32 is the shortest that is computed, and float64 what is computed without it"
        raise GradcliError("option", said, hint=hint)
    seed = given.grad[0] if given.grad else None
    problem = pose(suppose=suppose, **_asked(streams, given, shapes_alone, grad=seed))
    if given.expand:
        from ..autodiff.expansion import expanded

        problem = problem.rebuilt(expanded(problem.roots))
    seeds = len(given.grad)
    if seeds > given.order:
        said = f"--grad is given {seeds} times: there is one seed for each order"
        raise GradcliError("option", said, hint=f"to differentiate again: --order {seeds}")
    if given.claim and given.order > 1:
        raise GradcliError("option", "--claim is about the gradient: it goes with --order 1")
    return Analysis(problem, given.dtype, _listed(given.against), given.claim)


def _sections(given: Given) -> tuple[str, ...]:
    """The sections that were named."""
    return tuple(_listed(given.show))


def _listed(texts: Sequence[str]) -> list[str]:
    """The names in texts with commas, each once."""
    return list(dict.fromkeys(name.strip() for text in texts for name in text.split(",")))


def analyses(streams: Streams, given: Given, suppose: bool = False) -> list[Any]:
    """The analysis of what was asked, one for each input where the order is 2 or more."""
    first = analysis_of(streams, given, suppose and given.order == 1)
    if given.order == 1:
        return [first]
    from ..explanation.derived import each_of_order
    from ..language.given.values import Reader

    reader = Reader(first.problem.limits, given.random_seed, LazyInput(streams))  # type: ignore[arg-type]
    return each_of_order(first, given.order, given.grad[1:], reader)


def one_order(streams: Streams, given: Given, suppose: bool = False) -> Any:
    """The analysis of what was asked; of one input alone, where the order is 2 or more."""
    found = analyses(streams, given, suppose)
    if len(found) > 1:
        names = [a.problem.wrt[0].name for a in found]
        said = f"--order {given.order} is explained for one input at a time"
        raise GradcliError("option", said, hint=" or ".join(f"-w {name}" for name in names))
    return found[0]


def moving(streams: Streams, given: Given, scalar: bool = False) -> Any:
    """The request of a command whose inputs move along tangents."""
    from ..explanation.analysis import Analysis
    from ..explanation.higher.posing import pose_moving
    from ..language.given.options import read_tangents

    tangents = read_tangents(given.tangent)
    problem = pose_moving(tangents=tangents, scalar=scalar, **_asked(streams, given))
    return Analysis(problem, given.dtype, unmoved=True)


def aiming(streams: Streams, given: Given) -> tuple[Any, dict[str, Any]]:
    """The problem of a command with targets, and these as arrays."""
    from ..language.given.options import read_values
    from ..language.targets import pose_targets

    targets = read_values(given.target, "--target")
    return pose_targets(targets=targets, **_asked(streams, given))


def choices_of(streams: Streams, given: Given, analysis: Any) -> Any:
    """What is shown of an analysis, and how much."""
    from ..explanation.choices import Choices
    from ..explanation.document import check_sections
    from .element import read_element

    names = _sections(given)
    check_sections(names)
    element = read_element(given.element, analysis.problem) if given.element is not None else None
    entries = analysis.problem.limits.sizes["entries"]
    return Choices(names, element, given.full, given.precision, entries, typed(streams))


def environment_of(streams: Streams, given: Given, full: bool) -> Any:
    """Where the answer is read; `full`: nothing is left out."""
    environment = streams.environment(
        given.color, given.width, given.precision, full, given.output is not None
    )
    entries = read_limits(given.limit).sizes["entries"]
    place = _place(given)
    return environment._replace(entries=entries, page=_page(given), place=place)


def _place(given: Given) -> str:
    """Where Markdown is pasted, as far as that is said."""
    if given.math is None:
        return given.place or ""
    if given.place != "discourse":
        raise GradcliError("option", "--math dollars is for --for discourse")
    return DISCOURSE_WITH_MATH


def _page(given: Given) -> str:
    """What LaTeX is made as."""
    for name in PAGE:
        if getattr(given, name):
            if given.format != "latex":
                raise GradcliError("option", f"--{name} is for -f latex")
            return name
    return ""


def format_of(streams: Streams, given: Given) -> str:
    """What was asked for, or what suits the place where the answer goes."""
    asked = given.format or given.graph_format
    if given.place and asked not in (None, "markdown"):
        raise GradcliError("option", f"--for {given.place} is Markdown, and -f {asked} is not")
    if given.place or (given.copy and not asked):
        return "markdown"
    return asked or ("terminal" if streams.is_terminal and given.output is None else "plain")


def explained(streams: Streams, analysis: Any, given: Given) -> None:
    """Render an explanation and write it."""
    from ..explanation import replies

    emit(streams, replies.explanation(analysis, choices_of(streams, given, analysis)), given)


def emit(streams: Streams, answer: Any, given: Given) -> None:
    """Render an answer and write it."""
    from ..render.formats import render

    environment = environment_of(streams, given, given.full)
    write(streams, render(answer, format_of(streams, given), environment), given)


def typed(streams: Streams) -> str:
    """The command as it was typed, but for the format of its answer and where that goes; what came
    through a pipe in its place, where that is a line.
    """
    found, skip, piped = list[str](), False, streams.piped.strip()
    for word in streams.arguments:
        option, equals, _ = word.partition("=")
        whole = word in ELSEWHERE
        if not (skip or whole or word == "--copy" or (equals and option in ELSEWHERE)):
            found.append(piped if word == "-" and piped and "\n" not in piped else word)
        skip = whole
    return shlex.join(["gradcli", *found])


def write(streams: Streams, text: str, given: Given) -> None:
    """Write an answer, its last line ended, or copy it. Raises GradcliError where both are asked
    for.
    """
    if given.copy and given.output is not None:
        raise GradcliError("option", "--copy and --output are two places for one answer")
    text = text if text.endswith("\n") else text + "\n"
    if not given.copy:
        streams.write(text, given.output)
        return
    from .clipboard import copy

    copy(text, streams)
    format, lines = format_of(streams, given), text.count("\n")
    streams.warn(f"copied {lines:,} line{'s' * (lines != 1)} of {NAMES.get(format, 'text')}")
