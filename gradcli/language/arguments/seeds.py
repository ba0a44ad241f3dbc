"""Seeds (upstream gradients): their names, implicit seeds, and errors about their shapes."""

from collections.abc import Collection
from itertools import chain, count
from typing import Any, NamedTuple

from ...errors import GradcliError
from ...graphs import OPS, Node
from ...graphs.shapes import Shape, numel, text
from ..program import Program

NAMES = ("g", "g_out", "seed", "cotangent")


class Seed(NamedTuple):
    """The upstream gradient of the output.

    `node` is its symbol in gradients; `value` the given value as a graph, or None; `text` is the
    user's spelling. It is `implicit` if PyTorch uses 1, and `refused` if PyTorch requires a seed
    that is missing.
    """

    node: Node
    value: Node | None
    text: str | None
    implicit: bool = False
    refused: bool = False

    @property
    def name(self) -> str:
        """Its name in formulas."""
        return self.node.attrs["name"]

    @property
    def array(self) -> Any:
        """The given array; None if there is none, or it is an expression."""
        value = self.value
        if value is None or value.op.name != "tensor" or value.span is not None:
            return None
        return value.attrs["data"].value


def seed_name(used: Collection[str]) -> str:
    """A name for the seed that is not in `used`."""
    names = chain(NAMES, (f"g_{k}" for k in count(1)))
    return next(n for n in names if n not in used)


def implied(node: Node) -> Seed:
    """The seed if the user gave none: 1 for an output of one element; for other outputs a seed
    without a value, marked as refused, because PyTorch requires an explicit one.
    """
    single = node.numel == 1
    one = OPS["ones"](size=node.shape) if node.shape else OPS["constant"](value=1.0)
    return Seed(node, one if single else None, None, single, not single)


# ---- shapes --------------------------------------------------------------------------------------


def torch_size(shape: Shape) -> str:
    """A shape as PyTorch's messages write it."""
    return f"torch.Size({list(shape)})"


def mismatch(seed: Shape, out: Shape) -> str:
    """PyTorch's message for a seed whose shape is not that of the output."""
    return (
        f"PyTorch: Mismatch in shape: grad_output[0] has a shape of {torch_size(seed)} "
        f"and output[0] has a shape of {torch_size(out)}."
    )


def wrong_shape(seed: Shape, out: Node, program: Program) -> GradcliError:
    """The error for a seed whose shape is not that of the output of a program."""
    return GradcliError(
        "seed-shape",
        f"the seed has shape {text(seed)} and {program.output_name} has shape {text(out.shape)}",
        span=program.span,
        hint=f"{mismatch(seed, out.shape)}\n{_cure(seed, out)}",
    )


def _cure(seed: Shape, out: Node) -> str:
    """A hint on the seed that would fit."""
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
