"""The text after --element."""

import re

from ..errors import GradcliError
from ..language.problem import Problem


def read_element(text: str, problem: Problem) -> tuple[str, tuple[int, ...]]:
    """`x[0,1]` as a name and a place, counted from the front.

    Raises GradcliError `option` or `index`.
    """
    match = re.fullmatch(r"\s*(\w+)(?:\.grad)?\s*(?:\[([-\d,\s]*)\])?\s*", text)
    names = [x.name for x in problem.wrt]
    if match is None or match[1] not in names:
        raise GradcliError(
            "option",
            f"--element {text} is not an element of an input",
            hint=f"as in --element {names[0]}[0]; there are {', '.join(names)}",
        )
    shape = problem.inputs[match[1]].shape
    try:
        place = tuple(int(k) for k in (match[2] or "").split(",") if k.strip())
    except ValueError:
        place = ()
    if len(place) != len(shape) or any(not -n <= k < n for k, n in zip(place, shape, strict=False)):
        raise GradcliError(
            "index",
            f"--element {text}: {match[1]} has shape {shape}",
            hint="a place is one whole number below the size for each dimension, as in x[0,1]",
        )
    return match[1], tuple(k % n for k, n in zip(place, shape, strict=True))
