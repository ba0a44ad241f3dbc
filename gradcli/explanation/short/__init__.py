"""The short form of an explanation, a file for each of its parts."""
