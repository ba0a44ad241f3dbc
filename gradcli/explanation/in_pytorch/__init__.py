"""PyTorch's conventions at kinks, and derivatives that it refuses to compute."""
