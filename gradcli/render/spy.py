"""Sparsity patterns as SVG paths, for pages and pictures."""

import re
from collections.abc import Iterator, Sequence

from ..explanation.blocks import Line, Picture

SHADES = (1, 2)  # of cells with nonzero entries


def fine_rows(picture: Picture) -> Sequence[str]:
    """The pattern in its smallest cells: a string of digits for each row."""
    return picture.fine or ["".join(map(str, row)) for row in picture.cells]


def fine_legend(picture: Picture) -> Line:
    """The legend for the shades of cells."""
    return picture.fine_legend if picture.fine else picture.legend


def outlines(rows: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Each shade that occurs, with the path around its cells, which are unit squares."""
    for shade in SHADES:
        outline = "".join(_runs(rows, str(shade)))
        if outline:
            yield shade, outline


def _runs(rows: Sequence[str], shade: str) -> Iterator[str]:
    """The rectangles of consecutive cells with this shade in each row."""
    for r, row in enumerate(rows):
        for run in re.finditer(f"{shade}+", row):
            yield f"M{run.start()} {r}h{len(run[0])}v1h-{len(run[0])}z"
