"""What a program says of its own gradient."""

from typing import NamedTuple

from ...errors import Span


class Value(NamedTuple):
    """The value of an input: its text, and the other inputs that it is computed from."""

    name: str
    text: str
    needs: frozenset[str]


class Asked(NamedTuple):
    """What a program says of its own gradient: the values of inputs, the seed, the names to
    differentiate by, each as it is typed, and nothing where it does not say it; notes on what it
    does besides, codes and sentences; and where it stands, if PyTorch raises an error where the
    output does not depend on one of the names.
    """

    values: tuple[Value, ...] = ()
    seed: str | None = None
    wrt: tuple[str, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    refuses_unused: Span | None = None
