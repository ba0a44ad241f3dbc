"""The table of operators. Importing this package fills it."""

from . import (
    arithmetic,
    diagonals,
    embeddings,
    indexing,
    joining,
    leaves,
    losses,
    matrix,
    networks,
    numpy_names,
    ordering,
    overwriting,
    pointwise,
    reductions,
    scattering,
    selecting,
    shaping,
    slices,
    splitting,
)
from .families import SHORTHANDS

__all__ = ["SHORTHANDS"]
