"""The inputs to differentiate with respect to, and PyTorch's messages if there is no gradient."""

from collections.abc import Collection

from ..errors import GradcliError, did_you_mean
from ..graphs import Node
from .problem import Input
from .program import Program

# Hints for outputs of these dtypes.
INSTEAD = {
    "int": "differentiate what it is computed from, or a function of it: x.amax() for argmax(x)",
    "bool": "a mask chooses what is differentiated: where(x > 0, x, y), (x * (x > 0)).sum()",
}

# PyTorch's messages if there is no gradient.
NOT_FLOATING = "only Tensors of floating point and complex dtype can require gradients"
NOT_SCALAR = "grad can be implicitly created only for scalar outputs"
NO_WAY = "element 0 of tensors does not require grad and does not have a grad_fn"


def check_output(out: Node, program: Program) -> None:
    """Raise GradcliError for an output without gradient."""
    if out.dtype != "float":
        kind = {"int": "integers", "bool": "True and False"}[out.dtype]
        raise GradcliError(
            "not-differentiable",
            f"the output contains {kind}, which have no gradient",
            span=program.span,
            hint=f"{INSTEAD[out.dtype]}\nPyTorch: {NO_WAY}",
        )


def chosen(wrt: Collection[str] | None, inputs: dict[str, Input]) -> list[Input]:
    """The inputs with these names, or all floating-point inputs. Raises GradcliError."""
    for name in wrt or ():
        if name not in inputs:
            near = did_you_mean(name, inputs) or f"the inputs are {', '.join(inputs)}"
            raise GradcliError(
                "unused-option",
                f"there is no input {name} to differentiate with respect to",
                hint=near,
            )
        if inputs[name].node.dtype != "float":
            raise GradcliError(
                "not-differentiable",
                f"{name} contains indices or True and False: it has no gradient",
                hint=f"PyTorch: {NOT_FLOATING}",
            )
    result = (
        [inputs[name] for name in dict.fromkeys(wrt)]
        if wrt
        else [i for i in inputs.values() if i.node.dtype == "float"]
    )
    if not result:
        raise GradcliError(
            "not-differentiable",
            "there is nothing to differentiate: the expression has no floating-point input",
        )
    return result


def unused(k: int) -> str:
    """PyTorch's message for input k, which the output does not depend on."""
    return (
        f"The differentiated Tensor at index {k} appears to not have been used in the graph. "
        "Set allow_unused=True if this is the desired behavior."
    )
