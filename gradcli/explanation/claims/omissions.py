"""Mutations of the right formula: a claim may be the right formula with one part missing, or with a
mistake.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from functools import cache, partial
from itertools import takewhile
from typing import Any

from ...language.program import Program
from ...language.syntax import called_name, name_of
from .edits import Edit
from .mutations import Mutation, mutated
from .syntax import (
    Bindings,
    along,
    around,
    dimension,
    excerpt,
    is_number,
    is_product,
    is_quotient,
    matched,
    parts,
    replaced,
)
from .words import Words

TERM, OTHER = 0, 1  # ranks: a missing term is tried before a missing factor of that term
PART = 60  # largest number of characters of a part that replaces another
MOST = 20  # largest number of parts of a formula that are exchanged


def _without_call(m: Bindings, words: Words) -> Iterator[Bindings]:
    """A call of a method replaced by the object it is called on."""
    e = m["e"]
    if not (isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute)):
        return
    text, base = excerpt(e), excerpt(e.func.value)
    lacking = f"{base} lacks a method: {text}"
    if text != ast.unparse(e):
        where = "at the end" if m["it"] == "it" else f"after {base}"
        lacking = f"{_call_text(e)} is missing {where}"
    if e.func.attr != "unsqueeze":
        yield {"p": e.func.value, "lacking": lacking}


def _mask_alone(m: Bindings, words: Words) -> Iterator[Bindings]:
    """1.0 in place of (x > 0).double(), as if the factor x > 0 were missing."""
    e = m["e"]
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and e.func.attr == "double":
        yield {"p": ast.Constant(1.0), "a": e.func.value}


def _without_argument(m: Bindings, words: Words) -> Iterator[Bindings]:
    """A call without its last argument, if that is a number."""
    e = m["e"]
    if isinstance(e, ast.Call) and e.args and is_number(e.args[-1]):
        yield {"p": ast.Call(e.func, e.args[:-1], e.keywords), "n": e.args[-1]}


def _along_other_dims(m: Bindings, words: Words) -> Iterator[Bindings]:
    """A call along another dimension than the right one."""
    right = dimension(m["e"]) if isinstance(m["e"], ast.Call) else None
    if right is not None:
        for number in (0, 1, 2):
            yield {"p": along(m["e"], right, ast.Constant(number)), "d": right}


def _power(m: Bindings, words: Words) -> Iterator[Bindings]:
    letters = matched("a ** b", m["e"])
    if letters is not None:
        exponent = ast.unparse(letters["b"])
        other = f"should have the exponent {exponent}"
        yield {"power": "should be squared" if exponent == "2" else other}


M = Mutation
OPERANDS: Sequence[Mutation] = (  # a part without one of its operands
    M("the product with {a} on the left", "a @ b", "b", OTHER),
    M("the product with {b} on the right", "a @ b", "a", OTHER),
    M("the term {b:full}", "a + b", "a", TERM),
    M("the term {a:full}", "a + b", "b", TERM),
    M("the term -({u:full})", "a - u", "a", TERM),
    M("the term -{v:full}", "a - v", "a", TERM),
    M("the factor {b:full}", "a * b", "a", OTHER),
    M("the factor {a:full}", "a * b", "b", OTHER),
    M("the division by {b:full}", "a / b", "a", OTHER),
    M("the factor {a:full}", "e", "p", OTHER, _mask_alone),
)
CALLS: Sequence[Mutation] = (
    M("{lacking}", "e", "p", OTHER, _without_call),
    M("{n:full} is missing: {e}", "e", "p", OTHER, _without_argument),
)
MISTAKES: Sequence[Mutation] = (  # a part of the right formula with a mistake
    M("the sign of {b:long} is wrong", "a + b", "a - b", OTHER),
    M("the sign of {b:long} is wrong", "a - b", "a + b", OTHER),
    *(M("{a} should be {e:long}", f"a {sign} b", "a", OTHER)
      for sign in ("<", "<=", ">", ">=", "==", "!=")),
    M("the factor {a:long} is missing", "a / b", "1 / b", OTHER),
    M("{a} {power}", "a ** b", "a", OTHER, _power),
    M("the dimension should be {d:full}, as in {e:long}", "e", "p", OTHER, _along_other_dims),
)  # fmt: skip
NO_WORDS = Words(None, (), (), (), ())


def omissions_of(program: Program) -> list[Edit]:
    """Edits of the formula, each without one of its terms, factors, methods or arguments. The `why`
    of an edit names the missing part.
    """
    return sorted(_omissions(program), key=lambda edit: edit.rank)


def with_common_mistake(program: Program) -> Iterator[Edit]:
    """The edits of `omissions_of`, then edits with a wrong sign or dimension or no exponent."""
    yield from omissions_of(program)
    for position, value in enumerate(program.values):
        for e in parts(value):
            for m, new, why in mutated(MISTAKES, e, NO_WORDS, ""):
                yield Edit(program, position, e, new, why, m.rank)


def _omissions(program: Program) -> Iterator[Edit]:
    """Edits that leave out an operand, a call, or a name or method everywhere."""
    for position, value in enumerate(program.values):
        below = _divisors(value)
        for e in parts(value):
            for m, rest, missing in mutated(OPERANDS, e, NO_WORDS, ""):
                text = missing().replace("the factor", "the divisor", id(e) in below)
                yield Edit(program, position, e, rest, f"{text} is missing", m.rank)
            for m, rest, why in mutated(CALLS, e, NO_WORDS, "it" if e is value else ""):
                yield Edit(program, position, e, rest, why, m.rank)
        for rest, text in (*_without_name(value), *_without_method(value)):
            yield Edit(program, position, value, rest, text, OTHER)


def _divisors(value: ast.expr) -> set[int]:
    """The ids of products in denominators of a formula."""
    result: set[int] = set()
    pending = [e.right for e in ast.walk(value) if is_quotient(e)]
    while pending:
        e = pending.pop()
        if is_product(e):
            result.add(id(e))
            pending += [e.left, e.right]
    return result


# ---- a name or a method that is missing in several places ----------------------------------------


def _without_name(value: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """The formula without a name as a factor anywhere, for names that occur several times."""
    names = [name for e in ast.walk(value) if (name := name_of(e))]
    for name in dict.fromkeys(n for n in names if names.count(n) > 1):
        yield _replaced_everywhere(value, partial(_times, name)), f"the factor {name} is missing"


def _times(name: str, e: ast.AST) -> ast.expr | None:
    """The other factor of a product that has a name as one factor; None for other parts."""
    sides = ((e.left, e.right), (e.right, e.left)) if is_product(e) else ()
    return next((rest for side, rest in sides if name_of(side) == name), None)


def _without_method(value: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """The formula without a method call anywhere, for calls that occur several times."""
    calls = [e for e in ast.walk(value) if isinstance(e, ast.Call)]
    texts = [_call_text(e) for e in calls if isinstance(e.func, ast.Attribute)]
    for text in dict.fromkeys(t for t in texts if texts.count(t) > 1):
        rest = _replaced_everywhere(value, partial(_base_of, text))
        yield rest, f"{text} is missing, in {texts.count(text)} places"


def _base_of(text: str, e: ast.AST) -> ast.expr | None:
    """The object of a method call with this text; None for other parts."""
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and _call_text(e) == text:
        return e.func.value
    return None


def _call_text(e: ast.Call) -> str:
    """The text of a method call without its object, such as `flip(0)` for `g.flip(0)`."""
    name = ast.Name(called_name(e) or ast.unparse(e.func))
    return ast.unparse(ast.Call(name, e.args, e.keywords))


def _replaced_everywhere(
    value: ast.expr, instead: Callable[[ast.AST], ast.expr | None]
) -> ast.expr:
    """A formula with each part replaced by `instead(part)`, unless that is None."""

    class Replaced(ast.NodeTransformer):
        def visit(self, e: ast.AST) -> Any:
            self.generic_visit(e)
            return instead(e) or e

    return Replaced().visit(deepcopy(value))


# ---- one part in place of any other --------------------------------------------------------------


def parts_of(values: Iterable[ast.expr]) -> list[ast.expr]:
    """The distinct short parts of several formulas."""
    result = (part for value in values for part in parts(value))
    return [e for text, e in {ast.unparse(e): e for e in result}.items() if len(text) <= PART]


def exchanges(
    program: Program, replacements: list[ast.expr], ranks: Callable[[str], int] | None
) -> list[Edit]:
    """Edits that replace a part by one of `replacements`; the most similar texts are tried first.
    `ranks` returns the number of dimensions of a text. Replacements with fewer dimensions are
    skipped.
    """
    built = _exchanges(program, replacements, cache(ranks or (lambda text: 0)))
    return sorted(built, key=lambda edit: edit.rank)


def _exchanges(
    program: Program, replacements: list[ast.expr], ranks: Callable[[str], int]
) -> Iterator[Edit]:
    for position, value in enumerate(program.values):
        so_far = program.only(range(position + 1))
        texts = [(ast.unparse(p), p) for p in parts(value) if p is not program.result]
        for old, part in sorted(texts[:MOST], key=lambda pair: len(pair[0])):
            for new in replacements:
                text = ast.unparse(new)
                if text != old and ranks(text) >= ranks(so_far.written(position, part)):
                    yield from _exchange_edits(program, position, part, new)


def _exchange_edits(
    program: Program, position: int, part: ast.expr, new: ast.expr
) -> Iterator[Edit]:
    """The edits that replace a part at one occurrence, and, for its first one, everywhere."""
    value, distance = program.values[position], _distance(ast.unparse(part), ast.unparse(new))
    yield Edit(program, position, part, new, lambda: _why(part, new, around(part, value)), distance)
    same = [e for e in parts(value) if ast.unparse(e) == ast.unparse(part)]
    if len(same) > 1 and same[0] is part:
        built = value
        for e in same:
            built = replaced(built, e, new)
        yield Edit(program, position, value, built, _why(part, new, None), distance * len(same))


def _distance(old: str, new: str) -> int:
    """The number of characters that differ after the common prefix and suffix are removed."""
    begins = _shared(old, new)
    ends = _shared(old[begins:][::-1], new[begins:][::-1])
    return len(old) + len(new) - 2 * (begins + ends)


def _shared(a: str, b: str) -> int:
    """The length of the common prefix."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b)))


def _why(old: ast.expr, new: ast.expr, around_it: ast.expr | None) -> str:
    """The sentence on a missing part, `the term b is missing beside W @ x`, or on one that was
    exchanged, `x should be x - y in norm(x)`.
    """
    old_text, inside = ast.unparse(old), f" in {ast.unparse(around_it)}" if around_it else ""
    for _, rest, missing in mutated(OPERANDS, new, NO_WORDS, ""):
        if ast.unparse(rest) == old_text:
            return f"{missing()} is missing beside {old_text}{inside}"
    return f"{old_text} should be {ast.unparse(new)}{inside}"
