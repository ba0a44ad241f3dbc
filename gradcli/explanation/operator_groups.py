"""The families of operators in groups, read from operator_groups.txt."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Family(NamedTuple):
    """The title of a family, and the modules of gradcli/operators that define its members."""

    title: str
    modules: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the family in JSON: that of its first module."""
        return self.modules[0]


class Group(NamedTuple):
    """A group of families, with other names under which users may look for it."""

    title: str
    families: tuple[Family, ...]
    names: str


def _groups() -> tuple[Group, ...]:
    """The groups in operator_groups.txt, whose first lines are a comment."""
    text = Path(__file__).with_suffix(".txt").read_text("utf-8")
    return tuple(map(_group, re.findall(r"(?m)^\w.*\n(?: .*\n)+", text)))


def _group(text: str) -> Group:
    head, *lines = text.splitlines()
    title, _, names = head.partition(": ")
    rows = (line.partition(": ") for line in lines)
    return Group(title, tuple(Family(row[2], tuple(row[0].split())) for row in rows), names)


GROUPS = _groups()
ACTIVATIONS = ("sigmoid", "relu", "leaky_relu", "elu", "softplus", "silu", "logsigmoid")
POOLING = ("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
ELSEWHERE = {  # families of operators that are defined in modules of other families
    **dict.fromkeys(ACTIVATIONS, "activations"),
    **dict.fromkeys(POOLING, "pooling"),
    "erf": "special",
}
BY_MODULE = Family("Functions that differ between modules", ("functional_names",))


def all_families() -> Iterator[Family]:
    """The families of all groups, and the names whose meaning differs between `torch` and `F`."""
    for group in GROUPS:
        yield from group.families
    yield BY_MODULE
