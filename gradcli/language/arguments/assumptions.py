"""Assumptions on inputs: parsing, checks against values and shapes, and arrays that have them.

The words are ASSUMPTIONS in fields.py.
"""

from collections.abc import Collection, Mapping
from typing import Any

from ...errors import GradcliError, did_you_mean, short_repr
from ...fields import ASSUMPTIONS
from ...graphs.shapes import Conflict, Shape, text
from ...lazy import np

Assumed = Mapping[str, tuple[str, ...]]

OF_MATRICES = (
    *("symmetric", "posdef", "orthogonal", "diagonal", "skew", "permutation"),
    *("invertible", "lower", "upper"),
)
SYNONYMS = {
    "lower-triangular": "lower", "upper-triangular": "upper", "tril": "lower", "triu": "upper",
    "row-stochastic": "simplex", "stochastic": "simplex", "one-hot": "onehot",
    "one-hot-rows": "onehot", "unit-norm": "unit", "nonsingular": "invertible",
    "skew-symmetric": "skew", "antisymmetric": "skew", "positive-definite": "posdef",
    "spd": "posdef", "nonnegative": "nonneg", "non-negative": "nonneg", "orthonormal": "orthogonal",
}  # fmt: skip
IN_ROWS = ("simplex", "onehot")  # properties of each row
EXAMPLE = "as in A=symmetric,posdef"
TOLERANCE = 1e-6  # relative, for values that were computed


def read_assumptions(assumptions: str | Mapping[str, Any]) -> Assumed:
    """Assumptions by name, from "A=symmetric,posdef,B=diagonal", or from a dict of texts and lists.
    Raises GradcliError for an unknown assumption, or for several that exclude each other.
    """
    if isinstance(assumptions, str):
        return _resolved(_items(assumptions))
    return _resolved((name, word) for name, words in assumptions.items() for word in _words(words))


def _items(text: str) -> list[tuple[str, str]]:
    result, name = [], ""
    for item in text.replace(";", ",").split(","):
        before, equals, word = item.rpartition("=")
        name = before.strip() if equals else name
        if not name:
            raise GradcliError("assume", f"{text} is not NAME=WORD", hint=EXAMPLE)
        result.append((name, word.strip()))
    return result


def _words(words: Any) -> list[str]:
    listed = words.split(",") if isinstance(words, str) else words
    listed = listed.tolist() if hasattr(listed, "tolist") else listed
    if not isinstance(listed, Collection) or not all(isinstance(w, str) for w in listed):
        raise GradcliError("assume", f"{short_repr(words)} is not a list of words", hint=EXAMPLE)
    return [word.strip() for word in listed]


def _resolved(items: Any) -> Assumed:
    result: dict[str, tuple[str, ...]] = {}
    for name, written in items:
        word = SYNONYMS.get(written.lower().replace("_", "-").replace(" ", "-"), written)
        if word not in ASSUMPTIONS:
            message = f"{word or 'nothing'} cannot be assumed of {name}"
            raise GradcliError("assume", message, hint=did_you_mean(word, ASSUMPTIONS) or _can())
        result[name] = tuple(dict.fromkeys((*result.get(name, ()), word)))
    return result


def _can() -> str:
    *most, last = ASSUMPTIONS
    return f"{', '.join(most)} and {last} can"


def check_shape(name: str, words: Collection[str], shape: Shape) -> None:
    """Raise GradcliError for a shape that the assumptions exclude."""
    message = f"{name} is assumed {words[0] if isinstance(words, tuple) else words} and has shape"
    if "unit" in words and len(shape) != 1:
        raise GradcliError("shape", f"{message} {text(shape)}", hint="it must be a vector")
    if not {*words}.isdisjoint(IN_ROWS) and not shape:
        raise GradcliError("shape", f"{message} {text(shape)}", hint="it must have rows")
    if not {*words} & {*OF_MATRICES}:
        return
    if len(shape) != 2:
        raise GradcliError("shape", f"{message} {text(shape)}", hint="it must be a matrix")
    if shape[0] != shape[1]:
        raise Conflict(f"{message} {text(shape)}", *shape, hint="it must be square")


def check_value(name: str, words: Collection[str], value: Any) -> None:
    """Raise GradcliError for a value that does not satisfy the assumptions."""
    for word in words:
        if not _CHECKS[word](np.asarray(value, dtype=float)):
            hint = "numbers are computed from the value; leave the assumption out"
            raise GradcliError("assume", f"the value of {name} is not {word}", hint=hint)


def with_properties(words: Collection[str], array: Any) -> Any:
    """`array`, modified to have the assumed properties."""
    for word, make in _MAKERS.items():
        if word in words and not (word == "symmetric" and "posdef" in words):
            array = make(array)
    return array


def _orthogonal(array: Any) -> Any:
    """The nearest orthogonal matrix."""
    left, _, right = np.linalg.svd(array)
    return left @ right


def _permutation(array: Any) -> Any:
    """The permutation matrix that sorts the first column."""
    return np.eye(len(array))[np.argsort(array[:, 0])] if len(array) else array


def _one_hot(array: Any) -> Any:
    """For each row, the row of the identity matrix with 1 where it is largest."""
    return np.eye(array.shape[-1])[array.argmax(-1)] if array.size else array


_MAKERS = {
    "posdef": lambda x: x @ x.T + np.eye(len(x)),
    "symmetric": lambda x: (x + x.T) / 2,
    "skew": lambda x: x - x.T,
    "diagonal": lambda x: np.diag(np.diag(x)),
    "orthogonal": _orthogonal,
    "permutation": _permutation,
    "invertible": lambda x: x + (1 + np.abs(x).sum()) * np.eye(len(x)),
    "lower": np.tril,
    "upper": np.triu,
    "positive": lambda x: np.abs(x) + 0.1,
    "nonneg": np.abs,
    "simplex": lambda x: (np.abs(x) + 0.1) / (np.abs(x) + 0.1).sum(-1, keepdims=True),
    "onehot": _one_hot,
    "unit": lambda x: (np.abs(x) + 0.1) / np.linalg.norm(np.abs(x) + 0.1),
}


_CHECKS = {
    "symmetric": lambda x: _close(x, x.T),
    "posdef": lambda x: _close(x, x.T) and (np.linalg.eigvalsh(x) > 0).all(),
    "orthogonal": lambda x: _close(x @ x.T, np.eye(len(x))),
    "diagonal": lambda x: (x == np.diag(np.diag(x))).all(),
    "skew": lambda x: _close(x, -x.T),
    "permutation": lambda x: ((x == 0) | (x == 1)).all() and _close(x @ x.T, np.eye(len(x))),
    "invertible": lambda x: np.linalg.matrix_rank(x) == len(x),
    "lower": lambda x: (x == np.tril(x)).all(),
    "upper": lambda x: (x == np.triu(x)).all(),
    "positive": lambda x: (x > 0).all(),
    "nonneg": lambda x: (x >= 0).all(),
    "simplex": lambda x: (x >= 0).all() and _close(x.sum(-1), np.ones(x.shape[:-1])),
    "onehot": lambda x: ((x == 0) | (x == 1)).all() and (x.sum(-1) == 1).all(),
    "unit": lambda x: _close(np.linalg.norm(x), np.ones(())),
}


def _close(x: Any, y: Any) -> bool:
    return bool(np.allclose(x, y, rtol=TOLERANCE, atol=TOLERANCE * max(1.0, abs(y).max(initial=0))))
