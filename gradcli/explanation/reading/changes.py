"""The difference between a program and its correction in words, and the gradients that the
corrected program computes.
"""

import difflib
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...snippets.eager.printing import tensor_text
from ...snippets.eager.tensor import Tensor
from ...snippets.eager.views import readable
from ...snippets.reading import Reading

MOST = 4  # changes that are listed
OPEN = (":", ",", "(", "[", "{")  # ends of lines after which a statement continues
WIDTH = 60  # characters of the longest gradient that is shown


def in_words(before: str, after: str) -> str:
    """The lines that differ, in words: "line 6: h = h + 1"."""
    old, new = before.rstrip("\n").split("\n"), after.rstrip("\n").split("\n")
    parts: list[str] = []
    for tag, a, b, c, d in _edits(old, new):
        lines = [line.strip() for line in new[c:d] if line.strip()]
        if tag == "replace" and b - a == d - c:
            pairs = zip(range(a, b), new[c:d])
            parts += [f"line {k + 1}:  {text.strip()}" for k, text in pairs if text != old[k]]
        elif tag == "replace":
            parts.append(f"{_lines(a, b)}:  {_on_one_line(lines)}")
        elif tag == "insert" and lines:
            place = f"after line {a}" if a else "before line 1"
            parts.append(f"{place}:  {_on_one_line(lines)}")
        elif tag == "delete":
            parts.append(f"without {_lines(a, b)}")
    if len(parts) > MOST:
        return f"{len(parts)} lines change; the whole program is below"
    return "\n".join(parts)


def _edits(old: list[str], new: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """The opcodes of difflib for `old` and `new`. Equal lines at the start and the end are skipped,
    as difflib is slow on many equal lines.
    """
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    before, after = (lines[start : len(lines) - end] for lines in (old, new))
    for tag, *at in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        a, b, c, d = (k + start for k in at)
        yield tag, a, b, c, d


def _common(old: list[str], new: list[str]) -> int:
    """The number of equal lines at the start of both."""
    return next((k for k, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))


def _on_one_line(lines: list[str]) -> str:
    """Statements joined by semicolons; by a space after the header of a block (`with f():`)."""
    return "".join(f"{t} " if t.endswith(OPEN) else f"{t}; " for t in lines).rstrip("; ")


def _lines(a: int, b: int) -> str:
    return f"line {a + 1}" if b == a + 1 else f"lines {a + 1} to {b}"


def gradients(reading: Reading) -> str:
    """A sentence on the .grad of the named leaves of a program at its end; "" if there are none."""
    parts = []
    for name, value in reading.outcome.scope.items():
        if (
            isinstance(value, Tensor)
            and readable(value)
            and value.requires_grad
            and value.is_leaf
            and value.grad is not None
        ):
            text = numbers(value.grad)
            parts.append(f"{name}.grad = {text}" if text else f"{name}.grad is set")
    return ", ".join(parts[:3])


def numbers(tensor: Tensor) -> str:
    """The elements of a small tensor; "" for a large one."""
    text = tensor_text(tensor).removeprefix("tensor(").removesuffix(")")
    return text if len(text) <= WIDTH and "\n" not in text else ""


READ_AGAIN = "read again: "  # start of the sentence on the corrected program


class Finding(NamedTuple):
    """A finding on a program.

    `kind` is a short code. `evidence` has lines of the program: (line number, text, remark).
    `corrected` is the whole program after the smallest correction, or None.
    """

    kind: str
    title: str
    why: str
    cure: str = ""
    line: int | None = None
    evidence: tuple[tuple[int, str, str], ...] = ()
    corrected: str | None = None

    def data(self) -> dict[str, Any]:
        """The keys of the JSON."""
        return {
            "kind": self.kind,
            "title": self.title,
            "line": self.line,
            "why": self.why,
            "cure": self.cure or None,
            "evidence": [
                {"line": line, "text": text, "remark": remark}
                for line, text, remark in self.evidence
            ],
        }


def evidence(reading: Reading, *rows: tuple[int | None, str]) -> tuple[tuple[int, str, str], ...]:
    """The evidence of a finding: lines of a program with remarks, in source order."""
    lines = ["", *reading.source.split("\n")]
    known = sorted({(n, remark) for n, remark in rows if n})
    return tuple((n, lines[n].strip() if n < len(lines) else "", remark) for n, remark in known)
