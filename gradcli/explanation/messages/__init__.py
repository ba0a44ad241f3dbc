"""PyTorch's error messages about gradients: recognised in pasted texts, and explained."""
