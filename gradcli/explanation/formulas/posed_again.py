"""A problem posed again at other sizes; where it is the gradient of another, that one is."""

from collections.abc import Callable
from functools import partial

from ...autodiff.reverse import backward
from ...language.general import in_general_sizes
from ...language.problem import Problem
from ..derived import of_gradient

Pose = Callable[[Problem], Problem | None]  # the same problem at other sizes


def in_general(problem: Problem, keeps_ones: bool = False) -> Problem | None:
    """The problem where its formula is derived; None where that is at the user's own sizes."""
    return posed_again(problem, partial(in_general_sizes, keeps_ones=keeps_ones))


def posed_again(problem: Problem, pose: Pose) -> Problem | None:
    """What `pose` makes of a problem; where its output is a gradient, the gradient of what it makes
    of the problem before. None where there is none.
    """
    result = pose(problem) if problem.before is None else _gradient_again(problem, pose)
    if result is None:
        return None
    return result._replace(seed=result.seed._replace(implicit=problem.seed.implicit))


def _gradient_again(problem: Problem, pose: Pose) -> Problem | None:
    assert problem.before is not None
    seed = problem.before.seed
    given = seed.value is not None and not seed.implicit
    before = None if given else posed_again(problem.before, pose)
    if before is None or before.seed.implicit is not (before.seed.value is not None):
        return None
    (x,) = before.wrt
    built = before.named.values()  # so that sums are in the same order
    grad = backward(before.out, before.seed.node, [x.node], tuple(built)).of[x.node]
    if grad is None:
        return None
    wrt = [before.inputs[z.name] for z in problem.wrt]
    return of_gradient(before, x, grad, problem.seed.name, wrt)
