"""Common mistakes in a formula, as a table: the pattern of a wrong part, its replacement, and the
sentence about the mistake.

`edits` applies the table to every part of a formula. This module does not know whether an edit is
right.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from copy import copy, deepcopy
from functools import partial
from itertools import combinations, groupby, permutations
from typing import NamedTuple

from ...graphs import Operator
from ...language.inference.products import called
from ...language.program import Program, read_again
from ...language.syntax import called_name, is_whole_number, negated
from .claim import ORIGIN
from .edits import RENAMED, SHAPES, Edit, whole
from .syntax import (
    KEEPDIM,
    REDUCTIONS,
    Bindings,
    Excerpt,
    along,
    around,
    dimension,
    divided,
    excerpt,
    expression,
    factors_of,
    filled,
    is_size,
    is_transposed,
    keeping,
    loses_dimension,
    matched,
    may_keep,
    method,
    operands,
    opposite,
    over,
    parts,
    reduction,
    replaced,
    replaced_text,
    takes_keepdim,
    times,
    transposed,
)
from .words import Words, typed_numbers

MOST = 40  # largest number of parts of a formula that are changed
FEW = 4  # largest number of occurrences of a name of which all subsets are renamed
WIDER = 3  # the rank of edits that add a dimension
MATRICES = 4  # largest number of matrices in a product whose permutations are tried

MIRRORED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<"}
COMPLEMENTS = {"<=": ">", "<": ">=", ">=": "<", ">": "<="}
COMPARISONS = (*MIRRORED, "==", "!=")

PAIRS = "triu tril, amax amin, max min, maximum minimum, sin cos, sinh cosh"
COUNTERPARTS = dict(map(str.split, PAIRS.split(", ")))
COUNTERPARTS |= {b: a for a, b in COUNTERPARTS.items()}

DIMS = ("dim", "dims", "axis", "keepdim")


class Mutation(NamedTuple):
    """A possible mistake in a part of a formula. In patterns, a single letter matches a
    sub-expression; `e` is the part itself. A function `right` returns None if it does not apply.
    """

    mistake: str  # the sentence; `{a}` is a part (see `Excerpt`), `{new}` its replacement
    part: str  # the pattern of a part that may have the mistake
    right: str | Callable[[Bindings], ast.expr | None]  # patterns, separated by `;`
    rank: int  # lower for likelier mistakes, as in `Edit`
    # yields bindings of further letters, each of which gives a replacement
    choices: Callable[[Bindings, Words], Iterator[Bindings]] | None = None
    widens: bool = False  # the replacement has one more dimension
    alone: bool = False  # not combined with another mistake, because it may fit by chance

    def replacements(self, result: Bindings) -> Iterator[ast.expr]:
        """The replacements of a part; none if the pattern does not match."""
        letters = matched(self.part, result["e"])
        if letters is None:
            return
        result |= letters
        if isinstance(self.right, str):
            yield from (filled(text, result) for text in self.right.split("; "))
        elif (new := self.right(result)) is not None:
            yield new


def mutated(
    table: Sequence[Mutation], e: ast.expr, words: Words, it: str
) -> Iterator[tuple[Mutation, ast.expr, Callable[[], str]]]:
    """Yield each mutation that applies to a part, its replacement, and a function that returns the
    sentence about the mutation. Mutations that share a function `choices` are tried together: for
    each of its bindings, all of them. `it` is how sentences refer to the part.
    """
    beside_it, of = (f" {word} {it}" * (it != "it") for word in ("beside", "of"))
    common = {"e": e, "it": it, "beside_it": beside_it, "of_it": of}
    for choices, group in groupby(table, lambda m: m.choices):
        rows = [*group]
        for chosen in choices(common, words) if choices else ({},):
            for m in rows:
                result = common | chosen
                for new in m.replacements(result):
                    yield m, new, partial(_sentence, m.mistake, result | {"new": new})


def _sentence(mistake: str, result: Bindings) -> str:
    texts = {k: Excerpt(v) if isinstance(v, ast.expr) else v for k, v in result.items()}
    if "{replaced}" in mistake:
        texts["replaced"] = replaced_text(result["e"], result["new"])
    return mistake.format(**texts)


# ---- dimensions ---------------------------------------------------------------------------------


def _keepdim(e: ast.Call) -> ast.expr | None:
    return keeping(e) if may_keep(e) else None


def _over_all(m: Bindings) -> ast.expr | None:
    return along(m["e"], m["o"], None) if takes_keepdim(m["e"]) else None


def _along(m: Bindings, words: Words) -> Iterator[Bindings]:
    """Bind `o` to the dimension argument of a call that is not a reduction."""
    old = dimension(m["e"]) if isinstance(m["e"], ast.Call) else None
    if old is not None and reduction(m["e"]) is None:
        yield {"o": old}


def _along_other_dims(m: Bindings, words: Words) -> Iterator[Bindings]:
    """Bind `o` to the dimension argument of a call, and `d` to every other dimension."""
    for letters in _along(m, words):
        numbers = filter(is_whole_number, map(expression, words.dims))
        yield from (letters | {"d": d} for d in numbers if _differs(d, letters["o"]))


def _differs(a: ast.expr, b: ast.expr) -> bool:
    return ast.unparse(a) != ast.unparse(b)


def _spans(m: Bindings, words: Words) -> Iterator[Bindings]:
    """Bind `args` to the dimensions that a sum may reduce, and `over` to the phrase for them."""
    for dim in map(expression, words.dims):
        several = "s" * isinstance(dim, ast.Tuple)
        yield {"args": [dim], "over": f"over dimension{several} {ast.unparse(dim)}"}
    yield {"args": [], "over": "over all elements"}


def _reduced(m: Bindings, name: str, keep: bool = False) -> ast.expr | None:
    """A part that is neither a sum nor a mean, reduced over dimensions."""
    return None if reduction(m["e"]) else _over(m, m["e"], name, keep)


def _over(m: Bindings, base: ast.expr, name: str, keep: bool = False) -> ast.expr | None:
    """A sum or a mean over dimensions; None for one over all elements with keepdim."""
    if keep:
        same = [ast.dump(a) for a in m.get("rest", ((),))[0]] == [ast.dump(a) for a in m["args"]]
        lacks = same and loses_dimension(m["e"])
        m["lacks"] = "lacks keepdim=True" if lacks else f"should be {m['over']}, with keepdim=True"
    if keep and not m["args"]:
        return None
    return method(base, name, m["args"], [KEEPDIM] * keep)


# ---- choices of further letters ------------------------------------------------------------------


def _seed(m: Bindings, words: Words) -> Iterator[Bindings]:
    """Bind `g` to the seed, if the formula lacks it."""
    if words.seed is not None:
        yield {"g": expression(words.seed), "seed": words.seed}


def _names(m: Bindings, words: Words) -> Iterator[Bindings]:
    yield from ({"q": expression(name), "name": name} for name in words.names)


def _at_other_places(m: Bindings, words: Words) -> Iterator[Bindings]:
    """unsqueeze along another dimension: g.unsqueeze(1) in place of g.unsqueeze(0)."""
    letters = matched("a.unsqueeze(...)", m["e"])
    texts = ("a.unsqueeze(0)", "a.unsqueeze(1)", "a.unsqueeze(-1)") if letters else ()
    built = (filled(text, letters or {}) for text in texts)
    yield from ({"p": new} for new in built if _differs(new, m["e"]))


def _batch_transposed(m: Bindings) -> ast.expr | None:
    return None if isinstance(m["e"], ast.Attribute) else ast.Attribute(m["e"], "mT")


def _divided_by_name(m: Bindings) -> ast.expr | None:
    """A part divided by a name that is not one of its factors."""
    is_factor = m["name"] in map(ast.unparse, factors_of(m["e"]))
    return None if is_factor else over(m["e"], m["q"])


def _permuted_back(m: Bindings, words: Words) -> Iterator[Bindings]:
    """The inverse permutation: g.permute(1, 2, 0) in place of g.permute(2, 0, 1)."""
    e = m["e"]
    if isinstance(e, ast.Call) and all(map(is_whole_number, e.args)):
        order = [ast.literal_eval(a) for a in e.args]
        if len(order) > 2 and sorted(order) == [*range(len(order))]:
            back: list[ast.expr] = [ast.Constant(order.index(d)) for d in range(len(order))]
            yield {"p": ast.Call(e.func, back, e.keywords)}


def _in_other_orders(m: Bindings, words: Words) -> Iterator[Bindings]:
    """A product of several matrices in other orders."""
    matrices = [*_multiplied(m["e"])]
    for order in permutations(matrices) if 2 < len(matrices) <= MATRICES else ():
        new = order[0]
        for matrix in order[1:]:
            new = ast.BinOp(new, ast.MatMult(), matrix)
        yield {"p": new}


def _multiplied(e: ast.expr) -> Iterator[ast.expr]:
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.MatMult):
        yield from _multiplied(e.left)
        yield e.right
    else:
        yield e


def _counterpart(m: Bindings) -> ast.expr | None:
    """The counterpart of a function: triu(x) in place of tril(x), cos(x) in place of sin(x)."""
    e, name = m["e"], COUNTERPARTS.get(called_name(m["e"]) or "")
    if name is None:
        return None
    is_method = isinstance(e.func, ast.Attribute)
    func = ast.Attribute(e.func.value, name) if is_method else ast.Name(name)
    return ast.Call(func, e.args, e.keywords)


def _elementwise(e: ast.expr) -> Operator | None:
    """The elementwise operation that a part calls; None for other parts."""
    op = called(e) if isinstance(e, ast.Call) else None
    return op if isinstance(op, Operator) and op.family == "elementwise" else None


def _has_branches(e: ast.Call, op: Operator) -> bool:
    return bool(op.masks) and len(op.inputs) == len(e.args) == 3


def _branches_exchanged(m: Bindings, words: Words) -> Iterator[Bindings]:
    """The branches of a condition exchanged."""
    e = m["e"]
    op = _elementwise(e)
    if op is not None and _has_branches(e, op):
        exchanged = [e.args[0], e.args[2], e.args[1]]
        yield {"p": ast.Call(e.func, exchanged, e.keywords), "op": op.name}


def _without_function(m: Bindings) -> ast.expr | None:
    """The argument of an elementwise function; None for other parts."""
    e = m["e"]
    op = _elementwise(e)
    applies = op is not None and not _has_branches(e, op) and operands(e)
    return operands(e)[0] if applies else None


def _next_exponents(m: Bindings, words: Words) -> Iterator[Bindings]:
    letters = matched("a ** n", m["e"])
    exponent = letters["n"] if letters else None
    if isinstance(exponent, ast.Constant) and isinstance(exponent.value, int | float):
        yield from ({"number": n} for n in (exponent.value - 1, exponent.value + 1))


def _with_exponent(m: Bindings) -> ast.expr:
    new = ast.BinOp(m["a"], ast.Pow(), ast.Constant(m["number"]))
    return m["a"] if m["number"] == 1 else new


def _lower_exponent(m: Bindings) -> ast.expr | None:
    """The exponent moved inside: 1 - y ** 2 in place of (1 - y) ** 2."""
    a = m["a"]
    if not isinstance(a, ast.BinOp) or not isinstance(m["n"], ast.Constant):
        return None
    m["b"] = a.right
    return ast.BinOp(a.left, a.op, ast.BinOp(a.right, ast.Pow(), m["n"]))


# ---- derivatives of functions --------------------------------------------------------------------


def _derivatives(m: Bindings, words: Words) -> Iterator[Bindings]:
    """Bind `s` to the derivative of each function of the program, together with phrases about it,
    whether it is `likely` missing as a factor here, and whether it may replace the part.
    """
    for formula, function, of in words.derivatives:
        slope = _as_condition(expression(formula))
        text, e = ast.unparse(slope), m["e"]
        missing = f"the factor {text} is missing{m['beside_it']}"
        if function is not None:
            missing = f"the derivative of {function}, {text}, is missing as a factor{m['of_it']}"
        yield {
            "s": slope,
            "likely": m["it"] == "it" or not isinstance(e, ast.Attribute),  # g in x.T @ g, not x.T
            "missing": missing,
            "known": "" if function is None else f", the derivative of {function}",
            "instead": isinstance(e, ast.Call | ast.Compare) or ast.unparse(e) in of,
        }


def _with_slope(m: Bindings) -> ast.expr:
    """A part times a derivative `s` of a function: e * s, or e / d if s is 1 / d."""
    below = divided(m["s"])
    return times(m["e"], m["s"]) if below is None else over(m["e"], below)


def _as_condition(e: ast.expr) -> ast.expr:
    """A mask as a condition: h > 0 in place of where(h <= 0, 0, 1.0) and (h > 0).double(), also for
    masks combined by & or |.
    """
    for sign, other in COMPLEMENTS.items():
        result = matched(f"where(a {sign} b, 0, 1)", e)
        if result is not None:
            return filled(f"a {other} b", result)
    is_method = isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and not e.args
    return e.func.value if is_method and _is_condition(e.func.value) else e  # type: ignore[attr-defined]


def _is_condition(e: ast.expr) -> bool:
    combined = isinstance(e, ast.BinOp) and isinstance(e.op, ast.BitAnd | ast.BitOr)
    return combined or isinstance(e, ast.Compare)


# ---- shifts, widths and slices -------------------------------------------------------------------


def _shifted(m: Bindings, words: Words) -> Iterator[Bindings]:
    """Opposite shifts: g.roll(-1) in place of g.roll(1), pad(g, (1, 0)) of pad(g, (0, 1)), g[1:] of
    g[:-1], g[1] of g[0].
    """
    e = m["e"]
    if isinstance(e, ast.Call) and reduction(e) is None:
        arguments = [*e.args, *(k.value for k in e.keywords if k.arg not in DIMS)]
        yield from (
            {"p": replaced(e, old, new)} for old in arguments for new in _reversed_numbers(old)
        )
    elif isinstance(e, ast.Subscript):
        yield from ({"p": ast.Subscript(e.value, index)} for index in _other_slices(e.slice))


def _reversed_numbers(e: ast.expr) -> Iterator[ast.expr]:
    """Integers with the opposite sign, and in reverse order."""
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
    """The index with one of its parts replaced."""
    if isinstance(index, ast.Slice):
        yield from _other_ends(index)
    elif is_whole_number(index):
        yield from (ast.Constant(n) for n in (0, 1) if ast.unparse(index) != str(n))
        yield from _opposite(index)
    elif isinstance(index, ast.Tuple):
        for position, part in enumerate(index.elts):
            for new in _other_slices(part):
                built = copy(index)
                built.elts = [*index.elts[:position], new, *index.elts[position + 1 :]]
                yield built


def _other_ends(s: ast.Slice) -> Iterator[ast.Slice]:
    """Slices with other ends: [1:], [-1:] and [:-1] in place of [:1]; [n:] in place of [n + 1:]."""
    bound = s.lower or s.upper
    if bound is None or (s.lower and s.upper) or s.step:
        return
    negative = negated(bound) or ast.UnaryOp(ast.USub(), bound)
    for other in (bound, negative):
        yield ast.Slice(None, other) if s.lower else ast.Slice(other)
    yield ast.Slice(negative) if s.lower else ast.Slice(None, negative)
    if isinstance(bound, ast.BinOp) and is_whole_number(bound.right):
        yield ast.Slice(bound.left) if s.lower else ast.Slice(None, bound.left)


# ---- the table -----------------------------------------------------------------------------------

M = Mutation
SHOULD_BE = "{e:full} should be {new:full}"

TABLE: Sequence[Mutation] = (
    # a function along another dimension, or without keepdim=True
    M("{e} lacks a dimension: {new:full}", "e", lambda m: _keepdim(m["e"]), WIDER, _along,
      widens=True),
    M("{e} should be along dimension {d:full}", "e", lambda m: along(m["e"], m["o"], m["d"]), 1,
      _along_other_dims),
    M("{e} should be along dimension {d:full}, with keepdim=True", "e",
      lambda m: _keepdim(along(m["e"], m["o"], m["d"])), WIDER, _along_other_dims, widens=True),
    M("{e} should be over all elements", "e", _over_all, 2, _along),
    # dimensions in another order, or missing
    M("the dimensions should be permuted back: {new}", "e", "p", 1, _permuted_back),
    M("{it} lacks a dimension: {new:full}", "x", "x.unsqueeze(-1); x.unsqueeze(0)", WIDER,
      widens=True),
    M("{e} should be {new:full}", "e", "p", 1, _at_other_places),
    # transposes, products in another order and with other brackets
    M("{a} should not be transposed", "a.T", "a", 1),
    M("{a} should not be transposed", "a.mT", "a", 1),
    M("{it} should be transposed", "x", "x.T", 1),
    M("{it} should be transposed", "z", "z.T", 2),
    M("{it} should be transposed", "e", _batch_transposed, 2),
    M(SHOULD_BE, "a.T", "a.mT", 1),
    *(M("this should be an outer product: {new:full}", product, right, 3) for product, right in
      (("a @ b.T", "outer(a, b)"), ("a @ b.mT", "outer(a, b)"), ("a @ y", "outer(a, y)"))),
    M("the operands of @ are exchanged", "a @ b", "b @ a", 2),
    M("the operands of / are exchanged", "a / b", "b / a", 2),
    M("the order of the product should be {new:full}", "e", "p", 4, _in_other_orders),
    M("the brackets should be as in {new:full}", "(a @ b) * c", "a @ (b * c)", 4),
    M("the brackets should be as in {new:full}", "a * (b @ c)", "(a * b) @ c", 4),
    M("{a} should be inside the {R}", "a * b.R(...)", "(a * b).R(...)", 4),
    M("{b} should be inside the {R}", "a.R(...) * b", "(b * a).R(...)", 4),
    M("{a} should be outside the {R}", "(a * b).R(...)", "a * b.R(...)", 4),
    M("{b} should be outside the {R}", "(a * b).R(...)", "b * a.R(...)", 4),
    # opposite comparisons, functions and positions
    *(M("the comparison is the wrong way round: {new:full}", f"a {sign} b", f"a {other} b", 3)
      for sign, other in MIRRORED.items()),
    M("{replaced}", "e", _counterpart, 4),
    M("{replaced}", "e", "p", 2, _shifted),
    *(M(SHOULD_BE, compared, right, 4, _names) for sign in COMPARISONS for compared, right in (
        (f"a {sign} n", f"a {sign} q"), (f"n {sign} b", f"q {sign} b"))),
    M("the branches of {op} are exchanged", "e", "p", 2, _branches_exchanged),
    M("{e} should be {new}", "e", _without_function, 5),
    # signs
    M("a + should be a -", "a + b", "a - b", 4),
    M("a - should be a +", "a - b", "a + b", 4),
    M("the sign is wrong", "a - b", "b - a", 4),
    M("there is one minus too many", "e", lambda m: getattr(m["e"], "operand", None), 4),
    M("the sign of {it} is wrong", "w", lambda m: opposite(m["e"]), 4),
    # factors, divisors, terms and exponents that do not belong there
    M("the factor {a} should not be there", "a * b", "b", 4, alone=True),
    M("the factor {b} should not be there", "a * b", "a", 4, alone=True),
    M("{b} should divide, not multiply", "a * b", "a / b", 5, alone=True),
    M("{a} should divide, not multiply", "a * b", "b / a", 5, alone=True),
    M("it should not be divided by {b}", "a / b", "a", 4, alone=True),
    M("the divisor should be the root of {b}", "a / b", "a / sqrt(b)", 5),
    M("it should be divided by {l:full} - 1 instead of {l:full}", "a / l", "a / (l - 1)", 5),
    M("{b} should multiply, not divide", "a / b", "a * b", 5, alone=True),
    *(M("right but for the small term {k:full}", part, right, 6)
      for part, right in (("a + k", "a"), ("a - k", "a"), ("k + b", "b"), ("k - b", "-b"))),
    *(M("the term {t} should not be there", part, right, 5, alone=True)
      for part, right in (("a + t", "a"), ("a - t", "a"), ("t + b", "b"), ("t - b", "-b"))),
    M("the exponent should be {number}", "a ** n", _with_exponent, 4, _next_exponents),
    M("the exponent should be on {b} alone", "a ** n", _lower_exponent, 5),
    # the seed is missing
    *(M("the seed {seed} is missing", part, right, rank, _seed) for part, right, rank in (
        ("1 / d", "g / d", 1),
        ("ones_like(...) / d", "g / d", 1),
        ("e", "g * e", 1),
        ("e", "g.unsqueeze(-1) * e; g.unsqueeze(0) * e", 2),
        ("e", "g @ e; e @ g; g.T @ e; e @ g.T", 2),
        ("e", "e.T @ g; g @ e.T; outer(g, e); outer(e, g)", 3),
    )),
    # other factors are missing
    M("{missing}", "e", lambda m: _with_slope(m) if m["likely"] else None, 4, _derivatives),
    M("{missing}", "e", lambda m: None if m["likely"] else _with_slope(m), 5, _derivatives),
    M("{e} should be {s:full}{known}", "e", lambda m: m["s"] if m["instead"] else None, 5,
      _derivatives),
    *(M("the term {h} is half what it should be", part, right, 4) for part, right in (
        ("h + b", "2 * h + b"), ("h - b", "2 * h - b"), ("a + h", "a + 2 * h"),
        ("a - h", "a - 2 * h"))),
    M("{it} should be squared", "f", "f ** 2", 5),
    M("the factor {name} is missing{beside_it}", "e", "e * q", 7, _names),
    M("it should be divided by {name}", "e", _divided_by_name, 7, _names),
    # sums and means
    M("the {R} should be a {S}", "a.R(...)", "a.S(...)", 0),
    M("the {R} of {a} should be {over}", "a.R(...)", lambda m: _over(m, m["a"], m["R"]), 1, _spans),
    M("the {R} of {a} {lacks}", "a.R(...)", lambda m: _over(m, m["a"], m["R"], True), 2, _spans),
    M("the {R} should not be there", "a.R(...)", "a", 4, alone=True),
    M("a sum of {it} {over} is missing", "e", lambda m: _reduced(m, "sum"), 4, _spans),
    M("a sum of {it} {over} is missing, with keepdim=True", "e",
      lambda m: _reduced(m, "sum", True), 4, _spans),
    M("a mean of {it} {over} is missing", "e", lambda m: _reduced(m, "mean"), 6, _spans),
    M("a mean of {it} {over} is missing, with keepdim=True", "e",
      lambda m: _reduced(m, "mean", True), 6, _spans),
)  # fmt: skip


# ---- all edits of a formula ----------------------------------------------------------------------


def edits(program: Program, words: Words) -> list[Edit]:
    """The edits of each part of a formula and of its steps, the likeliest edits first."""
    return sorted(_edits(program, words), key=lambda edit: edit.rank)


def _edits(program: Program, words: Words) -> Iterator[Edit]:
    """All edits by the table, then those in several places, of sizes, numbers and names."""
    count = 0
    for position, value in enumerate(program.values):
        for part in parts(value):
            count += 1
            if count > MOST:
                return
            it = "it" if part is program.result else excerpt(part)
            for m, new, why in mutated(TABLE, part, words, it):
                yield Edit(program, position, part, new, why, m.rank, m.widens, m.alone)
    yield from _transposed_everywhere(program)
    yield from _other_dims_everywhere(program, words.dims)
    yield from _means_everywhere(program)
    yield from _resized(program, words.sizes)
    yield from _with_numbers(program, words.numbers)
    yield from _renamed(program, words.names)


def pairs(program: Program) -> Iterator[Edit]:
    """Pairs of edits that are combined: of shapes and positions, and of the sign. Two edits that
    each add a dimension come first, because two transposes may fit by chance.
    """
    for first in (edit for edit in _shape_edits(program) if edit.widens):
        second_edits = _shape_edits(read_again(first.text, ORIGIN))
        yield from (other.after(first) for other in second_edits if other.widens)
    for first in _shape_edits(program):
        changed = read_again(first.text, ORIGIN)
        sign = whole(changed, opposite(changed.result), "the sign is wrong", 0)
        for second in (sign, *_shape_edits(changed)):
            yield second.after(first)


def _shape_edits(program: Program) -> list[Edit]:
    """The edits that exchange rows and columns, or operands."""
    result = edits(program, Words(None, (), (), (), ()))
    return [edit for edit in result if edit.rank <= SHAPES]


# ---- edits in several places ---------------------------------------------------------------------


def _transposed_everywhere(program: Program) -> Iterator[Edit]:
    """A part that occurs several times, transposed everywhere."""
    value = program.result
    groups: dict[str, list[ast.expr]] = {}
    for part in parts(value):
        groups.setdefault(ast.unparse(part), []).append(part)
    for text, same in groups.items():
        if len(same) > 1:
            built = value
            for part in same:
                built = replaced(built, part, transposed(part))
            why = f"{text} should be transposed"
            if is_transposed(same[0]):
                why = f"{excerpt(same[0].value)} should not be transposed"
            yield whole(program, built, why, SHAPES)


def _other_dims_everywhere(program: Program, dims: tuple[str, ...]) -> Iterator[Edit]:
    """Another dimension in all calls along the same one, with and without keepdim=True."""
    value = program.result
    calls = [e for e in ast.walk(value) if isinstance(e, ast.Call)]
    numbers = [ast.unparse(d) for d in map(dimension, calls) if d is not None]
    for old in dict.fromkeys(n for n in numbers if numbers.count(n) > 1):
        with_keepdim = _along_everywhere(value, old, old, True)
        yield whole(program, with_keepdim, f"the calls along dimension {old} lack keepdim=True", 2)
        for new in (d for d in dims if d != old):
            for keep in (False, True):
                why = f"dimension {old} should be {new}" + ", with keepdim=True" * keep
                yield whole(program, _along_everywhere(value, old, new, keep), why, 2)


def _along_everywhere(value: ast.expr, old: str, new: str, keep: bool) -> ast.expr:
    built = deepcopy(value)
    for e in ast.walk(built):
        number = dimension(e) if isinstance(e, ast.Call) else None
        if isinstance(e, ast.Call) and number is not None and ast.unparse(number) == old:
            other = along(keeping(e) if keep else e, number, expression(new))
            e.args, e.keywords = other.args, other.keywords
    return built


def _means_everywhere(program: Program) -> Iterator[Edit]:
    """Means in place of all sums, and sums in place of all means, if there are several."""
    for old, new in REDUCTIONS.items():
        built = deepcopy(program.result)
        calls = [e for e in ast.walk(built) if isinstance(e, ast.Call) and reduction(e) == old]
        for e in calls:
            setattr(e.func, "attr" if isinstance(e.func, ast.Attribute) else "id", new)
        if len(calls) > 1:
            yield whole(program, built, f"the {old}s should be {new}s", 0)


# ---- other sizes, numbers and names --------------------------------------------------------------


def _resized(program: Program, sizes: tuple[str, ...]) -> Iterator[Edit]:
    """One size in place of another.

    Rank 0: a wrong size also scales a claim by a factor, which would be reported first.
    """
    for position, value in enumerate(program.values):
        calls = (e for e in ast.walk(value) if isinstance(e, ast.Subscript | ast.Call))
        for old in filter(is_size, calls):
            for size in sizes:
                if size != ast.unparse(old):
                    why = f"{ast.unparse(old)} should be {size}"
                    yield Edit(program, position, old, expression(size), why, alone=True)


def _with_numbers(program: Program, numbers: tuple[str, ...]) -> Iterator[Edit]:
    """A number of the program in place of another."""
    for position, value in enumerate(program.values):
        for old in (e for e in typed_numbers(value) if isinstance(e, ast.Constant)):
            for new in map(expression, numbers):
                yield Edit(program, position, old, new, _in_place(old, new, around(old, value)), 4)


def _in_place(old: ast.expr, new: ast.expr, inside: ast.expr | None) -> str:
    """The sentence `2 should be 3`, with the operation `inside` which the number occurs."""
    if inside is None:
        return f"{ast.unparse(old)} should be {ast.unparse(new)}"
    return f"{ast.unparse(inside)} should be {ast.unparse(replaced(inside, old, new))}"


def _renamed(program: Program, names: tuple[str, ...]) -> Iterator[Edit]:
    """One name in place of another, in one, several or all places."""
    value = program.result
    functions = {id(e.func) for e in ast.walk(value) if isinstance(e, ast.Call)}
    named = (e for e in ast.walk(value) if isinstance(e, ast.Name))
    used = [e for e in named if id(e) not in functions]
    for old in dict.fromkeys(part.id for part in used):
        places = [part for part in used if part.id == old]
        for name in (n for n in names if n != old):
            for chosen in _subsets(places):
                built = value
                for part in chosen:
                    built = replaced(built, part, expression(name))
                yield whole(program, built, f"{old} should be {name}", RENAMED)


def _subsets(places: Sequence[ast.Name]) -> Iterator[Sequence[ast.Name]]:
    """All subsets of a few names. Of many names, only single names and all names together."""
    counts = range(1, len(places) + 1) if len(places) <= FEW else (1, len(places))
    for n in counts:
        yield from combinations(places, n)
