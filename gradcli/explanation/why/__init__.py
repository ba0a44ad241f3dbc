"""Why elements of a gradient are nan, infinite, zero or absent, and an expression that cures it."""

from .answer import Why, why_expression

__all__ = ["Why", "why_expression"]
