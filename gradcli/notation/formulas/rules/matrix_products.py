"""Products of matrices and vectors: chains without brackets, transposes, signs and scalars."""

from collections.abc import Iterator
from functools import reduce
from itertools import permutations

from ....graphs import OPS, Node
from ....graphs.shapes import Shape, axes, axis
from ....operators.indexing import full_index
from .assumed import is_symmetric
from .chains import Chain, Factor, cancel_inverses, chain_of, node_of, product_node
from .factoring import MOST_TERMS, sum_of, terms_of_sum
from .identities import condition, identities
from .matrices import is_column, is_transposed, is_unit, last_two
from .products import (
    NOTHING,
    ONE,
    Product,
    build,
    constant_value,
    is_mask,
    is_scalar,
    product_of,
    scalars_of,
    scaled,
)
from .registry import CANDIDATES, FINAL, NORMAL, candidate, layout, normal

MOST_FACTORS = 50  # of a product that is written without parentheses


@condition
def is_ones(x: Node) -> bool:
    """Whether x is ones(n) or ones(m, n)."""
    return x.op.name == "ones"


identities(NORMAL, """
    diag(u) @ v = u * v
    v @ diag(u) = u * v
    diag(u) @ diag(v) = diag(u * v)
    diag(u) @ (diag(v) @ A) = diag(u * v) @ A
    A @ diag(u) @ diag(v) = A @ diag(u * v)
    unsqueeze(u, dim=0) @ A = unsqueeze(u @ A, dim=0)
    A @ unsqueeze(u, dim=1) = unsqueeze(A @ u, dim=1)
    unsqueeze(u, dim=1) @ unsqueeze(v, dim=0) = outer(u, v)
    unsqueeze(u, dim=0).mT = unsqueeze(u, dim=1)
    unsqueeze(u, dim=0) @ v = unsqueeze(u @ v, dim=0)
    u @ v = sum(u) where is_ones(v)
    v @ u = sum(u) where is_ones(v)
    A.mT @ v = sum(A, dim=0) where is_ones(v)
    x @ v = sum(x, dim=x.ndim - 1) where is_ones(v)
    v @ x = sum(x, dim=x.ndim - 2) where is_ones(v)
    A @ v = sum(v) where is_ones(A)
    A.mT @ B = unsqueeze(sum(A, dim=0), dim=1) where is_ones(B)
    A @ B = sum(A, dim=1, keepdim=True) where is_ones(B)
    A @ B = sum(B, dim=0) where is_ones(A)
    outer(u, v) = v where is_ones(u)
    outer(u, v) = unsqueeze(u, dim=1) where is_ones(v)
    expand(u, shape=n) @ B = u @ B where u.shape == n[1:]
    A @ expand(u, shape=n) = outer(sum(A, dim=1), u) where u.shape == n[1:]
    A @ expand(unsqueeze(u, dim=1), shape=n) = unsqueeze(A @ u, dim=1)
    expand(unsqueeze(u, dim=1), shape=n) @ B = outer(u, sum(B, dim=0))
    outer(u, v) * outer(w, x) = outer(u * w, v * x)
""")  # fmt: skip

identities(CANDIDATES, """
    A.mT @ v = v @ A
    A @ B.mT @ v = A @ (v @ B)
    u @ u = vector_norm(u) ** 2 where u.inputs
    vector_norm(u) ** 2 = u @ u
    sqrt(u @ u) = vector_norm(u)
    sum(u) - u @ v = u @ (1 - v)
    sum(u) + u @ v = u @ (1 + v)
    trace(A @ A) = vector_norm(A) ** 2 where is_symmetric(A)
    trace(A.mT @ A) = vector_norm(A) ** 2
    trace(A @ A.mT) = vector_norm(A) ** 2
    vector_norm(A @ B.mT) = vector_norm(B @ A.mT)
    diag(A @ A.mT) = sum(A ** 2, dim=1)
""")  # fmt: skip


identities(FINAL, "diag(u) @ A @ diag(v) = outer(u, v) * A")


@candidate("outer")
def outer_with_itself(node: Node) -> Node | None:
    """outer(A @ u, B @ A @ u) = outer(A @ u, A @ u) @ B.T, so that A @ u is computed once."""
    u, v = node.parents
    if u.op.name == "matmul":
        rest = _before(v, u)
        if rest is not None:
            return node.op(u, u) @ node_of(rest.flip(), (u.shape[0], v.shape[0]))
    rest = _before(u, v) if v.op.name == "matmul" else None
    return None if rest is None else node_of(rest, (u.shape[0], v.shape[0])) @ node.op(v, v)


