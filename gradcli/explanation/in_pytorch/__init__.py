"""What PyTorch answers where mathematics leaves it open, and what it refuses."""
