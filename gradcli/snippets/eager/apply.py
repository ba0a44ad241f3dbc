"""Operators on tensors: their numbers now, and a record for the backward pass."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ...errors import GradcliError
from ...graphs import AGAIN, OPS, Node, Operator, walk
from ...lazy import np
from ...operators import lookup
from ..python.values import Machine, Unsupported, error
from . import last_digits, plans
from .dtypes import BOOL, INT64, DType, promoted, result_type, rounded
from .engine import Gradients, Meta, Record, Saved, rename, zeros_like
from .grad_names import (
    OWN_AGAIN,
    SCATTERED,
    SQUEEZES,
    ZEROS_AGAIN,
    camel_case,
    grad_name,
    gradient_name,
)
from .kernels import check_kinds
from .layouts import laid_out, laid_out_back
from .mode import MODE, recording
from .plans import InputGradients, Plan
from .products import THROUGH_PRODUCTS
from .single import WIDE_NUMBERS, in_half
from .tensor import DualTensor, Edge, Origin, Tensor, Version, ViewOf
from .zeros import EXTREMES, LABELLED, negative_zeros, of_labels, of_softmax, with_signs

STEPS = 20  # of the budget, for an operation
PRODUCTS = 8_000  # of numbers, that take as long as a step
BYTES = 16  # for an element, with what computing it takes
DEEPEST_ORIGIN = 4  # deeper ones would keep all tensors of a loop alive
Operand = Tensor | bool | int | float | None


def call_operator(name: str, *inputs: Operand, **attrs: Any) -> Tensor:
    """The operator of this name on tensors and numbers."""
    lookup(name)  # imports the file that defines it
    op = OPS[name]
    if name == "sum_to_size" and isinstance(inputs[0], Tensor):
        return summed_to(inputs[0], attrs["shape"])
    return apply(op, inputs, {n: attrs.get(n, d) for n, d in op.attributes.items()})


def summed_to(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A tensor summed over the dimensions that broadcasting from `shape` added or widened."""
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
    """An operator on tensors and numbers; `name` is what its record is called, and `value` its
    array, where that is known to be a view.

    With `into`, its numbers are written over that tensor's, whose record it becomes. Raises
    Unsupported where the operator does not take these inputs.
    """
    if MODE.dual_level and any(map(_is_dual, inputs)):
        return _applied_to_duals(op, inputs, attrs, name, into)
    check_kinds(op.name, inputs)
    prepared = prepare(op, inputs, attrs)
    compute = computing_dtype(prepared.node, inputs)
    arrays = _arrays(prepared.node, inputs, compute)
    if value is None:
        value = _computed(prepared, arrays, compute)
    if op.name in EXTREMES:
        value = with_signs(op.name, arrays, attrs, value)
    output = _fresh(prepared.node, inputs, np.asarray(value), compute) if into is None else into
    back = _input_gradients(prepared, inputs)
    if isinstance(back, Underived):
        if into is not None:
            raise Unsupported(f"{op.name}_() of a tensor that requires a gradient")
        underived(back.message, name or grad_name(prepared.node, inputs), inputs, output, line)
        return output
    saved = [] if back is None else _kept_inputs(prepared, back, inputs, arrays, into)
    edges = _edges(back, inputs)  # before the change, which gives `into` another
    if into is not None:
        _write(into.data, rounded(value, into.dtype))
        into.changed()
    if back is not None:
        _record(prepared, back, inputs, edges, output, saved, compute, name, line, into)
    elif into is None:
        node = prepared.node
        output.origin = _origin(op, inputs, node.attrs, node.dtype == "float")
    output.line = line
    if MODE.transforms:
        mark_rows(output, inputs)
    return output


