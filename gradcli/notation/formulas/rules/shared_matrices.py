"""Sums of matrix products: a matrix, vector or batch shared by terms is factored out."""

from collections.abc import Collection, Iterator
from itertools import combinations, product
from math import prod

from ....graphs import OPS, Node
from ....graphs.shapes import axes
from .chains import (
    Chain,
    Factor,
    cancel_inverses,
    chain_of,
    factor,
    inner_chain,
    node_of,
    product_node,
)
from .factoring import MOST_TERMS, canonical_sums, sum_of, terms_of
from .products import (
    NOTHING,
    ONE,
    Coefficient,
    Product,
    build,
    common_factors,
    magnitude,
    product_of,
    scaled,
    with_factor,
)
from .registry import candidate


@candidate("add", "sub")
def shared_matrices(node: Node) -> Iterator[Node]:
    """x @ A + A @ x = (A + A.T) @ x; X.T @ a - X.T @ b = X.T @ (a - b); outer products too."""
    if not 1 <= node.ndim <= 2:
        return
    terms = terms_of(node)
    if terms is None or not 2 <= len(terms) <= MOST_TERMS:
        return
    result = [_chain_of_term(t, node) for t in terms]
    chains = _with_canonical_sums([c for c in result if c is not None])
    if len(chains) < len(result):
        return
    for at_end in (True, False):
        seen = set()
        for i, a in enumerate(chains):
            for b in chains[:i]:
                for size in range(_shared_length(a, b, at_end), 0, -1):
                    part = a.factors[-size:] if at_end else a.factors[:size]
                    if part not in seen and part[0].node.op.name != "ones":
                        seen.add(part)
                        new = _grouped(chains, part, at_end, node)
                        if new is not None:
                            yield new


def _with_canonical_sums(chains: list[Chain]) -> list[Chain]:
    """The chains with -(a - b) in place of b - a, if a - b occurs too; signs go to the scale."""
    canonical = canonical_sums(f.node for c in chains for f in c.factors)
    out = []
    for scale, factors in chains:
        ways = [canonical.get(f.node, (1, f.node)) for f in factors]
        same = tuple(f._replace(node=node) for f, (_, node) in zip(factors, ways, strict=True))
        number = prod((sign for sign, _ in ways), start=scale.coefficient)
        out.append(Chain(scale._replace(coefficient=number), same))
    return out


def _chain_of_term(t: Product, node: Node) -> Chain | None:
    chain = chain_of(build(t, node.shape))
    return None if chain is None else _with_ones(cancel_inverses(chain), node.shape)


def _with_ones(chain: Chain, shape: tuple[int, ...]) -> Chain:
    """The chain with X @ ones in place of X.sum(dim=1), or ones @ X.T in a sum of matrices."""
    if len(chain.factors) != 1 or chain.factors[0].transposed:
        return chain
    x = chain.factors[0].node
    x = x.parents[0] if x.op.name == "expand" else x
    column = x.ndim == 2 and x.shape[1] == 1
    is_reshaped = column and x.op.name in ("transpose", "unsqueeze")
    total = x.parents[0] if is_reshaped else x
    if total.op.name != "sum" or total.parents[0].ndim != 2 or total.numel == 1:
        return chain
    matrix = total.parents[0]
    (dim,) = axes(total.attrs["dim"], 2)
    count = matrix.shape[dim]
    if len(shape) == 1 or column:
        ones = OPS["ones"](size=(count, *shape[1:]))
        return chain._replace(factors=(factor(matrix, dim == 0), Factor(ones, False)))
    ones = OPS["ones"](size=(shape[0], count))
    return chain._replace(factors=(Factor(ones, False), factor(matrix, dim == 1)))


def _shared_length(a: Chain, b: Chain, at_end: bool) -> int:
    count = 0
    x, y = (a.factors[::-1], b.factors[::-1]) if at_end else (a.factors, b.factors)
    for f, g in zip(x, y, strict=False):
        if f != g:
            break
        count += 1
    return count


def _grouped(
    chains: list[Chain], part: tuple[Factor, ...], at_end: bool, node: Node
) -> Node | None:
    size = len(part)
    all_equal = all(
        c.factors == part for c in chains if part in (c.factors[-size:], c.factors[:size])
    )
    inside, outside = [], []
    for c in chains:
        end = c.factors[-size:] if at_end else c.factors[:size]
        if end == part and (all_equal or len(c.factors) > size):
            rest = c.factors[:-size] if at_end else c.factors[size:]
            inside.append(c._replace(factors=rest))
        else:
            outside.append(c)
    if len(inside) < 2:
        return None
    whole = _factored(inside, part, at_end, node)
    for c in outside if whole is not None else ():
        whole = whole + node_of(c, node.shape)
    return whole


