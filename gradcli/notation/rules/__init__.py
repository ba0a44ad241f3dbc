"""Identities that make formulas shorter, one short function each. For display only.

A rule is given a node whose inputs are already short, and answers with an equal one of the same
shape. It may take for granted that no number is nan or infinite, and that no denominator is 0.
"""

from . import (
    assumed,
    atoms,
    broadcasting,
    chains,
    factoring,
    foreign,
    functions,
    guards,
    matrices,
    places,
    products,
    reductions,
    sums,
)
from .registry import LAYOUT, NORMAL, OTHERS, RULES, Rule, layout, normal, other, rule

__all__ = [
    "LAYOUT", "NORMAL", "OTHERS", "RULES", "Rule", "assumed", "atoms", "broadcasting", "chains",
    "factoring", "foreign", "functions", "guards", "layout", "matrices", "normal", "other",
    "places", "products", "reductions", "rule", "sums",
]  # fmt: skip
