"""Changes of a program that raises, each tried out: what cures it and keeps what it is after."""
