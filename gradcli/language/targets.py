"""Targets: requested gradients, by name of the input."""

from collections.abc import Mapping
from typing import Any

from ..errors import GradcliError
from ..graphs.shapes import text
from ..lazy import np
from .arguments.values import Reader
from .posing import pose
from .problem import Problem


def pose_targets(
    targets: Mapping[str, Any], reader: Reader, arguments: dict[str, Any]
) -> tuple[Problem, dict[str, Any]]:
    """The problem, differentiated with respect to the inputs with targets, and the targets as float
    arrays. `arguments` are those of `pose`. The shape of a target is that of its input, if this has
    no other. Raises GradcliError.
    """
    if not targets:
        hint = 'as in --target "x=[1, 2]"'
        raise GradcliError("option", "there is no target: which gradient should it be?", hint=hint)
    arrays = {n: np.asarray(reader.read(t, f"--target {n}"), float) for n, t in targets.items()}
    for name, target in arrays.items():
        if not np.all(np.isfinite(target)):
            raise GradcliError("value", f"the target of {name} holds a number that is not finite")
    words = {name: a.shape for name, a in arrays.items() if name not in arguments["values"]}
    problem = pose(**arguments | {"shapes": words | dict(arguments["shapes"]), "wrt": list(arrays)})
    for x in problem.wrt:
        have = arrays[x.name].shape
        if have != x.shape:
            message = f"the target of {x.name} has shape {text(have)}, and {x.name} {text(x.shape)}"
            raise GradcliError("shape", message, hint="a gradient has the shape of its input")
    return problem, arrays
