"""Index notation: lowering of graphs, simplification, and writing."""
