"""Statements of Python, one value to one name: annotations, chains and tuples taken apart."""

import ast
import re
from collections.abc import Iterable, Iterator

from ..syntax import bound, called_name, is_true, keyword, loaded, moved, path

# What is not so on a machine without a graphics card, and before backward() is called.
NOT_SO = r"(torch\.)?cuda\.is_available\(\)|\w+\.grad is not None"
# Blocks in which PyTorch computes as outside of them.
TRANSPARENT = {"enable_grad", "set_detect_anomaly", "detect_anomaly", "set_grad_enabled"}


def one_by_one(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements, each of which gives one value to one name where that is possible."""
    for s in body:
        if isinstance(s, ast.AnnAssign):
            if s.value is not None:
                yield ast.copy_location(ast.Assign([s.target], s.value), s)
        elif isinstance(s, ast.With) and all(_is_transparent(i.context_expr) for i in s.items):
            yield from one_by_one(s.body)
        elif isinstance(s, ast.With) and all(
            called_name(i.context_expr) == "no_grad" for i in s.items
        ):
            yield from map(_without_grad, one_by_one(s.body))
        elif isinstance(s, ast.If) and re.fullmatch(NOT_SO, ast.unparse(s.test)):
            yield from one_by_one(s.orelse)
        elif isinstance(s, ast.Assign):
            yield from _assigned(s)
        else:
            yield s


def _without_grad(s: ast.stmt) -> ast.stmt:
    """A statement inside of `torch.no_grad()`, which cuts what is computed, and makes leaves."""
    if not isinstance(s, ast.Assign) or isinstance(s.value, ast.Name):
        return s
    if any(keyword(n, "requires_grad") or called_name(n) == "Parameter" for n in ast.walk(s.value)):
        return s
    cut = ast.Call(path("builtins.no_grad"), [s.value], [])
    return ast.copy_location(ast.Assign(s.targets, moved(cut, s.value)), s)


def _is_transparent(e: ast.expr) -> bool:
    if not isinstance(e, ast.Call) or called_name(e) not in TRANSPARENT:
        return False
    return called_name(e) != "set_grad_enabled" or all(map(is_true, e.args))


def _assigned(s: ast.Assign) -> Iterator[ast.stmt]:
    first, *others = s.targets
    name = _same_tensor(s.value)
    if name is not None and not others and isinstance(first, ast.Name):
        if called_name(s.value) == "requires_grad_":
            yield ast.copy_location(ast.Expr(s.value), s)
        if name.id != first.id:
            yield ast.copy_location(ast.Assign([first], name), s)
        return
    if others and isinstance(first, ast.Name):  # x = y = value
        yield from _assigned(ast.copy_location(ast.Assign([first], s.value), s))
        for target in others:
            again = moved(ast.Name(first.id, ast.Load()), first)
            yield from _assigned(ast.copy_location(ast.Assign([target], again), s))
    elif not others and _pairs(first, s.value):
        for target, value in zip(first.elts, s.value.elts, strict=True):  # type: ignore[attr-defined]
            yield from _assigned(ast.copy_location(ast.Assign([target], value), s))
    else:
        yield s


def _same_tensor(e: ast.expr) -> ast.Name | None:
    """x, of `x.requires_grad_()` and `x.to(device)`, which are x itself."""
    if not isinstance(e, ast.Call) or not isinstance(e.func, ast.Attribute):
        return None
    name, of = e.func.attr, e.func.value
    moves = name == "to" and len(e.args) == 1 and "device" in ast.unparse(e.args[0])
    same = moves or name == "requires_grad_" or (name in ("cpu", "contiguous") and not e.args)
    return of if same and isinstance(of, ast.Name) else None


def _pairs(target: ast.expr, value: ast.expr) -> bool:
    """Whether `a, b = u, v` is `a = u; b = v`: a has not to be what v reads."""
    tuples = (ast.Tuple, ast.List)
    if not isinstance(target, tuples) or not isinstance(value, tuples):
        return False
    if len(target.elts) != len(value.elts):
        return False
    given: set[str] = set()
    for t, v in zip(target.elts, value.elts):
        if isinstance(t, ast.Starred) or isinstance(v, ast.Starred) or given & loaded(v):
            return False
        given |= set(bound(t))
    return True
