"""Forward mode: Jacobian-vector products (JVPs) of recorded operations, in the order of recording.

The JVP of an operation is computed by differentiating its backward with respect to the upstream
gradient ("double backward"). Exceptions: cat, stack and where are applied to the tangents
themselves, as a double backward adds zeros and so loses the sign of -0; quotients and cumulative
products have PyTorch's own rules, such as (da - db * y) / b.
"""

from collections.abc import Sequence
from typing import Any

from ...graphs import Node, Operator
from ...lazy import np
from ..python.values import Class, Machine, Object, Unsupported
from .apply import apply
from .calls import call
from .engine import fitted, go_back
from .grad_names import SEPARATE, UNNAMED
from .mode import MODE, recording
from .records import detached, inputs_first, leaves, rename, zeros_like
from .tensor import Accumulator, DualTensor, Edge, Record, Tensor

JOINING = ("stack", "cat", "where")
LINEAR = (
    *("add", "sub", "neg", "sum", "mean", "cumsum", "flip", "reshape", "expand", "permute"),
    *("unsqueeze", "squeeze", "transpose", "getitem"),
)  # linear operations: the JVP is the operation on tangents
# grad_fns of operations whose tangents have PyTorch's grad_fns
SAME_GRAD_FN = frozenset(
    f"{name}Backward0"
    for name in (
        *("Mul", "Div", "Pow", "Exp", "Sin", "Cos", "Tanh", "Sigmoid", "Relu", "Mm", "Mv", "Dot"),
        *("Add", "Sub", "Neg", "Sum", "Mean", "Where", "Stack", "Cat", "Unsqueeze", "T"),
        *("Addmm", "Clamp", "Prod", "Flip", "Maximum", "Select", "Slice", "Expand"),
    )
)
SELF_ADJOINT = (
    "TanhBackward0",
    "SigmoidBackward0",
    "ReluBackward0",
)  # elementwise: JVP and VJP are computed by one formula
PRODUCTS = frozenset(f"{name}Backward0" for name in ("Mul", "Mm", "Mv", "Dot", "Addmm", "Bmm"))
Tangents = Sequence[Tensor | None]


