"""Functions of Python: errors and docstrings speak of keywords, and notes are warnings."""

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import wraps
from textwrap import fill
from typing import Any, ParamSpec, TypeVar

from . import option_spelling
from .errors import GradcliError, short_repr
from .fields import FIELDS, QUESTIONS
from .limits import NO_MEMORY, TOO_DEEP, Limits
from .request import Request, of_values

Shapes = Mapping[str, Sequence[int] | str] | None
Values = Mapping[str, Any] | None
Names = Collection[str] | str | None
PYTHON_ALONE = ("grads", "allow_files")  # what a question takes here, and not in a shell
P = ParamSpec("P")
T = TypeVar("T")
Assumptions = Mapping[str, str | Collection[str]] | str | None


def in_keywords(function: Callable[P, T]) -> Callable[P, T]:
    """The function, whose errors speak of keywords where those of the command speak of options;
    its docstring ends with what they mean.
    """

    @wraps(function)
    def told(*args: P.args, **named: P.kwargs) -> T:
        try:
            return function(*args, **named)
        except GradcliError as error:
            option_spelling.tell(error, option_spelling.PYTHON)
            raise
        except MemoryError:
            raise GradcliError("limit", NO_MEMORY) from None
        except RecursionError:
            raise GradcliError("limit", TOO_DEEP) from None

    if function.__name__ in QUESTIONS:
        told.__doc__ = f"{(function.__doc__ or '').rstrip()}\n\n{_meanings(function)}    "
    return told


def _meanings(function: Callable[..., Any]) -> str:
    """What the keywords of a request mean."""
    names = _fields(function.__name__, function.__annotations__)
    message = (f"    {name}: {FIELDS[name].meaning}" for name in names)
    return "".join(f"{fill(text, 96, subsequent_indent='        ')}\n" for text in message)


def in_python(text: str) -> str:
    """What is said of options, said of keywords."""
    return option_spelling.said(text, option_spelling.PYTHON)


def warn(notes: Iterable[tuple[str, str]]) -> None:
    """Warn of what notes say, where a function of this module was called."""
    for _, message in notes:
        warnings.warn(in_python(message), stacklevel=4)  # past in_keywords


def alone(result: dict[str, Any]) -> Any:
    """What there is for the only input; a dict by name where there are several."""
    return result if len(result) > 1 else next(iter(result.values()))


def asked(question: str, given: Mapping[str, Any]) -> Request:
    """The request of what was given for the keywords of a function. Raises GradcliError."""
    limits = limits_of(given["allow_files"])
    return of_values(
        {n: given[n] for n in _fields(question, given)}, limits, option_spelling.PYTHON
    )


def _fields(question: str, keywords: Iterable[str]) -> list[str]:
    """The keywords that are fields of a request."""
    return [name for name in keywords if name in (*QUESTIONS[question], *PYTHON_ALONE)]


def limits_of(allow_files: bool) -> Limits:
    """The limits of a request. Raises GradcliError for what is neither True nor False."""
    if not isinstance(allow_files, bool):
        message = f"allow_files is True or False, not {short_repr(allow_files)}"
        raise GradcliError("option", message)
    return Limits(files=allow_files)


def check_text(what: str, given: Any) -> None:
    """Refuse what is no text; `what` is it."""
    if not isinstance(given, str):
        raise GradcliError("option", f"{what} is a text, not {short_repr(given)}")


def check_number(what: str, given: Any, least: int, most: int) -> None:
    """Refuse what is not a whole number from `least` to `most`; `what` is it."""
    if type(given) is not int or not least <= given <= most:
        message = f"{what} is a whole number from {least} to {most}, not {short_repr(given)}"
        raise GradcliError("option", message)
