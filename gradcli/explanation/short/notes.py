"""What one should know: first what overturns the answer, at the end what else there is."""

from ..analysis import Analysis
from ..formulas.wording import Wording
from ..in_pytorch.not_in_pytorch import CODE
from ..notes import about_the_problem, ended, formulas
from .gradients import Gradients

OVERTURNING = ("integer-values", CODE)
TOLD = ("implicit-seed", "seed-left-out", "unused", *OVERTURNING)  # elsewhere on the page


def first(a: Analysis, w: Wording) -> list[tuple[str, str]]:
    """Codes and sentences on what PyTorch refuses."""
    return [note for note in about_the_problem(a, w) if note[0] in OVERTURNING]


def further(found: Gradients) -> list[tuple[str, str]]:
    """Codes and sentences on everything else."""
    of_formulas = formulas(found.w) if found.derivation is None else []
    noted = [*about_the_problem(found.a, found.w), *of_formulas, *ended(found.problem)]
    return [note for note in noted if note[0] not in TOLD]
