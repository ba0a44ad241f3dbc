"""The table of operators. Importing this package fills it."""

from . import (  # noqa: F401
    arithmetic, indexing, leaves, losses, matrix, networks, pointwise, reductions, shaping,
)  # fmt: skip
from .families import SHORTHANDS

__all__ = ["SHORTHANDS"]
