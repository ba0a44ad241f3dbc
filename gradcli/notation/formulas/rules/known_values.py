"""Identities for inputs with assumed properties: positive, nonnegative, of norm 1, summing to 1,
skew symmetric, permutation or one-hot matrices.
"""

from ....graphs import OPS, Node
from ....graphs.shapes import axes
from .assumed import known
from .identities import condition, identities
from .products import constant_value, product_of
from .registry import NORMAL, RULES, rule

ZERO_OR_ONE = {"permutation", "onehot"}
POSITIVE, NONNEGATIVE = {"positive"}, {"positive", "nonneg", "simplex", *ZERO_OR_ONE}
IN_ROWS = {"permutation", "simplex", "onehot"}  # rows sum to 1
SAME_SIGN = ("mul", "div", "add", "expand", "transpose", "reshape", "unsqueeze", "squeeze")
MAX_DEPTH = 8  # of nested operations in the search for properties


def has_property(node: Node, words: set[str], depth: int = MAX_DEPTH) -> bool:
    """Whether all elements have one of the properties `words`, such as "positive", by the
    assumptions on inputs.
    """
    if not words.isdisjoint(known(node)):
        return True
    if node.op.name not in SAME_SIGN or depth == 0:
        return False
    parts = [has_property(i, words, depth - 1) for i in node.parents]
    positive_constants = [(constant_value(i) or 0) > 0 for i in node.parents]
    return any(parts) and all(a or b for a, b in zip(parts, positive_constants))


@condition
def known_nonnegative(x: Node) -> bool:
    """Whether all elements are known to be nonnegative."""
    return has_property(x, NONNEGATIVE)


@condition
def known_positive(x: Node) -> bool:
    """Whether all elements are known to be positive."""
    return has_property(x, POSITIVE)


@condition
def is_skew(A: Node) -> bool:
    """Whether a matrix is known to be skew symmetric."""
    return "skew" in known(A)


identities(RULES, """
    abs(x) = x where known_nonnegative(x)
    relu(x) = x where known_nonnegative(x)
    sign(x) = ones(size=x.shape) where known_positive(x)
    abs(x * y) = x * abs(y) where known_nonnegative(x)
    relu(x * y) = x * relu(y) where known_nonnegative(x)
    sign(x * y) = sign(y) where known_positive(x)
    leaky_relu(x, negative_slope=s) = x where known_nonnegative(x)
    pow(pow(x, y), z) = pow(x, y * z) where known_nonnegative(x)
    vector_norm(x, ord=1) = sum(x) where known_nonnegative(x)
    vector_norm(x, ord=1, dim=d, keepdim=k) = sum(x, dim=d, keepdim=k) where known_nonnegative(x)
    A.mT = -A where is_skew(A)
    trace(A) = zeros(size=()) where is_skew(A)
    diag(A) = zeros(size=A.shape[:1]) where is_skew(A)
""")  # fmt: skip

identities(NORMAL, """
    u @ A @ u = zeros(size=()) where is_skew(A)
""")  # fmt: skip


@rule("elementwise")
def compared_with_zero(node: Node) -> Node | None:
    """x > 0 is True for a positive x, x < 0 is False for a nonnegative x."""
    symbol = node.op.sign
    if node.dtype != "bool" or symbol not in COMPARISONS or constant_value(node.parents[1]) != 0:
        return None
    words, answer = COMPARISONS[symbol]
    if not has_property(node.parents[0], words):
        return None
    return OPS["full"](size=node.shape, fill_value=answer)


COMPARISONS = {
    ">": (POSITIVE, True), ">=": (NONNEGATIVE, True), "<": (NONNEGATIVE, False),
    "<=": (POSITIVE, False), "==": (POSITIVE, False), "!=": (POSITIVE, True),
}  # fmt: skip


@rule("sqrt")
def sqrt_of_square(node: Node) -> Node | None:
    """sqrt(x ** 2) = x for a nonnegative x."""
    x = node.parents[0]
    result = product_of(x)
    if result is None or result.coefficient != 1 or len(result.factors) != 1:
        return None
    ((base, exponent),) = result.factors.items()
    same = exponent == 2 and base.shape == x.shape
    return base if same and known_nonnegative(base) else None


@rule("clamp")
def clamp_of_nonnegative(node: Node) -> Node | None:
    """x.clamp(min=0) = x for a nonnegative x."""
    x = node.parents[0]
    bounds = [None if b is None else constant_value(b) for b in node.inputs[1:]]
    return x if bounds == [0, None] and known_nonnegative(x) else None


@rule("sum")
def sum_of_simplex(node: Node) -> Node | None:
    """p.sum() = 1 for a vector of probabilities, P.sum(dim=-1) = 1 for a matrix with such rows."""
    x, dim = node.parents[0], node.attrs["dim"]
    over = axes(dim, x.ndim)
    simplex = not {"simplex", "onehot"}.isdisjoint(known(x))
    rows = simplex and over == (x.ndim - 1,)
    return OPS["ones"](size=node.shape) if rows or _is_permutation_sum(x, over) else None


def _is_permutation_sum(x: Node, over: tuple[int, ...]) -> bool:
    return "permutation" in known(x) and len(over) == 1


@rule("vector_norm")
def norm_of_unit_vector(node: Node) -> Node | None:
    """x.norm() = 1 for a unit vector; Y.norm(dim=-1) = 1 for one-hot rows."""
    x, attrs = node.parents[0], node.attrs
    unit = "unit" in known(x) and attrs.get("ord", 2) == 2 and not node.shape
    rows = "onehot" in known(x) and axes(attrs["dim"], x.ndim) == (x.ndim - 1,)
    return OPS["ones"](size=node.shape) if unit or rows else None


@rule("matmul")
def known_products(node: Node) -> Node | None:
    """x @ x = 1 for a unit vector; P @ ones(n) = ones(m) for rows that sum to 1, and
    Y.T @ Y = diag(Y.sum(0)) for one-hot rows.
    """
    a, b = node.parents
    if a.op.name == "transpose" and b.ndim == 2 and a.parents[0] is b and "onehot" in known(b):
        return OPS["diag"](b.sum(dim=0))
    if a is b and a.ndim == 1 and not {"unit", "onehot"}.isdisjoint(known(a)):
        return OPS["ones"](size=())
    ones = constant_value(b) == 1 and not {*known(a)}.isdisjoint(IN_ROWS)
    return OPS["ones"](size=node.shape) if ones else None


@rule("mul", "pow")
def square_of_permutation(node: Node) -> Node | None:
    """P * P = P ** 2 = P for permutation and one-hot matrices."""
    a, b = node.parents
    square = a is b if node.op.name == "mul" else (constant_value(b) or 0) > 0
    return a if square and not ZERO_OR_ONE.isdisjoint(known(a)) else None
