"""The table of operators. Importing this package fills it."""

from . import (
    activations,
    arithmetic,
    classification,
    distances,
    dropout,
    indexing,
    leaves,
    losses,
    matrix,
    networks,
    normalisation,
    numpy_names,
    pointwise,
    reductions,
    sequences,
    shaping,
)
from .families import SHORTHANDS

__all__ = ["SHORTHANDS"]
