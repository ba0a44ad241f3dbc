"""Inference of missing shapes."""
