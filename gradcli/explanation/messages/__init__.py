"""Error messages of PyTorch that concern gradients: recognised as people paste them, explained."""
