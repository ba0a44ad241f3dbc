"""What is to be shown of an explanation, and what --show calls its sections."""

from typing import NamedTuple

from ..limits import DEFAULTS, LINE

SECTIONS = (
    "answer",
    "inputs",
    "forward",
    "seed",
    "jacobian",
    "cost",
    "modes",
    "backward",
    "gradient",
    "claims",
    "checks",
    "code",
    "notes",
)
ON_REQUEST = ("cost", "modes")  # shown where they are named, and only there
SHAPES_ALONE = ("cost", "modes")  # for these no array is made


class Choices(NamedTuple):
    """What to show of an explanation: sections (what is most needed, if none is named; all, in
    full), one element to follow, how much, how exactly, and of how many entries at most. `command`
    is what was typed, if this is for a shell. `extras`: also what only a page has room for, as
    the graph with both passes through it.
    """

    show: tuple[str, ...] = ()
    element: tuple[str, tuple[int, ...]] | None = None
    full: bool = False
    precision: int = 5
    entries: int = DEFAULTS["entries"]
    command: str = ""
    extras: bool = False

    @property
    def most(self) -> int:
        """Rows of a list before its middle is left out."""
        return max(self.entries // LINE, 24) if self.full else 24
