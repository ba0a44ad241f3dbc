"""Terms of a sum that combine, such as two complementary masks, or two `where` with one
condition.
"""

from collections.abc import Iterator
from itertools import combinations, permutations

from ....graphs import OPS, Node
from .factoring import added, sum_of, terms_of
from .guards import OPPOSITE, is_positive
from .identities import identities
from .products import (
    NOTHING,
    ONE,
    Product,
    build,
    common_factors,
    constant_value,
    product_of,
    unconverted,
    with_factor,
)
from .registry import CANDIDATES, NORMAL, candidate, normal

identities(NORMAL, """
    (x > y) + (x < y) = ne(x, y)
    (x > y) + eq(x, y) = ge(x, y)
    (x < y) + eq(x, y) = le(x, y)
    (x > y) - (x < y) = sign(x - y)
    (x >= y) - (x <= y) = sign(x - y)
    eq(x - y, 0) = eq(x, y)
    maximum(x, y) + minimum(x, y) = x + y
    maximum(x, y) - minimum(x, y) = abs(x - y)
""")  # fmt: skip

identities(CANDIDATES, """
    (1 + sign(x)) / 2 = (x > 0) + eq(x, 0) / 2
    (1 - sign(x)) / 2 = (x < 0) + eq(x, 0) / 2
    1 / 2 + sign(x) / 2 = (x > 0) + eq(x, 0) / 2
    1 / 2 - sign(x) / 2 = (x < 0) + eq(x, 0) / 2
""")  # fmt: skip


@candidate("add", "sub")
def where_from_complements(node: Node) -> Iterator[Node]:
    """a * (x > 0) + b * (x <= 0) = where(x > 0, a, b), with common factors outside of `where`;
    relu(x) is read as x * (x > 0).
    """
    terms = [_relu_as_mask(t) for t in terms_of(node) or []]
    for p, q in combinations(terms, 2):
        masks = [(f, k) for f in p.factors for k in q.factors if _are_complements(f, k)]
        for f, k in masks:
            shared = common_factors(p, q)
            sides = [added([p.without(f, *shared)]), added([q.without(k, *shared)])]
            chosen = OPS["where"](unconverted(f), *sides)
            combined = Product(ONE, with_factor(shared, chosen))
            yield sum_of([combined, *(t for t in terms if t is not p and t is not q)])


@candidate("add", "sub")
def complement_of_mask(node: Node) -> Iterator[Node]:
    """a - a * (x > y) = a * (x <= y)."""
    terms = terms_of(node) or []
    for p, q in permutations(terms, 2):
        for mask in q.once():
            plain = unconverted(mask)
            if plain.op.name in OPPOSITE and p.factors and -p == q.without(mask):
                other = OPS[OPPOSITE[plain.op.name]](*plain.parents)
                yield sum_of(
                    [p.times({other: 1}), *(t for t in terms if t is not p and t is not q)]
                )


def _relu_as_mask(t: Product) -> Product:
    """A term with x * (x > 0) for relu(x)."""
    relu = next((f for f, e in t.factors.items() if f.op.name == "relu" and e > 0), None)
    if relu is None:
        return t
    (x,), e = relu.parents, t.factors[relu]
    return t.times({relu: -e, x: e, is_positive(x): 1})


def _are_complements(f: Node, k: Node) -> bool:
    """Whether one of two masks is the negation of the other."""
    one, two = unconverted(f), unconverted(k)
    return OPPOSITE.get(one.op.name) == two.op.name and one.parents == two.parents


@normal("add")
def sum_of_where(node: Node) -> Node | None:
    """where(c, a, 0) + where(c, 0, b) = where(c, a, b)."""
    result = [_split_where(i) for i in node.parents]
    (p, first), (q, second) = result
    if first is None or second is None or first.parents[0] is not second.parents[0]:
        return None
    condition, a, b = first.parents
    _, c, d = second.parents
    if constant_value(b) == 0 and constant_value(c) == 0:
        chosen = (p, a), (q, d)
    elif constant_value(a) == 0 and constant_value(d) == 0:
        chosen = (q, c), (p, b)
    else:
        return None
    sides = [value * factor if factor is not None else value for factor, value in chosen]
    return OPS["where"](condition, *sides)


def _split_where(term: Node) -> tuple[Node | None, Node | None]:
    """The other factors of a term, and its only `where`; None and None if it has none."""
    if term.op.name == "where":
        return None, term
    result = product_of(term) or NOTHING
    wheres = result.once("where")
    if len(wheres) != 1:
        return None, None
    rest = result.without(wheres[0])
    shape = term.shape if any(f.shape for f in rest.factors) else ()
    return build(rest, shape), wheres[0]
