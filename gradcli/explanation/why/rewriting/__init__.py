"""An expression that is equal to another, and finite where that one's gradient is not."""

from .search import rewritten

__all__ = ["rewritten"]
