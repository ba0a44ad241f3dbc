"""Normalisation of Python statements.

Annotations, chained assignments and tuple assignments are split into single assignments; statements
that do not affect gradients are recognised.
"""

import ast
from collections.abc import Iterable, Iterator

from ...operators import lookup
from ..syntax import bound, called_name, loaded, path, placed_at

# Context managers that do not change what PyTorch computes.
TRANSPARENT = {"enable_grad", "set_detect_anomaly", "detect_anomaly"}
REMARKS = {"print", "zero_grad", "retain_grad", "display"}
# Functions that inspect a tensor without changing it.
READERS = {"item", "size", "dim", "numel", "type", "tolist", "numpy", "len", "id", "repr", "str"}


def single_assignments(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements, split into assignments of one value to one name where possible."""
    for s in body:
        if isinstance(s, ast.AnnAssign):
            if s.value is not None:
                yield ast.copy_location(ast.Assign([s.target], s.value), s)
        elif isinstance(s, ast.With) and all(
            called_name(i.context_expr) in TRANSPARENT for i in s.items
        ):
            yield from single_assignments(s.body)
        elif isinstance(s, ast.With) and all(
            called_name(i.context_expr) == "no_grad" for i in s.items
        ):
            yield from map(_without_grad, single_assignments(s.body))
        elif isinstance(s, ast.Assign):
            yield from _assigned(s)
        else:
            yield s


def _without_grad(s: ast.stmt) -> ast.stmt:
    """A statement within `torch.no_grad()`, whose value is detached."""
    if not isinstance(s, ast.Assign) or isinstance(s.value, ast.Name):
        return s
    cut = ast.Call(path("builtins.no_grad"), [s.value], [])
    return ast.copy_location(ast.Assign(s.targets, placed_at(cut, s.value)), s)


def _assigned(s: ast.Assign) -> Iterator[ast.stmt]:
    first, *more_targets = s.targets
    name = _same_tensor(s.value)
    if name is not None and not more_targets and isinstance(first, ast.Name):
        if called_name(s.value) == "requires_grad_":
            yield ast.copy_location(ast.Expr(s.value), s)
        if name.id != first.id:
            yield ast.copy_location(ast.Assign([first], name), s)
        return
    if more_targets and isinstance(first, ast.Name):  # x = y = value
        yield from _assigned(ast.copy_location(ast.Assign([first], s.value), s))
        for target in more_targets:
            again = placed_at(ast.Name(first.id, ast.Load()), first)
            yield from _assigned(ast.copy_location(ast.Assign([target], again), s))
    elif not more_targets and _pairs(first, s.value):
        for target, value in zip(first.elts, s.value.elts, strict=True):  # type: ignore[attr-defined]
            yield from _assigned(ast.copy_location(ast.Assign([target], value), s))
    else:
        yield s


def _same_tensor(e: ast.expr) -> ast.Name | None:
    """x, for `x.requires_grad_()` and `x.to(device)`, which return x itself; None otherwise."""
    if not isinstance(e, ast.Call) or not isinstance(e.func, ast.Attribute):
        return None
    name, of = e.func.attr, e.func.value
    moves = name == "to" and len(e.args) == 1 and "device" in ast.unparse(e.args[0])
    same = moves or name == "requires_grad_" or (name in ("cpu", "contiguous") and not e.args)
    return of if same and isinstance(of, ast.Name) else None


def _pairs(target: ast.expr, value: ast.expr) -> bool:
    """Whether `a, b = u, v` equals `a = u; b = v`, that is, whether v does not use a."""
    tuples = (ast.Tuple, ast.List)
    if not isinstance(target, tuples) or not isinstance(value, tuples):
        return False
    if len(target.elts) != len(value.elts):
        return False
    assigned_names: set[str] = set()
    for t, v in zip(target.elts, value.elts):
        if isinstance(t, ast.Starred) or isinstance(v, ast.Starred) or assigned_names & loaded(v):
            return False
        assigned_names |= set(bound(t))
    return True


def remarks(body: list[ast.stmt], pasted: bool) -> list[ast.stmt]:
    """The statements that do not affect gradients; in a `pasted` program also expressions whose
    value is unused.
    """
    assigned_names: set[str] = set()
    result = []
    for s in body:
        if _is_remark(s, pasted, last=s is body[-1], assigned_names=assigned_names):
            result.append(s)
        assigned_names |= {*bound(s)}
    return result


def _is_remark(s: ast.stmt, pasted: bool, last: bool, assigned_names: set[str]) -> bool:
    if isinstance(s, ast.Assert):
        return True
    if not isinstance(s, ast.Expr):
        return False
    name = called_name(s.value)
    if name in REMARKS or (isinstance(s.value, ast.Constant) and isinstance(s.value.value, str)):
        return True
    if isinstance(s.value, ast.Name):  # an interactive session prints it
        return not last and (pasted or s.value.id in assigned_names)
    return pasted and not last and _only_reads(s.value)


def _only_reads(e: ast.expr) -> bool:
    """Whether an expression calls no in-place function, and no function of the program."""
    for n in ast.walk(e):
        if isinstance(n, ast.Call):
            name = called_name(n) or ""
            if any(k.arg in ("out", "inplace") for k in n.keywords) or name == "backward":
                return False
            if name not in READERS and (name.endswith("_") or lookup(name) is None):
                return False
    return True
