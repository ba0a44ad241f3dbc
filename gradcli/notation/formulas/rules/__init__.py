"""Identities that make formulas shorter, as texts or short functions; for display only.

A rule takes a node whose inputs are already simplified, and returns equal nodes of the same shape,
or None if it does not apply. It may assume that no number is nan or infinite, and that no
denominator is 0.
"""

from . import (  # noqa: F401
    assumed,
    atoms,
    blocks,
    broadcasting,
    chains,
    choices,
    complements,
    contractions,
    elementary,
    elements,
    exponentials,
    factoring,
    foreign,
    fractions,
    guards,
    interpolation,
    keepdim,
    known_matrices,
    known_values,
    kronecker,
    labels,
    matrices,
    matrix_products,
    permutations,
    piecewise_linear,
    places,
    powers,
    products,
    reductions,
    redundant_masks,
    scatter_add,
    shared_matrices,
    softmax,
    square_matrices,
    triangular,
    vectors,
)
from .registry import CANDIDATES, FINAL, LAYOUT, NORMAL, RULES, Rule, apply_rules

# Formulas write scattered elements as products with rows of eye(n); code calls a function.
IN_CODE = {name: rules for name, rules in LAYOUT.items() if name != "put_at"}

__all__ = ["CANDIDATES", "FINAL", "IN_CODE", "LAYOUT", "NORMAL", "RULES", "Rule", "apply_rules"]