@candidate("matmul")
def half_with_its_transpose(node: Node) -> Node | None:
    """A @ B @ B.T @ A.T = (A @ B) @ (A @ B).T, so that A @ B is computed once."""
    chain = chain_of(node)
    factors = () if chain is None else chain.factors
    count = len(factors) // 2
    if chain is None or count < 2 or factors != chain.flip().factors or len(factors) % 2:
        return None
    half = product_node([*factors[:count]], (node.shape[0], factors[count].node.shape[0]))
    return scaled(chain.scale, half @ half.mT if half.ndim == 2 else OPS["outer"](half, half))


def _before(longer: Node, vector: Node) -> Chain | None:
    """The factors A for which `longer` is A @ `vector`; None if there are none."""
    whole, part = chain_of(longer), chain_of(vector)
    if whole is None or part is None or part.scale != NOTHING:
        return None
    count = len(part.factors)
    is_longer = len(whole.factors) > count and whole.factors[-count:] == part.factors
    return whole._replace(factors=whole.factors[:-count]) if is_longer else None


@normal("matmul", "outer")
def flattened_chain(node: Node) -> Node | None:
    """A @ (B @ C) = A @ B @ C; outer(a, b) @ C = outer(a, C.T @ b); A @ inv(A) = eye."""
    if not 1 <= node.ndim <= 2 or node.numel == 0:
        return None
    chain = chain_of(node)
    if chain is None or (len(chain.factors) < 3 and not _has_inverses(chain)):
        return None
    if node.ndim == 1 and node.parents[0].ndim == 1:
        return None  # row @ matrix is unchanged
    return node_of(cancel_inverses(chain), node.shape)


def _has_inverses(chain: Chain) -> bool:
    return cancel_inverses(chain) != chain


@normal("transpose")
def transpose_into_elementwise(node: Node) -> Node | None:
    """A.T = A for a symmetric A; (a + b).T = a.T + b.T, likewise for other elementwise operators;
    (A.T - v.unsqueeze(1)).T = A - v; v.unsqueeze(1).T = v.unsqueeze(0).
    """
    x = node.parents[0]
    if not last_two(node):
        return None
    if is_symmetric(x):
        return x
    if is_column(x):
        return x.parents[0].unsqueeze(dim=0)
    if x.op.family != "elementwise" or len(x.inputs) < 1 or x.ndim != 2:
        return None
    if len(x.inputs) == 1 and x.op.name not in ("neg", "double"):
        return None
    has_transpose = any(i.op.name == "transpose" for i in x.parents)
    columns = [i for i in x.parents if i.shape not in ((), x.shape)]
    become_rows = has_transpose and all(is_column(i) or _is_row_reduction(i) for i in columns)
    if columns and not become_rows:
        return None
    operands = [None if i is None else _transposed_operand(i) for i in x.inputs]
    return x.op(*operands, **x.attrs)


def _transposed_operand(operand: Node) -> Node:
    if is_column(operand):
        return operand.parents[0]
    if _is_row_reduction(operand):
        return operand.op(operand.parents[0].mT, dim=0, keepdim=True)
    return operand.mT if operand.shape else operand


def _is_row_reduction(x: Node) -> bool:
    """Whether x is a sum or mean over dim 1 of a matrix, with keepdim=True."""
    return x.op.name in ("sum", "mean") and x.ndim == 2 and axes(x.attrs["dim"], 2) == (1,)


@candidate("matmul")
def row_as_column(node: Node) -> Node | None:
    """x @ A = A.T @ x."""
    a, b = node.parents
    if a.ndim == 1 and b.ndim == 2:
        chain = chain_of(node)
        return None if chain is None else node_of(cancel_inverses(chain), node.shape)
    return None


@normal("matmul")
def named_inner_product(node: Node) -> Node | None:
    """x @ g = g @ x for inputs. Upstream gradients and tangents come first, then the names are in
    alphabetical order, so that equal products are the same node.
    """
    if node.shape or any(i.op.name != "input" or i.ndim != 1 for i in node.parents):
        return None
    order = sorted(node.parents, key=lambda i: (not i.attrs["is_direction"], i.attrs["name"]))
    return None if order == node.parents else node.op(*order)


