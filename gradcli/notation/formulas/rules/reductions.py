"""Reductions: factors that are constant along the reduced dimensions are moved out of sums."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, permutations, product

from ....graphs import OPS, Node
from ....graphs.shapes import axes, axis, numel
from ....graphs.signature import signature
from .assumed import parity
from .atoms import defined
from .broadcasting import unbroadcast
from .factoring import added, expanded_terms, terms_of
from .identities import identities
from .matrices import is_unit
from .powers import common_exponent
from .products import (
    CACHE_SIZE,
    NOTHING,
    ONE,
    SUMS,
    Product,
    build,
    common_factors,
    common_powers,
    constant_value,
    is_mask,
    product_of,
    with_factor,
    with_factors,
)
from .registry import NORMAL, candidate, normal

MAX_DEPTH = 20  # of nested operations
MOST_SUMS = 4  # terms of a sum that are compared pairwise


def constant_along(f: Node, x: Node, over: tuple[int, ...]) -> bool:
    """Whether a factor of x is constant along the dimensions `over` of x."""
    lead = x.ndim - f.ndim
    return all(d < lead or f.shape[d - lead] == 1 for d in over)


identities(NORMAL, """
    sum(A.mT, dim=d) = sum(A, dim=1 - d) where d in (0, 1)
    sum(A.mT, dim=d, keepdim=True) = sum(A, dim=1 - d, keepdim=True).mT where d in (0, 1)
    mean(A.mT, dim=d) = mean(A, dim=1 - d) where d in (0, 1)
    mean(A.mT, dim=d, keepdim=True) = mean(A, dim=1 - d, keepdim=True).mT where d in (0, 1)
