"""Labels: rows of the identity that they pick, and what they pick out of each row."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import permutations

from ....graphs import OPS, Node, as_node
from ....graphs.shapes import axes, axis
from ....lazy import np
from ....operators.leaves import Array
from .atoms import definition
from .parts import new_dimensions
from .places import RESHAPING, at_unit, picks
from .products import ONE, Coefficient, Product, build, product_of, with_factor, with_factors
from .registry import normal, other, rule


@normal("double")
def rows_of_the_identity(node: Node) -> Node | None:
    """(y.unsqueeze(1) == arange(n)).double() = eye(n)[y] for known labels y; eye(m, n) for
    arange(m).
    """
    mask = node.parents[0]
    if mask.op.name != "eq" or mask.ndim != 2:
        return None
    labels, numbers = mask.parents
    if labels.op.name != "unsqueeze" or numbers.op.name != "arange":
        return None
    y = labels.parents[0]
    if not _counts(numbers) or node.shape != (*y.shape, *numbers.shape):
        return None
    if _counts(y):
        return OPS["eye"](n=y.shape[0], m=numbers.shape[0])
    if y.op.name != "tensor":
        return None
    return OPS["eye"](n=numbers.shape[0])[(y.attrs["data"],)]


def _counts(x: Node) -> bool:
    """Whether it is arange(n)."""
    return x.op.name == "arange" and (x.attrs["start"], x.attrs["step"]) == (0, 1)


@rule("reshape")
def known_in_a_row(node: Node) -> Node | None:
    """t.reshape(-1) of known labels t is known as they are."""
    (t,) = node.parents
    known = t.op.name == "tensor" and t.dtype == "int" and t.ndim > 1 == node.ndim
    return OPS["tensor"](data=_in_a_row(t.attrs["data"])) if known else None


@lru_cache(maxsize=64)
def _in_a_row(data: Array) -> Array:
    return Array(data.value.reshape(-1), f"{data}.reshape(-1)")


@normal("put_at")
def put_into_each_row(node: Node) -> Node | None:
    """v put at [arange(x.shape[0]), y] = v.unsqueeze(1) * eye(x.shape[1])[y]."""
    v, index = node.parents[0], node.attrs["index"]
    if node.ndim != 2 or not _in_order(index, node) or v.shape != node.shape[:1]:
        return None
    return at_unit(v.unsqueeze(dim=1), OPS["eye"](n=node.shape[1])[(index[1],)])


@normal("getitem")
def column_of_labels(node: Node) -> Node | None:
    """y[:, None] = y.unsqueeze(1) for known labels y."""
    return new_dimensions(node) if node.parents[0].op.name == "tensor" else None


@other("gather")
def picked_by_labels(node: Node) -> Node | None:
    """x.gather(0, y) = x[y] for a vector x and known labels y."""
    x, y = node.parents
    known = x.ndim == 1 and y.op.name == "tensor"
    return x[(y.attrs["data"],)] if known else None


@other("scatter_to")
def times_rows_of_the_identity(node: Node) -> Node | None:
    """v.scatter_to(x.shape, 1, y.unsqueeze(1)) = v * eye(x.shape[1])[y] for known labels y, one
    for each row; for one at each place of a row, v * eye(x.shape[1])[y].mT, and so on.
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
    order = (0, node.ndim - 1, *range(1, node.ndim - 1))
    return v * (rows if node.ndim == 2 else rows.permute(dims=order))


@normal("mul", "div")
def rows_in_products(node: Node) -> Node | None:
    """eye(n)[y].long() / n = eye(n)[y] / n; beside numbers or alone, as a quotient is of floats."""
    result = product_of(node) if node.dtype == "float" else None
    if result is None or not any(map(_are_rows, result.factors)):
        return None
    factors = {f.parents[0] if _are_rows(f) else f: e for f, e in result.factors.items()}
    return build(result._replace(factors=factors), node.shape)


def rows_of_unit(f: Node) -> Array | None:
    """y of eye(n)[y], for known labels y."""
    unit = f.parents[0] if f.op.name == "getitem" else f
    square = unit is not f and unit.op.name == "eye" and unit.shape[0] == unit.shape[1]
    index: tuple = f.attrs["index"] if square else ()
    labelled = len(index) == 1 and isinstance(index[0], Array) and index[0].dtype == "int"
    return index[0] if labelled else None


def _are_rows(x: Node) -> bool:
    """Whether a node is rows of the identity, as whole numbers."""
    return x.op.name == "long" and rows_of_unit(x.parents[0]) is not None


@normal("sum")
def sum_of_rows(node: Node) -> Node | None:
    """eye(n)[y].sum(dim=1) = 1 for known labels y, also where it has a name."""
    named = node.parents[0]
    whole = definition(named) or named
    x = whole.parents[0] if whole.op.name == "long" else whole
    if rows_of_unit(x) is None or axes(node.attrs["dim"], x.ndim) != (x.ndim - 1,):
        return None
    one = 1.0 if node.dtype == "float" else 1
    return OPS["full"](size=node.shape, fill_value=one) if node.shape else as_node(one)


# ---- one element of each row ---------------------------------------------------------------------


