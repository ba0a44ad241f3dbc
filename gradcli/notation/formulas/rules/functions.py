"""Functions recognised by what they are made of."""

import math
from collections.abc import Sequence
from fractions import Fraction

from ....graphs import OPS, Node
from ....graphs.shapes import axes
from .atoms import definition
from .products import (
    ONE,
    Coefficient,
    Product,
    build,
    constant_value,
    magnitude,
    product_of,
    with_factor,
    with_factors,
)
from .registry import normal, other, rule
from .sums import terms_of

ROOT_HALF = math.sqrt(0.5)
LARGEST_EXPONENT = 700  # of which exp is a float


@normal("mul", "div", "pow", "neg", "square", "reciprocal")
def fractions_with_names(node: Node) -> Node | None:
    """exp(x) / exp(x).sum() = softmax(x); exp(x) / (1 + exp(x)) = sigmoid(x); sin / cos = tan."""
    found = product_of(node)
    if found is None or found.coefficient == 0:
        return None
    for step in (_softmax, _sigmoid, _quotients, _roots, _absolute):
        new = step(dict(found.factors))
        if new is not None:
            return build(Product(found.coefficient, new), node.shape)
    return None


def _softmax(factors: dict[Node, Coefficient]) -> dict[Node, Coefficient] | None:
    for total, e in factors.items():
        inner = _opened(total)
        if inner.op.name != "sum" or e >= 0:
            continue
        top = inner.parents[0]
        x = _exponent(top)
        over = axes(inner.attrs["dim"], inner.parents[0].ndim)
        if x is None or len(over) != 1 or not (inner.attrs["keepdim"] or over == (0,)):
            continue
        if factors.get(top, 0) < 1:
            continue
        dim = inner.attrs["dim"] if isinstance(inner.attrs["dim"], int) else over[0]
        return with_factors(factors, {top: -1, total: 1, x.softmax(dim=dim): 1})
    return None


def _opened(node: Node) -> Node:
    return definition(node) or node


def _exponent(node: Node) -> Node | None:
    """x of exp(x)."""
    inner = _opened(node)
    return inner.parents[0] if inner.op.name == "exp" else None


def _sigmoid(factors: dict[Node, Coefficient]) -> dict[Node, Coefficient] | None:
    for total, e in factors.items():
        x = _of_one_plus_exp(total) if e <= -1 else None
        if x is None:
            continue
        top = next((f for f, n in factors.items() if n >= 1 and _exponent(f) is x), None)
        if top is not None:
            return with_factors(factors, {top: -1, total: 1, x.sigmoid(): 1})
        return with_factors(factors, {total: 1, (-x).sigmoid(): 1})
    for slope in [f for f, e in factors.items() if f.op.name == "sigmoid" and e >= 1]:
        x = slope.parents[0]
        top = next((f for f, n in factors.items() if n >= 1 and _opposite(_exponent(f), x)), None)
        if top is not None:
            return with_factors(factors, {top: -1, slope: -1, _exponent(top).sigmoid(): 1})  # type: ignore[union-attr]
    return None


def _opposite(a: Node | None, b: Node) -> bool:
    p, q = None if a is None else product_of(a), product_of(b)
    return p is not None and q is not None and p.key == q.key and p.coefficient == -q.coefficient


def _of_one_plus_exp(node: Node) -> Node | None:
    """x of 1 + exp(x)."""
    if node.op.name != "add":
        return None
    for one, other_ in (node.parents, node.parents[::-1]):
        if constant_value(one) == 1:
            return _exponent(other_)
    return None


QUOTIENTS = {("sin", "cos"): "tan", ("sinh", "cosh"): "tanh"}


def _quotients(factors: dict[Node, Coefficient]) -> dict[Node, Coefficient] | None:
    for (above, below), name in QUOTIENTS.items():
        for top in [f for f, e in factors.items() if f.op.name == above and e >= 1]:
            under = OPS[below](*top.parents)
            if factors.get(under, 0) <= -1:
                return with_factors(factors, {top: -1, under: 1, OPS[name](*top.parents): 1})
        for under in [f for f, e in factors.items() if f.op.name == above and e <= -1]:
            top = OPS[below](*under.parents)
            if factors.get(top, 0) >= 1:
                return with_factors(factors, {top: -1, under: 1, OPS[name](*top.parents): -1})
    return None


