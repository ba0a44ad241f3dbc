"""Spellings of numbers in Python, NumPy, PyTorch, JAX and JSON, converted to a NumPy array."""

import re
from typing import Any

from ...errors import GradcliError, short_repr
from ...lazy import np

# The spellings of infinity, nan, True and False in JSON, NumPy, PyTorch and Python, and the words
# that they mean. In JSON, gradcli writes infinity as the string "inf".
SPELLINGS = {"Infinity": "inf", "+Infinity": "inf", "-Infinity": "-inf", "NaN": "nan"}
SPELLINGS |= {"true": "True", "false": "False", "np.True_": "True", "np.False_": "False"}
SPELLINGS |= {
    f"{sign}{module}.{word}": sign + word
    for sign in ("", "+", "-")
    for module in ("np", "numpy", "torch", "math")
    for word in ("inf", "nan")
}
for word in ("inf", "-inf", "nan"):
    SPELLINGS |= {f"'{word}'": word, f'"{word}"': word}
SPELLINGS |= {"-float('inf')": "-inf", '-float("inf")': "-inf"}
TRUTH = {"True": "1", "False": "0"}

WORDS = "|".join(map(re.escape, sorted([*SPELLINGS, *TRUTH], key=len, reverse=True)))
DIGITS = r"(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
NUMBER = (
    rf"(?:[+-]?(?:{DIGITS}|inf|nan)|{WORDS})"
    r"(?=[\s,\])]|\Z)"
)
LARGEST = "the largest number is about 1.8e308; infinity is written inf"
KINDS = {"bool": "bool", "float": "float|double|half", "int": "int|long|short|char|byte"}


def kind_of(name: str) -> str:
    """The kind of a dtype or tensor class, by its name: "float", "int", "bool", or ""."""
    if name in ("Tensor", "torch.Tensor"):
        return "float"
    return next((kind for kind, names in KINDS.items() if re.search(names, name.lower())), "")


def is_complex(name: str) -> bool:
    """Whether a name is that of a complex dtype: complex64, torch.cfloat."""
    return bool(re.search(r"complex|\bc(float|double|half)\b", name.lower()))


def numbers(words: list[str]) -> Any:
    """The numbers that `words` spell, as an array of shape (n,): of bool if all are True or False,
    of int64 if all are integers that it can hold, otherwise of float64.
    """
    if not words:
        return np.zeros(0)
    words = [SPELLINGS.get(word, word) for word in words]
    if TRUTH.keys() >= set(words):
        return np.array([word == "True" for word in words])
    words = [TRUTH.get(word, word) for word in words]
    try:
        return np.array(list(map(int, words)), dtype=np.int64)
    except (ValueError, OverflowError):
        array = np.array(list(map(float, words)), dtype=np.float64)
    beyond = np.flatnonzero(np.isinf(array)).tolist()
    large = next((words[k] for k in beyond if re.search("[0-9]", words[k])), None)
    if large is not None:
        digits = large.strip("+-")
        what = f"an integer of {len(digits)} digits" if digits.isdigit() else short_repr(large)
        raise GradcliError("value", f"{what} does not fit in a double", hint=LARGEST)
    return array


def cast(array: Any, kind: str) -> Any:
    """`array` converted to a kind; integers that int64 cannot hold stay float64."""
    if kind == "int" and not (np.abs(array.astype(float)) < 2**63).all():
        return array
    return array.astype(
        {"float": np.float64, "int": np.int64, "bool": np.bool_}.get(kind, array.dtype)
    )


def plain(array: Any) -> Any:
    """An array of bool, int, uint or float as bool, int64 or float64. Integers that int64 cannot
    hold become float64. Raises GradcliError `value` for a long double that is too large.
    """
    if array.dtype.kind == "b":
        return array
    whole = array.dtype.kind == "i" or (array.dtype.kind == "u" and (array < 2**63).all())
    with np.errstate(over="ignore"):
        result = array.astype(np.int64 if whole else np.float64, copy=False)
    if array.dtype.itemsize > result.itemsize and (np.isinf(result) & np.isfinite(array)).any():
        raise GradcliError("value", "a long double does not fit in a double", hint=LARGEST)
    return result
