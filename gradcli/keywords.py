"""Requests as keywords of Python: what was given is checked, and errors say how to give it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from . import ways
from .errors import GradcliError
from .explanation.analysis import Analysis
from .language.assumptions import read_assumptions
from .language.problem import pose
from .limits import NO_MEMORY, Limits

Shapes = Mapping[str, tuple[int, ...]]
Values = Mapping[str, Any]
P = ParamSpec("P")
T = TypeVar("T")
Assumptions = Mapping[str, str | Collection[str]] | str | None


def in_keywords(function: Callable[P, T]) -> Callable[P, T]:
    """The function, whose errors speak of keywords where those of the command speak of options."""

    @wraps(function)
    def told(*args: P.args, **named: P.kwargs) -> T:
        try:
            return function(*args, **named)
        except GradcliError as error:
            ways.tell(error, ways.PYTHON)
            raise
        except MemoryError:
            raise GradcliError("limit", NO_MEMORY) from None

    return told


def posed(
    expr: str,
    shapes: Shapes | None,
    values: Values | None,
    grad: Any,
    wrt: Collection[str] | str | None,
    limits: Limits | None = None,
    claims: Any = (),
    assume: Assumptions = None,
    suppose: bool = False,
) -> Analysis:
    """The analysis of a request. Raises GradcliError."""
    asked = asked_in_keywords(expr, shapes, values, wrt, assume)
    return Analysis(pose(grad=grad, limits=limits, suppose=suppose, **asked), claims=claims)


def asked_in_keywords(
    expr: str,
    shapes: Shapes | None,
    values: Values | None,
    wrt: Collection[str] | str | None,
    assume: Assumptions = None,
) -> dict[str, Any]:
    """What was asked, as `pose` takes it. Raises GradcliError for what is of another type."""
    check_named(expr, shapes, values)
    names = [n.strip() for n in wrt.split(",")] if isinstance(wrt, str) else wrt
    known = None if assume is None else read_assumptions(assume)
    return {"expr": expr, "shapes": shapes, "values": values, "wrt": names, "assume": known}


def check_named(expr: str, shapes: Shapes | None, values: Values | None) -> None:
    """Refuse an expression, shapes or values of another type."""
    if not isinstance(expr, str):
        raise GradcliError("syntax", f"an expression is a text, not {expr!r}")
    for what, given in (("shapes", shapes), ("values", values)):
        if given is not None and not isinstance(given, Mapping):
            said = f"{what} are a dict by name of the input, not {given!r}"
            raise GradcliError("value" if what == "values" else "shape-option", said)
    for name, shape in (shapes or {}).items():
        if not isinstance(shape, tuple | list) or not all(type(n) is int for n in shape):
            said = f"the shape of {name} is a tuple of whole numbers, not {shape!r}"
            raise GradcliError("shape-option", said)


def of_order(analysis: Analysis, order: int, grads: Sequence[Any]) -> list[Analysis]:
    """The analysis itself; of order 2 and up, one for each input. Raises GradcliError."""
    if type(order) is not int or order < 1 or len(grads) >= order:
        said = f"the order is a whole number from 1, above that of {len(grads)} further seeds"
        raise GradcliError("option", said if grads else "the order is a whole number from 1")
    if order == 1:
        return [analysis]
    from .explanation.derived import each_of_order
    from .language.values import Reader

    return each_of_order(analysis, order, grads, Reader(Limits(), 0, None))


def moving(asked: dict[str, Any], tangents: Values, scalar: bool = False) -> Analysis:
    """The analysis of a request whose inputs move along tangents. Raises GradcliError."""
    from .explanation.analysis import Unmoved
    from .explanation.posing import pose_moving

    if not isinstance(tangents, Mapping):
        said = f"tangents are a dict by name of the input, not {tangents!r}"
        raise GradcliError("value", said)
    return Unmoved(pose_moving(tangents=tangents, scalar=scalar, **asked))
