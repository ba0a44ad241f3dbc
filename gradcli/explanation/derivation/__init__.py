"""The reverse pass of a program as statements, one for each value that has a name."""
