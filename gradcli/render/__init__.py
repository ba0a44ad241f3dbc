"""Explanations as text: a file for each format."""
