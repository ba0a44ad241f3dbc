"""The search for an equal expression whose gradient is finite."""

from .search import rewritten

__all__ = ["rewritten"]