def _vectors_and_chains(node: Node) -> Iterator[tuple[Node, Chain]]:
    """Yield each operand of an inner product, with the other as a chain of factors."""
    for x, other in permutations(node.parents) if not node.shape else ():
        chain = chain_of(other)
        if chain is not None:
            yield x, chain


@candidate("matmul")
def inner_product_reversed(node: Node) -> Iterator[Node]:
    """x @ (A.T @ y) = y @ A @ x."""
    for x, chain in _vectors_and_chains(node):
        factors = [*chain.flip().factors]
        matrices = [f for f in factors if f.node.ndim == 2]
        if matrices and factors[0].is_row and factors[1:] == matrices:
            yield scaled(chain.scale, product_node([*factors, Factor(x, False)], ()))


@candidate("matmul")
def inner_product_regrouped(node: Node) -> Iterator[Node]:
    """x @ (A.T @ y) = (A @ x) @ y, so that A @ x can be shared with other parts of the formula."""
    for x, chain in _vectors_and_chains(node):
        if len(chain.factors) == 2:
            matrix, y = chain.factors
            if y.is_column and (matrix.transposed or is_symmetric(matrix.node)):
                yield scaled(chain.scale, (matrix.node @ x) @ y.node)


@candidate("matmul")
def inner_product_of_a_sum(node: Node) -> Node | None:
    """x @ (y - 2 * z) = x @ y - 2 * (x @ z)."""
    a, b = node.parents
    if node.shape or a.ndim != 1:
        return None
    for v, total in ((a, b), (b, a)):
        terms = terms_of_sum(total)
        if 0 < len(terms) <= MOST_TERMS:
            return sum_of([_product_with_term(v, t, total.shape) for t in terms])
    return None


def _product_with_term(a: Node, term: Product, shape: Shape) -> Product:
    """The product of a vector or matrix and a term, times the scalars of the term."""
    scalars, rest = term.split(is_scalar)
    product = a @ build(rest, shape)
    return scalars.times({matmul_by_identity_rows(product) or product: 1})


@candidate("matmul")
def columns_out_of_product(node: Node) -> Iterator[Node]:
    """(A / u.unsqueeze(1)) @ B = A @ B / u.unsqueeze(1)."""
    a, b = node.parents
    result = (product_of(a) if a.ndim == b.ndim == 2 else None) or NOTHING
    columns, rest = result.split(lambda f: f.shape == (a.shape[0], 1))
    if columns.factors and rest.factors and not is_mask(rest.factors):
        yield build(columns.times({build(rest, a.shape) @ b: 1}), node.shape)


@candidate("matmul")
def product_of_transposes(node: Node) -> Iterator[Node]:
    """B.T @ A.T = (A @ B).T, and parts of longer chains."""
    chain = chain_of(node)
    if chain is None or not 2 <= len(chain.factors) <= 8 or chain.scale.coefficient == 0:
        return
    factors = list(chain.factors)
    for start in range(len(factors) - 1):
        for end in range(start + 2, len(factors) + 1):
            part = factors[start:end]
            are_matrices = all(f.node.ndim == 2 for f in part)
            if are_matrices and sum(f.transposed for f in part) * 2 >= len(part):
                inner = product_node([f.flip() for f in reversed(part)], ())
                whole = [*factors[:start], Factor(inner, True), *factors[end:]]
                yield node_of(chain._replace(factors=tuple(whole)), node.shape)


@candidate("elementwise")
def elementwise_of_transposes(node: Node) -> Node | None:
    """A.T * (B.T > 0) = (A * (B > 0)).T, unless an operand is broadcast."""
    transposed = _with_transposed_operands(node) if node.ndim >= 2 else None
    if transposed is None:
        return None
    split = scalars_of(transposed)
    return transposed.mT if split is None else scaled(split[0], split[1].mT)


@candidate("transpose")
def transpose_into_operands(node: Node) -> Node | None:
    """softmax(A @ B.T, 1).T = softmax(B @ A.T, 0); exp(A @ B.T).T = exp(B @ A.T)."""
    x = node.parents[0]
    if not last_two(node) or x.ndim != 2:
        return None
    if x.op.name not in ("softmax", "log_softmax"):
        return _with_transposed_operands(x) if x.op.family == "elementwise" else None
    inner = _cheap_transpose(x.parents[0])
    return None if inner is None else x.op(inner, **x.attrs | {"dim": 1 - axis(x.attrs["dim"], 2)})


