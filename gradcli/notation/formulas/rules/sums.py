"""Sums: like terms added, what all terms share taken out."""

from collections.abc import Iterable
from functools import lru_cache

from ....graphs import OPS, Node
from ....graphs.shapes import broadcast
from .products import (
    MOST,
    ONE,
    REMEMBERED,
    Coefficient,
    Product,
    added_up,
    build,
    carries_direction,
    is_mask,
    product_of,
    with_factor,
)
from .registry import rule


@lru_cache(maxsize=REMEMBERED)
def terms_of(node: Node) -> list[Product] | None:
    """The terms of a sum, like ones added, those that vanish left out."""
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
        own, key = p if sign == 1 else _minus(p), p.key
        have = result.get(key)
        result[key] = own if have is None else _together(have, own)
    return [p for p in result.values() if p.coefficient != 0]


def _together(a: Product, b: Product) -> Product:
    return a._replace(coefficient=added_up(a.coefficient, b.coefficient))


def multiple_of(x: Node, of: Node) -> Coefficient | None:
    """The number that times a node is x, as their terms tell; None where there is none."""
    a, b = ({t.key: t.coefficient for t in terms_of(n) or ()} for n in (x, of))
    if not a or a.keys() != b.keys():
        return None
    times, *more = {a[key] / b[key] for key in a}
    return None if more else times


def add_up_to_zero(x: Node, y: Node) -> bool:
    """Whether it is plain to see that x + y is 0."""
    return x.shape == y.shape and terms_of(x + y) == []


def one_way(nodes: Iterable[Node]) -> dict[Node, tuple[int, Node]]:
    """Sums that are others before them, or the negatives of those: a sign and the first of them,
    -1 and x - y for y - x.
    """
    met: list[Node] = []
    out: dict[Node, tuple[int, Node]] = {}
    for n in dict.fromkeys(n for n in nodes if n.op.name in ("add", "sub")):
        alike = ((multiple_of(n, m), m) for m in met if m.shape == n.shape)
        sign, first = next(((int(k), m) for k, m in alike if k in (1, -1)), (1, n))
        if first is n:
            met.append(n)
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
    """The single numbers, and g, that are factors of every term."""
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
