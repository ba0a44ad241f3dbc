"""Softmax: recognised from exponentials; invariance to shifts of its argument; sum of 1."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

from ....graphs import OPS, Node
from ....graphs.shapes import axes, axis
from .atoms import defined
from .factoring import added, terms_of, terms_of_sum
from .products import (
    NOTHING,
    ONE,
    SUMS,
    Product,
    build,
    number_node,
    product_of,
    with_factors,
    without_tensor,
)
from .reductions import constant_along
from .registry import normal


@normal("mul", "div")
def softmax_from_exponentials(node: Node) -> Node | None:
    """exp(x) / exp(x).sum() = softmax(x); exp(x).unsqueeze(1) / exp(x).sum() too."""
    result = product_of(node) or NOTHING
    factors = result.factors
    for total, e in factors.items():
        inner = defined(total)
        if inner.op.name != "sum" or e >= 0:
            continue
        top = inner.parents[0]
        x = _exponent(top)
        over = axes(inner.attrs["dim"], inner.parents[0].ndim)
        if x is None or len(over) != 1 or not (inner.attrs["keepdim"] or over == (0,)):
            continue
        dim = inner.attrs["dim"] if isinstance(inner.attrs["dim"], int) else over[0]
        column = top.unsqueeze(dim=1) if top.ndim == 1 else top
        above = next((f for f in (top, column) if factors.get(f, 0) >= 1), None)
        if above is None:
            continue
        softmax = x.softmax(dim=dim)
        softmax = softmax if above is top else softmax.unsqueeze(dim=1)
        new = with_factors(factors, {above: -1, total: 1, softmax: 1})
        return build(result._replace(factors=new), node.shape)
    return None


@normal("mul", "div")
def softmax_within_a_product(node: Node) -> Node | None:
    """exp(x) @ y / exp(x).sum() = softmax(x, 0) @ y for vectors, (y * exp(x)).sum() / exp(x).sum()
    too; exp(x) @ y / exp(x).sum(dim=1, keepdim=True) = softmax(x, 1) @ y for matrices.
    """
    result = product_of(node) or NOTHING
    for total, e in result.factors.items() if len(result.factors) > 1 else ():
        inner = defined(total)
        if inner.op.name != "sum" or e >= 0:
            continue
        top = inner.parents[0]
        x, is_vector = _exponent(top), top.ndim == 1
        by_rows = inner.attrs["keepdim"] and axes(inner.attrs["dim"], top.ndim) == (1,)
        if x is None or not (is_vector or (by_rows and top.ndim == 2)):
            continue
        softmax = x.softmax(dim=top.ndim - 1)
        for f in result.once("matmul", "sum") if is_vector else result.once("matmul"):
            new = _with_operand(f, top, softmax) if is_vector or f.ndim == 2 else None
            if new is not None:
                return build(result.times({f: -1, total: 1, new: 1}), node.shape)
    return None


def _with_operand(f: Node, old: Node, new: Node) -> Node | None:
    """The linear function f with `new` in place of the factor `old` of an operand; of the first
    operand only, if `old` is a matrix. None if no operand has this factor.
    """
    for k, operand in enumerate(f.parents if old.ndim == 1 else f.parents[:1]):
        inner = product_of(operand) or NOTHING
        if operand.shape == old.shape and inner.factors.get(old, 0) >= 1:
            part = build(inner.times({old: -1, new: 1}), operand.shape)
            parts = [part if j == k else p for j, p in enumerate(f.parents)]
            return f.op(*parts, **f.attrs)
    return None


def _exponent(node: Node) -> Node | None:
    """x of exp(x)."""
    inner = defined(node)
    return inner.parents[0] if inner.op.name == "exp" else None


@normal("exp")
def softmax_from_logsumexp(node: Node) -> Node | None:
    """exp(x - logsumexp(x, dim)) = softmax(x, dim)."""
    terms = terms_of_sum(node.parents[0])
    for p in terms:
        total = _only_factor(p, Fraction(-1))
        arguments = None if total is None else _logsumexp_arguments(total)
        if arguments is None:
            continue
        x, dim = arguments
        x_terms = terms_of(x) if x.op.name in SUMS else [product_of(x)]
        rest = [t for t in terms if t is not p]
        if x_terms and _key(x_terms) == _key(rest):
            return x.softmax(dim=dim)
    return None


def _key(terms: Sequence[Product | None]) -> set:
    return {(t.key, t.coefficient) for t in terms if t is not None}


def _only_factor(p: Product, coefficient: Fraction) -> Node | None:
    """The only factor of a term with this coefficient; None if it has others."""
    ((factor, e), *more) = p.factors.items() or [(None, 0)]
    return factor if p.coefficient == coefficient and e == 1 and not more else None


def _logsumexp_arguments(node: Node) -> tuple[Node, int] | None:
    """x and dim of logsumexp(x, dim), if keepdim, unsqueeze or broadcasting restores dim."""
    new_dim = None
    if node.op.name == "unsqueeze":
        new_dim, node = node.attrs["dim"] % node.ndim, node.parents[0]
    inner = defined(node)
    if inner.op.name != "logsumexp":
        return None
    x = inner.parents[0]
    over = axes(inner.attrs["dim"], x.ndim)
    broadcasts = over == (0,) and new_dim is None  # a first dimension that is missing
    restored = inner.attrs["keepdim"] or (new_dim,) == over or broadcasts or x.ndim == 1
    if len(over) != 1 or not restored:
        return None
    dim = inner.attrs["dim"]
    return x, dim if isinstance(dim, int) else over[0]


@normal("sum")
def sum_of_softmax(node: Node) -> Node | None:
    """softmax(x, dim).sum(dim) = 1."""
    inner = defined(node.parents[0])
    if inner.op.name != "softmax":
        return None
    over = axes(node.attrs["dim"], inner.ndim)
    if over != axes(inner.attrs["dim"], inner.ndim):
        return None
    return OPS["ones"](size=node.shape) if node.shape else OPS["constant"](value=1.0)


@normal("elementwise")
def scalar_tensor_as_number(node: Node) -> Node | None:
    """x * tensor(2.) = x * 2, for operators with a symbol; torch.maximum(x, 2) is not valid."""
    if not node.op.spelling:
        return None
    new = [i if i is None else without_tensor(i) for i in node.inputs]
    return node.op(*new, **node.attrs) if new != [*node.inputs] else None


@normal("softmax", "log_softmax")
def softmax_of_a_shift(node: Node) -> Node | None:
    """softmax(x - x.max(), 0) = softmax(x, 0): terms that are constant along the dimension cancel.
    A term log_softmax(x, 0) is x minus such a constant, so it becomes x.
    """
    x, over = node.parents[0], axes(node.attrs["dim"], node.ndim)
    terms = terms_of_sum(x)
    for t in terms:
        for f in t.once("log_softmax"):
            if len(t.factors) == 1 and t.coefficient == 1 and axes(f.attrs["dim"], f.ndim) == over:
                shifted = added([Product(ONE, {f.parents[0]: 1}) if t is u else u for u in terms])
                return node.op(shifted, **node.attrs) if shifted.shape == x.shape else None
    varying = [t for t in terms if not all(constant_along(f, x, over) for f in t.factors)]
    if not varying or len(varying) == len(terms):
        return None
    rest = added(varying)
    return node.op(rest, **node.attrs) if rest.shape == x.shape else None


@normal("softmax", "log_softmax")
def softmax_of_a_transpose(node: Node) -> Node | None:
    """softmax(x.mT, dim=1) = softmax(x, dim=2).mT."""
    x = node.parents[0]
    if x.op.name != "transpose":
        return None
    swapped = [axis(d, x.ndim) for d in x.attrs.values()]
    dim = axis(node.attrs["dim"], x.ndim)
    new = swapped[1 - swapped.index(dim)] if dim in swapped else dim
    return x.op(node.op(x.parents[0], **node.attrs | {"dim": new}), **x.attrs)


@normal("sum")
def shift_times_softmax(node: Node) -> Node | None:
    """(softmax(x, 1) * (y + 1)).sum(dim=1) = (softmax(x, 1) * y).sum(dim=1) + 1."""
    x = node.parents[0]
    result = product_of(x)
    over = axes(node.attrs["dim"], x.ndim)
    if result is None or result.coefficient == 0 or sorted(result.factors.values()) != [1, 1]:
        return None
    softmaxes = [f for f in result.factors if f.shape == x.shape and _sums_to_one(f, over)]
    shifted = next((f for f in result.factors if f not in softmaxes), None)
    terms = terms_of_sum(shifted) if shifted is not None else []
    others = [t for t in terms if t.factors]
    numbers = [t for t in terms if not t.factors]
    if not others or not numbers or not softmaxes:
        return None
    shift = number_node(numbers[0].coefficient)
    total = node.op(softmaxes[0] * added(others), **node.attrs) + shift
    return build(Product(result.coefficient, {total: 1}), node.shape)


def _sums_to_one(f: Node, over: tuple[int, ...]) -> bool:
    """Whether the sum of a factor over these dimensions is 1."""
    inner = defined(f)
    if inner.op.name == "softmax":
        return f.numel > 0 and axes(inner.attrs["dim"], f.ndim) == over
    if inner.op.name != "div":
        return False
    x, total = inner.parents
    return _is_total(x, defined(total), over)


def _is_total(x: Node, total: Node, over: tuple[int, ...]) -> bool:
    """Whether x / total is x / x.sum() over these dimensions."""
    if total.op.name != "sum" or total.parents[0] is not x:
        return False
    return axes(total.attrs["dim"], x.ndim) == over and (total.attrs["keepdim"] or not total.shape)


@normal("matmul")
def shift_times_weights(node: Node) -> Node | None:
    """p @ (y + 1) = p @ y + 1 for p = softmax(x, 0) and for p = x / x.sum()."""
    for p, x in permutations(node.parents) if not node.shape else ():
        terms = terms_of_sum(x) if _sums_to_one(p, (0,)) else []
        others = [t for t in terms if t.factors]
        if others and len(others) < len(terms):
            (number,) = (t.coefficient for t in terms if not t.factors)
            return p @ added(others) + number_node(number)
    return None
