"""Which parameters those functions of PyTorch have that are written in Python, and what Python says
of calls that do not fit them.

`keywords.txt` has them by module. Of functions that are not written in Python, signatures.py knows
what is said.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..python.values import error

TABLE = Path(__file__).with_name("keywords.txt")


@cache
def _parameters() -> dict[str, list[str]]:
    """The parameters of functions by path."""
    result: dict[str, list[str]] = {}
    module = ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            name, *parameters = line.split()
            result[f"{module}.{name}"] = parameters
        else:
            module = line.rstrip(":")
    return result


def parameters_of(path: str) -> list[str]:
    """The parameters of a function; none where it is not in the table."""
    return _parameters().get(path, [])


def check_keywords(path: str, name: str, given: int, named: Mapping[str, Any]) -> None:
    """Refuse names that a function has no parameter for, and parameters that are not given."""
    parameters = parameters_of(f"{path}.{name}")
    if not parameters:
        return
    names = [p.rstrip("=") for p in parameters]
    for key in named:
        if key not in names:
            raise error("TypeError", f"{name}() got an unexpected keyword argument '{key}'")
        if key in names[:given]:
            raise error("TypeError", f"{name}() got multiple values for argument '{key}'")
    rest = parameters[given:]
    missing = [repr(p) for p in rest if not p.endswith("=") and p not in named]
    if missing:
        listed = missing[0] if len(missing) == 1 else _listed(missing)
        arguments = "argument" if len(missing) == 1 else "arguments"
        text = f"{name}() missing {len(missing)} required positional {arguments}: {listed}"
        raise error("TypeError", text)


def _listed(names: list[str]) -> str:
    comma = "," if len(names) > 2 else ""
    return ", ".join(names[:-1]) + f"{comma} and {names[-1]}"
