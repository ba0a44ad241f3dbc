"""The table of operators. Importing this package fills it."""

from . import (
    arithmetic,
    indexing,
    leaves,
    losses,
    matrix,
    networks,
    norms,
    numpy_names,
    order,
    pointwise,
    reductions,
    running,
    shaping,
    singular,
    statistics,
)
from .families import SHORTHANDS

__all__ = ["SHORTHANDS"]
