"""What is to be shown of an explanation."""

from typing import NamedTuple

from ..limits import DEFAULTS, LINE


class Choices(NamedTuple):
    """What to show of an explanation: sections (what is most needed, if none is named; all, in
    full), one element to follow, how much, how exactly, and of how many entries at most. `command`
    is what was typed, if this is for a shell. `followed`: a graph is drawn, and both passes through
    it are told, for a page that steps through them.
    """

    show: tuple[str, ...] = ()
    element: tuple[str, tuple[int, ...]] | None = None
    full: bool = False
    precision: int = 5
    entries: int = DEFAULTS["entries"]
    command: str = ""
    followed: bool = False

    @property
    def most(self) -> int:
        """Rows of a list before its middle is left out."""
        return max(self.entries // LINE, 24) if self.full else 24
