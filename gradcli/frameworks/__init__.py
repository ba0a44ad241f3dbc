"""The value and gradients of a graph in PyTorch or JAX, if installed, for `check --against`."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from ..errors import GradcliError, did_you_mean
from ..graphs import Node

TITLES = {"torch": "PyTorch", "jax": "JAX"}


class Answer(NamedTuple):
    """The value, and the gradient of each requested node; None if it does not depend on it."""

    value: Any
    grads: dict[Node, Any]


class NotSupported(Exception):
    """The framework has no equivalent of an operation, or does not differentiate it."""


def answer(
    framework: str,
    out: Node,
    values: Mapping[Node, Any],
    seed: Any,
    wrt: list[Node],
    earlier: Sequence[Node] = (),
) -> Answer:
    """Value and gradients of `out`, computed by a framework.

    For higher derivatives, `out` is first replaced by its gradient for the first seed in `earlier`,
    then by the gradient of this gradient for the second seed, and so on; `wrt` must then have one
    node. Raises NotSupported.
    """
    in_framework = import_module(f".in_{framework}", __name__)
    return in_framework.answer(out, values, seed, wrt, earlier)


def version(framework: str) -> str:
    """The title and version of a framework: `PyTorch 2.13.0`. Raises GradcliError `option` for an
    unknown or missing one.
    """
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
