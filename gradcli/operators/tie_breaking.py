"""The element that PyTorch selects among equal ones: its algorithms, step by step, on the indices
of a row.

kthvalue is a quickselect, topk is nth_element of libstdc++, and mode sorts a row with nan by
insertion. They are not stable: which of several equal elements is selected depends on the
exchanges. nan is greater than any number.
"""

from functools import cmp_to_key


def ascending(a, b) -> bool:
    """Whether a comes before b in ascending order."""
    return a < b or (a == a and b != b)


def descending(a, b) -> bool:
    """Whether a comes before b in descending order."""
    return ascending(b, a)


class Row:
    """The indices of a row, which the algorithms permute."""

    def __init__(self, row, order):
        self.row, self.indices, self.order = row.tolist(), list(range(len(row))), order

    def before(self, i, j) -> bool:
        """Whether the element at position i comes before the one at position j."""
        return self.order(self.row[self.indices[i]], self.row[self.indices[j]])

    def swap(self, i, j) -> None:
        """Exchange the elements at two positions."""
        self.indices[i], self.indices[j] = self.indices[j], self.indices[i]

    def exchange_if_unordered(self, i, j) -> None:
        """Exchange the elements at two positions if they are out of order."""
        if self.before(j, i):
            self.swap(i, j)

    def sort(self, start, end) -> None:
        """Sort the positions from start to end, stably."""

        def compare(i, j):
            a, b = self.row[i], self.row[j]
            return self.order(b, a) - self.order(a, b)

        self.indices[start:end] = sorted(self.indices[start:end], key=cmp_to_key(compare))

    def advance(self, i, pivot) -> int:
        """The first position from i on that does not come before the pivot."""
        while self.before(i, pivot):
            i += 1
        return i

    def retreat(self, j, pivot) -> int:
        """The first position from j backwards that does not come after the pivot."""
        while self.before(pivot, j):
            j -= 1
        return j


def quick_select(row, k) -> int:
    """The index of the k-th smallest element, counted from 0."""
    r, left, right = Row(row, ascending), 0, len(row) - 1
    while right > left + 1:
        r.swap(left + (right - left) // 2, left + 1)
        for i, j in ((left + 1, right), (left, right), (left + 1, left)):
            r.exchange_if_unordered(i, j)
        middle, behind = _partition_around_first(r, left, right)
        left, right = (behind if middle <= k else left), (middle - 1 if middle >= k else right)
    if right > left:
        r.exchange_if_unordered(left, right)
    return r.indices[k]


def _partition_around_first(r, left, right) -> tuple[int, int]:
    """Partition around the element at position left; returns where it ends up, and where the
    greater ones start.
    """
    i, j = r.advance(left + 2, left), r.retreat(right - 1, left)
    while i <= j:
        r.swap(i, j)
        i, j = r.advance(i + 1, left), r.retreat(j - 1, left)
    r.swap(left, j)
    return j, i


def insertion_sorted(row) -> list[int]:
    """The indices that sort a row by insertion with <, which never moves an element past nan."""
    order: list[int] = []
    for index, x in enumerate(row):
        at = len(order)
        while at and x < row[order[at - 1]]:
            at -= 1
        order.insert(0 if order and x < row[order[0]] else at, index)
    return order


def first_k(row, k, order, ranked) -> list[int]:
    """The indices of the first k elements; if `ranked`, in order except for the last."""
    r = Row(row, order)
    if k:
        _nth_element(r, k - 1)
    if ranked:
        r.sort(0, k - 1)
    return r.indices[:k]


def _nth_element(r, k) -> None:
    """Partition around the k-th element."""
    first, last = 0, len(r.indices)
    while last - first > 3:
        r.swap(first, _median(r, first + 1, first + (last - first) // 2, last - 1))
        cut = _partition(r, first, last)
        first, last = (cut, last) if cut <= k else (first, cut)
    r.sort(first, last)


def _median(r, a, b, c) -> int:
    if r.before(a, b):
        return b if r.before(b, c) else c if r.before(a, c) else a
    return a if r.before(a, c) else c if r.before(b, c) else b


def _partition(r, first, last) -> int:
    """Partition around the element at first; returns where the second part starts."""
    i, j = r.advance(first + 1, first), r.retreat(last - 1, first)
    while i < j:
        r.swap(i, j)
        i, j = r.advance(i + 1, first), r.retreat(j - 1, first)
    return i
