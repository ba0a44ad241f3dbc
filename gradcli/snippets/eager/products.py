"""How gradients with a graph go back through products, in PyTorch's steps: by division where no
factor is 0, else, and always within transforms of torch.func, by leaving each factor out.

The signs of zeros, the last digits and what a further backward pass gives come from these steps.
"""

from collections.abc import Callable

from ...lazy import np
from .checks import dimension
from .dispatch import call
from .mode import MODE
from .records import rename
from .tensor import Record, Tensor


def _leaves_out(x: Tensor) -> bool:
    """Whether factors are left out, and not divided by."""
    return bool(MODE.transforms) or not np.all(x.data)


def _through_prod(record: Record, x: Tensor, gradient: Tensor) -> Tensor:
    """Of all factors the gradient has no dimension, of those along one it may lack that."""
    if not x.ndim:
        return gradient
    node, _, y = record.call
    dims = node.attrs["dim"]
    if isinstance(dims, tuple) and len(dims) == 1 < x.ndim:
        (dims,) = dims
    if not isinstance(dims, int):
        if not _leaves_out(x):
            return call("mul", gradient, call("div", y, x))
        return _viewed(_without_each(_viewed(x, (-1,)), gradient, 0), x.shape)
    dim = dimension(dims, x.ndim)
    if gradient.ndim < x.ndim:
        gradient, y = call("unsqueeze", gradient, dim), call("unsqueeze", y, dim)
    if _leaves_out(x):
        return _without_each(x, gradient, dim)
    return call("mul", gradient, call("div", y, x))


def _viewed(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    result = call("reshape", x, shape)
    if result is not x:
        rename(result, "ViewBackward0")
    return result


def _without_each(x: Tensor, gradient: Tensor, dim: int) -> Tensor:
    """The gradient times the products of all factors before and after each."""
    size = x.shape[dim]
    if size == 1:
        return gradient
    one = call("ones_like", call("narrow", x, dim, 0, 1))
    first, others = (
        call("narrow", x, dim, 0, size - 1),
        call("narrow", x, dim, 1, size - 1),
    )
    before = call("cumprod", call("cat", [one, first], dim), dim)
    after = call("cumprod", call("cat", [one, call("flip", others, (dim,))], dim), dim)
    return call("mul", gradient, call("mul", before, call("flip", after, (dim,))))


def _through_cumprod(record: Record, x: Tensor, gradient: Tensor) -> Tensor:
    """For each place, the sum of what the products from there on send to it."""
    node, _, y = record.call
    if x.numel <= 1 or x.shape[dim := dimension(node.attrs["dim"], x.ndim)] == 1:
        return gradient
    if not _leaves_out(x):
        weighted = call("mul", y, gradient)
        onward = call("cumsum", call("flip", weighted, (dim,)), dim)
        return call("div", call("flip", onward, (dim,)), x)
    result = call("stack", [_sent_to(x, gradient, dim, k) for k in range(x.shape[dim])], dim)
    rename(result, "CopySlices")
    return result


def _sent_to(x: Tensor, gradient: Tensor, dim: int, k: int) -> Tensor:
    """What the products from the k-th factor on send to it."""
    size = x.shape[dim]
    if k:
        products = [call("prod", call("narrow", x, dim, 0, k), dim, True)]
    else:
        products = [call("ones_like", call("narrow", x, dim, 0, 1))]
    if k < size - 1:
        onward = call("cumprod", call("narrow", x, dim, k + 1, size - k - 1), dim)
        products.append(call("mul", products[0], onward) if k else onward)
    here = call("narrow", gradient, dim, k, size - k)
    return call("sum", call("mul", here, call("cat", products, dim)), dim)


THROUGH_PRODUCTS: dict[str, Callable[[Record, Tensor, Tensor], Tensor]] = {
    "prod": _through_prod,
    "cumprod": _through_cumprod,
}
