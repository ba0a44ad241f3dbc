"""Formulas as papers write them, and a writer each for LaTeX and MathML."""
