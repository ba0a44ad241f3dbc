"""Masks and conditions that only replace zeros by zeros, or that matter for infinite numbers
only.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf

from ....graphs import Node, downstream, walk
from ....graphs.shapes import axes
from .atoms import defined, definition
from .broadcasting import unbroadcast
from .guards import is_not_negative
from .products import NOTHING, Coefficient, build, constant_value, product_of, unconverted
from .registry import normal

FALSE_AT_ZERO: dict[str, Callable[[Coefficient], bool]] = {  # comparisons, by their bound
    "gt": lambda bound: bound >= 0, "ge": lambda bound: bound > 0,
    "lt": lambda bound: bound <= 0, "le": lambda bound: bound < 0,
}  # fmt: skip
KEEPS_INFINITY = ("add", "sub", "neg", "mul", "div", "reciprocal")


@normal("mul", "div")
def redundant_mask_of_a_factor(node: Node) -> Node | None:
    """x * (norm(x) != 0) = x; y * (y != 0) = y; (x - x.mean()) * (x.std() != 0) = x - x.mean();
    x * sign(y) ** 2 / y = x / y; x * sign(exp(y)) / exp(y) = x / exp(y);
    (y != 0) * (abs(y) > 1) = abs(y) > 1.
    """
    result = product_of(node) or NOTHING
    for mask, e in result.factors.items():
        zeros = _zeros_hidden_by(mask, e)
        others = result.without(mask).factors
        if zeros and all(
            _is_divided_by(z, others) or _is_zero_with_factor(z, others) for z in zeros
        ):
            rest = build(result.without(mask), node.shape)
            return rest.double() if node.dtype == "float" and rest.dtype == "bool" else rest
    return None


def _zeros_hidden_by(mask: Node, e: Coefficient) -> list[Node]:
    """Nodes of which at least one is 0 wherever mask ** e is 0: a and b for the mask a * b != 0. []
    if the factor is no such mask.
    """
    comparison = unconverted(mask)
    if comparison.op.name == "sign":
        x = comparison.parents[0]
        return _numerator_factors(x) if e == 2 or (e == 1 and is_not_negative(x)) else []
    if e != 1 or len(comparison.parents) != 2 or constant_value(comparison.parents[1]) != 0:
        return []
    name, x = comparison.op.name, comparison.parents[0]
    if name != "ne" and not (name == "gt" and is_not_negative(x)):
        return []
    return _numerator_factors(x.parents[0] if x.op.name == "abs" else x)


@normal("where")
def redundant_where(node: Node) -> Node | None:
    """where(y == 0, 0, x / y) = x / y; where(norm(y) == 0, 0, x * y) = x * y;
    where(p == 0, 0, x ** (1 / p)) = x ** (1 / p).
    """
    condition, a, b = node.parents
    if constant_value(a) != 0 or b.shape != node.shape:
        return None
    nonzero = {*_nonzero_parts(b), *_denominators(b)}
    factors = (product_of(b) or NOTHING).factors
    for zeros in map(_zero_factors, _conjuncts(condition)):
        if zeros and all(
            z in nonzero or unbroadcast(z) in nonzero or _is_zero_with_factor(z, factors)
            for z in zeros
        ):
            return b
    return None


@normal("where")
def redundant_where_of_softmax(node: Node) -> Node | None:
    """where(c, 0, x * softmax(where(c, -inf, y), 1)) = x * softmax(where(c, -inf, y), 1), for an x
    that stays finite; likewise for where(c, x * softmax(...), 0).
    """
    condition, *sides = node.parents
    for masked, (zero, b) in ((1, sides), (2, sides[::-1])):
        is_zero = constant_value(zero) == 0 and b.shape == node.shape
        result = (product_of(b) if is_zero else None) or NOTHING
        for f, e in result.factors.items():
            others = result.without(f).factors
            vanishes = e > 0 and f.shape == node.shape and _is_zero_by_mask(f, condition, masked)
            if vanishes and others and _stay_finite(others, f, condition):
                return b
    return None


def _stay_finite(factors: Mapping[Node, Coefficient], f: Node, condition: Node) -> bool:
    """Whether the factors that depend on f, or on the condition, are computed from these by
    operators that keep finite numbers finite.
    """

    def sources(n: Node) -> Sequence[Node | None]:
        inner = definition(n)
        return () if n is f else n.inputs if inner is None else (inner,)

    dependent = downstream(walk(factors, sources), [f, condition], sources) - {f, condition}
    divisors = {k for k, e in factors.items() if e < 0}
    return divisors.isdisjoint(dependent) and all(n.op.finite for n in dependent)


def _is_zero_by_mask(f: Node, condition: Node, masked: int) -> bool:
    """Whether f is exp or softmax of a `where` whose operand number `masked` is -inf."""
    probability = defined(f)
    if probability.op.name not in ("softmax", "exp"):
        return False
    x = defined(probability.parents[0])
    where = x if x.op.expand is None else x.op.expanded(x)
    if where.op.name != "where" or where.parents[0] is not condition:
        return False
    fill_value = where.parents[masked]
    return fill_value.op.name == "constant" and fill_value.attrs["value"] == -inf


def _conjuncts(condition: Node) -> list[Node]:
    if condition.op.name != "logical_and":
        return [condition]
    return [c for part in condition.parents for c in _conjuncts(part)]


def _nonzero_parts(b: Node) -> Iterator[Node]:
    """Nodes that are nonzero if b is finite and nonzero: factors, arguments of logarithms."""
    for factor in _factors(b):
        yield factor
        if factor.op.name == "log":
            yield from _factors(factor.parents[0])
        if factor.op.name == "log_softmax":
            yield factor.parents[0].softmax(dim=factor.attrs["dim"])


def _denominators(b: Node) -> Iterator[Node]:
    """The denominators in exponents of factors of b: x ** (1 / 0) is infinite, or 0."""
    exponents = [f.parents[1] for f in _factors(b) if f.op.name == "pow"]
    for n in walk(exponents, lambda n: n.parents if n.op.name in KEEPS_INFINITY else ()):
        if n.op.name in ("div", "reciprocal"):
            yield from _factors(n.parents[-1])


def _zero_factors(condition: Node) -> list[Node]:
    """The factors of y in the condition y == 0: at least one of them is 0 wherever y is. [] for
    other conditions.
    """
    if condition.op.name != "eq" or constant_value(condition.parents[1]) != 0:
        return []
    return _numerator_factors(condition.parents[0])


def _numerator_factors(y: Node) -> list[Node]:
    """The factors of y with positive exponents: at least one of them is 0 wherever y is."""
    result = product_of(y)
    return [f for f, e in result.factors.items() if e > 0] if result else [y]


def _factors(node: Node) -> Iterable[Node]:
    result = product_of(node)
    return result.factors if result else (node,)


def _is_divided_by(z: Node, factors: Mapping[Node, Coefficient]) -> bool:
    """Whether a denominator is z, or contains the factor z, such as sqrt(2 * z) or a named node."""
    stack = [f for f, e in factors.items() if e < 0]
    while stack:
        f = stack.pop()
        if f is z:
            return True
        inner = defined(f)
        inner = inner.parents[0] if inner.op.name in ("sqrt", "abs") else inner
        stack += [k for k in _numerator_factors(inner) if k is not f]
    return False


def _is_zero_with_factor(z: Node, factors: Mapping[Node, Coefficient]) -> bool:
    """Whether one of the factors is 0 wherever z is: z itself, x or abs(x) for a norm of x,
    x - x.mean() for a standard deviation of x, or a mask such as abs(z) > 1.
    """
    x = _argument_of_norm(z)
    return any(
        e > 0
        and (f in (z, x) or (f.op.name == "abs" and f.parents[0] is x) or _excludes_zero(f, z))
        for f, e in factors.items()
    )


def _excludes_zero(factor: Node, z: Node) -> bool:
    """Whether a factor is a comparison of z or abs(z) with a number that is False where z is 0."""
    mask = unconverted(factor)
    if mask.op.name not in FALSE_AT_ZERO:
        return False
    x, bound = mask.parents[0], constant_value(mask.parents[1])
    is_of_z = x is z or (x.op.name == "abs" and x.parents[0] is z)
    return is_of_z and bound is not None and FALSE_AT_ZERO[mask.op.name](bound)


def _argument_of_norm(length: Node) -> Node | None:
    """x for a norm of x, and x - x.mean() for a standard deviation of x: each is 0 wherever the
    node is 0. None for other nodes, for reductions that do not broadcast to x, and for norms of
    negative order.
    """
    if length.op.name not in ("vector_norm", "std") or length.attrs.get("ord", 0) < 0:
        return None
    x, dim, keepdim = length.parents[0], length.attrs["dim"], length.attrs["keepdim"]
    over = axes(dim, x.ndim)
    if not keepdim and over != tuple(range(len(over))):
        return None
    return x if length.op.name == "vector_norm" else x - x.mean(dim=dim, keepdim=keepdim)
