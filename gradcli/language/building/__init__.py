"""The construction of graphs from statements."""