def _with_transposed_operands(node: Node) -> Node | None:
    """node.T with transposed operands; None if the transpose of one is longer than the operand, or
    if an operand is broadcast.
    """
    inner = [_cheap_transpose(i) if i.shape else i for i in node.parents]
    sizes = [i.shape for i in node.parents if i.shape]
    same_shape = len(inner) == len(node.inputs) and sizes and all(s == node.shape for s in sizes)
    return node.op(*inner, **node.attrs) if same_shape and None not in inner else None


def _cheap_transpose(x: Node) -> Node | None:
    """x.T, if its formula is not longer than that of x; else None."""
    if is_transposed(x):
        return x.parents[0]
    if x.op.family == "elementwise":
        return _with_transposed_operands(x)
    if x.op.name in ("matmul", "outer"):
        chain = chain_of(x)
        if chain is None or 2 * sum(f.transposed for f in chain.factors) < len(chain.factors):
            return None
        return node_of(chain.flip(), x.shape[::-1])
    return x if is_symmetric(x) else None


@normal("matmul")
def vector_times_identity_sum(node: Node) -> Node | None:
    """(eye(n) - A) @ x = x - A @ x for a vector x."""
    return matmul_of_identity_sum(node) if node.parents[1].ndim == 1 else None


@candidate("matmul")
def matmul_of_identity_sum(node: Node) -> Node | None:
    """(eye(n) - A) @ x = x - A @ x."""
    a, b = node.parents
    terms = terms_of_sum(a) if a.ndim == 2 else []
    if not any(is_unit(f) for t in terms for f in t.factors):
        return None
    parts = [build(t._replace(coefficient=ONE), a.shape) @ b for t in terms]
    return sum_of([Product(t.coefficient, {p: 1}) for t, p in zip(terms, parts, strict=True)])


@candidate("matmul")
def matmul_with_unit_vectors(node: Node) -> Node | None:
    """A.T @ (eye(n)[k] - v) = A[k] - A.T @ v."""
    a, b = node.parents
    terms = terms_of_sum(b) if b.ndim == 1 and a.ndim == 2 else []
    if len(terms) > MOST_TERMS or not any(_is_row_of_unit(f) for t in terms for f in t.factors):
        return None
    return sum_of([_product_with_term(a, t, b.shape) for t in terms])


@candidate("matmul")
def matmul_of_one_row(node: Node) -> Node | None:
    """A @ (eye(n)[k].unsqueeze(-1) * B) = outer(A[:, k], B[k]), and so is (A * eye(n)[k]) @ B."""
    a, b = node.parents
    if a.ndim != 2 or b.ndim != 2:
        return None
    for unit, rows in (b.parents, b.parents[::-1]) if b.op.name == "mul" else ():
        row = unit.parents[0] if unit.op.name == "unsqueeze" else unit
        if unit.shape == (b.shape[0], 1) and rows.shape == b.shape and _is_row_of_unit(row):
            (k,) = row.attrs["index"]
            return OPS["outer"](a[:, k], rows[k])
    for unit, columns in (a.parents, a.parents[::-1]) if a.op.name == "mul" else ():
        if columns.shape == a.shape and unit.ndim == 1 and _is_row_of_unit(unit):
            (k,) = unit.attrs["index"]
            row = b.parents[0][:, k] if b.op.name == "transpose" else b[k]
            return OPS["outer"](columns[:, k], row)
    return None


def _is_row_of_unit(row: Node) -> bool:
    """Whether a node is eye(n)[k]."""
    index: tuple = row.attrs["index"] if row.op.name == "getitem" else ()
    of_unit = len(index) == 1 and isinstance(index[0], int)
    return of_unit and row.parents[0].op.name == "eye"


@layout("add")
def transpose_second(node: Node) -> Node | None:
    """A.T + A = A + A.T."""
    a, b = node.parents
    return node.op(b, a) if a.op.name == "transpose" and a.parents[0] is b else None


