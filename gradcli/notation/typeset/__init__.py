"""Formulas in mathematical notation, and writers for LaTeX and MathML."""