def _origin(
    op: Operator, inputs: Sequence[Operand], attrs: dict[str, Any], floats: bool
) -> Origin | None:
    """What made an output, `floats` or not, where no floats are computed from floats: of a
    comparison, an index, the cast of a mask.
    """
    tensors = [i for i in inputs if isinstance(i, Tensor)]
    if floats and any(t.dtype.is_floating for t in tensors):
        return None
    depth = 1 + max((t.origin.depth for t in tensors if t.origin), default=0)
    return Origin(op, inputs, attrs, depth) if depth <= DEEPEST_ORIGIN else None


def mark_rows(output: Tensor, inputs: Sequence[Operand]) -> None:
    """Mark what is computed of the rows of a vmap, and what of tensors made within it alone."""
    fields = {name for i in inputs if isinstance(i, Tensor) for name in i.fields}
    marks = fields & {"batched", "unbatched"}
    if marks:
        output.fields[min(marks)] = True


def _write(array: Any, value: Any) -> None:
    """Write over an array; where several elements have one place in memory, what changes."""
    if 0 in array.strides and array.size > 1:
        same = (array == value) | ((array != array) & (value != value))
        np.copyto(array, value, where=~same)
    else:
        array[...] = value


def _is_dual(value: Operand) -> bool:
    return isinstance(value, DualTensor) and value.lives


def _applied_to_duals(
    op: Operator,
    inputs: Sequence[Operand],
    attrs: dict[str, Any],
    name: str | None,
    into: Tensor | None,
) -> Tensor:
    """An operator on tensors of which some carry tangents."""
    from .forward import applied

    if into is not None:
        raise Unsupported("a change in place with dual tensors")
    return applied(op, inputs, attrs, name)


def _edges(back: Any, inputs: Sequence[Operand]) -> list[Any]:
    """Where the gradients of the inputs go."""
    return [
        i.edge if back and isinstance(i, Tensor) and k in back.places else None
        for k, i in enumerate(inputs)
    ]


def _arrays(node: Node, inputs: Sequence[Operand], compute: DType) -> list[Any]:
    """The inputs as an operator computes with them."""
    arrays = [array_in(i, compute) for i in inputs]
    if compute.size == 2 and node.op.name not in WIDE_NUMBERS:
        arrays = [float(_narrow(compute, a)) if type(a) is float else a for a in arrays]
    if node.dtype == "float" and node.op.family == "elementwise":
        return _as_floats(node, arrays, compute)
    return arrays


def _computed(prepared: Plan, arrays: list[Any], compute: DType) -> Any:
    """The value of an operator, which is counted against the budget."""
    work = prepared.products // PRODUCTS
    MODE.spend(STEPS + work, BYTES * math.prod(prepared.node.shape or ()))
    last_digits.note(prepared.node, compute)
    if compute.size == 2:
        narrow = partial(_narrow, compute)
        own = in_half(prepared.node.op.name, compute.name, narrow, arrays, prepared.node.attrs)
        if own is not NotImplemented:
            return own
    try:
        return prepared.value(arrays, "float64" if compute.name == "float64" else "float32")
    except GradcliError as failure:
        raise Unsupported(failure.message) from failure


def _narrow(dtype: DType, x: Any) -> Any:
    """Numbers in single precision, rounded to a dtype of half precision."""
    return rounded(np.asarray(x, dtype.numpy), dtype).astype(np.float32)


def prepare(op: Operator, inputs: Sequence[Operand], attrs: dict[str, Any]) -> Plan:
    """The plan of an operator for these inputs."""
    signatures = [(i.shape, i.dtype.kind) if isinstance(i, Tensor) else i for i in inputs]
    try:
        return plans.plan(op, signatures, attrs)
    except GradcliError as failure:
        raise Unsupported(failure.message) from failure


# ---- dtypes --------------------------------------------------------------------------------------


def computing_dtype(node: Node, inputs: Sequence[Operand]) -> DType:
    """The floating dtype that an operation computes in."""
    given = [i for i in inputs if i is not None and not _picks(node, i)]
    if not given:
        return MODE.default_dtype
    result = result_type(given, MODE.default_dtype)
    return result if result.is_floating else MODE.default_dtype


