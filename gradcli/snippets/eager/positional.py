"""How many arguments functions of PyTorch take without keywords.

`positional.txt` has them by module, for the functions that gradcli has: `celu=1-2` takes one or
two; `sin=none` is a method that takes none; `quantile=~4`, which can be called in several ways, no
more than that. The tensor of a method does not count. Functions that are written in Python have
the parameters that `keywords.txt` lists.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from .keyword_arguments import parameters_of

TABLE = Path(__file__).with_name("positional.txt")


class Places(NamedTuple):
    """The least and the most arguments; `ways`: there are several ways to call the function."""

    least: int
    most: int
    ways: bool = False


@cache
def _table() -> dict[str, dict[str, str]]:
    result: dict[str, dict[str, str]] = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
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


def too_many(module: str, name: str, given: int) -> str | None:
    """What PyTorch says of more arguments than a function takes; None where it takes them, "" where
    PyTorch lists the ways to call it.
    """
    known = places(module, name)
    if known is None or given <= known.most:
        return None
    if known.ways:
        return ""
    if known.least < 0:
        return f"TensorBase.{name}() takes no arguments ({given} given)"
    return takes(name, known.least, known.most, given)


def takes(name: str, least: int, most: int, given: int) -> str:
    """PyTorch's message of more arguments without a keyword than `most`."""
    count = f"from {least} to {most}" if least < most else most
    arguments = "argument" if count == 1 else "arguments"
    were = "was" if given == 1 else "were"
    return f"{name}() takes {count} positional {arguments} but {given} {were} given"
