"""The parameters of PyTorch's functions: how many arguments they take without keywords, which names
of those written in Python, and which deprecated orders of arguments.

`keywords.txt` has the parameters of functions that are written in Python, by module; of others,
signatures.py knows what PyTorch's errors say. `positional.txt` has how many arguments functions
take without keywords, for those that gradcli has: `celu=1-2` takes one or two; `sin=none` is a
method that takes none; `quantile=~4`, which can be called in several ways, no more than that. The
tensor of a method does not count. Operators have their deprecated orders in their records.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ...operators import lookup
from ..python.values import error
from .tensor import Tensor

# ---- names of parameters ------------------------------------------------------------------------

KEYWORDS = Path(__file__).with_name("keywords.txt")


@cache
def _parameters() -> dict[str, list[str]]:
    """The parameters of functions by path."""
    result: dict[str, list[str]] = {}
    module = ""
    for line in KEYWORDS.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            name, *parameters = line.split()
            result[f"{module}.{name}"] = parameters
        else:
            module = line.rstrip(":")
    return result


def parameters_of(path: str) -> list[str]:
    """The parameters of a function; none where it is not in the table."""
    return _parameters().get(path, [])


def check_keywords(path: str, name: str, count: int, named: Mapping[str, Any]) -> None:
    """Refuse names that a function has no parameter for, and parameters that are not given."""
    parameters = parameters_of(f"{path}.{name}")
    if not parameters:
        return
    names = [p.rstrip("=") for p in parameters]
    for key in named:
        if key not in names:
            raise error("TypeError", f"{name}() got an unexpected keyword argument '{key}'")
        if key in names[:count]:
            raise error("TypeError", f"{name}() got multiple values for argument '{key}'")
    rest = parameters[count:]
    missing = [repr(p) for p in rest if not p.endswith("=") and p not in named]
    if missing:
        listed = missing[0] if len(missing) == 1 else _listed(missing)
        arguments = "argument" if len(missing) == 1 else "arguments"
        text = f"{name}() missing {len(missing)} required positional {arguments}: {listed}"
        raise error("TypeError", text)


def _listed(names: list[str]) -> str:
    comma = "," if len(names) > 2 else ""
    return ", ".join(names[:-1]) + f"{comma} and {names[-1]}"


# ---- how many arguments without keywords ---------------------------------------------------------

POSITIONAL = Path(__file__).with_name("positional.txt")


class Places(NamedTuple):
    """The least and the most arguments; `ways`: there are several ways to call the function."""

    least: int
    most: int
    ways: bool = False


@cache
def _table() -> dict[str, dict[str, str]]:
    result: dict[str, dict[str, str]] = {}
    for line in POSITIONAL.read_text(encoding="utf-8").splitlines():
        if line.endswith(":"):
            module = result[line[:-1]] = {}
        else:
            module |= dict(part.split("=") for part in line.split())
    return result


@cache
def places(module: str, name: str) -> Places | None:
    """Of a function of a module, or of a method of torch.Tensor; None where it is not known."""
    text = _table().get(module, {}).get(name)
    if text is None:
        parameters = parameters_of(f"{module}.{name}")
        needed = sum(not p.endswith("=") for p in parameters)
        return Places(needed, len(parameters)) if parameters else None
    if text == "none":
        return Places(-1, 0)
    least, _, most = text.removeprefix("~").partition("-")
    return Places(int(least), int(most or least), text.startswith("~"))


def too_many(module: str, name: str, count: int) -> str | None:
    """What PyTorch says of more arguments than a function takes; None where it takes them, "" where
    PyTorch lists the ways to call it.
    """
    known = places(module, name)
    if known is None or count <= known.most:
        return None
    if known.ways:
        return ""
    if known.least < 0:
        return f"TensorBase.{name}() takes no arguments ({count} given)"
    return takes(name, known.least, known.most, count)


def takes(name: str, least: int, most: int, passed: int) -> str:
    """PyTorch's message of more arguments without a keyword than `most`."""
    count = f"from {least} to {most}" if least < most else most
    arguments = "argument" if count == 1 else "arguments"
    were = "was" if passed == 1 else "were"
    return f"{name}() takes {count} positional {arguments} but {passed} {were} given"


# ---- deprecated orders ---------------------------------------------------------------------------

Call = tuple[tuple[Any, ...], dict[str, Any]]
FACTORS = ("alpha", "beta", "value")


def current(name: str, args: tuple[Any, ...], named: dict[str, Any]) -> Call:
    """The arguments of a call as the function takes them now; those of a method begin with its
    tensor, and its name may end with an underscore.
    """
    if len(args) < 3 or not any(map(_is_factor, args[:2])):
        return args, named
    for order in getattr(lookup(name.rstrip("_")), "deprecated_orders", ()):
        names = order.split()
        if len(names) == len(args) and all(map(_fits, names, args)):
            pairs = list(zip(names, args))
            tensors = tuple(a for n, a in pairs if n not in FACTORS)
            return tensors, {**named, **{n: a for n, a in pairs if n in FACTORS}}
    return args, named


def _fits(name: str, value: Any) -> bool:
    return _is_factor(value) if name in FACTORS else isinstance(value, Tensor)


def _is_factor(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
