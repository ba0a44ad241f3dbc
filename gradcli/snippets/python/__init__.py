"""An interpreter of a subset of Python: values, and the machine that runs programs. This package
knows no tensors.
"""
