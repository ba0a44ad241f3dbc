"""The answer of `gradcli read`: the programs in a text, their backward passes, and findings on
them.
"""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any, NamedTuple

from ...lazy import np
from ...limits import Limits
from ...notation.tree import Token
from ...snippets.pages import read_all
from ...snippets.python.machine import Failure, Refusal
from ...snippets.reading import Reading, is_random
from ...snippets.trace import Backward
from ..blocks import (
    Block,
    Code,
    Document,
    Line,
    Note,
    Prose,
    Row,
    Section,
    Table,
    Tensor,
    plain,
    words,
)
from ..phrases import is_constant, shape_text
from .changes import READ_AGAIN, Finding
from .steps import Explained, Gradient, explained
from .surprises import surprises

TRACEBACK = "Traceback (most recent call last)"
INSTEAD = {  # part of the name of an unsupported feature -> a sentence on a replacement
    "torch.jit": "The code computes the same numbers without it, unless a trace has fixed a "
    "branch.",
    "sparse": "A dense tensor has the same numbers and gradients.",
    "complex": "The real and the imaginary parts can be two tensors.",
    "subclass of torch.Tensor": "A function, or a module, of plain tensors can do the same.",
    "orthogonal": "torch.matrix_exp(a - a.T) is orthogonal, and differentiable with respect to a.",
}


class Answer(NamedTuple):
    """The answer for one program of a text. `first_line` is its first line in the text.

    The programs of a text share one `limits`, and so one time budget.
    """

    first_line: int
    reading: Reading
    findings: list[Finding]
    limits: Limits

    @property
    def corrected(self) -> str | None:
        """The whole corrected program; None if there is no correction."""
        result = next((f.corrected for f in self.findings if f.corrected), None)
        return result and result.strip("\n") + "\n"

    def document(self) -> Document:
        """The answer as blocks."""
        return document(self.reading, self.findings, self.limits)

    def data(self) -> dict[str, Any]:
        """The keys of the JSON."""
        outcome = self.reading.outcome
        failure, refusal = outcome.exception, outcome.unsupported or outcome.exhausted
        data: dict[str, Any] = {
            "stdout": outcome.stdout,
            "error": failure and _error(failure),
            "warnings": [w._asdict() for w in outcome.warnings],
            "backward": [step.data() for step in self.reading.backwards],
            "findings": [f.data() for f in self.findings],
            "corrected": self.corrected,
        }
        if outcome.later:
            data["later_errors"] = [_error(f) for f in outcome.later]
        if refusal is not None:
            data["unsupported"] = {"what": refusal.what, "line": refusal.line}
        return data


def _error(failure: Failure) -> dict[str, Any]:
    return {"type": failure.type, "message": failure.message, "line": failure.line}


def data(answers: list[Answer]) -> dict[str, Any]:
    """The JSON of a text: one program, or a page with several."""
    if len(answers) == 1:
        return answers[0].data()
    return {"programs": [{"first_line": a.first_line} | a.data() for a in answers]}


def findings(reading: Reading, limits: Limits | None = None) -> list[Finding]:
    """The findings on a program that was run. Searches end when the budget of `limits` is spent."""
    result = surprises(reading, limits)
    if reading.outcome.exception:
        from .errors import error_finding

        error = error_finding(reading)
        result = [error, *result] if error else result
    return result


def answer(text: str) -> list[Answer]:
    """The answers for all programs in a text."""
    message, limits = _message(text), Limits()
    return [
        Answer(r.program.first_line, r.reading, [*message, *findings(r.reading, limits)], limits)
        for r in read_all(text)
    ]


def _message(text: str) -> list[Finding]:
    """The finding on an error message that the text contains besides programs."""
    if TRACEBACK not in text:
        return []
    from ..messages.matching import match

    result = match(text[text.index(TRACEBACK) :])
    message = result and result.template.message
    if message is None:
        return []
    title = "The text contains an error message of PyTorch: gradcli why explains it further"
    return [Finding("message", title, message.meaning, message.cure)]


