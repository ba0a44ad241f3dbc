"""Sums of elementwise products, and einsum, rewritten as products of matrices and vectors."""

from collections.abc import Iterator
from itertools import permutations

from ....graphs import OPS, Node, intern
from ....graphs.shapes import Shape, axes
from .chains import chain_of, product_node
from .identities import condition, identities
from .places import new_dimensions
from .products import (
    NOTHING,
    ONE,
    Coefficient,
    Product,
    build,
    carries_direction,
    is_mask,
    is_scalar,
    number_node,
    product_of,
    scaled,
    with_factor,
    with_factors,
)
from .reductions import constant_along
from .registry import CANDIDATES, FINAL, NORMAL, candidate, final, normal, rule


@condition
def is_unexpanded(x: Node) -> bool:
    """Whether x is a floating-point tensor that is not broadcast."""
    return x.dtype == "float" and x.op.name not in ("expand", "ones")


@condition
def is_factor(x: Node) -> bool:
    """Whether x is a single factor or a power of one, and not a product."""
    result = product_of(x) or NOTHING
    return is_unexpanded(x) and result.coefficient == 1 == len(result.factors)


identities(NORMAL, """
    sum(outer(u, v)) = sum(u) * sum(v)
    sum(outer(u, v), dim=0) = sum(u) * v
    sum(outer(u, v), dim=1) = u * sum(v)
""")  # fmt: skip

identities(CANDIDATES, """
    sum(outer(u, v) * A) = u @ A @ v where is_unexpanded(A)
    sum(outer(u, v) * A, dim=0) = v * (u @ A) where is_unexpanded(A)
    sum(outer(u, v) * A, dim=0) = v * (u @ double(A)) where A.dtype == "bool"
    sum(u * v) = u @ v where is_factor(v) and v is not u
    sum(u ** 2) = u @ u where is_unexpanded(u)
    s * sum(1 / x) = sum(s / x)
    s * mean(1 / x) = mean(s / x)
    outer(u, v) - mean(outer(u, v), dim=1, keepdim=True) = outer(u, v - mean(v))
    outer(u, v) - s * v = outer(u - s, v)
    outer(u, v) + s * v = outer(u + s, v)
    sum(v * A, dim=1, keepdim=True) = unsqueeze(A @ v, dim=1) where is_unexpanded(A)
    sum(A.mT * B) = trace(A @ B) where is_factor(B)
    sum(A * B) = trace(B) where is_unit(A) and is_factor(B)
    sum(sum(B, dim=1) * A) = sum(A @ B)
    sum(A @ B, dim=0, keepdim=k) = sum(A, dim=0, keepdim=k) @ B
    sum(A @ B, dim=1, keepdim=k) = A @ sum(B, dim=1, keepdim=k)
""")  # fmt: skip


identities(FINAL, "A * B = diag(diag(B)) where is_unit(A) and is_factor(B)")


@final("sum")
def inner_product_of_several(node: Node) -> Node | None:
    """(g * x * y).sum() = g @ (x * y) for the upstream gradient g, or else the first input."""
    x = node.parents[0]
    result = (product_of(x) if x.ndim == 1 and not node.shape else None) or NOTHING
    vectors = [f for f in result.once() if f.shape == x.shape]
    first = next((f for f in vectors if carries_direction(f)), None) or next(
        (f for f in vectors if f.op.name == "input"), None
    )
    rest = result.without(first)._replace(coefficient=ONE)
    if first is None or len(rest.factors) < 2 or is_mask(rest.factors):
        return None
    product = first @ build(rest, x.shape)
    return build(Product(result.coefficient, {product: 1}), ())


@candidate("trace")
def trace_as_sum(node: Node) -> Iterator[Node]:
    """trace(A @ B @ C.T) = (C * (A @ B)).sum(), for each transposed factor C that occurs only once:
    quadratic forms, such as trace(X.T @ A @ X), remain.
    """
    chain = chain_of(node.parents[0])
    factors = () if chain is None else chain.factors
    for k, f in enumerate(factors):
        rest = [*factors[k + 1 :], *factors[:k]]
        if f.transposed and f.node.ndim == 2 and all(f.node is not other.node for other in rest):
            total = (f.node * product_node(rest, f.node.shape)).sum()
            yield scaled(chain.scale, total)  # type: ignore[union-attr]


@candidate("matmul")
def outer_out_of_matmul(node: Node) -> Iterator[Node]:
    """(A / outer(u, v)) @ v = A.sum(dim=1) / u; (A * outer(u, v)) @ x = u * (A @ (v * x))."""
    a, b = node.parents
    if {a.ndim, b.ndim} != {1, 2}:
        return
    matrix, x = (a, b) if a.ndim == 2 else (b, a)
    result = product_of(matrix) or NOTHING
    for f, e in result.factors.items():
        rest = result.without(f)
        matrices = [k for k in rest.factors if k.shape == f.shape]
        if f.op.name != "outer" or is_mask(rest.factors) or not matrices:
            continue
        inner = build(rest, matrix.shape)
        u, v = f.parents if matrix is a else f.parents[::-1]
        scaled_x = x * v ** number_node(e)
        product = inner @ scaled_x if matrix is a else scaled_x @ inner
        yield u ** number_node(e) * product


