"""Pasted programs, run and converted to requests in the expression language."""
