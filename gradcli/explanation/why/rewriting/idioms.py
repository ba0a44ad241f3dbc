"""Rewriting rules to expressions that are equal wherever the original is finite.

Each rule takes a node whose operands are already rewritten, and returns its replacement, or None if
it does not apply.
"""

from collections.abc import Callable, Sequence
from math import log, pi

from ....graphs import OPS, Node, intern
from ....notation.formulas.rules.identities import Identity
from .logarithms import log_of, log_of_size
from .patterns import (
    constant,
    difference,
    is_number,
    is_op,
    negated,
    number_node,
    rooted,
    single_dim,
    squared,
)

Rule = Callable[[Node], Node | None]


# ---- logarithms and exponentials -----------------------------------------------------------------


def logarithm(n: Node) -> Node | None:
    """log, log2 and log1p of exponentials, their sums, products and quotients, sigmoid, softmax."""
    if is_op(n, "log"):
        return None if constant(n.parents[0]) is not None else log_of(n.parents[0])
    if is_op(n, "log2", "log10"):
        inner = log_of(n.parents[0])
        return None if inner is None else inner / log(2 if is_op(n, "log2") else 10)
    if is_op(n, "log1p"):
        (z,) = n.parents
        whole = 1 - z.parents[0] if is_op(z, "neg") else 1 + z
        return log_of(whole)
    return None


def logarithm_of_product(n: Node) -> Node | None:
    """log of a product, which may underflow or overflow, as a sum of logarithms."""
    return log_of_size(n.parents[0]) if is_op(n, "log") else None


def exponential(n: Node) -> Node | None:
    """exp(y * log(x)) -> x ** y, and exp(x) * exp(y) -> exp(x + y), also for other positive
    factors, one of which overflows while another underflows.
    """
    if is_op(n, "mul") and any(is_op(i, "exp") for i in n.parents):
        x, y = map(log_of, n.parents)
        if x is None or y is None or any(constant(i) is not None for i in n.parents):
            return None
        return OPS["exp"](x - negated(y) if is_op(y, "neg") else x + y)
    if is_op(n, "exp") and is_op(n.parents[0], "mul"):
        for y, z in (n.parents[0].parents, n.parents[0].parents[::-1]):
            if is_op(z, "log"):
                return z.parents[0] ** y
    return None


def quotient(n: Node) -> Node | None:
    """Quotients of exponentials: softmax, sigmoid, tanh."""
    if is_op(n, "reciprocal"):
        return _logistic(number_node(1), n.parents[0])
    if not is_op(n, "div"):
        return None
    a, b = n.parents
    if is_op(a, "div") and is_op(b, "div") and a.parents[1] is b.parents[1]:
        a, b = a.parents[0], b.parents[0]
    return _softmax(a, b) or _weighted(a, b) or _tanh(a, b) or _logistic(a, b) or _exponents(a, b)


def _softmax(a: Node, b: Node) -> Node | None:
    if not is_op(a, "exp") or not is_op(b, "sum") or b.parents[0] is not a:
        return None
    dim = single_dim(b)
    if isinstance(dim, int) and (b.attrs["keepdim"] or b.attrs["dim"] is None):
        return OPS["softmax"](a.parents[0], dim=dim)
    return None


def _weighted(a: Node, b: Node) -> Node | None:
    """sum(w * exp(z)) / sum(exp(z)) -> a mean weighted by softmax(z); so for exp(z) @ w."""
    if not is_op(b, "sum") or not is_op(b.parents[0], "exp"):
        return None
    e, dim = b.parents[0], single_dim(b)
    if not isinstance(dim, int):
        return None
    weights = OPS["softmax"](e.parents[0], dim=dim)
    if is_op(a, "matmul", "dot", "mv") and a.parents[0] is e and dim in (-1, e.ndim - 1):
        return intern(a.op, (weights, a.parents[1]), a.attrs)
    if not is_op(a, "sum") or a.attrs != b.attrs or not is_op(a.parents[0], "mul"):
        return None
    others = [w for p, w in zip(a.parents[0].parents, a.parents[0].parents[::-1]) if p is e]
    return OPS["sum"](weights * others[0], **a.attrs) if others else None


def _tanh(a: Node, b: Node) -> Node | None:
    """(p - q) / (p + q) of exponentials p and q -> tanh."""
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
    return OPS["tanh"](_half(difference(lp, lq)))


def _half(z: Node) -> Node:
    if is_op(z, "mul") and is_number(z.parents[0], 2):
        return z.parents[1]
    if is_op(z, "mul") and is_number(z.parents[0], -2):
        return negated(z.parents[1])
    if is_op(z, "neg"):
        return negated(_half(z.parents[0]))
    return z / 2


def _logistic(a: Node, b: Node) -> Node | None:
    """a / (1 + exp(z)), and p / (p + q) of exponentials p and q -> sigmoid."""
    if not is_op(b, "add"):
        return None
    for p, q in (b.parents, b.parents[::-1]):
        lp, lq = log_of(p), log_of(q)
        if lp is not None and lq is not None and p is a:
            return OPS["sigmoid"](difference(lp, lq))
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


# ---- roots ---------------------------------------------------------------------------------------


