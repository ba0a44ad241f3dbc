"""The table of operators. Importing this package fills it."""

from . import (
    arithmetic,
    floats,
    gamma,
    indexing,
    leaves,
    losses,
    matrix,
    networks,
    numpy_names,
    pairs,
    pointwise,
    reductions,
    rounding,
    shaping,
    special,
)
from .families import SHORTHANDS

__all__ = ["SHORTHANDS"]