def _picks(node: Node, value: Operand) -> bool:
    """Whether an input is a condition or an index, which has no say in the result's dtype."""
    return isinstance(value, Tensor) and not value.dtype.is_floating and node.dtype == "float"


def array_in(value: Operand, compute: DType) -> Any:
    """The array of an input, floats in the dtype that is computed in."""
    if not isinstance(value, Tensor):
        return value
    if value.dtype.is_floating and (value.dtype is not compute or compute.size == 2):
        return value.data.astype(compute.computed_in, copy=False)
    return value.data


def _as_floats(node: Node, arrays: Sequence[Any], compute: DType) -> list[Any]:
    """The arrays of an elementwise operation that gives floats: integers and masks are floats
    before they are computed with, but for a condition.
    """
    kinds = zip(node.op.inputs, arrays, strict=False)
    return [
        a.astype(compute.computed_in)
        if isinstance(a, np.ndarray) and a.dtype.kind in "bi" and name not in node.op.masks
        else a
        for name, a in kinds
    ]


def output_dtype(node: Node, inputs: Sequence[Operand], compute: DType) -> DType:
    """The dtype of an operation's output."""
    if node.dtype == "float":
        return compute
    if node.dtype == "bool":
        return BOOL
    if node.op.family != "elementwise" and node.op.dtype not in ("promote", "first"):
        return INT64
    given = [i for i in inputs if isinstance(i, Tensor) and i.dtype.kind == "int"]
    return promoted(i.dtype for i in given) or INT64


# ---- memory --------------------------------------------------------------------------------------


def _fresh(node: Node, inputs: Sequence[Operand], value: Any, compute: DType) -> Tensor:
    """The output as a tensor of its own, or as a view of the first input."""
    dtype = output_dtype(node, inputs, compute)
    first = inputs[0] if inputs else None
    if value.dtype.name != dtype.numpy:
        with np.errstate(over="ignore", invalid="ignore"):
            value = value.astype(dtype.numpy)
    if not isinstance(first, Tensor):
        return Tensor(value, dtype)
    shares = np.may_share_memory(value, first.data) or not value.size
    if shares and not value.flags.writeable:  # NumPy's broadcast_to, diagonal and windows
        if value.ctypes.data == first.data.ctypes.data:
            value = np.lib.stride_tricks.as_strided(first.data, value.shape, value.strides)
        else:
            value.setflags(write=True)
    if shares and node.op.shares_memory(node) and value.dtype == first.data.dtype:
        return as_view(Tensor(value, dtype), first)
    tensors = [i for i in inputs if isinstance(i, Tensor)]
    if shares or any(np.may_share_memory(value, i.data) for i in tensors):
        value = value.copy()
    elif node.op.name == "getitem" and value.ndim:  # NumPy lays out what arrays pick otherwise
        value = np.ascontiguousarray(value)
    return Tensor(laid_out(node, tensors, value), dtype)


def as_view(output: Tensor, of: Tensor, creation: str = "") -> Tensor:
    """`output`, as a view of a tensor whose memory it has; `creation` as in ViewOf, where autograd
    records.
    """
    output.inference = of.inference
    if of.inference:
        output.version = of.version
        return output
    output.version = of.version
    output.recorded_version = of.version.number
    base = of.view.base if of.view else of
    if MODE.inference:
        creation = "inference"
    elif not MODE.recording:
        creation = "no_grad"
    inherited = of.view.creation if of.view else ""
    output.view = ViewOf(base, creation or inherited)
    return output


# ---- the backward pass ---------------------------------------------------------------------------


