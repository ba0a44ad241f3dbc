"""Products of matrices as chains of factors.

A vector is a matrix of one column, so that `outer(u, v)`, `x @ A` and `a @ X @ b` are chains too:
u vᵀ, (Aᵀ x), aᵀ X b. Only what has one or two dimensions is looked at.
"""

from functools import lru_cache
from typing import NamedTuple

from ....graphs import OPS, Node
from .assumed import is_orthogonal, is_symmetric
from .matrices import is_unit
from .products import ONE, REMEMBERED, Product, is_mask, multiplied_by, product_of, scaled

LONGEST = 14  # factors


class Factor(NamedTuple):
    """A matrix, or a vector as a column; transposed, if it is turned."""

    node: Node
    turned: bool

    @property
    def is_column(self) -> bool:
        return self.node.ndim == 1 and not self.turned

    @property
    def is_row(self) -> bool:
        return self.node.ndim == 1 and self.turned

    def flip(self) -> "Factor":
        return factor(self.node, not self.turned)


class Chain(NamedTuple):
    """Numbers, and matrices that are multiplied in this order."""

    scale: Product
    factors: tuple[Factor, ...]

    def flip(self) -> "Chain":
        return self._replace(factors=tuple(f.flip() for f in reversed(self.factors)))


def factor(node: Node, turned: bool) -> Factor:
    """A factor; symmetric matrices are never turned."""
    return Factor(node, turned and not is_symmetric(node))


@lru_cache(maxsize=REMEMBERED)
def chain_of(node: Node) -> Chain | None:
    """A node of one or two dimensions as a chain; None where it is too long."""
    if not 1 <= node.ndim <= 2:
        return None
    scale = Product(ONE, {})
    factors: list[Factor] = []
    stack: list[tuple[Node, bool]] = [(node, False)]
    while stack:
        part, turned = stack.pop()
        if len(factors) > LONGEST:
            return None
        inner = _parts(part, turned)
        if inner is not None:
            stack.extend(reversed(inner))
            continue
        split = _without_scale(part)
        if split is None:
            factors.append(factor(part, turned))
        else:
            scale = multiplied_by(scale, split[0])
            stack.append((split[1], turned))
    return Chain(scale, tuple(factors))


def _parts(node: Node, turned: bool) -> list[tuple[Node, bool]] | None:
    """What a product is a product of, from left to right."""
    if node.op.name == "transpose" and node.ndim == 2:
        return [(node.parents[0], not turned)]
    if node.op.name == "outer":
        a, b = node.parents
        return [(b, False), (a, True)] if turned else [(a, False), (b, True)]
    if node.op.name != "matmul" or any(i.ndim > 2 for i in node.parents):
        return None
    a, b = node.parents
    if a.ndim == b.ndim == 1:
        return None
    if a.ndim == 1:  # (a @ B) is the column B.T @ a
        return [(a, True), (b, False)] if turned else [(b, True), (a, False)]
    return [(b, True), (a, True)] if turned else [(a, False), (b, False)]


def _without_scale(node: Node) -> tuple[Product, Node] | None:
    """The numbers that multiply a node, and the node."""
    if node.op.name == "expand" and node.parents[0].shape:
        split = _without_scale(node.parents[0])
        return None if split is None else (split[0], split[1].expand(shape=node.shape))
    result = product_of(node)
    if result is None or result.coefficient == 0:
        return None
    inner = [f for f, e in result.factors.items() if f.shape == node.shape and e == 1]
    rest = {f: e for f, e in result.factors.items() if f.shape == ()}
    if len(inner) != 1 or len(rest) + 1 != len(result.factors) or inner[0] is node:
        return None
    if is_mask(inner):
        return None
    return Product(result.coefficient, rest), inner[0]


def node_of(chain: Chain, shape: tuple[int, ...]) -> Node:
    """A chain as a node of this shape."""
    scale, factors = _inner_products(chain.scale, list(chain.factors))
    out = plain(factors, shape)
    if not scale.factors and scale.coefficient == 1:
        return out
    return scaled(scale, out)


def _inner_products(scale: Product, factors: list[Factor]) -> tuple[Product, list[Factor]]:
    """A row before a column is a number, which goes to the front."""
    start = None
    for k, f in enumerate(factors):
        if f.is_row:
            start = k
        elif f.is_column and start is not None and k > start:
            row, column = factors[start], _column(factors[start + 1 : k + 1])
            scale = multiplied_by(scale, Product(ONE, {row.node @ column: ONE}))
            return _inner_products(scale, factors[:start] + factors[k + 1 :])
    return scale, factors


def plain(factors: list[Factor], shape: tuple[int, ...]) -> Node:
    """Factors without numbers as a node."""
    if not factors:
        return OPS["eye"](n=shape[0])
    for k, f in enumerate(factors):
        if f.is_column and k + 1 < len(factors):
            right = [g.flip() for g in reversed(factors[k + 1 :])]
            return OPS["outer"](_column(factors[: k + 1]), _column(right))
    return _column(factors)


def _column(factors: list[Factor]) -> Node:
    """A @ B @ v."""
    out = _written(factors[0])
    for f in factors[1:]:
        out = out @ _written(f)
    return out


def _written(f: Factor) -> Node:
    return f.node.mT if f.turned and f.node.ndim == 2 else f.node


def settled(chain: Chain) -> Chain:
    """The chain without neighbours that cancel each other; X @ pinv(X) @ X is X, and what
    X @ pinv(X) is transposed.
    """
    out: list[Factor] = []
    for f in _with_projections(chain.factors):
        if is_unit(f.node):
            continue
        if (out and _inverse(out[-1], f)) or (
            len(out) > 1 and out[-2] == f and _pseudoinverse(out[-1], f)
        ):
            out.pop()
        else:
            out.append(f)
    return chain._replace(factors=tuple(out))


def _with_projections(factors: tuple[Factor, ...]) -> list[Factor]:
    """The factors, pinv(X).T @ X.T among them as X @ pinv(X), which is symmetric."""
    out: list[Factor] = []
    for f in factors:
        if out and f.turned and _pseudoinverse(out[-1], f):
            out[-1:] = [f.flip(), out[-1].flip()]
        else:
            out.append(f)
    return out


def _pseudoinverse(a: Factor, b: Factor) -> bool:
    """Whether one is the pseudoinverse of the other."""
    pairs = ((a.node, b.node), (b.node, a.node))
    return a.turned == b.turned and any(x.op.name == "pinv" and x.parents[0] is y for x, y in pairs)


def _inverse(a: Factor, b: Factor) -> bool:
    if a.turned == b.turned:
        for x, y in ((a.node, b.node), (b.node, a.node)):
            if x.op.name == "inv" and x.parents[0] is y:
                return True
    return a.node is b.node and a.turned != b.turned and is_orthogonal(a.node)


def is_square(x: Node) -> bool:
    """Whether a node is a square matrix."""
    return x.ndim == 2 and x.shape[0] == x.shape[1]
