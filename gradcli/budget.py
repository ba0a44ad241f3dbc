"""The time that the searches of a request may take.

A search, for example for a shorter formula, runs within `Budget.search`. It calls `tick()` wherever
it creates or evaluates a node, which raises OutOfTime when the budget is used up; `search` then
returns its fallback. Outside a search `tick()` does nothing: computations without an alternative
have no time limit. Layout runs within `Budget.present`, whose deadline is later. Values of large
tensors are computed within `Budget.compute`, which raises an error if they take too long.
"""

from collections.abc import Callable
from contextvars import ContextVar
from time import perf_counter, thread_time
from typing import Any, NoReturn

from .process import uncollected

EVERY = 16  # ticks between two readings of the clock
PRESENTING = 0.4  # seconds at the end of a budget that are reserved for layout, without searches
WRITING = 1e-4  # seconds to write one operation


class OutOfTime(Exception):
    """The budget of the current search is used up. Never raised outside of `Budget.search`."""


class Deadline:
    """A time on the CPU clock of this thread."""

    __slots__ = ("_asked_after", "_ticks", "end", "is_over")

    def __init__(self, end: float):
        self.end, self._asked_after, self._ticks, self.is_over = end, 0.0, 0, False

    def move(self, end: float) -> None:
        """Change the time of this deadline."""
        self.end, self._asked_after = end, 0.0

    def tick(self, weight: int = 1) -> None:
        """Raise OutOfTime after the deadline. A step that may take long has the weight EVERY, so
        that the clock is read before it.
        """
        self._ticks += weight
        if self._ticks >= EVERY:
            self._ticks = 0
            self.is_over = self.is_over or self._passed()
        if self.is_over:
            raise OutOfTime

    def expect(self, seconds: float) -> None:
        """Raise OutOfTime if the deadline is less than `seconds` ahead."""
        if self.is_over or thread_time() + seconds > self.end:
            raise OutOfTime

    def _passed(self) -> bool:
        """Whether the deadline has passed. CPU time never exceeds wall-clock time, which is faster
        to read, so the CPU clock is read only when enough wall-clock time has passed.
        """
        now = perf_counter()
        if now <= self._asked_after:
            return False
        remaining = self.end - thread_time()
        self._asked_after = now + remaining
        return remaining < 0


class Budget:
    """The CPU seconds of one request, counted from `renew`.

    Searches end PRESENTING seconds before the budget does, and earlier if many operations must be
    written, because writing has no deadline. Other computations use up the same seconds. `spent`:
    whether a search was interrupted; `computed`: seconds in which large values were computed
    outside of searches; `operations`: cached node counts of outputs.
    """

    __slots__ = (
        "_end",
        "_presenting",
        "_reserved",
        "_searches",
        "_seconds",
        "computed",
        "operations",
        "spent",
    )

    operations: dict[Any, int]

    def __init__(self, seconds: float):
        self._seconds, self.spent, self.operations = seconds, False, {}
        self._reserved = 0.0
        self.renew()

    def renew(self) -> None:
        """Restart the clock for another request, perhaps in another thread. `spent` is not reset,
        because results of interrupted searches may be cached.
        """
        now, self.computed = thread_time(), 0.0
        self._end = now + max(self._seconds, PRESENTING)
        self._presenting, self._searches = Deadline(self._end), Deadline(self._end - PRESENTING)
        if self._reserved:
            self.reserve(0)

    def reserve(self, operations: int) -> None:
        """Let searches end earlier, by the time that writing this number of operations takes, and
        layout earlier by up to half of it.
        """
        self._reserved = max(self._reserved, WRITING * operations)
        self._presenting.move(self._end - max(self._reserved / 2 - PRESENTING, 0))
        self._searches.move(self._end - PRESENTING - self._reserved)

    def search(self, compute: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """The result of `compute`, or of `otherwise` if the budget is used up first.

        A nested search is part of the outer one, unless its deadline is earlier. After an
        interrupted search, no other is started.
        """
        return self._until(self._searches, compute, otherwise)

    def present(self, compute: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """As `search`, with the later deadline for presentation: sections, layout."""
        return self._until(self._presenting, compute, otherwise)

    def compute(self, values: Callable[[], None], refuse: Callable[[], NoReturn]) -> None:
        """Call `values`, which has no fallback, and `refuse` if it takes too long. Within a search,
        the deadline of the search applies instead.
        """
        if _deadline.get() is not None:
            return values()
        start = thread_time()
        token = _deadline.set(Deadline(start + max(self._seconds, PRESENTING) - self.computed))
        try:
            values()
        except OutOfTime:
            refuse()
        finally:
            _deadline.reset(token)
            self.computed += thread_time() - start

    def _until(
        self, deadline: Deadline, compute: Callable[[], Any], otherwise: Callable[[], Any]
    ) -> Any:
        outer = _deadline.get()
        if outer is not None and outer.end <= deadline.end:
            return compute()
        if deadline.is_over:
            return otherwise()
        token = _deadline.set(deadline)
        try:
            with uncollected():
                return compute()
        except OutOfTime:
            self.spent = True
        finally:
            _deadline.reset(token)
        return otherwise()


_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def tick(weight: int = 1) -> None:
    """Raise OutOfTime in a search whose budget is used up; see `Deadline.tick`."""
    deadline = _deadline.get()
    if deadline is not None:
        deadline.tick(weight)


def expect(seconds: float) -> None:
    """Raise OutOfTime in a search whose budget ends in less than `seconds`."""
    deadline = _deadline.get()
    if deadline is not None:
        deadline.expect(seconds)