def _input_gradients(
    prepared: Plan, inputs: Sequence[Operand]
) -> "InputGradients | Underived | None":
    """How gradients go back through an operation, if any do."""
    if not MODE.recording or prepared.node.dtype != "float":
        return None
    places = tuple(
        k
        for k, i in enumerate(inputs)
        if isinstance(i, Tensor) and i.dtype.is_floating and i.requires_grad
    )
    if not places or prepared.node.op.family == "barrier":
        return None
    try:
        return prepared.gradients(places)
    except GradcliError as failure:
        message = (failure.hint or "").removeprefix("PyTorch: ")
        if message == failure.hint:
            message = QR.get(str(prepared.node.attrs.get("mode")), "")
        if not message:
            raise Unsupported(failure.message) from failure
        return Underived(message)


class Underived:
    """Where PyTorch has no backward: the message that going back raises."""

    places: tuple[int, ...] = ()

    def __init__(self, message: str):
        self.message = message

    @property
    def name(self) -> str | None:
        """The name of its record, where that is not the operator's."""
        return "NotImplemented" if self.message.startswith("derivative for aten") else None

    def __call__(self, m: Machine, record: Record, grads: Gradients) -> Gradients:
        """Raise the message."""
        raise error(UNDERIVED.get(self.message.split()[0], "RuntimeError"), self.message)


UNDERIVED = {"the": "NotImplementedError"}  # "the derivative for 'zeta' is not implemented."
QR = {
    "r": "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please "
    "use linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.",
    "complete": "The QR decomposition is not differentiable when mode='complete' and nrows > "
    "ncols.",
}


def underived(
    message: str, name: str | None, inputs: Sequence[Operand], output: Tensor, line: int | None
) -> None:
    """Give a tensor a record whose backward raises a message."""
    back = Underived(message)
    edges = [i.edge if isinstance(i, Tensor) else None for i in inputs]
    metas = [Meta(output.shape, output.dtype)]
    output.set_record(Record(back.name or name or "", edges, metas, back, (), line))


def _kept_inputs(
    prepared: Plan,
    back: InputGradients,
    inputs: Sequence[Operand],
    arrays: Sequence[Any],
    into: Tensor | None,
) -> list[tuple[int, Saved | None, Any]]:
    """For each input that the backward pass reads: its place, what PyTorch keeps of it, its array.

    What PyTorch does not keep, and what is about to be overwritten, is copied.
    """
    kept, _ = prepared.kept(back)
    result: list[tuple[int, Saved | None, Any]] = []
    for place in back.reads:
        tensor, array = inputs[place], arrays[place]
        if not isinstance(tensor, Tensor):
            result.append((place, None, array))
        elif (
            place in kept
            and array is tensor.data
            and (tensor is not into or place > 0)
            and not pushes_forward()
        ):
            saved = Saved(tensor)
            saved.viewed_as = _factor_shape(prepared.node, place)
            result.append((place, saved.pack(), None))
        else:
            result.append((place, _saved_copy(tensor, array, place in kept), None))
    return result


def _saved_copy(tensor: Tensor, array: Any, in_pytorch: bool) -> Saved:
    """A copy of an input, with its place in the graph; `in_pytorch`: PyTorch keeps it, too."""
    own = array.dtype.name == tensor.dtype.numpy
    copy = Tensor(np.array(array), tensor.dtype if own else None)
    copy.set_record(tensor.record, tensor.output)
    copy.requires_grad = tensor.requires_grad and tensor.record is None
    copy.accumulator = tensor.edge.record if copy.requires_grad else None  # type: ignore
    saved = Saved(copy)
    saved.hooks, saved.in_pytorch = None, in_pytorch
    return saved


def pushes_forward() -> bool:
    """Whether the innermost transform sends tangents forward, which no later change reaches."""
    return bool(MODE.transforms) and MODE.transforms[-1][0] == "jvp"


