"""Parsing: expressions, shapes, values and seeds become graphs."""