def root(n: Node) -> Node | None:
    """Roots of squares, of their sums and means, of variances."""
    base = rooted(n)
    if base is None:
        return None
    z, degree = base
    if degree == 2 and squared(z) is not None:
        return OPS["abs"](squared(z))
    if degree == 2 and is_op(z, "var"):
        return OPS["std"](z.parents[0], **z.attrs)
    return _norm(z, degree)


def _norm(z: Node, degree: float) -> Node | None:
    """The norm that equals a root of a sum or mean of powers; None for other nodes."""
    scale = 1.0
    if is_op(z, "mean"):
        scale = (z.parents[0].numel / max(z.numel, 1)) ** (1 / degree)
    if is_op(z, "sum", "mean"):
        powers = _power(z.parents[0], degree)
        if powers is None or not z.parents[0].ndim:
            return None
        norm = OPS["vector_norm"](
            powers, ord=_whole(degree), dim=z.attrs["dim"], keepdim=z.attrs["keepdim"]
        )
        return norm if scale == 1 else norm / number_node(scale)
    if is_op(z, "mul"):
        roots = [_norm(factor, degree) for factor in z.parents]
        return None if None in roots else roots[0] * roots[1]  # type: ignore[operator]
    if degree != 2:
        return None
    if is_op(z, "dot", "matmul") and z.parents[0] is z.parents[1]:
        x = z.parents[0]
        return OPS["vector_norm"](x, ord=2) if x.ndim == 1 else None
    return _hypot(z)


def _whole(value: float) -> int | float:
    near = round(value)
    return near if abs(value - near) < 1e-12 else value


def _power(z: Node, degree: float) -> Node | None:
    """The base, if `z` is a power of that degree of a nonnegative base; else None."""
    if degree == 2:
        return squared(z)
    if not is_op(z, "pow") or constant(z.inputs[1]) != _whole(degree):
        return None
    base = z.parents[0]
    return base if is_op(base, "abs") or _whole(degree) % 2 == 0 else None


def _hypot(z: Node) -> Node | None:
    """sqrt(a**2 + b**2) -> the norm of (a, b); `z` is the operand of the root."""
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


# ---- quotients that are 0/0 ----------------------------------------------------------------------


def cardinal_sine(n: Node) -> Node | None:
    """sin(x) / x, and (1 - cos(x)) / x**2 -> expressions of sinc."""
    if not is_op(n, "div"):
        return None
    a, b = n.parents
    if is_op(a, "sin") and a.parents[0] is b:
        return OPS["sinc"](b / number_node(pi))
    z = squared(b)
    cosine = is_op(a, "sub") and is_number(a.parents[0], 1) and is_op(a.parents[1], "cos")
    if z is not None and cosine and a.parents[1].parents[0] is z:
        return 0.5 * OPS["sinc"](z / (2 * number_node(pi))) ** 2
    return None


def angle(n: Node) -> Node | None:
    """atan(y / x) -> the angle of the point (x, y), or of (-x, -y) for negative x."""
    if not is_op(n, "atan") or not is_op(n.parents[0], "div"):
        return None
    y, x = n.parents[0].parents
    side = OPS["where"](x < 0, number_node(-1), number_node(1))
    return OPS["atan2"](side * y, side * x)


# ---- identities ----------------------------------------------------------------------------------

IDENTITIES = [
    Identity(text)
    for text in (
        "exp(log(x)) = x",
        "exp(sum(log(x), dim=d, keepdim=k)) = prod(x, dim=d, keepdim=k)",
        "exp(cumsum(log(x), dim=d)) = cumprod(x, dim=d)",
        "sinh(x) / cosh(x) = tanh(x)",
        "log(x + sqrt(x ** 2 + 1)) = asinh(x)",
        "atanh(tanh(x)) = x",
        "logit(sigmoid(x)) = x",
        "expm1(log1p(x)) = x",
        "1 / (1 / x + 1 / y) = x * y / (x + y)",
        "x / abs(x) = sign(x)",
        "abs(x) / x = sign(x)",
        "log(det(x)) = logdet(x)",  # the determinant may overflow
        "log(abs(det(x))) = log_abs_determinant(x)",
        # the gradient of hypot(0, 0) is nan
        "hypot(x, y) = vector_norm(stack(x, y, dim=0), ord=2, dim=0) where x.shape == y.shape",
        "binary_cross_entropy(sigmoid(x), y, reduction=r)"
        " = binary_cross_entropy_with_logits(x, y, reduction=r)",
        "binary_cross_entropy(sigmoid(x), y, z, reduction=r)"
        " = binary_cross_entropy_with_logits(x, y, weight=z, reduction=r)",
    )
]


def identity(n: Node) -> Node | None:
    """A node rewritten by the first of IDENTITIES that applies; None if none does."""
    rules = (rule for rule in IDENTITIES if n.op.name in rule.heads)
    return next((new for rule in rules for new in rule(n) or ()), None)


IDIOMS: Sequence[Rule] = (logarithm, exponential, identity, quotient, root, cardinal_sine, angle)
RARER: Sequence[Rule] = (logarithm_of_product,)  # rules that are tried only one at a time
