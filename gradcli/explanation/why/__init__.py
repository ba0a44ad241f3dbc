"""Why elements of a gradient are nan, infinite, zero or absent, and an equal expression without
this.
"""

from .answer import Why, why_expression

__all__ = ["Why", "why_expression"]