def _roots(factors: dict[Node, Coefficient]) -> dict[Node, Coefficient] | None:
    """sqrt(x) ** 2 = x; x / sqrt(x) = sqrt(x); x ** 0.5 = sqrt(x), but for sizes."""
    for f, e in factors.items():
        if f.op.name == "sqrt":
            x = f.parents[0]
            if magnitude(e) >= 2:
                half = int(e / 2)
                return with_factors(factors, {f: -2 * half, x: half})
            if factors.get(x, 0) * e < 0:
                return with_factors(factors, {f: 2 if e < 0 else -2, x: -1 if e < 0 else 1})
        if e in (0.5, -0.5) and f.dtype == "float":
            return with_factors(factors, {f: -e, f.sqrt(): 1 if e > 0 else -1})
    return None


def _absolute(factors: dict[Node, Coefficient]) -> dict[Node, Coefficient] | None:
    """x * sign(x) = abs(x); abs(x) * sign(x) = x; sign(x) / abs(x) = 1 / x; abs(x) ** 2 = x ** 2,
    and so for even powers.
    """
    for f, e in factors.items():
        if f.op.name == "abs" and e % 2 == 0:
            return with_factors(factors, {f: -e, f.parents[0]: e})
        sign = OPS["sign"](f.parents[0]) if f.op.name == "abs" else f
        if sign is not f and magnitude(e) >= 1 and factors.get(sign) == 1:
            step = 1 if e > 0 else -1
            return with_factors(factors, {sign: -1, f: -step, f.parents[0]: step})
    for f, e in factors.items():
        if f.op.name == "sign" and e == 1 and factors.get(f.parents[0], 0) >= 1:
            return with_factors(factors, {f: -1, f.parents[0]: -1, abs_(f.parents[0]): 1})
    return None


def abs_(x: Node) -> Node:
    """|x|."""
    return OPS["abs"](x)


@normal("exp")
def exp_of_difference(node: Node) -> Node | None:
    """exp(x - logsumexp(x, dim)) = softmax(x, dim)."""
    found = node.parents[0]
    if found.op.name not in ("add", "sub"):
        return None
    terms = terms_of(found) or []
    for p in terms:
        total = _single(p, Fraction(-1))
        kept = None if total is None else _as_kept(total)
        if kept is None:
            continue
        x, dim = kept
        own = terms_of(x) if x.op.name in ("add", "sub") else [product_of(x)]
        rest = [t for t in terms if t is not p]
        if own and _said(own) == _said(rest):
            return x.softmax(dim=dim)
    return None


def _said(terms: Sequence[Product | None]) -> set:
    return {(t.key, t.coefficient) for t in terms if t is not None}


def _single(p: Product, coefficient: Fraction) -> Node | None:
    """The one factor of a term."""
    ((factor, e), *more) = p.factors.items() or [(None, 0)]
    return factor if p.coefficient == coefficient and e == 1 and not more else None


def _as_kept(node: Node) -> tuple[Node, int] | None:
    """x and dim of logsumexp(x, dim, keepdim=True), however its dimension was put back."""
    place = None
    if node.op.name == "unsqueeze":
        place, node = node.attrs["dim"] % node.ndim, node.parents[0]
    inner = _opened(node)
    if inner.op.name != "logsumexp":
        return None
    x = inner.parents[0]
    over = axes(inner.attrs["dim"], x.ndim)
    as_row = over == (0,) and place is None  # a first dimension that is missing is broadcast
    if len(over) != 1 or not (inner.attrs["keepdim"] or place == over[0] or as_row or x.ndim == 1):
        return None
    dim = inner.attrs["dim"]
    return x, dim if isinstance(dim, int) else over[0]


@normal("log")
def logarithm_of_softmax(node: Node) -> Node | None:
    """log(softmax(x, dim)) = log_softmax(x, dim)."""
    p = node.parents[0]
    return p.parents[0].log_softmax(dim=p.attrs["dim"]) if p.op.name == "softmax" else None


@rule("logsigmoid_slope")
def slope_of_logsigmoid(node: Node) -> Node | None:
    """logsigmoid_slope(x) = sigmoid(-x)."""
    return (-node.parents[0]).sigmoid()


@other("sigmoid")
def sigmoid_mirrored(node: Node) -> Node | None:
    """sigmoid(-x) = 1 - sigmoid(x)."""
    x = node.parents[0]
    return 1 - _minus(x).sigmoid() if _is_negative(x) else None


def _is_negative(x: Node) -> bool:
    found = product_of(x)
    return found is not None and found.coefficient < 0


def _minus(x: Node) -> Node:
    found = product_of(x)
    assert found is not None
    return build(found._replace(coefficient=-found.coefficient), x.shape)


