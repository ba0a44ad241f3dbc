"""Gradients of graphs, as graphs."""