def _factored(
    inside: list[Chain], part: tuple[Factor, ...], at_end: bool, node: Node
) -> Node | None:
    """(sum of `inside`) @ part, or part @ (sum of `inside`) if the part is not at the end; None if
    shapes differ.
    """
    if any(not c.factors for c in inside):
        if not all(not c.factors for c in inside):
            return None
        scale = sum_of([c.scale for c in inside])
        return scaled(Product(ONE, {scale: 1}), product_node(list(part), node.shape))
    number, inside = _common_number(inside)
    shape = _size(inside[0])
    if shape is None or any(_size(c) != shape for c in inside):
        return None
    column = shape[1] == 1
    row = not column and shape[0] == 1
    inner = shape[:1] if column else shape[1:] if row else shape
    first, *more = [node_of(c.flip() if row else c, inner) for c in inside]
    total = Factor(sum(more, start=first), row)
    factors = (total, *part) if at_end else (*part, total)
    return node_of(Chain(number, factors), node.shape)


def _common_number(inside: list[Chain]) -> tuple[Product, list[Chain]]:
    """The number, or at least the sign, that all chains share, and the chains without it."""
    numbers = [c.scale.coefficient for c in inside]
    first = magnitude(numbers[0])
    size = first if all(magnitude(n) == first for n in numbers) else ONE
    size = -size if all(n < 0 for n in numbers) else size
    rest = [
        c._replace(scale=c.scale._replace(coefficient=c.scale.coefficient / size)) for c in inside
    ]
    return Product(size, {}), rest


def _size(c: Chain) -> tuple[int, int] | None:
    """Rows and columns of a chain; None for an inner product, and for a matrix with one row."""
    first, last = c.factors[0], c.factors[-1]
    rows = 1 if first.is_row else first.node.shape[-1 if first.transposed else 0]
    columns = 1 if last.is_column else last.node.shape[0 if last.transposed else -1]
    if (first.is_row and last.is_column) or (rows == 1 and not first.is_row):
        return None
    return rows, columns


@candidate("add", "sub")
def shared_vectors(node: Node) -> Iterator[Node]:
    """a @ X @ u - a @ X @ v = a @ X @ (u - v), for two terms of a sum of scalars; (a * u * v).sum()
    is read as a @ (u * v) if a is an operand of a product in another term.
    """
    terms = (None if node.shape else terms_of(node)) or []
    vectors = {v for t in terms for m in t.once("matmul") for v in m.parents if v.ndim == 1}
    for t, u in combinations(terms if len(terms) <= MOST_TERMS else (), 2):
        shared = common_factors(t, u)
        pairs = product(_inner_products(t, vectors), _inner_products(u, vectors))
        for (f, a), (k, b) in pairs:
            if f in shared or k in shared:
                continue
            rest, other = t.without(f, *shared), u.without(k, *shared)
            for total in _inner_products_together(a, b, rest, other):
                together = Product(ONE, with_factor(shared, total))
                yield sum_of([together, *(v for v in terms if v is not t and v is not u)])


def _inner_products(t: Product, vectors: Collection[Node]) -> Iterator[tuple[Node, Node]]:
    """Yield factors of a term, each with an equal inner product: (x @ y, x @ y), and
    ((v * x).sum(), v @ x) for one of the `vectors` v.
    """
    yield from ((m, m) for m in t.once("matmul"))
    for total in t.once("sum"):
        (x,) = total.parents
        result = (product_of(x) if x.ndim == 1 and vectors else None) or NOTHING
        for v in [f for f in result.once() if f in vectors and f.shape == x.shape]:
            others = result.without(v)
            if others.factors:
                yield total, v @ build(others, x.shape)


def _inner_products_together(a: Node, b: Node, m: Product, n: Product) -> Iterator[Node]:
    """Yield m * a + n * b for two inner products, with a shared end of their chains taken out."""
    first, second = inner_chain(a), inner_chain(b)
    if first is None or second is None:
        return
    for c, d in product((first, first.flip()), (second, second.flip())):
        size = _shared_length(c, d, at_end=True)
        if not 0 < size < min(len(c.factors), len(d.factors)):
            continue
        shared = product_node([*c.factors[-size:]], ())
        rows = [
            k.times({node_of(way._replace(factors=way.factors[:-size]).flip(), shared.shape): 1})
            for k, way in ((m, c), (n, d))
        ]
        yield sum_of(rows) @ shared


@candidate("add", "sub")
def shared_batches(node: Node) -> Iterator[Node]:
    """A @ x + B @ x = (A + B) @ x and x @ A + x @ B = x @ (A + B), for batches of matrices."""
    terms = terms_of(node) if node.ndim > 2 else None
    result = [_matrix_product_in(t) for t in terms or ()]
    if len(result) != 2 or None in result:
        return
    (a, rest), (b, other_rest) = result  # type: ignore[misc]
    numbers = [t.coefficient for t in terms or ()]
    for k in (0, 1):
        inner = a.parents[k], b.parents[k]
        same = a.parents[1 - k] is b.parents[1 - k] and inner[0].shape == inner[1].shape
        if same and rest == other_rest:
            total = sum_of([Product(n, {m: 1}) for n, m in zip(numbers, inner)])
            product = a.parents[1 - k] @ total if k else total @ a.parents[1 - k]
            yield build(Product(ONE, with_factor(rest, product)), node.shape)


def _matrix_product_in(t: Product) -> tuple[Node, dict[Node, Coefficient]] | None:
    """The only matrix product in a term, and the other factors; None if it has none, or several."""
    result = t.once("matmul")
    if len(result) != 1:
        return None
    return result[0], t.without(result[0]).factors
