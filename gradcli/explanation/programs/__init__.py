"""Complete programs: the same graphs in PyTorch, JAX and NumPy, each with its own test."""

from importlib import import_module

from ...errors import GradcliError, did_you_mean
from ..analysis import Analysis, reserve_writing
from ..choices import TARGETS


def program(analysis: Analysis, target: str) -> str:
    """A program for one of TARGETS, which ends without an error if its results are those of
    gradcli.

    Raises GradcliError: `option` for another target, `unsupported` for an operator that the target
    does not have.
    """
    from .any_size import written
    from .line_breaks import broken
    from .plan import Plan

    if target not in TARGETS:
        hint = did_you_mean(target, TARGETS) or f"the targets are {', '.join(TARGETS)}"
        raise GradcliError("option", f"there is no target {target}", hint=hint)
    reserve_writing(analysis.problem, "written")
    write = import_module(f".{TARGETS[target]}", __name__).program
    return broken(written(Plan(analysis), write))
