"""The command line: commands, options, exit status."""

import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

from ..errors import GradcliError
from ..fields import QUESTIONS, SEEDED
from ..limits import NO_MEMORY, TOO_DEEP
from .mistakes import plainer
from .options import (
    ALWAYS,
    ANSWER,
    COMPLETING,
    LOOK,
    PAGE,
    SHOWN,
    WORKERS,
    Command,
    Options,
    color_of,
    is_json,
    read_limits,
)
from .requests import (
    choices_of,
    command_text,
    emit,
    environment_of,
    explained,
    format_of,
    request_of,
    write,
)
from .streams import Closed, ReaderGone, Streams
from .well_formed import read as read_well_formed

ANSWERED, NO, CANNOT, INTERRUPTED = 0, 1, 2, 130
ALONE = (*ANSWER, *PAGE, "precision", "full", *LOOK, *ALWAYS)  # for a single result
LEAST_QUESTION = 24  # columns of a question in the list of examples
COMMANDS: dict[str, Command] = {}
Function = Callable[[Streams, Options], int | None]


def command(group: str, *names: str, name: str = "") -> Callable[[Function], Function]:
    """Register a function as a command in one of the GROUPS of the help, with these OPTIONS."""

    def registered(function: Function) -> Function:
        COMMANDS[name or function.__name__] = Command(group, names, function)
        return function

    return registered


# ---- commands ------------------------------------------------------------------------------------


@command("Explain", *QUESTIONS["explain"], "claim", *ANSWER, *PAGE, *SHOWN, *LOOK, *ALWAYS)
def explain(streams: Streams, options: Options) -> None:
    """Explain a gradient on one screen, or in full.

    gradcli "x@a" --grad "[[1,2,3,4],[5,6,7,8]]"
    gradcli "a*a" -v "a=[1,2]" -g a --full
    """
    result = request_of(streams, options).one(suppose=True)
    if options.step:
        from .stepping import step_through

        step_through(streams, result, environment_of(streams, options, options.full))
        return
    explained(streams, result, options)


@command("For scripts", *QUESTIONS["grad"], "output", "digits", *ALWAYS)
def grad(streams: Streams, options: Options) -> None:
    """Print the gradients alone, as JSON.

    On standard error stands what PyTorch lacks or refuses.

    gradcli grad "a*a" -v "a=[1,2]" -g a
    """
    from ..explanation.arrays import rounded
    from ..explanation.in_pytorch.not_differentiated import not_differentiated
    from ..explanation.in_pytorch.numbers_for_tensors import refused_calls
    from ..render.json import render_json

    result: dict[str, Any] = {}
    notes: dict[str, None] = {}
    for analysis in request_of(streams, options).analyses():
        analysis.require_numbers()
        limits = analysis.problem.limits
        written = sum(x.node.numel for x in analysis.problem.wrt)
        limits.check("numbers", written, "the gradients")
        values = analysis.grad_values().items()
        result |= {name: rounded(value, options.digits) for name, value in values}
        notes |= dict.fromkeys(text for _, text in not_differentiated(analysis))
        notes |= dict.fromkeys(text for _, text in refused_calls(analysis.problem))
        notes |= dict.fromkeys(text for _, text in analysis.problem.notes)
    answer = result if len(result) > 1 else next(iter(result.values()))
    streams.write(render_json(answer, limits) + "\n", options.output)
    for text in notes:
        streams.warn(f"note: {text}")


@command("Derive", *QUESTIONS["jacobian"], "grad", *ALONE)
def jacobian(streams: Streams, options: Options) -> None:
    """Print the Jacobian alone, its structure named.

    On standard error stand the shapes that were inferred, and what PyTorch has no derivative of.

    gradcli jacobian "softmax(x, dim=0)" -s x=3
    """
    from ..explanation.formulas.assumed_shapes import inferred_shapes
    from ..explanation.in_pytorch.not_differentiated import not_differentiated

    options.show = ["jacobian"]
    analysis = request_of(streams, options).analysis()
    explained(streams, analysis, options)
    for _, text in not_differentiated(analysis):
        streams.warn(f"note: {text}")
    if (shapes := inferred_shapes(analysis.problem)) is not None:
        streams.warn(shapes)


@command("Derive", *QUESTIONS["hessian"], *ALONE)
def hessian(streams: Streams, options: Options) -> None:
    """Print the Hessian of a single number.

    With --tangent it is the Hessian times tangents. On standard error stand the shapes that were
    inferred.

    gradcli hessian "(x**2).sum()" -s x=3
    """
    from ..explanation import replies
    from ..explanation.formulas.assumed_shapes import inferred_shapes
    from ..explanation.higher.hessian import Hessian

    result = Hessian(request_of(streams, options).with_tangents(scalar=True))
    emit(streams, replies.hessian(result, choices_of(streams, options, result.a)), options)
    if (shapes := inferred_shapes(result.a.problem)) is not None:
        streams.warn(shapes)