def _factor_shape(node: Node, place: int) -> tuple[int, ...] | None:
    """The shape in which PyTorch's matmul keeps a factor, where that is a view of it: batches of
    rows are one matrix for mm and mv, and other batches one dimension for bmm.
    """
    if node.op.name == "einsum":
        return _einsum_shape(node, place)
    if node.op.name != "matmul":
        return None
    a, b = (i.shape or () for i in node.inputs if i is not None)
    shape = (a, b)[place]
    if len(a) > 2 and len(b) > 2:
        return (math.prod((node.shape or ())[:-2]), *shape[-2:])
    if place == 0 and len(b) <= 2 and len(a) != 2:
        return (math.prod(a[:-1]), a[-1]) if len(b) == 2 or len(a) > 2 else None
    if len(b) > 2:
        return (math.prod(b[:-2]) * b[-1], b[-2]) if place else a[::-1] if len(a) == 2 else None
    return None


def _einsum_shape(node: Node, place: int) -> tuple[int, ...] | None:
    """The shape in which einsum keeps one of two operands: a batch of matrices for bmm, or with
    sizes of 1 where nothing is summed. None where it is not known.
    """
    left, arrow, right = node.attrs["equation"].replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != 2 or not arrow or "." in left or any(len(set(t)) < len(t) for t in terms):
        return None
    own, other = terms[place], terms[1 - place]
    operand = node.inputs[place]
    sizes = dict(zip(own, (operand.shape or ()) if operand is not None else ()))
    summed = [c for c in own if c in other and c not in right]
    if not summed:
        return tuple(sizes.get(c, 1) for c in right)
    groups = [
        [c for c in own if c in other and c in right],
        [c for c in own if c not in other],
        summed,
    ]
    batch, rows, inner = (math.prod(sizes[c] for c in group) for group in groups)
    return (batch, inner, rows) if place else (batch, rows, inner)


def _record(
    prepared: Plan,
    back: InputGradients,
    inputs: Sequence[Operand],
    edges: Sequence[Edge | None],
    output: Tensor,
    saved: Sequence[tuple[int, Saved | None, Any]],
    compute: DType,
    name: str | None,
    line: int | None,
    into: Tensor | None,
) -> None:
    """Record an operation, whose output is there."""
    record = Record(
        name or grad_name(prepared.node, inputs),
        edges,
        [Meta(output.shape, output.dtype)],
        OperatorBackward(prepared, back, saved, compute),
        [s for _, s, _ in saved if s is not None],
        line,
        call=(prepared.node, tuple(inputs), output),
    )
    numbers = prepared.node.op.name in KEEP_NUMBERS and any(s is None for _, s, _ in saved)
    record.keeps_numbers = numbers or record.name in KEEP_PLACES
    if into is None:
        output.set_record(record)
    else:
        from .views import rebase

        rebase(into, record)
    for place in KEEP_UNREAD.get(record.name, ()):
        tensor = inputs[place]
        if place not in back.reads and isinstance(tensor, Tensor) and tensor is not into:
            record.saved.append(Saved(tensor).pack())
    if back.reads_output:
        record.saved.append(_kept_output(prepared, back, output, record))
    elif record.name == "PowBackward1":  # keeps its output for the exponent in any case
        record.saved.append(Saved(output, record).pack())


def _kept_output(prepared: Plan, back: InputGradients, output: Tensor, record: Record) -> Saved:
    """The output that the backward pass reads; a copy where PyTorch does not keep it."""
    if prepared.kept(back)[1] and not pushes_forward():
        return Saved(output, record).pack()
    saved = Saved(Tensor(output.data.copy(), output.dtype), record)
    saved.hooks, saved.in_pytorch = None, False
    return saved


