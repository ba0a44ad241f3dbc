"""What broadcasting does by itself, and sums over what was broadcast."""

from collections.abc import Iterator

from ....graphs import OPS, Node, Operator, as_node
from ....graphs.shapes import axes, axis
from ....operators.leaves import size_of
from ....operators.shaping import summed_axes
from .products import NOTHING, ONE, build, constant_value, product_of
from .registry import other, rule


@rule("elementwise")
def spread_by_the_others(node: Node) -> Node | None:
    """x + y.expand(x.shape) = x + y; where(c, ones, x) = where(c, 1, x)."""
    for place, operand in enumerate(node.inputs):
        thin = None if operand is None else thinner(operand)
        if thin is None or (thin.op.name == "constant" and not _takes_numbers(node.op)):
            continue
        new = node.op(*node.inputs[:place], thin, *node.inputs[place + 1 :], **node.attrs)
        if new.shape == node.shape:
            return new
    return None


def _takes_numbers(op: Operator) -> bool:
    """Whether a number may stand where an operand does, which PyTorch does not broadcast."""
    return bool(op.spelling) or op.numbers in (True, "together") or op.torch is None


def thinner(x: Node) -> Node | None:
    """What broadcasting makes into x."""
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
    return _computed_thinner(x) if in_one_row else None


def _computed_thinner(x: Node) -> Node | None:
    """sqrt(v + 1) for sqrt(v.unsqueeze(0) + 1)."""
    parts = [thinner(i) if i.ndim == x.ndim else i for i in x.parents]
    inputs = [i for i in parts if i is not None]
    if len(inputs) < len(x.inputs) or all(i.op.name == "constant" for i in inputs):
        return None
    if not _takes_numbers(x.op) and any(i.op.name == "constant" for i in inputs):
        return None
    thin = x.op(*inputs, **x.attrs)
    return thin if x.shape == (1,) * (x.ndim - thin.ndim) + thin.shape != thin.shape else None


def _without_leading(x: Node) -> Node | None:
    """x.mean(dim=(0, 1), keepdim=True) = x.mean(), for broadcasting puts the dimensions back."""
    over = axes(x.attrs["dim"], x.parents[0].ndim)
    if over != tuple(range(len(over))):
        return None
    whole = len(over) == x.parents[0].ndim
    return x.op(*x.inputs, **x.attrs | {"keepdim": False} | ({"dim": None} if whole else {}))


@rule("reduction")
def one_dimension(node: Node) -> Node | None:
    """x.mean(dim=(1,)) = x.mean(dim=1)."""
    dim = node.attrs["dim"]
    if not isinstance(dim, tuple) or len(dim) != 1:
        return None
    return node.op(*node.inputs, **node.attrs | {"dim": dim[0]})


@rule("sum_to_size")
def sum_over_what_was_broadcast(node: Node) -> Node | None:
    """x.sum_to_size(3) = x.sum(dim=0)."""
    x = node.parents[0]
    over = summed_axes(x.shape, node.shape)
    if not over:
        return x if x.shape == node.shape else x.reshape(shape=node.shape)
    lead = x.ndim - node.ndim
    if lead:
        x = x.sum(dim=tuple(range(lead)) if lead > 1 else 0)
    kept = tuple(d - lead for d in over if d >= lead)
    if kept:
        x = x.sum(dim=kept if len(kept) > 1 else kept[0], keepdim=True)
    return x if x.shape == node.shape else None


@rule("sum")
def sum_over_all(node: Node) -> Node | None:
    """x.sum(dim=(0, 1)) = x.sum() for a matrix; 0-d tensors are their own sum."""
    x, dim, keepdim = node.parents[0], node.attrs["dim"], node.attrs["keepdim"]
    if x.ndim == 0:
        return x
    if dim is not None and not keepdim and len(axes(dim, x.ndim)) == x.ndim:
        return x.sum()
    return None


