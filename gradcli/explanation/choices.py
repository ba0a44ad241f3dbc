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
ON_REQUEST = ("cost", "modes")  # shown only if --show names them
SHAPES_ALONE = ("cost", "modes")  # sections that are computed from shapes alone
TARGETS = {  # targets of `code`, each with its module in programs/
    "torch": "pytorch",
    "jax": "in_jax",
    "numpy": "in_numpy",
    "torch-function": "torch_function",
    "custom-vjp": "custom_vjp",
}


class Choices(NamedTuple):
    """What to show of an explanation.

    `show` names the sections. If it is empty, the short answer is shown, or, with `full`, all
    sections but those in ON_REQUEST. `element` is an element to follow, `precision` the number of
    digits, `entries` the largest number of entries to print. `command` is the command line as typed
    in a shell, or "". `extras` says whether to include what only pages show, such as the graph with
    both passes.
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
        """The sections in `show` that the short answer lacks; empty unless `show` also names a
        section of the short answer.
        """
        added = [name for name in SECTIONS if name in self.show and name not in SHORT]
        return added if len(added) < len(set(self.show)) else []

    @property
    def most(self) -> int:
        """The largest number of rows of a list that is shown in full."""
        return max(self.entries // LINE, 24) if self.full else 24

    def index_in(self, name: str) -> tuple[int, ...] | None:
        """The index of the element to follow, if it belongs to the input `name`; otherwise None."""
        return self.element[1] if self.element is not None and self.element[0] == name else None
