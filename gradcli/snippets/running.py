"""A program run on the machine, with the libraries that programs import."""

from .eager import mode
from .library.pytorch import Library
from .python.machine import Interpreter, Outcome, run_on


def run(source: str, *, echo: bool = False) -> Outcome:
    """Run a program."""
    mode.restart()
    m = Interpreter()
    m.modules = Library(m).find
    return run_on(m, source, echo)