@command("Derive", *QUESTIONS["jvp"], *ALONE)
def jvp(streams: Streams, options: Options) -> None:
    """Print how the output moves as inputs move along tangents.

    That is a Jacobian-vector product, what forward mode computes.

    gradcli jvp "x*y" -v x=2 -v y=3 --tangent x=1
    """
    from ..explanation import replies
    from ..explanation.higher.jvp import Jvp

    result = Jvp(request_of(streams, options).with_tangents())
    emit(streams, replies.jvp(result, choices_of(streams, options, result.a)), options)


@command("Derive", *QUESTIONS["formula"], *ANSWER, "standalone", *LOOK, *ALWAYS)
def formula(streams: Streams, options: Options) -> None:
    """Print the closed forms of the gradients: a line each, or a derivation.

    They hold for any sizes, and are valid here and in Python. g is the seed; a scalar output has
    none. Shapes that had to be assumed are told on standard error. So is, beside lines and JSON, a
    formula that does not hold for any sizes, or is too long to be read, and an input that no
    gradient flows to; pages have these as notes.

    gradcli formula "softmax(x @ W, dim=1)"
    """
    from ..explanation import replies
    from ..explanation.closed_forms import notes_on_lines
    from ..explanation.data import Data
    from ..explanation.formulas.assumed_shapes import assumed_shapes
    from ..render.formats import render_formulas

    data = Data(request_of(streams, options, shapes_alone=True).analysis(suppose=True))
    environment = environment_of(streams, options, full=True)
    answer = replies.formulas(data, command_text(streams))
    format = format_of(streams, options)
    write(streams, render_formulas(answer, format, environment), options)
    for _, remark in notes_on_lines(data) if format in ("plain", "terminal", "json") else ():
        streams.warn(f"note: {remark}")
    assumed = assumed_shapes(data.w)
    if assumed is not None:
        streams.warn(assumed)


@command("Explain", *QUESTIONS["graph"], "grad", "graph_format", *ANSWER[1:], *LOOK, *ALWAYS)
def graph(streams: Streams, options: Options) -> None:
    """Draw the graph as a tree, Mermaid, dot, or a picture.

    A picture (-f svg) has the values and the gradients at its edges, where there are numbers.

    gradcli graph "relu(x @ W + b).sum()" -f mermaid
    """
    from ..explanation import replies
    from ..render.formats import render_graph

    drawn = format_of(streams, options) == "svg" and bool(options.values)  # pictures show values
    analysis = request_of(streams, options, shapes_alone=not drawn).analysis()
    answer = replies.graph(analysis, command_text(streams))
    environment = environment_of(streams, options, full=True)
    write(streams, render_graph(answer, format_of(streams, options), environment), options)


@command("For scripts", *QUESTIONS["code"], "library", "output", "color", *ALWAYS)
def code(streams: Streams, options: Options) -> None:
    """Write a program that computes the gradient and asserts it.

    It runs as it stands.

    gradcli code "x@a" -s x=2x3,a=3x4 --target jax
    """
    from ..explanation.notes import out_of_time
    from ..explanation.programs import program
    from ..render.formats import render_program

    analysis = request_of(streams, options).analysis(suppose=True)
    text = program(analysis, options.library)
    streams.write(render_program(text, environment_of(streams, options, full=True)), options.output)
    for _, remark in out_of_time(analysis.problem):
        streams.warn(f"note: {remark}")


@command("Check", *QUESTIONS["check"], "order", *ANSWER, *PAGE, *LOOK, *ALWAYS)
def check(streams: Streams, options: Options) -> int:
    """Check a gradient, or a formula that you derived by hand.

    A gradient is checked against seed times Jacobian, finite differences, and with --against
    against PyTorch and JAX themselves. Exit status 1 if anything disagrees.

    gradcli check "x@a" --claim "x = g @ a.T"
    gradcli check "tanh(x)" -v "x=[1.,2.]" -g "[1,1]" --against torch
    """
    from ..explanation.checks import run_checks
    from ..explanation.formulas.assumed_shapes import assumed_shapes
    from ..explanation.formulas.formula_writer import writer_of

    options.show = ["claims,checks" if options.claim else "answer,checks,notes"]
    analysis = request_of(streams, options).one(suppose=bool(options.claim))
    # before the page, which may use up the budget
    outcomes: list[bool | None] = _right(analysis) if options.claim else []
    explained(streams, analysis, options)
    assumed = None if options.claim else assumed_shapes(writer_of(analysis))
    if assumed is not None:
        streams.warn(assumed)
    outcomes += [check.ok for check in run_checks(analysis)]
    return NO if False in outcomes else ANSWERED


