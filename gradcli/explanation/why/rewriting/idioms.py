"""Rewriting rules to expressions that are equal wherever the original is finite. Each rule takes a
node whose operands are already rewritten, and returns its replacement, or None.
"""

from collections.abc import Callable, Sequence
from math import log, pi

from ....graphs import OPS, Node
from .logarithms import log_of
from .patterns import (
    constant,
    is_number,
    is_op,
    negated,
    number_node,
    reduced_over,
    rooted,
    squared,
)

Rule = Callable[[Node], Node | None]


# ---- logarithms and exponentials -----------------------------------------------------------------


def logarithm(n: Node) -> Node | None:
    """log of exponentials, their sums, products and quotients, sigmoid, softmax."""
    if is_op(n, "log"):
        return _without_number(log_of(n.parents[0]), n.parents[0])
    if is_op(n, "log2", "log10"):
        inner = log_of(n.parents[0])
        return None if inner is None else inner / log(2 if is_op(n, "log2") else 10)
    if is_op(n, "log1p"):
        (z,) = n.parents
        whole = 1 - z.parents[0] if is_op(z, "neg") else 1 + z
        return log_of(whole)
    return None


def _without_number(result: Node | None, of: Node) -> Node | None:
    return None if constant(of) is not None else result


def exponential(n: Node) -> Node | None:
    """exp of logarithms: exp(cumsum(log(x), 0)) is cumprod(x, 0)."""
    if not is_op(n, "exp"):
        return None
    (z,) = n.parents
    if is_op(z, "log"):
        return z.parents[0]
    if is_op(z, "sum", "cumsum") and is_op(z.parents[0], "log"):
        name = {"sum": "prod", "cumsum": "cumprod"}[z.op.name]
        if isinstance(z.attrs["dim"], tuple) and len(z.attrs["dim"]) > 1:
            return None
        return OPS[name](z.parents[0].parents[0], **z.attrs)
    if is_op(z, "mul"):
        a, b = z.parents
        if is_op(b, "log"):
            return b.parents[0] ** a
        if is_op(a, "log"):
            return a.parents[0] ** b
    return None


def quotient(n: Node) -> Node | None:
    """Quotients of exponentials: softmax, sigmoid, tanh."""
    if is_op(n, "reciprocal"):
        return _logistic(number_node(1), n.parents[0])
    if not is_op(n, "div"):
        return None
    a, b = n.parents
    if is_op(a, "sinh") and is_op(b, "cosh") and a.parents[0] is b.parents[0]:
        return OPS["tanh"](a.parents[0])
    if is_op(a, "div") and is_op(b, "div") and a.parents[1] is b.parents[1]:
        a, b = a.parents[0], b.parents[0]
    return _softmax(a, b) or _tanh(a, b) or _logistic(a, b) or _exponents(a, b)


def _softmax(a: Node, b: Node) -> Node | None:
    if not is_op(a, "exp") or not is_op(b, "sum") or b.parents[0] is not a:
        return None
    z, dim = a.parents[0], b.attrs["dim"]
    dim = dim[0] if isinstance(dim, tuple) and len(dim) == 1 else dim
    if dim is None and z.ndim == 1:
        return OPS["softmax"](z, dim=0)
    if isinstance(dim, int) and b.attrs["keepdim"]:
        return OPS["softmax"](z, dim=dim)
    return None


def _tanh(a: Node, b: Node) -> Node | None:
    """(p - q) / (p + q) of exponentials."""
    if not is_op(a, "sub") or not is_op(b, "add"):
        return None
    p, q = a.parents
    if {p, q} != set(b.parents):
        return None
    lp, lq = log_of(p), log_of(q)
    if lp is None or lq is None:
        return None
    if lq is negated(lp):
        return OPS["tanh"](lp)
    whole = negated(lq) if is_number(lp, 0) else lp if is_number(lq, 0) else lp - lq
    return OPS["tanh"](_half(whole))


def _half(z: Node) -> Node:
    if is_op(z, "mul") and is_number(z.parents[0], 2):
        return z.parents[1]
    if is_op(z, "mul") and is_number(z.parents[0], -2):
        return negated(z.parents[1])
    if is_op(z, "neg"):
        return negated(_half(z.parents[0]))
    return z / 2


def _logistic(a: Node, b: Node) -> Node | None:
    """a / (1 + exp(z)), and p / (p + q) of exponentials."""
    if not is_op(b, "add"):
        return None
    for p, q in (b.parents, b.parents[::-1]):
        lp, lq = log_of(p), log_of(q)
        if lp is not None and lq is not None and p is a:
            whole = negated(lq) if is_number(lp, 0) else lp if is_number(lq, 0) else lp - lq
            return OPS["sigmoid"](whole)
    for p, q in (b.parents, b.parents[::-1]):
        lq = log_of(q)
        if is_number(p, 1) and lq is not None:
            return a * OPS["sigmoid"](negated(lq))
    return None


def _exponents(a: Node, b: Node) -> Node | None:
    la, lb = log_of(a), log_of(b)
    if la is None or lb is None or (constant(a) is not None or constant(b) is not None):
        return None
    return OPS["exp"](la - lb)