@other("sum")
def gathered_by_labels(node: Node) -> Iterator[Node]:
    """(z.unsqueeze(1) * x * eye(n)[y]).sum(dim=1, keepdim=True) =
    z.unsqueeze(1) * x.gather(1, y.unsqueeze(1)).
    """
    x, kept = node.parents[0], node.attrs["keepdim"]
    result = product_of(x) if kept and x.ndim == 2 and node.shape == (x.shape[0], 1) else None
    for f, e in result.factors.items() if result else ():
        y = rows_of_unit(f) if e == 1 and f.shape == x.shape else None
        if y is not None:
            rest = result.without(f).factors  # type: ignore[union-attr]
            thin = {k: v for k, v in rest.items() if k.shape in ((), node.shape)}
            wide = build(Product(ONE, {k: v for k, v in rest.items() if k not in thin}), x.shape)
            picked = wide.gather(dim=1, index=OPS["tensor"](data=y).unsqueeze(dim=1))
            yield build(result._replace(factors=with_factor(thin, picked)), node.shape)  # type: ignore[union-attr]


@normal("unsqueeze")
def column_of_picks(node: Node) -> Node | None:
    """(x[arange(n), y] * z).unsqueeze(1) = x.gather(1, y.unsqueeze(1)) * z.unsqueeze(1)."""
    v = node.parents[0]
    result = product_of(v) if node.shape == (*v.shape, 1) and v.ndim == 1 else None
    picks = (
        {f: y for f in result.factors if (y := _labels_of_pick(f)) is not None} if result else {}
    )
    if result is None or not picks:
        return None
    factors: dict[Node, Coefficient] = {}
    for f, e in result.factors.items():
        column = f.unsqueeze(dim=1) if f.shape else f
        if f in picks:
            index = OPS["tensor"](data=picks[f]).unsqueeze(dim=1)
            column = f.parents[0].gather(dim=1, index=index)
        factors = with_factors(factors, {column: e})
    return build(result._replace(factors=factors), node.shape)


@normal("mul", "div")
def picks_cancelled(node: Node) -> Node | None:
    """x * eye(n)[y] / x.gather(1, y.unsqueeze(1)) = eye(n)[y]; the sum of x * eye(n)[y] by what is
    gathered is 1.
    """
    result = product_of(node) if node.ndim == 2 else None
    if result is None:
        return None
    powers = result.factors
    below = {_picked(f): f for f, e in powers.items() if e < 0 and _picked(f) is not None}
    labels = [_numbers(y) for f, e in powers.items() if e == 1 and (y := rows_of_unit(f))]
    for f, e in powers.items() if below else ():
        of_rows = ((f, y) for y in labels)
        pick = next((p for p in (_picked(f), *of_rows) if p in below), None) if e > 0 else None
        if pick is not None:
            factors = with_factors(powers, {f: -1, below[pick]: 1})
            return build(result._replace(factors=factors), node.shape)
    return None


def _picked(f: Node) -> tuple[Node, bytes] | None:
    """x and the labels where a column has one element of each row of x."""
    if f.ndim != 2 or f.shape[1] != 1:
        return None
    f = _column_meant(f)
    if f.op.name == "gather" and axis(f.attrs["dim"], 2) == 1:
        x, index = f.parents
        labels = _labels_of_column(index)
        return None if labels is None else (x, _numbers(labels))
    inside = product_of(f.parents[0]) if f.op.name == "sum" else None
    if inside is None or inside.coefficient != 1 or len(inside.factors) != 2:
        return None
    for x, rows in permutations(inside.factors):
        y = rows_of_unit(rows)
        if y is not None and x.shape == rows.shape and inside.factors[x] == 1:
            return x, _numbers(y)
    return None


def _column_meant(f: Node) -> Node:
    """What a name stands for; of p.unsqueeze(1), for p = x.squeeze(1), it is x."""
    named = f.parents[0] if f.op.name == "unsqueeze" else f
    meant = definition(named) or named
    whole = meant.parents[0] if named is not f and meant.op.name == "squeeze" else meant
    return whole if whole.shape == f.shape else f


def _labels_of_column(index: Node) -> Array | None:
    """y of y.unsqueeze(1), for known labels y."""
    y = index.parents[0] if index.op.name in RESHAPING else index
    known = y.op.name == "tensor" and index.shape == (y.numel, 1) and y.ndim == 1
    return y.attrs["data"] if known else None


def _numbers(data: Array) -> bytes:
    """What two arrays of labels have in common that are equal."""
    return np.asarray(data.value).tobytes()


def _labels_of_pick(f: Node) -> Array | None:
    """y of x[arange(x.shape[0]), y], none of it counted from the end."""
    of_matrix = f.op.name == "getitem" and f.parents[0].ndim == 2
    index: tuple = f.attrs["index"] if of_matrix else ()
    if len(index) != 2 or not isinstance(index[1], Array) or not _in_order(index, f.parents[0]):
        return None
    return None if (index[1].value < 0).any() else index[1]


def _in_order(index: tuple, x: Node) -> bool:
    """Whether an index into x has one whole number for each row."""
    if len(index) != 2 or not all(map(picks, index)):
        return False
    rows, labels = (np.asarray(i.value if isinstance(i, Array) else i) for i in index)
    each = rows.dtype.kind == "i" and np.array_equal(rows, np.arange(x.shape[0]))
    return each and labels.dtype.kind == "i" and labels.shape == rows.shape
