"""Rules that are texts: `log(softmax(x, dim=d)) = log_softmax(x, dim=d)`.

The left side is a pattern, tried at the nodes of the operator that it is a call of. How a product
or a sum is ordered and nested says nothing, and what else is in it stays: `sin(x) / cos(x) =
tan(x)` makes `2 * g * tan(x)` of `2 * sin(x) * g / cos(x)`, and `log(x) + log(y) = log(x * y)`
makes `y - 2 * log(a * b)` of `y - 2 * log(a) - 2 * log(b)`. A product inside a call is matched as a
whole; a name that stands last in it is all that is left of it.

A, B, C, X are matrices, u, v, w vectors, s is a single number; other names are tensors of any
shape, or attributes where they stand behind a keyword. Attributes that are left out have their
default. Behind `where` stand conditions.
"""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from math import isclose
from typing import Any, NamedTuple

from ....graphs import OPS, Node, as_node
from .assumed import is_orthogonal, is_symmetric
from .chains import is_square
from .factoring import are_opposite, sum_of
from .matrices import is_unit
from .products import (
    ONE,
    REMEMBERED,
    Coefficient,
    Product,
    as_number,
    build,
    constant_value,
    multiplied_by,
    product_of,
    with_factors,
)
from .registry import Table
from .sums import terms_of

Env = dict[str, Any]  # what names stand for
Matcher = Callable[[Node, Env], Iterator[Env]]
Powers = dict[Node, Coefficient]

RANKS = dict.fromkeys("ABCX", 2) | dict.fromkeys("uvw", 1) | {"s": 0}
SIGNS: dict[type, str] = {
    ast.MatMult: "matmul", ast.BitAnd: "logical_and", ast.BitOr: "logical_or", ast.Pow: "pow",
    ast.Gt: "gt", ast.GtE: "ge", ast.Lt: "lt", ast.LtE: "le", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
EITHER_WAY = ("maximum", "minimum", "logical_and", "logical_or")
SUMS, PRODUCTS = ("add", "sub"), ("mul", "div")
POWERS = (*PRODUCTS, "pow", "neg", "square", "reciprocal")
CONDITIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (is_orthogonal, is_square, is_symmetric, is_unit)
}


