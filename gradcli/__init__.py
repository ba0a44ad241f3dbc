"""gradcli explains gradients: what they are, where they come from, and why."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .api import (
        Explanation,
        batch,
        check,
        code,
        cost,
        examples,
        explain,
        formula,
        grad,
        graph,
        hessian,
        jacobian,
        jvp,
        ops,
        read,
        seed_for,
        why,
    )
    from .errors import GradcliError

__version__ = "0.1.0"
__all__ = [
    "Explanation",
    "GradcliError",
    "batch",
    "check",
    "code",
    "cost",
    "examples",
    "explain",
    "formula",
    "grad",
    "graph",
    "hessian",
    "jacobian",
    "jvp",
    "ops",
    "read",
    "seed_for",
    "why",
]


def load_ipython_extension(shell: "Any") -> None:
    """Define the magics of `%load_ext gradcli`, which calls this function."""
    from .notebook import add_magics

    add_magics(shell)


def __getattr__(name: str) -> "Any":
    """Import a public name on first access."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import api, errors

    return getattr(errors if name == "GradcliError" else api, name)
