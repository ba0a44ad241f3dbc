"""Which matrices are symmetric or orthogonal, by assumption or by how they are computed, such as
X.T @ X; and which tensors are symmetric or skew-symmetric in their first two dimensions.

The assumptions are those of `--assume`: symmetric, diagonal, positive definite, orthogonal,
permutation. An answer of no only means that nothing is known.
"""

from functools import lru_cache

from ....graphs import OPS, Node
from ....graphs.shapes import axes
from ....operators.indexing import full_index
from .atoms import defined, definition
from .factoring import ODD, terms_of
from .products import CACHE_SIZE, SUMS, constant_value

DEEP, NEAR = 40, 12  # largest search depths of _symmetric and _parity
REDUCTIONS = ("sum", "mean", "vector_norm", "amax", "amin")


def known(node: Node) -> tuple[str, ...]:
    """The properties of an input that `--assume` names, such as "symmetric"; () for other nodes."""
    return node.attrs["known"] if node.op.name == "input" else ()


def is_orthogonal(node: Node) -> bool:
    """Whether a matrix is known to be orthogonal: by assumption, or as eigenvectors of eigh."""
    assumed = {"orthogonal", "permutation"} & {*known(node)}
    return bool(assumed) or defined(node).op.name == "eigh_vectors"


def is_symmetric(node: Node) -> bool:
    """Whether a node is known to be a symmetric matrix."""
    if node.ndim != 2 or node.shape[0] != node.shape[1]:
        return False
    return _symmetric(node, DEEP)


def parity(node: Node) -> int:
    """1 if a tensor is known to be symmetric in its first two dimensions, -1 if it is known to be
    skew-symmetric in them, such as x[:, None] - x; otherwise 0. A 0-d tensor counts as symmetric.
    """
    return _parity(node, NEAR)


@lru_cache(maxsize=CACHE_SIZE)
def _parity(node: Node, depth: int) -> int:
    if node.ndim < 2 or depth == 0:
        return int(node.ndim == 0)
    if node.shape[0] != node.shape[1]:
        return 0
    if node.op.name in REDUCTIONS:
        return _parity_of_reduction(node, depth)
    if node.op.name == "unsqueeze" and node.attrs["dim"] % node.ndim > 1:
        return _parity(node.parents[0], depth - 1)
    if node.op.family != "elementwise":
        return int(node.ndim == 2 and _symmetric(node, depth - 1))
    if node.ndim == 2 and node.op.name in SUMS and _symmetric_sum(node, depth - 1):
        return 1
    whole = 0, node.ndim
    parts = [_parity(i, depth - 1) if i.ndim in whole else 0 for i in node.parents]
    return _parity_of_pairs(node) or _parity_by_element(node, parts)


def _parity_by_element(node: Node, parts: list[int]) -> int:
    """The parity of an elementwise operation, from those of its operands."""
    name, (first, *others) = node.op.name, parts
    if name in ("mul", "div"):
        return first * others[0]
    if name in SUMS and first == others[0]:
        return first * all(i.ndim for i in node.parents) if first < 0 else first
    if name == "pow" and first < 0:
        e = constant_value(node.parents[1])
        return 0 if e is None or e != int(e) else -1 if e % 2 else 1
    if name in ("abs", "square", "cos", "cosh"):
        return abs(first)
    if name in ("neg", *ODD):
        return first
    return int(all(k == 1 for k in parts))


def _parity_of_reduction(node: Node, depth: int) -> int:
    """The parity of a reduction over dimensions after the first two; 0 for other reductions."""
    x, dims = node.parents[0], axes(node.attrs["dim"], node.parents[0].ndim)
    inner = _parity(x, depth - 1) if dims and min(dims) > 1 else 0
    linear = node.op.name in ("sum", "mean")
    return inner if linear or inner > 0 else abs(inner) * (node.op.name == "vector_norm")


def _parity_of_pairs(node: Node) -> int:
    """The parity of a table of all pairs, such as x[:, None] - x for a vector x, or X[:, None] *
    X[None] for a matrix X; 0 for other nodes.
    """
    if node.op.name not in ("add", "sub", "mul", "maximum", "minimum") or len(node.parents) != 2:
        return 0
    a, b = map(_unsqueezed_operand, node.parents)
    if a is None or b is None or a[0] is not b[0] or a[0].ndim != node.ndim - 1:
        return 0
    if {a[1], b[1]} != {0, 1}:
        return 0
    return -1 if node.op.name == "sub" else 1


def _unsqueezed_operand(part: Node) -> tuple[Node, int] | None:
    """x and the position, 0 or 1, of the new dimension in x.unsqueeze(0), x.unsqueeze(1), x[None]
    or x[:, None]. For x without a new dimension the position is 0, where broadcasting adds one.
    None if an operand has its new dimension elsewhere.
    """
    dim: int | None = 0
    if part.op.name == "unsqueeze":
        dim = part.attrs["dim"] % part.ndim
    elif part.op.name == "getitem" and None in part.attrs["index"]:
        dim = _new_dimension(part)
    else:
        return part, 0
    return (part.parents[0], dim) if dim in (0, 1) else None


