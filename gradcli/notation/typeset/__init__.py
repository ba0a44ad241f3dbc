"""Formulas as they are shown: a walk, and a writer each for text, LaTeX and MathML."""
