"""Products of matrices as chains of factors.

A vector is a matrix of one column, so that `outer(u, v)`, `x @ A` and `a @ X @ b` are chains too:
u vᵀ, (Aᵀ x), aᵀ X b. Only what has one or two dimensions is looked at.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from ...graphs import OPS, Node
from .assumed import is_orthogonal, is_symmetric
from .matrices import _is_unit, _last_two
from .products import ONE, REMEMBERED, Product, is_mask, product_of, scaled
from .registry import layout, normal, other

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
    scale, factors = Product(ONE, {}), []
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
            scale = _times(scale, split[0])
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
    found = product_of(node)
    if found is None or found.coefficient == 0:
        return None
    inner = [f for f, e in found.factors.items() if f.shape == node.shape and e == 1]
    rest = {f: e for f, e in found.factors.items() if f.shape == ()}
    if len(inner) != 1 or len(rest) + 1 != len(found.factors) or inner[0] is node:
        return None
    if is_mask(inner):
        return None
    return Product(found.coefficient, rest), inner[0]


def _times(a: Product, b: Product) -> Product:
    factors = dict(a.factors)
    for f, e in b.factors.items():
        factors[f] = factors.get(f, Fraction(0)) + e
    return Product(a.coefficient * b.coefficient, {f: e for f, e in factors.items() if e})


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
            scale = _times(scale, Product(ONE, {row.node @ column: ONE}))
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
    """The chain without neighbours that cancel each other."""
    out: list[Factor] = []
    for f in chain.factors:
        if _is_unit_factor(f):
            continue
        if out and _inverse(out[-1], f):
            out.pop()
        else:
            out.append(f)
    return chain._replace(factors=tuple(out))


def _is_unit_factor(f: Factor) -> bool:
    return _is_unit(f.node)


def _inverse(a: Factor, b: Factor) -> bool:
    if a.turned == b.turned:
        for x, y in ((a.node, b.node), (b.node, a.node)):
            if x.op.name == "inv" and x.parents[0] is y:
                return True
    return a.node is b.node and a.turned != b.turned and is_orthogonal(a.node)


def is_square(x: Node) -> bool:
    """Whether a node is a square matrix."""
    return x.ndim == 2 and x.shape[0] == x.shape[1]


# ---- the form in which chains are compared -------------------------------------------------------


@normal("matmul", "outer")
def in_a_row(node: Node) -> Node | None:
    """A @ (B @ C) = A @ B @ C; outer(a, b) @ C = outer(a, C.T @ b); A @ inv(A) = eye."""
    if not 1 <= node.ndim <= 2 or node.numel == 0:
        return None
    chain = chain_of(node)
    if chain is None or (len(chain.factors) < 3 and not _cancels(chain)):
        return None
    if node.ndim == 1 and node.parents[0].ndim == 1:
        return None  # a row times a matrix stays as it was written
    new = node_of(settled(chain), node.shape)
    return new if new.shape == node.shape else None


def _cancels(chain: Chain) -> bool:
    return len(settled(chain).factors) < len(chain.factors)


@normal("inv")
def inverse_of_transpose(node: Node) -> Node | None:
    """inv(X.T) = inv(X).T; inv(inv(X)) = X; inv(Q) = Q.T for an orthogonal Q."""
    x = node.parents[0]
    if x.op.name == "transpose" and _last_two(x):
        return node.op(x.parents[0]).mT
    if x.op.name == "inv":
        return x.parents[0]
    return x.mT if is_orthogonal(x) else None


@normal("solve")
def solved_by_transpose(node: Node) -> Node | None:
    """solve(A.T, b) = solve(A, b) for a symmetric A."""
    a, b = node.parents
    known = a.op.name == "transpose" and is_symmetric(a.parents[0])
    return node.op(a.parents[0], b, **node.attrs) if known else None


@normal("transpose")
def transposed_into(node: Node) -> Node | None:
    """A.T = A for what is symmetric; (a + b).T = a.T + b.T, and so for all that goes by element."""
    x = node.parents[0]
    if not _last_two(node):
        return None
    if is_symmetric(x):
        return x
    if x.op.family != "elementwise" or len(x.inputs) < 1 or x.ndim != 2:
        return None
    if len(x.inputs) == 1 and x.op.name not in ("neg", "double"):
        return None
    if any(i.shape not in ((), x.shape) for i in x.parents):
        return None
    turned = [i.mT if i.shape else i for i in x.parents]
    return x.op(*turned, **x.attrs)


@normal("det")
def determinant_of_product(node: Node) -> Node | None:
    """det(A @ B) = det(A) * det(B) for square ones; det(A.T) = det(A); det(inv(A)) = 1 / det(A)."""
    x = node.parents[0]
    if x.op.name == "inv":
        return 1 / node.op(x.parents[0])
    chain = chain_of(x) if x.ndim == 2 else None
    if chain is None or chain.scale != Product(ONE, {}) or len(chain.factors) < 1:
        return None
    if chain.factors == (Factor(x, False),) or not all(is_square(f.node) for f in chain.factors):
        return None
    out = node.op(chain.factors[0].node)
    for f in chain.factors[1:]:
        out = out * node.op(f.node)
    return out


@normal("inv")
def inverse_of_product(node: Node) -> Node | None:
    """inv(A @ B) = inv(B) @ inv(A) for square ones; inv(diag(x)) = diag(1 / x)."""
    x = node.parents[0]
    if x.op.name in ("diag", "diag_embed") and x.parents[0].ndim == 1:
        return x.op(1 / x.parents[0], **x.attrs)
    chain = chain_of(x) if x.ndim == 2 else None
    if chain is None or len(chain.factors) < 2 or chain.scale.factors:
        return None
    if not all(is_square(f.node) for f in chain.factors):
        return None
    inverses = tuple(Factor(node.op(f.node), f.turned) for f in reversed(chain.factors))
    return node_of(Chain(Product(1 / chain.scale.coefficient, {}), inverses), node.shape)


@normal("diag", "diagonal")
def diagonal_of_product(node: Node) -> Node | None:
    """outer(a, b).diag() = a * b; A.T.diag() = A.diag(); diag(x).diag() = x."""
    x = node.parents[0]
    if x.ndim != 2 or node.ndim != 1 or any(node.attrs.get(k) for k in ("diagonal", "offset")):
        return None
    if x.op.name == "outer" and is_square(x):
        a, b = x.parents
        return a * b
    if x.op.name == "transpose":
        return node.op(x.parents[0], **node.attrs)
    if x.op.name in ("diag", "diag_embed") and x.parents[0].ndim == 1:
        return x.parents[0]
    return None


@normal("matmul")
def diagonal_times(node: Node) -> Node | None:
    """diag(x) @ b = x * b for vectors."""
    a, b = node.parents
    for d, v in ((a, b), (b, a)):
        if v.ndim == 1 and d.op.name in ("diag", "diag_embed") and d.parents[0].ndim == 1:
            return d.parents[0] * v
    return None


@normal("matmul", "outer")
def with_ones(node: Node) -> Node | None:
    """A @ ones = A.sum(dim=1); outer(ones, x) = x.expand(...); outer(x, ones) by column."""
    a, b = node.parents
    if node.op.name == "outer":
        if a.op.name == "ones":
            return b.expand(shape=node.shape)
        return a.unsqueeze(dim=1).expand(shape=node.shape) if b.op.name == "ones" else None
    if b.op.name == "ones" and b.ndim == 1 and a.ndim >= 1:
        if a.ndim == 2 and a.op.name == "transpose":
            return a.parents[0].sum(dim=0)
        return a.sum(dim=a.ndim - 1) if a.ndim > 1 else a.sum()
    if a.op.name == "ones" and a.ndim == 1:
        return b.sum(dim=b.ndim - 2) if b.ndim > 1 else b.sum()
    if a.op.name == "ones" and a.ndim == 2 and b.ndim == 1:
        return b.sum().expand(shape=node.shape)
    if b.op.name == "ones" and b.ndim == a.ndim == 2:
        return a.sum(dim=1, keepdim=True).expand(shape=node.shape)
    return None


# ---- other ways to write them --------------------------------------------------------------------


@other("matmul")
def as_column(node: Node) -> Node | None:
    """x @ A = A.T @ x."""
    a, b = node.parents
    if a.ndim == 1 and b.ndim == 2:
        chain = chain_of(node)
        return None if chain is None else node_of(settled(chain), node.shape)
    return None


@other("matmul")
def turned_as_a_whole(node: Node) -> Iterator[Node]:
    """B.T @ A.T = (A @ B).T, and parts of longer chains."""
    chain = chain_of(node)
    if chain is None or not 2 <= len(chain.factors) <= 8 or chain.scale.coefficient == 0:
        return
    factors = list(chain.factors)
    for start in range(len(factors) - 1):
        for end in range(start + 2, len(factors) + 1):
            part = factors[start:end]
            if all(f.node.ndim == 2 for f in part) and sum(f.turned for f in part) * 2 >= len(part):
                inner = plain([f.flip() for f in reversed(part)], ())
                whole = [*factors[:start], Factor(inner, True), *factors[end:]]
                yield node_of(chain._replace(factors=tuple(whole)), node.shape)


@other("add", "sub", "mul", "neg")
def turned_together(node: Node) -> Node | None:
    """A.T + B.T = (A + B).T."""
    if node.ndim != 2:
        return None
    inner = [_turned_back(i) if i.shape else i for i in node.parents]
    if any(i is None for i in inner) or not any(i.shape for i in node.parents):
        return None
    out = node.op(*inner)
    return OPS["transpose"](out, dim0=-2, dim1=-1) if out.shape == node.shape[::-1] else None


def _turned_back(x: Node) -> Node | None:
    """x.T, where that is no longer than x; None where it is."""
    if x.op.name == "transpose" and x.ndim == 2:
        return x.parents[0]
    if x.op.name in ("add", "sub", "mul", "neg", "div"):
        inner = [_turned_back(i) if i.shape else i for i in x.parents]
        if any(i is None or i.shape not in ((), x.shape[::-1]) for i in inner):
            return None
        return x.op(*inner)
    if x.op.name in ("matmul", "outer"):
        chain = chain_of(x)
        if chain is None or 2 * sum(f.turned for f in chain.factors) < len(chain.factors):
            return None
        return node_of(chain.flip(), x.shape[::-1])
    return x if is_symmetric(x) else None


@layout("add")
def plain_first(node: Node) -> Node | None:
    """A.T + A = A + A.T."""
    a, b = node.parents
    return node.op(b, a) if a.op.name == "transpose" and a.parents[0] is b else None


@layout("matmul")
def without_brackets(node: Node) -> Node | None:
    """A @ (B @ C) = A @ B @ C, where no vector stands between."""
    a, b = node.parents
    if b.op.name != "matmul" or any(i.ndim < 2 for i in (a, b.parents[0])):
        return None
    first = node.op(a, b.parents[0])
    return (without_brackets(first) or first) @ b.parents[1]


@layout("neg")
def sign_before_products(node: Node) -> Node | None:
    """-(A @ x) = -A @ x, and -(a * b) = -a * b, however long the product is."""
    product = node.parents[0]
    if product.op.name not in ("matmul", "mul", "div"):
        return None
    a, b = product.parents
    first = node.op(a)
    return product.op(sign_before_products(first) or first, b)


@other("sum")
def trace_of_product(node: Node) -> Node | None:
    """(A.T * B).sum() = trace(A @ B); (a * b).sum() = a @ b."""
    x = node.parents[0]
    if node.shape or node.attrs["keepdim"]:
        return None
    found = product_of(x)
    if found is None or len(found.factors) < 2 or found.coefficient == 0:
        return None
    if found.coefficient != 1:
        return None
    if x.ndim == 1:
        if any(f.shape != x.shape or e != 1 for f, e in found.factors.items()):
            return None
        return OPS["matmul"](*found.factors) if len(found.factors) == 2 else None
    if x.ndim != 2 or len(found.factors) != 2 or set(found.factors.values()) != {1}:
        return None
    a, b = found.factors
    if a.shape != x.shape or b.shape != x.shape or found.coefficient != 1:
        return None
    for one, two in ((a, b), (b, a)):
        if one.op.name == "transpose":
            return OPS["trace"](one.parents[0] @ two)
    return None
