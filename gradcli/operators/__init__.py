"""The table of operators. Importing this package fills it."""

from . import (
    arithmetic,
    indexing,
    leaves,
    losses,
    matrix,
    networks,
    numpy_names,
    pointwise,
    reductions,
    shaping,
)
from .families import SHORTHANDS

__all__ = ["SHORTHANDS"]
