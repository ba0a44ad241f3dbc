"""How long the searches of a request may take, and how they end.

A search, for example for a shorter formula, runs within `Budget.search`. It calls `tick()` wherever
it builds or evaluates a node, which raises OutOfTime once the budget is spent; `search` then
returns its fallback. Outside a search `tick()` does nothing: computations without an alternative
have no time limit.
"""

from collections.abc import Callable
from contextvars import ContextVar
from time import perf_counter, thread_time
from typing import Any

EVERY = 16  # ticks between two readings of the clock


class OutOfTime(Exception):
    """The budget of the search that is under way is spent. Never leaves `Budget.search`."""


class Budget:
    """The CPU seconds of one request after which its searches end; they are counted from `renew`,
    and other computations use them up too. `spent`: whether a search was ever cut short;
    `operations`: cached node counts of outputs.
    """

    __slots__ = (
        "_asked_after",
        "_deadline",
        "_is_over",
        "_seconds",
        "_ticks",
        "operations",
        "spent",
    )

    operations: dict[Any, int]

    def __init__(self, seconds: float):
        self._seconds, self._ticks, self.spent, self.operations = seconds, 0, False, {}
        self.renew()

    def renew(self) -> None:
        """Restart the clock, for a further request, perhaps from another thread. `spent` stays, as
        the results of searches that ended early may be cached.
        """
        self._deadline, self._asked_after = thread_time() + self._seconds, 0.0
        self._is_over = False

    def search(self, compute: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """The result of `compute`, or of `otherwise` if the budget is spent first. A nested search
        is part of the outer one. Once a search was cut short, no other is begun.
        """
        if _searching.get() is not None:
            return compute()
        if self._is_over:
            return otherwise()
        token = _searching.set(self)
        try:
            return compute()
        except OutOfTime:
            pass
        finally:
            _searching.reset(token)
        return otherwise()

    def tick(self, weight: int = 1) -> None:
        """Raise OutOfTime if the budget is spent. What may take long itself has the weight EVERY,
        so that the clock is read before it.
        """
        self._ticks += weight
        if self._ticks >= EVERY:
            self._ticks = 0
            self._is_over = self._is_over or self._passed()
        if self._is_over:
            self.spent = True
            raise OutOfTime

    def _passed(self) -> bool:
        """Whether the CPU seconds are used up. CPU time never exceeds wall-clock time, whose clock
        is cheaper to read, so the CPU's clock is read only when the wall clock has passed.
        """
        now = perf_counter()
        if now <= self._asked_after:
            return False
        remaining = self._deadline - thread_time()
        self._asked_after = now + remaining
        return remaining < 0


_searching: ContextVar[Budget | None] = ContextVar("searching", default=None)


def tick(weight: int = 1) -> None:
    """Raise OutOfTime if this is part of a search whose budget is spent; see `Budget.tick`."""
    budget = _searching.get()
    if budget is not None:
        budget.tick(weight)
