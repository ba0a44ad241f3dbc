"""Pasted programs: found in a text, run by an interpreter, and recorded for an explanation."""
