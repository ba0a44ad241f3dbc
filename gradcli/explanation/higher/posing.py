"""Posing problems with tangents, and problems with a scalar output."""

from collections.abc import Mapping
from typing import Any

from ...errors import GradcliError
from ...language.arguments.directions import read_direction
from ...language.arguments.values import Reader
from ...language.posing import pose
from ...language.problem import Problem
from ..derived import with_tangents


def pose_with_tangents(
    tangents: Mapping[str, Any], reader: Reader, arguments: dict[str, Any], scalar: bool
) -> Problem:
    """The problem of the `arguments` of `pose` with tangents, which also determine shapes; a
    tangent None is a symbol. `scalar`: the output is a single number, if that fits. Raises
    GradcliError.
    """
    directions = {
        n: None if v is None else read_direction(v, f"the tangent of {n}", reader)
        for n, v in tangents.items()
    }
    text = {
        n: g.array.shape for n, g in directions.items() if g is not None and g.array is not None
    }
    text = {n: shape for n, shape in text.items() if n not in arguments["values"]}
    arguments |= {"shapes": text | dict(arguments["shapes"])}
    problem = (pose_scalar if scalar else pose)(**arguments)
    return with_tangents(problem, directions, reader) if directions or not scalar else problem


def pose_scalar(**arguments: Any) -> Problem:
    """The problem of the arguments of `pose`; missing shapes are inferred such that the output is a
    single number, if that fits. Raises GradcliError.
    """
    try:
        return pose(out_shape=(), **arguments)
    except GradcliError as error:
        if error.code not in ("shape", "index", "seed-shape"):
            raise
        return pose(**arguments)
