"""Where the text goes: how wide it is and what it can show. Handed down from cli, so that tests can
be any terminal.
"""

from collections.abc import Callable
from typing import NamedTuple

from ..limits import DEFAULTS, Limits


class Environment(NamedTuple):
    """`width` in columns; `ascii` where only ASCII can be shown; `full` leaves nothing out of what
    has no more entries than the `limits` say; `fixed`: not even then is a line longer than `width`.
    `place` is where Markdown is pasted, if that is
    known; `page` what LaTeX is made as: a part of a page, a "standalone" document, or "overlay",
    slides. `say` is what is done to words about options, which are those of a shell. `hurried`:
    there is no time to lay out more.
    """

    width: int = 80
    color: bool = False
    ascii: bool = False
    precision: int = 5
    full: bool = False
    fixed: bool = False
    limits: Limits | None = None
    place: str = ""
    page: str = ""
    say: Callable[[str], str] = str
    hurried: bool = False

    @property
    def entries(self) -> int:
        """How many entries of a table or a tensor are shown in full."""
        return (DEFAULTS if self.limits is None else self.limits.sizes)["entries"]

    @property
    def shows_more(self) -> str:
        """The option that shows more of a table."""
        if self.hurried:
            return "--limit seconds=N shows more"
        return "--limit entries=N shows more" if self.full else "--full shows all"
