"""Python's search for cycles among objects, put off."""

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 300_000  # objects made before Python looks for cycles, where a process gives one answer


def collect_seldom() -> None:
    """For a process that imports, answers and ends; at its end, too, Python would look through all
    objects before the system takes their memory back.
    """
    gc.set_threshold(SELDOM)
    atexit.register(gc.freeze)


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for cycles meanwhile. Syntax trees and graphs have none, and to look through them
    again and again as they grow takes as long as to build them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
