"""Rules as texts: `log(softmax(x, dim=d)) = log_softmax(x, dim=d)`.

The left side is a pattern, tried at the nodes of its outermost operator. Products and sums match in
any order and nesting, and their other factors and terms are kept: `sin(x) / cos(x) = tan(x)` turns
`2 * sin(x) * g / cos(x)` into `2 * g * tan(x)`, and `log(x) + log(y) = log(x * y)` turns
`y - 2 * log(a) - 2 * log(b)` into `y - 2 * log(a * b)`. A product that is the argument of a call
must match completely; a name at its end matches all factors that remain.

A, B, C, X match matrices, u, v, w vectors and s scalars; other names match tensors of any shape, or
the values of attributes. Omitted attributes must have their defaults. Conditions follow `where`.
"""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from math import ceil, isclose
from typing import Any, NamedTuple

from ....graphs import OPS, Node, as_node
from .assumed import is_orthogonal, is_symmetric
from .chains import is_square
from .factoring import are_opposite, sum_of, terms_of_sum
from .matrices import is_unit
from .products import (
    CACHE_SIZE,
    ONE,
    SUMS,
    Coefficient,
    Product,
    as_number,
    build,
    constant_value,
    magnitude,
    multiplied_by,
    product_of,
    with_factors,
)
from .registry import Table

Env = dict[str, Any]  # what each name of the pattern has matched: a node, or an attribute's value
Matcher = Callable[[Node, Env], Iterator[Env]]
Powers = dict[Node, Coefficient]

RANKS = dict.fromkeys("ABCX", 2) | dict.fromkeys("uvw", 1) | {"s": 0}
SIGNS: dict[type, str] = {
    ast.MatMult: "matmul", ast.BitAnd: "logical_and", ast.BitOr: "logical_or", ast.Pow: "pow",
    ast.Gt: "gt", ast.GtE: "ge", ast.Lt: "lt", ast.LtE: "le", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
COMMUTATIVE = ("maximum", "minimum", "logical_and", "logical_or")
PRODUCTS = ("mul", "div")
POWERS = (*PRODUCTS, "pow", "neg", "square", "reciprocal")
CONDITIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (is_orthogonal, is_square, is_symmetric, is_unit)
}


