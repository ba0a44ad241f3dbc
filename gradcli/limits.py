"""How large a request may be, so that nothing typed runs forever or eats the machine."""

from .errors import GradcliError, Span

DEFAULTS = {
    "length": 4_000_000,  # characters of an expression, a value or a file
    "nesting": 100,  # brackets within brackets, calls within calls
    "operations": 400_000,  # nodes of the graph
    "elements": 20_000_000,  # elements of one tensor
    "digits": 1_000,  # digits of a whole number that is written out or computed from literals
}


class Limits:
    """The limits in force; `Limits({"elements": 10**8})` raises one of them."""

    __slots__ = ("sizes",)

    def __init__(self, raised: dict[str, int] | None = None):
        self.sizes = DEFAULTS | (raised or {})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limits) and self.sizes == other.sizes

    def __hash__(self) -> int:
        return hash(tuple(self.sizes.items()))

    def without(self, kind: str) -> "Limits":
        """These limits but for one."""
        return Limits(self.sizes | {kind: 10**30})

    def check(self, kind: str, size: int, what: str, span: Span | None = None) -> None:
        """Refuse a `size` above the limit of this `kind`; `what` says what is that large."""
        allowed = self.sizes[kind]
        if size > allowed:
            shown = f"{size:,}" if size < 10**15 else "far more"
            raise GradcliError(
                "limit",
                f"{what}: {shown} {kind}, and the limit is {allowed:,}",
                hint=f"--limit {kind}=N raises it",
                span=span,
            )