def _right(analysis: Any) -> list[bool | None]:
    """For each claim, whether it is right."""
    from ..explanation.claims.verdict import verdicts

    return [verdict.ok for verdict in verdicts(analysis)]


@command("Derive", *QUESTIONS["seed_for"], *ALONE, name="seed-for")
def seed_for(streams: Streams, options: Options) -> int:
    """Find the seed that gives a gradient, or why none does.

    Of all seeds that do, the one of least norm, and what else would do; or why there is none, with
    exit status 1.

    gradcli seed-for "a*a" -v "a=[1.,2.]" --target "a=[2,8]"
    """
    from ..explanation import replies
    from ..explanation.seeds.seed_for import SeedFor

    result = SeedFor(*request_of(streams, options).with_targets())
    emit(streams, replies.seed_for(result, choices_of(streams, options, result.a)), options)
    return ANSWERED if result.possible else NO


@command("For scripts", "file", "output", "resume", *WORKERS, "allow_files", "limit", "debug")
def batch(streams: Streams, options: Options) -> int:
    """Answer JSON Lines with JSON Lines, in their order.

    Exit status 1 if a line failed. With --jobs several lines are worked on at once.

    echo '{"expr": "a*a", "values": {"a": [1, 2]}, "grad": "a"}' | gradcli batch -
    """
    from .batch import Requests, answer_lines

    limits = read_limits(options.limit, files=options.allow_files)
    requests = Requests(options.file, streams, limits)
    return ANSWERED if answer_lines(requests, streams, options, limits) else NO


@command("For scripts", "answer", *ANSWER, *PAGE, *LOOK, "debug")
def render(streams: Streams, options: Options) -> None:
    """Render an answer that was printed as JSON, in any format.

    Nothing is computed again. Digits, and whether all is shown, are those of the answer.

    gradcli render answer.json -f markdown
    """
    from .rendering import render_file

    render_file(streams, options)


@command("Learn", "port", "open", "debug")
def serve(streams: Streams, options: Options) -> None:
    """Serve a page on this machine: type a question, see its answer.

    Its address has a secret, and nobody elsewhere reaches it. Ctrl+C ends it.

    gradcli serve --open
    """
    from .serving import serve_page

    serve_page(streams, options.port, options.open)


@command("For scripts", "limit", "debug")
def mcp(streams: Streams, options: Options) -> None:
    """Serve assistants: the Model Context Protocol on standard streams.

    An assistant starts it and calls its tools, which explain, derive and check gradients, and read
    programs. They open no files and run nothing. docs/assistants.md says how to add it.
    """
    from .assistants import Server

    Server(read_limits(options.limit, files=False)).serve(streams)


@command("Explain", "source", *ANSWER, *PAGE, "precision", "full", *LOOK, "limit", "debug")
def read(streams: Streams, options: Options) -> int:
    """Read a pasted program: what it prints, its gradients and errors.

    Each backward is explained, and the error that it raises, with its cure. Nothing is executed.
    Exit status 1 if it raises.

    gradcli read train.py
    """
    from ..explanation import replies
    from .requests import read_source

    answers = read_source(options.source, streams, options.limits)
    emit(streams, replies.programs(answers, command_text(streams)), options)
    return max((a.reading.status for a in answers), default=ANSWERED)


@command("Explain", "question", *SEEDED[1:], *ANSWER, *PAGE, "full", *LOOK, "dtype", *ALWAYS)
def why(streams: Streams, options: Options) -> None:
    """Explain an error message, or a gradient that is nan, inf or zero.

    A message of PyTorch is pasted as it is; without one, those that are known are listed.

    gradcli why "grad can be implicitly created only for scalar outputs"
    gradcli why "sqrt(x)" -v "x=[0.,4.]" -g "[1,1]"
    """
    from ..explanation import replies
    from .why import why_of

    if options.question is None:
        emit(streams, replies.messages(options.full, command_text(streams)), options)
        return
    options.expr = streams.expression(options.question, options.limits)
    emit(streams, why_of(streams, options), options)


@command("Learn", "operator", *ANSWER, *PAGE, "full", *LOOK, "debug")
def ops(streams: Streams, options: Options) -> None:
    """List the operators, or show one: signature, rule, caveats.

    gradcli ops softmax
    gradcli ops losses
    gradcli ops hinge
    """
    from ..explanation import replies

    emit(streams, replies.operators(options.operator, options.full, command_text(streams)), options)


