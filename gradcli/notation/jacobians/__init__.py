"""Jacobians from the Kronecker deltas of their index notation: names of structures, matrix
formulas, values.
"""
