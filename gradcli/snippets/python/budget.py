"""The budget of an interpreted program: steps, memory, depth of calls, time, output."""

import gc
import time

from .values import Exhausted

STEPS = 3_000_000  # largest number of expressions and statements that are evaluated
MEMORY = 300_000_000  # bytes that are allocated and not freed
OBJECT = 80_000_000  # bytes of one string or container
DEPTH = 990  # largest number of nested calls: Python's limit, minus the frames of a script
SECONDS = 2.0  # CPU time that a program may take
# the CPU time allowed while code runs that may never end: while loops, long iterators, or calls
# nested deeper than NESTED
SHORT = 1.2
NESTED = 200  # more nested calls than a recursion over data needs
MOST_BITS = 400_000  # bits of an integer
SLICE = 20_000  # steps between two checks of the clock


class Budget:
    """The remaining budget of a program. Steps come in slices, so that the clock is read rarely."""

    __slots__ = ("allocated", "base", "left", "memory", "seconds", "start", "steps")

    def __init__(self, steps: int = STEPS, memory: int = MEMORY, seconds: float = SECONDS):
        self.steps, self.memory, self.seconds = steps, memory, seconds
        self.left = 0
        self.allocated = 0
        self.start = time.process_time()
        self.base = resident()

    def refill(self, unbounded: bool = False) -> int:
        """The number of steps of the next slice. Raises Exhausted if the budget is used up.
        `unbounded`: the running code may never end.
        """
        if self.steps <= 0:
            raise Exhausted("steps", "takes more steps than is allowed")
        seconds = min(SHORT, self.seconds) if unbounded else self.seconds
        if time.process_time() - self.start > seconds:
            raise Exhausted("time", f"takes more than the {seconds:g} seconds allowed")
        step = min(SLICE, self.steps)
        self.steps -= step
        return step

    def spend_memory(self, size: int) -> None:
        """Count bytes before they are allocated. Raises Exhausted if they exceed the budget.

        Freed memory is not subtracted. When the count reaches the limit, it is replaced by the
        growth of the process's memory since the start, if the system reports that.
        """
        if size > OBJECT:
            raise Exhausted("memory", f"makes a value of {size:,} bytes, more than is allowed")
        self.allocated += size
        if self.allocated > self.memory:
            gc.collect()
            alive = resident() - self.base
            if self.base == 0 or alive > 0.6 * self.memory:
                raise Exhausted("memory", "holds more values in memory than is allowed")
            self.allocated = max(alive, 0)


def resident() -> int:
    """The memory of this process in bytes; 0 if the system does not report it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096
    except (OSError, ValueError, IndexError):
        return 0
