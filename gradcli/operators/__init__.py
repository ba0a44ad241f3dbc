"""The table of operators. Importing this package fills it."""

from . import (
    arithmetic,
    attention,
    convolution,
    indexing,
    leaves,
    losses,
    matrix,
    networks,
    numpy_names,
    padding,
    pointwise,
    pooling,
    reductions,
    resampling,
    shaping,
    windows,
)
from .families import SHORTHANDS

__all__ = ["SHORTHANDS"]
