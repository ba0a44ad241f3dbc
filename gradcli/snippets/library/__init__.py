"""The modules that programs can import: torch, numpy, math and others, as tables of values."""
