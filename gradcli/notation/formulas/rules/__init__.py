"""Identities that make formulas shorter: texts, or short functions. For display only.

A rule is given a node whose inputs are already short, and answers with equal ones of the same
shape. It may take for granted that no number is nan or infinite, and that no denominator is 0.
"""

from . import (  # noqa: F401
    assumed,
    atoms,
    batches,
    broadcasting,
    chains,
    choices,
    complements,
    contractions,
    einsum_to_matmul,
    elementary,
    factoring,
    foreign,
    fractions,
    guards,
    interpolation,
    keepdim,
    known_matrices,
    known_values,
    kronecker,
    matrices,
    matrix_products,
    one_hot,
    parts,
    permutations,
    piecewise_linear,
    places,
    powers,
    products,
    reductions,
    redundant_masks,
    scatter_add,
    selected,
    shared_matrices,
    softmax,
    spectral,
    square,
    sums,
    triangular,
    vectors,
)
from .registry import LAYOUT, NORMAL, OTHERS, RULES, Rule, made_of

# Code has functions that put elements at places, where a formula multiplies by parts of eye(n).
IN_CODE = {name: rules for name, rules in LAYOUT.items() if name != "put_at"}

__all__ = ["IN_CODE", "LAYOUT", "NORMAL", "OTHERS", "RULES", "Rule", "made_of"]
