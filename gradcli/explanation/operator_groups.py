"""The families of operators in groups, as operator_groups.txt has them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Family(NamedTuple):
    """A title, and the files of gradcli/operators that define its members."""

    title: str
    modules: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its name in JSON: that of its first file."""
        return self.modules[0]


class Group(NamedTuple):
    """Families, and names for those who look for one."""

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
ELSEWHERE = {  # families of operators that are defined in files of another family
    **dict.fromkeys(ACTIVATIONS, "activations"),
    **dict.fromkeys(POOLING, "pooling"),
    "erf": "special",
}
BY_MODULE = Family("Functions that differ between modules", ("functional_names",))


def all_families() -> Iterator[Family]:
    """The families of all groups, and names that mean other things in `torch` than in `F`."""
    for group in GROUPS:
        yield from group.families
    yield BY_MODULE
