"""Formulas of a problem as users see them, numerical tests, and the sizes for which they hold."""
