"""Labels: rows of the identity that they pick, and what they pick out of each row."""

from ....graphs import OPS, Node, as_node
from ....graphs.shapes import axes, axis
from ....lazy import np
from ....operators.leaves import Array
from .atoms import definition
from .places import RESHAPING, at_unit, picks
from .products import build, product_of
from .registry import normal, other


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


@normal("put_at")
def put_into_each_row(node: Node) -> Node | None:
    """v put at [arange(x.shape[0]), y] = v.unsqueeze(1) * eye(x.shape[1])[y]."""
    v, index = node.parents[0], node.attrs["index"]
    if node.ndim != 2 or len(index) != 2 or not all(map(picks, index)):
        return None
    rows, labels = (np.asarray(i.value if isinstance(i, Array) else i) for i in index)
    each = rows.dtype.kind == "i" and np.array_equal(rows, np.arange(node.shape[0]))
    if not each or labels.dtype.kind != "i" or not v.shape == labels.shape == rows.shape:
        return None
    return at_unit(v.unsqueeze(dim=1), OPS["eye"](n=node.shape[1])[(index[1],)])


@other("gather")
def picked_by_labels(node: Node) -> Node | None:
    """x.gather(0, y) = x[y] for a vector x and known labels y."""
    x, y = node.parents
    known = x.ndim == 1 and y.op.name == "tensor"
    return x[(y.attrs["data"],)] if known else None


@other("scatter_to")
def times_rows_of_the_identity(node: Node) -> Node | None:
    """v.scatter_to(x.shape, 1, y.unsqueeze(1)) = v * eye(x.shape[1])[y] for known labels y."""
    v, index = node.parents
    y = index.parents[0] if index.op.name in RESHAPING else index
    if node.ndim != 2 or axis(node.attrs["dim"], 2) != 1 or y.op.name != "tensor":
        return None
    if index.shape != (node.shape[0], 1) or v.shape != index.shape or v.dtype != "float":
        return None
    return v * OPS["eye"](n=node.shape[1])[(y.attrs["data"],)]


@normal("elementwise")
def rows_beside_floats(node: Node) -> Node | None:
    """x * eye(n)[y].long() = x * eye(n)[y]; as floats it is what it was."""
    if node.op.name == "double" and _are_rows(node.parents[0]):
        return node.parents[0].parents[0]
    if node.op.dtype != "promote" or not any(i.dtype == "float" for i in node.parents):
        return None
    inputs = [i.parents[0] if _are_rows(i) else i for i in node.parents]
    changed = len(inputs) == len(node.inputs) and inputs != node.parents
    return node.op(*inputs, **node.attrs) if changed else None


@normal("mul", "div")
def rows_in_products(node: Node) -> Node | None:
    """eye(n)[y].long() / n = eye(n)[y] / n; beside numbers or alone, as a quotient is of floats."""
    found = product_of(node) if node.dtype == "float" else None
    if found is None or not any(map(_are_rows, found.factors)):
        return None
    factors = {f.parents[0] if _are_rows(f) else f: e for f, e in found.factors.items()}
    return build(found._replace(factors=factors), node.shape)


def _are_rows(x: Node) -> bool:
    """Whether a node is rows of the identity, as whole numbers."""
    rows = x.parents[0] if x.op.name == "long" else x
    return rows is not x and rows.op.name == "getitem" and rows.parents[0].op.name == "eye"


@normal("sum")
def sum_of_rows(node: Node) -> Node | None:
    """eye(n)[y].sum(dim=1) = 1 for known labels y, also where it has a name."""
    named = node.parents[0]
    whole = definition(named) or named
    x = whole.parents[0] if _are_rows(whole) else whole
    unit = x.parents[0] if x.op.name == "getitem" else x
    if unit is x or unit.op.name != "eye" or unit.shape[0] != unit.shape[1] or x.ndim < 2:
        return None
    labelled = len(x.attrs["index"]) == 1 and isinstance(x.attrs["index"][0], Array)
    last = axes(node.attrs["dim"], x.ndim) == (x.ndim - 1,)
    if not labelled or not last:
        return None
    one = 1.0 if node.dtype == "float" else 1
    return OPS["full"](size=node.shape, fill_value=one) if node.shape else as_node(one)
