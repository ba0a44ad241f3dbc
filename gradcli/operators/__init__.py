"""The table of operators. Importing this package fills it."""

from . import (
    arithmetic,
    contractions,
    decompositions,
    indexing,
    inverses,
    least_squares,
    leaves,
    losses,
    matrix,
    networks,
    numpy_names,
    pointwise,
    products,
    reductions,
    reflections,
    shaping,
    singular,
    spectral,
    triangular,
)
from .families import SHORTHANDS

__all__ = ["SHORTHANDS"]
