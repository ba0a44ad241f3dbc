"""Runs all programs of a text, such as the code blocks of a page.

Each is run separately, or after an earlier program if it uses a name that only that one defines.
"""

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from ..errors import GradcliError
from .python.machine import Outcome
from .reading import Reading, Setting, read
from .source import Program, after, programs

MOST_LINES = 20_000  # of one text; these take two to three seconds
MOST_PROGRAMS = 600  # of one text; so many short programs take as long


class Read(NamedTuple):
    """A program of a text, and the result of running it."""

    program: Program
    reading: Reading


def read_all(text: str, setting: Setting | None = None) -> list[Read]:
    """Run each program of a text, in order. The cells of a notebook are one program.

    With a `setting`, or in a program that never imports torch, names such as `torch`, `nn` and `np`
    need no import. If the text has complete programs, fragments that use undefined names are
    omitted. Raises GradcliError `limit` for a text that is too long.
    """
    if text.count("\n") > MOST_LINES:
        message = f"a text of more than {MOST_LINES:,} lines is too long to be read"
        raise GradcliError("limit", message, hint="give only the part that goes wrong")
    parts = programs(code_of(text) or text)
    if len(parts) > MOST_PROGRAMS:
        message = f"a text of {len(parts):,} programs is too long: at most {MOST_PROGRAMS} are read"
        raise GradcliError("limit", message, hint="give only a part of it")
    result: list[Read] = []
    fragments: list[Read] = []
    for program in parts:
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
    """The result of the second of two programs that were run together; it starts at `line`."""
    trace, outcome = reading.trace, reading.outcome
    trace.prints = [(n, text) for n, text in trace.prints if n >= line]
    trace.backwards = [b for b in trace.backwards if b.line >= line]
    outcome_of_second: Outcome = outcome._replace(
        stdout="".join(text for _, text in trace.prints),
        warnings=[w for w in outcome.warnings if w.line >= line],
    )
    return reading._replace(outcome=outcome_of_second)


MAGIC = re.compile(r"^[ \t]*[%!?]", re.MULTILINE)  # valid in IPython only


def code_of(text: str) -> str | None:
    """The code of a notebook's cells, magic commands commented out; None for any other text."""
    if not text.lstrip().startswith("{") or '"cells"' not in text:
        return None
    try:
        cells = json.loads(text)["cells"]
        code = [c["source"] for c in cells if c["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError):
        return None
    sources = ["".join(source) for source in code]
    return "\n\n".join(MAGIC.sub("# ", source) for source in sources)