def inverse(n: Node) -> Node | None:
    """atanh(tanh(x)), logit(sigmoid(x))."""
    for outer, inner in (("atanh", "tanh"), ("logit", "sigmoid"), ("expm1", "log1p")):
        if is_op(n, outer) and is_op(n.parents[0], inner):
            return n.parents[0].parents[0]
    return None


# ---- losses --------------------------------------------------------------------------------------


def with_logits(n: Node) -> Node | None:
    """binary_cross_entropy(sigmoid(x), y)."""
    if not is_op(n, "binary_cross_entropy"):
        return None
    p, y, weight = n.inputs
    if not is_op(p, "sigmoid"):
        return None
    named = {} if weight is None else {"weight": weight}
    return OPS["binary_cross_entropy_with_logits"](p.parents[0], y, **named, **n.attrs)  # type: ignore[union-attr]


# ---- roots ---------------------------------------------------------------------------------------


def root(n: Node) -> Node | None:
    """Roots of squares, of their sums and means, of variances."""
    base = rooted(n)
    if base is None:
        return None
    z, order = base
    if order == 2 and squared(z) is not None:
        return OPS["abs"](squared(z))
    if order == 2 and is_op(z, "var"):
        return OPS["std"](z.parents[0], **z.attrs)
    return _norm(z, order)


def _norm(z: Node, order: float) -> Node | None:
    scale = 1.0
    if is_op(z, "mean"):
        scale = (z.parents[0].numel / max(z.numel, 1)) ** (1 / order)
    if is_op(z, "sum", "mean"):
        powers = _power(z.parents[0], order)
        if powers is None or not z.parents[0].ndim:
            return None
        norm = OPS["vector_norm"](powers, ord=_whole(order), **reduced_over(z))
        return norm if scale == 1 else norm / _number(scale)
    if order != 2:
        return None
    if is_op(z, "dot", "matmul", "inner") and z.parents[0] is z.parents[1]:
        x = z.parents[0]
        return OPS["vector_norm"](x, ord=2) if x.ndim == 1 else None
    return _hypot(z)


def _number(value: float) -> Node:
    return number_node(value)


def _whole(value: float) -> int | float:
    near = round(value)
    return near if abs(value - near) < 1e-12 else value


def _power(z: Node, order: float) -> Node | None:
    """What a node is a power of that is not negative."""
    if order == 2:
        return squared(z)
    if not is_op(z, "pow") or constant(z.inputs[1]) != _whole(order):
        return None
    base = z.parents[0]
    return base if is_op(base, "abs") or _whole(order) % 2 == 0 else None


def _hypot(z: Node) -> Node | None:
    """sqrt(a**2 + b**2) is the norm of both."""
    if not is_op(z, "add"):
        return None
    terms, squares = [z], []
    while terms:
        term = terms.pop(0)
        if is_op(term, "add"):
            terms = [*term.parents, *terms]
            continue
        base = squared(term)
        if base is None or constant(base) is not None or base.shape != z.shape:
            return None
        squares.append(base)
    return OPS["vector_norm"](OPS["stack"](*squares, dim=0), ord=2, dim=0)


def hypot(n: Node) -> Node | None:
    """hypot(a, b), whose gradient at 0, 0 is nan."""
    if is_op(n, "hypot") and n.parents[0].shape == n.parents[1].shape:
        return OPS["vector_norm"](OPS["stack"](*n.parents, dim=0), ord=2, dim=0)
    return None


# ---- quotients that are 0/0 ----------------------------------------------------------------------


def sign(n: Node) -> Node | None:
    """x / |x|."""
    if not is_op(n, "div"):
        return None
    a, b = n.parents
    if is_op(b, "abs") and b.parents[0] is a:
        return OPS["sign"](a)
    return OPS["sign"](b) if is_op(a, "abs") and a.parents[0] is b else None


def cardinal_sine(n: Node) -> Node | None:
    """sin(x) / x, and (1 - cos(x)) / x**2."""
    if not is_op(n, "div"):
        return None
    a, b = n.parents
    if is_op(a, "sin") and a.parents[0] is b:
        return OPS["sinc"](b / number_pi())
    z = squared(b)
    cosine = is_op(a, "sub") and is_number(a.parents[0], 1) and is_op(a.parents[1], "cos")
    if z is not None and cosine and a.parents[1].parents[0] is z:
        return 0.5 * OPS["sinc"](z / (2 * number_pi())) ** 2
    return None


def number_pi() -> Node:
    """The number pi."""
    return number_node(pi)


def angle(n: Node) -> Node | None:
    """atan(y / x) is the angle of the point on the right that lies on the same line."""
    if not is_op(n, "atan") or not is_op(n.parents[0], "div"):
        return None
    y, x = n.parents[0].parents
    side = OPS["where"](x < 0, number_node(-1), number_node(1))
    return OPS["atan2"](side * y, side * x)


def determinant(n: Node) -> Node | None:
    """log(det(A)), whose determinant overflows."""
    if not is_op(n, "log"):
        return None
    (z,) = n.parents
    if is_op(z, "det"):
        return OPS["logdet"](z.parents[0])
    if is_op(z, "abs") and is_op(z.parents[0], "det"):
        return OPS["log_abs_determinant"](z.parents[0].parents[0])
    return None


IDIOMS: Sequence[Rule] = (
    logarithm,
    exponential,
    quotient,
    inverse,
    with_logits,
    root,
    hypot,
    sign,
    cardinal_sine,
    angle,
    determinant,
)
