"""Further trials of a corrected claim: at other sizes, and with matrices for inferred vectors."""

import ast
from collections.abc import Collection, Iterator
from functools import partial
from itertools import product

from ...errors import if_applicable
from ...language.problem import Problem
from ..formulas.other_sizes import generic_problem
from ..formulas.readings import with_rank
from ..formulas.trials import SMALL, Trial
from .claim import Claim, built


def further_trials(claim: Claim, problem: Problem) -> Iterator[list[Trial]]:
    """Lists of trials, the strictest first; a corrected formula must pass all of one list.

    If the claim has integers, one dimension of such a size keeps it. The last list is empty, so
    that a formula for the given sizes only is accepted, unless the claim names sizes.
    """
    if claim.name not in problem.inputs:
        yield []
        return
    matrices, sizes, result = _matrices(claim, problem), _sizes(problem), []
    for fixed in _fixed_sizes(claim, sizes):
        trial = _elsewhere(problem, sizes, fixed)
        if trial is not None and trial.is_conclusive(claim.name):
            result.append([trial, *matrices])
    yield from result
    if matrices and not result:
        yield matrices
    named = ".shape" in claim.text or ".numel()" in claim.text
    if not named or not result:
        yield []


def _matrices(claim: Claim, problem: Problem) -> list[Trial]:
    """A trial with matrices for inferred vectors, if the claim fits them; at most one."""
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
    """The given sizes by independent generic sizes; empty if the problem has none."""
    general = generic_problem(problem)
    if general is None:
        return {}
    pairs = ((general.inputs[i.name].shape, i.shape) for i in problem.inputs.values())
    return {
        t: n
        for generic_shape, shape in pairs
        for t, n in zip(generic_shape, shape, strict=True)
        if t != n
    }


def _fixed_sizes(claim: Claim, sizes: dict[int, int]) -> Iterator[tuple[int, ...]]:
    """Choices of generic sizes to keep: first none, then for each integer in the claim one that it
    may stand for.
    """
    numbers = {
        e.value
        for e in claim.program.syntax
        if isinstance(e, ast.Constant) and type(e.value) is int
    }
    candidates = [[t for t, n in sizes.items() if n == number] for number in sorted(numbers)]
    yield ()
    if any(candidates):
        yield from product(*filter(None, candidates))


def _elsewhere(problem: Problem, sizes: dict[int, int], fixed: tuple[int, ...]) -> Trial | None:
    """A trial with all sizes changed but the `fixed` ones; None if that is not possible."""
    general = generic_problem(problem)
    if general is None or len(fixed) == len(sizes):
        return None
    new = {t: sizes[t] for t in fixed} | _other_sizes(sizes, sizes.keys() - set(fixed))
    shapes = {
        i.name: tuple(new.get(n, n) for n in i.shape)
        for i in general.inputs.values()
        if i.node.dtype == "float"
    }
    return Trial.at(problem, shapes)


def _other_sizes(sizes: dict[int, int], free: Collection[int]) -> dict[int, int]:
    """Other sizes for `free` ones, in the same order of size, so that regular products do not
    become singular; with other differences than the given sizes have.
    """
    room = iter(sorted(n for n in SMALL if n not in sizes.values()))
    new: dict[int, int] = {}
    for t in sorted(free, key=lambda t: sizes[t]):
        apart = {n + sizes[t] - sizes[u] for u, n in new.items()}
        new[t] = next((n for n in room if n not in apart), sizes[t])
    return new