@rule("sum", "mean")
def sums_in_a_row(node: Node) -> Node | None:
    """x.sum(dim=1).sum(dim=0) = x.sum(dim=(0, 1)), and of all elements x.sum()."""
    inner, dim = node.parents[0], node.attrs["dim"]
    if inner.op is not node.op or inner.attrs["dim"] is None:
        return None
    x, kept = inner.parents[0], inner.attrs["keepdim"]
    first = axes(inner.attrs["dim"], x.ndim)
    if kept is not node.attrs["keepdim"]:
        return node.op(x) if dim is None and not node.shape else None
    left = [d for d in range(x.ndim) if kept or d not in first]
    both = sorted({*first, *(left[d] for d in axes(dim, inner.ndim))})
    return node.op(x, dim=None if len(both) == x.ndim else tuple(both), keepdim=kept)


@rule("sum")
def sum_of_equals(node: Node) -> Node | None:
    """ones_like(x).sum(dim=0) = x.shape[0] * ones_like(...): each is there that often."""
    x = node.parents[0]
    if x.op.name not in ("ones", "expand", "full"):
        return None
    if x.attrs.get("fill_value") is False:
        return OPS["full"](size=node.shape, fill_value=0)
    inner = x.parents[0] if x.op.name == "expand" else as_node(x.attrs.get("fill_value", 1.0))
    lead = x.ndim - inner.ndim
    over = axes(node.attrs["dim"], x.ndim)
    often = tuple(d for d in over if d < lead or inner.shape[d - lead] == 1)
    once = tuple(d - lead for d in over if d not in often)
    out = inner.sum(dim=once, keepdim=True) if once else inner
    several = any(x.shape[d] != 1 for d in often)
    if inner.op.name == "constant" and inner.attrs["value"] is True:
        out = size_of(x.shape, often) if x.ndim else as_node(1)
    elif several:
        out = out * size_of(x.shape, often)
    if not node.attrs["keepdim"]:
        out = out.reshape(shape=tuple(n for d, n in enumerate(out.shape, lead) if d not in over))
    return out if out.shape == node.shape else out.expand(shape=node.shape)


@rule("mean")
def mean_of_equals(node: Node) -> Node | None:
    """ones_like(x).mean(dim=0) = ones(...): each is the mean."""
    x = node.parents[0]
    if x.op.name not in ("ones", "zeros", "full") or not x.numel:
        return None
    return x.op(**x.attrs | {"size": node.shape})


@rule("sum")
def sum_beside_a_new_dimension(node: Node) -> Node | None:
    """x.unsqueeze(1).sum(dim=0) = x.sum(dim=0).unsqueeze(0); x.unsqueeze(1).sum(dim=1) = x."""
    new = node.parents[0]
    if new.op.name != "unsqueeze":
        return None
    (x,), place = new.parents, axis(new.attrs["dim"], new.ndim)
    over = axes(node.attrs["dim"], new.ndim)
    if node.attrs["keepdim"]:
        return new if over == (place,) else None
    rest = tuple(d - (d > place) for d in over if d != place)
    out = x.sum(dim=rest) if rest else x
    return out if place in over else out.unsqueeze(dim=place - sum(d < place for d in over))


@rule("where")
def same_either_way(node: Node) -> Node | None:
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


@other("mul", "div")
def kept_beside_a_new_dimension(node: Node) -> Iterator[Node]:
    """(g * x.norm(dim=1)).unsqueeze(1) / x.norm(dim=1, keepdim=True) = g.unsqueeze(1)."""
    result = product_of(node) or NOTHING
    for thin, e in result.factors.items():
        is_new = thin.op.name == "unsqueeze" and e == 1
        inside = (product_of(thin.parents[0]) if is_new else None) or NOTHING
        for total, power in inside.factors.items():
            kept = _kept(total, thin)
            if kept is None or kept not in result.factors:
                continue
            rest = build(inside.without(total), total.shape)
            moved = {thin: -ONE, rest.unsqueeze(dim=thin.attrs["dim"]): ONE, kept: power}
            yield build(result.times(moved), node.shape)


def _kept(total: Node, thin: Node) -> Node | None:
    """A reduction that keeps the dimension which a new one of `thin` stands for."""
    if total.op.family != "reduction" or total.attrs["keepdim"] or total.ndim + 1 != thin.ndim:
        return None
    if axes(total.attrs["dim"], thin.ndim) != (axis(thin.attrs["dim"], thin.ndim),):
        return None
    return total.op(*total.inputs, **total.attrs | {"keepdim": True})
