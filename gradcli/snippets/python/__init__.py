"""Python's subset: values, and the machine that runs programs. Knows nothing of tensors."""
