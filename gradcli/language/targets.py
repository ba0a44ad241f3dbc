"""Targets: the gradients that somebody wants, by name of the input."""

from collections.abc import Mapping
from typing import IO, Any

from ..errors import GradcliError
from ..graphs.shapes import Shape, text
from ..lazy import np
from ..limits import Limits
from .given.values import Reader
from .posing import pose
from .problem import Problem


def pose_targets(
    expr: str,
    targets: Mapping[str, Any],
    *,
    shapes: Mapping[str, Shape] | None = None,
    values: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    random_seed: int = 0,
    stdin: IO[bytes] | None = None,
    **asked: Any,
) -> tuple[Problem, dict[str, Any]]:
    """The problem, differentiated by the inputs that have a target, and the targets as arrays of
    floats; `asked` is what else `pose` takes. A target says the shape of an input that nothing else
    gives. Raises GradcliError.
    """
    if not targets:
        hint = 'as in --target "x=[1, 2]"'
        raise GradcliError("option", "there is no target: which gradient should it be?", hint=hint)
    reader = Reader(limits or Limits(), random_seed, stdin)
    arrays = {n: np.asarray(reader.read(t, f"--target {n}"), float) for n, t in targets.items()}
    for name, target in arrays.items():
        if not np.all(np.isfinite(target)):
            raise GradcliError("value", f"the target of {name} holds a number that is not finite")
    told = {name: a.shape for name, a in arrays.items() if name not in (values or {})}
    asked |= {"limits": limits, "random_seed": random_seed, "stdin": stdin, "wrt": list(arrays)}
    problem = pose(expr, shapes=told | dict(shapes or {}), values=values, **asked)
    for x in problem.wrt:
        have = arrays[x.name].shape
        if have != x.shape:
            said = f"the target of {x.name} has shape {text(have)}, and {x.name} {text(x.shape)}"
            raise GradcliError("shape", said, hint="a gradient has the shape of its input")
    return problem, arrays
