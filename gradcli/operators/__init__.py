"""The table of operators. Importing this package fills it."""

from . import (
    arithmetic,
    diagonals,
    embeddings,
    floats,
    gamma,
    indexing,
    joining,
    leaves,
    losses,
    matrix,
    networks,
    numpy_names,
    ordering,
    overwriting,
    pairs,
    pointwise,
    reductions,
    rounding,
    scattering,
    selecting,
    shaping,
    slices,
    special,
    splitting,
)
from .families import SHORTHANDS

__all__ = ["SHORTHANDS"]
