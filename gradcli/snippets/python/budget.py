"""How much a program may do: steps, memory, depth, time, output."""

import gc
import time

from .values import Exhausted

STEPS = 3_000_000  # expressions and statements
MEMORY = 300_000_000  # bytes, of what is alive
OBJECT = 80_000_000  # bytes of one string or container
DEPTH = 990  # calls within calls: Python's own limit, less what runs a script
SECONDS = 2.0  # of the processor
SHORT = 1.2  # of what nothing bounds: while loops, long iterators, calls deeper than NESTED
NESTED = 200  # calls within calls, beyond those of a program that recurses over its data
DIGITS = 400_000  # bits of an integer
SLICE = 20_000  # steps between two looks at the clock


class Budget:
    """What is left of a program's budget. `left` counts down within a slice of steps."""

    __slots__ = ("allocated", "base", "left", "memory", "seconds", "start", "steps")

    def __init__(self, steps: int = STEPS, memory: int = MEMORY, seconds: float = SECONDS):
        self.steps, self.memory, self.seconds = steps, memory, seconds
        self.left = 0
        self.allocated = 0
        self.start = time.process_time()
        self.base = resident()

    def refill(self, unbounded: bool = False) -> int:
        """Steps of the next slice; raises Exhausted where there is no further one. `unbounded`:
        nothing tells that what runs will end.
        """
        if self.steps <= 0:
            raise Exhausted("steps", "takes more steps than it may")
        seconds = min(SHORT, self.seconds) if unbounded else self.seconds
        if time.process_time() - self.start > seconds:
            raise Exhausted("time", f"takes more than the {seconds:g} seconds that it may")
        step = min(SLICE, self.steps)
        self.steps -= step
        return step

    def spend_memory(self, size: int) -> None:
        """Count bytes before they are taken.

        What a program has let go of is not subtracted; where the sum reaches the limit, the memory
        of the process tells what of it is alive, on a system that tells.
        """
        if size > OBJECT:
            raise Exhausted("memory", f"makes a value of {size:,} bytes, more than it may")
        self.allocated += size
        if self.allocated > self.memory:
            gc.collect()
            alive = resident() - self.base
            if self.base == 0 or alive > 0.6 * self.memory:
                raise Exhausted("memory", "holds more values in memory than it may")
            self.allocated = max(alive, 0)


def resident() -> int:
    """Bytes that the process holds in memory, or 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096
    except (OSError, ValueError, IndexError):
        return 0