def condition(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let texts call a function of nodes by its name."""
    CONDITIONS[function.__name__] = function
    return function


class Scope(dict[str, Any]):
    """The namespace of a text: matched nodes and attributes, conditions and operators."""

    def __missing__(self, name: str) -> Any:
        return CONDITIONS[name] if name in CONDITIONS else OPS[name]


class Identity:
    """A rule from one text. Called with a node of one of the operators `heads`, it yields the nodes
    that are equal to it by the identity.
    """

    def __init__(self, text: str):
        self.text = self.__name__ = " ".join(text.split())
        equation, _, self.conditions = self.text.partition(" where ")
        self.left, _, self.right = equation.partition(" = ")
        self.heads = _heads(self.left)
        self.is_sum, self.is_call = self.heads == SUMS, len(self.heads) == 1
        self.kind = operands_of if self.is_call else summands_of if self.is_sum else factors_of

    def __call__(self, node: Node) -> Iterator[Node] | None:
        """Equal nodes; None if the operators of the node exclude a match."""
        return self.equal(node) if self.may_match(self.kind(node)) else None

    def may_match(self, kind: Any) -> bool:
        """Whether nodes of this kind have the operators of the pattern, so that they may match."""
        if self.is_call:
            return all(
                o in ("", name) and rank in (None, ndim)
                for (o, rank), (name, ndim) in zip(self.operands, kind)
            )
        return self.sums <= kind.sums and self.operators <= kind.operators

    def equal(self, node: Node) -> Iterator[Node]:
        """Yield the nodes that are equal to a node, whose kind must satisfy `may_match`."""
        values = filter(None, map(self._value, self._pattern(node, {}))) if self.is_call else None
        for out in values or self._within(node):
            yield out if out.shape == node.shape else out.expand(shape=node.shape)

    def _within(self, node: Node) -> Iterator[Node]:
        terms = _terms(node, self.is_sum)
        if len(terms) < len(self.terms) or not terms[0].coefficient:
            return
        seen = set()
        for env, remaining, others in _matched_terms(self.terms, terms, {}):
            key = remaining.key, *(t.key for t in others)
            new = None if key in seen else self._value(env)
            if new is not None:
                seen.add(key)  # log(y) + log(x) adds nothing to log(x) + log(y)
                product = multiplied_by(remaining, _as_product(new))
                yield sum_of([product, *others]) if self.is_sum else build(product, node.shape)

    @cached_property
    def tree(self) -> ast.expr:
        """The left side, parsed on first use."""
        return ast.parse(self.left, mode="eval").body

    @cached_property
    def terms(self) -> "list[Term]":
        """The terms of the left side; a product is one term."""
        return _terms_in(self.tree)

    @cached_property
    def operands(self) -> tuple[tuple[str, int | None], ...]:
        """The operators of the operands, empty for names, with their ranks, if these are known; ()
        if operands commute.
        """
        name, operands, _ = _called(self.tree)
        return () if name in COMMUTATIVE else tuple((_operator(o), _rank(o)) for o in operands)

    @cached_property
    def operators(self) -> frozenset[str]:
        """The operators that a match must have among its factors, or in sums among its factors."""
        return frozenset().union(*(p.operators for _, parts in self.terms for p in parts))

    @cached_property
    def sums(self) -> int:
        """How many factors of the left side are sums; 0 if the left side is a sum itself."""
        return 0 if self.is_sum else sum(p.is_sum for _, parts in self.terms for p in parts)

    @cached_property
    def _pattern(self) -> Matcher:
        return _call(self.tree)

    @cached_property
    def _value(self) -> Callable[[Env], Node | None]:
        right = compile(self.right, self.text, "eval")
        conditions = compile(self.conditions or "True", self.text, "eval")

        def value(env: Env) -> Node | None:
            holds = eval(conditions, {}, Scope(env))
            return as_node(eval(right, {}, Scope(env))) if holds else None

        return value


def identities(table: Table, texts: str) -> None:
    """Add identities to a table of rules, one per line; indented lines continue one."""
    for text in texts.replace("\n     ", " ").split("\n"):
        if text.strip():
            identity = Identity(text)
            for name in identity.heads:
                table.setdefault(name, []).append(identity)


# ---- patterns ------------------------------------------------------------------------------------


class Part(NamedTuple):
    """A factor of a pattern: a call of an operator, or a name."""

    matches: Matcher
    exponent: Coefficient
    name: str
    operator: str
    operators: frozenset[str]  # those that a match contains
    is_sum: bool


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
            yield {**env, name: build(-result, node.shape)}

    return matches


def _whole(pattern: list[Term], is_sum: bool) -> Matcher:
    (number, parts), *_ = pattern
    ends_with_name = not is_sum and parts and parts[-1].name and parts[-1].exponent == 1
    rest_name = parts[-1] if ends_with_name else None
    inner = [(number, parts[:-1])] if rest_name else pattern

    def matches(node: Node, env: Env) -> Iterator[Env]:
        for matched, remaining, others in _matched_terms(inner, _terms(node, is_sum), env):
            is_one = isclose(remaining.coefficient, 1, rel_tol=1e-12)
            if rest_name and remaining.factors and (is_one or number == 1):
                rest = Product(ONE, remaining.factors) if is_one else remaining
                yield from rest_name.matches(build(rest, node.shape), matched)
            elif not rest_name and is_one and not remaining.factors and not others:
                yield matched

    return matches


def _call(tree: ast.expr) -> Matcher:
    name, operands, keywords = _called(tree)
    patterns = [_pattern(t) for t in operands]

    def matches(node: Node, env: Env) -> Iterator[Env]:
        inputs = node.parents
        if node.op.name != name or len(inputs) != len(patterns):
            return
        matched = _with_attributes(node, keywords, env)
        if matched is not None:
            yield from _all_match(patterns, inputs, matched)
            if name in COMMUTATIVE:
                yield from _all_match(patterns, inputs[::-1], matched)

    return matches


def _all_match(patterns: list[Matcher], nodes: list[Node], env: Env) -> Iterator[Env]:
    if not patterns:
        yield env
        return
    for matched in patterns[0](nodes[0], env):
        yield from _all_match(patterns[1:], nodes[1:], matched)


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
    """Yield the environment, the other factors of the matched terms, and the other terms."""
    (number, parts), *others = pattern
    for k, t in enumerate(terms):
        if number < 0 < t.coefficient and not others:
            continue  # the pattern has a minus sign, the term has none
        for matched, remaining_factors in _matched(parts, t.factors, env):
            remaining = Product(t.coefficient / number, remaining_factors)
            yield from _match_other_terms(others, remaining, [*terms[:k], *terms[k + 1 :]], matched)


def _match_other_terms(
    pattern: list[Term], common: Product, terms: list[Product], env: Env
) -> Iterator[tuple[Env, Product, list[Product]]]:
    if not pattern:
        yield env, common, terms
        return
    (number, parts), *others = pattern
    for k, t in enumerate(terms):
        if t.coefficient == common.coefficient * number:
            factors = with_factors(t.factors, {f: -e for f, e in common.factors.items()})
            for matched, remaining in _matched(parts, factors, env):
                if not remaining:
                    yield from _match_other_terms(
                        others, common, [*terms[:k], *terms[k + 1 :]], matched
                    )


def _matched(parts: list[Part], factors: Powers, env: Env) -> Iterator[tuple[Env, Powers]]:
    """Yield the environment and the unmatched factors."""
    if not parts:
        yield env, factors
        return
    part, *others = parts
    if part.name in env:
        product = _as_product(env[part.name])
        powers = {f: e * part.exponent for f, e in product.factors.items()}
        if product.coefficient == 1 and all(_has(factors, f, e) for f, e in powers.items()):
            remaining = with_factors(factors, {f: -e for f, e in powers.items()})
            yield from _matched(others, remaining, env)
    else:
        for f in factors:
            if part.operator not in ("", f.op.name) or not _has(factors, f, part.exponent):
                continue
            remaining = with_factors(factors, {f: -part.exponent})
            for matched in part.matches(f, env):
                yield from _matched(others, remaining, matched)


def _has(factors: Powers, f: Node, e: Coefficient) -> bool:
    """Whether f ** e divides the product of factors."""
    exponent = factors.get(f, 0)
    return exponent >= e > 0 or exponent <= e < 0


def _terms(node: Node, is_sum: bool) -> list[Product]:
    if is_sum:
        return terms_of_sum(node)
    result = product_of(node)
    return [] if result is None else [result]


class Kind(NamedTuple):
    """The operators in a product or a sum, and how many of the factors of a product are sums."""

    operators: frozenset[str]
    sums: int = 0


def operands_of(node: Node) -> tuple[tuple[str, int], ...]:
    """The operators and ranks of the operands of a call."""
    return tuple([(i.op.name, i.ndim) for i in node.inputs if i is not None])


@lru_cache(maxsize=CACHE_SIZE)
def summands_of(node: Node) -> Kind:
    """The kind of a sum."""
    return Kind(operators_in(node, True))


@lru_cache(maxsize=CACHE_SIZE)
def factors_of(node: Node) -> Kind:
    """The kind of a product; (x - y) ** 2 counts as two sums."""
    result = product_of(node)
    factors = {} if result is None else result.factors
    sums = sum(ceil(magnitude(e)) for f, e in factors.items() if f.op.name in SUMS)
    return Kind(operators_in(node, False), sums)


@lru_cache(maxsize=CACHE_SIZE)
def operators_in(node: Node, is_sum: bool) -> frozenset[str]:
    """The operators of the factors of a product, or of all terms of a sum, and in sums among
    these factors.
    """
    factors = [f for t in _terms(node, is_sum) for f in t.factors]
    inner = (operators_in(f, True) for f in factors if f.op.name in SUMS and f is not node)
    return frozenset(f.op.name for f in factors).union(*inner)


def _as_product(node: Node) -> Product:
    return product_of(node) or Product(ONE, {node: 1})


# ---- texts ---------------------------------------------------------------------------------------


def _heads(left: str) -> tuple[str, ...]:
    """The operators of nodes that a left side may match. They are found without parsing, because
    most identities are not needed for a request.
    """
    outermost = left
    while "(" in outermost:
        outermost = re.sub(r"\([^()]*\)", "_", outermost)
    if re.search(r" [-+] ", outermost):
        return SUMS
    if " @ " in outermost:
        return ("matmul",)
    if re.search(r"^-| [*/]", outermost):
        return PRODUCTS if len(re.findall(r"[A-Za-z_]\w*", outermost)) > 1 else POWERS
    return ("transpose",) if outermost.endswith(".mT") else (outermost.removesuffix("_"),)


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
            sign_value = 1 if isinstance(sign, ast.Add) else -1
            return [*_terms_in(left), *((sign_value * n, parts) for n, parts in _terms_in(right))]
    number, factors = _factors_in(tree, 1)
    parts = [_part(t, e) for t, e in factors]
    return [(number, sorted(parts, key=lambda p: bool(p.name)))]  # calls first: they bind names


def _part(tree: ast.expr, e: Coefficient) -> Part:
    name = tree.id if isinstance(tree, ast.Name) else ""
    operator = _operator(tree)
    inner = _terms_in(tree) if _is_sum(tree) else []
    operators = {operator} - {""} | {o for _, parts in inner for p in parts for o in p.operators}
    return Part(_pattern(tree), e, name, operator, frozenset(operators), bool(inner))


def _operator(tree: ast.expr) -> str:
    """The operator of a call; "" for names, constants, sums and products."""
    if isinstance(tree, ast.Name | ast.Constant) or _is_sum(tree) or _is_product(tree):
        return ""
    return _called(tree)[0]


def _rank(tree: ast.expr) -> int | None:
    """The rank of the tensors that a name matches, such as 2 for A; None for any rank."""
    return RANKS.get(tree.id) if isinstance(tree, ast.Name) else None


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
            left_factors = _factors_in(left, e)
            right_factors = _factors_in(right, e if isinstance(sign, ast.Mult) else -e)
            return left_factors[0] * right_factors[0], left_factors[1] + right_factors[1]
        case ast.BinOp(base, ast.Pow(), ast.Constant(int(value))):
            return _factors_in(base, e * value)
    return ONE, [(tree, e)]


def _called(tree: ast.expr) -> tuple[str, list[ast.expr], dict[str, ast.expr]]:
    """The operator of a call, its operands and its keywords."""
    match tree:
        case ast.Attribute(inner, "mT"):
            return "transpose", [inner], {"dim0": ast.Constant(-2), "dim1": ast.Constant(-1)}
        case ast.Call(ast.Name(name), operands, keywords):
            return name, operands, {k.arg: k.value for k in keywords if k.arg}
        case ast.BinOp(left, sign, right) | ast.Compare(left, [sign], [right]):
            return SIGNS[type(sign)], [left, right], {}
    raise SyntaxError(f"no identity is made of {ast.unparse(tree)}")
