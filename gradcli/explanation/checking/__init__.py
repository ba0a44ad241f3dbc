"""Numerical checks of gradients: finite differences, conditioning, rounding."""
