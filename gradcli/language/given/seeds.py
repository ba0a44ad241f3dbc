"""Seeds: what they are called, where PyTorch puts in a 1, and what fits an output."""

from collections.abc import Collection
from itertools import chain, count
from typing import Any, NamedTuple

from ...errors import GradcliError
from ...graphs import OPS, Node
from ...graphs.shapes import Shape, numel, text
from ..program import Program

NAMES = ("g", "g_out", "seed", "cotangent")


class Seed(NamedTuple):
    """The gradient that flows into the output.

    `node` stands for it in gradients; `value` is what was given for it, as graph, or None where
    nothing was; `text` is how it was typed. It is `implicit` where PyTorch puts in a 1, `refused`
    where PyTorch would ask for it.
    """

    node: Node
    value: Node | None
    text: str | None
    implicit: bool = False
    refused: bool = False

    @property
    def name(self) -> str:
        """What formulas call it."""
        return self.node.attrs["name"]

    @property
    def array(self) -> Any:
        """The numbers that were given for it; None where none were, or an expression."""
        value = self.value
        if value is None or value.op.name != "tensor" or value.span is not None:
            return None
        return value.attrs["data"].value


def seed_name(used: Collection[str]) -> str:
    """What formulas call a seed beside these names."""
    names = chain(NAMES, (f"g_{k}" for k in count(1)))
    return next(n for n in names if n not in used)


def implied(node: Node) -> Seed:
    """The seed that nobody gave: PyTorch puts a 1 into a single number, and refuses otherwise."""
    single = node.numel == 1
    one = OPS["ones"](size=node.shape) if node.shape else OPS["constant"](value=1.0)
    return Seed(node, one if single else None, None, single, not single)


# ---- shapes --------------------------------------------------------------------------------------


def torch_size(shape: Shape) -> str:
    """A shape as PyTorch's messages write it."""
    return f"torch.Size({list(shape)})"


def mismatch(seed: Shape, out: Shape) -> str:
    """PyTorch's message for a seed of another shape."""
    return (
        f"PyTorch: Mismatch in shape: grad_output[0] has a shape of {torch_size(seed)} "
        f"and output[0] has a shape of {torch_size(out)}."
    )


def wrong_shape(seed: Shape, out: Node, program: Program) -> GradcliError:
    """The error for a seed of another shape than the output of a program."""
    return GradcliError(
        "seed-shape",
        f"the seed has shape {text(seed)} and {program.output_name} has shape {text(out.shape)}",
        span=program.place,
        hint=f"{mismatch(seed, out.shape)}\n{_cure(seed, out)}",
    )


def _cure(seed: Shape, out: Node) -> str:
    """What would fit."""
    size = numel(seed)
    if out.shape == ():
        cure = "A scalar output needs no seed; or give one number: --grad 1.0."
        inner = out.inputs[0] if out.op.family == "reduction" else None
        if inner is not None and size > 1 and out.span is not None:
            then = f"the seed then has shape {text(inner.shape)}"
            return f"{cure} To seed each element, leave out the {out.op.name}: {then}."
        return cure + (" () and (1,) are different shapes." if seed == (1,) else "")
    shape = text(out.shape)
    if size == out.numel:
        cure = f"It has the right number of elements: reshape it to {shape}."
        return f"{cure} Nothing is reshaped or broadcast silently."
    cure = (
        f"A seed has one number for each element of the output: ones_like(out) has shape {shape}."
    )
    return f"{cure} Nothing is broadcast silently."
