"""When Python's garbage collector runs."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS_BEFORE_COLLECTION = 300_000  # in a process that gives one answer


def collect_seldom() -> None:
    """Collect rarely, for a process that imports, answers once and ends."""
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION)


@contextmanager
def uncollected() -> Iterator[None]:
    """Disable garbage collection in a block. Syntax trees and graphs have no reference cycles, and
    traversing them repeatedly while they grow takes as long as building them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
