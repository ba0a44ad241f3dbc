"""Applies operators to tensors: computes the value, and records the operation for backward."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import GradcliError
from ...graphs import OPS, Node, Operator, walk
from ...lazy import np
from ...operators import lookup
from ..python.values import Machine, Unsupported
from . import plans
from .dispatch import implements
from .dtypes import DType, promoted, rounded
from .grad_names import grad_name
from .kernels import check_dtypes
from .layouts import laid_out
from .mode import MODE
from .operator_backward import OperatorBackward
from .plans import InputGradients, Plan, computed
from .promotion import Operand, arrays_of, computing_dtype, output_dtype
from .records import QR, Underived, rename, underived
from .saved import save_unread, saved_inputs
from .tensor import DualTensor, Edge, Gradients, Meta, Origin, Record, Saved, Tensor
from .transforms import is_outside, is_unbatched
from .views import as_view, rebase
from .zeros import EXTREMES, with_signs

DEEPEST_ORIGIN = 4  # an unlimited chain of origins would keep all tensors of a loop alive


@implements("operator")
def call_operator(name: str, *inputs: Operand, **attrs: Any) -> Tensor:
    """Apply the operator `name` to tensors and numbers."""
    lookup(name)  # imports the file that defines it
    op = OPS[name]
    if name == "sum_to_size" and isinstance(inputs[0], Tensor):
        return summed_to(inputs[0], attrs["shape"])
    return apply(op, inputs, {n: attrs.get(n, d) for n, d in op.attributes.items()})


def summed_to(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Sum a tensor over its broadcast dimensions, down to `shape`."""
    if tensor.shape == shape:
        return tensor
    if not shape:
        return call_operator("sum", tensor)
    extra = tensor.ndim - len(shape)
    dims = tuple(d for d, size in enumerate(tensor.shape) if d < extra or shape[d - extra] != size)
    result = call_operator("sum", tensor, dim=dims, keepdim=True)
    return call_operator("reshape", result, shape=shape) if extra else result


def apply(
    op: Operator,
    inputs: Sequence[Operand],
    attrs: dict[str, Any],
    *,
    name: str | None = None,
    into: Tensor | None = None,
    value: Any = None,
    line: int | None = None,
) -> Tensor:
    """Apply an operator to tensors and numbers. `name` is the name of its grad_fn; `value` is the
    array of the result, where the caller already has it as a view.

    With `into`, the operation is in place: the result is written into that tensor. Raises
    Unsupported if the operator does not take these inputs.
    """
    if MODE.dual_level and any(map(_is_dual, inputs)):
        if into is not None:
            raise Unsupported("an in-place operation on dual tensors")
        return MODE.apply_to_duals(op, inputs, attrs, name)
    check_dtypes(op.name, inputs)
    operation = Operation(prepare(op, inputs, attrs), inputs, name, into, line)
    if value is None:
        value = computed(operation.plan, operation.arrays, operation.compute)
    if op.name in EXTREMES:
        value = with_signs(op.name, operation.arrays, attrs, value)
    output = operation.fresh(np.asarray(value)) if into is None else into
    operation.track(output, value)
    output.line = line
    if MODE.transforms:
        mark_rows(output, inputs)
    return output


