"""Logarithms of expressions of exponentials, without overflow or underflow."""

from collections.abc import Callable
from math import isclose, log, sqrt

from ....graphs import OPS, Node, intern
from .patterns import (
    constant,
    difference,
    is_number,
    is_op,
    negated,
    number_node,
    single_dim,
    squared,
)

SHAPED = (
    *("getitem", "unsqueeze", "squeeze", "reshape", "expand", "transpose", "diagonal", "permute"),
    *("flip", "roll", "repeat"),
)
RISING = ("amax", "amin", "max_values", "min_values", "max_all", "min_all")
INDEXED = ("gather", "index_select")


def log_of(node: Node) -> Node | None:
    """log(node) without overflow and underflow, or None if `node` is not known to be positive."""
    number = constant(node)
    if number is not None:
        return number_node(log(number)) if number > 0 else None
    if node.op.log is not None:
        return OPS[node.op.log](*node.inputs, **node.attrs)
    rule = RULES.get(node.op.name)
    return None if rule is None else rule(node)


def _product(node: Node) -> Node | None:
    a, b = node.parents
    la, lb = log_of(a), log_of(b)
    if la is None and lb is None:
        return None
    upper = OPS["log"](a) if la is None else la
    other = OPS["log"](b) if lb is None else lb
    return upper - other.parents[0] if is_op(other, "neg") else _added(upper, other)


def _added(a: Node, b: Node) -> Node:
    """a + b, with their constants combined: 1 and 2 + z -> 3 + z."""
    p, q = constant(a), constant(b.parents[0]) if is_op(b, "add") else None
    if p is None or q is None:
        return a + b
    rest = b.parents[1]
    return rest if isclose(p, -q) else (p + q) + rest


def log_of_size(node: Node) -> Node | None:
    """log(abs(node)) of a product, quotient or power, without underflow and overflow; None for
    other nodes.
    """
    if is_op(node, "mul", "div"):
        a, b = map(_size, node.parents)
        return a + b if is_op(node, "mul") else a - b
    if is_op(node, "prod"):
        return OPS["sum"](_size(node.parents[0]), **node.attrs)
    if is_op(node, "square") or (is_op(node, "pow") and constant(node.inputs[1]) is not None):
        exponent = 2 if is_op(node, "square") else node.parents[1]
        return exponent * _size(node.parents[0])
    return log_of_size(node.parents[0]) if is_op(node, "neg", "abs") else None


def _size(node: Node) -> Node:
    positive = log_of(node)
    return (log_of_size(node) or OPS["log"](OPS["abs"](node))) if positive is None else positive


def _quotient(node: Node) -> Node | None:
    a, b = node.parents
    la, lb = log_of(a), log_of(b)
    if (la is None and lb is None) or (la is None and constant(a) is not None):
        return None
    upper = OPS["log"](a) if la is None else la
    lower = OPS["log"](b) if lb is None else lb
    return difference(upper, lower)


def _sum_of_two(node: Node) -> Node | None:
    """log(a + b), from log(a) and log(b)."""
    a, b = node.parents
    if is_number(a, 1) and is_op(b, "erf"):
        return _of_two_tails(b.parents[0])
    la, lb = log_of(a), log_of(b)
    if la is None or lb is None or (constant(a) is not None and constant(b) is not None):
        return None
    if is_number(la, 0) or is_number(lb, 0):
        return negated(OPS["logsigmoid"](negated(lb if is_number(la, 0) else la)))
    if constant(a) is not None:
        la = OPS["full_like"](lb, la.attrs["value"])
    if constant(b) is not None:
        lb = OPS["full_like"](la, lb.attrs["value"])
    return OPS["logaddexp"](la, lb)


