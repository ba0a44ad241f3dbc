"""Finds the programs in a pasted text, interprets them, and records what an explanation needs."""
