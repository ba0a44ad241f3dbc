"""What a request gives beside its program: values, seeds, shapes, labels."""
