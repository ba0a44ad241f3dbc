"""Why elements of a gradient are nan, infinite, zero or absent, and an equal expression with a
finite gradient.
"""

from .answer import Why, why_expression

__all__ = ["Why", "why_expression"]