@layout("matmul")
def without_parentheses(node: Node) -> Node | None:
    """A @ (B @ C) = A @ B @ C for matrices, up to MOST_FACTORS factors."""
    a, b = node.parents
    after: list[Node] = []
    while (
        b.op.name == "matmul" and min(a.ndim, b.parents[0].ndim) > 1 and len(after) < MOST_FACTORS
    ):
        b, last = b.parents
        after.append(last)
    if not 0 < len(after) < MOST_FACTORS:
        return None
    return reduce(node.op, reversed(after), node.op(a, b))


@layout("neg")
def sign_before_products(node: Node) -> Node | None:
    """-(A @ x) = -A @ x and -(a * b) = -a * b, for products of any length."""
    product = node.parents[0]
    if product.op.name not in ("matmul", "mul", "div"):
        return None
    a, b = product.parents
    if a.dtype == "bool":
        return None  # PyTorch has no -(x > 0)
    first = node.op(a)
    return product.op(sign_before_products(first) or first, b)


# ---- selected rows and columns -------------------------------------------------------------------


@candidate("matmul")
def matmul_by_identity_rows(node: Node) -> Node | None:
    """A @ eye(n)[k] = A[:, k]; eye(n)[:2] @ A = A[:2]; eye(n)[k] @ A = A.T @ eye(n)[k] = A[k]."""
    a, b = node.parents
    if max(a.ndim, b.ndim) > 2:
        return None
    if (item := _identity_index(a)) is not None:
        return _rows_or_columns(b, 0, item)
    columns = b if b.ndim == 1 else b.parents[0] if b.op.name == "transpose" else None
    item = None if columns is None else _identity_index(columns)
    return None if item is None else _rows_or_columns(a, a.ndim - 1, item)


@candidate("matmul")
def index_select_from_scatter(node: Node) -> Node | None:
    """ones(4, 1).scatter_to((4, 3), 1, p.unsqueeze(1)) @ C = C.index_select(0, p): a matrix with a
    1 in each row selects rows.
    """
    a, b = node.parents
    if a.op.name != "scatter_to" or a.ndim != 2 or b.ndim > 2 or axis(a.attrs["dim"], 2) != 1:
        return None
    v, index = a.parents
    one_per_row = v.shape == index.shape == (a.shape[0], 1)
    if not one_per_row or constant_value(v) != 1:
        return None
    return b.index_select(dim=0, index=index.squeeze(dim=1))


def _identity_index(rows: Node) -> int | slice | None:
    """The integer or slice of eye(n)[item]; None for any other node."""
    if rows.op.name != "getitem" or not is_unit(rows.parents[0]):
        return None
    (item, *more) = rows.attrs["index"]
    return item if isinstance(item, int | slice) and not more else None


def _rows_or_columns(x: Node, dim: int, item: int | slice) -> Node:
    """x[item] for dim 0, x[:, item] for dim 1."""
    if is_transposed(x):
        selected = _rows_or_columns(x.parents[0], 1 - dim, item)
        return selected.mT if selected.ndim == 2 else selected
    return x[:, item] if dim else x[item]


@normal("getitem")
def index_of_outer(node: Node) -> Node | None:
    """outer(a, b)[:, :4] = outer(a, b[:4]); outer(a, b)[0] = a[0] * b."""
    product = node.parents[0]
    full = _plain_index(node) if product.op.name == "outer" else None
    if full is None:
        return None
    a, b = (_indexed(v, (i,)) for v, i in zip(product.parents, full, strict=True))
    return product.op(a, b) if node.ndim == 2 else a * b


@candidate("getitem")
def index_of_matmul(node: Node) -> Node | None:
    """(A @ B)[0] = A[0] @ B; (A @ B)[:, 0] = A @ B[:, 0]."""
    product = node.parents[0]
    full = _plain_index(node) if product.op.name == "matmul" and 1 <= product.ndim <= 2 else None
    if full is None:
        return None
    a, b = product.parents
    left = _indexed(a, (full[0],)) if a.ndim == 2 else a
    return left @ (_indexed(b, (slice(None), full[-1])) if b.ndim == 2 else b)


def _plain_index(node: Node) -> list | None:
    """The items of an index, one for each dimension; None unless all are integers and slices."""
    full = full_index(node.attrs["index"], node.parents[0].ndim)
    return full if all(isinstance(i, int | slice) for i in full) else None


def _indexed(x: Node, index: tuple) -> Node:
    """x[index]; x itself if the index selects all of it."""
    return x if index[-1] == slice(None) else x[index]
