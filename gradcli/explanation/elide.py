"""Long lists with their middle left out."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Shown = TypeVar("Shown")


def middle(
    items: Sequence[Item], most: int, show: Callable[[Item], Shown], gap: Callable[[int], Shown]
) -> list[Shown]:
    """`items` as `show` shows them, or the first and last with `gap(how many are left out)`."""
    at, head = places(len(items), most)
    shown = [show(items[k]) for k in at]
    if len(at) < len(items):
        shown.insert(head, gap(len(items) - len(at)))
    return shown


def places(count: int, most: int) -> tuple[list[int], int]:
    """Which of `count` places to show, and how many of them stand before the gap."""
    if count <= most:
        return list(range(count)), count
    head = most - most // 3
    return [*range(head), *range(count - most // 3, count)], head
