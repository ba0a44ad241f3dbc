"""Elementwise functions: exponentials, logarithms, trigonometry, roots and signs."""

import math
from fractions import Fraction

from ....graphs import OPS, Node
from ....graphs.signature import signature
from .identities import condition, identities
from .products import NOTHING, ONE, Product, build, constant_value, product_of, with_factors
from .registry import CANDIDATES, NORMAL, RULES, layout, normal

LARGEST_EXPONENT = 700  # exp(700) does not overflow

identities(RULES, """
    exp(log(x)) = x
    exp(log_softmax(x, dim=d)) = softmax(x, dim=d)
    logsigmoid_slope(x) = sigmoid(-x)
    sign_in_gradient(x) = sign(x)
    log(1) = 0.0
    sqrt(1) = 1.0
    exp(0) = 1.0
    sin(0) = 0.0
    cos(0) = 1.0
    tanh(0) = 0.0
    sigmoid(0) = 0.5
""")  # fmt: skip


@condition
def is_float(x: Node) -> bool:
    """Whether x is a floating-point tensor: torch.sqrt does not accept numbers, such as a size."""
    return x.dtype == "float"


@condition
def is_unsigned(x: Node) -> bool:
    """Whether x has no minus before it."""
    return (product_of(x) or NOTHING).coefficient > 0


identities(NORMAL, """
    log(softmax(x, dim=d)) = log_softmax(x, dim=d)
    exp(x) / (1 + exp(x)) = sigmoid(x)
    1 / (1 + exp(x)) = sigmoid(-x)
    exp(x) * sigmoid(-x) = sigmoid(x)
    sin(x) / cos(x) = tan(x)
    cos(x) / sin(x) = 1 / tan(x)
    sinh(x) / cosh(x) = tanh(x)
    cosh(x) / sinh(x) = 1 / tanh(x)
    (1 - tanh(x) ** 2) / (1 + tanh(x) ** 2) = 1 / cosh(2 * x)
    rsqrt(x) = 1 / sqrt(x)
    sqrt(x) ** 2 = x
    1 / sqrt(x) ** 2 = 1 / x
    pow(x, 0.5) = sqrt(x) where is_float(x)
    x / sqrt(x) = sqrt(x)
    sqrt(x) / x = 1 / sqrt(x)
    abs(x) ** 2 = x ** 2
    abs(x) * sign(x) = x
    sign(x) / abs(x) = 1 / x
    x * sign(x) = abs(x)
    sign(x) ** 2 = ne(x, 0)
    1 + erf(0.7071067811865476 * x) = 2 * ndtr(x)
    expm1(x) + 1 = exp(x)
    sigmoid(x) + sigmoid(-x) = 1
    log(sigmoid(x)) - log(sigmoid(-x)) = x
    logsigmoid(x) - logsigmoid(-x) = x
    softplus(x) - softplus(-x) = x
    log(1 + x) - log(1 - x) = 2 * atanh(x)
    log((1 + x) / (1 - x)) = 2 * atanh(x)
    relu(x) - relu(-x) = x
    relu(x) + relu(-x) = abs(x)
    exp(-x) + exp(x) = 2 * cosh(x)
    exp(x) + 1 / exp(x) = 2 * cosh(x)
    -exp(-x) + exp(x) = 2 * sinh(x)
    exp(x) - 1 / exp(x) = 2 * sinh(x)
""")  # fmt: skip

