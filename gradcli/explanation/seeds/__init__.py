"""Seeds that produce a target gradient."""
