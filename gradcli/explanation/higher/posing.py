"""Problems with tangents, from what was asked."""

from collections.abc import Mapping
from typing import Any

from ...errors import GradcliError
from ...language.given.directions import read_direction
from ...language.given.values import Reader
from ...language.posing import pose
from ...language.problem import Problem
from ...limits import Limits
from ..derived import with_tangents


def pose_moving(
    expr: str,
    tangents: Mapping[str, Any],
    *,
    scalar: bool = False,
    shapes: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    random_seed: int = 0,
    stdin: Any = None,
    **asked: Any,
) -> Problem:
    """The problem that a request poses, with the tangents that were given, which also tell shapes;
    None stands for a symbol. `scalar` where the output should be a single number, if that fits.
    Raises GradcliError.
    """
    reader = Reader(limits or Limits(), random_seed, stdin)
    given = {
        n: None if v is None else read_direction(v, f"the tangent of {n}", reader)
        for n, v in tangents.items()
    }
    told = {n: g.array.shape for n, g in given.items() if g is not None and g.array is not None}
    known = {*(shapes or {}), *(asked.get("values") or {})}
    shapes = {n: shape for n, shape in told.items() if n not in known} | dict(shapes or {})
    asked |= {"shapes": shapes, "limits": limits, "random_seed": random_seed, "stdin": stdin}
    problem = (pose_scalar if scalar else pose)(expr, **asked)
    return with_tangents(problem, given, reader) if given or not scalar else problem


def pose_scalar(expr: str, **asked: Any) -> Problem:
    """The problem that a request poses, its output a single number wherever nobody gave shapes and
    that fits. Raises GradcliError.
    """
    try:
        return pose(expr, out_shape=(), **asked)
    except GradcliError as error:
        if error.code not in ("shape", "index", "seed-shape"):
            raise
        return pose(expr, **asked)
