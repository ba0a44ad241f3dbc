"""What is assumed about matrices: read, and compared with their values and shapes."""

from collections.abc import Collection, Mapping
from typing import Any

from ...errors import GradcliError, did_you_mean, short_repr
from ...graphs.shapes import Conflict, Shape, text
from ...lazy import np

Assumed = Mapping[str, tuple[str, ...]]

WORDS = ("symmetric", "posdef", "orthogonal", "diagonal")
EXAMPLE = "as in A=symmetric,posdef"
TOLERANCE = 1e-6  # relative, for values that were computed


def read_assumptions(given: str | Mapping[str, Any]) -> Assumed:
    """Words by name, from "A=symmetric,posdef,B=diagonal", or from a dict of texts and lists.

    Raises GradcliError for what cannot be assumed.
    """
    if isinstance(given, str):
        return _settled(_items(given))
    return _settled((name, word) for name, words in given.items() for word in _words(words))


def _items(said: str) -> list[tuple[str, str]]:
    found, name = [], ""
    for item in said.replace(";", ",").split(","):
        before, equals, word = item.rpartition("=")
        name = before.strip() if equals else name
        if not name:
            raise GradcliError("assume", f"{said} is not NAME=WORD", hint=EXAMPLE)
        found.append((name, word.strip()))
    return found


def _words(words: Any) -> list[str]:
    listed = words.split(",") if isinstance(words, str) else words
    if not isinstance(listed, Collection) or not all(isinstance(w, str) for w in listed):
        raise GradcliError("assume", f"{short_repr(words)} is not a list of words", hint=EXAMPLE)
    return [word.strip() for word in listed]


def _settled(items: Any) -> Assumed:
    found: dict[str, tuple[str, ...]] = {}
    for name, word in items:
        if word not in WORDS:
            said = f"{word or 'nothing'} cannot be assumed of {name}"
            raise GradcliError("assume", said, hint=did_you_mean(word, WORDS) or _can())
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), word)))
    return found


def _can() -> str:
    return f"{', '.join(WORDS[:-1])} and {WORDS[-1]} can"


def check_shape(name: str, words: Collection[str], shape: Shape) -> None:
    """Refuse a shape that no such matrix has."""
    said = f"{name} is assumed {words[0] if isinstance(words, tuple) else words} and has shape"
    if len(shape) != 2:
        raise GradcliError("shape", f"{said} {text(shape)}", hint="it must be a matrix")
    if shape[0] != shape[1]:
        raise Conflict(f"{said} {text(shape)}", *shape, hint="it must be square")


def check_value(name: str, words: Collection[str], value: Any) -> None:
    """Refuse a value that is not what it is assumed to be."""
    for word in words:
        if not _holds(word, np.asarray(value, dtype=float)):
            hint = "numbers are computed from the value; leave the assumption out"
            raise GradcliError("assume", f"the value of {name} is not {word}", hint=hint)


def made(words: Collection[str], array: Any) -> Any:
    """A matrix made of an array that is what is assumed; the array where nothing is."""
    if "posdef" in words:
        array = array @ array.T + np.eye(len(array))
    elif "symmetric" in words:
        array = (array + array.T) / 2
    if "diagonal" in words:
        array = np.diag(np.diag(array))
    if "orthogonal" not in words:
        return array
    left, _, right = np.linalg.svd(array)  # the nearest orthogonal matrix is what an array is
    return left @ right


def _holds(word: str, x: Any) -> bool:
    if word == "orthogonal":
        return _close(x @ x.T, np.eye(len(x)))
    if word == "diagonal":
        return bool((x == np.diag(np.diag(x))).all())
    if not _close(x, x.T):
        return False
    return word == "symmetric" or bool((np.linalg.eigvalsh(x) > 0).all())


def _close(x: Any, y: Any) -> bool:
    return bool(np.allclose(x, y, rtol=TOLERANCE, atol=TOLERANCE * max(1.0, abs(y).max(initial=0))))
