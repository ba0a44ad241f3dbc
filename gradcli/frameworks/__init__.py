"""The same program in PyTorch and in JAX, where they are installed: to compare answers with."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from ..errors import GradcliError, did_you_mean
from ..graphs import Node

TITLES = {"torch": "PyTorch", "jax": "JAX"}


class Answer(NamedTuple):
    """A value and the gradient of each node asked for; None where none flows."""

    value: Any
    grads: dict[Node, Any]


class Unsaid(Exception):
    """The framework has no words for an operation, or no derivative of it."""


def answer(
    framework: str,
    out: Node,
    values: Mapping[Node, Any],
    seed: Any,
    wrt: list[Node],
    earlier: Sequence[Node] = (),
) -> Answer:
    """Value and gradients as a framework computes them; with `earlier` seeds, of the derivative of
    `out` by the only node of `wrt` that they make, one after the other. Raises Unsaid.
    """
    in_framework = import_module(f".in_{framework}", __name__)
    return in_framework.answer(out, values, seed, wrt, earlier)


def version(framework: str) -> str:
    """`PyTorch 2.13.0`. Raises GradcliError `option` where it is not installed, or not known."""
    if framework not in TITLES:
        hint = did_you_mean(framework, TITLES) or f"there are {' and '.join(TITLES)}"
        raise GradcliError("option", f"there is no framework {framework} here", hint=hint)
    from importlib import metadata

    try:
        return f"{TITLES[framework]} {metadata.version(framework).split('+')[0]}"
    except metadata.PackageNotFoundError:
        hint = f"pip install {framework}"
        raise GradcliError(
            "option", f"{TITLES[framework]} is not installed here", hint=hint
        ) from None