""")  # fmt: skip


@normal("sum", "mean")
def constants_out_of_sums(node: Node) -> Node | None:
    """(x * s).sum(-1, keepdim=True) = s * x.sum(-1, keepdim=True) for an s that has one column."""
    x = node.parents[0]
    result = product_of(x)
    if result is None or len(result.factors) < 2 or result.coefficient == 0:
        return None
    outer, inner = result.split(lambda f: _may_leave(f, node))
    if not outer.factors or not inner.factors:
        return None
    inner_product = build(inner, x.shape)
    if is_mask(inner.factors):
        inner_product = inner_product.double()
    reduced = node.op(inner_product, **node.attrs)
    return build(outer.times({reduced: 1}), node.shape)


def _may_leave(f: Node, total: Node) -> bool:
    """Whether a factor may be moved out of a reduction. It must be constant along the reduced
    dimensions; without keepdim, all its dimensions must come after them.
    """
    x, keepdim = total.parents[0], total.attrs["keepdim"]
    over = axes(total.attrs["dim"], x.ndim)
    return constant_along(f, x, over) and (keepdim or f.ndim < x.ndim - max(over, default=-1))


@normal("mul", "div")
def sum_divided_by_count(node: Node) -> Node | None:
    """x.sum(dim=1) / x.shape[1] = x.mean(dim=1); x.mean() * x.numel() = x.sum();
    outer(A.sum(dim=0), v) / A.shape[0] = outer(A.mean(dim=0), v).
    """
    result = product_of(node) or NOTHING
    for count, e in result.factors.items():
        if count.op.name != "size" or abs(e) != 1:
            continue
        for f in result.once():
            new = _mean_for_sum(f, count) if e == -1 else _with_count(f, count)
            if new is not None:
                return build(result.without(f, count).times({new: 1}), node.shape)
    return None


def _mean_for_sum(f: Node, count: Node) -> Node | None:
    """f / count for a sum, or an outer product of one."""
    if f.op.name == "sum" and _is_count_of(count, f):
        return OPS["mean"](*f.inputs, **f.attrs)
    if f.op.name != "outer":
        return None
    u, v = f.parents
    mean_u, mean_v = _mean_for_sum(u, count), _mean_for_sum(v, count)
    if mean_u is not None:
        return f.op(mean_u, v)
    return None if mean_v is None else f.op(u, mean_v)


def _with_count(f: Node, count: Node) -> Node | None:
    """f * count for a mean."""
    is_mean = f.op.name == "mean" and _is_count_of(count, f)
    return OPS["sum"](*f.inputs, **f.attrs) if is_mean else None


def _is_count_of(count: Node, f: Node) -> bool:
    """Whether a node is the size over which f reduces."""
    x, sized = f.parents[0], count.parents[0]
    over = axes(f.attrs["dim"], x.ndim)
    size_dims = axes(count.attrs["dim"] or None, sized.ndim)
    if f.attrs["dim"] is None and len(size_dims) == sized.ndim:
        return numel(sized.shape) == numel(x.shape)
    return sorted(sized.shape[d] for d in size_dims) == sorted(x.shape[d] for d in over)


@normal("sum", "mean")
def factors_sorted(node: Node) -> Node | None:
    """(b * a).sum() = (a * b).sum(), so that equal sums are the same node."""
    x = node.parents[0]
    result = product_of(x) if x.op.name == "mul" else None
    if result is None or result.coefficient == 0:
        return None
    factors = dict(sorted(result.factors.items(), key=lambda item: signature(item[0])))
    body = build(Product(result.coefficient, factors), x.shape)
    return None if body is x else node.op(body, **node.attrs)


@candidate("mul", "div")
def merged_unsqueeze(node: Node) -> Node | None:
    """a.unsqueeze(1) / b.unsqueeze(1) = (a / b).unsqueeze(1)."""
    result = product_of(node) or NOTHING
    thin = [f for f in result.factors if f.op.name == "unsqueeze"]
    same = [f for f in thin if f.shape == thin[0].shape and f.attrs == thin[0].attrs]
    if len(same) < 2:
        return None
    product = Product(ONE, {f.parents[0]: result.factors[f] for f in same})
    inner = build(product, same[0].parents[0].shape)
    factors = with_factors({same[0].op(inner, **same[0].attrs): 1}, result.without(*same).factors)
    return build(result._replace(factors=factors), node.shape)


@candidate("sum")
def move_factor_into_product(node: Node) -> Iterator[Node]:
    """(a * (b @ C)).sum(dim=1) = (b * (a @ C.T)).sum(dim=1)."""
    x = node.parents[0]
    result = product_of(x) if x.ndim > 1 and x.op.name == "mul" else None
    if (
        result is None
        or len(result.factors) != 2
        or axes(node.attrs["dim"], x.ndim) != (x.ndim - 1,)
    ):
        return
    for (a, e), (m, k) in permutations(result.factors.items()):
        if e == k == 1 and m.op.name == "matmul" and a.shape == m.shape == x.shape:
            b, c = m.parents
            if b.ndim == c.ndim == x.ndim:
                body = build(Product(result.coefficient, {b: ONE, a @ c.mT: ONE}), b.shape)
                yield node.op(body, **node.attrs)


@normal("sum", "mean")
def sum_of_centred(node: Node) -> Node | None:
    """(x - x.mean(0)).sum(0) = 0; likewise for linear functions of x - x.mean(0), such as
    (x - x.mean(0)) / s and (x - x.mean(0)) @ A.
    """
    x = node.parents[0]
    if not _is_centred(x, axes(node.attrs["dim"], x.ndim)):
        return None
    return OPS["zeros"](size=node.shape) if node.shape else OPS["constant"](value=0.0)


@lru_cache(maxsize=CACHE_SIZE)
def _is_centred(named: Node, over: tuple[int, ...], depth: int = MAX_DEPTH) -> bool:
    """Whether the sums over the dimensions `over` are known to be 0."""
    x = defined(named)
    if depth == 0:
        return False
    if x.op.name == "matmul" and over in ((0,), (1,)):
        (along,) = over
        are_matrices = all(i.ndim == 2 for i in x.parents)
        return are_matrices and _is_centred(x.parents[along], over, depth - 1)
    if x.op.name in SUMS:
        minuend, subtrahend = x.parents
        if x.op.name == "sub" and minuend.shape == x.shape and _is_mean(minuend, subtrahend, over):
            return True
        return all(i.shape == x.shape and _is_centred(i, over, depth - 1) for i in x.parents)
    result = (product_of(x) if x.op.name in ("mul", "div", "neg") else None) or NOTHING
    varying = [f for f in result.factors if not constant_along(f, x, over)]
    if len(varying) != 1 or varying[0] is x or result.factors[varying[0]] != 1:
        return False
    return varying[0].shape == x.shape and _is_centred(varying[0], over, depth - 1)


def _is_mean(whole: Node, middle: Node, over: tuple[int, ...]) -> bool:
    """Whether `middle` is the mean of `whole` over the dimensions `over`, and broadcasts to it."""
    middle = middle.parents[0] if middle.op.name == "expand" else middle
    unsqueezed = middle.op.name == "unsqueeze" and (axis(middle.attrs["dim"], middle.ndim),) == over
    middle = middle.parents[0] if unsqueezed else middle
    mean = defined(middle)
    if mean.op.name != "mean" or mean.parents[0] is not whole:
        return False
    broadcasts = unsqueezed or mean.attrs["keepdim"] or over == tuple(range(len(over)))
    return broadcasts and axes(mean.attrs["dim"], whole.ndim) == over


@candidate("sum", "mean")
def sum_of_sums(node: Node) -> Iterator[Node]:
    """(x + y).sum() = x.sum() + y.sum(); (a * (x + y)).sum() = (a * x).sum() + (a * y).sum()."""
    x = node.parents[0]
    terms = expanded_terms(x)
    if not 2 <= len(terms) <= 6:
        return
    out: Node | None = None
    for t in terms:
        part = node.op(build(t, x.shape), **node.attrs)
        out = part if out is None else out + part
    if out is not None:
        yield out


@candidate("add", "sub")
def merged_sums(node: Node) -> Iterator[Node]:
    """a * x.sum(dim=0) + b * y.sum(dim=0) = (a * x + b * y).sum(dim=0); common factors of the two
    terms remain outside of the sum.
    """
    terms = terms_of(node) or []
    for p, q in combinations(terms[:MOST_SUMS], 2):
        for f, k in product(p.once("sum", "mean"), q.once("sum", "mean")):
            if _same_reduction(f, k):
                yield from _in_one_sum(terms, p, q, f, k, k.parents[0])


@candidate("add", "sub")
def multiple_of_count_into_sum(node: Node) -> Iterator[Node]:
    """x.sum(dim=0) + x.shape[0] * a = (x + a).sum(dim=0), and u @ v + n * a = (u * v + a).sum();
    common factors of the two terms remain outside of the sum.
    """
    terms = terms_of(node) or []
    for p, q in permutations(terms[:MOST_SUMS], 2):
        for f, total in _sums_in(p):
            for count in (k for k in q.once("size") if _is_count_of(k, total)):
                summed = p.without(f).times({total: 1})
                others = [summed if t is p else t for t in terms]
                yield from _in_one_sum(others, summed, q, total, count, None)


def _sums_in(p: Product) -> Iterator[tuple[Node, Node]]:
    """The factors of a product that are sums, also u @ u and norm(u) ** 2, and each as a sum."""
    for f, e in p.factors.items():
        u = f.parents[0] if f.inputs else f
        is_square = f.op.name == "vector_norm" and not f.shape and f.attrs["ord"] == e == 2
        if f.op.name == "sum" and e == 1:
            yield f, f
        elif is_square or (f.op.name == "matmul" and e == 1 and u.ndim == 1 and u is f.parents[1]):
            yield f, (u**2).sum()


def _in_one_sum(
    terms: Sequence[Product], p: Product, q: Product, f: Node, k: Node, y: Node | None
) -> Iterator[Node]:
    """Yield the sum of `terms`, with the two terms p and q as one reduction. p is a multiple of the
    reduction f, and q a multiple of k: a reduction of y, or, if y is None, the number of elements
    that f reduces.
    """
    rest, other_rest = p.times({f: -1}), q.times({k: -1})
    of_powers = f.parents[0].op.name == "pow"  # (x / s) ** 2 may need a power of s from outside
    shared = (common_powers if of_powers else common_factors)(rest, other_rest)
    inverse = {h: -e for h, e in shared.items()}
    negative = other_rest.coefficient < 0
    first = _moved_into_sum(rest.times(inverse), f, f.parents[0])
    second = _moved_into_sum((-other_rest if negative else other_rest).times(inverse), f, y)
    if first is not None and second is not None:
        body = first - second if negative else first + second
        if body.shape != f.parents[0].shape:
            body = body.expand(shape=f.parents[0].shape)
        combined = Product(ONE, with_factor(shared, f.op(body, **f.attrs)))
        yield added([combined, *(t for t in terms if t is not p and t is not q)])


def _same_reduction(f: Node, k: Node) -> bool:
    """Whether two different reductions are over the same dimensions of the same shape."""
    same = f.op is k.op and f.attrs == k.attrs
    return same and f is not k and f.parents[0].shape == k.parents[0].shape


def _moved_into_sum(p: Product, total: Node, x: Node | None) -> Node | None:
    """p times x, to be added up by the reduction `total`; None if p varies along the reduced
    dimensions. x ** 2 / s ** 2 is written (x / s) ** 2.
    """
    if not all(_may_leave(h, total) for h in p.factors):
        return None
    result = added([p if x is None else p.times({x: 1})])
    return next(common_exponent(result), result)


@normal("mul")
def diag_from_eye(node: Node) -> Node | None:
    """x.unsqueeze(1) * eye(n) = diag(x)."""
    result = product_of(node) or NOTHING
    units = [f for f in result.factors if is_unit(f)]
    others = [f for f in result.factors if f.shape and f not in units]
    if node.ndim != 2 or len(units) != 1 or [result.factors[f] for f in others] != [1]:
        return None
    vector = others[0].parents[0] if others[0].op.name == "unsqueeze" else others[0]
    if vector.ndim != 1 or vector.shape != node.shape[:1]:
        return None
    return build(result.without(*units, *others).times({OPS["diag"](vector): 1}), node.shape)


@normal("diagonal_scatter")
def diag_from_scatter(node: Node) -> Node | None:
    """zeros.diagonal_scatter(x) = diag(x); with ones, eye(n)."""
    base, x = node.parents
    if base.op.name != "zeros" or base.ndim != 2 or base.shape[0] != base.shape[1] or x.ndim != 1:
        return None
    if x.shape[0] != base.shape[0]:
        return None
    return OPS["eye"](n=base.shape[0]) if constant_value(x) == 1 else OPS["diag"](x)


@normal("expand")
def expand_of_keepdim(node: Node) -> Node | None:
    """x.sum(dim=0, keepdim=True).expand(3, 2) = x.sum(dim=0).expand(3, 2)."""
    (x,) = node.parents
    smaller = unbroadcast(x)
    if smaller is None or smaller.op.name == "constant":
        return None
    return node.op(smaller, **node.attrs)


@normal("sum")
def sum_of_all_elements(node: Node) -> Node | None:
    """x.reshape(1, -1).sum(dim=1, keepdim=True) = x.sum().expand(1, 1)."""
    x = node.parents[0]
    if x.op.name != "reshape" or node.numel != 1:
        return None
    return x.parents[0].sum().expand(shape=node.shape) if node.shape else x.parents[0].sum()


@normal("sum", "mean")
def sum_over_other_dimension(node: Node) -> Node | None:
    """A.sum(0) = A.sum(1) for a symmetric A; (x[:, None] - x).sum(0) = -(x[:, None] - x).sum(1)."""
    x, dim = node.parents[0], node.attrs["dim"]
    if x.ndim < 2 or node.attrs["keepdim"] or dim is None or axes(dim, x.ndim) != (0,):
        return None
    sign = parity(x)
    reduced = node.op(x, dim=1) if sign else None
    return -reduced if reduced is not None and sign < 0 else reduced
