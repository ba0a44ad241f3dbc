"""How gradients with a graph go back through products, in PyTorch's steps: by division where no
factor is 0, else, and always within transforms of torch.func, by leaving each factor out.

The signs of zeros, the last digits and what a further backward pass gives come from these steps.
"""

from collections.abc import Callable
from typing import Any

from ...lazy import np
from .checks import dimension
from .engine import Record, rename
from .mode import MODE
from .tensor import Tensor


def _called(name: str, *args: Any) -> Tensor:
    from .calls import call

    return call(name, args, {})


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
            return _called("mul", gradient, _called("div", y, x))
        return _viewed(_without_each(_viewed(x, (-1,)), gradient, 0), x.shape)
    dim = dimension(dims, x.ndim)
    if gradient.ndim < x.ndim:
        gradient, y = _called("unsqueeze", gradient, dim), _called("unsqueeze", y, dim)
    if _leaves_out(x):
        return _without_each(x, gradient, dim)
    return _called("mul", gradient, _called("div", y, x))


def _viewed(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    result = _called("reshape", x, shape)
    if result is not x:
        rename(result, "ViewBackward0")
    return result


def _without_each(x: Tensor, gradient: Tensor, dim: int) -> Tensor:
    """The gradient times the products of all factors before and after each."""
    size = x.shape[dim]
    if size == 1:
        return gradient
    one = _called("ones_like", _called("narrow", x, dim, 0, 1))
    first, others = _called("narrow", x, dim, 0, size - 1), _called("narrow", x, dim, 1, size - 1)
    before = _called("cumprod", _called("cat", [one, first], dim), dim)
    after = _called("cumprod", _called("cat", [one, _called("flip", others, (dim,))], dim), dim)
    return _called("mul", gradient, _called("mul", before, _called("flip", after, (dim,))))


def _through_cumprod(record: Record, x: Tensor, gradient: Tensor) -> Tensor:
    """For each place, the sum of what the products from there on send to it."""
    node, _, y = record.call
    if x.numel <= 1 or x.shape[dim := dimension(node.attrs["dim"], x.ndim)] == 1:
        return gradient
    if not _leaves_out(x):
        weighted = _called("mul", y, gradient)
        onward = _called("cumsum", _called("flip", weighted, (dim,)), dim)
        return _called("div", _called("flip", onward, (dim,)), x)
    result = _called("stack", [_sent_to(x, gradient, dim, k) for k in range(x.shape[dim])], dim)
    rename(result, "CopySlices")
    return result


def _sent_to(x: Tensor, gradient: Tensor, dim: int, k: int) -> Tensor:
    """What the products from the k-th factor on send to it."""
    size = x.shape[dim]
    if k:
        products = [_called("prod", _called("narrow", x, dim, 0, k), dim, True)]
    else:
        products = [_called("ones_like", _called("narrow", x, dim, 0, 1))]
    if k < size - 1:
        onward = _called("cumprod", _called("narrow", x, dim, k + 1, size - k - 1), dim)
        products.append(_called("mul", products[0], onward) if k else onward)
    here = _called("narrow", gradient, dim, k, size - k)
    return _called("sum", _called("mul", here, _called("cat", products, dim)), dim)


THROUGH_PRODUCTS: dict[str, Callable[[Record, Tensor, Tensor], Tensor]] = {
    "prod": _through_prod,
    "cumprod": _through_cumprod,
}
