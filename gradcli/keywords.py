"""Helpers of the Python interface: keywords in errors and docstrings; notes as warnings."""

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
PYTHON_ALONE = ("grads", "allow_files")  # keywords of the Python interface that are no options
P = ParamSpec("P")
T = TypeVar("T")
Assumptions = Mapping[str, str | Collection[str]] | str | None


def in_keywords(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function of the Python interface. Its errors name keywords in place of options of
    the command line, and its docstring ends with a description of its keywords.
    """

    @wraps(function)
    def wrapper(*args: P.args, **named: P.kwargs) -> T:
        try:
            return function(*args, **named)
        except GradcliError as error:
            option_spelling.respell_error(error, option_spelling.PYTHON)
            raise
        except MemoryError:
            raise GradcliError("limit", NO_MEMORY) from None
        except RecursionError:
            raise GradcliError("limit", TOO_DEEP) from None

    if function.__name__ in QUESTIONS:
        wrapper.__doc__ = f"{(function.__doc__ or '').rstrip()}\n\n{_meanings(function)}    "
    return wrapper


def _meanings(function: Callable[..., Any]) -> str:
    """The part of a docstring that describes the keywords of a request."""
    names = _fields(function.__name__, function.__annotations__)
    texts = (f"    {name}: {FIELDS[name].meaning}" for name in names)
    return "".join(f"{fill(text, 96, subsequent_indent='        ')}\n" for text in texts)


def in_python(text: str) -> str:
    """`text` with options of the command line replaced by keywords of Python."""
    return option_spelling.respell(text, option_spelling.PYTHON)


def warn(notes: Iterable[tuple[str, str]]) -> None:
    """Emit the message of each note as a warning, located where the public function was called."""
    for _, message in notes:
        warnings.warn(in_python(message), stacklevel=4)  # the caller's frame, outside in_keywords


def unwrap_single(result: dict[str, Any]) -> Any:
    """The value of a dict with one entry; a dict with several entries unchanged."""
    return result if len(result) > 1 else next(iter(result.values()))


def request_of(question: str, keywords: Mapping[str, Any]) -> Request:
    """The request for the keyword arguments of a function. Raises GradcliError."""
    limits = limits_of(keywords["allow_files"])
    return of_values(
        {n: keywords[n] for n in _fields(question, keywords)}, limits, option_spelling.PYTHON
    )


def _fields(question: str, keywords: Iterable[str]) -> list[str]:
    """The keywords that are fields of a request."""
    return [name for name in keywords if name in (*QUESTIONS[question], *PYTHON_ALONE)]


def limits_of(allow_files: bool) -> Limits:
    """The limits of a request from Python. Raises GradcliError unless `allow_files` is a bool."""
    if not isinstance(allow_files, bool):
        message = f"allow_files must be True or False, got {short_repr(allow_files)}"
        raise GradcliError("option", message)
    return Limits(files=allow_files)


def check_text(what: str, value: Any) -> None:
    """Raise GradcliError unless `value` is a string; `what` describes it in the message."""
    if not isinstance(value, str):
        raise GradcliError("option", f"{what} must be a text, got {short_repr(value)}")


def check_number(what: str, value: Any, least: int, most: int) -> None:
    """Raise GradcliError unless `value` is an integer from `least` to `most`."""
    if type(value) is not int or not least <= value <= most:
        message = f"{what} must be an integer from {least} to {most}, got {short_repr(value)}"
        raise GradcliError("option", message)
