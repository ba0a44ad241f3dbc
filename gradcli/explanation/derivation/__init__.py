"""The reverse pass of a program as statements: the gradient of each value that has a name, by name."""
