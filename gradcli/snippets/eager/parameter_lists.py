"""Parameters of PyTorch's functions: the number of positional arguments, the names of those written
in Python, and deprecated orders of arguments.

`keywords.txt` lists the parameters of functions that are written in Python, by module; errors of
the others are in signatures.py. `positional.txt` lists the number of positional arguments of the
functions that gradcli has: `celu=1-2` takes one or two; `sin=none` is a method without arguments;
`quantile=~4` has several signatures with at most four. The tensor before the dot of a method call
does not count. Deprecated orders are a field of the operators' definitions.
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
    """The parameters of functions, by path."""
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
    """The parameters of a function; an empty list if it is not in the table."""
    return _parameters().get(path, [])


def check_keywords(path: str, name: str, count: int, named: Mapping[str, Any]) -> None:
    """Refuse keywords that a function does not have, and missing arguments."""
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


# ---- numbers of positional arguments -------------------------------------------------------------

POSITIONAL = Path(__file__).with_name("positional.txt")


class PositionalCounts(NamedTuple):
    """The least and the largest number of positional arguments; `ways`: the function has several
    signatures.
    """

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
def positional_counts(module: str, name: str) -> PositionalCounts | None:
    """The numbers of positional arguments of a function of a module, or a method of torch.Tensor;
    None if they are not known.
    """
    text = _table().get(module, {}).get(name)
    if text is None:
        parameters = parameters_of(f"{module}.{name}")
        needed = sum(not p.endswith("=") for p in parameters)
        return PositionalCounts(needed, len(parameters)) if parameters else None
    if text == "none":
        return PositionalCounts(-1, 0)
    least, _, most = text.removeprefix("~").partition("-")
    return PositionalCounts(int(least), int(most or least), text.startswith("~"))


def too_many(module: str, name: str, count: int) -> str | None:
    """PyTorch's error for too many positional arguments; None if there are not too many, "" if the
    message lists signatures.
    """
    known = positional_counts(module, name)
    if known is None or count <= known.most:
        return None
    if known.ways:
        return ""
    if known.least < 0:
        return f"TensorBase.{name}() takes no arguments ({count} given)"
    return takes(name, known.least, known.most, count)


def takes(name: str, least: int, most: int, passed: int) -> str:
    """PyTorch's message for more than `most` positional arguments."""
    count = f"from {least} to {most}" if least < most else most
    arguments = "argument" if count == 1 else "arguments"
    were = "was" if passed == 1 else "were"
    return f"{name}() takes {count} positional {arguments} but {passed} {were} given"


# ---- deprecated orders ---------------------------------------------------------------------------

Call = tuple[tuple[Any, ...], dict[str, Any]]
FACTORS = ("alpha", "beta", "value")


def current(name: str, args: tuple[Any, ...], named: dict[str, Any]) -> Call:
    """The arguments in the current order, if a call uses a deprecated one. A method's tensor is the
    first argument; the name may end with an underscore.
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
