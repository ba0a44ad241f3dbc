"""Where a mended claim is to hold beside the points that the claim was tried at.

At other sizes than those given, and for matrices where vectors were assumed.
"""

import ast
from collections.abc import Collection, Iterator
from functools import partial
from itertools import product

from ...errors import if_applicable
from ...language.problem import Problem
from ..formulas.other_sizes import generic_problem
from ..formulas.readings import with_rank
from ..formulas.trials import SMALL, Trial
from .given import Claim, built


def beyond(claim: Claim, problem: Problem) -> Iterator[list[Trial]]:
    """Lists of trials, of which a mended formula is to pass one: the strictest first.

    Where the claim has sizes as numbers, one dimension of such a size keeps it; what is right for
    the sizes given alone is the last resort, if the claim has none by name.
    """
    if claim.name not in problem.inputs:
        yield []
        return
    matrices, sizes, result = _matrices(claim, problem), _sizes(problem), []
    for kept in _kept(claim, sizes):
        trial = _elsewhere(problem, sizes, kept)
        if trial is not None and trial.is_conclusive(claim.name):
            result.append([trial, *matrices])
    yield from result
    if matrices and not result:
        yield matrices
    named = ".shape" in claim.text or ".numel()" in claim.text
    if not named or not result:
        yield []


def _matrices(claim: Claim, problem: Problem) -> list[Trial]:
    """The request for matrices, where the claim can be meant for them."""
    if any(i.inferred and len(i.shape) > 1 for i in problem.inputs.values()):
        return []
    reading = with_rank(problem, 1, 2)
    other = None if reading is None else reading.problems[0]
    if other is None:
        return []
    node = if_applicable(partial(built, claim.program, other))
    fits = node is not None and node.ndim == len(other.inputs[claim.name].shape)
    trial = Trial.at(other, other.shapes) if fits else None
    return [] if trial is None else [trial]


# ---- other sizes ---------------------------------------------------------------------------------


def _sizes(problem: Problem) -> dict[int, int]:
    """The sizes that have nothing to do with each other, as those in general, with what they
    are.
    """
    general = generic_problem(problem)
    if general is None:
        return {}
    pairs = ((general.inputs[i.name].shape, i.shape) for i in problem.inputs.values())
    return {t: n for there, here in pairs for t, n in zip(there, here, strict=True) if t != n}


def _kept(claim: Claim, sizes: dict[int, int]) -> Iterator[tuple[int, ...]]:
    """Choices of sizes that stay: for each number in the claim one of those that it may stand
    for.
    """
    numbers = {
        e.value
        for e in claim.program.syntax
        if isinstance(e, ast.Constant) and type(e.value) is int
    }
    meant = [[t for t, n in sizes.items() if n == number] for number in sorted(numbers)]
    yield ()
    if any(meant):
        yield from product(*filter(None, meant))


def _elsewhere(problem: Problem, sizes: dict[int, int], kept: tuple[int, ...]) -> Trial | None:
    """The problem at other sizes but those `kept`; None where it has none."""
    general = generic_problem(problem)
    if general is None or len(kept) == len(sizes):
        return None
    new = {t: sizes[t] for t in kept} | _others(sizes, sizes.keys() - set(kept))
    shapes = {
        i.name: tuple(new.get(n, n) for n in i.shape)
        for i in general.inputs.values()
        if i.node.dtype == "float"
    }
    return Trial.at(problem, shapes)


def _others(sizes: dict[int, int], free: Collection[int]) -> dict[int, int]:
    """Other sizes than those given, in their order, for a product that is regular would be singular
    with a narrow middle; and none of them so much larger than another one as it was.
    """
    room = iter(sorted(n for n in SMALL if n not in sizes.values()))
    new: dict[int, int] = {}
    for t in sorted(free, key=lambda t: sizes[t]):
        apart = {n + sizes[t] - sizes[u] for u, n in new.items()}
        new[t] = next((n for n in room if n not in apart), sizes[t])
    return new