class Operation:
    """One application of an operator; the arguments are those of `apply`."""

    __slots__ = ("arrays", "compute", "inputs", "into", "line", "name", "plan")

    def __init__(
        self,
        plan: Plan,
        inputs: Sequence[Operand],
        name: str | None,
        into: Tensor | None,
        line: int | None,
    ):
        self.plan, self.inputs, self.name, self.into, self.line = plan, inputs, name, into, line
        self.compute = computing_dtype(plan.node, inputs)
        self.arrays = arrays_of(plan.node, inputs, self.compute)

    def fresh(self, value: Any) -> Tensor:
        """The output as a new tensor, or as a view of the first input."""
        return _fresh(self.plan.node, self.inputs, value, self.compute)

    def track(self, output: Tensor, value: Any) -> None:
        """Write the value if the operation is in place, and set the grad_fn of the output."""
        back, node = self._input_gradients(), self.plan.node
        if isinstance(back, Underived):
            if self.into is not None:
                raise Unsupported(f"{node.op.name}_() of a tensor that requires a gradient")
            underived(back.message, self._record_name(), self.inputs, output, self.line)
            return
        if back is None:
            self._write(value)
            if self.into is None:
                output.origin = _origin(node.op, self.inputs, node.attrs, node.dtype == "float")
            return
        saved = saved_inputs(self.plan, back, self.inputs, self.arrays, self.into)
        edges = _edges(back, self.inputs)  # first: writing changes the edge of `into`
        self._write(value)
        self._record(back, edges, output, saved)

    def _write(self, value: Any) -> None:
        if self.into is not None:
            _write(self.into.data, rounded(value, self.into.dtype))
            self.into.changed()

    def _record_name(self) -> str:
        return self.name or grad_name(self.plan.node, self.inputs)

    def _input_gradients(self) -> "InputGradients | Underived | None":
        """The graphs of the inputs' gradients; None if no input requires one, `Underived` if
        PyTorch has no derivative of the operation.
        """
        node = self.plan.node
        if not MODE.recording or node.dtype != "float" or node.op.family == "barrier":
            return None
        places = tuple(
            k
            for k, i in enumerate(self.inputs)
            if isinstance(i, Tensor) and i.dtype.is_floating and i.requires_grad
        )
        if not places:
            return None
        try:
            return self.plan.gradients(places)
        except GradcliError as failure:
            return _underived(failure, node)

    def _record(
        self,
        back: InputGradients,
        edges: Sequence[Edge | None],
        output: Tensor,
        saved: Sequence[tuple[int, Saved | None, Any]],
    ) -> None:
        """Set the grad_fn of the output."""
        node = self.plan.node
        record = Record(
            self._record_name(),
            edges,
            [Meta(output.shape, output.dtype)],
            OperatorBackward(self.plan, back, saved, self.compute),
            [s for _, s, _ in saved if s is not None],
            self.line,
            call=(node, tuple(self.inputs), output),
        )
        record.saves_intermediate = back.saved.intermediate
        if self.into is None:
            output.set_record(record)
        else:
            rebase(self.into, record)
        save_unread(back, self.inputs, output, record)


def _is_dual(value: Operand) -> bool:
    return isinstance(value, DualTensor) and value.lives


def _edges(back: InputGradients, inputs: Sequence[Operand]) -> list[Edge | None]:
    """The edge to each input, along which its gradient is sent."""
    return [
        i.edge if isinstance(i, Tensor) and k in back.places else None for k, i in enumerate(inputs)
    ]


def _underived(failure: GradcliError, node: Node) -> Underived:
    """PyTorch's error in the backward of an operation without derivative rule. Raises Unsupported
    if that error is not known.
    """
    message = (failure.hint or "").removeprefix("PyTorch: ")
    if message == failure.hint:
        message = QR.get(str(node.attrs.get("mode")), "")
    if not message:
        raise Unsupported(failure.message) from failure
    return Underived(message)


def _origin(
    op: Operator, inputs: Sequence[Operand], attrs: dict[str, Any], floats: bool
) -> Origin | None:
    """The call that computed an output without grad_fn: a comparison, an index, a mask cast to
    floats.

    None if floats were computed from floats (`floats`: the output is floating), or if the chain of
    such calls is longer than DEEPEST_ORIGIN.
    """
    tensors = [i for i in inputs if isinstance(i, Tensor)]
    if floats and any(t.dtype.is_floating for t in tensors):
        return None
    depth = 1 + max((t.origin.depth for t in tensors if t.origin), default=0)
    return Origin(op, inputs, attrs, depth) if depth <= DEEPEST_ORIGIN else None


def mark_rows(output: Tensor, inputs: Sequence[Operand]) -> None:
    """Record in `output.fields` whether an output depends on the mapped dimension of a vmap:
    "batched" if an input is a row of it, "unbatched" if no input is.
    """
    tensors = [i for i in inputs if isinstance(i, Tensor)]
    rows = next((t for t in tensors if "batched" in t.fields), None)
    if rows is not None:
        output.fields["batched"] = rows.fields["batched"]
    elif all(map(is_unbatched, tensors)) and not is_outside(output):
        output.fields["unbatched"] = True


def _write(array: Any, value: Any) -> None:
    """Write into an array; where elements share memory (stride 0), write only those that change."""
    if 0 in array.strides and array.size > 1:
        same = (array == value) | ((array != array) & (value != value))
        np.copyto(array, value, where=~same)
    else:
        array[...] = value


