"""Jacobians from their deltas: names of structures, matrix formulas, numbers."""
