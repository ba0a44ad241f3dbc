"""Seeds for a wanted gradient."""
