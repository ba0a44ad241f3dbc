"""Formulas of a request: how they are written, tried out, and for which sizes they hold."""
