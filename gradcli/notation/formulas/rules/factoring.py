"""Sums: terms in canonical order, common factors taken out, products of sums expanded."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from ....graphs import OPS, Node
from ....graphs.shapes import broadcast
from .products import (
    CACHE_SIZE,
    MOST,
    NOTHING,
    ONE,
    SUMS,
    Coefficient,
    Product,
    add_numbers,
    build,
    carries_direction,
    constant_value,
    is_mask,
    magnitude,
    multiplied_by,
    product_of,
    with_factor,
    with_factors,
)
from .registry import candidate, rule


@lru_cache(maxsize=CACHE_SIZE)
def terms_of(node: Node) -> list[Product] | None:
    """The terms of a sum, like terms collected, without those that cancel; None for too many."""
    result: dict[frozenset, Product] = {}
    stack: list[tuple[Node, int]] = [(node, 1)]
    while stack:
        part, sign = stack.pop()
        if part.op.name in SUMS:
            a, b = part.inputs
            stack += [(b, sign if part.op.name == "add" else -sign), (a, sign)]  # type: ignore[list-item]
            continue
        p = product_of(part)
        if p is None or len(result) > MOST:
            return None
        term, key = p if sign == 1 else -p, p.key
        previous = result.get(key)
        result[key] = term if previous is None else _add_like_terms(previous, term)
    return [p for p in result.values() if p.coefficient != 0]


def terms_of_sum(node: Node) -> list[Product]:
    """The terms of a node that is a sum; [] for any other node."""
    return (terms_of(node) if node.op.name in SUMS else None) or []


def _add_like_terms(a: Product, b: Product) -> Product:
    return a._replace(coefficient=add_numbers(a.coefficient, b.coefficient))


def multiple_of(x: Node, of: Node) -> Coefficient | None:
    """The number k for which x = k * of, term by term; None if there is none."""
    a, b = ({t.key: t.coefficient for t in terms_of(n) or ()} for n in (x, of))
    if not a or a.keys() != b.keys():
        return None
    ratio, *more = {a[key] / b[key] for key in a}
    return None if more else ratio


def add_up_to_zero(x: Node, y: Node) -> bool:
    """Whether all terms of x + y cancel."""
    return x.shape == y.shape and terms_of(x + y) == []


def canonical_sums(nodes: Iterable[Node]) -> dict[Node, tuple[int, Node]]:
    """Map each sum that equals an earlier one up to its sign to this sign and the earlier sum; for
    example y - x to (-1, x - y).
    """
    seen: list[Node] = []
    out: dict[Node, tuple[int, Node]] = {}
    for n in dict.fromkeys(n for n in nodes if n.op.name in SUMS):
        multiples = ((multiple_of(n, m), m) for m in seen if m.shape == n.shape)
        sign, first = next(((int(k), m) for k, m in multiples if k in (1, -1)), (1, n))
        if first is n:
            seen.append(n)
        else:
            out[n] = sign, first
    return out


@rule("add", "sub")
def like_terms(node: Node) -> Node | None:
    """x + x = 2 * x; x - x = 0; a + (b - c) = a + b - c; x + 0 = x; -a + b = b - a."""
    terms = terms_of(node)
    if terms is None:
        return None
    if not terms:
        return OPS["zeros"](size=node.shape)
    if terms[0].coefficient < 0 and any(p.coefficient > 0 for p in terms):
        first = next(p for p in terms if p.coefficient > 0)
        terms = [first, *(p for p in terms if p is not first)]
    shared = _shared(terms)
    if shared:
        inner = [p.without(*shared) for p in terms]
        total = added(inner)
        return build(Product(ONE, with_factor(shared, total)), node.shape)
    out = added(terms)
    return out if out.shape == node.shape else out.expand(shape=node.shape)


def _shared(terms: list[Product]) -> dict[Node, Coefficient]:
    """The scalars, and upstream gradients or tangents, that are factors of every term."""
    if len(terms) < 2:
        return {}
    first = terms[0].factors
    result = {
        f: e
        for f, e in first.items()
        if (f.shape == () or carries_direction(f)) and all(p.factors.get(f) == e for p in terms)
    }
    return {} if any(is_mask(p.without(*result).factors) for p in terms) else result


def added(terms: list[Product]) -> Node:
    """The sum of terms, in the shape that they broadcast to."""
    out = _term(terms[0])
    for p in terms[1:]:
        out = out + _term(p) if p.coefficient > 0 else out - _term(-p)
    return out


def _term(p: Product) -> Node:
    shapes = [f.shape for f in p.factors]
    return build(p, broadcast(*shapes) if shapes else ())


MOST_TERMS = 6
ODD = ("sign", "sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf", "softsign")


@candidate("add", "sub")
def shared_factors(node: Node) -> Iterator[Node]:
    """a * x + b * x = (a + b) * x, for all terms or two of them; factors are taken out to their
    lowest power, also in denominators.
    """
    terms = terms_of(node)
    if terms is None or not 2 <= len(terms) <= MOST_TERMS:
        return
    terms = _without_conversions(terms)
    yield from _factored_sums(terms, node)
    if len(terms) > 2:
        for i in range(len(terms)):
            for j in range(i):
                rest = [t for k, t in enumerate(terms) if k not in (i, j)]
                for inner in _factored_sums([terms[j], terms[i]], node):
                    p = product_of(inner)
                    if p is not None:
                        yield sum_of([p, *rest])


def sum_of(terms: list[Product]) -> Node:
    """The sum of terms, starting with one of positive coefficient."""
    if terms[0].coefficient < 0:
        first = next((t for t in terms if t.coefficient > 0), terms[0])
        terms = [first, *(t for t in terms if t is not first)]
    return added(terms)


def _factored_sums(terms: list[Product], node: Node) -> Iterator[Node]:
    """Yield the sum of terms with common factors taken out."""
    powers: dict[Node, Coefficient] = {}
    for f in {f: None for t in terms for f in t.factors}:
        exponents = [t.factors.get(f, 0) for t in terms]
        if min(exponents) > 0:
            powers[f] = min(exponents)
        elif max(exponents) < 0:
            powers[f] = max(exponents)
        elif min(exponents) < 0 and f.op.name != "size":
            powers[f] = min(exponents)
    in_all = {f: e for f, e in powers.items() if e > 0 or all(f in t.factors for t in terms)}
    lowest = {f: min(t.factors.get(f, 0) for t in terms) for f in powers}
    choices = ({f: lowest[f] for f in in_all}, lowest, in_all)
    for common in [way for k, way in enumerate(choices) if way not in choices[:k]]:
        if common:
            new = _factored_sum(terms, common, node)
            if new is not None:
                yield new


def _factored_sum(terms: list[Product], common: dict[Node, Coefficient], node: Node) -> Node | None:
    inner = []
    for t in terms:
        factors = with_factors(t.factors, {f: -e for f, e in common.items()})
        inner.append(Product(t.coefficient, factors))
    if not _is_numeric_sum(inner):
        return None
    size = magnitude(inner[0].coefficient)
    if any(magnitude(t.coefficient) != size for t in inner):
        size = ONE
    total = sum_of([t._replace(coefficient=t.coefficient / size) for t in inner])
    out = build(Product(size, with_factor(common, total)), node.shape)
    return out if out.shape == node.shape else None


def _is_numeric_sum(terms: list[Product]) -> bool:
    """Whether the sum of the remaining terms is numeric. PyTorch adds two masks logically, but adds
    one mask to a floating-point tensor as numbers.
    """
    masks = [is_mask(t.factors) for t in terms]
    return not any(masks) or (sum(masks) == 1 and len(terms) == 2 and all(t.factors for t in terms))


def _without_conversions(terms: list[Product]) -> list[Product]:
    """The terms with masks in place of converted ones, if another term has the mask itself."""
    masks = {f for t in terms for f in t.factors if f.dtype == "bool"}
    plain = [
        {f.parents[0] if f.op.name == "double" and f.parents[0] in masks else f: e for f, e in own}
        for own in (t.factors.items() for t in terms)
    ]
    return [t._replace(factors=own) for t, own in zip(terms, plain, strict=True)]


@candidate("add", "sub")
def sum_as_common_factor(node: Node) -> Iterator[Node]:
    """z * (x - y) - x + y = (z - 1) * (x - y)."""
    terms = terms_of(node) or []
    numbers = {t.key: t.coefficient for t in terms}
    for t in terms if 3 <= len(terms) <= MOST_TERMS else ():
        for total in t.once(*SUMS):
            parts = {i.key: i.coefficient for i in terms_of_sum(total)}
            ratios = {numbers.get(key, 0) / number for key, number in parts.items()}
            if len(ratios) == 1 and 0 not in ratios and t.key not in parts:
                other = sum_of([t.without(total), Product(ratios.pop(), {})])
                rest = [u for u in terms if u is not t and u.key not in parts]
                yield sum_of([Product(ONE, {other: 1, total: 1}), *rest])


@candidate("add", "sub")
def common_numbers(node: Node) -> Iterator[Node]:
    """2 * a - 2 * b = 2 * (a - b); 0.5 * a - 0.5 * b; a / 2 - 1 / 2 = (a - 1) / 2."""
    terms = terms_of(node)
    if terms is None or len(terms) < 2:
        return
    for size in dict.fromkeys(magnitude(t.coefficient) for t in terms if abs(t.coefficient) != 1):
        inner = [t._replace(coefficient=t.coefficient / size) for t in terms]
        if not all(float(t.coefficient).is_integer() for t in inner):
            continue
        total = sum_of(inner)
        if total.shape == node.shape:
            yield build(Product(size, {total: 1}), node.shape)


@candidate("mul", "div")
def number_out_of_a_factor(node: Node) -> Iterator[Node]:
    """x * (2 * y - 4) = 2 * x * (y - 2)."""
    result = product_of(node) or NOTHING
    for f, e in result.factors.items():
        terms = terms_of_sum(f) if e == 1 else []
        size = min((magnitude(t.coefficient) for t in terms), default=ONE)
        inner = [t._replace(coefficient=t.coefficient / size) for t in terms if size != 1]
        if len(inner) < 2 or not all(float(t.coefficient).is_integer() for t in inner):
            continue
        total = sum_of(inner)
        if total.shape == f.shape:
            yield build(result.times({f: -e, total: e}, size), node.shape)


@candidate("mul", "div")
def number_into_sum(node: Node) -> Node | None:
    """2 * (600 * x - 200 * y + 1) = 1200 * x - 400 * y + 2, if at most one term has no number."""
    result = product_of(node) or NOTHING
    sums = [f for f, e in result.factors.items() if e == 1 and f.op.name in SUMS]
    if len(sums) != 1 or len(result.factors) > 1 or result.coefficient == 1:
        return None
    terms = terms_of_sum(sums[0])
    if not terms or sum(t.factors != {} and abs(t.coefficient) == 1 for t in terms) > 1:
        return None
    number = Product(result.coefficient, {})
    total = sum_of([multiplied_by(t, number) for t in terms])
    return total if total.shape == node.shape else None


@candidate("mul", "neg", "div", "matmul", "outer", "transpose", "sum", "mean")
def sign_into_difference(node: Node) -> Node | None:
    """-2 * (a - b) = 2 * (b - a), however deep the difference is nested, and -x / (a - b)."""
    result = product_of(node)
    if result is not None and result.coefficient < 0:
        for f, e in result.factors.items():
            new = negative(f) if abs(e) == 1 else None
            if new is not None:
                factors = with_factors(result.factors, {f: -e, new: e})
                return build(Product(-result.coefficient, factors), node.shape)
    return None


@candidate("mul", "div")
def division_into_sum(node: Node) -> Iterator[Node]:
    """(x - y) / (2 * x) = (1 - y / x) / 2, x * (1 / x + y) = 1 + x * y and 1 / (x * (1 / x + y)) =
    1 / (1 + x * y): a factor that cancels in a term of the sum is multiplied into the sum.
    """
    result = product_of(node) or NOTHING
    for f, e in result.factors.items() if len(result.factors) > 1 else ():
        for new in multiplied_into_sums(result.without(f), f, e):
            yield build(new, node.shape)


@candidate("mul", "div")
def division_into_operand(node: Node) -> Iterator[Node]:
    """A @ (x / (1 - y / s)) / s = A @ (x / (s - y)): a scalar factor is moved into the operand of a
    linear function if it cancels in a sum there.
    """
    result = product_of(node) or NOTHING
    numbers = {f: e for f, e in result.factors.items() if f.shape == ()}
    for call in result.once("matmul", "outer", "sum", "mean") if numbers else ():
        for k, operand in enumerate(call.parents):
            for f, e in numbers.items():
                for inner in multiplied_into_sums(product_of(operand) or NOTHING, f, e):
                    parts = [*call.parents]
                    parts[k] = build(inner, operand.shape)
                    new = call.op(*parts, **call.attrs)
                    yield build(result.times({f: -e, call: -1, new: 1}), node.shape)


def multiplied_into_sums(p: Product, f: Node, e: Coefficient) -> Iterator[Product]:
    """Yield f ** e * p, with f ** e multiplied into a sum in which it cancels. The sum is a factor
    or a divisor of p.
    """
    for total, k in p.factors.items():
        terms = terms_of_sum(total) if k == 1 or (k == -1 and e < 0) else []
        if any(t.factors.get(f, 0) * e * k < 0 for t in terms):
            inner = sum_of([t.times({f: e * k}) for t in terms])
            yield p.times({total: -k, inner: k})


@candidate("mul", "div", "matmul", "outer", "sum", "mean", "unsqueeze")
def sign_out_of_sum(node: Node) -> Node | None:
    """x * (-y - z) = -x * (y + z), so that the sign can move further out."""
    for k, part in enumerate(node.parents):
        terms = (terms_of(part) if part.op.name == "sub" else None) or []
        if len(terms) > 1 and all(t.coefficient < 0 for t in terms):
            total = added([-t for t in terms])
            parts = [total if j == k else p for j, p in enumerate(node.parents)]
            return -node.op(*parts, **node.attrs) if total.shape == part.shape else None
    return None


def negative(node: Node) -> Node | None:
    """-node as an expression of the same length, such as b - a for a - b and sin(b - a) for
    sin(a - b); None if there is none.
    """
    name, parts = node.op.name, node.parents
    if name == "sub":
        return parts[1] - parts[0]
    if name == "add":
        return _negative_sum(node)
    if name == "cross_along":
        return node.op(parts[1], parts[0], **node.attrs)
    if name == "neg":
        return parts[0]
    if name == "log" and parts[0].op.name == "div":
        a, b = parts[0].parents
        return node.op(b / a)
    if name in ("mul", "matmul", "outer"):
        for k, part in enumerate(parts):
            new = negative(part)
            if new is not None:
                return node.op(*(new if j == k else p for j, p in enumerate(parts)))
    if name in ("div", "transpose", "sum", "mean", "unsqueeze", *ODD) or _is_odd_clamp(node):
        new = negative(parts[0])
        return None if new is None else node.op(new, *parts[1:], **node.attrs)
    return None


def _is_odd_clamp(node: Node) -> bool:
    """Whether a node is clamp(x, -c, c)."""
    if node.op.name != "clamp":
        return False
    low, high = (None if i is None else constant_value(i) for i in node.inputs[1:])
    return low is not None and high is not None and low == -high


def _negative_sum(node: Node) -> Node | None:
    """b - a + c for a - b - c, and (b - a) / c - 1 for (a - b) / c + 1."""
    terms = terms_of(node) or []
    if len(terms) > MOST_TERMS:
        return None
    opposites = [_opposite(t) for t in terms]
    if all(new is None for new in opposites):
        return None
    total = sum_of([-t if new is None else new for t, new in zip(terms, opposites, strict=True)])
    return total if total.shape == node.shape else None


def _opposite(t: Product) -> Product | None:
    """The opposite of a term, if its formula is not longer than the term; otherwise None."""
    if t.coefficient < 0:
        return -t
    for f in t.once("sub"):
        a, b = f.parents
        return t.times({f: -1, b - a: 1})
    return None


@candidate("add", "sub")
def expand_sums(node: Node) -> Node | None:
    """2 * (x + 1) - 2 * (x - 1) = 4: products of sums are expanded, like terms collected."""
    terms = terms_of(node)
    if terms is None:
        return None
    out: list[Product] = []
    for t in terms:
        out += expand_product(t)
        if len(out) > 2 * MOST_TERMS:
            return None
    if len(out) == len(terms):
        return None
    total = sum_of(out)
    return total if total.shape == node.shape else total.expand(shape=node.shape)


def expanded_terms(node: Node) -> list[Product]:
    """The terms of a product with a sum as a factor, each multiplied by the other factors; [] if it
    has none.
    """
    result = product_of(node)
    terms = [] if result is None or result.coefficient == 0 else expand_product(result)
    return terms if len(terms) > 1 else []


def expand_product(t: Product) -> list[Product]:
    """The terms of a product, with the first sum among its factors expanded."""
    total = next(iter(t.once(*SUMS)), None)
    inner = [] if total is None else terms_of_sum(total)
    return [multiplied_by(t.without(total), p) for p in inner] or [t]


def are_opposite(x: Node, y: Node) -> bool:
    """Whether the terms of x + y cancel, with products of sums expanded."""
    if x.shape != y.shape:
        return False
    if add_up_to_zero(x, y):
        return True
    terms = [p for t in terms_of(x + y) or [] for p in expand_product(t)]
    return 0 < len(terms) <= 2 * MOST_TERMS and terms_of(sum_of(terms)) == []
