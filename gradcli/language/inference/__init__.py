"""Shapes that nobody gave."""
