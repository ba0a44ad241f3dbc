"""Parameters of PyTorch's functions, for the errors of wrong calls: the parameters' names, how many
arguments may be positional, and deprecated orders of arguments.

`keywords.txt` lists, by module, the parameters of those functions of PyTorch that are written in
Python; signatures.py has the errors of native functions. `positional.txt` lists how many positional
arguments a function takes: `celu=1-2` takes one or two; `sin=none` is a method without arguments;
`quantile=~4` has several signatures, with at most four. The tensor before the dot of a method call
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
    """The parameter names of each function in keywords.txt, by dotted name, such as
    torch.nn.functional.celu. Names of parameters with a default end with "=".
    """
    result: dict[str, list[str]] = {}
    module = ""
    for line in KEYWORDS.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            name, *parameters = line.split()
            result[f"{module}.{name}"] = parameters
        else:
            module = line.rstrip(":")
    return result


def parameters_of(dotted_name: str) -> list[str]:
    """The parameter names of a function, such as torch.nn.functional.celu; those with a default end
    with "=". Empty if the function is not in the table.
    """
    return _parameters().get(dotted_name, [])


def check_keywords(module: str, name: str, count: int, named: Mapping[str, Any]) -> None:
    """Raise Python's TypeError if a call with `count` positional arguments has an unknown keyword,
    two values for a parameter, or a missing argument. Functions that are not in the table are not
    checked.
    """
    parameters = parameters_of(f"{module}.{name}")
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
    """Two or more names as Python's messages list them: 'a', 'b', and 'c'."""
    comma = "," if len(names) > 2 else ""
    return ", ".join(names[:-1]) + f"{comma} and {names[-1]}"


# ---- numbers of positional arguments -------------------------------------------------------------

POSITIONAL = Path(__file__).with_name("positional.txt")


class PositionalCounts(NamedTuple):
    """The smallest and the largest number of positional arguments of a function.

    `least` is -1 for a method without arguments. `overloaded`: the function has several signatures,
    and only the largest number is known.
    """

    least: int
    most: int
    overloaded: bool = False


@cache
def _table() -> dict[str, dict[str, str]]:
    """The entries of `positional.txt`, such as "1-2", by module and name of the function."""
    result: dict[str, dict[str, str]] = {}
    for line in POSITIONAL.read_text(encoding="utf-8").splitlines():
        if line.endswith(":"):
            module = result[line[:-1]] = {}
        else:
            module |= dict(part.split("=") for part in line.split())
    return result


@cache
def positional_counts(module: str, name: str) -> PositionalCounts | None:
    """The numbers of positional arguments of a function of a module, or of a method for the module
    "torch.Tensor"; None if they are not known.
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


def message_if_too_many(module: str, name: str, count: int) -> str | None:
    """The error message if `count` positional arguments are too many; else None. It is "" if
    PyTorch's message lists the signatures, which are not known here.
    """
    known = positional_counts(module, name)
    if known is None or count <= known.most:
        return None
    if known.overloaded:
        return ""
    if known.least < 0:
        return f"TensorBase.{name}() takes no arguments ({count} given)"
    return too_many_message(name, known.least, known.most, count)


def too_many_message(name: str, least: int, most: int, passed: int) -> str:
    """Python's message for more than `most` positional arguments."""
    count = f"from {least} to {most}" if least < most else most
    arguments = "argument" if count == 1 else "arguments"
    were = "was" if passed == 1 else "were"
    return f"{name}() takes {count} positional {arguments} but {passed} {were} given"


# ---- deprecated orders ---------------------------------------------------------------------------

Call = tuple[tuple[Any, ...], dict[str, Any]]
FACTORS = ("alpha", "beta", "value")


def in_current_order(name: str, args: tuple[Any, ...], named: dict[str, Any]) -> Call:
    """The arguments of a call, converted from a deprecated order if the call uses one.

    In a deprecated order, numbers precede tensors, as in torch.add(x, 2, y). They become the
    keywords alpha, beta and value. The first argument of a method is its tensor; the name of an
    in-place method may end with an underscore.
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
    """Whether an argument matches a parameter: a number for alpha, beta, value, else a tensor."""
    return _is_factor(value) if name in FACTORS else isinstance(value, Tensor)


def _is_factor(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
