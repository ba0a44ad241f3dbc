"""Formulas with small changes.

Works on Python's syntax tree, so that a formula whose shapes do not fit can be changed too.
"""

import ast
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import combinations, product
from math import gcd

from ...language.program import Program, read_again
from ...language.syntax import is_whole_number
from .changes import (
    added,
    along,
    changes,
    dimension,
    keeping,
    opposite,
    transposed,
)
from .drafts import RENAMED, SHAPES, Change, Draft, ending, replaced
from .given import ORIGIN
from .parts import REDUCTIONS, around, expression, factors_of, is_size, method, parts, reduction
from .words import Words, typed_numbers

MOST = 40  # parts of a formula that are changed
FEW = 4  # places of a name of which some may be those of another


def edits(program: Program, words: Words) -> list[Draft]:
    """The changes of each part of a formula, of its steps as well, the likeliest first."""
    return sorted(_drafts(program, words), key=lambda draft: draft.change.rank)


def _drafts(program: Program, words: Words) -> Iterator[Draft]:
    count = 0
    for place, value in enumerate(program.values):
        for part in parts(value):
            count += 1
            if count > MOST:
                return
            whole = part is program.result
            for change in changes(part, words, whole):
                yield Draft(program, place, part, change)
    yield from _transposed_everywhere(program)
    yield from _along_others_everywhere(program, words.dims)
    yield from _means_everywhere(program)
    yield from _resized(program, words.sizes)
    yield from _with_numbers(program, words.numbers)
    yield from _renamed(program, words.names)


def pairs(program: Program) -> Iterator[Draft]:
    """Two changes: of shapes and places, and of the sign beside them; two dimensions that are
    lacking first, for what is transposed twice may fit by chance.
    """
    wider = (draft for draft in _shape_edits(program) if draft.change.widens)
    for first in wider:
        others = _shape_edits(read_again(first.text, ORIGIN))
        yield from (other.after(first) for other in others if other.change.widens)
    for first in _shape_edits(program):
        changed = read_again(first.text, ORIGIN)
        negative = opposite(changed.result)
        sign = _whole(changed, negative, "the sign is wrong", 0)
        for second in (sign, *_shape_edits(changed)):
            yield second.after(first)


def _shape_edits(program: Program) -> list[Draft]:
    """The changes that exchange rows and columns, or operands."""
    found = edits(program, Words(None, (), (), (), ()))
    return [draft for draft in found if draft.change.rank <= SHAPES]


def scaled(program: Program, factor: str, divide: bool = False) -> str:
    """The text of a formula, multiplied or divided by what another text says."""
    value, other = program.result, expression(factor)
    made = ast.BinOp(value, ast.Div(), other) if divide else ast.BinOp(other, ast.Mult(), value)
    return ending(program, made)


def divided_by(program: Program, divisor: ast.expr) -> str:
    """The text of a formula divided by a product, without the factors that both have."""
    above, below = program.result, divisor
    for a, b in product([*factors_of(above)], [*factors_of(below)]):
        left = _without_shared(a, b)
        if left is not None:
            above, below = _factor_replaced(above, a, left[0]), _factor_replaced(below, b, left[1])
    made = above if _is_one(below) else ast.BinOp(above, ast.Div(), below)
    return ending(program, made)


