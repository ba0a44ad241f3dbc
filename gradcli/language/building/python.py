"""Builtins of Python that differ from PyTorch's functions of the same name.

`sum` of a tensor adds along its first dimension, `max` returns the first of equal values, `float`
returns a detached number.
"""

import ast
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from ...errors import GradcliError
from ...graphs import OPS, Node, Outputs, as_node
from ...operators import lookup
from .indices import sliced
from .operands import can_be_combined, in_words, is_number
from .scope import Scope

EXTREMES = {"max": ("gt", operator.gt), "min": ("lt", operator.lt)}


def _number(b: Scope, e: ast.Call, args: list, named: dict) -> Any:
    """float(x): the element of a tensor, detached; for a string, the number that it spells."""
    _check_no_keywords("float", named)
    (x,) = args or (0.0,)
    if isinstance(x, Node):
        return b.tried(lookup("item"), (x,), {}).at(b.source.span(e))
    return _spelled(float, x) if isinstance(x, str) else x


def _spelled(kind: type[float], text: str) -> float:
    try:
        return kind(text)
    except ValueError:
        hint = "infinity is float('inf'), and not-a-number is float('nan')"
        raise _unfit(kind.__name__, f"finds no number in {in_words(text)}", hint) from None


def _int(b: Scope, e: ast.Call, args: list, named: dict) -> Any:
    """int(x): float(x), truncated."""
    _check_no_keywords("int", named)
    (x,) = args
    x = _spelled(int, x) if isinstance(x, str) else _number(b, e, args, named)
    if isinstance(x, Node):
        return b.node(OPS["long"], (x,), e)
    return x if isinstance(x, int) else int(x)


def _bool(b: Scope, e: ast.Call, args: list, named: dict) -> Any:
    """bool(x): whether the element of a tensor is not 0."""
    _check_no_keywords("bool", named)
    x = _number(b, e, args, named)
    return b.node(OPS["ne"], (x, 0), e) if isinstance(x, Node) else bool(x)


def _round(b: Scope, e: ast.Call, args: list, named: dict) -> Any:
    """round(x, ndigits) of a number."""
    if isinstance(args[0], Node):
        return b.tried(lookup("round"), args[:1], {"decimals": args[1]} if args[1:] else {})
    return round(*args, **named)


def _sum(b: Scope, e: ast.Call, args: list, named: dict) -> Any:
    """sum(x, start): start + x[0] + x[1] + ..., the sum of the rows of a matrix."""
    result, start = args[0], args[1] if len(args) > 1 else named.get("start", 0)
    if isinstance(result, Node):
        if not result.ndim:
            raise _unfit(
                "sum", "cannot iterate over a tensor of 0 dimensions", "x itself is its sum"
            )
        result = (b.node(OPS["sum"], (result,), e, dim=0),)
    for x in _several("sum", result):
        start = x if is_number(start) and start == 0 else _added(b, e, start, x)
    return start


def _added(b: Scope, e: ast.Call, left: Any, right: Any) -> Any:
    if can_be_combined(left, right):
        return b.node(OPS["add"], (left, right), e)
    return left + right


def _extreme(name: str, b: Scope, e: ast.Call, args: list, named: dict) -> Any:
    """max(x) and max(a, b, ...): the first of equal values, which receives the whole gradient."""
    if named:
        raise _unfit(name, f"takes no {next(iter(named))} here", None)
    if len(args) == 1 and isinstance(args[0], Node):
        return _of_vector(name, b, e, args[0])
    items = _several(name, args[0] if len(args) == 1 else tuple(args))
    best, *rest = items
    for x in rest:
        if not can_be_combined(best, x):
            best = x if EXTREMES[name][1](x, best) else best
            continue
        for one in (best, x):
            if isinstance(one, Node) and one.numel != 1:
                hint = f"write torch.{name}imum(a, b), or x.clamp(...) with a number"
                raise _unfit(name, "cannot compare tensors of several elements", hint)
        first = b.node(OPS[EXTREMES[name][0]], (x, best), e)
        best = b.node(OPS["where"], (first, as_node(x), as_node(best)), e)
    return best


def _of_vector(name: str, b: Scope, e: ast.Call, x: Node) -> Any:
    if x.ndim != 1:
        text = f"cannot compare the rows of a tensor with {x.ndim} dimensions"
        raise _unfit(name, text, f"write x.{name}() for the {name}imum of all elements")
    return b.tried(lookup(name), (x,), {"dim": 0})[0].at(b.source.span(e))


def _several(name: str, value: Any) -> tuple:
    if not isinstance(value, tuple):
        raise _unfit(name, f"needs several values, got {in_words(value)}", None)
    return value


def _unfit(name: str, why: str, hint: str | None) -> GradcliError:
    return GradcliError("arguments", f"Python's {name}() {why}", hint=hint)


def _check_no_keywords(name: str, named: dict) -> None:
    """Raise GradcliError for keywords: these arguments are positional-only in Python."""
    if named:
        raise _unfit(name, f"takes no {next(iter(named))}=", "give its arguments by position")


def _slice(b: Scope, e: ast.Call, args: list, named: dict) -> Any:
    _check_no_keywords("slice", named)
    return sliced(b, args)


def _without_grad(b: Scope, e: ast.Call, args: list, named: dict) -> Any:
    """A value computed within `torch.no_grad()`, detached."""
    (x,) = args
    if isinstance(x, Outputs):
        return Outputs((b.node(OPS["detach"], (n,), e) for n in x), x.names)
    return b.node(OPS["detach"], (x,), e) if isinstance(x, Node) else x


PYTHONS: dict[str, Callable[[Scope, ast.Call, list, dict], Any]] = {
    "builtins.bool": _bool,
    "builtins.float": _number,
    "builtins.int": _int,
    "builtins.no_grad": _without_grad,
    "builtins.round": _round,
    "builtins.slice": _slice,
    "builtins.sum": _sum,
    "builtins.max": partial(_extreme, "max"),
    "builtins.min": partial(_extreme, "min"),
}