@normal("sum")
def factors_out_of_a_sum(node: Node) -> Node | None:
    """(a * b.unsqueeze(1)).sum(dim=1) = b * a.sum(dim=1)."""
    x, dim = node.parents[0], node.attrs["dim"]
    result = product_of(x) if dim is not None and not node.attrs["keepdim"] else None
    over = axes(dim, x.ndim) if result is not None else ()
    if result is None or len(over) != 1 or over == (0,):
        return None
    same = [f for f in result.factors if f.shape and constant_along(f, x, over)]
    outer = {
        new: result.factors[f]
        for f in same
        if (new := without_dimension(f, x, over[0])) is not None
    }
    inner = result.without(*same)._replace(coefficient=ONE)
    if not outer or len(outer) < len(same) or not inner.factors or is_mask(inner.factors):
        return None
    total = node.op(build(inner, x.shape), **node.attrs)
    return build(result._replace(factors=with_factor(outer, total)), node.shape)


@candidate("sum")
def weighted_rows(node: Node) -> Node | None:
    """(v.unsqueeze(1) * A).sum(dim=0) = v @ A, also for several factors with one column."""
    x, dim = node.parents[0], node.attrs["dim"]
    result = product_of(x) if x.ndim == 2 and dim is not None else None
    if result is None or axes(dim, 2) != (0,) or node.attrs["keepdim"]:
        return None
    scalars, others = result.split(is_scalar)
    weights = [f for f in others.factors if f.shape == (x.shape[0], 1)]
    vectors = {
        v: others.factors[f] for f in weights if (v := without_dimension(f, x, 1)) is not None
    }
    rest = others.without(*weights)
    if not weights or len(vectors) < len(weights) or not rest.factors or is_mask(vectors):
        return None
    matrix = build(rest, x.shape)
    if matrix.dtype != "float":
        return None
    return scaled(scalars, build(Product(ONE, vectors), x.shape[:1]) @ matrix)


@normal("sum")
def matmul_from_sum(node: Node) -> Node | None:
    """(a.unsqueeze(2) * b).sum(dim=1) = a @ b; (a.unsqueeze(1) * b).sum(dim=2) = a @ b.mT."""
    x, dim = node.parents[0], node.attrs["dim"]
    result = product_of(x) if x.ndim == 3 and dim is not None else None
    reduced = axes(dim, 3) if result is not None else ()
    if result is None or len(reduced) != 1 or node.attrs["keepdim"]:
        return None
    (k,) = reduced
    i, j = (d for d in range(3) if d != k)
    scalars, others = result.split(is_scalar)
    sides = {f: i if constant_along(f, x, (i,)) else j for f in others.factors}
    if any(not constant_along(f, x, (d,)) for f, d in sides.items()):
        return None
    left, right = (
        _matrix_operand(result, x, [f for f in sides if sides[f] == d], d) for d in (j, i)
    )
    if left is None or right is None:
        return None
    product = (left if i < k else left.mT) @ (right if k < j else right.mT)
    return scaled(scalars, product)


def _matrix_operand(result: Product, x: Node, factors: list[Node], along: int) -> Node | None:
    """The product of factors that are constant along a dimension of x, without that dimension;
    None if it is no matrix.
    """
    shape = tuple(n for d, n in enumerate(x.shape) if d != along)
    powers: dict[Node, Coefficient] = {}
    for f in factors:
        new = without_dimension(f, x, along)
        if new is None:
            return None
        powers = with_factors(powers, {new: result.factors[f]})
    if is_mask(powers) or all(f.shape != shape for f in powers):
        return None
    return build(Product(ONE, powers), shape)


def without_dimension(f: Node, x: Node, along: int) -> Node | None:
    """A factor of x without dimension `along`, if that dimension is broadcast, or was added by
    unsqueeze or keepdim; else None.
    """
    if f.ndim < x.ndim:
        return f if along == 0 else None
    f = (new_dimensions(f) if f.op.name == "getitem" else None) or f
    return f.squeeze(dim=along) if f.op.name == "unsqueeze" or f.op.family == "reduction" else None


# ---- products as einsum --------------------------------------------------------------------------


def _equation(einsum: Node) -> tuple[list[str], str] | None:
    """The subscripts of the operands and of the result; None if the result's are implicit."""
    terms, arrow, right = einsum.attrs["equation"].replace(" ", "").partition("->")
    return (terms.split(","), right) if arrow else None


