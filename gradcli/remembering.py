"""The latest results of a function, as many as there is room for."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def remembered(room: int, size: Callable[..., int]) -> Callable[[F], F]:
    """As `lru_cache`, for results that differ in size: those of the latest calls are kept as long
    as their sizes are no more than `room` together, and that of the last one in any case. `size`
    takes the result and the arguments, which are positional.
    """

    def decorate(function: F) -> F:
        kept: OrderedDict[tuple[Hashable, ...], tuple[Any, int]] = OrderedDict()
        lock, used = Lock(), 0

        @wraps(function)
        def latest(*key: Any) -> Any:
            nonlocal used
            with lock:
                if key in kept:
                    kept.move_to_end(key)
                    return kept[key][0]
            result = function(*key)
            needed = 1 + size(result, *key)
            with lock:
                used += needed - kept.pop(key, (None, 0))[1]
                kept[key] = result, needed
                while used > room and len(kept) > 1:
                    used -= kept.popitem(last=False)[1][1]
            return result

        def forget() -> None:
            nonlocal used
            with lock:
                kept.clear()
                used = 0

        latest.forget = forget  # type: ignore[attr-defined]
        return cast(F, latest)

    return decorate
