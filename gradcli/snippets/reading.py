"""Runs a program, and records its prints, backward passes and errors."""

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, Protocol

from .eager import mode
from .eager.mode import MODE
from .library import python_modules
from .library.pytorch import Library
from .python.machine import Interpreter, Outcome, run_on
from .python.values import EXCEPTIONS, Module
from .trace import Backward, Trace


class Reading(NamedTuple):
    """The result of running a program: its text, its outcome, and the recorded trace."""

    source: str
    outcome: Outcome
    trace: Trace
    echo: str = ""
    imports: bool = False

    def again(self, source: str, setting: "Setting | None" = None) -> "Reading":
        """Run another text, or this one with a setting, in the same way."""
        return read(source, echo=self.echo, imports=self.imports, setting=setting)

    @property
    def status(self) -> int:
        """The exit status: 0 if the program runs, 1 if PyTorch would raise, 2 if not known."""
        if self.outcome.unsupported or self.outcome.exhausted:
            return 2
        return 1 if self.outcome.exception else 0

    @property
    def backwards(self) -> list[Backward]:
        """The backward passes that ended without raising."""
        return [b for b in self.trace.backwards if b.ended]


def _other_module(path: str) -> Module | None:
    """A module that does not belong to PyTorch; None if it is not known."""
    if path.partition(".")[0] == "numpy":
        from .library import numpy_arrays

        return numpy_arrays.module(path)
    return python_modules.module(path)


USUAL = {  # names that fragments use without importing them
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "np": "numpy",
    "math": "math",
    "autograd": "torch.autograd",
}


class Setting(Protocol):
    """Settings for running a program: additional names, a change of its syntax tree, and `start`,
    the random seed in effect until the program sets one.
    """

    start: int = 0

    def names(self) -> Mapping[str, Any]:
        """The additional names, created anew for each run."""
        return {}

    def change(self, tree: ast.Module) -> ast.Module:
        """The syntax tree to run."""
        return tree


def read(
    source: str, *, echo: str = "", imports: bool = False, setting: Setting | None = None
) -> Reading:
    """Run a program and record what an explanation needs. With `imports`, the names in USUAL, such
    as `torch` and `np`, need no import.
    """
    m, trace = machine(source, imports=imports)
    MODE.start = 0 if setting is None else setting.start
    names = {} if setting is None else setting.names()
    m.builtins |= names
    for name, value in names.items():
        trace.assigned(name, value, 0)
    with counting_operations(m):
        outcome = run_on(m, source, echo, None if setting is None else setting.change)
    trace.unseeded, trace.unsure = MODE.unseeded, MODE.unsure
    trace.near_ties = MODE.near_ties
    return Reading(source, outcome, trace, echo, imports)


class _OtherSeed(Setting):
    """The setting for a program that starts with another random seed."""

    start = 1


DRAWN = re.compile(r"\d\.\d{3}")  # a number that was most likely computed from random ones


def is_random(reading: Reading) -> bool:
    """Whether the output or the error of a program depends on a random seed that it does not set.
    If the output has no fractions, the program is run once more, with another seed.
    """
    outcome = reading.outcome
    if not reading.trace.unseeded or DRAWN.search(outcome.stdout):
        return reading.trace.unseeded
    if not outcome.stdout and not outcome.exception:
        return False
    again = reading.again(reading.source, _OtherSeed()).outcome
    errors = [e and (e.message, e.line) for e in (outcome.exception, again.exception)]
    return outcome.stdout != again.stdout or errors[0] != errors[1]


def machine(source: str, *, imports: bool = False) -> tuple[Interpreter, Trace]:
    """An interpreter for a program, and the trace that will record its run."""
    mode.restart()
    m, trace = Interpreter(), Trace()
    library = Library(m)
    m.modules = lambda path: library.find(path) or _other_module(path)
    if imports:
        usual = {name: m.modules(path) for name, path in USUAL.items() if name in source}
        m.builtins |= usual | {"Variable": library.require("torch.autograd").lookup("Variable")}
    m.on_assign, m.on_print, m.on_answer = trace.assigned, trace.printed, trace.answered
    m.on_error = lambda: setattr(trace, "refused", MODE.refused)
    MODE.on_backward = trace.backward  # type: ignore[attr-defined]
    MODE.place = lambda: m.place
    MODE.warn = partial(m.warn, EXCEPTIONS["UserWarning"])
    return m, trace


@contextmanager
def counting_operations(m: Interpreter) -> Iterator[None]:
    """Count tensor operations within a `with` block against the budget of an interpreter."""
    before, MODE.spend = MODE.spend, m.spend
    try:
        yield
    finally:
        MODE.spend = before
