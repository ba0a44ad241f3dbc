"""Python's search for cycles among objects, put off."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
