"""Graphs as code: PyTorch, NumPy, JAX."""