# records that keep indices, or inputs that the backward pass here does not read
KEEP_PLACES = frozenset(
    f"{name}Backward0"
    for name in (
        *("Index", "Sort", "Max", "Min", "Topk", "Kthvalue", "Mode", "Cummax", "Cummin"),
        *("AvgPool2D", "LinalgSvd"),
    )
)
KEEP_UNREAD = {  # places of inputs that PyTorch keeps, whether or not backward here reads them
    **{"PowBackward0": (0,), "PowBackward1": (0, 1), "PowBackward2": (1,)},
}
KEEP_COMPUTED = frozenset(  # in PyTorch something that is computed from the input on the way
    (
        *("batch_norm", "cdist", "corrcoef", "cosine_embedding_loss"),
        *("cosine_similarity", "cov", "det", "dist", "erfinv", "gaussian_nll_loss", "group_norm"),
        *("inv", "instance_norm", "layer_norm", "logsigmoid", "margin_ranking_loss", "max_pool1d"),
        *("ndtr", "normalize", "pairwise_distance", "poisson_nll_loss", "qr_q", "qr_r"),
        *("quantile", "rms_norm", "scaled_dot_product_attention", "softsign", "solve"),
        *("standardize", "tanhshrink", "triplet_margin_loss"),
    )
)
KEEP_NUMBERS = ("mul", "div")  # keep a number as the tensor that it is in PyTorch


class OperatorBackward:
    """The backward through an operator: from the gradient of its output to those of its inputs."""

    __slots__ = ("back", "compute", "fixed", "places", "prepared", "reads_output")

    def __init__(
        self,
        prepared: Plan,
        back: InputGradients,
        saved: Sequence[tuple[int, Saved | None, Any]],
        compute: DType,
    ):
        self.prepared, self.back, self.compute = prepared, back, compute
        self.places = [place for place, s, _ in saved if s is not None]  # of what is unpacked
        self.fixed = {place: array for place, s, array in saved if s is None}

    def __call__(self, m: Machine, record: Record, grads: Gradients) -> Gradients:
        """The gradients of all inputs, None for those that need none."""
        (gradient,) = grads
        unpacked = record.unpack()
        if gradient is None:
            return [None] * len(record.edges)
        tensors: dict[int, Any] = self.fixed | dict(zip(self.places, unpacked))
        last_digits.note(self.prepared.node, self.compute, back=True)
        through = THROUGH_PRODUCTS.get(self.prepared.node.op.name)
        if through and isinstance(tensors.get(0), Tensor):
            return [through(record, tensors[0], gradient)]
        output = unpacked[-1] if self.back.reads_output else None
        if any(saved.changed_unseen for saved in (*record.saved, *record.guards)):
            output = self._again(record, tensors, output)
        run = _tracked if MODE.recording else _untracked
        result: Gradients = [None] * len(record.edges)
        answers = run(self, tensors, output, gradient, record)
        for place, answer in zip(self.back.places, answers):
            result[place] = answer
        _lay_out(self.prepared.node, record, gradient, result)
        return result

    def _again(
        self, record: Record, tensors: Mapping[int, Any], output: Tensor | None
    ) -> Tensor | None:
        """The output after a change through `.data` of what was kept: where PyTorch does not keep
        it, it is computed anew. Raises Unsupported where PyTorch keeps what is computed from both.
        """
        op = self.prepared.node.op
        changed = {s.tensor for s in (*record.saved, *record.guards) if s.changed_unseen}
        given = zip(op.inputs, record.call[1] if record.call else (), strict=False)
        kept = {t for name, t in given if name in ("weight", "bias") and isinstance(t, Tensor)}
        if op.name in KEEP_COMPUTED and not changed <= kept:
            raise Unsupported(f"backward through {op.name}() after a change through .data of it")
        if op.saved != (AGAIN,) or output is None:
            return output
        arrays = [array_in(tensors.get(k), self.compute) for k in range(len(op.inputs))]
        return Tensor(_computed(self.prepared, arrays, self.compute), output.dtype)


def _lay_out(node: Node, record: Record, received: Tensor, gradients: Gradients) -> None:
    """Lay out the gradients that have memory of their own as PyTorch does."""
    if record.call is None:
        return
    operands = record.call[1]
    for place, gradient in enumerate(gradients):
        if gradient is None or np.may_share_memory(gradient.data, received.data):
            continue
        gradient.data = laid_out_back(node, operands, place, gradient.data)


