"""Integer tensors of known values as indices: one-hot rows eye(n)[y], and one element of each row.

`y` denotes a one-dimensional integer tensor of known values, such as the targets of a
classification. v.put_at(shape, index) is zeros(shape) with v added at the index;
v.scatter_to(shape, dim, index) is zeros(shape).scatter_add(dim, index, v).
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import permutations

from ....graphs import OPS, Node, as_node
from ....graphs.shapes import axes, axis
from ....lazy import np
from ....operators.indexing import is_array
from ....operators.leaves import Array, size_of
from .atoms import defined
from .matrices import is_unit
from .places import RESHAPING, at_unit, new_dimensions
from .products import (
    NOTHING,
    Coefficient,
    build,
    product_of,
    with_factors,
)
from .registry import candidate, normal, rule


@normal("double")
def rows_of_the_identity(node: Node) -> Node | None:
    """(y.unsqueeze(1) == arange(n)).double() = eye(n)[y] for known y, eye(m, n) for arange(m)."""
    mask = node.parents[0]
    if mask.op.name != "eq" or mask.ndim != 2:
        return None
    column, classes = mask.parents
    if column.op.name != "unsqueeze" or classes.op.name != "arange":
        return None
    y = column.parents[0]
    if not _is_arange(classes) or node.shape != (*y.shape, *classes.shape):
        return None
    if _is_arange(y):
        return OPS["eye"](n=y.shape[0], m=classes.shape[0])
    if y.op.name != "tensor":
        return None
    return OPS["eye"](n=classes.shape[0])[(y.attrs["data"],)]


def _is_arange(x: Node) -> bool:
    """Whether x is arange(n)."""
    return x.op.name == "arange" and (x.attrs["start"], x.attrs["step"]) == (0, 1)


@rule("reshape")
def reshape_of_known_indices(node: Node) -> Node | None:
    """t.reshape(-1) of known integers t, evaluated."""
    (t,) = node.parents
    known = t.op.name == "tensor" and t.dtype == "int" and t.ndim > 1 == node.ndim
    return OPS["tensor"](data=_flattened(t.attrs["data"])) if known else None


@lru_cache(maxsize=64)
def _flattened(data: Array) -> Array:
    return Array(data.value.reshape(-1), f"{data}.reshape(-1)")


@normal("put_at")
def one_hot_from_put_at(node: Node) -> Node | None:
    """v.put_at(x.shape, (arange(x.shape[0]), y)) = v.unsqueeze(1) * eye(x.shape[1])[y]."""
    v, index = node.parents[0], node.attrs["index"]
    if node.ndim != 2 or not _one_per_row(index, node) or v.shape != node.shape[:1]:
        return None
    return at_unit(v.unsqueeze(dim=1), OPS["eye"](n=node.shape[1])[(index[1],)])


@normal("getitem")
def column_of_indices(node: Node) -> Node | None:
    """y[:, None] = y.unsqueeze(1) for known indices y."""
    return new_dimensions(node) if node.parents[0].op.name == "tensor" else None


@candidate("gather")
def gather_by_known_indices(node: Node) -> Node | None:
    """x.gather(0, y) = x[y] for a vector x and known indices y."""
    x, y = node.parents
    known = x.ndim == 1 and y.op.name == "tensor"
    return x[(y.attrs["data"],)] if known else None


@candidate("scatter_to")
def one_hot_from_scatter(node: Node) -> Node | None:
    """v.scatter_to(x.shape, 1, y.unsqueeze(1)) = v * eye(x.shape[1])[y] for known indices y, one
    for each row; with further dimensions in y, eye(x.shape[1])[y] is permuted.
    """
    v, index = node.parents
    y = index.parents[0] if index.op.name in RESHAPING else index
    if y.op.name != "tensor" or axis(node.attrs["dim"], node.ndim) != 1 or v.dtype != "float":
        return None
    if v.shape != index.shape or index.shape != (*y.shape[:1], 1, *y.shape[1:]):
        return None
    if node.shape[:1] != y.shape[:1] or node.shape[2:] != y.shape[1:]:
        return None
    rows = OPS["eye"](n=node.shape[1])[(y.attrs["data"],)]
    permutation = (0, node.ndim - 1, *range(1, node.ndim - 1))
    return v * (rows if node.ndim == 2 else rows.permute(dims=permutation))


@normal("mul", "div")
def one_hot_in_products(node: Node) -> Node | None:
    """eye(n)[y].long() / n = eye(n)[y] / n, in products of floating-point dtype."""
    result = (product_of(node) if node.dtype == "float" else None) or NOTHING
    if not any(map(_is_integer_one_hot, result.factors)):
        return None
    factors = {f.parents[0] if _is_integer_one_hot(f) else f: e for f, e in result.factors.items()}
    return build(result._replace(factors=factors), node.shape)


def one_hot_indices(f: Node) -> Array | None:
    """y of eye(n)[y] for known indices y; None for any other node."""
    of_identity = f.op.name == "getitem" and is_unit(f.parents[0])
    index: tuple = f.attrs["index"] if of_identity else ()
    is_indexed = len(index) == 1 and isinstance(index[0], Array) and index[0].dtype == "int"
    return index[0] if is_indexed else None


def _is_integer_one_hot(x: Node) -> bool:
    """Whether a node is eye(n)[y].long()."""
    return x.op.name == "long" and one_hot_indices(x.parents[0]) is not None


@normal("sum", "mean")
def sum_of_one_hot(node: Node) -> Node | None:
    """eye(n)[y].sum(dim=1) = 1 for known indices y, and the mean is 1 / n. The one-hot tensor may
    have a name in the formula.
    """
    operand = node.parents[0]
    whole = defined(operand)
    x = whole.parents[0] if whole.op.name == "long" else whole
    if one_hot_indices(x) is None or axes(node.attrs["dim"], x.ndim) != (x.ndim - 1,):
        return None
    one = 1.0 if node.dtype == "float" else 1
    ones = OPS["full"](size=node.shape, fill_value=one) if node.shape else as_node(one)
    return (
        ones if node.op.name == "sum" else ones / size_of(x.shape, axes(node.attrs["dim"], x.ndim))
    )


# ---- one element of each row ---------------------------------------------------------------------


@candidate("sum")
def gather_from_one_hot(node: Node) -> Iterator[Node]:
    """(z.unsqueeze(1) * x * eye(n)[y]).sum(dim=1, keepdim=True) =
    z.unsqueeze(1) * x.gather(1, y.unsqueeze(1)).
    """
    x, keepdim = node.parents[0], node.attrs["keepdim"]
    is_column = keepdim and x.ndim == 2 and node.shape == (x.shape[0], 1)
    result = (product_of(x) if is_column else None) or NOTHING
    for f, e in result.factors.items():
        y = one_hot_indices(f) if e == 1 and f.shape == x.shape else None
        if y is not None:
            outer, inner = result.without(f).split(lambda k: k.shape in ((), node.shape))
            index = OPS["tensor"](data=y).unsqueeze(dim=1)
            picked = build(inner, x.shape).gather(dim=1, index=index)
            yield build(outer.times({picked: 1}), node.shape)


@normal("unsqueeze")
def unsqueeze_of_gathered(node: Node) -> Node | None:
    """(x[arange(n), y] * z).unsqueeze(1) = x.gather(1, y.unsqueeze(1)) * z.unsqueeze(1)."""
    v = node.parents[0]
    result = (product_of(v) if node.shape == (*v.shape, 1) and v.ndim == 1 else None) or NOTHING
    picked = {f: y for f in result.factors if (y := _picked_indices(f)) is not None}
    if not picked:
        return None
    factors: dict[Node, Coefficient] = {}
    for f, e in result.factors.items():
        column = f.unsqueeze(dim=1) if f.shape else f
        if f in picked:
            index = OPS["tensor"](data=picked[f]).unsqueeze(dim=1)
            column = f.parents[0].gather(dim=1, index=index)
        factors = with_factors(factors, {column: e})
    return build(result._replace(factors=factors), node.shape)


@normal("mul", "div")
def gathered_cancelled(node: Node) -> Node | None:
    """x * eye(n)[y] / x.gather(1, y.unsqueeze(1)) = eye(n)[y], and
    (x * eye(n)[y]).sum(dim=1, keepdim=True) / x.gather(1, y.unsqueeze(1)) = 1.
    """
    result = (product_of(node) if node.ndim == 2 else None) or NOTHING
    powers = result.factors
    below = {_gathered(f): f for f, e in powers.items() if e < 0 and _gathered(f) is not None}
    keys = [_key(y) for f, e in powers.items() if e == 1 and (y := one_hot_indices(f))]
    for f, e in powers.items() if below else ():
        of_rows = ((f, y) for y in keys)
        pick = next((p for p in (_gathered(f), *of_rows) if p in below), None) if e > 0 else None
        if pick is not None:
            factors = with_factors(powers, {f: -1, below[pick]: 1})
            return build(result._replace(factors=factors), node.shape)
    return None


@candidate("mul", "div")
def gathered_in_difference(node: Node) -> Iterator[Node]:
    """x * (p - eye(n)[y]) = p * (x - eye(n)[y]) for p = x.gather(1, y.unsqueeze(1)), because
    x * eye(n)[y] = p * eye(n)[y].
    """
    result = (product_of(node) if node.ndim == 2 else None) or NOTHING
    for total in result.once("sub"):
        for pick, rows in (total.parents, total.parents[::-1]):
            y = one_hot_indices(rows.parents[0] if _is_integer_one_hot(rows) else rows)
            x, key = _gathered(pick) or (None, None)
            if y is None or x is None or key != _key(y) or result.factors.get(x, 0) < 1:
                continue
            difference = total.op(*(x if i is pick else i for i in total.parents))
            yield build(result.times({total: -1, x: -1, pick: 1, difference: 1}), node.shape)


def _gathered(f: Node) -> tuple[Node, bytes] | None:
    """x and a key of the indices, if a column is x.gather(1, y.unsqueeze(1)) or the sum of
    x * eye(n)[y]; else None.
    """
    if f.ndim != 2 or f.shape[1] != 1:
        return None
    base = defined(f.parents[0]) if f.op.name == "unsqueeze" else f
    picked = _picked_indices(base)
    if picked is not None:
        return base.parents[0], _key(picked)
    f = _column_definition(f)
    if f.op.name == "gather" and axis(f.attrs["dim"], 2) == 1:
        x, index = f.parents
        y = _indices_of_column(index)
        return None if y is None else (x, _key(y))
    inside = product_of(f.parents[0]) if f.op.name == "sum" else None
    if inside is None or inside.coefficient != 1 or len(inside.factors) != 2:
        return None
    for x, rows in permutations(inside.factors):
        y = one_hot_indices(rows)
        if y is not None and x.shape == rows.shape and inside.factors[x] == 1:
            return x, _key(y)
    return None


def _column_definition(f: Node) -> Node:
    """The definition of a named column; x for p.unsqueeze(1) where p = x.squeeze(1)."""
    base = f.parents[0] if f.op.name == "unsqueeze" else f
    inner = defined(base)
    column = inner.parents[0] if base is not f and inner.op.name == "squeeze" else inner
    return column if column.shape == f.shape else f


def _indices_of_column(index: Node) -> Array | None:
    """y of y.unsqueeze(1) for known indices y; None for any other node."""
    y = index.parents[0] if index.op.name in RESHAPING else index
    known = y.op.name == "tensor" and index.shape == (y.numel, 1) and y.ndim == 1
    return y.attrs["data"] if known else None


def _key(data: Array) -> bytes:
    """A hashable key, equal for equal indices."""
    return np.asarray(data.value).tobytes()


def _picked_indices(f: Node) -> Array | None:
    """y of x[arange(x.shape[0]), y] for known nonnegative y; None for any other node."""
    of_matrix = f.op.name == "getitem" and f.parents[0].ndim == 2
    index: tuple = f.attrs["index"] if of_matrix else ()
    if len(index) != 2 or not isinstance(index[1], Array) or not _one_per_row(index, f.parents[0]):
        return None
    return None if (index[1].value < 0).any() else index[1]


def _one_per_row(index: tuple, x: Node) -> bool:
    """Whether an index is [arange(x.shape[0]), y], so that it picks one element of each row."""
    if len(index) != 2 or not all(map(is_array, index)):
        return False
    rows, labels = (np.asarray(i.value if isinstance(i, Array) else i) for i in index)
    each = rows.dtype.kind == "i" and np.array_equal(rows, np.arange(x.shape[0]))
    return each and labels.dtype.kind == "i" and labels.shape == rows.shape
