"""The table of operators, a file for each family.

A file is imported when one of its names is asked for, so that start-up does not grow with the
table. `index.txt` says which files define a name (scripts/docs writes it); a name that it does not
list is looked for in all of them.
"""

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module

from ..graphs import OPS, Operator
from .families import SHORTHANDS

INDEX = os.path.join(__path__[0], "index.txt")
INTERNAL = {"input", "constant", "tensor", "size"}  # operators that are not called by their names


def everything() -> dict[str, Operator]:
    """The whole table, by name, file by file."""
    from pkgutil import iter_modules

    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return dict(sorted(OPS.items(), key=lambda entry: entry[1].module))


@cache
def lookup(name: str) -> Callable | None:
    """The operator or shorthand that a name calls; None where there is none."""
    for module in _index().get(name, ()):
        import_module(f"{__name__}.{module}")
    result = _known(name)
    if result is None and "." not in name:  # every `torch.name` is asked for with its module too
        everything()
        result = _known(name)
    return result


@cache
def functions() -> dict[str, Callable]:
    """Everything that can be called, by each of its names."""
    result: dict[str, Callable] = {n: op for n, op in everything().items() if n not in INTERNAL}
    for op in OPS.values():
        result.update(dict.fromkeys(op.aliases, op))
    return result | SHORTHANDS


def names() -> list[str]:
    """All names that can be called, from the index: nothing is imported."""
    return sorted(_index().keys() - INTERNAL)


def is_defined(name: str) -> bool:
    """Whether the index, or what has been imported, has a name: nothing is imported."""
    return name in _index() or name in OPS or name in SHORTHANDS


def _known(name: str) -> Callable | None:
    """What a name calls, of what has been imported."""
    if name in SHORTHANDS:
        return SHORTHANDS[name]
    aliased = next((op for op in OPS.values() if name in op.aliases), None)
    return aliased or (OPS[name] if name in OPS and name not in INTERNAL else None)


@cache
def _index() -> dict[str, list[str]]:
    """The files that define a name: operators, their aliases, shorthands."""
    result: dict[str, list[str]] = {}
    with open(INDEX, encoding="utf-8") as lines:
        for line in lines:
            module, _, names = line.partition(":")
            for name in names.split():
                result.setdefault(name, []).append(module)
    return result


def _find(name: str) -> None:
    """Import what defines an operator."""
    lookup(name)


OPS.find = _find
