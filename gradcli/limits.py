"""Limits on the size of a request, which bound its time and memory."""

from .budget import Budget
from .errors import GradcliError, Span

DEFAULTS = {
    "length": 4_000_000,  # characters of an expression, a value or a file
    "name": 10_000,  # characters of a name
    "nesting": 100,  # brackets within brackets, calls within calls
    "operations": 32_000,  # nodes of the graph
    "explained": 8_100,  # nodes of the graph of a program that is explained
    "written": 4_500,  # nodes of the graph of a program that is written as code, or has tangents
    "elements": 20_000_000,  # elements of one tensor
    "digits": 1_000,  # digits of an integer that is written out or computed from literals
    "seconds": 2,  # of CPU time; searches end a little earlier
    "memory": 450_000_000,  # bytes of the arrays that are needed at the same time
    "numbers": 2_000_000,  # numbers that are written out as JSON
    "entries": 10_000,  # entries of a table or a tensor that --full writes out
}
MOST_ORDER = 9  # of a derivative
PRECISIONS, WIDTHS = (1, 17), (40, 10_000)  # digits; columns
UNITS = {
    "length": "characters",
    "name": "characters",
    "memory": "bytes of memory",
    "explained": "operations that are explained",
    "written": "operations that are written out",
}
BYTES_OF_NUMBER = 32  # the most bytes of a number in JSON, including the separator
LINE = 20  # a line of a list counts as this many entries
NO_MEMORY = "there is not enough memory for this request"
TOO_DEEP = "this request has too long a chain of operations"


def hint(kind: str) -> str:
    """The hint for an error about a limit."""
    return f"--limit {kind}=N raises it"


class Limits:
    """The limits of a request; `Limits({"elements": 10**8})` raises one of them.

    With `shapes_alone` no array is created, and a tensor may have any size. `files`: whether values
    may be read from files. `budget`: the time that searches may take.
    """

    __slots__ = ("budget", "files", "shapes_alone", "sizes")

    def __init__(
        self,
        raised: dict[str, int] | None = None,
        *,
        shapes_alone: bool = False,
        files: bool = False,
        budget: Budget | None = None,
    ):
        self.sizes, self.shapes_alone = DEFAULTS | (raised or {}), shapes_alone
        self.files, self.budget = files, budget or Budget(self.sizes["seconds"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limits) and self.sizes == other.sizes

    def __hash__(self) -> int:
        return hash(tuple(self.sizes.items()))

    def without(self, kind: str) -> "Limits":
        """These limits without the one of this `kind`."""
        return self._with(self.sizes | {kind: 10**30}, self.shapes_alone, self.budget)

    def for_shapes(self) -> "Limits":
        """These limits for a request that creates no array."""
        return self._with(self.sizes, True, self.budget)

    def renewed(self) -> "Limits":
        """These limits with a new budget, for another request."""
        return self._with(self.sizes, self.shapes_alone, None)

    def _with(self, sizes: dict[str, int], shapes_alone: bool, budget: Budget | None) -> "Limits":
        return Limits(sizes, shapes_alone=shapes_alone, files=self.files, budget=budget)

    @property
    def bytes_of_text(self) -> int:
        """How many bytes of a text are read: more than the longest allowed text has in UTF-8."""
        return 4 * self.sizes["length"] + 4  # UTF-8 has at most 4 bytes per character

    @property
    def bytes_of_answer(self) -> int:
        """The most bytes of an answer in JSON: its numbers, and text as long as the request."""
        return self.bytes_of_text + BYTES_OF_NUMBER * self.sizes["numbers"]

    def check_shape(self, elements: int, what: str, span: Span | None = None) -> None:
        """Raise GradcliError for a tensor that is too large, unless only shapes are computed."""
        if not self.shapes_alone:
            self.check("elements", elements, what, span)

    def check(self, kind: str, size: int, what: str, span: Span | None = None) -> None:
        """Raise GradcliError if `size` exceeds the limit of this `kind`; `what` describes it."""
        allowed = self.sizes[kind]
        if size > allowed:
            shown = f"{size:,}" if size < 10**15 else "far more"
            raise GradcliError(
                "limit",
                f"{what}: {shown} {UNITS.get(kind, kind)}, and the limit is {allowed:,}",
                hint=hint(kind),
                span=span,
            )
