"""What a program imports: torch and its modules, numpy, math and the rest, as tables of values."""
