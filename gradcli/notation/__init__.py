"""Graphs as text: formulas, index notation, code."""