def _untracked(
    own: OperatorBackward,
    tensors: dict[int, Any],
    output: Tensor | None,
    gradient: Tensor,
    record: Record,
) -> list[Tensor | None]:
    leaves = own.prepared.leaves
    given = {leaves[k]: array_in(t, own.compute) for k, t in tensors.items()}
    given[own.back.seed] = gradient.data
    if output is not None:
        given[own.prepared.node] = output.data
    precision = "float64" if own.compute.name == "float64" else "float32"
    arrays = own.back.numbers(dict(given), precision)
    if own.prepared.node.op.name in LABELLED and own.back.places[0] == 0:
        target = given.get(leaves[1])
        if target is not None:
            arrays = [of_labels(target, gradient.data, arrays[0]), *arrays[1:]]
    if record.name == "SoftmaxBackward0" and own.prepared.node.shape:
        arrays = [of_softmax(gradient.data, arrays[0], own.prepared.node.attrs["dim"])]
    written = record.name in SCATTERED or record.name == "MaskedSelectBackward0"
    negative = negative_zeros(gradient.data) if written else None
    if negative is not None and negative.any():  # they are written, and not added to 0
        given[own.back.seed] = negative
        arrays = [np.where(own.back.numbers(given, precision)[0] > 0, -0.0, arrays[0])]
    name = own.prepared.node.op.name
    answers = [_gradient(a, own.compute, gradient, name) for a in arrays]
    if name == "einsum" and len(leaves) == 1 and answers[0] is not None:
        answers[0].data.flags.writeable = False  # PyTorch's may be an expanded tensor
    return answers


def _gradient(array: Any, dtype: DType, received: Tensor, name: str) -> Tensor | None:
    """The gradient that an operator sends back, as a tensor; what was received is passed on as it
    is, and what is a view of it shares its memory, which programs may write to.
    """
    if array is None:
        return None
    if array is received.data:
        return received
    array = array.astype(dtype.numpy, copy=False)
    if _is_laid_out(array, received, name):
        return Tensor(np.array(array, order="C"), dtype)
    gradient = Tensor(array, dtype)
    if np.may_share_memory(array, received.data):
        array.flags.writeable = True  # NumPy's broadcast_to says otherwise
        gradient.version = received.version
    return gradient


def _is_laid_out(array: Any, received: Tensor, name: str) -> bool:
    """Whether a gradient has memory of its own in PyTorch, where NumPy repeats, or has a view: as
    that of mean, which divides what it has expanded.
    """
    repeats = any(s <= 0 and n > 1 for s, n in zip(array.strides, array.shape))
    views = name not in ("flip", "pad") and np.may_share_memory(array, received.data)
    return repeats and not views


def _tracked(
    own: OperatorBackward,
    tensors: dict[int, Any],
    output: Tensor | None,
    gradient: Tensor,
    record: Record,
) -> list[Tensor | None]:
    """The same with a record of every operation: create_graph=True."""
    from ...autodiff.create_graph import with_graph

    values: dict[Any, Any] = {own.prepared.leaves[k]: t for k, t in tensors.items()}
    values[own.back.seed] = gradient
    if output is not None:
        values[own.prepared.node] = output
    node = own.prepared.node
    whole = own.prepared.leaves[0]
    if record.name in SQUEEZES and whole is not None and node.shape == whole.shape:
        return [gradient]
    refusal = node.op.refused_again(node)
    if refusal is not None:
        with recording(False):
            answers = _untracked(own, tensors, output, gradient, record)
        _refuse_again(refusal, node, [*tensors.values(), gradient], answers)
        return answers
    roots = [None if n is None else with_graph(n) for n in own.back.gradients]
    names = {
        root: gradient_name(record, node, place, root)
        for place, root in zip(own.back.places, roots)
        if root is not None
    }
    run_graph(list(names), values, names)
    answers = [None if n is None else as_tensor(values[n], own.compute) for n in roots]
    saved = output if node.op.name == "relu" else None  # its rule reads the output
    edges = [record.edges[place] if saved is None else saved.edge for place in own.back.places]
    _add_zeros(record, node, answers, edges, [None if r is None else names[r] for r in roots])
    for answer in answers:
        if answer is not None and _is_laid_out(answer.data, gradient, node.op.name):
            answer.data, answer.view = np.array(answer.data, order="C"), None
            answer.version, answer.recorded_version = Version(), 0
    return answers


