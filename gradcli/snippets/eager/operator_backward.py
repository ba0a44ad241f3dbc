"""The backward of one operator: computed with arrays, or with recorded tensors for
create_graph=True.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ...autodiff.reverse import with_graph
from ...graphs import AGAIN, Node
from ...lazy import np
from ..python.values import Machine, Unsupported
from . import last_digits
from .dispatch import run_graph
from .dtypes import DType
from .grad_names import SCATTERED, SEPARATE, SQUEEZES, ZERO_SECOND, camel_case, gradient_name
from .layouts import is_column_major, laid_out_back
from .mode import MODE, recording
from .plans import InputGradients, Plan, computed
from .products import THROUGH_PRODUCTS
from .promotion import array_in, as_tensor
from .records import underived, zeros_like
from .single import matmul
from .tensor import Edge, Gradients, Meta, Record, Saved, Tensor, Version
from .zeros import LABELLED, negative_zeros, of_labels, of_softmax


class OperatorBackward:
    """The backward function of an operator: maps the gradient of its output to those of its inputs.
    `fixed` has the arrays of inputs that are not saved tensors.
    """

    __slots__ = ("back", "compute", "fixed", "places", "plan")

    def __init__(
        self,
        plan: Plan,
        back: InputGradients,
        saved: Sequence[tuple[int, Saved | None, Any]],
        compute: DType,
    ):
        self.plan, self.back, self.compute = plan, back, compute
        self.places = [place for place, s, _ in saved if s is not None]  # of saved inputs
        self.fixed = {place: array for place, s, array in saved if s is None}

    def __call__(self, m: Machine, record: Record, grads: Gradients) -> Gradients:
        """The gradients of all inputs; None for inputs that require none."""
        (gradient,) = grads
        unpacked = record.unpack()
        if gradient is None:
            return [None] * len(record.edges)
        tensors: dict[int, Any] = self.fixed | dict(zip(self.places, unpacked))
        last_digits.note(self.plan.node, self.compute, back=True)
        through = THROUGH_PRODUCTS.get(self.plan.node.op.name)
        if through and isinstance(tensors.get(0), Tensor):
            return [through(record, tensors[0], gradient)]
        output = unpacked[-1] if self.back.reads_output else None
        if any(saved.changed_unseen for saved in (*record.saved, *record.guards)):
            output = self._current_output(record, tensors, output)
        run = _tracked if MODE.recording else _untracked
        result: Gradients = [None] * len(record.edges)
        answers = run(self, tensors, output, gradient, record)
        for place, answer in zip(self.back.places, answers):
            result[place] = answer
        _lay_out(self.plan.node, record, gradient, result)
        return result

    def _current_output(
        self, record: Record, tensors: Mapping[int, Any], output: Tensor | None
    ) -> Tensor | None:
        """The output to use if the program changed saved tensors through `.data`.

        It is recomputed from them if PyTorch's backward recomputes it; otherwise it is the saved
        output. Raises Unsupported if PyTorch saves an intermediate result, which such a change does
        not affect.
        """
        op = self.plan.node.op
        changed = {s.tensor for s in (*record.saved, *record.guards) if s.changed_unseen}
        operands = zip(op.inputs, record.call[1] if record.call else (), strict=False)
        saved = {t for name, t in operands if name in ("weight", "bias") and isinstance(t, Tensor)}
        if self.back.saved.intermediate and not changed <= saved:
            raise Unsupported(
                f"backward through {op.name}() after its tensors changed through .data"
            )
        if AGAIN not in op.saved_for(self.plan.node) or output is None:
            return output
        arrays = [array_in(tensors.get(k), self.compute) for k in range(len(op.inputs))]
        return Tensor(computed(self.plan, arrays, self.compute), output.dtype)

    def values_of_nodes(self, inputs: Mapping[int, Any], output: Any, gradient: Any) -> Any:
        """The values on which the derivative rule depends, by node: inputs, upstream gradient, and
        the output if it is saved.
        """
        values = {self.plan.leaves[k]: value for k, value in inputs.items()}
        values[self.back.seed] = gradient
        if output is not None:
            values[self.plan.node] = output
        return values


def _lay_out(node: Node, record: Record, received: Tensor, gradients: Gradients) -> None:
    """Change gradients that have their own memory to PyTorch's memory layout."""
    if record.call is None:
        return
    operands = record.call[1]
    for place, gradient in enumerate(gradients):
        if gradient is None or np.may_share_memory(gradient.data, received.data):
            continue
        gradient.data = laid_out_back(node, operands, place, gradient.data)


def _untracked(
    backward: OperatorBackward,
    tensors: dict[int, Any],
    output: Tensor | None,
    gradient: Tensor,
    record: Record,
) -> list[Tensor | None]:
    """The gradients of the inputs as arrays, without recording: computed by the derivative rule,
    with PyTorch's signs of zeros and order of terms.
    """
    leaves = backward.plan.leaves
    inputs = {k: array_in(t, backward.compute) for k, t in tensors.items()}
    values = backward.values_of_nodes(inputs, output and output.data, gradient.data)
    precision = backward.compute.precision
    arrays = backward.back.numbers(dict(values), precision)
    if backward.plan.node.op.name in LABELLED and backward.back.places[0] == 0:
        target = values.get(leaves[1])
        if target is not None:
            arrays = [of_labels(target, gradient.data, arrays[0]), *arrays[1:]]
    if record.name == "SoftmaxBackward0" and backward.plan.node.shape:
        arrays = [of_softmax(gradient.data, arrays[0], backward.plan.node.attrs["dim"])]
    if record.name in ("MmBackward0", "AddmmBackward0") and backward.compute.size == 4:
        arrays = _matmul_gradients(backward, record, gradient, arrays)
    if record.name in SCATTERED or record.name == "MaskedSelectBackward0":
        negative = negative_zeros(gradient.data)
        if negative.any():  # PyTorch assigns these instead of adding to 0
            values[backward.back.seed] = negative
            arrays = [np.where(backward.back.numbers(values, precision)[0] > 0, -0.0, arrays[0])]
    name = backward.plan.node.op.name
    answers = [_as_tensor_of(a, backward.compute, gradient, name) for a in arrays]
    if name == "einsum" and len(leaves) == 1 and answers[0] is not None:
        answers[0].data.flags.writeable = False  # writing is refused: it may be expanded in PyTorch
    return answers