class Linearized(Object):
    """The operations recorded between inputs and outputs, as a linear map of tangents."""

    __slots__ = ("gradients", "inputs", "outputs", "seeds")
    cls = Class("Linearized")

    def __init__(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor]):
        self.outputs, self.inputs = outputs, inputs
        self.gradients: dict[Record, tuple[list[Tensor], Tangents]] = {}
        self.seeds: list[Tensor] = []

    def jvp(self, m: Machine, tangents: Sequence[Tensor]) -> list[Tensor | None]:
        """The tangents of the outputs from those of the inputs; None for an output without one."""
        result: dict[Edge | None, Tensor] = {x.edge: t for x, t in zip(self.inputs, tangents)}
        starts = {edge.record for edge in result if edge}
        roots = [o.edge.record for o in self.outputs if o.edge]
        for record in inputs_first(roots, starts):
            if record in starts or isinstance(record, Accumulator):
                continue
            arriving = [result.get(edge) if edge else None for edge in record.edges]
            if any(t is not None for t in arriving):
                for k, tangent in enumerate(self._output_tangents(m, record, arriving)):
                    if tangent is not None:
                        result[Edge(record, k)] = tangent
        return [result.get(o.edge) if o.edge else None for o in self.outputs]

    def is_linear(self, output: Tensor) -> bool:
        """Whether an output is computed from the inputs by linear operations only."""
        starts = {x.edge.record for x in self.inputs if x.edge}
        result = inputs_first([output.edge.record], starts) if output.edge else []
        records = [r for r in result if isinstance(r, Record) and r not in starts]
        nodes = [r.call[0] if isinstance(r.call, tuple) else None for r in records]
        return all(isinstance(n, Node) and n.op.name in LINEAR + JOINING for n in nodes)

    def _output_tangents(self, m: Machine, record: Record, tangents: Tangents) -> Tangents:
        """The tangents of the outputs of one operation, from the tangents of its inputs."""
        node = record.call[0] if isinstance(record.call, tuple) else None
        if not isinstance(node, Node):
            return self._double_backward(m, record, tangents)
        name, operands = node.op.name, record.call[1]
        whole = all(t is not None for t in tangents)
        if name in JOINING or (name in LINEAR and whole):
            return [_of_tangents(node, operands, tangents)]
        tangent = tangents[0]
        if name == "cumprod" and operands[0].ndim and tangent is not None:
            return [_running_product(operands[0], record.call[2], tangent, **node.attrs)]
        if name == "prod" and operands[0].ndim and tangent is not None:
            return [self._product(m, record, node, tangent)]
        if name == "div" and not any(node.attrs.values()):
            return [_quotient(*operands, *tangents)]
        return self._double_backward(m, record, tangents)

    def _product(self, m: Machine, record: Record, node: Node, tangent: Tensor) -> Tensor:
        """The tangent of prod(): the sum of each factor's tangent times the other factors."""
        with recording(True):
            ones = Tensor(np.ones(node.shape or (), record.metas[0].dtype.numpy))
            (others,) = record.backward(m, record, [ones])
            products = call("mul", [others, tangent], {})
            dims, keepdim = node.attrs["dim"], node.attrs["keepdim"]
            return call("sum", [products, dims], {"keepdim": keepdim})

    def _double_backward(self, m: Machine, record: Record, tangents: Tangents) -> Tangents:
        """The tangents of an operation's outputs, as the backward of its backward."""
        seeds, back = self._seeds_and_gradients(m, record)
        pairs = [(g.edge, t) for g, t in zip(back, tangents) if g is not None and t is not None]
        roots = [(edge, tangent) for edge, tangent in pairs if edge is not None]
        wanted = [Edge(s.edge.record, 0) for s in seeds if s.edge]
        if not roots:
            return [None] * len(seeds)
        answers = go_back(m, roots, keep=True, create_graph=True, wanted=wanted, accumulate=False)
        return [answers[edge] for edge in wanted]

    def _seeds_and_gradients(self, m: Machine, record: Record) -> tuple[list[Tensor], Tangents]:
        """Zero seeds for the outputs of an operation, which require gradients, and the gradients of
        its inputs for these seeds.
        """
        if record not in self.gradients:
            seeds = [
                Tensor(np.zeros(meta.shape, meta.dtype.numpy), meta.dtype, requires_grad=True)
                for meta in record.metas
            ]
            if not record.freed and any(s.version != s.tensor.version.number for s in record.saved):
                raise Unsupported(
                    "forward mode through a tensor that was changed in place after it was used"
                )
            grads = zip(record.edges, record.backward(m, record, [*seeds]))
            back = [
                None if edge is None or g is None else fitted(g, edge, k, record)
                for k, (edge, g) in enumerate(grads)
            ]
            self.gradients[record] = seeds, back
            self.seeds += seeds
        return self.gradients[record]


def _of_tangents(node: Node, operands: Sequence[Any], tangents: Tangents) -> Tensor:
    """An operation applied to tangents in place of its operands. A missing tangent is 0; operands
    that are not floats, such as conditions, stay.
    """
    inputs = [
        tangent
        if tangent is not None
        else zeros_like(operand)
        if isinstance(operand, Tensor) and operand.dtype.is_floating
        else 0.0
        if isinstance(operand, int | float) and not isinstance(operand, bool)
        else operand
        for operand, tangent in zip(operands, tangents, strict=False)
    ]
    with recording(True):
        return apply(node.op, inputs, node.attrs)


def _quotient(a: Any, b: Any, da: Tensor | None, db: Tensor | None) -> Tensor:
    """The tangent of a / b."""
    with recording(True):
        scaled = None if db is None else call("mul", [db, call("div", [a, b], {})], {})
        if scaled is None:
            difference = da
        elif da is None:
            difference = call("neg", [scaled], {})
        else:
            difference = call("sub", [da, scaled], {})
        return call("div", [difference, b], {})


