"""Formulas of a problem: their wording, numerical tests, and the sizes for which they hold."""
