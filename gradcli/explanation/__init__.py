"""The explanation as data: content, order and wording, independent of the format."""
