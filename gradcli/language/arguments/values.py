"""Values of inputs and seeds (upstream gradients), typed or passed from Python, as arrays."""

import re
from collections.abc import Mapping
from typing import IO, Any

from ...errors import GradcliError
from ...graphs import OPS, Node, as_node
from ...lazy import np
from ...limits import Limits
from ..program import read_program
from .number_words import plain

# The file name after the @, if numbers are read from a file.
FILE = re.compile(r"[\w./~\\-]+\.(npy|npz|json|csv|tsv|txt)(:\w+)?", re.IGNORECASE)


def detached(value: Any) -> Any:
    """`value`, detached if it is a PyTorch tensor, because one that requires grad does not convert
    to an array.
    """
    return value.detach() if hasattr(value, "detach") else value


def _as_array(value: Any) -> Any:
    """A value as an array, by the array interface or DLPack. Floating-point dtypes that NumPy
    lacks, such as bfloat16, become float64.
    """
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return np.array(np.from_dlpack(value))
    try:
        array = np.asarray(value)
    except TypeError:  # PyTorch has dtypes that NumPy lacks
        if not hasattr(value, "double"):
            raise
        array = np.asarray(value.double())
    is_float = array.dtype.kind == "V" and np.can_cast(array.dtype, np.float64)
    return array.astype(np.float64) if is_float else array


def _no_numbers(origin: str, reason: str = "") -> GradcliError:
    hint = reason or "a number, or lists of numbers in lists: [[1, 2], [3, 4]]"
    return GradcliError("value", f"the value of {origin} is not an array of numbers", hint=hint)


class Reader:
    """Converts values in any spelling to arrays. `random_seed` seeds rand and randn; their stream
    continues from value to value, as in one session of PyTorch.
    """

    def __init__(self, limits: Limits, random_seed: int, stdin: IO[bytes] | None):
        self.limits, self.random_seed, self.stdin = limits, random_seed, stdin
        self._random: Any = None
        self._stdin_read = False

    @property
    def random(self):
        """The generator behind rand and randn."""
        if self._random is None:
            from ...backends.random import Generator

            self._random = Generator(self.random_seed)
        return self._random

    def literal(self, value: Any, origin: str) -> Any:
        """`value` as an array, or None if it is an expression to be evaluated."""
        if isinstance(value, str):
            return self._literal_text(value, origin)
        value = detached(value)
        try:
            array = _as_array(value)
        except ValueError:
            return self._listed(value, origin)
        except (BufferError, RuntimeError, TypeError) as error:  # from the array's library
            raise _no_numbers(origin, str(error).partition("\n")[0]) from error
        listed = array.dtype.kind in "OU" and array.size and array.shape
        if listed or (isinstance(value, int) and array.dtype == object):  # too large for NumPy
            return self._listed(getattr(value, "tolist", lambda: value)(), origin)
        if array.dtype.kind not in "buif":
            raise _no_numbers(origin)
        self.limits.check("elements", array.size, f"the value of {origin}")
        return plain(array)

    def _literal_text(self, value: str, origin: str) -> Any:
        self.limits.check("length", len(value), f"the value of {origin}")
        word = value.strip()
        if word.isidentifier() and word.lower() not in ("inf", "nan", "true", "false"):
            return None
        if FILE.fullmatch(word):
            message = f"{word} is the name of a file, not a value"
            raise GradcliError("value", message, hint=f"write @ before the name of a file: @{word}")
        array = _plain_list(value)
        return array if array is not None else self._text(value, origin)

    def _listed(self, value: Any, origin: str) -> Any:
        """The array of a list that NumPy cannot convert: the reader of texts knows "nan" in JSON,
        and reports ragged lists.
        """
        try:
            result = self._text(repr(value), origin)
        except ValueError as error:  # Python cannot print an integer of more than 4,300 digits
            raise _no_numbers(origin) from error
        if result is None:
            raise _no_numbers(origin)
        return result

    def _text(self, text: str, origin: str) -> Any:
        from .literals import read_array

        if text.strip() == "@-" and self.stdin is not None:
            if self._stdin_read:
                hint = "put one of the values into a file: @file"
                raise GradcliError("option", "standard input can be read only once", hint=hint)
            self._stdin_read = True

        return read_array(text, limits=self.limits, stdin=self.stdin, origin=origin)

    def read(self, value: Any, origin: str, arrays: Mapping[str, Any] | None = None) -> Any:
        """The array of `value`; an expression is evaluated, and may use `arrays` by name."""
        array = self.literal(value, origin)
        return array if array is not None else self._compute(value, origin, arrays or {})

    def _compute(self, text: str, origin: str, named_arrays: Mapping[str, Any]) -> Any:
        from ..building.build import Builder

        program = read_program(text, self.limits, origin)
        nodes = {name: _input(name, array) for name, array in named_arrays.items()}
        arrays = {nodes[name]: array for name, array in named_arrays.items()}
        builder = Builder(program, nodes, values=arrays, limits=self.limits, draws=self)
        try:
            result = builder.run()
        except GradcliError as error:
            if error.code == "unknown-name":
                error.hint = error.hint or "a value is numbers: 2, [[1, 2], [3, 4]] or @file"
            raise
        if not isinstance(result, Node | int | float):
            raise _no_numbers(origin)
        return builder.numbers(as_node(result), "a value must be a number")


def _input(name: str, array: Any) -> Node:
    kind = {"i": "int", "b": "bool"}.get(array.dtype.kind, "float")
    return OPS["input"](name=name, shape=array.shape, dtype=kind)


def _plain_list(text: str) -> Any:
    """The array of a list in JSON, the most frequent spelling; None for another text."""
    import json

    try:
        array = np.array(json.loads(text))
    except (ValueError, RecursionError):
        return None
    is_plain = (
        array.dtype.kind in "if"
        and array.dtype.itemsize == 8
        and not (array.dtype.kind == "f" and ("n" in text.lower() or np.isinf(array).any()))
    )
    return array if is_plain and array.size else None