def _add_zeros(
    record: Record,
    node: Node,
    answers: Sequence[Tensor | None],
    edges: Sequence[Edge | None],
    names: Sequence[str | None],
) -> None:
    """Give the gradients of a node the records that send zeros back, if PyTorch has such."""
    zeros = node.op.name in ZEROS_AGAIN
    if not zeros and record.name not in OWN_AGAIN:
        return
    for answer, edge, name in zip(answers, edges, names):
        if answer is not None and name is not None and edge is not None:
            _with_zeros(answer, edge, name, zeros)


def _refuse_again(
    refusal: str, node: Node, operands: list[Tensor], answers: list[Tensor | None]
) -> None:
    """Let another backward pass through gradients end where PyTorch has no derivative for them."""
    built = f"{camel_case(node.op.name)}BackwardBackward0"
    for answer in answers:
        if answer is not None:
            underived(refusal, built, operands, answer, None)


def _with_zeros(gradient: Tensor, edge: Edge, name: str, zeros: bool) -> None:
    """Give a gradient that does not change with its operation's input a record that sends zeros
    back to that, where PyTorch does.
    """
    record = gradient.record
    if record is not None and not zeros:
        return

    def back(m: Machine, again: Record, grads: Gradients) -> Gradients:
        sent = [] if record is None else [*record.backward(m, again, grads)]
        sent = sent[: len(again.edges) - 1]
        return [*sent, None if grads[0] is None else zeros_like(gradient)]

    before = record or Record(name, [], [Meta(gradient.shape, gradient.dtype)], back)
    edges = [*before.edges, edge]
    again = Record(name, edges, before.metas, back, before.saved, call=before.call)
    gradient.set_record(again)


def run_graph(
    roots: Sequence[Node], values: dict[Node, Any], names: Mapping[Node, str | None] | None = None
) -> None:
    """Compute nodes as operations on tensors; `values` has those that are there, and gets all.
    `names` are those of the records of roots, where these have one of their own.
    """
    names = names or {}
    for node in walk(roots, lambda n: () if n in values else n.inputs):
        if node in values:
            continue
        if node.op.name == "constant":
            values[node] = node.attrs["value"]
        elif node.op.name == "tensor":
            values[node] = _of_graph(np.asarray(node.attrs["data"].value), values)
        else:
            inputs = [None if i is None else values[i] for i in node.inputs]
            if node.op.name == "sum_to_size" and isinstance(inputs[0], Tensor):
                values[node] = summed_to(inputs[0], node.attrs["shape"])
                if names.get(node):
                    rename(values[node], str(names[node]))
                continue
            values[node] = apply(node.op, inputs, node.attrs, name=names.get(node))


def _of_graph(array: Any, values: Mapping[Node, Any]) -> Tensor:
    """An array of a graph as a tensor, floats in the dtype of the tensors beside it."""
    if array.dtype.kind != "f":
        return Tensor(array)
    tensors = [v for v in values.values() if isinstance(v, Tensor)]
    dtype = promoted(t.dtype for t in tensors if t.dtype.is_floating) or MODE.default_dtype
    return Tensor(array.astype(dtype.numpy), dtype)


def as_tensor(value: Any, dtype: DType) -> Tensor:
    """A tensor; a number as one of this dtype."""
    return value if isinstance(value, Tensor) else Tensor(np.asarray(value, dtype.numpy), dtype)


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
