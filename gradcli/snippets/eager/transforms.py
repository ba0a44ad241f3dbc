"""The active transforms of torch.func (vmap, grad, vjp, jvp), and what they do not allow."""

from typing import TYPE_CHECKING

from ..python.values import Unsupported, error
from .mode import MODE

if TYPE_CHECKING:
    from .tensor import Tensor

REQUIRES_GRAD = (
    "You are attempting to call Tensor.requires_grad_() (or perhaps using "
    "torch.autograd.functional.* APIs) inside of a function being transformed by a functorch "
    "transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, "
    "vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being "
    "transformed instead."
)
NO_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"
ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling "
    ".item() on a Tensor, please try to rewrite what you're doing with other operations. If error "
    "is occurring somewhere inside PyTorch internals, please file a bug report."
)
CONTROL_FLOW = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We "
    "don't support that yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)
EITHER = (
    "vmap: It looks like you're either (1) calling .item() on a Tensor or (2) attempting to use a "
    "Tensor in some data-dependent control flow or (3) encountering this error in PyTorch "
    "internals. For (1): we don't support vmap over calling .item() on a Tensor, please try to "
    "rewrite what you're doing with other operations. For (2): we don't support data-dependent "
    "control flow in vmap yet, please file an issue at "
    "https://github.com/pytorch/pytorch/issues . For (3): please file an issue."
)
RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)


def running() -> list[tuple[str, str]]:
    """The active transforms, outermost first, as pairs of kind and randomness."""
    return MODE.transforms


def in_vmap() -> bool:
    """Whether a vmap is active."""
    return any(kind == "vmap" for kind, _ in running())


def in_jvp() -> bool:
    """Whether the innermost transform is jvp, in which tensors do not require gradients."""
    return [kind for kind, _ in running()][-1:] == ["jvp"]


def refuse_backward() -> None:
    """Refuse backward() inside a transform."""
    if running():
        raise error(
            "RuntimeError",
            "backward() called inside a functorch transform. This is not supported, please use "
            "functorch.grad or functorch.vjp instead or call backward() outside of functorch "
            "transforms.",
        )


def refuse_flag() -> None:
    """Refuse to change requires_grad inside a transform."""
    if running():
        raise error("RuntimeError", REQUIRES_GRAD)


def is_unbatched(tensor: "Tensor") -> bool:
    """Whether a tensor is known to be the same for all rows of a vmap, because it was made outside
    of the vmap, or only from such tensors.
    """
    return "unbatched" in tensor.fields or is_outside(tensor)


def is_outside(tensor: "Tensor") -> bool:
    """Whether a tensor was made outside of every active vmap."""
    return all(kind != "vmap" for kind, _ in running()[: tensor.level])


def refuse_number(tensor: "Tensor", control_flow: bool) -> None:
    """Refuse to read an element of a row of a vmap. `control_flow`: as the condition of an `if` or
    `while`.

    Raises Unsupported if it is not known whether a tensor depends on the mapped dimension.
    """
    if not in_vmap():
        return
    kinds = [kind for kind, _ in running()]
    if "batched" in tensor.fields:
        text = CONTROL_FLOW if control_flow else ITEM
        raise error("RuntimeError", text if kinds[-1] == "vmap" else EITHER)
    if not is_unbatched(tensor):
        raise Unsupported("the Python number of a tensor that is computed inside vmap()")


def refuse_random() -> None:
    """Refuse random numbers inside a vmap whose randomness is "error"."""
    if any(kind == "vmap" and randomness == "error" for kind, randomness in running()):
        raise error("RuntimeError", RANDOM)
