"""What `gradcli read` says of a text: the programs in it, each read, with findings."""

from typing import Any, NamedTuple

from ...snippets.pages import read_all
from ...snippets.python.machine import Failure
from ...snippets.reading import Reading
from ..blocks import Document
from .changes import Finding
from .document import document
from .surprises import surprises

TRACEBACK = "Traceback (most recent call last)"


class Answer(NamedTuple):
    """One program of a text: where it begins, how it went, what was found."""

    first_line: int
    reading: Reading
    findings: list[Finding]

    @property
    def corrected(self) -> str | None:
        """The whole program after the changes that cure it."""
        result = next((f.corrected for f in self.findings if f.corrected), None)
        return result and result.strip("\n") + "\n"

    def document(self) -> Document:
        """The answer as blocks."""
        return document(self.reading, self.findings)

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


def findings(reading: Reading) -> list[Finding]:
    """What is worth saying of a program that was read."""
    result = surprises(reading)
    if reading.outcome.exception:
        from .errors import error_finding

        error = error_finding(reading)
        result = [error, *result] if error else result
    return result


def answer(text: str) -> list[Answer]:
    """The answers for the programs in a text."""
    message = _message(text)
    return [
        Answer(r.program.first_line, r.reading, [*message, *findings(r.reading)])
        for r in read_all(text)
    ]


def _message(text: str) -> list[Finding]:
    """What an error message means that the text holds, beside what its program does."""
    if TRACEBACK not in text:
        return []
    from ..messages.matching import match

    result = match(text[text.index(TRACEBACK) :])
    message = result and result.template.message
    if message is None:
        return []
    title = "The text holds an error message of PyTorch: gradcli why says more of it"
    return [Finding("message", title, message.meaning, message.cure)]
