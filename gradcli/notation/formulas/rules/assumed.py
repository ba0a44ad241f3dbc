"""What is known about matrices: symmetric, orthogonal, diagonal, positive definite."""

from functools import lru_cache

from ....graphs import Node
from .atoms import definition
from .products import REMEMBERED
from .sums import terms_of

DEEP = 40  # nodes that are looked at


def known(node: Node) -> tuple[str, ...]:
    """What was assumed about an input."""
    return node.attrs["known"] if node.op.name == "input" else ()


def is_orthogonal(node: Node) -> bool:
    """Whether the inverse is the transpose."""
    return "orthogonal" in known(node) or (definition(node) or node).op.name == "eigh_vectors"


def is_symmetric(node: Node) -> bool:
    """Whether a matrix is certain to be its own transpose."""
    if node.ndim != 2 or node.shape[0] != node.shape[1]:
        return False
    return _symmetric(node, DEEP)


@lru_cache(maxsize=REMEMBERED)
def _symmetric(node: Node, depth: int) -> bool:
    name, parts = node.op.name, node.parents
    if depth == 0:
        return False
    if name == "input":
        return bool({"symmetric", "diagonal", "posdef"} & set(known(node)))
    if name in ("eye", "ones", "zeros", "full", "cov", "corrcoef"):
        return True
    if name == "outer":
        return parts[0] is parts[1]
    if name == "diag":
        return parts[0].ndim == 1 and not node.attrs["diagonal"]
    if name in ("inv", "transpose", "matrix_exp"):
        return _symmetric(parts[0], depth - 1)
    if name in ("add", "sub"):
        return _symmetric_sum(node, depth - 1)
    if name in ("mul", "div", "neg"):
        return all(i.shape == () or (i.ndim == 2 and _symmetric(i, depth - 1)) for i in parts)
    return name == "matmul" and _palindrome(node, depth - 1)


def _symmetric_sum(node: Node, depth: int) -> bool:
    """Whether each term is that of another turned, or its own: A - c * eye(n) + A.T."""
    if all(i.shape == () or _symmetric(i, depth) for i in node.parents):
        return True
    terms = terms_of(node) or []
    numbers = {t.key: t.coefficient for t in terms}
    for t in terms:
        turned = {_transposed(f, depth): e for f, e in t.factors.items()}
        if None in turned or numbers.get(frozenset(turned.items())) != t.coefficient:
            return False
    return bool(terms)


@lru_cache(maxsize=REMEMBERED)
def _transposed(f: Node, depth: int) -> Node | None:
    """The transpose of a factor, a single number as it is; None where it has none."""
    if depth == 0:
        return None
    if f.shape == () or (f.ndim == 2 and _symmetric(f, depth)):
        return f
    if f.op.name == "matmul" and all(i.ndim == 2 for i in f.parents):
        a, b = (_transposed(i, depth - 1) for i in f.parents)
        return None if a is None or b is None else b @ a
    if f.op.name == "transpose":
        return f.parents[0]
    return f.mT if f.ndim == 2 else None


def _turned(a: Node, b: Node) -> bool:
    return (a.op.name == "transpose" and a.parents[0] is b) or (
        b.op.name == "transpose" and b.parents[0] is a
    )


def _palindrome(node: Node, depth: int) -> bool:
    """Whether a chain of factors reads the same transposed: X.T @ A @ X for a symmetric A."""
    factors = _factors(node)
    if len(factors) > DEEP:
        return False
    for left, right in zip(factors, reversed(factors), strict=True):
        if left is right and left.ndim == 2 and _symmetric(left, depth - 1):
            continue
        if not _turned(left, right) and not _projects(left, right):
            return False
    return True


def _projects(a: Node, b: Node) -> bool:
    """Whether a @ b is X @ pinv(X), or pinv(X) @ X."""
    return any(p.op.name == "pinv" and p.parents[0] is x for p, x in ((a, b), (b, a)))


def _factors(node: Node) -> list[Node]:
    if node.op.name != "matmul" or any(i.ndim != 2 for i in node.parents):
        return [node]
    return [f for part in node.parents for f in _factors(part)]