def _new_dimension(part: Node) -> int | None:
    """The position of the new dimension in x[:, None]; None if the index does anything else."""
    index = full_index(part.attrs["index"], part.parents[0].ndim)
    others = [i for i in index if i is not None]
    new = len(index) - len(others)
    return index.index(None) if new == 1 and all(i == slice(None) for i in others) else None


@lru_cache(maxsize=CACHE_SIZE)
def _symmetric(node: Node, depth: int) -> bool:
    """Whether a square matrix is known to be symmetric, by a search that is `depth` nodes deep."""
    name, parts = node.op.name, node.parents
    if depth == 0 or node.shape[-1:] != node.shape[-2:-1]:
        return False
    if name == "input":
        inner = definition(node)
        assumed = {"symmetric", "diagonal", "posdef"} & {*known(node)}
        return bool(assumed) or (inner is not None and _symmetric(inner, depth - 1))
    if name in ("eye", "ones", "zeros", "full", "cov", "corrcoef"):
        return True
    if name in ("outer", "cdist"):
        return parts[0] is parts[1]
    if name == "diag":
        return parts[0].ndim == 1 and not node.attrs["diagonal"]
    if name in ("inv", "transpose", "matrix_exp"):
        return _symmetric(parts[0], depth - 1)
    if name in SUMS:
        return _symmetric_sum(node, depth - 1) or _parity_of_pairs(node) == 1
    if name == "matmul":
        return _palindrome(node, depth - 1)
    by_element = name in REDUCTIONS or node.op.family == "elementwise"
    return by_element and _parity(node, min(depth, NEAR) - 1) == 1


def _symmetric_sum(node: Node, depth: int) -> bool:
    """Whether all terms of a sum are symmetric, or each has its transpose among the terms, with the
    same coefficient: A - c * eye(n) + A.T.
    """
    if all(i.shape == () or _symmetric(i, depth) for i in node.parents):
        return True
    terms = terms_of(node) or []
    numbers = {t.key: t.coefficient for t in terms}
    for t in terms:
        transposed = {_transposed(f, depth): e for f, e in t.factors.items()}
        if None in transposed or numbers.get(frozenset(transposed.items())) != t.coefficient:
            return False
    return bool(terms)


@lru_cache(maxsize=CACHE_SIZE)
def _transposed(f: Node, depth: int) -> Node | None:
    """The transpose of a factor; 0-d tensors are unchanged. None if the factor is neither a matrix
    nor 0-d, or if the depth is used up.
    """
    if depth == 0:
        return None
    if f.shape == () or (f.ndim == 2 and _symmetric(f, depth)):
        return f
    if f.op.name == "matmul" and all(i.ndim == 2 for i in f.parents):
        a, b = (_transposed(i, depth - 1) for i in f.parents)
        return None if a is None or b is None else b @ a
    if f.op.name == "outer":
        return f.op(*reversed(f.parents))
    if f.op.name == "transpose":
        return f.parents[0]
    return f.mT if f.ndim == 2 else None


def _are_transposes(a: Node, b: Node) -> bool:
    return (a.op.name == "transpose" and a.parents[0] is b) or (
        b.op.name == "transpose" and b.parents[0] is a
    )


def _palindrome(node: Node, depth: int) -> bool:
    """Whether a matrix product reads the same when it is transposed, such as X.T @ A @ X for a
    symmetric A: the first factor is compared with the last, the second with the last but one, ...
    """
    factors = _factors(node)
    if len(factors) > DEEP:
        return False
    for k, (left, right) in enumerate(zip(factors, reversed(factors), strict=True)):
        if left is right and left.ndim == 2 and _symmetric(left, depth - 1):
            continue
        adjacent = abs(2 * k + 1 - len(factors)) == 1
        if not _are_transposes(left, right) and not (adjacent and _is_projection(left, right)):
            return False
    return True


def _is_projection(a: Node, b: Node) -> bool:
    """Whether a @ b is X @ pinv(X) or pinv(X) @ X, an orthogonal projection, which is symmetric."""
    return any(p.op.name == "pinv" and p.parents[0] is x for p, x in ((a, b), (b, a)))


def _factors(node: Node) -> list[Node]:
    """The factors of a product of matrices, from left to right. A matrix whose rows or columns are
    multiplied by the elements of a vector is a product with a diagonal matrix.
    """
    if node.op.name == "mul":
        return _scaled_factors(node) or [node]
    if node.op.name != "matmul" or any(i.ndim != 2 for i in node.parents):
        return [node]
    return [f for part in node.parents for f in _factors(part)]


def _scaled_factors(node: Node) -> list[Node]:
    """The factors of w[:, None] * A = diag(w) @ A and of A * w = A @ diag(w), for a vector w and a
    matrix A; [] for other products.
    """
    for part, A in (node.parents, node.parents[::-1]):
        w, dim = _unsqueezed_operand(part) or (part, 0)
        if w.ndim == 1 and A.ndim == 2 and A.shape == node.shape:
            diagonal = OPS["diag"](w)
            return [diagonal, *_factors(A)] if dim else [*_factors(A), diagonal]
    return []
