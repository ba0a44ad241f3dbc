"""Jacobians by their deltas: names of their structure, matrix formulas, numbers."""
