"""What was checked, and what else there is to see, in a line each."""

from typing import TYPE_CHECKING

from ..blocks import Block, Row, Section, Table, words
from ..checks import Check, run_checks
from .gradients import Gradients

if TYPE_CHECKING:
    from ..document import Choices

NAMES = {"seed times Jacobian": "g·J equals backward"}
MARKS = {True: "✓", False: "✗", None: "–"}


def checked(found: Gradients, choices: "Choices") -> Section:
    """The checks, and the commands that show more."""
    run = run_checks(found.a)
    done = tuple(words(_said(c)) for c in run)
    random = any("random" in c.remark for c in run)
    rows = [Row((*done, words("at random values")) if random else done)]
    if choices.more:
        rows.append(Row((words("More: " + "   ".join(_more(found))),)))
    return Section("checks", (), (), (Table(tuple(rows)),))


def _said(c: Check) -> str:
    name = NAMES.get(c.name, c.name)
    error = "" if not c.max_error else f" {c.max_error:.0e}"
    return f"{MARKS[c.ok]} {name}{error}" + (f" ({c.remark})" if c.ok is None and c.remark else "")


def _more(found: Gradients) -> list[str]:
    """Options that show more of this answer."""
    p = found.problem
    more = ["--full", "--show backward,code"]
    followed = next((x for x in p.wrt if x.shape and x.node.numel > 1), None)
    if followed is not None:
        place = ",".join(str(n - 1) for n in followed.shape)
        more.append(f'--element "{followed.name}[{place}]"')
    if len(p.wrt) > 1:
        more.append(f"-w {p.wrt[-1].name}")
    return [*more, "-f markdown"]