def _without_shared(a: ast.expr, b: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Two factors without what divides both; None where nothing is known to."""
    if ast.unparse(a) == ast.unparse(b):
        return ast.Constant(1), ast.Constant(1)
    if is_whole_number(a) and is_whole_number(b):
        numbers = ast.literal_eval(a), ast.literal_eval(b)
        shared = gcd(*numbers) or 1
        above, below = (ast.Constant(n // shared) for n in numbers)
        return above, below
    return None


def _factor_replaced(e: ast.expr, old: ast.expr, new: ast.expr) -> ast.expr:
    """A product with another factor in place of one; without any where that is 1."""
    products = (p for p in ast.walk(e) if isinstance(p, ast.BinOp) and isinstance(p.op, ast.Mult))
    for p in products if _is_one(new) else ():
        if old in (p.left, p.right):
            return replaced(e, p, p.left if p.right is old else p.right)
    return replaced(e, old, new)


def _is_one(e: ast.expr) -> bool:
    return isinstance(e, ast.Constant) and e.value == 1


def negated(program: Program) -> str:
    """The text of a formula with the other sign."""
    return ending(program, opposite(program.result))


def plus(program: Program, term: str) -> str:
    """The text of a formula and a term added to it."""
    return ending(program, added(program.result, expression(term)))


def called(program: Program, name: str, *args: str) -> str:
    """The text of a formula with a method called on it."""
    return ending(program, method(program.result, name, [expression(a) for a in args]))


def numbers(program: Program) -> Iterator[tuple[ast.expr, float]]:
    """The numbers that are factors of a formula, and where they stand."""
    for e in factors_of(program.result):
        number = e.value if isinstance(e, ast.Constant) else None
        if isinstance(number, int | float):
            yield e, number


def divisors(program: Program) -> Iterator[tuple[ast.expr, float]]:
    """The numbers that a formula divides by, and where they stand."""
    for e in ast.walk(program.result):
        below = e.right if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Div) else None
        number = below.value if isinstance(below, ast.Constant) else None
        if below is not None and isinstance(number, int | float):
            yield below, number


def renumbered(program: Program, old: ast.expr, new: str) -> str:
    """The text of a formula with another number in place of one."""
    return ending(program, replaced(program.result, old, expression(new)))


def with_other_factor(program: Program, old: str, new: str) -> Iterator[str]:
    """The texts of a formula with another factor in place of one."""
    value = program.result
    for e in factors_of(value):
        if ast.unparse(e) == old:
            yield ending(program, replaced(value, e, expression(new)))


def _whole(program: Program, new: ast.expr, why: str, rank: int) -> Draft:
    """Another formula in the place of the last step's."""
    place = len(program.values) - 1
    return Draft(program, place, program.result, Change(new, why, rank))


def _resized(program: Program, sizes: tuple[str, ...]) -> Iterator[Draft]:
    """One number of elements in place of another.

    Rank 0: a wrong size also makes a claim too large by a factor, which would be told before it.
    """
    for place, value in enumerate(program.values):
        calls = (e for e in ast.walk(value) if isinstance(e, ast.Subscript | ast.Call))
        for old in filter(is_size, calls):
            for size in sizes:
                if size != ast.unparse(old):
                    why = f"{size} belongs where {ast.unparse(old)} stands"
                    yield Draft(program, place, old, Change(expression(size), why, 0, alone=True))


def _with_numbers(program: Program, numbers: tuple[str, ...]) -> Iterator[Draft]:
    """A number of the program in place of another."""
    for place, value in enumerate(program.values):
        for old in (e for e in typed_numbers(value) if isinstance(e, ast.Constant)):
            for new in numbers:
                number = expression(new)
                why = _in_place(old, number, around(old, value))
                yield Draft(program, place, old, Change(number, why, 4))


def _in_place(old: ast.expr, new: ast.expr, inside: ast.expr | None) -> str:
    """`2 is to be 3`, or with what stands around it, where that is to be said."""
    if inside is None:
        return f"{ast.unparse(old)} is to be {ast.unparse(new)}"
    return f"{ast.unparse(replaced(inside, old, new))} belongs where {ast.unparse(inside)} stands"


def _along_others_everywhere(program: Program, dims: tuple[str, ...]) -> Iterator[Draft]:
    """Another dimension in all calls that go along the same; with and without keepdim=True."""
    value = program.result
    calls = [e for e in ast.walk(value) if isinstance(e, ast.Call)]
    numbers = [ast.unparse(d) for d in map(dimension, calls) if d is not None]
    for old in dict.fromkeys(n for n in numbers if numbers.count(n) > 1):
        kept = _everywhere(value, old, old, True)
        yield _whole(program, kept, f"what goes along dimension {old} lacks keepdim=True", 2)
        for new in (d for d in dims if d != old):
            for keep in (False, True):
                why = f"dimension {old} is to be {new}" + ", with keepdim=True" * keep
                yield _whole(program, _everywhere(value, old, new, keep), why, 2)


def _everywhere(value: ast.expr, old: str, new: str, keep: bool) -> ast.expr:
    made = deepcopy(value)
    for e in ast.walk(made):
        number = dimension(e) if isinstance(e, ast.Call) else None
        if isinstance(e, ast.Call) and number is not None and ast.unparse(number) == old:
            other = along(keeping(e) if keep else e, number, expression(new))
            e.args, e.keywords = other.args, other.keywords
    return made


def _means_everywhere(program: Program) -> Iterator[Draft]:
    """Means for all sums, and sums for all means, where there are several."""
    value = program.result
    for old, new in REDUCTIONS.items():
        made = deepcopy(value)
        calls = [e for e in ast.walk(made) if isinstance(e, ast.Call) and reduction(e) == old]
        for e in calls:
            setattr(e.func, "attr" if isinstance(e.func, ast.Attribute) else "id", new)
        if len(calls) > 1:
            yield _whole(program, made, f"{old}s stand where {new}s belong", 0)


def _renamed(program: Program, names: tuple[str, ...]) -> Iterator[Draft]:
    """One name in place of another, in a single place, in several or in all."""
    value = program.result
    functions = {id(e.func) for e in ast.walk(value) if isinstance(e, ast.Call)}
    named = (e for e in ast.walk(value) if isinstance(e, ast.Name))
    used = [e for e in named if id(e) not in functions]
    for old in dict.fromkeys(part.id for part in used):
        places = [part for part in used if part.id == old]
        for name in names:
            if name != old:
                why = f"{name} belongs where {old} stands"
                for chosen in _some(places):
                    yield _put(program, chosen, name, why)


def _some(places: Sequence[ast.Name]) -> Iterator[Sequence[ast.Name]]:
    """Some of a few places, or all of them; of many, one or all."""
    counts = range(1, len(places) + 1) if len(places) <= FEW else (1, len(places))
    for n in counts:
        yield from combinations(places, n)


def _put(program: Program, places: Sequence[ast.Name], name: str, why: str) -> Draft:
    value = program.result
    for part in places:
        value = replaced(value, part, expression(name))
    return _whole(program, value, why, RENAMED)


def _transposed_everywhere(program: Program) -> Iterator[Draft]:
    """What occurs several times, transposed wherever it does."""
    value = program.result
    groups: dict[str, list[ast.expr]] = {}
    for part in parts(value):
        groups.setdefault(ast.unparse(part), []).append(part)
    for text, same in groups.items():
        if len(same) > 1:
            made = value
            for part in same:
                made = replaced(made, part, transposed(part, text)[0])
            yield _whole(program, made, transposed(same[0], text)[1], SHAPES)
