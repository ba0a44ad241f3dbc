"""A graph as PyTorch code, under `import torch` and `import torch.nn.functional as F`.

Operators without a function in PyTorch are written by the functions here, or by their expansions.
"""

from collections.abc import Mapping
from math import isfinite, isnan
from typing import Any

from ...graphs import Node, Operator
from ...graphs.shapes import Shape, numel
from ...operators.indexing import index_text
from ...operators.leaves import Array
from .. import tree
from ..formulas.formula import CodeWriter, Idiom, Writer, is_row_major, number_of, register_in
from ..formulas.spelling import spelled
from ..tree import Call, Listing, Method, Name, Number, Tree, Verbatim

LARGE = 60  # most numbers of a tensor that is written out
FUNCTIONAL = "torch.nn.functional."


def expression(node: Node, names: Mapping[Node, Name]) -> str:
    """`node` as a Python expression of the nodes in `names`."""
    return tree.text(TorchWriter(names).tree(node))


EQUIVALENTS: dict[str, Idiom] = {}
equivalent = register_in(EQUIVALENTS)  # for operators without a function in PyTorch


class TorchWriter(CodeWriter):
    """Writes formulas as PyTorch code."""

    equivalents = EQUIVALENTS

    def operand(self, node: Node, place: int) -> Tree:
        """An input of a node; numbers become tensors if PyTorch's function needs tensors."""
        written, source = super().operand(node, place), node.inputs[place]
        infix = node.op.spelling and node.op.family == "elementwise"
        if source not in self.numbers or infix or self.takes_number(node, place):
            return written
        value = number_of(source)
        is_number = isinstance(written, Number)
        if is_number and (
            isinstance(value, float) or (value is not None and node.dtype == "float")
        ):
            written = Verbatim(literal(float(value)))
        return Call("torch.tensor", (written,))

    def kind(self, dtype: str) -> str:
        """The keywords of calls that create tensors: none, for PyTorch's defaults."""
        return ""

    def function(self, op: Operator) -> str:
        """The name of an operator in PyTorch."""
        return op.torch.replace(FUNCTIONAL, "F.")

    def word_for(self, op: Operator, name: str) -> str:
        """The name of an operator within a spelling."""
        return self.function(op)

    def indices(self, data: Array) -> str:
        """An array in an index, as the program computes it; lists are unchanged."""
        if data.node is not None:
            return tree.text(self.trees[data.node])
        return data.text if data.text.startswith("[") else array(data.value)

    def library(self, name: str) -> str:
        """The name of a function that creates tensors."""
        return f"torch.{name}"


# ---- operators without a function in PyTorch -----------------------------------------------------


@equivalent
def tensor(w: TorchWriter, node: Node) -> Tree:
    data = node.attrs["data"]
    return Verbatim(array(data.value) if data.value.size <= LARGE else str(data))


@equivalent
def long(w: TorchWriter, node: Node) -> Tree:
    rows = Writer.one_hot(w, node.parents[0])
    return rows._replace(function="F.one_hot") if isinstance(rows, Call) else w.by_name(node)


@equivalent
def put_at(w: TorchWriter, node: Node) -> Tree:
    index = index_text(w.trimmed(node.attrs["index"], node.shape), w.place, w.indices)
    return _added_at(w, node, tree.Subscript(_flat_indices(w, node), (Verbatim(index),)))


@equivalent
def overlap(w: TorchWriter, node: Node) -> Tree:
    stride, dilation = node.attrs["stride"], node.attrs["dilation"]
    kernel = node.parents[0].shape[-len(stride) :]
    return _added_at(w, node, _unfolded(w, _flat_indices(w, node), kernel, stride, dilation))


def _flat_indices(w: TorchWriter, node: Node) -> Tree:
    """The row-major flat indices of the output, in its shape."""
    return spelled(f"torch.arange({{n}}{w.kind('int')}).reshape({{shape}})", _sizes(w, node))


def _added_at(w: TorchWriter, node: Node, places: Tree) -> Tree:
    """The first input added into zeros at flat indices."""
    zeros = f"torch.zeros({{n}}{w.kind('float')})"
    template = zeros + ".index_put(({places},), {v}, accumulate=True).reshape({shape})"
    return spelled(template, {**_sizes(w, node), "places": places, "v": w.operand(node, 0)})


