"""The records that a way back goes through, and the tensors that they were made from."""

from collections.abc import Iterable, Iterator
from typing import Any

from ...snippets.eager.engine import Record
from ...snippets.eager.tensor import Tensor
from ...snippets.python.values import Raised
from ...snippets.trace import Backward

MOST = 2000  # records that are looked at


def readable(tensor: Tensor) -> bool:
    """Whether a tensor can be asked for its record: not a view that autograd has lost track of."""
    try:
        return tensor.record is None or True
    except Raised:
        return False


def records(back: Backward) -> Iterator[Record]:
    """The records behind the outputs of a way back, the latest first."""
    return records_behind(t.record for t in back.outputs if readable(t))


def records_behind(starts: Iterable[Any]) -> Iterator[Record]:
    """Records, and those before them."""
    seen: set[Record] = set()
    stack = [r for r in starts if isinstance(r, Record)]
    while stack and len(seen) < MOST:
        record = stack.pop()
        if record in seen:
            continue
        seen.add(record)
        yield record
        stack += [e.record for e in record.edges if e and isinstance(e.record, Record)]


def operands(record: Record) -> list[Tensor]:
    """The tensors that an operation was given."""
    call = record.call
    given = call[1] if isinstance(call, tuple) and len(call) == 3 else ()
    return [t for t in given if isinstance(t, Tensor)] if isinstance(given, tuple) else []


def result(record: Record) -> Tensor | None:
    """The tensor that an operation gave."""
    call = record.call
    output = call[2] if isinstance(call, tuple) and len(call) == 3 else None
    return output if isinstance(output, Tensor) else None


def operation(record: Record) -> str:
    """An operation as a program calls it: ExpBackward0 is exp."""
    name = record.name.partition("Backward")[0]
    return {"Addmm": "the layer", "Mm": "@", "Mv": "@"}.get(name, name.lower())
