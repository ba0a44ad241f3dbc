"""An interpreter of a subset of Python: values, and the machine that runs programs. Knows no
tensors.
"""
