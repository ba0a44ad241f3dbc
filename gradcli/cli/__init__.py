"""Options in, exit status out."""
