"""The gradients of PyTorch and JAX at points without a derivative, as kinks.json stores them.

scripts/docs writes the file, and the tests compute it again (tests/measured_kinks.py).
"""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("kinks.json")


class Kink(NamedTuple):
    """A point without a derivative: the expression, the values, and the element `by` that varies;
    the one-sided derivatives `left` and `right`; and the gradients of PyTorch and JAX, the latter
    None if JAX lacks the operator.
    """

    operator: str
    expr: str
    at: str
    by: str
    left: str
    right: str
    pytorch: str
    jax: str | None


@cache
def known() -> dict[str, list[Kink]]:
    """The stored kinks, by operator."""
    result: dict[str, list[Kink]] = {}
    for row in json.loads(FILE.read_text("utf-8"))["kinks"]:
        kink = Kink(*row)
        result.setdefault(kink.operator, []).append(kink)
    return result
