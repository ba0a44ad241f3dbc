"""What one should know: first what overturns the answer, at the end what else there is."""

from ..analysis import Analysis
from ..in_pytorch.not_in_pytorch import CODE, not_in_pytorch
from ..notes import about_the_problem, contradicted, ended, formulas, out_of_time
from ..phrases import listed
from .gradients import Gradients
from .stuck import stuck

OVERTURNING = ("integer-values", CODE)
TOLD = ("implicit-seed", "seed-left-out", "unused", *OVERTURNING)  # elsewhere on the page


def first(a: Analysis) -> list[tuple[str, str]]:
    """Codes and sentences on what PyTorch refuses."""
    whole = [x.name for x in a.problem.wrt if x.was_integer]
    refused = not_in_pytorch(a)
    if whole:
        have = "hold whole numbers" if len(whole) > 1 else "holds whole numbers"
        text = f"{listed(whole)} {have}: in PyTorch write 1., not 1."
        refused.insert(0, ("integer-values", text))
    return refused


def further(grads: Gradients) -> list[tuple[str, str]]:
    """Codes and sentences on everything else."""
    p, notes = grads.problem, about_the_problem(grads.a, grads.w)
    notes += stuck(grads.a, grads.w)
    if grads.derivation is None:
        notes += [*formulas(grads.w), *ended(p)]
    else:
        notes += [*contradicted(grads.a, grads.w, grads.beside_numbers()), *out_of_time(p)]
    return [note for note in notes if note[0] not in TOLD]
