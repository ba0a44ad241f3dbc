"""A cache of the most recent results of a function, bounded by their total size."""

from _thread import allocate_lock  # importing threading would take longer than many requests
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def sized_cache(room: int, size: Callable[..., int]) -> Callable[[F], F]:
    """A decorator like functools.lru_cache, for results of different sizes.

    The most recent results are cached as long as their total size is at most `room`; the last one
    is always cached. `size` takes the result and the positional arguments.
    """

    def decorate(function: F) -> F:
        recent = _Recent(room)

        @wraps(function)
        def latest(*key: Any) -> Any:
            known = recent.get(key)
            if known is not None:
                return known[0]
            result = function(*key)
            recent.add(key, result, 1 + size(result, *key))
            return result

        latest.forget = recent.forget  # type: ignore[attr-defined]
        return cast(F, latest)

    return decorate


class _Recent:
    """The most recent entries, of a total size of at most `room`. Threads may share an instance."""

    def __init__(self, room: int):
        self.room, self.used, self.lock = room, 0, allocate_lock()
        self.entries: OrderedDict[tuple[Hashable, ...], tuple[Any, int]] = OrderedDict()

    def get(self, key: tuple[Hashable, ...]) -> tuple[Any, int] | None:
        """The value of a key and its size; None if there is none."""
        with self.lock:
            if key in self.entries:
                self.entries.move_to_end(key)
            return self.entries.get(key)

    def add(self, key: tuple[Hashable, ...], value: Any, size: int) -> None:
        """Add an entry, and drop the oldest others for which there is no room."""
        with self.lock:
            self.used += size - self.entries.pop(key, (None, 0))[1]
            self.entries[key] = value, size
            while self.used > self.room and len(self.entries) > 1:
                self.used -= self.entries.popitem(last=False)[1][1]

    def forget(self) -> None:
        """Drop all entries."""
        with self.lock:
            self.entries.clear()
            self.used = 0
