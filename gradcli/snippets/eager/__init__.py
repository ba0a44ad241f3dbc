"""PyTorch's eager mode over NumPy arrays: tensors with dtype, version and grad_fn."""
