"""Text in: expressions, shapes, values and seeds become graphs."""
