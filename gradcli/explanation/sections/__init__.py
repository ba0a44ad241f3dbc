"""The sections of an explanation."""