@rule("einsum")
def numbers_out_of_einsum(node: Node) -> Node | None:
    """einsum(",ij->ij", s, a) = s * einsum("ij->ij", a)."""
    terms, right = _equation(node) or ([], "")
    pairs = list(zip(terms, node.parents))
    nonscalar = [(t, x) for t, x in pairs if t]
    if not nonscalar or len(nonscalar) == len(pairs):
        return None
    equation = f"{','.join(t for t, _ in nonscalar)}->{right}"
    out = intern(node.op, tuple(x for _, x in nonscalar), {"equation": equation})
    for t, x in pairs:
        out = out if t else x * out
    return out


@normal("einsum")
def einsum_of_one_or_two(node: Node) -> Node | None:
    """einsum("ij->ij", A) = A; einsum("ji->ij", A) = A.T; einsum("i,j->ij", a, b) = outer(a, b);
    einsum("bij,bkj->bik", A, B) = A @ B.mT.
    """
    terms, right = _equation(node) or ([], "")
    if len(terms) == 1:
        return _transpose(terms[0], right, node.parents[0])
    return _batched_product(terms, right, node.parents) if len(terms) == 2 else None


@normal("einsum")
def vector_out_of_einsum(node: Node) -> Node | None:
    """einsum("b,ij,bj->bi", g, A, x) = g.unsqueeze(1) * einsum("ij,bj->bi", A, x)."""
    terms, right = _equation(node) or ([], "")
    if "." in right:  # an ellipsis
        return None
    for k, letter in enumerate(terms):
        others = terms[:k] + terms[k + 1 :]
        if len(letter) != 1 or letter not in right or letter not in "".join(others):
            continue
        v, rest = node.parents[k], [x for j, x in enumerate(node.parents) if j != k]
        for _ in right[right.index(letter) + 1 :]:
            v = v.unsqueeze(dim=v.ndim)
        return v * intern(node.op, tuple(rest), {"equation": f"{','.join(others)}->{right}"})
    return None


@normal("einsum")
def ones_in_einsum(node: Node) -> Node | None:
    """einsum("ik,ij->jk", ones(2, 4), A) = A.sum(dim=0).unsqueeze(1).expand(3, 4), unless the ones
    broadcast A along a letter.
    """
    terms, right = _equation(node) or ([], "")
    if len(terms) != 2 or "." in "".join(terms):
        return None
    for (t, one), (s, x) in permutations(zip(terms, node.parents, strict=True)):
        known, sizes = {*s, *right}, dict(zip(s, x.shape, strict=True))
        applies = one.op.name == "ones" and {*t} <= known and len(sizes) == len(s)
        if applies and all(sizes.get(c, n) == n for c, n in zip(t, one.shape, strict=True)):
            return _sum_and_expand(x, s, right, node.shape)
    return None


def _sum_and_expand(x: Node, left: str, right: str, shape: Shape) -> Node:
    """A tensor summed over letters that are not in `right`, permuted and expanded to `shape`."""
    over = tuple(d for d, letter in enumerate(left) if letter not in right)
    out = x.sum(dim=over) if over else x
    kept = [letter for letter in left if letter in right]
    order = [kept.index(letter) for letter in right if letter in kept]
    out = out if order == sorted(order) else out.permute(dims=tuple(order))
    for place, letter in enumerate(right):
        out = out if letter in kept else out.unsqueeze(dim=place)
    return out if out.shape == shape else out.expand(shape=shape)


def _transpose(left: str, right: str, x: Node) -> Node | None:
    if left == right and len(set(left)) == len(left):
        return x
    if len(left) == 2 and left[::-1] == right and left[0] != left[1]:
        return x.mT
    return None


def _batched_product(terms: list[str], right: str, nodes: list[Node]) -> Node | None:
    if any(len(set(t)) != len(t) for t in (*terms, right)):
        return None
    batch = right[:-2]
    if batch and batch not in [t[:-2] for t in terms]:
        return None
    a, b = (t.removeprefix(batch) for t in terms)
    if batch and not len(a) == len(b) == 2:
        return None
    return _product((a, b), right.removeprefix(batch), nodes)


def _product(terms: tuple[str, str], right: str, nodes: list[Node]) -> Node | None:
    """The einsum of two operands as `*`, `outer` or `@`; None if it is none of these. Subscripts
    of batch dimensions are left out of `terms` and `right`.
    """
    (a, b), (x, y) = terms, nodes
    for (s, u), (t, v) in (((a, x), (b, y)), ((b, y), (a, x))):
        if s == t == right:
            return u * v
        if len(s) == len(t) == 1 and right == s + t:
            return OPS["outer"](u, v)
        if len(s) == 2 and len(t) == 1 and t in s and right == s.replace(t, ""):
            return (u if s[1] == t else u.mT) @ v
        if len(s) == len(t) == 2 and len(right) == 2:
            for p, m in ((s, u), (s[::-1], u.mT)):
                for q, n in ((t, v), (t[::-1], v.mT)):
                    if p[1] == q[0] and right == p[0] + q[1] and p[0] != q[1]:
                        return m @ n
        if right == s and len(s) == 2 and len(t) == 1 and t in s:
            return u * (v if s[1] == t else v.unsqueeze(dim=1))
    return None
