"""Identities that make formulas shorter, one short function each. For display only.

A rule is given a node whose inputs are already short, and answers with an equal one of the same
shape. It may take for granted that no number is nan or infinite, and that no denominator is 0.
"""

from . import (
    angles,
    assumed,
    atoms,
    batches,
    bends,
    broadcasting,
    chains,
    choices,
    complements,
    contractions,
    exponentials,
    factoring,
    foreign,
    fractions,
    functions,
    guards,
    interpolation,
    kept,
    known_values,
    kronecker,
    labels,
    letters,
    logistic,
    matrices,
    matrix_products,
    mirrored,
    moved,
    pairs,
    parts,
    places,
    powers,
    products,
    put,
    reductions,
    selected,
    shared_matrices,
    shares,
    signs,
    spectral,
    square,
    sums,
    triangular,
    vanishing,
    vectors,
)
from .registry import LAYOUT, NORMAL, OTHERS, RULES, Rule, layout, made_of, normal, other, rule

# Code has functions that put elements at places, where a formula multiplies by parts of eye(n).
IN_CODE = {name: rules for name, rules in LAYOUT.items() if name != "put_at"}

__all__ = [
    "IN_CODE", "LAYOUT", "NORMAL", "OTHERS", "RULES", "Rule", "angles", "assumed", "atoms",
    "batches", "bends", "broadcasting", "chains", "choices", "complements", "contractions",
    "exponentials", "factoring", "foreign", "fractions", "functions", "guards", "interpolation",
    "kept", "known_values", "kronecker", "labels", "layout", "letters", "logistic", "made_of",
    "matrices", "matrix_products", "mirrored", "moved", "normal", "other", "pairs", "parts",
    "places", "powers", "products", "put", "reductions", "rule", "selected", "shared_matrices",
    "shares", "signs", "spectral", "square", "sums", "triangular", "vanishing", "vectors",
]  # fmt: skip
