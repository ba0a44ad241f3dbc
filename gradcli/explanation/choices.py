"""Which parts of an explanation to show, the sections of --show, and the targets of `code`."""

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
SHORT = ("answer", "inputs", "seed", "jacobian", "gradient", "claims", "checks", "notes")
ON_REQUEST = ("cost", "modes")  # shown where they are named, and only there
SHAPES_ALONE = ("cost", "modes")  # for these no array is made
TARGETS = {  # of `code`, each with its file of programs/
    "torch": "pytorch",
    "jax": "in_jax",
    "numpy": "in_numpy",
    "torch-function": "torch_function",
    "custom-vjp": "custom_vjp",
}


class Choices(NamedTuple):
    """What to show of an explanation: the sections (if none is named, the short answer, or with
    `full` all), an element to follow, the precision, and the largest number of entries. `command`
    is the command line, in a shell. `extras`: whether to include what only pages show, as the graph
    with both passes.
    """

    show: tuple[str, ...] = ()
    element: tuple[str, tuple[int, ...]] | None = None
    full: bool = False
    precision: int = 5
    entries: int = DEFAULTS["entries"]
    command: str = ""
    extras: bool = False

    @property
    def added(self) -> list[str]:
        """The sections that `show` names beyond those of the short answer, if it names both."""
        added = [name for name in SECTIONS if name in self.show and name not in SHORT]
        return added if len(added) < len(set(self.show)) else []

    @property
    def most(self) -> int:
        """The number of rows up to which a list is shown in full."""
        return max(self.entries // LINE, 24) if self.full else 24

    def index_in(self, name: str) -> tuple[int, ...] | None:
        """The index of the element to follow, if it is one of the input of this name."""
        return self.element[1] if self.element is not None and self.element[0] == name else None
