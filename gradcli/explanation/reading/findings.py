"""What is worth saying of a program that was run: why it raises, what surprises, what cures it."""

from typing import Any, NamedTuple

from ...snippets.reading import Reading

READ_AGAIN = "read again: "  # begins the line of a cure that says what it then does


class Finding(NamedTuple):
    """One thing to know.

    `kind` is a short code; `evidence` are lines of the program with a remark on each;
    `corrected` is the whole program after the smallest change that cures it.
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
    """Lines of a program with remarks, in the order of the text."""
    lines = ["", *reading.source.split("\n")]
    known = sorted({(n, remark) for n, remark in rows if n})
    return tuple((n, lines[n].strip() if n < len(lines) else "", remark) for n, remark in known)
