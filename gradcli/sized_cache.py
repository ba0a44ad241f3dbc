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
        cached: OrderedDict[tuple[Hashable, ...], tuple[Any, int]] = OrderedDict()
        lock, used = allocate_lock(), 0

        @wraps(function)
        def latest(*key: Any) -> Any:
            nonlocal used
            with lock:
                if key in cached:
                    cached.move_to_end(key)
                    return cached[key][0]
            result = function(*key)
            needed = 1 + size(result, *key)
            with lock:
                used += needed - cached.pop(key, (None, 0))[1]
                cached[key] = result, needed
                while used > room and len(cached) > 1:
                    used -= cached.popitem(last=False)[1][1]
            return result

        def forget() -> None:
            nonlocal used
            with lock:
                cached.clear()
                used = 0

        latest.forget = forget  # type: ignore[attr-defined]
        return cast(F, latest)

    return decorate
