"""Identities that make formulas shorter, one short function each. For display only.

A rule is given a node whose inputs are already short, and answers with an equal one of the same
shape. It may take for granted that no number is nan or infinite, and that no denominator is 0.
"""

from . import broadcasting, matrices, places, products, sums
from .registry import LAYOUT, RULES, Rule, layout, rule

# Code has functions that put elements at places, where a formula multiplies by parts of eye(n).
IN_CODE = {name: rules for name, rules in LAYOUT.items() if name != "put_at"}

__all__ = [
    "IN_CODE", "LAYOUT", "RULES", "Rule", "broadcasting", "layout", "matrices", "places",
    "products", "rule", "sums",
]  # fmt: skip
