"""Where a matrix has entries, as paths of SVG: in a page, and in the picture of an answer."""

import re
from collections.abc import Iterator, Sequence

from ..explanation.blocks import Line, Picture

SHADES = (1, 2)  # of cells that are not empty


def fine_rows(picture: Picture) -> Sequence[str]:
    """The cells, as small as there are: a text of digits for each row."""
    return picture.fine or ["".join(map(str, row)) for row in picture.cells]


def fine_legend(picture: Picture) -> Line:
    """The legend of one kind of cell."""
    return picture.fine_legend if picture.fine else picture.legend


def outlines(rows: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Each shade that there is, and the path around its cells, which are squares of side 1."""
    for shade in SHADES:
        outline = "".join(_runs(rows, str(shade)))
        if outline:
            yield shade, outline


def _runs(rows: Sequence[str], shade: str) -> Iterator[str]:
    """The rectangles that cells of one shade make which follow each other in a row."""
    for r, row in enumerate(rows):
        for run in re.finditer(f"{shade}+", row):
            yield f"M{run.start()} {r}h{len(run[0])}v1h-{len(run[0])}z"