identities(CANDIDATES, """
    softmax(log(x), dim=d) = x / sum(x, dim=d, keepdim=True)
    cos(x) ** 2 - sin(x) ** 2 = cos(2 * x)
    sin(x) * cos(x) = sin(2 * x) / 2
    exp(-logcumsumexp(x, dim=d)) = 1 / cumsum(exp(x), dim=d)
    (1 + tan(x) ** 2) / tan(x) = 2 / sin(2 * x)
    1 / tan(x) ** 2 + 1 = 1 / sin(x) ** 2
    1 / tanh(x) ** 2 - 1 = 1 / sinh(x) ** 2
    sign(x) - abs(x) / y = sign(x) * (y - x) / y
    1 / (exp(x) - 1) = 1 / expm1(x) where is_unsigned(x)
    exp(x) * exp(y) = exp(x + y)
    exp(x) / exp(y) = exp(x - y)
    1 / exp(x) / exp(y) = 1 / exp(x + y)
    exp(x) / (exp(x) + exp(y)) = sigmoid(x - y)
    exp(-x) / (1 - exp(-x)) = 1 / (exp(x) - 1)
    exp(x) / (exp(x) - 1) = 1 / (1 - exp(-x))
    exp(x) / (exp(x) - 1) ** 2 = (1 + 1 / (exp(x) - 1)) / (exp(x) - 1)
    1 / (exp(x) - 1) + 1 = 1 / (1 - exp(-x))
    log(x) + log(y) = log(x * y)
    log(x) - log(y) = log(x / y)
    log2(x) + log2(y) = log2(x * y)
    log2(x) - log2(y) = log2(x / y)
    log10(x) + log10(y) = log10(x * y)
    log10(x) - log10(y) = log10(x / y)
    sigmoid(-x) = 1 - sigmoid(x)
    1 - sigmoid(x) = sigmoid(-x)
    1 - ndtr(x) = ndtr(-x)
    sigmoid(x) * sigmoid(-x) = sigmoid(x) * (1 - sigmoid(x))
    sigmoid(-x) * (1 - sigmoid(-x)) = sigmoid(x) * (1 - sigmoid(x))
    2 * sigmoid(x) - 1 = tanh(x / 2)
    -sigmoid(-x) + sigmoid(x) = tanh(x / 2)
    maximum(x, 0) = relu(x)
    abs(x - y) = abs(y - x)
""")  # fmt: skip


@normal("exp")
def quotient_in_the_exponent(node: Node) -> Node | None:
    """exp(-0.5 * x) = exp(-x / 2), so that equal exponentials are the same node."""
    (x,) = node.parents
    result = product_of(x)
    if result is None or not result.factors or not isinstance(result.coefficient, float):
        return None
    simple = Fraction(result.coefficient)
    if simple.denominator > 8:
        return None
    return node.op(build(result._replace(coefficient=simple), x.shape))


@layout("div")
def reciprocal_root(node: Node) -> Node | None:
    """1 / sqrt(x) = rsqrt(x)."""
    number, root = node.parents
    is_reciprocal = root.op.name == "sqrt" and root.shape == node.shape
    return root.parents[0].rsqrt() if is_reciprocal and constant_value(number) == 1 else None


@normal("sign")
def sign_of_zero(node: Node) -> Node | None:
    """sign(0) = 0."""
    return OPS["zeros"](size=node.shape) if constant_value(node.parents[0]) == 0 else None


@normal("sign")
def sign_of_opposite(node: Node) -> Node | None:
    """sign(-2 * x) = -sign(x); sign(b - a) = -sign(a - b)."""
    (x,) = node.parents
    result = product_of(x)
    if result is None or result.coefficient == 0:
        return None
    reversed_differences = [f for f, e in result.factors.items() if e == int(e) and _is_reversed(f)]
    if result.coefficient == 1 and not reversed_differences:
        return None
    factors, negative = result.factors, result.coefficient < 0
    for f in reversed_differences:
        e = factors[f]
        factors = with_factors(factors, {f: -e, _reversed(f): e})
        negative ^= e % 2 == 1
    out = OPS["sign"](build(Product(ONE, factors), x.shape))
    return -out if negative else out


def _is_reversed(f: Node) -> bool:
    """Whether f is a difference b - a whose normal form is a - b."""
    return f.op.name == "sub" and signature(f.parents[0]) > signature(f.parents[1])


def _reversed(difference: Node) -> Node:
    a, b = difference.parents
    return b - a


@normal("log", "exp", "sqrt")
def function_of_a_number(node: Node) -> Node | None:
    """log(2) = 0.693..., as PyTorch's functions do not accept Python numbers."""
    x = node.parents[0]
    value = constant_value(x) if x.op.name == "constant" else None
    if value is None or not (value < LARGEST_EXPONENT if node.op.name == "exp" else value > 0):
        return None
    function = {"log": math.log, "exp": math.exp, "sqrt": math.sqrt}[node.op.name]
    return OPS["constant"](value=function(value))