# ---- the document --------------------------------------------------------------------------------
# The verdict, the program with its prints, each backward pass, and the findings.


MOST_BACKWARDS = 3  # backward passes that are explained; the others are counted
UNSEEDED = (
    "The program sets no random seed: the output above is that of seed 0, and differs from "
    "run to run."
)
WIDE = 70  # characters of a line of a message
MOST_ERRORS = 3  # further errors of a session that are listed
MOST_PRINTED = 8  # printed lines that are shown after a line of the program


def document(reading: Reading, findings: list[Finding], limits: Limits) -> Document:
    """The answer: the verdict, the program with its prints, backward passes, and findings."""
    sections = [_verdict(reading), *_program(reading), *_backwards(reading, limits)]
    sections += [s for finding in findings for s in _finding(finding)]
    return Document((), tuple(sections))


def _verdict(reading: Reading) -> Section:
    outcome = reading.outcome
    failure, refusal = outcome.exception, outcome.unsupported or outcome.exhausted
    if refusal is not None:
        title = f"Cannot say what happens from line {refusal.line} on"
        cure = _instead(refusal.what) if isinstance(refusal, Refusal) else ""
        lines = [f"{refusal.reason}.", cure, "The part before it is explained below."]
        text = " ".join(filter(None, lines))
        return Section("verdict", words(title), (), (Prose(words(text)),))
    if failure is not None:
        title = f"Raises at line {failure.line}: {failure.type}"
        goes_on = [Prose(words(_goes_on(outcome.later)))] if outcome.later else []
        blocks = (Prose(words(failure.message)), *goes_on)
        return Section("verdict", words(title), (), blocks)
    count = len(reading.backwards)
    passes = {0: "", 1: ", with one backward pass"}.get(count, f", with {count} backward passes")
    return Section(
        "verdict", words(f"Runs to its end{passes}."), (), (Prose(words(_warned(reading))),)
    )


def _instead(what: str) -> str:
    """A sentence on a replacement for an unsupported feature `what`; "" if there is none."""
    return next((text for part, text in INSTEAD.items() if part in what), "")


def _goes_on(later: Sequence[Failure]) -> str:
    """A sentence on the errors of a session after the first one."""
    raised = [f"line {f.line} raises {f.type}" for f in later[:MOST_ERRORS]]
    more = f", and {len(later) - MOST_ERRORS} more" if len(later) > MOST_ERRORS else ""
    return f"The session goes on after it: {', '.join(raised)}{more}."


def _warned(reading: Reading) -> str:
    warnings = reading.outcome.warnings
    if not warnings:
        return "PyTorch would raise no error and no warning."
    first = warnings[0]
    more = f" ({len(warnings) - 1} more)" if len(warnings) > 1 else ""
    return f"PyTorch warns at line {first.line}: {first.message}{more}"


def _printed_rows(output: str) -> list[str]:
    """The output of a statement as comment lines, at most MOST_PRINTED."""
    rows = output.split("\n") if output else []
    shown = [f"     #> {row}" for row in rows[:MOST_PRINTED]]
    if len(rows) > MOST_PRINTED:
        shown.append(f"     #> ... {len(rows) - MOST_PRINTED} more lines")
    return shown


def _program(reading: Reading) -> list[Section]:
    """The lines of the program, each followed by its output."""
    printed: dict[int, list[str]] = {}
    for line, text in [*reading.trace.prints, *reading.trace.answers]:
        printed.setdefault(line, []).append(text)
    first = reading.outcome.exception
    raised = {f.line: f"{f.type}: {f.message}" for f in reading.outcome.later}
    if first is not None:  # the message of the first error is shown above
        raised[first.line] = first.type
    lines: list[str] = []
    source = reading.source.rstrip().split("\n")
    start = next((n for n, text in enumerate(source) if text.strip()), 0)
    for number, text in enumerate(source[start:], start + 1):
        if not any(map(str.strip, source[max(number - 3, start) : number])):
            continue  # shows at most two blank lines in a row
        lines.append(f"{number:>3}  {text}".rstrip())
        lines += _printed_rows("".join(printed.get(number, ())).rstrip("\n"))
        if number in raised:
            rows = [r for row in raised[number].split("\n") for r in wrap(row, WIDE) or [""]]
            lines += [f"     #> {row}" for row in rows[:MOST_PRINTED]]
    blocks: list[Block] = [Code("\n".join(lines), "python")]
    unseeded = is_random(reading)
    if unseeded:
        blocks.append(Prose(words(UNSEEDED)))
    remark = words("with the random numbers of seed 0") if unseeded else ()
    return [Section("program", words("Program"), remark, tuple(blocks))]


