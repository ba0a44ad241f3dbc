"""What reading a program gives: what it prints, where it goes back, what it raises."""

from typing import NamedTuple

from .eager import mode
from .eager.mode import MODE
from .library import python_modules
from .library.pytorch import Library
from .python.machine import Interpreter, Outcome, run_on
from .python.values import Module
from .trace import Backward, Trace


class Reading(NamedTuple):
    """A program that was read: its text, how it ended, what was seen on the way."""

    source: str
    outcome: Outcome
    trace: Trace
    echo: bool = False
    imports: bool = False

    def again(self, source: str) -> "Reading":
        """Another text, read as this one was."""
        return read(source, echo=self.echo, imports=self.imports)

    @property
    def status(self) -> int:
        """The exit status: 0 it runs, 1 PyTorch would raise, 2 gradcli cannot say."""
        if self.outcome.unsupported or self.outcome.exhausted:
            return 2
        return 1 if self.outcome.exception else 0

    @property
    def backwards(self) -> list[Backward]:
        """The ways back that came to their end: all but one that raised."""
        found, failure = self.trace.backwards, self.outcome.exception
        raised = failure is not None and found and found[-1].line == failure.line
        return found[:-1] if raised else found


def _other(path: str) -> Module | None:
    """A module that is not PyTorch's."""
    if path.partition(".")[0] == "numpy":
        from .library import numpy_arrays

        return numpy_arrays.module(path)
    return python_modules.module(path)


USUAL = {  # names that fragments use, and what is imported for them
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "np": "numpy",
    "math": "math",
}


def read(source: str, *, echo: bool = False, imports: bool = False) -> Reading:
    """Run a program on the machine, and keep what is needed to explain it. With `imports` the usual
    names of modules need no import.
    """
    mode.restart()
    m, trace = Interpreter(), Trace()
    library = Library(m)
    m.modules = lambda path: library.find(path) or _other(path)
    if imports:
        usual = {name: m.modules(path) for name, path in USUAL.items() if name in source}
        m.builtins |= usual | {"Variable": library.found("torch.autograd").lookup("Variable")}
    m.on_assign, m.on_print = trace.assigned, trace.printed
    MODE.on_backward = trace.backward  # type: ignore[attr-defined]
    MODE.place, MODE.spend = lambda: m.place, m.spend
    outcome = run_on(m, source, echo)
    trace.refused = MODE.refused
    return Reading(source, outcome, trace, echo, imports)
