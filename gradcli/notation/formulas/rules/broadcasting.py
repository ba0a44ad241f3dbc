"""Identities of expanded tensors: expansions that broadcasting makes redundant, and reductions of
tensors with repeated or new dimensions. Also of constant tensors (ones, full), where, and a
reduction that cancels.
"""

from collections.abc import Iterator

from ....graphs import OPS, Node, Operator, as_node
from ....graphs.shapes import axes, axis
from ....graphs.substitution import with_attributes
from ....operators.leaves import size_of
from ....operators.shaping import summed_axes
from .products import NOTHING, ONE, build, constant_value, product_of
from .registry import candidate, rule


@rule("elementwise")
def broadcast_by_other_operands(node: Node) -> Node | None:
    """x + y.expand(x.shape) = x + y; where(c, ones, x) = where(c, 1, x)."""
    for position, operand in enumerate(node.inputs):
        smaller = None if operand is None else unbroadcast(operand)
        if smaller is None or (smaller.op.name == "constant" and not _may_be_number(node.op)):
            continue
        new = node.op(*node.inputs[:position], smaller, *node.inputs[position + 1 :], **node.attrs)
        if new.shape == node.shape:
            return new
    return None


def _may_be_number(op: Operator) -> bool:
    """Whether PyTorch accepts a Python number in place of a tensor operand."""
    return bool(op.spelling) or op.numbers in (True, "together") or op.torch is None


def unbroadcast(x: Node) -> Node | None:
    """A node of a smaller shape whose elements, after broadcasting, are those of x, such as v for
    v.expand(2, 3) and 1 for ones(2, 3); None if there is none.
    """
    if x.op.name == "expand" or (x.op.name == "unsqueeze" and x.attrs["dim"] in (0, -x.ndim)):
        return x.inputs[0]
    if x.op.name == "reshape" and x.ndim > x.parents[0].ndim > 0:
        (v,) = x.parents
        return v if x.shape == (1,) * (x.ndim - v.ndim) + v.shape else None
    if x.op.family == "reduction" and x.attrs["keepdim"]:
        return _without_leading(x)
    if x.op.name in ("ones", "zeros", "full"):
        value = x.attrs.get("fill_value", float(x.op.name == "ones"))
        return as_node(value)
    in_one_row = x.op.family == "elementwise" and x.ndim > 0 and x.shape[0] == 1
    return _unbroadcast_elementwise(x) if in_one_row else None


def _unbroadcast_elementwise(x: Node) -> Node | None:
    """sqrt(v + 1) for sqrt(v.unsqueeze(0) + 1); None if an operand with all dimensions of x has no
    smaller form.
    """
    parts = [unbroadcast(i) if i.ndim == x.ndim else i for i in x.parents]
    inputs = [i for i in parts if i is not None]
    if len(inputs) < len(x.inputs) or all(i.op.name == "constant" for i in inputs):
        return None
    if not _may_be_number(x.op) and any(i.op.name == "constant" for i in inputs):
        return None
    smaller = x.op(*inputs, **x.attrs)
    padded = (1,) * (x.ndim - smaller.ndim) + smaller.shape
    return smaller if x.shape == padded != smaller.shape else None


def _without_leading(x: Node) -> Node | None:
    """x.mean(dim=(0, 1)) for x.mean(dim=(0, 1), keepdim=True); None unless the dimensions are the
    first ones, which broadcasting adds again.
    """
    over = axes(x.attrs["dim"], x.parents[0].ndim)
    if over != tuple(range(len(over))):
        return None
    whole = len(over) == x.parents[0].ndim
    return with_attributes(x, keepdim=False, dim=None if whole else x.attrs["dim"])


@rule("reduction")
def one_dimension(node: Node) -> Node | None:
    """x.mean(dim=(1,)) = x.mean(dim=1)."""
    dim = node.attrs["dim"]
    if not isinstance(dim, tuple) or len(dim) != 1:
        return None
    return with_attributes(node, dim=dim[0])


@rule("sum_to_size")
def sum_over_broadcast_dimensions(node: Node) -> Node | None:
    """x.sum_to_size(3) = x.sum(dim=0) for a 2x3 x."""
    x = node.parents[0]
    over = summed_axes(x.shape, node.shape)
    if not over:
        return x if x.shape == node.shape else x.reshape(shape=node.shape)
    lead = x.ndim - node.ndim
    if lead:
        x = x.sum(dim=tuple(range(lead)) if lead > 1 else 0)
    inner = tuple(d - lead for d in over if d >= lead)
    if inner:
        x = x.sum(dim=inner if len(inner) > 1 else inner[0], keepdim=True)
    return x


@rule("sum")
def sum_over_all(node: Node) -> Node | None:
    """x.sum(dim=(0, 1)) = x.sum() for a matrix; s.sum() = s for a 0-d tensor."""
    x, dim, keepdim = node.parents[0], node.attrs["dim"], node.attrs["keepdim"]
    if x.ndim == 0:
        return x
    if dim is not None and not keepdim and len(axes(dim, x.ndim)) == x.ndim:
        return x.sum()
    return None