@other("add", "sub")
def one_minus_sigmoid(node: Node) -> Node | None:
    """1 - sigmoid(x) = sigmoid(-x)."""
    a, b = node.parents
    if node.op.name == "sub" and constant_value(a) == 1 and b.op.name == "sigmoid":
        return (-b.parents[0]).sigmoid()
    return None


@other("add", "sub")
def sigmoid_beside_one(node: Node) -> Node | None:
    """1 - y - sigmoid(-x) = sigmoid(x) - y."""
    new: list[tuple[Product, Node | None]] = []
    for p in terms_of(node) or []:
        slopes = [f for f, e in p.factors.items() if f.op.name == "sigmoid" and e == 1]
        new.append((p, next((f for f in slopes if _is_negative(f.parents[0])), None)))
    if not any(slope for _, slope in new):
        return None
    out: Node | None = None
    for p, slope in new:
        term = build(p, node.shape)
        if slope is not None:
            rest = build(
                Product(p.coefficient, {f: e for f, e in p.factors.items() if f is not slope}),
                node.shape,
            )
            term = rest - rest * _minus(slope.parents[0]).sigmoid()
        out = term if out is None else out + term
    return out


@normal("add", "sub")
def made_up(node: Node) -> Node | None:
    """expm1(x) + 1 = exp(x); 1 - x + x is not looked for here."""
    a, b = node.parents
    if node.op.name == "add":
        for part, one in ((a, b), (b, a)):
            inner = _opened(part)
            if constant_value(one) == 1 and inner.op.name == "expm1":
                return inner.parents[0].exp()
    return None


@normal("mul")
def normal_distribution(node: Node) -> Node | None:
    """0.5 * (1 + erf(x / sqrt(2))) = ndtr(x)."""
    found = product_of(node)
    if found is None or found.coefficient == 0:
        return None
    for f, e in found.factors.items():
        x = _of_error_function(f) if e == 1 else None
        if x is not None:
            rest = {k: v for k, v in found.factors.items() if k is not f}
            factors = with_factor(rest, OPS["ndtr"](x))
            return build(Product(found.coefficient * 2, factors), node.shape)
    return None


def _of_error_function(node: Node) -> Node | None:
    """x of 1 + erf(x / sqrt(2))."""
    if node.op.name != "add":
        return None
    for one, erf in (node.parents, node.parents[::-1]):
        if constant_value(one) == 1 and erf.op.name == "erf":
            p = product_of(erf.parents[0])
            if p is not None and math.isclose(p.coefficient, ROOT_HALF, rel_tol=1e-12):
                return build(p._replace(coefficient=ONE), erf.shape)
    return None


@normal("sum")
def softmax_adds_up_to_one(node: Node) -> Node | None:
    """softmax(x, dim).sum(dim) = 1."""
    inner = _opened(node.parents[0])
    if inner.op.name != "softmax":
        return None
    over = axes(node.attrs["dim"], inner.ndim)
    if over != axes(inner.attrs["dim"], inner.ndim):
        return None
    return OPS["ones"](size=node.shape) if node.shape else OPS["constant"](value=1.0)


@normal("log", "exp", "sqrt")
def of_a_number(node: Node) -> Node | None:
    """log(2) = 0.693...: PyTorch takes no functions of Python's numbers."""
    x = node.parents[0]
    value = constant_value(x) if x.op.name == "constant" else None
    if value is None or not (value < LARGEST_EXPONENT if node.op.name == "exp" else value > 0):
        return None
    function = {"log": math.log, "exp": math.exp, "sqrt": math.sqrt}[node.op.name]
    return OPS["constant"](value=function(value))


@normal("elementwise")
def number_in_a_tensor(node: Node) -> Node | None:
    """x * tensor(2.) = x * 2; maximum(x, tensor(2.)) takes no number."""
    if not node.op.spelling:
        return None
    new = [i if i is None else _as_plain_number(i) for i in node.inputs]
    return node.op(*new, **node.attrs) if new != [*node.inputs] else None


def _as_plain_number(x: Node) -> Node:
    single = x.op.name == "tensor" and x.shape == () and x.dtype == "float"
    return OPS["constant"](value=float(x.attrs["data"].value)) if single else x


@normal("pow")
def square_root(node: Node) -> Node | None:
    """x ** 0.5 = sqrt(x), but for sizes: PyTorch has no sqrt of a Python number."""
    x, e = node.parents
    return x.sqrt() if constant_value(e) == 0.5 and x.dtype == "float" else None
