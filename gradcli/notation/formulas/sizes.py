"""Sizes by name: x.shape[0], also in sums and products, where sizes tell whose they are."""

from collections.abc import Mapping
from functools import lru_cache

from ...graphs import Node, upstream
from ...graphs.shapes import TELLING, Shape
from .. import tree
from ..tree import Attribute, Name, Number, Subscript, Tree

Shapes = Mapping[Shape, Tree]
CLOSE = 1e-12  # relative
SMALLEST = 1e-100  # numbers as small, and as large, tell nothing
PARTS = 16  # equal ones that a size is divided into, at most
CACHE_SIZE = 4096  # nodes
LEAST = 48  # smaller numbers tell nothing: half of TELLING's first, as pooling makes it, is larger


def shapes_of(names: Mapping[Node, Tree]) -> Shapes:
    """What has each shape, for sizes to be written by; the first of several."""
    result: dict[Shape, Tree] = {}
    for node, name in names.items():
        if isinstance(name, Name):
            result.setdefault(node.shape, name)
    return result


def told(size: int, shapes: Shapes, rounded: bool = True) -> Tree | None:
    """A size that came from the program's, through the names that have it; None for others.

    Sums of two, products, and parts of these, also those that chunk has `rounded` up, are
    recognised; parts of sums are not: too many numbers are one by chance.
    """
    if size < LEAST:
        return None
    result = _whole(size, shapes, LEAST)
    for count in () if result else range(2, PARTS + 1):
        several = _whole(size * count, shapes, LEAST, sums=False)
        if several is not None:
            return tree.Infix("//", several, Number(count))
    result = result or (_rounded_up(size, shapes) if rounded else None)
    return result or _whole(size, shapes, size)


@lru_cache(maxsize=CACHE_SIZE)
def of_sizes(node: Node) -> bool:
    """Whether a number is computed from sizes, and from nothing else that has a value."""
    within = upstream(node, lambda n: () if n.op.name == "size" else n.inputs)
    return all(n.op.name in ("size", "constant") or n.inputs for n in within)


def _rounded_up(size: int, shapes: Shapes) -> Tree | None:
    """A part of a size as chunk takes it: (x.shape[0] + 1) // 2."""
    for count in range(2, PARTS + 1):
        for more in range(1, count):
            whole = _single(size * count - more, shapes)
            if whole is not None:
                return tree.Infix("//", tree.Infix("+", whole, Number(more)), Number(count))
    return None


def _whole(size: int, shapes: Shapes, most: int, sums: bool = True) -> Tree | None:
    """A size, a sum of two or a product, perhaps with a number less than `most`."""
    result = _single(size, shapes)
    if result is not None:
        return result
    for part in _parts(shapes):
        other = _single(size - part, shapes) if sums else None
        if other is not None and size != 2 * part:
            first, second = _single(part, shapes), other
            return tree.Infix("+", *sorted((first, second), key=tree.text))  # type: ignore[arg-type]
        if size % part == 0:
            count = size // part
            rest = _whole(count, shapes, most, sums) or (Number(count) if count < most else None)
            if rest is None:
                continue
            first = _single(part, shapes)
            assert first is not None
            small = isinstance(rest, Number)
            return tree.Infix("*", rest, first) if small else tree.Infix("*", first, rest)
    return None


def tells(value: float) -> bool:
    """Whether a number is made of sizes that tell, and of small numbers: 100 and 0.01 are what the
    user wrote, though a size that the program fixes is 100.
    """
    rest = int(value) if value == int(value) else 0
    if any(rest - t in TELLING for t in TELLING):
        return True
    for t in TELLING if rest else ():
        while rest % t == 0:
            rest //= t
    return 0 < rest < LEAST and rest != value


def told_rest(size: int, shapes: Shapes) -> Tree | None:
    """By how much one size of a name is larger than another, as for the rest of a wide matrix."""
    for shape, name in shapes.items():
        rows, columns = len(shape) - 2, len(shape) - 1
        for a, b in ((columns, rows), (rows, columns)) if len(shape) > 1 else ():
            if shape[a] - shape[b] == size and shape[a] in TELLING and shape[b] in TELLING:
                return tree.Infix("-", dimension(name, a), dimension(name, b))
    return None


def told_root(value: float, shapes: Shapes) -> Tree | None:
    """A number that is one over a size, its root, or one over that: x.shape[0] ** -0.5."""
    for power in (-1, -0.5, 0.5):
        size = value ** (1 / power) if SMALLEST < value < 1 / SMALLEST else 0.0
        if abs(size - round(size)) < CLOSE * size and tells(round(size)):
            result = told(round(size), shapes)
            if result is not None:
                one = tree.Infix("/", Number(1), result)
                return one if power == -1 else tree.Infix("**", result, Number(power))
    return None


def _parts(shapes: Shapes) -> list[int]:
    """The sizes that tell, and after them those that follow from them, as that of an output."""
    large = dict.fromkeys(n for shape in shapes for n in shape if n >= LEAST)
    return sorted(large, key=lambda n: n not in TELLING)


def _single(size: int, shapes: Shapes) -> Tree | None:
    """A dimension that has this size, of the first name that has one."""
    for shape, name in shapes.items() if size >= LEAST else ():
        if size in shape:
            return dimension(name, shape.index(size))
    return None


def dimension(name: Tree, place: int) -> Tree:
    """x.shape[0]."""
    return Subscript(Attribute(name, "shape"), (Number(place),))
