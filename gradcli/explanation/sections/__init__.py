"""The sections of an explanation, a file each."""
