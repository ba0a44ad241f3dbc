"""What PyTorch says where it has no gradient."""

NOT_FLOATING = "only Tensors of floating point and complex dtype can require gradients"
NOT_SCALAR = "grad can be implicitly created only for scalar outputs"
NO_WAY = "element 0 of tensors does not require grad and does not have a grad_fn"


def unused(place: int) -> str:
    """Of the input at this place, which the output does not depend on."""
    return (
        f"The differentiated Tensor at index {place} appears to not have been used in the graph. "
        "Set allow_unused=True if this is the desired behavior."
    )