def _matmul_gradients(
    backward: OperatorBackward, record: Record, received: Tensor, arrays: Sequence[Any]
) -> list[Any]:
    """The gradients of the factors of a matrix product. That of a column-major factor is computed
    transposed, as in PyTorch, where the terms are then added in another order.
    """
    node, result = backward.plan.node, [*arrays]
    if record.call is None or node.attrs.get("alpha", 1) != 1:
        return result
    operands, g = record.call[1], received.data
    left, right = operands[-2:]
    for k, place in enumerate(backward.back.places):
        if operands[place] is right and is_column_major(node, operands, place):
            result[k] = matmul(g.T, left.data).T
        elif operands[place] is left and is_column_major(node, operands, place):
            result[k] = matmul(right.data, g.T).T
    return result


def _as_tensor_of(array: Any, dtype: DType, received: Tensor, name: str) -> Tensor | None:
    """The array of an input's gradient as a tensor. Returns the upstream gradient itself if the
    array is its array; a view of that array shares its memory, as programs may write to it.
    """
    if array is None:
        return None
    if array is received.data:
        return received
    array = array.astype(dtype.numpy, copy=False)
    if _needs_own_memory(array, received, name):
        return Tensor(np.array(array, order="C"), dtype)
    gradient = Tensor(array, dtype)
    if np.may_share_memory(array, received.data):
        array.flags.writeable = True  # NumPy's broadcast_to marks it read-only
        gradient.version = received.version
    return gradient


def _needs_own_memory(array: Any, received: Tensor, name: str) -> bool:
    """Whether PyTorch's gradient has memory of its own where NumPy's array is broadcast. The
    backward of mean, for example, divides an expanded gradient, which allocates a full tensor.
    """
    repeats = any(s <= 0 and n > 1 for s, n in zip(array.strides, array.shape))
    views = name not in ("flip", "pad") and np.may_share_memory(array, received.data)
    return repeats and not views


def _tracked(
    backward: OperatorBackward,
    tensors: dict[int, Any],
    output: Tensor | None,
    gradient: Tensor,
    record: Record,
) -> list[Tensor | None]:
    """The gradients of the inputs, recorded for create_graph=True."""
    node, whole = backward.plan.node, backward.plan.leaves[0]
    if record.name in SQUEEZES and whole is not None and node.shape == whole.shape:
        return [gradient]
    refusal = node.op.double_backward_error(node)
    if refusal is not None:
        with recording(False):
            answers = _untracked(backward, tensors, output, gradient, record)
        _refuse_double_backward(refusal, node, [*tensors.values(), gradient], answers)
        return answers
    answers = _recorded(backward, tensors, output, gradient, record)
    for answer in answers:
        if answer is not None and _needs_own_memory(answer.data, gradient, node.op.name):
            answer.data, answer.view = np.array(answer.data, order="C"), None
            answer.version, answer.recorded_version = Version(), 0
    return answers


def _recorded(
    backward: OperatorBackward,
    tensors: dict[int, Any],
    output: Tensor | None,
    gradient: Tensor,
    record: Record,
) -> list[Tensor | None]:
    """The gradients, computed by recorded operations with the grad_fns that PyTorch gives them."""
    node = backward.plan.node
    values = backward.values_of_nodes(tensors, output, gradient)
    roots = [None if n is None else with_graph(n) for n in backward.back.gradients]
    names = {
        root: gradient_name(record, node, place, root)
        for place, root in zip(backward.back.places, roots)
        if root is not None
    }
    run_graph(list(names), values, names)
    answers = [None if n is None else as_tensor(values[n], backward.compute) for n in roots]
    saved = output if node.op.name == "relu" else None  # relu's rule depends on the output
    edges = [record.edges[place] if saved is None else saved.edge for place in backward.back.places]
    _add_zeros(record, node, answers, edges, [None if r is None else names[r] for r in roots])
    return answers


def _add_zeros(
    record: Record,
    node: Node,
    answers: Sequence[Tensor | None],
    edges: Sequence[Edge | None],
    names: Sequence[str | None],
) -> None:
    """Replace the grad_fns of gradients that do not depend on the operation's input, if PyTorch's
    second derivative with respect to it is zeros and not None.
    """
    zeros = node.op.name in ZERO_SECOND
    if not zeros and record.name not in SEPARATE:
        return
    for answer, edge, name in zip(answers, edges, names):
        if answer is not None and name is not None and edge is not None:
            _send_zeros(answer, edge, name, zeros)


def _refuse_double_backward(
    refusal: str, node: Node, operands: list[Tensor], answers: list[Tensor | None]
) -> None:
    """Give the gradients grad_fns that raise `refusal`, as PyTorch has no second derivative."""
    built = f"{camel_case(node.op.name)}BackwardBackward0"
    for answer in answers:
        if answer is not None:
            underived(refusal, built, operands, answer, None)


def _send_zeros(gradient: Tensor, edge: Edge, name: str, zeros: bool) -> None:
    """Give a gradient that does not depend on the operation's input a grad_fn that sends zeros to
    that input, along `edge`.
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
