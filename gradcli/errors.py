"""Errors as data: a code, a message, a span of the text, a hint.

Errors are shown elsewhere: by the command line, and in the JSON of `batch`.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

T = TypeVar("T")

CODES = {
    "syntax": "the text is not an expression of the language",
    "unknown-function": "no function, method or attribute has this name",
    "unsupported": "PyTorch has this, but gradcli does not support it",
    "unknown-name": "no input, statement or constant has this name",
    "arguments": "an operation was given the wrong arguments",
    "shape": "the shapes of the operands do not fit together",
    "index": "an index or a dimension is out of range",
    "seed-shape": "the seed does not have the output's shape",
    "tangent-shape": "a tangent does not have its input's shape",
    "not-scalar": "a Hessian is requested, but the output is not a single number",
    "implicit-seed": "a seed is needed, because the output is not a single number",
    "shape-option": "the text after --shape cannot be read",
    "assume": "an assumption about an input is unknown, or is not true",
    "value": "a value cannot be read as an array of numbers",
    "file": "a file cannot be read or written, or may not be opened",
    "raises": "PyTorch raises an error when it runs the program",
    "needs-value": "the answer depends on numbers that were not given",
    "unused-option": "an option names something that the expression does not have",
    "not-differentiable": "no gradient flows from the output to an input",
    "singular": "a matrix has no inverse",
    "limit": "the request exceeds a limit on size, time or memory",
    "option": "an option or a command cannot be understood",
    "unknown-message": "the text is none of the error messages that `gradcli why` knows",
    "request": "a line of batch is not a request",
}

EXPRESSION = "the expression"  # the default origin of a span; not a valid name of an input
EXAMPLE = 'an expression looks like this: "relu(x @ W + b).sum()"'
LONGEST_VALUE = 200  # characters of a value in a message
INTERNAL = "internal"  # the code, in a batch, of a bug of gradcli


class Span(NamedTuple):
    """The characters from `start` to `end` of `text`, which the user typed as `origin`."""

    text: str
    start: int
    end: int
    origin: str = EXPRESSION

    @property
    def excerpt(self) -> str:
        """The characters of the span."""
        return self.text[self.start : self.end]

    @property
    def in_one_line(self) -> str:
        """The characters of the span, without line breaks or repeated blanks."""
        return " ".join(self.excerpt.split())


class GradcliError(Exception):
    """A request that cannot be answered. `code` is a key of CODES; `message` one sentence; `hint` a
    correction, or None; `span` the location in the user's text, or None.
    """

    def __init__(
        self, code: str, message: str, *, hint: str | None = None, span: Span | None = None
    ):
        assert code in CODES, code
        super().__init__(message)
        self.code, self.message, self.hint, self.span = code, message, hint, span

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython shows instead of a traceback, whose frames are gradcli's own."""
        return [f"GradcliError[{self.code}]: {self.message}", *(self.hint or "").splitlines()]

    @property
    def is_misfit(self) -> bool:
        """Whether shapes do not match, so that other shapes may be tried."""
        return self.code in ("shape", "index", "seed-shape")

    def at(self, span: Span | None) -> "GradcliError":
        """This error, with `span` unless it already has one."""
        self.span = self.span or span
        return self


class Singular(GradcliError):
    """A matrix is singular, and its inverse is needed."""

    def __init__(self, message: str, *, hint: str | None = None):
        super().__init__("singular", message, hint=hint)


# Exceptions of Python for an argument of a wrong type that an operator does not check.
MISUSES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

# Exceptions of evaluating a formula whose operands have the wrong shapes or types.
MISFITS = (GradcliError, LookupError, ValueError)


def result_or_error(
    make: Callable[[], T], errors: tuple[type[Exception], ...] = (GradcliError,)
) -> T | Exception:
    """The result of `make`, or the exception that it raised, if it is one of `errors`.

    Use it for what gradcli tries on its own, such as a formula that the user may have meant. Errors
    in what users request must be raised.
    """
    try:
        return make()
    except errors as error:
        return error


def if_applicable(
    make: Callable[[], T], errors: tuple[type[Exception], ...] = (GradcliError,)
) -> T | None:
    """The result of `make`, or None if it raises one of `errors`."""
    result = result_or_error(make, errors)
    return None if isinstance(result, Exception) else result


def misused(name: str, hint: str | None = None) -> GradcliError:
    """The error for arguments that Python's call of a function rejects."""
    return GradcliError("arguments", f"{name}() does not take these arguments", hint=hint)


def unreadable(path: str, error: OSError) -> GradcliError:
    """The error for a file that cannot be read."""
    import os
    from contextlib import suppress

    hint, (folder, name) = None, os.path.split(path)
    if isinstance(error, FileNotFoundError):
        hint = "a path is relative to the folder that gradcli is run in"
        with suppress(OSError):  # a missing folder, or one without permission
            hint = _another_file(name, os.listdir(folder or ".")) or hint
    if isinstance(error, IsADirectoryError):
        hint = f"name a file in that folder: {os.path.join(path, 'FILE')}"
    message = f"{path or 'a file without a name'} cannot be read: {error.strerror or error}"
    return GradcliError("file", message, hint=hint)


def _another_file(name: str, files: list[str]) -> str | None:
    """A hint that names a file with a similar name and the same extension, or the first files with
    this extension; None if there are none.
    """
    stem, dot, kind = name.rpartition(".")
    if stem and dot:
        files = sorted(file for file in files if file.endswith(f".{kind}"))
    few = ", ".join(files[:3]) + ", ..." * (len(files) > 3)
    return did_you_mean(name, files) or (f"the folder has {few}" if dot and files else None)


def short_repr(value: object) -> str:
    """The repr of a value, abbreviated in the middle if it is long; its type if repr fails."""
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 20]}...{text[-17:]}"


def did_you_mean(word: str, candidates, cutoff: float = 0.6) -> str | None:
    """A hint `did you mean softmax?`, or None if no candidate is similar."""
    near = similar(word, candidates, cutoff)
    return near and f"did you mean {near}?"


def similar(word: str, candidates, cutoff: float = 0.6) -> str | None:
    """The most similar candidate, or None if none is similar."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, list(candidates), n=1, cutoff=cutoff)), None)
