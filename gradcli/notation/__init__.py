"""Graphs as people write them: formulas, index notation, code."""
