"""Changes of a program that raises, each tried out: what cures it and keeps what it is after."""

from . import cuts, functions, graphs, in_place, names, parameters, seeds, shapes

TABLES = (seeds, cuts, graphs, in_place, parameters, functions, shapes, names)