def _backwards(reading: Reading, limits: Limits) -> list[Section]:
    """A section for each line that runs a backward pass, on the first of these passes."""
    first: dict[int, Backward] = {}
    times: dict[int, int] = {}
    for back in reading.backwards:
        first.setdefault(back.line, back)
        times[back.line] = times.get(back.line, 0) + 1
    lines = reading.source.split("\n")
    reached = {leaf for back in reading.backwards for leaf in back.leaves}
    sections = []
    for line, back in list(first.items())[:MOST_BACKWARDS]:
        text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        remark = words(f"runs {times[line]} times; this is the first") if times[line] > 1 else ()
        title = words(f"Line {line}: {text}")
        blocks = _explained(explained(back, reached, limits), reading.trace.unseeded)
        sections.append(Section("backward", title, remark, blocks))
    left = len(first) - MOST_BACKWARDS
    if left > 0:
        lines_run = "line runs" if left == 1 else "lines run"
        note = Prose(words(f"{left} more {lines_run} backward."))
        sections.append(Section("backward", words("More"), (), (note,)))
    return sections


def _explained(e: Explained, unseeded: bool) -> tuple[Block, ...]:
    """The blocks on a backward pass. `unseeded`: gradients that depend on random numbers without a
    seed are shown as shapes.
    """
    rows = [Row((_written(e, x), _numbers(x, unseeded and bool(e.program)))) for x in e.gradients]
    blocks: list[Block] = []
    if e.program:
        blocks.append(Code(e.program, "python"))
    blocks.append(Prose(words(e.seed)))
    if e.derived:
        blocks.append(Table(tuple(Row((_equation(text),)) for text in e.derived)))
    if rows:
        blocks.append(Table(tuple(rows)))
    blocks += [Prose(words(line)) for line in e.remarks]
    return tuple(blocks)


def _written(e: Explained, x: Gradient) -> Line:
    """`x.grad = formula` for a gradient; only the name if no gradient has a formula."""
    name = f"{x.name}.grad{x.place}"
    elsewhere = (Token(", and 0 elsewhere", "word"),) if x.place else ()
    return plain(name, " = ", x.formula or "(no formula)", *elsewhere) if e.program else plain(name)


def _equation(text: str) -> Line:
    name, _, formula = text.partition(" = ")
    return plain(name, " = ", formula)


def _numbers(x: Gradient, unseeded: bool) -> Line | Tensor:
    value = np.asarray(x.value)
    if unseeded and x.formula and not is_constant(value):  # ones do not depend on random numbers
        return plain(shape_text(value.shape))
    return Tensor(x.value, "answer")


def _finding(finding: Finding) -> list[Section]:
    blocks: list[Block] = []
    if finding.evidence:
        rows = [
            Row((plain(f"{line:>3}  {text}"), plain(Token(remark, "word"))))
            for line, text, remark in finding.evidence
        ]
        blocks.append(Table(tuple(rows)))
    if finding.why:
        blocks.append(Note("why", words(finding.why)))
    label = "cure"
    for line in finding.cure.split("\n"):
        again = line.startswith(READ_AGAIN)
        label = READ_AGAIN.strip(": ") if again else label
        blocks += [Note(label, words(line.removeprefix(READ_AGAIN)))] if line else []
        label = "note"
    if finding.corrected:
        blocks.append(Code(finding.corrected.strip("\n"), "python"))
    return [Section("finding", words(finding.title), (), tuple(blocks))]
