"""Programs as they are pasted: what they ask for, and the expression in them."""
