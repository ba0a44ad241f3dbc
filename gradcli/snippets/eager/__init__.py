"""PyTorch as a program meets it: tensors with dtype, version and gradient, operations, autograd."""
