"""Explanations of programs that were run: each backward pass, errors, and their corrections."""
