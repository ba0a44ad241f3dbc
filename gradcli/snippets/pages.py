"""The programs of a text, each read: on its own, and after what went before where it needs that."""

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from ..errors import GradcliError
from .python.machine import Outcome
from .reading import Reading, Setting, read
from .source import Program, after, programs

MOST_LINES = 20_000  # of a text, which take two to three seconds


class Read(NamedTuple):
    """A program of a text, and what reading it gave."""

    program: Program
    reading: Reading


def read_all(text: str, setting: Setting | None = None) -> list[Read]:
    """What reading each program of a text gives, in its order; with a `setting`, the usual names of
    modules need no import. The cells of a notebook are one program.

    A fragment that needs names which nothing before it defines is left out of a page that has
    whole programs too. Raises GradcliError `limit`.
    """
    if text.count("\n") > MOST_LINES:
        message = f"a text of more than {MOST_LINES:,} lines is too long to be read"
        raise GradcliError("limit", message, hint="read the part of it that goes wrong")
    result: list[Read] = []
    fragments: list[Read] = []
    for program in programs(code_of(text) or text):
        one = _read(program, [r.program for r in result], setting)
        (fragments if _lacks_a_name(one.reading) else result).append(one)
    return result or fragments


def _read(program: Program, before: Sequence[Program], setting: Setting | None) -> Read:
    alone = _alone(program, setting)
    if not _lacks_a_name(alone):
        return Read(program, alone)
    best = alone
    for setup_alone in (True, False):
        for earlier in reversed(before):
            joined = after(program, earlier, setup_alone=setup_alone)
            reading = _from(_alone(joined, setting), program.first_line)
            if reading.status == 0:
                return Read(joined, reading)
            if _lacks_a_name(best):
                best = reading
    return Read(program, best)


def _alone(program: Program, setting: Setting | None) -> Reading:
    imports = setting is not None or "import torch" not in program.source
    return read(program.source, echo=program.echo, imports=imports, setting=setting)


def _lacks_a_name(reading: Reading) -> bool:
    failure = reading.outcome.exception
    return failure is not None and failure.type == "NameError"


def _from(reading: Reading, line: int) -> Reading:
    """A reading of two programs, of which the second begins at a line: what that one does."""
    trace, outcome = reading.trace, reading.outcome
    trace.prints = [(n, text) for n, text in trace.prints if n >= line]
    trace.backwards = [b for b in trace.backwards if b.line >= line]
    own: Outcome = outcome._replace(
        stdout="".join(text for _, text in trace.prints),
        warnings=[w for w in outcome.warnings if w.line >= line],
    )
    return reading._replace(outcome=own)


MAGIC = re.compile(r"^[ \t]*[%!?]", re.MULTILINE)  # what IPython alone understands


def code_of(text: str) -> str | None:
    """The code of a notebook's cells, magic commands as comments; None for any other text."""
    if not text.lstrip().startswith("{") or '"cells"' not in text:
        return None
    try:
        cells = json.loads(text)["cells"]
        code = [c["source"] for c in cells if c["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError):
        return None
    sources = ["".join(source) for source in code]
    return "\n\n".join(MAGIC.sub("# ", source) for source in sources)
