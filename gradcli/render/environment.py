"""The output device: its width and what it can show. It is passed down from cli, so that tests can
simulate any terminal.
"""

from collections.abc import Callable
from typing import NamedTuple

from ..limits import DEFAULTS, Limits


class Environment(NamedTuple):
    """`width` is in columns; `ascii`: only ASCII can be shown; `full`: everything up to the entries
    that `limits` allow is shown; `fixed`: lines are never longer than `width`, even then. `place`
    is where Markdown is pasted; `page` is the kind of LaTeX: "" for part of a page, a "standalone"
    document, or "overlay" for slides. `say` replaces the options of the shell that a text mentions
    by those of the caller, such as arguments in Python. `hurried`: there is no time to lay out
    more.
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
        """The number of entries up to which a table or a tensor is shown in full."""
        return (DEFAULTS if self.limits is None else self.limits.sizes)["entries"]

    @property
    def shows_more(self) -> str:
        """The option that shows more of a table."""
        if self.hurried:
            return "--limit seconds=N shows more"
        return "--limit entries=N shows more" if self.full else "--full shows all"
