"""The backward of prod and cumprod in PyTorch's steps, by recorded operations.

The gradient of a factor is the product divided by that factor if no factor is 0; otherwise, and
always in transforms of torch.func, it is the product of the other factors. The signs of zeros, the
last digits and further derivatives depend on these steps.
"""

from collections.abc import Callable

from ...lazy import np
from .checks import dimension
from .dispatch import call
from .mode import MODE
from .records import rename
from .tensor import Record, Tensor


def _uses_products(x: Tensor) -> bool:
    """Whether to multiply the other factors, instead of dividing the product by a factor."""
    return bool(MODE.transforms) or not np.all(x.data)


def _through_prod(record: Record, x: Tensor, gradient: Tensor) -> Tensor:
    """The gradient of x in y = prod(x). The upstream `gradient` has no dimensions if all are
    reduced; otherwise it lacks the reduced dimension if keepdim=False.
    """
    if not x.ndim:
        return gradient
    node, _, y = record.call
    dims = node.attrs["dim"]
    if isinstance(dims, tuple) and len(dims) == 1 < x.ndim:
        (dims,) = dims
    if not isinstance(dims, int):
        if not _uses_products(x):
            return call("mul", gradient, call("div", y, x))
        return _viewed(_times_other_factors(_viewed(x, (-1,)), gradient, 0), x.shape)
    dim = dimension(dims, x.ndim)
    if gradient.ndim < x.ndim:
        gradient, y = call("unsqueeze", gradient, dim), call("unsqueeze", y, dim)
    if _uses_products(x):
        return _times_other_factors(x, gradient, dim)
    return call("mul", gradient, call("div", y, x))


def _viewed(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    result = call("reshape", x, shape)
    if result is not x:
        rename(result, "ViewBackward0")
    return result


def _times_other_factors(x: Tensor, gradient: Tensor, dim: int) -> Tensor:
    """For each factor along `dim`, the upstream gradient times the product of all other factors."""
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
    """The gradient of x in y = cumprod(x): a sum over the products with each factor."""
    node, _, y = record.call
    if x.numel <= 1 or x.shape[dim := dimension(node.attrs["dim"], x.ndim)] == 1:
        return gradient
    if not _uses_products(x):
        weighted = call("mul", y, gradient)
        onward = call("cumsum", call("flip", weighted, (dim,)), dim)
        return call("div", call("flip", onward, (dim,)), x)
    result = call(
        "stack", [_gradient_of_factor(x, gradient, dim, k) for k in range(x.shape[dim])], dim
    )
    rename(result, "CopySlices")
    return result


def _gradient_of_factor(x: Tensor, gradient: Tensor, dim: int, k: int) -> Tensor:
    """The gradient of factor k of cumprod: a sum over the products from number k on."""
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
