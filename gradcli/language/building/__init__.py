"""Statements to nodes."""
