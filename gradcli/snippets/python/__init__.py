"""An interpreter of a subset of Python: the values of programs, and the machine that runs them.
This package knows no tensors.
"""
