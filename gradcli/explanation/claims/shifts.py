"""What can be done to the places in a formula: shifts, widths and slices the other way round."""

import ast
from collections.abc import Iterator
from copy import copy

from ...language.syntax import is_whole_number
from .drafts import Change
from .parts import reduction, replaced_text

DIMS = ("dim", "dims", "axis", "keepdim")


def other_places(e: ast.expr) -> Iterator[Change]:
    """g.roll(-1) for g.roll(1), pad(g, (1, 0)) for pad(g, (0, 1)), g[1:] for g[:-1], g[1] for
    g[0].
    """
    made: Iterator[ast.expr]
    if isinstance(e, ast.Call) and reduction(e) is None:
        given = [*e.args, *(k.value for k in e.keywords if k.arg not in DIMS)]
        made = (_with(e, old, new) for old in given for new in _turned(old))
    elif isinstance(e, ast.Subscript):
        made = (ast.Subscript(e.value, index) for index in _other_slices(e.slice))
    else:
        return
    for new in made:
        yield Change(new, replaced_text(e, new), 2)


def _with(e: ast.Call, old: ast.expr, new: ast.expr) -> ast.Call:
    args = [new if a is old else a for a in e.args]
    named = [ast.keyword(k.arg, new if k.value is old else k.value) for k in e.keywords]
    return ast.Call(e.func, args, named)


def _turned(e: ast.expr) -> Iterator[ast.expr]:
    """Whole numbers of the other sign, and in the opposite order."""
    if is_whole_number(e):
        yield from _opposite(e)
    elif isinstance(e, ast.Tuple | ast.List) and e.elts and all(map(is_whole_number, e.elts)):
        if len({ast.unparse(n) for n in e.elts}) > 1:
            yield type(e)(e.elts[::-1], ast.Load())
        yield type(e)([next(_opposite(n), n) for n in e.elts], ast.Load())


def _opposite(e: ast.expr) -> Iterator[ast.expr]:
    number = ast.literal_eval(e)
    if number:
        yield ast.UnaryOp(ast.USub(), e) if number > 0 else ast.Constant(-number)


def _other_slices(index: ast.expr) -> Iterator[ast.expr]:
    """The same index with another slice in the place of one."""
    if isinstance(index, ast.Slice):
        yield from _other_ends(index)
    elif is_whole_number(index):
        yield from (ast.Constant(n) for n in (0, 1) if ast.unparse(index) != str(n))
        yield from _opposite(index)
    elif isinstance(index, ast.Tuple):
        for place, part in enumerate(index.elts):
            for new in _other_slices(part):
                made = copy(index)
                made.elts = [*index.elts[:place], new, *index.elts[place + 1 :]]
                yield made


def _other_ends(s: ast.Slice) -> Iterator[ast.Slice]:
    """[1:], [-1:] and [:-1] for [:1]; [n:] for [n + 1:]."""
    bound = s.lower or s.upper
    if bound is None or (s.lower and s.upper) or s.step:
        return
    minus = isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub)
    opposite = bound.operand if minus else ast.UnaryOp(ast.USub(), bound)  # type: ignore[attr-defined]
    for other in (bound, opposite):
        yield ast.Slice(None, other) if s.lower else ast.Slice(other)
    yield ast.Slice(opposite) if s.lower else ast.Slice(None, opposite)
    if isinstance(bound, ast.BinOp) and is_whole_number(bound.right):
        yield ast.Slice(bound.left) if s.lower else ast.Slice(None, bound.left)