def prepare(op: Operator, inputs: Sequence[Operand], attrs: dict[str, Any]) -> Plan:
    """The plan of an operator for these inputs."""
    signatures = [(i.shape, i.dtype.kind) if isinstance(i, Tensor) else i for i in inputs]
    try:
        return plans.plan(op, signatures, attrs)
    except GradcliError as failure:
        raise Unsupported(failure.message) from failure


# ---- memory --------------------------------------------------------------------------------------


def _fresh(node: Node, inputs: Sequence[Operand], value: Any, compute: DType) -> Tensor:
    """The output as a new tensor, or as a view of the first input."""
    dtype = output_dtype(node, inputs, compute)
    first = inputs[0] if inputs else None
    if value.dtype.name != dtype.numpy:
        with np.errstate(over="ignore", invalid="ignore"):
            value = value.astype(dtype.numpy)
    if not isinstance(first, Tensor):
        return Tensor(value, dtype)
    shares = np.may_share_memory(value, first.data) or not value.size
    if shares and not value.flags.writeable:  # by broadcast_to, diagonal or sliding windows
        if value.ctypes.data == first.data.ctypes.data:
            value = np.lib.stride_tricks.as_strided(first.data, value.shape, value.strides)
        else:
            value.setflags(write=True)
    if shares and node.op.shares_memory(node) and value.dtype == first.data.dtype:
        return as_view(Tensor(value, dtype), first)
    tensors = [i for i in inputs if isinstance(i, Tensor)]
    if shares or any(np.may_share_memory(value, i.data) for i in tensors):
        value = value.copy()
    elif node.op.name == "getitem" and value.ndim:  # NumPy's memory layout may differ
        value = np.ascontiguousarray(value)
    return Tensor(laid_out(node, tensors, value), dtype)


# ---- the backward pass ---------------------------------------------------------------------------


COMPOSED = ("rnn_tanh_cell", "rnn_relu_cell")  # computed by several operations in PyTorch


@implements("graph")
def run_graph(
    roots: Sequence[Node], values: dict[Node, Any], names: Mapping[Node, str | None] | None = None
) -> None:
    """Compute a graph with tensors, one operation at a time. `values` maps nodes to tensors, and is
    filled in; `names` has other names for the grad_fns of some roots.
    """
    names = names or {}
    for node in walk(roots, lambda n: () if n in values else n.inputs):
        if node in values:
            continue
        if node.op.name == "constant":
            values[node] = node.attrs["value"]
        elif node.op.name == "tensor":
            values[node] = _of_graph(np.asarray(node.attrs["data"].value), values)
        elif node.op.name in COMPOSED:
            meaning = node.op.expanded(node)
            run_graph([meaning], values)
            values[node] = values[meaning]
        else:
            inputs = [None if i is None else values[i] for i in node.inputs]
            if node.op.name == "sum_to_size" and isinstance(inputs[0], Tensor):
                values[node] = summed_to(inputs[0], node.attrs["shape"])
                if names.get(node):
                    rename(values[node], str(names[node]))
                continue
            values[node] = apply(node.op, inputs, node.attrs, name=names.get(node))


def _of_graph(array: Any, values: Mapping[Node, Any]) -> Tensor:
    """A constant array of a graph as a tensor; floats get the promoted dtype of `values`."""
    if array.dtype.kind != "f":
        return Tensor(array)
    tensors = [v for v in values.values() if isinstance(v, Tensor)]
    dtype = promoted(t.dtype for t in tensors if t.dtype.is_floating) or MODE.default_dtype
    return Tensor(array.astype(dtype.numpy), dtype)


def cast(tensor: Tensor, dtype: DType, line: int | None = None) -> Tensor:
    """A copy in another dtype, through which gradients flow between floating dtypes."""
    with np.errstate(all="ignore"):
        output = Tensor(tensor.data.astype(dtype.numpy), dtype)
    if MODE.recording and tensor.requires_grad and dtype.is_floating:
        source = tensor.dtype

        def back(m: Machine, record: Record, grads: Gradients) -> Gradients:
            return [None if grads[0] is None else cast(grads[0], source)]

        metas = [Meta(output.shape, dtype)]
        output.set_record(Record("ToCopyBackward0", [tensor.edge], metas, back, (), line))
    elif dtype.is_floating:
        lookup("double")
        output.origin = _origin(OPS["double"], (tensor,), {}, floats=True)
    return output
