"""What reading a program gives: what it prints, where it goes back, what it raises."""

from typing import NamedTuple

from .eager import mode
from .eager.mode import MODE
from .library import python_modules
from .library.pytorch import Library
from .python.machine import Interpreter, Outcome, run_on
from .python.values import Module
from .trace import Trace


class Reading(NamedTuple):
    """A program that was read: its text, how it ended, what was seen on the way."""

    source: str
    outcome: Outcome
    trace: Trace

    @property
    def status(self) -> int:
        """The exit status: 0 it runs, 1 PyTorch would raise, 2 gradcli cannot say."""
        if self.outcome.unsupported or self.outcome.exhausted:
            return 2
        return 1 if self.outcome.exception else 0


def _other(path: str) -> Module | None:
    """A module that is not PyTorch's."""
    if path.partition(".")[0] == "numpy":
        from .library import numpy_arrays

        return numpy_arrays.module(path)
    return python_modules.module(path)


def read(source: str, *, echo: bool = False) -> Reading:
    """Run a program on the machine, and keep what is needed to explain it."""
    mode.restart()
    m, trace = Interpreter(), Trace()
    library = Library(m)
    m.modules = lambda path: library.find(path) or _other(path)
    m.on_assign, m.on_print = trace.assigned, trace.printed
    MODE.on_backward = trace.backward  # type: ignore[attr-defined]
    MODE.place = lambda: m.place
    outcome = run_on(m, source, echo)
    trace.refused = MODE.refused
    return Reading(source, outcome, trace)
