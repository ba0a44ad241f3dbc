"""What PyTorch has no name for, said in words that it has."""

from ...graphs import OPS, Node
from ...graphs.shapes import axes
from .registry import other


@other("prod_others")
def product_by_element(node: Node) -> Node | None:
    """The product of all others is the product of all by the one."""
    x, dim = node.parents[0], node.attrs["dim"]
    whole = len(dim) == x.ndim
    if whole:
        return x.prod() / x
    return x.prod(dim=dim[0], keepdim=True) / x if len(dim) == 1 else None


@other("zero_pad")
def padded(node: Node) -> Node | None:
    """x.zero_pad(((0, 0), (1, 2))) = pad(x, (1, 2)): the last dimension first."""
    amount = list(node.attrs["amount"])
    while len(amount) > 1 and amount[0] == (0, 0):
        amount.pop(0)
    return OPS["pad"](node.parents[0], pad=tuple(n for pair in reversed(amount) for n in pair))


@other("masked_softmax")
def softmax(node: Node) -> Node | None:
    """They differ where a row is masked as a whole: there softmax is nan."""
    return node.parents[0].softmax(dim=node.attrs["dim"])


@other("held_above")
def clamped_below(node: Node) -> Node | None:
    """A value that is held above another; only its gradient differs from clamp."""
    return OPS["clamp"](node.parents[0], min=node.attrs["min"])


@other("scatter_to")
def added_to_zeros(node: Node) -> Node | None:
    """v.scatter_to(x.shape, 0, i) = zeros_like(x).scatter_add(0, i, v)."""
    v, index = node.parents
    if v.shape != index.shape:
        return None
    return OPS["zeros"](size=node.shape).scatter_add(dim=node.attrs["dim"], index=index, src=v)


@other("standardize")
def layer_norm(node: Node) -> Node | None:
    """x.standardize((1,), eps) = layer_norm(x, (x.shape[1],)) for the last dimensions."""
    x = node.parents[0]
    over = axes(node.attrs["dim"], x.ndim)
    if over != tuple(range(x.ndim - len(over), x.ndim)):
        return None
    shape = x.shape[x.ndim - len(over) :]
    return OPS["layer_norm"](x, normalized_shape=shape, eps=node.attrs["eps"])


@other("conv1d_input", "conv2d_input", "conv3d_input")
def transposed_convolution(node: Node) -> Node | None:
    """conv2d_input(x.shape, w, g) = conv_transpose2d(g, w)."""
    weight, g = node.parents
    if any(set(_numbers(node.attrs.get(k))) - {usual} for k, usual in USUAL.items()):
        return None
    new = OPS[node.op.name.replace("conv", "conv_transpose").replace("_input", "")](g, weight)
    return new if new.shape == node.shape else None


USUAL = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}


def _numbers(value: object) -> tuple:
    return value if isinstance(value, tuple) else () if value is None else (value,)
