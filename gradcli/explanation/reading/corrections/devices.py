"""Cures of devices that there are not: the program on the processor."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal

NOTE = "With a graphics processor the program runs as it is; here it is read without one."


def on_cpu(case: Case) -> Iterator[Proposal]:
    """No .cuda(), and "cpu" for the name of any other device."""
    moves = [c for c in case.methods("cuda", "mps", "xpu", everywhere=True) if not c.keywords]
    edits = [case.without_method(c) for c in moves]
    for node in case.of_type(ast.Constant, everywhere=True):
        if isinstance(node.value, str) and node.value.partition(":")[0] in ("cuda", "mps", "xpu"):
            edits.append(case.replacing(node, repr("cpu")))
    if edits:
        yield case.proposal(*edits, note=NOTE)
