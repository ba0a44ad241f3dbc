"""Stand-ins: large numbers that represent unknown sizes, and their unification."""

from collections.abc import Iterable
from math import prod

from ...graphs.shapes import Shape

FEW = 10  # the largest difference of a size from a stand-in, as in x[2:]
MOST_PARTS = 9  # factors of products that are unified


class Sizes:
    """The values of stand-ins: itself for one whose size is unknown; otherwise another stand-in, a
    size, or a product of these. `spare` are stand-ins for factors of sizes.
    """

    def __init__(self, stand_ins: Iterable[int], spare: Iterable[int] = ()):
        self.values: dict[int, int] = {p: p for p in stand_ins}
        self.spare = list(spare)

    def find(self, size: int) -> int:
        """The current value of a size, with stand-ins replaced."""
        while self.values.get(size, size) != size:
            size = self.values[size]
        if size and size not in self.values:
            for p in self.values:
                while size % p == 0 and self.find(p) != p:
                    size = size // p * self.find(p)
        return size

    def of(self, shape: Shape) -> Shape:
        """The current value of a shape."""
        return tuple(map(self.find, shape))

    def free(self) -> list[int]:
        """The stand-ins without a value, in order of appearance."""
        return [p for p in self.values if self.find(p) == p]

    def unify(self, a: int, b: int) -> bool:
        """Make two sizes equal, by giving a stand-in that is a factor of one of them the value that
        this requires; returns whether it succeeded.
        """
        if self.find(a) == self.find(b):  # already equal: to unify them again would never end
            return False
        free = self.free()
        if 0 in (a, b):  # 0 is a multiple of everything
            result = next((p for p in reversed(free) if (a + b) % p == 0 != a + b), None)
            self.values |= {} if result is None else {result: 0}
            return result is not None
        for p in reversed(free):  # so that the stand-in that appears first represents both
            for left, right in ((a, b), (b, a)):
                times = left // p if left % p == 0 else 0
                target = self.find(right // times) if times and right % times == 0 else p
                if target != p:
                    divided = [q for q in free if target % q == 0]
                    if target in free or not divided or p not in divided:
                        self.values[p] = target
                        return True
        return self._shifted(free, a, b) or self._products(free, a, b)

    def pair(self, a: int, b: int) -> bool:
        """Make two products equal factor by factor, as for the sides of kron(A, B), if both have
        the same number of stand-ins; returns whether this succeeded.
        """
        left, right = ([p for p in self.free() for _ in range(_times(p, n))] for n in (a, b))
        if len(left) < 2 or len(left) != len(right) or (prod(left), prod(right)) != (a, b):
            return False
        for p, q in zip(left, right):
            self.values[self.find(q)] = self.find(p)
        return True

    def _shifted(self, free: list[int], a: int, b: int) -> bool:
        """Make sizes equal if one, as that of x[2:], is a stand-in but for at most FEW."""
        for p in reversed(free):
            for left, right in ((a, b), (b, a)):
                missing = p - left
                target = self.find(max(right + missing, 0))
                # a target that contains p would define p by itself
                if 0 < abs(missing) <= FEW and target and target % p:
                    self.values[p] = target
                    return True
        return False

    def _products(self, free: list[int], a: int, b: int) -> bool:
        """Make two products of stand-ins equal, as in x.flatten() @ y.flatten().

        With spare stand-ins, factors are split: p*q * r*s = p*r * q*s; otherwise, products are made
        equal factor by factor.
        """
        left, right = ([p for p in free if size % p == 0] for size in (a, b))
        shared = next((p for p in left if p in right), None)
        if shared is not None:
            return self.unify(a // shared, b // shared)
        if not left or {prod(left), prod(right)} != {a, b}:
            return False
        if len(left) * len(right) > min(MOST_PARTS, len(self.spare)):
            self.values[right[0]] = left[0]
            return True
        rows = [[self.spare.pop(0) for _ in right] for _ in left]
        self.values |= {p: p for row in rows for p in row}
        self.values |= dict(zip(left, map(prod, rows)))
        self.values |= dict(zip(right, map(prod, zip(*rows))))
        return True


def _times(p: int, n: int) -> int:
    """The multiplicity of the factor p in n."""
    result = 0
    while n and n % p == 0:
        n, result = n // p, result + 1
    return result
