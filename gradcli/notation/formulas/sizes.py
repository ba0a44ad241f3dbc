"""Sizes as formulas of sizes of named tensors: x.shape[0], and sums and products of such sizes.

A generic size is a distinctive number, one of GENERIC_SIZES, that replaces a size which the user
left open.
"""

from collections.abc import Mapping
from functools import lru_cache

from ...graphs import Node, upstream
from ...graphs.shapes import GENERIC_SIZES, Shape
from .. import tree
from ..tree import Attribute, Name, Number, Subscript, Tree

Shapes = Mapping[Shape, Tree]
TOLERANCE = 1e-12  # relative
SMALLEST = 1e-100  # only numbers from SMALLEST to 1 / SMALLEST can be powers of sizes
PARTS = 16  # the largest number of equal parts of a size
CACHE_SIZE = 4096  # nodes
LEAST = 48  # smaller numbers are not generic; half of GENERIC_SIZES[0], as in pooling, is larger


def shapes_of(names: Mapping[Node, Tree]) -> Shapes:
    """Map shapes to the first named node of each, to write sizes with."""
    result: dict[Shape, Tree] = {}
    for node, name in names.items():
        if isinstance(name, Name):
            result.setdefault(node.shape, name)
    return result


def size_formula(size: int, shapes: Shapes, rounded: bool = True) -> Tree | None:
    """A size as a formula of sizes of named tensors; None if there is none.

    Sums of two sizes, products, and their fractions are recognised, and with `rounded` also
    fractions rounded up as by chunk. Fractions of sums are not, because too many numbers equal one
    by coincidence.
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
    """Whether a node is computed from sizes and constants only."""
    within = upstream(node, lambda n: () if n.op.name == "size" else n.inputs)
    return all(n.op.name in ("size", "constant") or n.inputs for n in within)


def _rounded_up(size: int, shapes: Shapes) -> Tree | None:
    """A fraction of a size, rounded up as by chunk: (x.shape[0] + 1) // 2."""
    for count in range(2, PARTS + 1):
        for more in range(1, count):
            whole = _single(size * count - more, shapes)
            if whole is not None:
                return tree.Infix("//", tree.Infix("+", whole, Number(more)), Number(count))
    return None


def _whole(size: int, shapes: Shapes, most: int, sums: bool = True) -> Tree | None:
    """A size, a sum of two sizes, or a product of sizes and a number less than `most`; or None."""
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


def is_generic_size(value: float) -> bool:
    """Whether a number is composed of generic sizes and small numbers. Other numbers, such as 100,
    are the user's, even if a fixed size equals them; so are multiples of 100, such as 1200, which
    is the sum of two generic sizes.
    """
    rest = int(value) if value == int(value) else 0
    if rest % 100 and any(rest - t in GENERIC_SIZES for t in GENERIC_SIZES):
        return True
    for t in GENERIC_SIZES if rest else ():
        while rest % t == 0:
            rest //= t
    return 0 < rest < LEAST and rest != value


def difference_formula(size: int, shapes: Shapes) -> Tree | None:
    """The difference of the last two sizes of a named tensor, such as a wide matrix; or None."""
    for shape, name in shapes.items():
        rows, columns = len(shape) - 2, len(shape) - 1
        for a, b in ((columns, rows), (rows, columns)) if len(shape) > 1 else ():
            if (
                shape[a] - shape[b] == size
                and shape[a] in GENERIC_SIZES
                and shape[b] in GENERIC_SIZES
            ):
                return tree.Infix("-", dimension(name, a), dimension(name, b))
    return None


def power_formula(value: float, shapes: Shapes) -> Tree | None:
    """1 / size, its square root, or 1 over that: x.shape[0] ** -0.5; None for other numbers."""
    for power in (-1, -0.5, 0.5):
        size = value ** (1 / power) if SMALLEST < value < 1 / SMALLEST else 0.0
        if abs(size - round(size)) < TOLERANCE * size and is_generic_size(round(size)):
            result = size_formula(round(size), shapes)
            if result is not None:
                one = tree.Infix("/", Number(1), result)
                return one if power == -1 else tree.Infix("**", result, Number(power))
    return None


def _parts(shapes: Shapes) -> list[int]:
    """The sizes of named tensors, generic ones before those computed from them."""
    large = dict.fromkeys(n for shape in shapes for n in shape if n >= LEAST)
    return sorted(large, key=lambda n: n not in GENERIC_SIZES)


def _single(size: int, shapes: Shapes) -> Tree | None:
    """The first dimension of a named tensor with this size; None if there is none."""
    for shape, name in shapes.items() if size >= LEAST else ():
        if size in shape:
            return dimension(name, shape.index(size))
    return None


def dimension(name: Tree, place: int) -> Tree:
    """The formula x.shape[0]."""
    return Subscript(Attribute(name, "shape"), (Number(place),))
