"""Formulas without one of their parts: what a right formula comes to where something is missing."""

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any

from ...language.program import Program
from ...language.syntax import called_name, name_of
from .changes import along, dimension, widened
from .drafts import Change, Draft
from .lengths import IN_FULL
from .parts import is_number, parts, shown

TERM, OTHER = 0, 1  # a term first: without it a factor in it may be missing just as well


def left_out(program: Program) -> list[Draft]:
    """A formula without one of its terms, factors, methods or arguments; `why` says that this is
    missing.
    """
    return sorted(_left_out(program), key=lambda draft: draft.change.rank)


def with_a_mistake(program: Program) -> Iterator[Draft]:
    """The same, and a formula with a wrong sign or dimension, or without an exponent."""
    yield from left_out(program)
    for place, value in enumerate(program.values):
        for e in parts(value):
            yield from (Draft(program, place, e, c) for c in _signs(e))
            yield from (Draft(program, place, e, c) for c in _bare(e))
            yield from (Draft(program, place, e, c) for c in _along_others(e))


def _left_out(program: Program) -> Iterator[Draft]:
    for place, value in enumerate(program.values):
        below = _divisors(value)
        for e in parts(value):
            for rest, missing in without_operand(e, "divisor" if id(e) in below else "factor"):
                rank = TERM if missing.startswith("the term") else OTHER
                yield Draft(program, place, e, Change(rest, f"{missing} is missing", rank))
            if isinstance(e, ast.Call):
                yield from (Draft(program, place, e, c) for c in _without_call(e, e is value))
                yield from (Draft(program, place, e, c) for c in _without_argument(e))
        for change in (*_without_name(value), *_without_method(value)):
            yield Draft(program, place, value, change)


# ---- operands ------------------------------------------------------------------------------------


def without_operand(e: ast.expr, factor: str = "factor") -> Iterator[tuple[ast.expr, str]]:
    """What is left of a part without one operand, and what is missing then; a product is said to
    have lost a `factor`.
    """
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.MatMult):
        yield e.right, f"the product with {shown(e.left)} on the left"
        yield e.left, f"the product with {shown(e.right)} on the right"
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        plus = isinstance(e.op, ast.Add | ast.Sub)
        what = "the term" if plus else f"the {factor}"
        sign = "-" if isinstance(e.op, ast.Sub) else ""
        negative = isinstance(e.op, ast.Sub) or not isinstance(e.op, ast.Add | ast.Mult)
        right, below = ast.unparse(e.right), isinstance(e.op, ast.Div)
        signed = f"{sign}{_bracketed(e.right)}" if negative else right
        yield e.left, f"the division by {right}" if below else f"{what} {signed}"
        if not negative:
            yield e.right, f"{what} {ast.unparse(e.left)}"


def _bracketed(e: ast.expr) -> str:
    return f"({ast.unparse(e)})" if isinstance(e, ast.BinOp) else ast.unparse(e)


def _divisors(value: ast.expr) -> set[int]:
    """The ids of the products that a formula divides by, and of those in them."""
    found: set[int] = set()
    quotients = (e for e in ast.walk(value) if isinstance(e, ast.BinOp))
    left = [e.right for e in quotients if isinstance(e.op, ast.Div)]
    while left:
        e = left.pop()
        if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mult):
            found.add(id(e))
            left += [e.left, e.right]
    return found


def _without_name(value: ast.expr) -> Iterator[Change]:
    """A formula without one name wherever that is a factor, for names that it has several times."""
    names = [name for e in ast.walk(value) if (name := name_of(e))]
    for name in dict.fromkeys(n for n in names if names.count(n) > 1):
        rest = _everywhere(value, partial(_times, name))
        yield Change(rest, f"the factor {name} is missing", OTHER)


def _times(name: str, e: ast.AST) -> ast.expr | None:
    """What is multiplied with a name."""
    if not (isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mult)):
        return None
    sides = (e.left, e.right), (e.right, e.left)
    return next((rest for side, rest in sides if name_of(side) == name), None)


