"""LaTeX: lines, matrices, pages, slides."""