def _sizes(w: TorchWriter, node: Node) -> dict[str, Tree | None]:
    """The shape of the output, and its number of elements; as numbers if sizes are not generic."""
    if w.generic_sizes is None:
        return {"n": Number(numel(node.shape)), "shape": Verbatim(str(node.shape))}
    like = w.shapes.get(node.shape)
    count = w.plain(node.numel) if like is None else Method(like, "numel")
    return {"n": count, "shape": w.shape(node.shape)}


@equivalent
def scatter_to(w: TorchWriter, node: Node) -> Tree:
    zeros = f"torch.zeros({{shape}}{w.kind('float')}).scatter_add({{dim}}, {{1}}, {{0}})"
    holes = {name: w.attribute(node, name) for name in ("shape", "dim")}
    return spelled(zeros, holes | {"0": w.operand(node, 0), "1": w.operand(node, 1)})


@equivalent
def bce_terms(w: TorchWriter, node: Node) -> Tree:
    pair = tree.text(Listing((w.operand(node, 0), w.operand(node, 1))))[1:-1]
    return Call(
        "F.binary_cross_entropy",
        (Verbatim(f"*torch.broadcast_tensors({pair})"),),
        (("reduction", Verbatim('"none"')),),
    )


@equivalent
def ctc_slopes(w: TorchWriter, node: Node) -> Tree:
    targets = tree.text(w.operand(node, 1))
    how = ", ".join(f"{name}={value!r}" for name, value in node.attrs.items())
    loss = f"F.ctc_loss(p, {targets}, {how}, reduction='sum')"
    return Call(f"torch.func.grad(lambda p: {loss})", (w.operand(node, 0),))


@equivalent
def kron(w: TorchWriter, node: Node) -> Tree:
    """kron of contiguous operands, because PyTorch 2.13 refuses column-major ones."""
    parts = [
        w.operand(node, k) if is_row_major(x) else Method(w.operand(node, k), "contiguous")
        for k, x in enumerate(node.parents)
    ]
    return Call("torch.kron", tuple(parts))


@equivalent
def zero_pad(w: TorchWriter, node: Node) -> Tree:
    amount = tuple(n for pair in reversed(node.attrs["amount"]) for n in pair)
    return Call("F.pad", (w.operand(node, 0), w.plain(amount)))


@equivalent
def windows(w: TorchWriter, node: Node) -> Tree:
    kernel, stride, dilation = node.attrs.values()
    return _unfolded(w, w.operand(node, 0), kernel, stride, dilation)


def _unfolded(w: TorchWriter, base: Tree, kernel: Shape, stride: Shape, dilation: Shape) -> Tree:
    """The windows of a kernel; slices with steps replace the dilation, which unfold lacks."""
    for size, step, spread in zip(kernel, stride, dilation, strict=True):
        reach = spread * (size - 1) + 1
        base = Method(base, "unfold", (Number(-len(kernel)), w.plain(reach), w.plain(step)))
    steps = ", ".join(f"::{n}" for n in dilation)
    return base if set(dilation) == {1} else tree.Subscript(base, (Verbatim(f"..., {steps}"),))


# ---- numbers -------------------------------------------------------------------------------------


def literal(value: Any) -> str:
    """A number as PyTorch prints it: floats have a point."""
    if not isinstance(value, float):
        return str(value)
    if not isfinite(value):
        return "torch.nan" if isnan(value) else "torch.inf" if value > 0 else "-torch.inf"
    return (
        repr(value).removesuffix("0")
        if value.is_integer() and "e" not in repr(value)
        else repr(value)
    )


def _nested(value: Any) -> str:
    return f"[{', '.join(map(_nested, value))}]" if isinstance(value, list) else literal(value)


def array(value: Any, requires_grad: bool = False, kind: str = "") -> str:
    """An array as a call of torch.tensor; `kind` has its arguments for dtype and device."""
    option = kind + ", requires_grad=True" * requires_grad
    if value.size == 0:
        sizes = ", ".join(map(str, value.shape))
        whole = {"i": ", dtype=torch.int64", "b": ", dtype=torch.bool"}.get(value.dtype.kind, "")
        return f"torch.zeros({sizes}{whole}{option})"
    return f"torch.tensor({_nested(value.tolist())}{option})"