def _everywhere(value: ast.expr, instead: Callable[[ast.AST], ast.expr | None]) -> ast.expr:
    """A formula with what stands `instead` of its parts, where that is anything."""

    class Replaced(ast.NodeTransformer):
        def visit(self, e: ast.AST) -> Any:
            self.generic_visit(e)
            return instead(e) or e

    return Replaced().visit(deepcopy(value))


# ---- methods, signs, exponents and dimensions ----------------------------------------------------


def _without_call(e: ast.Call, whole: bool) -> Iterator[Change]:
    """What a method is called on, in the place of the call."""
    if isinstance(e.func, ast.Attribute) and not widened(e):
        text, base = shown(e), shown(e.func.value)
        why = f"{base} lacks a method: {text}"
        if text != ast.unparse(e):
            why = f"{_called(e)} is missing {'at the end' if whole else f'after {base}'}"
        yield Change(e.func.value, why, OTHER)


def _without_argument(e: ast.Call) -> Iterator[Change]:
    """A call without its last argument, where that is a number."""
    if e.args and is_number(e.args[-1]):
        number = ast.unparse(e.args[-1])
        rest = ast.Call(e.func, e.args[:-1], e.keywords)
        yield Change(rest, f"{number} is missing: {shown(e)}", OTHER)


def _without_method(value: ast.expr) -> Iterator[Change]:
    """A formula without a method wherever that is called in the same way, if it is several
    times.
    """
    calls = [e for e in ast.walk(value) if isinstance(e, ast.Call)]
    texts = [_called(e) for e in calls if isinstance(e.func, ast.Attribute)]
    for text in dict.fromkeys(t for t in texts if texts.count(t) > 1):
        rest = _everywhere(value, partial(_base_of, text))
        yield Change(rest, f"{text} is missing, in {texts.count(text)} places", OTHER)


def _base_of(text: str, e: ast.AST) -> ast.expr | None:
    """What a method is called on, for a call that is written like this."""
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and _called(e) == text:
        return e.func.value
    return None


def _called(e: ast.Call) -> str:
    """`flip(0)`, of `g.flip(0)`."""
    name = ast.Name(called_name(e) or ast.unparse(e.func))
    return ast.unparse(ast.Call(name, e.args, e.keywords))


def _signs(e: ast.expr) -> Iterator[Change]:
    """A sum with a wrong sign."""
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Add | ast.Sub):
        wrong = ast.Sub() if isinstance(e.op, ast.Add) else ast.Add()
        why = f"the sign of {_text(e.right)} is wrong"
        yield Change(ast.BinOp(e.left, wrong, e.right), why, OTHER)


def _along_others(e: ast.expr) -> Iterator[Change]:
    """A call along another dimension."""
    right = dimension(e) if isinstance(e, ast.Call) else None
    if not isinstance(e, ast.Call) or right is None:
        return
    why = f"dimension {ast.unparse(right)} belongs into {_text(e)}"
    for number in (0, 1, 2):
        yield Change(along(e, right, ast.Constant(number)), why, OTHER)


def _text(e: ast.expr) -> str:
    text = ast.unparse(e)
    return text if len(text) <= IN_FULL else shown(e)


def _bare(e: ast.expr) -> Iterator[Change]:
    """What a power or a mask is of, in its place, and 1 in that of a numerator."""
    if isinstance(e, ast.Compare):
        yield Change(e.left, f"{shown(e.left)} is to be {_text(e)}", OTHER)
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Div):
        rest = ast.BinOp(ast.Constant(1), e.op, e.right)
        yield Change(rest, f"the factor {_text(e.left)} is missing", OTHER)
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Pow):
        squared = ast.unparse(e.right) == "2"
        why = "is to be squared" if squared else f"is to have the exponent {ast.unparse(e.right)}"
        yield Change(e.left, f"{shown(e.left)} {why}", OTHER)
