"""Parsing: expressions, shapes, values and seeds (upstream gradients) become graphs."""
