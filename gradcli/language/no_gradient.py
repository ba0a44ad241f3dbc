"""What PyTorch says where no gradient flows."""

NO_WAY = "element 0 of tensors does not require grad and does not have a grad_fn"


def unused(place: int) -> str:
    """Of the input at this place, which the output does not depend on."""
    return (
        f"The differentiated Tensor at index {place} appears to not have been used in the graph. "
        "Set allow_unused=True if this is the desired behavior."
    )