@rule("sum", "mean")
def sum_of_sum(node: Node) -> Node | None:
    """x.sum(dim=1).sum(dim=0) = x.sum(dim=(0, 1)), written x.sum() if these are all dimensions."""
    inner, dim = node.parents[0], node.attrs["dim"]
    if inner.op is not node.op or inner.attrs["dim"] is None:
        return None
    x, keepdim = inner.parents[0], inner.attrs["keepdim"]
    first = axes(inner.attrs["dim"], x.ndim)
    if keepdim is not node.attrs["keepdim"]:
        return node.op(x) if dim is None and not node.shape else None
    left = [d for d in range(x.ndim) if keepdim or d not in first]
    both = sorted({*first, *(left[d] for d in axes(dim, inner.ndim))})
    return node.op(x, dim=None if len(both) == x.ndim else tuple(both), keepdim=keepdim)


@rule("sum")
def sum_of_repeated(node: Node) -> Node | None:
    """ones_like(x).sum(dim=0) = x.shape[0] * ones(x.shape[1]) for a matrix x; v.expand(n, m).sum(0)
    = n * v for a vector v.
    """
    x = node.parents[0]
    if x.op.name not in ("ones", "expand", "full"):
        return None
    if x.attrs.get("fill_value") is False:
        return OPS["full"](size=node.shape, fill_value=0)
    inner = x.parents[0] if x.op.name == "expand" else as_node(x.attrs.get("fill_value", 1.0))
    lead = x.ndim - inner.ndim
    over = axes(node.attrs["dim"], x.ndim)
    repeated_dims = tuple(d for d in over if d < lead or inner.shape[d - lead] == 1)
    inner_dims = tuple(d - lead for d in over if d not in repeated_dims)
    out = inner.sum(dim=inner_dims, keepdim=True) if inner_dims else inner
    repeated = any(x.shape[d] != 1 for d in repeated_dims)
    if inner.op.name == "constant" and inner.attrs["value"] is True:
        out = size_of(x.shape, repeated_dims) if x.ndim else as_node(1)
    elif repeated:
        out = out * size_of(x.shape, repeated_dims)
    if not node.attrs["keepdim"]:
        out = out.reshape(shape=tuple(n for d, n in enumerate(out.shape, lead) if d not in over))
    return out if out.shape == node.shape else out.expand(shape=node.shape)


@rule("mean")
def mean_of_constant(node: Node) -> Node | None:
    """ones_like(x).mean(dim=0) = ones(x.shape[1]) for a matrix x."""
    x = node.parents[0]
    if x.op.name not in ("ones", "zeros", "full") or not x.numel:
        return None
    return x.op(**x.attrs | {"size": node.shape})


@rule("sum")
def sum_of_unsqueeze(node: Node) -> Node | None:
    """x.unsqueeze(1).sum(dim=0) = x.sum(dim=0).unsqueeze(0); x.unsqueeze(1).sum(dim=1) = x."""
    new = node.parents[0]
    if new.op.name != "unsqueeze":
        return None
    (x,), new_dim = new.parents, axis(new.attrs["dim"], new.ndim)
    over = axes(node.attrs["dim"], new.ndim)
    if node.attrs["keepdim"]:
        return new if over == (new_dim,) else None
    rest = tuple(d - (d > new_dim) for d in over if d != new_dim)
    out = x.sum(dim=rest) if rest else x
    return out if new_dim in over else out.unsqueeze(dim=new_dim - sum(d < new_dim for d in over))


@rule("full")
def full_of_ones(node: Node) -> Node | None:
    """full((n,), 1.0) = ones(n)."""
    is_one = node.dtype == "float" and node.attrs["fill_value"] == 1
    return OPS["ones"](size=node.shape) if is_one and node.shape else None


@rule("where")
def where_of_one_value(node: Node) -> Node | None:
    """where(c, a, a) = a; where(True, a, b) = a."""
    condition, a, b = node.inputs
    assert condition is not None
    value = condition.attrs.get("value", condition.attrs.get("fill_value"))
    chosen = a if a is b or value is True else b if value is False else None
    number = None if chosen is None else constant_value(chosen)
    if number is not None and node.dtype == "float":
        return OPS["full"](size=node.shape, fill_value=float(number))
    if chosen is None or chosen.shape == node.shape:
        return chosen
    return chosen.expand(shape=node.shape)


@candidate("mul", "div")
def reduction_of_unsqueeze_cancelled(node: Node) -> Iterator[Node]:
    """(g * x.norm(dim=1)).unsqueeze(1) / x.norm(dim=1, keepdim=True) = g.unsqueeze(1)."""
    result = product_of(node) or NOTHING
    for column, e in result.factors.items():
        is_new = column.op.name == "unsqueeze" and e == 1
        inside = (product_of(column.parents[0]) if is_new else None) or NOTHING
        for total, power in inside.factors.items():
            total_kept = _with_keepdim(total, column)
            if total_kept is None or total_kept not in result.factors:
                continue
            rest = build(inside.without(total), total.shape)
            new = rest.unsqueeze(dim=column.attrs["dim"])
            replaced = {column: -ONE, new: ONE, total_kept: power}
            yield build(result.times(replaced), node.shape)


def _with_keepdim(total: Node, column: Node) -> Node | None:
    """The reduction `total` with keepdim=True, if the node `column`, an unsqueeze, has its new
    dimension where the reduction removed one; otherwise None.
    """
    if total.op.family != "reduction" or total.attrs["keepdim"] or total.ndim + 1 != column.ndim:
        return None
    if axes(total.attrs["dim"], column.ndim) != (axis(column.attrs["dim"], column.ndim),):
        return None
    return with_attributes(total, keepdim=True)
