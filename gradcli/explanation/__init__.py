"""The content of explanations, their order and their sentences, independent of the format."""
