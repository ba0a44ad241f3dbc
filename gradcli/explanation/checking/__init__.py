"""How an answer is checked: finite differences, and how far a number can be trusted."""
