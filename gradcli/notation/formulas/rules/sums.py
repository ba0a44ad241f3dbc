"""Sums as lists of terms: like terms are collected, common factors are taken out."""

from collections.abc import Iterable
from functools import lru_cache

from ....graphs import OPS, Node
from ....graphs.shapes import broadcast
from .products import (
    CACHE_SIZE,
    MOST,
    ONE,
    Coefficient,
    Product,
    add_numbers,
    build,
    carries_direction,
    is_mask,
    product_of,
    with_factor,
)
from .registry import rule


@lru_cache(maxsize=CACHE_SIZE)
def terms_of(node: Node) -> list[Product] | None:
    """The terms of a sum, like terms collected, without those that cancel; None for too many."""
    result: dict[frozenset, Product] = {}
    stack: list[tuple[Node, int]] = [(node, 1)]
    while stack:
        part, sign = stack.pop()
        if part.op.name in ("add", "sub"):
            a, b = part.inputs
            stack += [(b, sign if part.op.name == "add" else -sign), (a, sign)]  # type: ignore[list-item]
            continue
        p = product_of(part)
        if p is None or len(result) > MOST:
            return None
        term, key = p if sign == 1 else _minus(p), p.key
        previous = result.get(key)
        result[key] = term if previous is None else _add_like_terms(previous, term)
    return [p for p in result.values() if p.coefficient != 0]


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
    """Map each sum that equals an earlier one up to its sign to that sign and the earlier sum, as
    y - x to -1 and x - y.
    """
    seen: list[Node] = []
    out: dict[Node, tuple[int, Node]] = {}
    for n in dict.fromkeys(n for n in nodes if n.op.name in ("add", "sub")):
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
        inner = [Product(p.coefficient, _without(p, shared)) for p in terms]
        total = added(inner)
        return build(Product(ONE, with_factor(shared, total)), node.shape)
    out = added(terms)
    return out if out.shape == node.shape else out.expand(shape=node.shape)


def _shared(terms: list[Product]) -> dict[Node, Coefficient]:
    """The scalars, and seeds or tangents, that are factors of every term."""
    if len(terms) < 2:
        return {}
    first = terms[0].factors
    result = {
        f: e
        for f, e in first.items()
        if (f.shape == () or carries_direction(f)) and all(p.factors.get(f) == e for p in terms)
    }
    return {} if any(is_mask(_without(p, result)) for p in terms) else result


def _without(p: Product, shared: dict[Node, Coefficient]) -> dict[Node, Coefficient]:
    return {f: e for f, e in p.factors.items() if f not in shared}


def added(terms: list[Product]) -> Node:
    """The sum of terms, in the shape that they broadcast to."""
    out = _term(terms[0])
    for p in terms[1:]:
        out = out + _term(p) if p.coefficient > 0 else out - _term(_minus(p))
    return out


def _minus(p: Product) -> Product:
    return p._replace(coefficient=-p.coefficient)


def _term(p: Product) -> Node:
    shapes = [f.shape for f in p.factors]
    return build(p, broadcast(*shapes) if shapes else ())
