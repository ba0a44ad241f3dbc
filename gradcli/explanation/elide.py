"""Long lists with their middle left out."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def middle(items: Sequence[T], most: int, gap: Callable[[int], T]) -> list[T]:
    """`items`, or the first and last of them with `gap(how many are left out)` between."""
    if len(items) <= most:
        return list(items)
    head, tail = most - most // 3, most // 3
    return [*items[:head], gap(len(items) - head - tail), *items[len(items) - tail :]]


def places(count: int, most: int) -> tuple[list[int], int]:
    """Which of `count` places to show, and how many of them stand before the gap."""
    if count <= most:
        return list(range(count)), count
    head = most - most // 3
    return [*range(head), *range(count - most // 3, count)], head
