"""The arguments of a request other than its program: values, seeds (upstream gradients), shapes,
integer inputs.
"""
