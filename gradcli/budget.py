"""How long the searches of a request may take, and how they end.

A search, for example for a shorter formula, runs within `Budget.search`. It calls `tick()` wherever
it builds or evaluates a node, which raises OutOfTime once the budget is spent; `search` then
returns its fallback. Outside a search `tick()` does nothing: computations without an alternative
have no time limit. Results are laid out within `Budget.present`, which ends later. Values
of large tensors are computed within `Budget.compute`, and are refused where that takes too long.
"""

from collections.abc import Callable
from contextvars import ContextVar
from time import perf_counter, thread_time
from typing import Any, NoReturn

EVERY = 16  # ticks between two readings of the clock
PRESENTING = 0.4  # the last of the seconds, in which results are laid out and nothing is searched
WRITING = 1e-4  # seconds in which what is shown of one operation is put together


class OutOfTime(Exception):
    """The budget of the search that is under way is spent. Never leaves `Budget.search`."""


class Deadline:
    """A time of this thread's CPU clock."""

    __slots__ = ("_asked_after", "_ticks", "end", "is_over")

    def __init__(self, end: float):
        self.end, self._asked_after, self._ticks, self.is_over = end, 0.0, 0, False

    def move(self, end: float) -> None:
        """Let it be at another time."""
        self.end, self._asked_after = end, 0.0

    def tick(self, weight: int = 1) -> None:
        """Raise OutOfTime if it has passed. What may take long itself has the weight EVERY, so that
        the clock is read before it.
        """
        self._ticks += weight
        if self._ticks >= EVERY:
            self._ticks = 0
            self.is_over = self.is_over or self._passed()
        if self.is_over:
            raise OutOfTime

    def expect(self, seconds: float) -> None:
        """Raise OutOfTime if it will have passed when that many seconds are."""
        if self.is_over or thread_time() + seconds > self.end:
            raise OutOfTime

    def _passed(self) -> bool:
        """Whether the CPU seconds are used up. CPU time never exceeds wall-clock time, whose clock
        is cheaper to read, so the CPU's clock is read only when the wall clock has passed.
        """
        now = perf_counter()
        if now <= self._asked_after:
            return False
        remaining = self.end - thread_time()
        self._asked_after = now + remaining
        return remaining < 0


class Budget:
    """The CPU seconds of one request, of which searches have all but the last few tenths, and fewer
    where many operations are written, which nothing ends; they are counted from `renew`, and other
    computations use them up too. `spent`: whether a search was ever cut short; `computed`: seconds
    in which large values were computed, outside of searches; `operations`: cached node counts of
    outputs.
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
        """Restart the clock, for a further request, perhaps from another thread. `spent` stays, as
        the results of searches that ended early may be cached.
        """
        now, self.computed = thread_time(), 0.0
        self._end = now + max(self._seconds, PRESENTING)
        self._presenting, self._searches = Deadline(self._end), Deadline(self._end - PRESENTING)
        if self._reserved:
            self.reserve(0)

    def reserve(self, operations: int) -> None:
        """End searches early enough for so many operations to be written, and what is presented for
        what is written besides.
        """
        self._reserved = max(self._reserved, WRITING * operations)
        self._presenting.move(self._end - max(self._reserved / 2 - PRESENTING, 0))
        self._searches.move(self._end - PRESENTING - self._reserved)

    def search(self, compute: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """The result of `compute`, or of `otherwise` if the budget is spent first. A nested search
        is part of the outer one, unless it has less time. Once a search was cut short, no other is
        begun.
        """
        return self._until(self._searches, compute, otherwise)

    def present(self, compute: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """The same for what presents results, which ends later: sections, how they are laid
        out, and formulas that nothing shorter is searched for.
        """
        return self._until(self._presenting, compute, otherwise)

    def compute(self, values: Callable[[], None], refuse: Callable[[], NoReturn]) -> None:
        """Compute `values` that nothing replaces; `refuse` them if they take too long. Within a
        search they are a part of it.
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
            return compute()
        except OutOfTime:
            self.spent = True
        finally:
            _deadline.reset(token)
        return otherwise()


_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def tick(weight: int = 1) -> None:
    """Raise OutOfTime if this is part of a search whose budget is spent; see `Deadline.tick`."""
    deadline = _deadline.get()
    if deadline is not None:
        deadline.tick(weight)


def expect(seconds: float) -> None:
    """Raise OutOfTime if this is part of a search, and what takes so many seconds would not end
    within its budget.
    """
    deadline = _deadline.get()
    if deadline is not None:
        deadline.expect(seconds)
