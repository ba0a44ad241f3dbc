"""Requests as keywords of Python: what was given is checked, errors say how to give it, and notes
are warnings.
"""

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import wraps
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar

from . import ways
from .errors import GradcliError, short_repr
from .explanation.analysis import Analysis
from .language.given.assumptions import read_assumptions
from .language.given.options import is_shape
from .language.posing import pose
from .limits import MOST_ORDER, NO_MEMORY, TOO_DEEP, Limits
from .pasted.request import in_language

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
        except RecursionError:
            raise GradcliError("limit", TOO_DEEP) from None

    return told


def in_python(text: str) -> str:
    """What is said of options, said of keywords."""
    return ways.said(text, ways.PYTHON)


def warn(notes: Iterable[tuple[str, str]]) -> None:
    """Warn of what notes say, where a function of this module was called."""
    for _, message in notes:
        warnings.warn(in_python(message), stacklevel=4)  # past in_keywords


def alone(found: dict[str, Any]) -> Any:
    """What there is for the only input; a dict by name where there are several."""
    return found if len(found) > 1 else next(iter(found.values()))


def posed(
    expr: str,
    shapes: Shapes | None,
    values: Values | None,
    grad: Any,
    wrt: Collection[str] | str | None,
    claims: Any = (),
    assume: Assumptions = None,
    suppose: bool = False,
    shapes_alone: bool = False,
    files: bool = False,
) -> Analysis:
    """The analysis of a request. Raises GradcliError."""
    asked = asked_in_keywords(expr, shapes, values, wrt, assume, files, {"grad": grad})
    if shapes_alone:
        asked["limits"] = asked["limits"].for_shapes()
    return Analysis(pose(suppose=suppose, **asked), claims=claims)


def asked_in_keywords(
    expr: str,
    shapes: Shapes | None,
    values: Values | None,
    wrt: Collection[str] | str | None,
    assume: Assumptions = None,
    files: bool = False,
    seed: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """What was asked, as `pose` takes it; `seed` has the seed as `grad` where there may be one.

    Raises GradcliError for what is of another type, and for a program that cannot be read.
    """
    check_named(expr, shapes, values)
    asked = {
        "expr": expr,
        "shapes": shapes,
        "values": values,
        "wrt": _names(wrt),
        "assume": None if assume is None else read_assumptions(assume),
        "limits": limits_of(files),
        **seed,
    }
    return in_language(asked)


def limits_of(allow_files: bool) -> Limits:
    """The limits of a request. Raises GradcliError for what is neither True nor False."""
    if not isinstance(allow_files, bool):
        said = f"allow_files is True or False, not {short_repr(allow_files)}"
        raise GradcliError("option", said)
    return Limits(files=allow_files)


def _names(wrt: Collection[str] | str | None) -> Collection[str] | None:
    if isinstance(wrt, str):
        return [n.strip() for n in wrt.split(",")]
    if wrt is None or (isinstance(wrt, Collection) and all(isinstance(n, str) for n in wrt)):
        return None if wrt is None else [*wrt]
    said = f"wrt is the name of an input or a list of names, not {short_repr(wrt)}"
    raise GradcliError("option", said)


def check_named(expr: str, shapes: Shapes | None, values: Values | None) -> None:
    """Refuse an expression, shapes or values of another type."""
    if not isinstance(expr, str):
        raise GradcliError("syntax", f"an expression is a text, not {short_repr(expr)}")
    check_by_name("shapes are", {} if shapes is None else shapes, "shape-option")
    check_by_name("values are", {} if values is None else values)
    for name, shape in ({} if shapes is None else shapes).items():
        if not is_shape(shape):
            said = f"the shape of {name} is a tuple of whole numbers, not {short_repr(shape)}"
            raise GradcliError("shape-option", said)


def check_by_name(what: str, given: Any, code: str = "value") -> None:
    """Refuse what is not a dict by name of the input; `what` is it, and is or are."""
    if not isinstance(given, Mapping):
        raise GradcliError(code, f"{what} a dict by name of the input, not {short_repr(given)}")
    for name in given:
        if not isinstance(name, str):
            said = f"{what} by name of the input, and {short_repr(name)} is no text"
            raise GradcliError(code, said)


def check_text(what: str, given: Any) -> None:
    """Refuse what is no text; `what` is it."""
    if not isinstance(given, str):
        raise GradcliError("option", f"{what} is a text, not {short_repr(given)}")


def check_number(what: str, given: Any, least: int, most: int) -> None:
    """Refuse what is not a whole number from `least` to `most`; `what` is it."""
    if type(given) is not int or not least <= given <= most:
        said = f"{what} is a whole number from {least} to {most}, not {short_repr(given)}"
        raise GradcliError("option", said)


def check_order(order: int, grads: Sequence[Any]) -> None:
    """Refuse an order that is none, and more seeds than it has."""
    if not isinstance(grads, Sequence) or isinstance(grads, bytes):
        raise GradcliError("value", f"grads are a list of seeds, not {short_repr(grads)}")
    seeds = 1 if isinstance(grads, str) else len(grads)
    if type(order) is not int or not seeds < order <= MOST_ORDER:
        above = f", above that of {seeds} further seeds" if seeds else ""
        said = f"the order is a whole number from 1 to {MOST_ORDER}{above}"
        raise GradcliError("option", f"{said}, not {short_repr(order)}")


def of_order(analysis: Analysis, order: int, grads: Sequence[Any]) -> list[Analysis]:
    """The analysis itself; of order 2 and up, one for each input. Raises GradcliError."""
    if order == 1:
        return [analysis]
    from .explanation.derived import each_of_order
    from .language.given.values import Reader

    seeds, limits = [grads] if isinstance(grads, str) else grads, analysis.problem.limits
    return each_of_order(analysis, order, seeds, Reader(limits, 0, None))


def moving(asked: dict[str, Any], tangents: Values, scalar: bool = False) -> Analysis:
    """The analysis of a request whose inputs move along tangents. Raises GradcliError."""
    from .explanation.higher.posing import pose_moving

    check_by_name("tangents are", tangents)
    problem = pose_moving(tangents=tangents, scalar=scalar, **asked)
    return Analysis(problem, unmoved=True)
