"""What does the same as something that is not read, in what is."""

INSTEAD = {  # by a part of its name
    "torch.jit": "What it compiles gives the same numbers without it, if no branch of a trace is "
    "fixed.",
    "sparse": "A dense tensor has the same numbers and gradients.",
    "complex": "The real and the imaginary parts can be two tensors.",
    "subclass of torch.Tensor": "A function, or a module, of plain tensors can do the same.",
    "orthogonal": "torch.matrix_exp(a - a.T) is orthogonal, and differentiable with respect to a.",
}


def instead(what: str) -> str:
    """A sentence on what can stand in its place, or nothing."""
    return next((text for part, text in INSTEAD.items() if part in what), "")
