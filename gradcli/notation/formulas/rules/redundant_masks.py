"""Masks and conditions that hide only zeros, or no numbers; signs of what is never negative."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf

from ....graphs import Node, downstream, walk
from ....graphs.shapes import axes
from .atoms import definition
from .bounds import is_not_negative
from .broadcasting import thinner
from .products import NOTHING, Coefficient, build, constant_value, product_of
from .registry import normal

KEEPS_INFINITY = ("add", "sub", "neg", "mul", "div", "reciprocal")


@normal("mul", "div")
def vanishing_beside_a_factor(node: Node) -> Node | None:
    """x * (norm(x) != 0) = x; y * (y != 0) = y; (x - x.mean()) * (x.std() != 0) = x - x.mean();
    x * sign(y) ** 2 / y = x / y; x * sign(exp(y)) / exp(y) = x / exp(y).
    """
    result = product_of(node) or NOTHING
    for mask, e in result.factors.items():
        zeros = _hidden_by(mask, e)
        rest = result.without(mask).factors
        if zeros and all(_is_divided_by(z, rest) or _is_zero_beside(z, rest) for z in zeros):
            return build(result._replace(factors=rest), node.shape)
    return None


def _hidden_by(mask: Node, e: Coefficient) -> list[Node]:
    """Of which one is 0 where a factor is 0 that is 1 elsewhere; none for any other factor."""
    plain = mask.parents[0] if mask.op.name == "double" else mask
    if plain.op.name == "sign":
        x = plain.parents[0]
        return _factors_of(x) if e == 2 or (e == 1 and is_not_negative(x)) else []
    if e != 1 or len(plain.parents) != 2 or constant_value(plain.parents[1]) != 0:
        return []
    x = plain.parents[0].parents[0] if plain.parents[0].op.name == "abs" else plain.parents[0]
    held = plain.op.name == "ne" or (plain.op.name == "gt" and is_not_negative(plain.parents[0]))
    return _factors_of(x) if held else []


@normal("where")
def no_denominator_is_zero(node: Node) -> Node | None:
    """where(y == 0, 0, x / y) = x / y; where(norm(y) == 0, 0, x * y) = x * y;
    where(p == 0, 0, x ** (1 / p)) = x ** (1 / p).
    """
    condition, a, b = node.parents
    if constant_value(a) != 0 or b.shape != node.shape:
        return None
    vanishing, result = {*_vanishing(b), *_denominators(b)}, product_of(b)
    beside = result.factors if result else {}
    for zeros in map(_zeros_of, _conjuncts(condition)):
        if zeros and all(
            z in vanishing or thinner(z) in vanishing or _is_zero_beside(z, beside) for z in zeros
        ):
            return b
    return None


@normal("where")
def zero_where_masked(node: Node) -> Node | None:
    """where(c, 0, x * softmax(where(c, -inf, y), 1)) = x * softmax(where(c, -inf, y), 1), for an x
    that is no less finite there; so it is with the sides exchanged.
    """
    condition, *sides = node.parents
    for masked, (zero, b) in ((1, sides), (2, sides[::-1])):
        result = product_of(b) if constant_value(zero) == 0 and b.shape == node.shape else None
        for f, e in result.factors.items() if result else ():
            others = result.without(f).factors  # type: ignore[union-attr]
            hidden = e > 0 and f.shape == node.shape and _hides(f, condition, masked)
            if hidden and others and _are_finite(others, f, condition):
                return b
    return None


def _are_finite(factors: Mapping[Node, Coefficient], f: Node, condition: Node) -> bool:
    """Whether what depends on f, or on the condition that makes it 0, is computed from it by what
    makes only finite numbers of finite ones.
    """

    def sources(n: Node) -> Sequence[Node | None]:
        meant = definition(n)
        return () if n is f else n.inputs if meant is None else (meant,)

    touched = downstream(walk(factors, sources), [f, condition], sources) - {f, condition}
    divisors = {k for k, e in factors.items() if e < 0}
    return divisors.isdisjoint(touched) and all(n.op.finite for n in touched)


def _hides(f: Node, condition: Node, masked: int) -> bool:
    """Whether it is the exponential, or the share, of what one side of a condition makes -inf."""
    share = definition(f) or f
    if share.op.name not in ("softmax", "exp"):
        return False
    x = definition(share.parents[0]) or share.parents[0]
    chosen = x if x.op.expand is None else x.op.expanded(x)
    if chosen.op.name != "where" or chosen.parents[0] is not condition:
        return False
    filled = chosen.parents[masked]
    return filled.op.name == "constant" and filled.attrs["value"] == -inf


def _conjuncts(condition: Node) -> list[Node]:
    if condition.op.name != "logical_and":
        return [condition]
    return [c for part in condition.parents for c in _conjuncts(part)]


def _vanishing(b: Node) -> Iterator[Node]:
    """What b is no number without, or is 0 with: its factors, what it takes the logarithm of."""
    for factor in _factors(b):
        yield factor
        if factor.op.name == "log":
            yield from _factors(factor.parents[0])
        if factor.op.name == "log_softmax":
            yield factor.parents[0].softmax(dim=factor.attrs["dim"])


def _denominators(b: Node) -> Iterator[Node]:
    """What the exponents of its factors are divided by: x ** (1 / 0) is infinite, or 0."""
    exponents = [f.parents[1] for f in _factors(b) if f.op.name == "pow"]
    for n in walk(exponents, lambda n: n.parents if n.op.name in KEEPS_INFINITY else ()):
        if n.op.name in ("div", "reciprocal"):
            yield from _factors(n.parents[-1])


def _zeros_of(condition: Node) -> list[Node]:
    """Of which one is 0 wherever a condition holds: the factors of the y in y == 0."""
    if condition.op.name != "eq" or constant_value(condition.parents[1]) != 0:
        return []
    return _factors_of(condition.parents[0])


def _factors_of(y: Node) -> list[Node]:
    """Of which one is 0 where y is."""
    result = product_of(y)
    return [f for f, e in result.factors.items() if e > 0] if result else [y]


def _factors(node: Node) -> Iterable[Node]:
    result = product_of(node)
    return result.factors if result else (node,)


def _is_divided_by(z: Node, factors: Mapping[Node, Coefficient]) -> bool:
    """Whether a denominator is z, or is made of it as sqrt(2 * z) is, perhaps under a name."""
    stack = [f for f, e in factors.items() if e < 0]
    while stack:
        f = stack.pop()
        if f is z:
            return True
        inner = definition(f) or f
        inner = inner.parents[0] if inner.op.name in ("sqrt", "abs") else inner
        stack += [k for k in _factors_of(inner) if k is not f]
    return False


def _is_zero_beside(z: Node, factors: Mapping[Node, Coefficient]) -> bool:
    """Whether one of the factors is 0 wherever z is: z, or of a norm the vectors that it measures,
    or their absolute values, or of a deviation what it is of, less its mean.
    """
    x = _measured(z)
    return any(
        e > 0 and (f in (z, x) or (f.op.name == "abs" and f.parents[0] is x))
        for f, e in factors.items()
    )


def _measured(length: Node) -> Node | None:
    """What is 0 where lengths or deviations of it are, which stand beside it; a norm of an order
    below 0 is 0 for others too.
    """
    if length.op.name not in ("vector_norm", "std") or length.attrs.get("ord", 0) < 0:
        return None
    x, dim, kept = length.parents[0], length.attrs["dim"], length.attrs["keepdim"]
    over = axes(dim, x.ndim)
    if not kept and over != tuple(range(len(over))):
        return None
    return x if length.op.name == "vector_norm" else x - x.mean(dim=dim, keepdim=kept)
