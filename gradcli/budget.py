"""How long the searches of a request may take, and how they end.

A search, as for a shorter formula, runs within `Budget.search`. It asks `tick()` wherever it makes
or computes a node, which raises OutOfTime once the budget is spent; `search` then answers without
the result. Outside a search `tick()` does nothing: what has one way to be computed takes as long as
it takes.
"""

from collections.abc import Callable
from contextvars import ContextVar
from time import perf_counter, thread_time
from typing import Any

EVERY = 16  # ticks for which the clock is read once


class OutOfTime(Exception):
    """The budget of the search that is under way is spent. Never leaves `Budget.search`."""


class Budget:
    """The CPU seconds of one request after which its searches end: what is no search uses them up
    too. `spent`: whether one was cut short; `operations`: of how many nodes an output is, once they
    are counted.
    """

    __slots__ = ("_asked_after", "_deadline", "_seconds", "_ticks", "operations", "spent")

    operations: dict[Any, int]

    def __init__(self, seconds: float):
        self._seconds, self._ticks, self.spent, self.operations = seconds, 0, False, {}
        self.renew()

    def renew(self) -> None:
        """Begin to count: what is asked now, perhaps by another thread, is a request of its own."""
        self._deadline, self._asked_after = thread_time() + self._seconds, 0.0

    def search(self, compute: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """What `compute` gives, or `otherwise` where the budget ends before; a search within a
        search is a part of it.
        """
        if _searching.get() is not None:
            return compute()
        token = _searching.set(self)
        try:
            return compute()
        except OutOfTime:
            pass
        finally:
            _searching.reset(token)
        return otherwise()

    def tick(self) -> None:
        """Raise OutOfTime if the budget is spent."""
        self._ticks += 1
        if self.spent or (self._ticks % EVERY == 0 and self._passed()):
            self.spent = True
            raise OutOfTime

    def _passed(self) -> bool:
        """Whether the CPU seconds are over, which are never more than those on the clock: the clock
        is cheap to read, and the CPU's time is asked for once the clock's is over.
        """
        now = perf_counter()
        if now <= self._asked_after:
            return False
        left = self._deadline - thread_time()
        self._asked_after = now + left
        return left < 0


_searching: ContextVar[Budget | None] = ContextVar("searching", default=None)


def tick() -> None:
    """Raise OutOfTime if this is part of a search whose budget is spent."""
    budget = _searching.get()
    if budget is not None:
        budget.tick()
