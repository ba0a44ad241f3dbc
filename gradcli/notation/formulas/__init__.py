"""Graphs as matrix formulas, and the search for short ones."""
