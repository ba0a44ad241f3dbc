"""Values of graphs: with NumPy, and over SymPy elements."""