@command("Learn", "example", *ANSWER, *PAGE, *LOOK, "debug")
def examples(streams: Streams, options: Options) -> None:
    """List worked examples, or explain one.

    gradcli examples broadcast
    """
    from ..render.errors import wrapped
    from ..worked_examples import EXAMPLES, find

    width = environment_of(streams, options, full=True).width
    if options.example is None:
        streams.write(_examples(width), options.output)
        return
    example = EXAMPLES[find(options.example)]
    options.expr, options.grad = example.expr, [] if example.grad is None else [example.grad]
    options.shapes, options.values = example.shapes, example.values
    if not (options.format or options.place or options.copy or options.output):
        streams.write(f"{wrapped(example.question, width, '')}\n\n    {example.command}\n\n")
    explained(streams, request_of(streams, options).analysis(), options)


def _examples(width: int) -> str:
    """The examples: each question, and below it its command, in lines of `width` columns."""
    from textwrap import indent, wrap

    from ..render.wrapping import shell_lines
    from ..worked_examples import EXAMPLES

    column = max(map(len, EXAMPLES)) + 2
    lines: list[str] = []
    for name, e in EXAMPLES.items():
        room = max(width - column, LEAST_QUESTION)
        first, *rest = wrap(e.question, room, break_long_words=False)
        lines += [name.ljust(column) + first, *(" " * column + line for line in rest)]
        lines.append(indent(shell_lines(e.command, width - 2), "  "))
    return "\n".join(lines) + "\n"


# ---- the process ---------------------------------------------------------------------------------


def run(args: list[str] | None = None, streams: Streams | None = None) -> int:
    """Run a command line, by default that of the process; returns the exit status."""
    arguments = _for_help(sys.argv[1:] if args is None else args)
    if args is None:
        warnings.simplefilter("ignore")  # from libraries, about numbers
    own = streams or Streams.of_process()
    own.arguments, own.ascii = arguments, "--ascii" in arguments
    own.command = " ".join(["gradcli", *(a for a in arguments[:1] if a in COMMANDS)])
    for stream in (own.stdout, own.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        with own.writing(None):
            status = _run(arguments, own)
            own.stdout.flush()
    except GradcliError as error:
        status = _fail(error, own, arguments)
    except (BrokenPipeError, ReaderGone):
        own.silence()
        status = ANSWERED
    return status


def _for_help(arguments: list[str]) -> list[str]:
    """The arguments, with `gradcli help grad` replaced by `gradcli grad --help`."""
    if arguments[:1] == ["help"] and set(arguments[1:]) <= set(COMMANDS):
        return [*arguments[1:2], "--help"]
    return arguments


def _run(arguments: list[str], streams: Streams) -> int:
    try:
        if not arguments and COMPLETING not in os.environ:
            from .help import FIRST

            streams.write(FIRST)
            return ANSWERED
        return _answered(arguments, streams)
    except GradcliError as error:
        return _fail(error, streams, arguments)
    except (KeyboardInterrupt, EOFError):
        return INTERRUPTED
    except MemoryError:
        return _fail(GradcliError("limit", NO_MEMORY), streams, arguments)
    except RecursionError:
        return _fail(GradcliError("limit", TOO_DEEP), streams, arguments)


def _answered(arguments: list[str], streams: Streams) -> int:
    """The exit status of a command; an error message in place of an expression goes to `why`."""
    try:
        return _run_command(arguments, streams)
    except GradcliError as error:
        why_arguments = _why_instead(error, arguments)
        if why_arguments is None:
            raise plainer(error, streams.command) from None
        return _run_command(why_arguments, streams)


def _why_instead(error: GradcliError, arguments: list[str]) -> list[str] | None:
    """The arguments for `why`, if an error message was typed as the expression; or None."""
    rest = arguments[arguments[0] == "explain" :]
    if error.code not in ("syntax", "option") or error.span is None or not rest:
        return None
    if rest[0] in COMMANDS:
        return None
    from ..explanation.messages.matching import match

    text = error.span.text if rest[0] == "-" else rest[0]
    return ["why", *rest[1:], "--", text] if match(text) else None


def _run_command(arguments: list[str], streams: Streams) -> int:
    """The exit status of a command."""
    plain = None if COMPLETING in os.environ else read_well_formed(arguments, COMMANDS)
    if plain is None:
        from .typer_app import call

        return call(arguments, streams, COMMANDS)
    command, values = plain
    return command(streams, values)


def _fail(error: GradcliError, streams: Streams, arguments: list[str]) -> int:
    if "--debug" in arguments:
        import traceback

        streams.warn("".join(traceback.format_exception(error)).removesuffix("\n"))
    from ..render.errors import as_json

    if is_json(arguments) and not isinstance(streams.stdout, Closed):
        streams.write(as_json(error))
    else:
        streams.fail(error, color_of(arguments))
    return CANNOT