def _running_product(x: Tensor, y: Tensor, dx: Tensor, *, dim: int) -> Tensor:
    """The tangent of y = cumprod(x): by division before the first 0 along dim, and from there on
    the product with the tangent of that 0 instead of the 0.
    """
    zeros = np.cumsum(x.data == 0, axis=dim)
    first = Tensor((x.data == 0) & (zeros == 1))
    with recording(True):
        divided = call("cumsum", [call("div", [dx, x], {}), dim], {})
        after = call("cumprod", [call("where", [first, dx, x], {}), dim], {})
        before = call("mul", [divided, y], {})
        return call("where", [Tensor(zeros > 0), after, before], {})


def applied(op: Operator, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Tensor:
    """Apply an operator to dual tensors; a floating output is a dual tensor."""
    duals = [i for i in inputs if isinstance(i, DualTensor)]
    plain = [i.primal if isinstance(i, DualTensor) else i for i in inputs]
    primal = apply(op, plain, attrs, name=name)
    if not primal.dtype.is_floating:
        return primal
    with recording(True):
        tracked = {d: _tracked(d.primal) for d in duals}
        output = apply(op, [tracked.get(i, i) for i in inputs], attrs)
        linearized = Linearized([output], list(tracked.values()))
        (tangent,) = linearized.jvp(MODE.dual_machine, [d.tangent for d in tracked])
    if tangent is None:
        return primal
    tangent = detach_if_constant(tangent, [*tracked.values(), *linearized.seeds])
    return DualTensor(primal, as_recorded(tangent, output, op.name in LINEAR + JOINING, primal))


def _tracked(x: Tensor) -> Tensor:
    """The start of a graph: a view of `x` if it requires a gradient, else a new leaf."""
    if x.requires_grad:
        return call("view_as", [x, x], {}, method=True)
    return Tensor(x.data, x.dtype, requires_grad=True)


def as_recorded(tangent: Tensor, output: Tensor, linear: bool, primal: Tensor) -> Tensor:
    """The tangent of `output`, with the grad_fn that it has in PyTorch if the primal requires a
    gradient.

    PyTorch also records products of primals with zero tangents, for some operations. Raises
    Unsupported if it is not known whether it does for this one.
    """
    if not primal.requires_grad or output.record is None:
        return tangent
    name = output.record.name
    if tangent.requires_grad:
        if _is_product(output):  # PyTorch sums over all factors, including those without a tangent
            rename(tangent, "AddBackward0")
        elif name in SELF_ADJOINT:
            rename(tangent, SEPARATE[name])
        elif name not in SAME_GRAD_FN:
            rename(tangent, UNNAMED)
        return tangent
    if linear:
        return tangent
    if name != "AddmmBackward0":
        raise Unsupported("the grad_fn of this tangent")
    with recording(True):
        return call("add", [tangent, call("mul", [primal, 0.0], {})], {})


def _is_product(output: Tensor) -> bool:
    """Whether the grad_fn of a tensor is that of a product of two or more tensors."""
    record = output.record
    if record is None or record.name not in PRODUCTS:
        return False
    operands = record.call[1] if isinstance(record.call, tuple) else ()
    return sum(isinstance(o, Tensor) for o in operands) > 1


def detach_if_constant(tensor: Tensor, inputs: Sequence[Tensor]) -> Tensor:
    """`tensor`, detached if all leaves of its graph are among `inputs`."""
    if not tensor.requires_grad:
        return tensor
    fresh = [x for x in inputs if x.is_leaf]
    if any(all(leaf is not x for x in fresh) for leaf in leaves(tensor)):
        return tensor
    return detached(tensor)


def jvp(m: Machine, linearized: Linearized, tangents: Sequence[Tensor]) -> list[Tensor]:
    """The tangents of all outputs, detached from the inputs; zeros where an output has none."""
    with recording(True):
        results = linearized.jvp(m, tangents)
    fresh = [x for x in (*linearized.inputs, *linearized.seeds) if x.is_leaf]
    result = []
    for o, t in zip(linearized.outputs, results):
        if t is None:
            result.append(zeros_like(o))
        else:
            tangent = detach_if_constant(t, fresh)
            result.append(
                as_recorded(tangent, o, linearized.is_linear(o), detach_if_constant(o, fresh))
            )
    return result