def _difference(node: Node) -> Node | None:
    """log(1 - sigmoid(z)), log(1 - erf(z)), log(1 - tanh(z)**2), and log of differences of
    exponentials.
    """
    a, b = node.parents
    if is_number(a, 1) and is_op(b, "erf"):
        return _of_two_tails(negated(b.parents[0]))
    base = squared(b)
    if is_number(a, 1) and is_op(b, "sigmoid"):
        return OPS["logsigmoid"](negated(b.parents[0]))
    if is_number(a, 1) and is_op(base, "tanh"):
        z = base.parents[0]  # type: ignore[union-attr]
        return 2 * (log(2) - OPS["logaddexp"](z, negated(z)))
    la, lb = log_of(a), log_of(b)
    if la is None or lb is None or (constant(a) is not None and constant(b) is not None):
        return None
    return _of_difference(la, lb)


def _of_two_tails(z: Node) -> Node:
    """log(1 + erf(z)), by the logarithm of the normal distribution function at sqrt(2) * z."""
    x = negated(z) if is_op(z, "neg") else z
    x = x.parents[0] if is_op(x, "div") and _is_root_of_two(x.parents[1]) else sqrt(2) * x
    return log(2) + OPS["log_ndtr"](negated(x) if is_op(z, "neg") else x)


def _is_root_of_two(node: Node) -> bool:
    if is_op(node, "sqrt"):
        return is_number(node.parents[0], 2)
    return isclose(constant(node) or 0, sqrt(2))


def _of_difference(p: Node, q: Node) -> Node:
    """log(exp(p) - exp(q)) for q < p."""
    less = q if is_number(p, 0) else negated(p) if is_number(q, 0) else q - p
    rest = OPS["log"](negated(OPS["expm1"](less)))
    return rest if is_number(p, 0) else p + rest


def _summed(node: Node) -> Node | None:
    (x,) = node.parents
    inner = log_of(x)
    if inner is None or not x.ndim:
        return inner
    dim = single_dim(node)
    dim = tuple(range(x.ndim)) if dim is None else dim
    return OPS["logsumexp"](inner, dim=dim, keepdim=node.attrs["keepdim"])


def _averaged(node: Node) -> Node | None:
    summed, (x,) = _summed(node), node.parents
    return None if summed is None else summed - log(x.numel / node.numel)


def _power(node: Node) -> Node | None:
    base, exponent = node.parents
    inner = log_of(base)
    return None if inner is None or constant(base) is not None else exponent * inner


def _of_operand(make: Callable[[Node, Node], Node | None]) -> Callable[[Node], Node | None]:
    """A rule that calls `make` with a node and the logarithm of its operand, if that is known."""

    def rule(node: Node) -> Node | None:
        inner = log_of(node.parents[0])
        return None if inner is None else make(node, inner)

    return rule


RULES = {
    "exp": lambda n: n.parents[0],
    "exp2": lambda n: n.parents[0] * log(2),
    "expm1": lambda n: _of_difference(n.parents[0], number_node(0)),
    "ndtr": lambda n: OPS["log_ndtr"](n.parents[0]),
    "cosh": lambda n: OPS["logaddexp"](n.parents[0], negated(n.parents[0])) - log(2),
    "mul": _product,
    "div": _quotient,
    "add": _sum_of_two,
    "sub": _difference,
    "sum": _summed,
    "mean": _averaged,
    "prod": _of_operand(lambda n, inner: OPS["sum"](inner, **n.attrs)),
    "pow": _power,
    "sqrt": _of_operand(lambda n, inner: inner / 2),
    "double": lambda n: log_of(n.parents[0]),
    **dict.fromkeys((*SHAPED, *RISING), _of_operand(lambda n, inner: n.op(inner, **n.attrs))),
    **dict.fromkeys(
        INDEXED, _of_operand(lambda n, inner: intern(n.op, (inner, n.parents[1]), n.attrs))
    ),
    "sinh": lambda n: _of_difference(n.parents[0], negated(n.parents[0])) - log(2),
    "diag": _of_operand(lambda n, inner: n.op(inner, **n.attrs) if inner.ndim > 1 else None),
    "erfc": lambda n: _of_two_tails(negated(n.parents[0])),
}
