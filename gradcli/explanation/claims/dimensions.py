"""Calls along a dimension, as `softmax(x, 0)` and `x.sum(1)`: reading and replacing the dimension,
and adding keepdim=True.
"""

import ast

from ...language.inference.products import called
from ...language.inference.ranks import along_a_dimension
from ...language.syntax import is_whole_number

KEEPDIM = ast.keyword("keepdim", ast.Constant(True))


def dimension(e: ast.Call) -> ast.expr | None:
    """The literal dimension of a call along one; None for other calls."""
    if along_a_dimension(e) is None:
        return None
    candidates = [*e.args[-1:], *(k.value for k in e.keywords if k.arg in ("dim", "axis"))]
    return next(filter(is_whole_number, candidates), None)


def along(e: ast.Call, old: ast.expr, new: ast.expr | None) -> ast.Call:
    """The call with another dimension, or without one."""
    args = [new if a is old else a for a in e.args]
    pairs = [(k.arg, new if k.value is old else k.value) for k in e.keywords]
    named = [ast.keyword(k, v) for k, v in pairs if v and (new or k != "keepdim")]
    return ast.Call(e.func, [a for a in args if a], named)


def takes_keepdim(e: ast.Call) -> bool:
    """Whether a call takes keepdim=True."""
    op = called(e)
    return op is not None and "keepdim" in op.places


def may_keep(e: ast.Call) -> bool:
    """Whether a call takes keepdim and does not have it."""
    return takes_keepdim(e) and all(k.arg != "keepdim" for k in e.keywords)


def loses_dimension(e: ast.AST) -> bool:
    """Whether a part of a formula is a reduction that drops its dimension."""
    return isinstance(e, ast.Call) and dimension(e) is not None and may_keep(e)


def keeping(e: ast.Call) -> ast.Call:
    """The call with keepdim=True, if it takes that."""
    return ast.Call(e.func, e.args, [*e.keywords, *([KEEPDIM] if may_keep(e) else [])])
