"""What may not be done inside a function that torch.func transforms."""

from ..python.values import error
from .mode import MODE


def refuse_inside(what: str) -> None:
    """Refuse what PyTorch refuses while a transform of torch.func runs."""
    if MODE.transforms:
        raise error(
            "RuntimeError",
            f"{what} inside a functorch transform. This is not supported, please use "
            "functorch.grad or functorch.vjp instead or call backward() outside of functorch "
            "transforms.",
        )