def condition(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let texts call a function of nodes by its name."""
    CONDITIONS[function.__name__] = function
    return function


class Scope(dict[str, Any]):
    """What stands for the names in a text: operators, if nothing else."""

    def __missing__(self, name: str) -> Any:
        return CONDITIONS[name] if name in CONDITIONS else OPS[name]


class Identity:
    """One text; called with a node, it makes all equal nodes that it leads to. It is tried at the
    nodes of the operators `heads`.
    """

    def __init__(self, text: str):
        self.text = self.__name__ = " ".join(text.split())
        equation, _, self.conditions = self.text.partition(" where ")
        self.left, _, self.right = equation.partition(" = ")
        self.heads = _heads(self.left)
        self.is_sum, self.is_call = self.heads == SUMS, len(self.heads) == 1

    def __call__(self, node: Node) -> Iterator[Node] | None:
        """Equal nodes; None where it is plain to see that there are none."""
        if self.is_call:
            may_match = all(o in ("", i.op.name) for o, i in zip(self.operands, node.parents))
        else:
            may_match = self.operators <= operators_in(node, self.is_sum)
        return self._equal(node) if may_match else None

    def _equal(self, node: Node) -> Iterator[Node]:
        whole = filter(None, map(self._value, self._pattern(node, {}))) if self.is_call else None
        for out in whole or self._within(node):
            yield out if out.shape == node.shape else out.expand(shape=node.shape)

    def _within(self, node: Node) -> Iterator[Node]:
        terms = _terms(node, self.is_sum)
        if len(terms) < len(self.terms) or not terms[0].coefficient:
            return
        seen = set()
        for env, beside, others in _matched_terms(self.terms, terms, {}):
            left = beside.key, *(t.key for t in others)
            new = None if left in seen else self._value(env)
            if new is not None:
                seen.add(left)  # of log(x) + log(y) and log(y) + log(x) one is enough
                product = multiplied_by(beside, _as_product(new))
                yield sum_of([product, *others]) if self.is_sum else build(product, node.shape)

    @cached_property
    def tree(self) -> ast.expr:
        """The left side, parsed when it is first needed."""
        return ast.parse(self.left, mode="eval").body

    @cached_property
    def terms(self) -> "list[Term]":
        """What is looked for in a sum, or, if it is one term, in a product."""
        return _terms_in(self.tree)

    @cached_property
    def operands(self) -> tuple[str, ...]:
        """The operators of the operands, as far as the text says them."""
        name, operands, _ = _called(self.tree)
        return () if name in EITHER_WAY else tuple(map(_operator, operands))

    @cached_property
    def operators(self) -> frozenset[str]:
        """Of which some factors have to be."""
        return frozenset(p.operator for _, parts in self.terms for p in parts if p.operator)

    @cached_property
    def _pattern(self) -> Matcher:
        return _call(self.tree)

    @cached_property
    def _value(self) -> Callable[[Env], Node | None]:
        right = compile(self.right, self.text, "eval")
        asked = compile(self.conditions or "True", self.text, "eval")

        def value(env: Env) -> Node | None:
            return as_node(eval(right, {}, Scope(env))) if eval(asked, {}, Scope(env)) else None

        return value


def identities(table: Table, texts: str) -> None:
    """Put identities into a table of rules, one a line; a line that is indented further goes on."""
    for text in texts.replace("\n     ", " ").split("\n"):
        if text.strip():
            identity = Identity(text)
            for name in identity.heads:
                table.setdefault(name, []).append(identity)


# ---- patterns ------------------------------------------------------------------------------------


class Part(NamedTuple):
    """A factor that is looked for: of an operator, or a name."""

    matches: Matcher
    exponent: Coefficient
    name: str
    operator: str


Term = tuple[Coefficient, list[Part]]


def _pattern(tree: ast.expr) -> Matcher:
    match tree:
        case ast.Name(name):
            return _variable(name)
        case ast.Constant(int() | float() as value):
            return _number(value)
        case ast.UnaryOp(_, ast.Name(name)):
            return _negative(name)
    if _is_sum(tree) or _is_product(tree):
        return _whole(_terms_in(tree), _is_sum(tree))
    return _call(tree)


def _variable(name: str) -> Matcher:
    rank = RANKS.get(name)

    def matches(node: Node, env: Env) -> Iterator[Env]:
        if name in env:
            if env[name] is node:
                yield env
        elif rank is None or node.ndim == rank:
            yield {**env, name: node}

    return matches


def _number(value: float) -> Matcher:
    return lambda node, env: iter([env] if constant_value(node) == value else [])


def _negative(name: str) -> Matcher:
    def matches(node: Node, env: Env) -> Iterator[Env]:
        if name in env:
            if are_opposite(node, env[name]):
                yield env
            return
        result = product_of(node)
        if result and result.coefficient < 0:
            yield {**env, name: build(multiplied_by(result, Product(-ONE, {})), node.shape)}

    return matches


def _whole(pattern: list[Term], is_sum: bool) -> Matcher:
    (number, parts), *_ = pattern
    ends_in_name = not is_sum and parts and parts[-1].name and parts[-1].exponent == 1
    last = parts[-1] if ends_in_name else None
    inner = [(number, parts[:-1])] if last else pattern

    def matches(node: Node, env: Env) -> Iterator[Env]:
        for known, beside, others in _matched_terms(inner, _terms(node, is_sum), env):
            alone = isclose(beside.coefficient, 1, rel_tol=1e-12)
            if last and beside.factors and (alone or number == 1):
                rest = Product(ONE, beside.factors) if alone else beside
                yield from last.matches(build(rest, node.shape), known)
            elif not last and alone and not beside.factors and not others:
                yield known

    return matches


def _call(tree: ast.expr) -> Matcher:
    name, operands, keywords = _called(tree)
    patterns = [_pattern(t) for t in operands]

    def matches(node: Node, env: Env) -> Iterator[Env]:
        inputs = node.parents
        if node.op.name != name or len(inputs) != len(patterns):
            return
        known = _with_attributes(node, keywords, env)
        if known is not None:
            yield from _all_match(patterns, inputs, known)
            if name in EITHER_WAY:
                yield from _all_match(patterns, inputs[::-1], known)

    return matches


def _all_match(patterns: list[Matcher], nodes: list[Node], env: Env) -> Iterator[Env]:
    if not patterns:
        yield env
        return
    for known in patterns[0](nodes[0], env):
        yield from _all_match(patterns[1:], nodes[1:], known)


def _with_attributes(node: Node, keywords: dict[str, ast.expr], env: Env) -> Env | None:
    out = dict(env)
    for key, value in node.attrs.items():
        wanted = keywords.get(key)
        if isinstance(wanted, ast.Name):
            if out.setdefault(wanted.id, value) != value:
                return None
        elif value != (node.op.attributes[key] if wanted is None else ast.literal_eval(wanted)):
            return None
    return out


def _matched_terms(
    pattern: list[Term], terms: list[Product], env: Env
) -> Iterator[tuple[Env, Product, list[Product]]]:
    """What names stand for, what is found beside each of the terms, and the other terms."""
    (number, parts), *others = pattern
    for k, t in enumerate(terms):
        if number < 0 < t.coefficient and not others:
            continue  # a sign that is not there
        for known, left in _matched(parts, t.factors, env):
            beside = Product(t.coefficient / number, left)
            yield from _beside(others, beside, [*terms[:k], *terms[k + 1 :]], known)


def _beside(
    pattern: list[Term], beside: Product, terms: list[Product], env: Env
) -> Iterator[tuple[Env, Product, list[Product]]]:
    if not pattern:
        yield env, beside, terms
        return
    (number, parts), *others = pattern
    for k, t in enumerate(terms):
        if t.coefficient == beside.coefficient * number:
            own = with_factors(t.factors, {f: -e for f, e in beside.factors.items()})
            for known, left in _matched(parts, own, env):
                if not left:
                    yield from _beside(others, beside, [*terms[:k], *terms[k + 1 :]], known)


def _matched(parts: list[Part], factors: Powers, env: Env) -> Iterator[tuple[Env, Powers]]:
    """What names stand for, and the factors that are left."""
    if not parts:
        yield env, factors
        return
    part, *others = parts
    if part.name in env:
        own = _as_product(env[part.name])
        taken = {f: e * part.exponent for f, e in own.factors.items()}
        if own.coefficient == 1 and all(_has(factors, f, e) for f, e in taken.items()):
            left = with_factors(factors, {f: -e for f, e in taken.items()})
            yield from _matched(others, left, env)
    else:
        for f in factors:
            if part.operator not in ("", f.op.name) or not _has(factors, f, part.exponent):
                continue
            left = with_factors(factors, {f: -part.exponent})
            for known in part.matches(f, env):
                yield from _matched(others, left, known)


def _has(factors: Powers, f: Node, e: Coefficient) -> bool:
    """Whether a power is among factors, or a part of one of theirs."""
    own = factors.get(f, 0)
    return own >= e > 0 or own <= e < 0


def _terms(node: Node, is_sum: bool) -> list[Product]:
    if is_sum:
        return (terms_of(node) if node.op.name in SUMS else None) or []
    result = product_of(node)
    return [] if result is None else [result]


@lru_cache(maxsize=REMEMBERED)
def operators_in(node: Node, is_sum: bool) -> frozenset[str]:
    """The operators of the factors of a product, or of those in the terms of a sum."""
    return frozenset(f.op.name for t in _terms(node, is_sum) for f in t.factors)


def _as_product(node: Node) -> Product:
    return product_of(node) or Product(ONE, {node: 1})


# ---- texts ---------------------------------------------------------------------------------------


def _heads(left: str) -> tuple[str, ...]:
    """The operators that may be the outermost of what a left side matches, read without parsing:
    most identities are not needed for a request.
    """
    outside = left
    while "(" in outside:
        outside = re.sub(r"\([^()]*\)", "_", outside)
    if re.search(r" [-+] ", outside):
        return SUMS
    if " @ " in outside:
        return ("matmul",)
    if re.search(r"^-| [*/]", outside):
        return PRODUCTS if len(re.findall(r"[A-Za-z_]\w*", outside)) > 1 else POWERS
    return ("transpose",) if outside.endswith(".mT") else (outside.removesuffix("_"),)


def _is_sum(tree: ast.expr) -> bool:
    return isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add | ast.Sub)


def _is_product(tree: ast.expr) -> bool:
    match tree:
        case ast.UnaryOp() | ast.BinOp(_, ast.Mult() | ast.Div(), _):
            return True
        case ast.BinOp(_, ast.Pow(), ast.Constant()):
            return True
    return False


def _terms_in(tree: ast.expr) -> list[Term]:
    match tree:
        case ast.BinOp(left, ast.Add() | ast.Sub() as sign, right):
            times = 1 if isinstance(sign, ast.Add) else -1
            return [*_terms_in(left), *((times * n, parts) for n, parts in _terms_in(right))]
    number, factors = _factors_in(tree, 1)
    parts = [_part(t, e) for t, e in factors]
    return [(number, sorted(parts, key=lambda p: bool(p.name)))]  # calls say what names are


def _part(tree: ast.expr, e: Coefficient) -> Part:
    name = tree.id if isinstance(tree, ast.Name) else ""
    return Part(_pattern(tree), e, name, _operator(tree))


def _operator(tree: ast.expr) -> str:
    """The operator of a call; none for what can be a node of several."""
    if isinstance(tree, ast.Name | ast.Constant) or _is_sum(tree) or _is_product(tree):
        return ""
    return _called(tree)[0]


def _factors_in(
    tree: ast.expr, e: Coefficient
) -> tuple[Coefficient, list[tuple[ast.expr, Coefficient]]]:
    match tree:
        case ast.Constant(int() | float() as value):
            return as_number(value) ** int(e), []
        case ast.UnaryOp(_, inner):
            number, result = _factors_in(inner, e)
            return -number, result
        case ast.BinOp(left, ast.Mult() | ast.Div() as sign, right):
            one = _factors_in(left, e)
            other = _factors_in(right, e if isinstance(sign, ast.Mult) else -e)
            return one[0] * other[0], one[1] + other[1]
        case ast.BinOp(base, ast.Pow(), ast.Constant(int(value))):
            return _factors_in(base, e * value)
    return ONE, [(tree, e)]


def _called(tree: ast.expr) -> tuple[str, list[ast.expr], dict[str, ast.expr]]:
    """The operator of a call, its operands and its attributes."""
    match tree:
        case ast.Attribute(inner, "mT"):
            return "transpose", [inner], {"dim0": ast.Constant(-2), "dim1": ast.Constant(-1)}
        case ast.Call(ast.Name(name), operands, keywords):
            return name, operands, {k.arg: k.value for k in keywords if k.arg}
        case ast.BinOp(left, sign, right) | ast.Compare(left, [sign], [right]):
            return SIGNS[type(sign)], [left, right], {}
    raise SyntaxError(f"no identity is made of {ast.unparse(tree)}")
