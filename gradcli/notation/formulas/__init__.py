"""Graphs as matrix formulas: written, and as short as they can be found."""
