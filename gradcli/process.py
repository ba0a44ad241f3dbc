"""Settings of a process: the frequency of garbage collection, the number of threads of linear
algebra.
"""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS_BEFORE_COLLECTION = 2_000_000  # in a process that gives one answer
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def collect_seldom() -> None:
    """Make garbage collection rare, for a process that gives one answer and ends."""
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


def one_thread() -> None:
    """Limit NumPy, which is not imported yet, to one thread, unless the environment sets a number.

    For matrices of a few hundred rows, threads that wait for each other take several times as long
    as the work; and the last digits would depend on the number of threads.
    """
    for name in THREAD_VARIABLES:
        os.environ.setdefault(name, "1")
