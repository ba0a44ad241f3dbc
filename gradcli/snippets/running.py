"""A program run on the machine, with the libraries that programs import."""

from .eager import mode
from .library import python_modules
from .library.pytorch import Library
from .python.machine import Interpreter, Outcome, run_on


def run(source: str, *, echo: bool = False) -> Outcome:
    """Run a program."""
    mode.restart()
    m = Interpreter()
    library = Library(m)
    m.modules = lambda path: library.find(path) or python_modules.module(path)
    return run_on(m, source, echo)
