"""Products of matrices as chains of factors.

A vector is a matrix of one column, so that `outer(u, v)`, `x @ A` and `a @ X @ b` are chains too:
u vᵀ, Aᵀ x and aᵀ X b. Nodes must have one or two dimensions.
"""

from functools import lru_cache
from typing import NamedTuple

from ....graphs import OPS, Node
from .assumed import is_orthogonal, is_symmetric
from .matrices import is_unit
from .products import (
    CACHE_SIZE,
    ONE,
    Product,
    is_mask,
    is_scalar,
    multiplied_by,
    product_of,
    scaled,
)

LONGEST = 14  # most factors


class Factor(NamedTuple):
    """A matrix, or a vector as a column, and whether it is transposed."""

    node: Node
    transposed: bool

    @property
    def is_column(self) -> bool:
        return self.node.ndim == 1 and not self.transposed

    @property
    def is_row(self) -> bool:
        return self.node.ndim == 1 and self.transposed

    def flip(self) -> "Factor":
        return factor(self.node, not self.transposed)


class Chain(NamedTuple):
    """A product of scalars, `scale`, times matrices in this order."""

    scale: Product
    factors: tuple[Factor, ...]

    def flip(self) -> "Chain":
        return self._replace(factors=tuple(f.flip() for f in reversed(self.factors)))


def factor(node: Node, transposed: bool) -> Factor:
    """A node as a factor; a symmetric matrix is never marked as transposed."""
    return Factor(node, transposed and not is_symmetric(node))


@lru_cache(maxsize=CACHE_SIZE)
def chain_of(node: Node) -> Chain | None:
    """A node of one or two dimensions as a chain; None if it is too long, or has another rank."""
    if not 1 <= node.ndim <= 2:
        return None
    scale = Product(ONE, {})
    factors: list[Factor] = []
    stack: list[tuple[Node, bool]] = [(node, False)]
    while stack:
        part, transposed = stack.pop()
        if len(factors) > LONGEST:
            return None
        inner = _parts(part, transposed)
        if inner is not None:
            stack.extend(reversed(inner))
            continue
        split = _without_scale(part)
        if split is None:
            factors.append(factor(part, transposed))
        else:
            scale = multiplied_by(scale, split[0])
            stack.append((split[1], transposed))
    return Chain(scale, tuple(factors))


def inner_chain(node: Node) -> Chain | None:
    """x @ A @ y as a chain from a row to a column; None for any other node."""
    if node.op.name != "matmul" or node.shape:
        return None
    left, right = map(chain_of, node.parents)
    if left is None or right is None:
        return None
    factors = (*left.flip().factors, *right.factors)
    return Chain(multiplied_by(left.scale, right.scale), factors)


def _parts(node: Node, transposed: bool) -> list[tuple[Node, bool]] | None:
    """The operands of a product, and whether each is transposed; None for other nodes."""
    if node.op.name == "transpose" and node.ndim == 2:
        return [(node.parents[0], not transposed)]
    if node.op.name == "outer":
        a, b = node.parents
        return [(b, False), (a, True)] if transposed else [(a, False), (b, True)]
    if node.op.name != "matmul" or any(i.ndim > 2 for i in node.parents):
        return None
    a, b = node.parents
    if a.ndim == b.ndim == 1:
        return None
    if a.ndim == 1:  # (a @ B) is the column B.T @ a
        return [(a, True), (b, False)] if transposed else [(b, True), (a, False)]
    return [(b, True), (a, True)] if transposed else [(a, False), (b, False)]


def _without_scale(node: Node) -> tuple[Product, Node] | None:
    """The scalar factors of a node, and the only other factor; None if there are several others."""
    if node.op.name == "expand" and node.parents[0].shape:
        split = _without_scale(node.parents[0])
        return None if split is None else (split[0], split[1].expand(shape=node.shape))
    result = product_of(node)
    if result is None or result.coefficient == 0:
        return None
    scale, others = result.split(is_scalar)
    inner = others.once()
    if len(inner) != 1 or len(others.factors) != 1 or inner[0] is node or is_mask(inner):
        return None
    return (scale, inner[0]) if inner[0].shape == node.shape else None


def node_of(chain: Chain, shape: tuple[int, ...]) -> Node:
    """A chain as a node of this shape."""
    scale, factors = _inner_products(chain.scale, list(chain.factors))
    out = product_node(factors, shape)
    if not scale.factors and scale.coefficient == 1:
        return out
    return scaled(scale, out)


def _inner_products(scale: Product, factors: list[Factor]) -> tuple[Product, list[Factor]]:
    """Move inner products, a row followed by a column, to the scale."""
    start = None
    for k, f in enumerate(factors):
        if f.is_row:
            start = k
        elif f.is_column and start is not None and k > start:
            row, column = factors[start], _matmul_all(factors[start + 1 : k + 1])
            scale = scale.times({row.node @ column: ONE})
            return _inner_products(scale, factors[:start] + factors[k + 1 :])
    return scale, factors


def product_node(factors: list[Factor], shape: tuple[int, ...]) -> Node:
    """The product of factors as a node of this shape."""
    if not factors:
        return OPS["eye"](n=shape[0])
    for k, f in enumerate(factors):
        if f.is_column and k + 1 < len(factors):
            right = [g.flip() for g in reversed(factors[k + 1 :])]
            return OPS["outer"](_matmul_all(factors[: k + 1]), _matmul_all(right))
    return _matmul_all(factors)


def _matmul_all(factors: list[Factor]) -> Node:
    """A @ B @ v."""
    out = factor_node(factors[0])
    for f in factors[1:]:
        out = out @ factor_node(f)
    return out


def factor_node(f: Factor) -> Node:
    """A factor as a node; a vector becomes one-dimensional."""
    return f.node.mT if f.transposed and f.node.ndim == 2 else f.node


def cancel_inverses(chain: Chain) -> Chain:
    """The chain without identities and pairs of inverses; X @ pinv(X) @ X becomes X."""
    out: list[Factor] = []
    for f in _with_projections(chain.factors):
        if is_unit(f.node):
            continue
        if (out and _are_inverses(out[-1], f)) or (
            len(out) > 1 and out[-2] == f and _are_pseudoinverses(out[-1], f)
        ):
            out.pop()
        else:
            out.append(f)
    return chain._replace(factors=tuple(out))


def _with_projections(factors: tuple[Factor, ...]) -> list[Factor]:
    """The factors, with X @ pinv(X), which is symmetric, in place of pinv(X).T @ X.T."""
    out: list[Factor] = []
    for f in factors:
        if out and f.transposed and _are_pseudoinverses(out[-1], f):
            out[-1:] = [f.flip(), out[-1].flip()]
        else:
            out.append(f)
    return out


def _are_pseudoinverses(a: Factor, b: Factor) -> bool:
    """Whether one is the pseudoinverse of the other."""
    pairs = ((a.node, b.node), (b.node, a.node))
    return a.transposed == b.transposed and any(
        x.op.name == "pinv" and x.parents[0] is y for x, y in pairs
    )


def _are_inverses(a: Factor, b: Factor) -> bool:
    if a.transposed == b.transposed:
        for x, y in ((a.node, b.node), (b.node, a.node)):
            if x.op.name == "inv" and x.parents[0] is y:
                return True
    return a.node is b.node and a.transposed != b.transposed and is_orthogonal(a.node)


def is_square(x: Node) -> bool:
    """Whether a node is a square matrix."""
    return x.ndim == 2 and x.shape[0] == x.shape[1]
