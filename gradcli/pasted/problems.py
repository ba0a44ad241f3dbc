"""A backward pass as a text of gradcli's expression language, with the names of the program.

The operations that autograd recorded become a graph of operators, which is written as a text with
one statement for each named value; arrays become values of its inputs. The graph is evaluated once:
if it differs from the program's values, for example after a change that autograd does not see, the
backward pass cannot be posed as a text.
"""

import keyword
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

from ..autodiff.reverse import backward
from ..backends.numeric import Evaluator
from ..errors import GradcliError, did_you_mean
from ..graphs import OPS, Node, intern, walk
from ..lazy import np
from ..notation import tree
from ..notation.formulas.formula import OperatorWriter
from ..notation.tree import Name
from ..operators import lookup
from ..operators.leaves import Array, numbers
from ..snippets.eager.records import inputs_first
from ..snippets.eager.tensor import (
    Accumulator,
    Composed,
    Copied,
    Elements,
    Origin,
    Overwritten,
    Record,
    Tensor,
)
from ..snippets.eager.views import readable
from ..snippets.trace import Backward

LONG_PART = 12  # operations of a common subexpression that gets a statement
MOST_RECORDS = 200  # longer graphs are those of loops, whose formulas would not be readable
# names with a meaning in the expression language or in answers
RESERVED = {"g", "out", "pi", "inf", "nan", "float", "int", "bool", "Ellipsis"}
# grad_fns of operations that return their input unchanged
COPIES = {"CloneBackward0", "ToCopyBackward0"}
HOOKED = "BackwardHookFunctionBackward"  # of the inputs or outputs of a module with hooks
TOLERANCE, ROUNDING = 1e-3, 1e-5  # in float32: of a result, and of its operands


class Unexplained(Exception):
    """A backward pass that is not a graph of operators, because of a Function or a hook."""


class BackwardProblem(NamedTuple):
    """A backward pass in the expression language: the `text`, the arrays of its inputs, the seed
    unless it is 1, and the inputs in `wrt`; the leaves by name; and `unnamed`, names that the
    program does not have, each with its former name in the program, or "".
    """

    text: str
    values: dict[str, Any]
    seed: Any
    wrt: tuple[str, ...]
    leaves: dict[str, Tensor]
    unnamed: dict[str, str]


def pose_backward(
    back: Backward, wrt: Collection[str] = (), most: int = MOST_RECORDS
) -> BackwardProblem:
    """The problem of a backward pass, with respect to `wrt` or to the program's leaves.

    Raises Unexplained if there is none, GradcliError for an unknown name.
    """
    avoided: set[str] = set()
    while True:
        result = _BackwardPoser(back, avoided, most).pose_backward(wrt)
        called = _names_in(result).intersection(re.findall(r"(?<![\w.])(\w+)\(", result.text))
        if not called:
            return result
        avoided |= called  # a value must not hide a function that is called


def _reached_leaves(order: Sequence[Record]) -> set[Tensor]:
    """The leaves to which gradients of these nodes flow; some may be frozen by now."""
    targets = [e.record for r in order for e in _edges(r) if e]
    return {t.tensor for t in targets if isinstance(t, Accumulator)}


def _names_in(result: BackwardProblem) -> set[str]:
    return {*result.values, *re.findall(r"^(\w+) = ", result.text, re.MULTILINE)}


class _BackwardPoser:
    def __init__(self, back: Backward, avoided: Collection[str], most: int):
        self.back, self.avoided, self.most = back, avoided, most
        self.nodes: dict[Any, Node] = {}  # by tensor, or by grad_fn and output
        self.inputs: dict[Node, tuple[str, Tensor]] = {}
        self.names: dict[Any, str] = {}  # by tensor, or by grad_fn and output
        self.cut: dict[Record, Tensor] = {}  # computed tensors that are treated as inputs
        self.written: dict[Tensor, list[Any]] = {}  # flat indices that were overwritten
        self.unnamed: dict[str, str] = {}  # names that are not in the program
        self.reached: set[Record | None] = set()  # grad_fns of operations before the outputs
        self.losses: set[Node] = set()  # nll_loss nodes of calls of cross_entropy

    def pose_backward(self, wrt: Collection[str]) -> BackwardProblem:
        """The text and the other fields of the result."""
        order = self._records_in_order()
        self._find_names(order)
        wanted = self.back.wanted if not wrt else [self._tensor_named(name) for name in wrt]
        if not all(isinstance(t, Tensor) for t in wanted or ()):
            raise Unexplained("a gradient with respect to an edge of the graph")
        self._cut(wanted or ())
        out = self._output()
        text = self._as_text(self._statements(out))
        for name, tensor in zip(wrt, wanted or ()):
            if self._key(tensor) not in self.nodes:
                message = f"no gradient flows to {name} at line {self.back.line}"
                raise GradcliError("not-differentiable", message)
        alone = [*(wanted or ()), *(self._unused() if wanted is None else ())]
        for tensor in alone:
            self._leaf(tensor)
        tracked = {
            *_reached_leaves(self._records_in_order()),
            *self.cut.values(),
            *self.back.outputs,
            *alone,
        }
        leaves = {n: t for n, t in self.inputs.values() if t in tracked}
        if wanted is None:
            by = tuple(leaves)
        else:
            by = tuple(self.inputs[self.nodes[t]][0] for t in wanted)
        values = {name: in_decimals(self._numbers(t)) for name, t in self.inputs.values()}
        self._check(out, values, by)
        return BackwardProblem(text, values, self._seed(), by, leaves, self.unnamed)

    # ---- operations ------------------------------------------------------------------------------

    def _records_in_order(self) -> list[Record]:
        """The grad_fns that lead to the outputs, inputs first, up to those that are cut."""
        roots = [t._record for t in self.back.outputs if t._record is not None]
        order = [r for r in inputs_first(roots, self.cut, _edges) if isinstance(r, Record)]
        if len(order) > self.most:
            raise Unexplained(f"{len(order)} operations are too many to write out")
        return order

    def _cut(self, wanted: Sequence[Tensor]) -> None:
        """Treat computed tensors in `wrt` as inputs."""
        for tensor in wanted:
            key = self._key(tensor)
            if isinstance(key, tuple):
                self.cut[key[0]] = tensor
                self.names |= {tensor: self.names[key]} if key in self.names else {}
        for tensor in wanted if len(wanted) > 1 else ():
            others = (w._record for w in wanted if w is not tensor and w._record)
            before = {target for record in others for target in _predecessors(record)}
            if (tensor._record or tensor) in before:
                name = self.names.get(self._key(tensor), "a tensor")
                raise Unexplained(f"gradients with respect to {name} and a tensor computed from it")

    def _output(self) -> Node:
        """The node of the output; for several outputs, the node of their sum."""
        order = self._records_in_order()
        self.reached = {*order}
        for call in (r.call for r in order):
            if isinstance(call, Overwritten):
                self.written.setdefault(call.tensor, []).append(call.at)
        for record in order:
            if record not in self.cut:
                self._make_nodes(record)
        outputs, seeds = self.back.outputs, self.back.seeds
        if len(outputs) == 1:
            return self._of_tensor(outputs[0])
        parts = [self._weighted(t, seed) for t, seed in zip(outputs, seeds)]
        return reduce(lambda a, b: a + b, parts)

    def _weighted(self, output: Tensor, seed: Tensor) -> Node:
        """The sum of an output times its seed."""
        node = self._of_tensor(output)
        if node.shape == () and seed.data == 1:
            return node
        lookup("sum")
        return OPS["sum"](node * self._leaf(Tensor(seed.data, seed.dtype)))

    def _of_tensor(self, tensor: Tensor) -> Node:
        return self.nodes.get(self._key(tensor)) or self._leaf(tensor)

    def _make_nodes(self, record: Record) -> None:
        """Make the nodes of an operation's outputs."""
        call = record.call
        inputs = [self._of_edge(e) for e in _edges(record)]
        linear = _linear_call(record)
        if linear:
            built: Sequence[Node | None] = [self._linear(linear, inputs)]
        elif record.name in COPIES:
            built = inputs
        elif record.name == HOOKED:
            built = [node or self._operand(x) for node, x in zip(inputs, call[2])]
        elif isinstance(call, Elements) and inputs[0] is not None:
            built = [_elements(inputs[0], at) for at in call.at]
        elif call is None:
            raise Unexplained(record.name)
        elif isinstance(call, tuple) and isinstance(call[0], str):
            if call[0] != "function":
                raise Unexplained(record.name)
            raise Unexplained(f"the Function {call[1].name} has a backward of its own")
        else:
            target = self._target_without_overwritten(record) if inputs[0] is None else inputs[0]
            built = [self._result_of_call(call, target, inputs)]
        for output, node in enumerate(built):
            if node is not None:
                self.nodes[record, output] = node
        if record.composed and record.composed.function == "cross_entropy":
            self.losses |= {*filter(None, built)}

    def _linear(self, call: Composed, inputs: Sequence[Node | None]) -> Node:
        """The product and the sum that linear computes."""
        lookup(call.function)
        operands = (node or self._operand(o) for node, o in zip(inputs, call.operands))
        return OPS[call.function].expand(*operands)

    def _target_without_overwritten(self, record: Record) -> Node | None:
        """A tensor that is partly overwritten and gets no gradient, with 0 in place of the elements
        that are overwritten.
        """
        if not isinstance(record.call, Overwritten):
            return None
        tensor = record.call.tensor
        array = np.array(tensor.data)
        for at in self.written[tensor]:
            array.flat[at] = 0
        if not array.any():
            lookup("zeros")
            return OPS["zeros"](size=array.shape)
        return self._leaf(Tensor(array, tensor.dtype))

    def _result_of_call(
        self, call: Any, target: Node | None, inputs: Sequence[Node | None]
    ) -> Node:
        """The result of a call with `target` in place of its first input."""
        if isinstance(call, Overwritten):
            assert target is not None
            new = self._result_of_call(call.call, _elements(target, call.at), inputs)
            return _overwritten(target, call.at, new)
        if isinstance(call, Copied):
            shape = None if target is None else target.shape
            new = (inputs[1] if len(inputs) > 1 else None) or self._operand(call.value)
            return new if shape is None else _expanded(new, shape)
        if not (isinstance(call, tuple) and isinstance(call[0], Node)):
            raise Unexplained("an in-place operation")
        template, operands, _ = call
        nodes = [
            None if x is None else node or self._operand(x) for node, x in zip(inputs, operands)
        ]
        if target is not None:
            nodes[0] = target
        if (
            template.op.name == "add"
            and nodes[1] is not None
            and type(operands[0]) is int
            and not operands[0]
        ):
            return nodes[1]  # 0 + x, with which Python's sum() starts
        if template.op.name == "getitem" and nodes[0] is not None:
            return _indexed(nodes[0], template.attrs["index"])
        return intern(template.op, tuple(nodes), template.attrs)

    def _of_edge(self, edge: Any) -> Node | None:
        if edge is None:
            return None
        if isinstance(edge.record, Record):
            if edge.record in self.cut:
                return self._leaf(self.cut[edge.record])
            return self.nodes[edge.record, edge.output]
        return self._leaf(edge.record.tensor)

    def _operand(self, operand: Any) -> Node:
        """The node of an operand that gets no gradient."""
        if not isinstance(operand, Tensor):
            return intern(OPS["constant"], (), {"value": operand})
        key = self._key(operand)
        if operand.shape == () and key not in self.names and operand.dtype.kind == "float":
            value = in_decimals(operand.data).item()
            return intern(OPS["constant"], (), {"value": value})
        return self._leaf(operand)

    def _leaf(self, tensor: Tensor) -> Node:
        key = self._key(tensor)
        if key not in self.nodes:
            name = self.names.get(key) or self._parameter_name(tensor)
            node = None if name else self._as_computed(tensor) or _uniform(tensor)
            self.nodes[key] = node or self._input(tensor, name or self._invented())
        return self.nodes[key]

    def _input(self, tensor: Tensor, name: str) -> Node:
        node = OPS["input"](name=name, shape=tensor.shape, dtype=tensor.dtype.kind)
        self.inputs[node] = name, tensor
        return node

    def _as_computed(self, tensor: Tensor) -> Node | None:
        """The node of an unnamed mask in terms of named tensors; None if it is not computed from
        named tensors, or if their values have changed since.
        """
        if tensor.requires_grad or not self._is_of_names(tensor):
            return None
        nodes, inputs = dict(self.nodes), dict(self.inputs)
        node = self._computed_from(tensor)
        if np.array_equal(self._evaluated(node), tensor.data):
            return node
        self.nodes, self.inputs = nodes, inputs
        return None

    def _is_of_names(self, operand: Any, deepest: int = 4) -> bool:
        """Whether an operand is a number, a named tensor, or computed from these by a few calls."""
        if not isinstance(operand, Tensor) or self._key(operand) in self.nodes:
            return True
        record = operand._record
        if record is None and (operand in self.names or self._parameter_name(operand)):
            return True
        if record in self.reached:
            return False
        call = _call_of(operand)
        if call is None or not deepest:
            return False
        return all(self._is_of_names(o, deepest - 1) for o in call.operands)

    def _computed_from(self, operand: Any) -> Node:
        """The node of an operand that is computed from named tensors."""
        call = None
        if isinstance(operand, Tensor) and self._key(operand) not in self.nodes:
            call = _call_of(operand)
        if call is None or operand in self.names:
            return self._operand(operand)
        inputs = (None if x is None else self._computed_from(x) for x in call.operands)
        return intern(call.op, tuple(inputs), call.attrs)

    def _key(self, tensor: Tensor) -> Any:
        record = tensor._record
        return tensor if record is None or record in self.cut else (record, tensor.output)

    # ---- names -----------------------------------------------------------------------------------

    def _find_names(self, order: Sequence[Record]) -> None:
        """Choose names for leaves and for results of operations. Of several tensors that had the
        same name, the last one gets it; the earlier ones are x_1, x_2 and so on.
        """
        back, reached = self.back, set(order)
        reached_leaves = _reached_leaves(order)
        by_name: dict[str, list[Any]] = {}
        for tensor, name in back.names.items():
            key = self._key(tensor)
            graph = key[0] in reached if isinstance(key, tuple) else tensor in reached_leaves
            known = graph or back.bound.get(name) is tensor
            if known and _is_usable(name) and name not in self.avoided:
                by_name.setdefault(name, []).append(key)
        for name, keys in by_name.items():
            called = dict.fromkeys(keys)
            if len(called) > 1:  # as in a loop over parameters, which have paths
                called = dict.fromkeys(k for k in keys if k not in back.paths)
            if not called:
                continue
            *others, last = called
            self.names[last] = name
            for key in others:
                numbered = self._numbered(f"{name}_", by_name)
                self.names[key] = numbered
                self.unnamed[numbered] = name

    def _tensor_named(self, name: str) -> Tensor:
        """The tensor of a name in `wrt`. Raises GradcliError if there is none."""
        name = name.replace(".", "_")
        tensors = {self.names.get(self._key(t)): t for t in self.back.names}
        tensors |= {path.replace(".", "_"): t for t, path in self.back.paths.items()}
        if name not in tensors:
            known = [n for n in tensors if n]
            near = did_you_mean(name, known) or f"the tensors are {', '.join(known)}"
            message = f"there is no tensor {name} to differentiate with respect to"
            raise GradcliError("unused-option", message, hint=near)
        return tensors[name]

    def _parameter_name(self, tensor: Tensor) -> str | None:
        """The name of a parameter of a named module: net_weight for `net.weight`."""
        path = self.back.paths.get(tensor)
        name = path and path.replace(".", "_")
        return None if not name or name in self._reserved() else name

    def _reserved(self) -> set[str]:
        return {n for n, _ in self.inputs.values()} | {*self.names.values()} | {*self.avoided}

    def _fresh(self, start: str) -> str:
        if start == "out" and start not in self._reserved():
            return start
        return self._numbered(start, self._reserved())

    def _invented(self) -> str:
        """A name for an unnamed input."""
        name = self._fresh("t")
        self.unnamed[name] = ""
        return name

    def _numbered(self, start: str, taken: Collection[str]) -> str:
        known = {*taken, *self.names.values()}
        return next(n for k in range(1, 100_000) if (n := f"{start}{k}") not in known)

    def _unused(self) -> list[Tensor]:
        """The named leaves on which the output does not depend."""
        return [
            t
            for name, t in self.back.bound.items()
            if _is_leaf(t) and t not in self.nodes and _is_usable(name)
        ]

    # ---- text ------------------------------------------------------------------------------------

    def _statements(self, out: Node) -> list[tuple[str, Node]]:
        """The named values, in order, the output last."""
        named = [(self.names[key], n) for key, n in self.nodes.items() if key in self.names]
        named = [(name, n) for name, n in named if n not in self.inputs]
        last = next((name for name, n in named if n is out), None) or self._fresh("out")
        named = [(name, n) for name, n in named if n is not out] + [(last, out)]
        return [*self._with_shared(named)]

    def _with_shared(self, named: Sequence[tuple[str, Node]]) -> Iterator[tuple[str, Node]]:
        """The statements, preceded by statements for long common subexpressions, such as former
        values of a buffer in a loop.
        """
        nodes = walk(node for _, node in named)
        uses = Counter(x for node in nodes for x in node.parents)
        written = {node: 1 for _, node in named}
        for node in nodes:
            length = written.get(node) or 1 + sum(written[x] for x in node.parents)
            repeated = length > LONG_PART and uses[node] > 1
            if repeated:
                self.names[node] = self._invented()
            written[node] = 1 if repeated else length
        stated: set[Node] = set()
        for name, node in named:
            parts = [n for n in walk([node]) if n in self.names and n not in stated]
            yield from ((self.names[n], n) for n in parts)
            yield name, node
            stated |= {*parts}

    def _as_text(self, named: Iterable[tuple[str, Node]]) -> str:
        """Statements in the expression language."""
        names = {node: Name(name) for node, (name, _) in self.inputs.items()}
        lines = []
        for name, node in named:
            formula = names[node] if node in names else _Writer(names, self.losses).tree(node)
            lines.append(f"{name} = {tree.text(formula)}")
            names.setdefault(node, Name(name))
        return "\n".join(lines)

    # ---- numbers ---------------------------------------------------------------------------------

    def _numbers(self, tensor: Tensor) -> Any:
        if tensor in self.cut.values():
            return _BackwardPoser(self.back._replace(outputs=[tensor]), (), self.most).computed()
        return self.back.values.get(tensor, tensor.data)

    def computed(self) -> Any:
        """The value of the output in float64, computed from the leaves."""
        return self._evaluated(self._output())

    def _evaluated(self, node: Node) -> Any:
        values = {
            n: as_evaluated(in_decimals(self._numbers(t))) for n, (_, t) in self.inputs.items()
        }
        return Evaluator(values)(node)[0]

    def _seed(self) -> Any:
        """The seed; None if it is 1 for a scalar."""
        if not self.back.seeds or len(self.back.outputs) > 1:
            return None
        (seed,) = self.back.seeds
        return None if seed.shape == () and seed.data == 1 else in_decimals(seed.data)

    def _check(self, out: Node, values: Mapping[str, Any], by: Sequence[str]) -> None:
        """Raise Unexplained if the value of the graph differs from the program's."""
        nodes = {name: node for node, (name, _) in self.inputs.items()}
        node_values = {nodes[name]: as_evaluated(array) for name, array in values.items()}
        try:
            evaluator = Evaluator(node_values)
            (value,) = evaluator(out)
        except GradcliError as error:
            raise Unexplained(error.message) from None
        scale = max(_size(v) for v in evaluator.values.values() if v is not None)
        (output, *others) = self.back.outputs
        if not others and not _close(value, self._numbers(output), scale):
            raise Unexplained(self._otherwise(out, node_values))
        hooked = any(_has_hooks(r) for r in self._records_in_order()) or any(
            t.hooks for _, t in self.inputs.values()
        )
        if hooked:
            self._check_gradients(
                out, node_values, [(nodes[n], self.inputs[nodes[n]][1]) for n in by]
            )

    def _otherwise(self, out: Node, values: Mapping[Node, Any]) -> str:
        """Why the value of the graph differs from the program's."""
        narrow = {n: v.astype(np.float32) if v.dtype.kind == "f" else v for n, v in values.items()}
        (value,) = Evaluator(narrow, dtype="float32")(out)
        if _close(value, self._numbers(self.back.outputs[0]), 1):
            return "the program's float32 results differ from those in float64, which formulas use"
        return "a tensor is changed after it was used"

    def _check_gradients(
        self, out: Node, given: dict[Node, Any], by: Sequence[tuple[Node, Tensor]]
    ) -> None:
        seed = OPS["input"](name="g", shape=out.shape, is_direction=True)
        start = self._seed()
        given[seed] = np.ones(out.shape) if start is None else start
        gradients = backward(out, seed, [node for node, _ in by]).of
        for node, tensor in by:
            sent, gradient = self.back.results.get(tensor), gradients[node]
            if sent is None or gradient is None:
                continue
            (expected,) = Evaluator(given)(gradient)
            if not _close(expected, sent, _size(expected)):
                raise Unexplained("a hook changes a gradient")


class _Writer(OperatorWriter):
    """Writes nll_loss of log_softmax as cross_entropy where the program calls it so, and what
    normalises each channel as batch_norm.
    """

    def __init__(self, names: Mapping[Node, Name], losses: Collection[Node]):
        super().__init__(names)
        self.losses = losses

    def written(self, node: Node) -> tree.Tree:
        written = super().written(node)
        if node.op is OPS.get("standardize"):
            return self._normalised(node) or written
        if node not in self.losses or not isinstance(written, tree.Call):
            return written
        (logits,) = node.parents[0].parents
        args = (self.trees[logits], *written.args[1:])
        return written._replace(function="cross_entropy", args=args)

    def _normalised(self, node: Node) -> tree.Tree | None:
        (x,), eps = node.parents, node.attrs["eps"]
        if node.attrs["dim"] != (0, *range(2, x.ndim)):
            return None
        none, other = tree.Verbatim("None"), eps != _operator("batch_norm").defaults["eps"]
        named = ("training", tree.Verbatim("True")), ("eps", tree.Verbatim(repr(eps)))
        return tree.Call("batch_norm", (self.trees[x], none, none), named[: 1 + other])


def _linear_call(record: Any) -> Composed | None:
    """The call of linear of which a node is the last operation."""
    call = record.composed if isinstance(record, Record) else None
    return call if call and call.function == "linear" else None


def _edges(record: Any) -> Sequence[Any]:
    """The edges to the inputs of a node; to the operands, if it is the last of a linear layer."""
    return (_linear_call(record) or record).edges


def in_decimals(array: Any) -> Any:
    """An array; for float32, the shortest decimals that round to it: 0.1, not 0.10000000149."""
    if array.dtype != np.float32:
        return np.array(array)
    return array.astype("U32").astype(np.float64)


def as_evaluated(array: Any) -> Any:
    """An array in the dtype in which graphs are evaluated."""
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _close(a: Any, b: Any, scale: float) -> bool:
    """Whether numbers are equal up to rounding in float32, relative to `scale`."""
    equal = np.allclose(a, b, rtol=TOLERANCE, atol=ROUNDING * scale, equal_nan=True)
    return a.shape == b.shape and bool(equal)


def _size(array: Any) -> float:
    """The largest absolute value of finite elements."""
    array = np.asarray(array, float)
    return float(np.abs(array[np.isfinite(array)]).max(initial=0))


def _has_hooks(record: Record) -> bool:
    return bool(record.hooks or record.pre_hooks or any(record.tensor_hooks.values()))


def _is_leaf(tensor: Tensor) -> bool:
    """Whether a tensor requires a gradient and nothing has computed it."""
    return tensor.requires_grad and readable(tensor) and tensor.record is None


def _is_usable(name: str) -> bool:
    """Whether a name of a program has no other meaning in the expression language."""
    return name.isidentifier() and not keyword.iskeyword(name) and name not in RESERVED - {"out"}


def _predecessors(record: Record) -> set[Any]:
    """The grad_fns and leaves from which the output of an operation is computed."""
    *before, _ = inputs_first([record], edges=_edges)
    return {target if isinstance(target, Record) else target.tensor for target in before}


def _uniform(tensor: Tensor) -> Node | None:
    """The node of a tensor filled with zeros or with ones; None for others."""
    if tensor.requires_grad or not tensor.dtype.is_floating or not tensor.numel:
        return None
    for name, value in (("zeros", 0), ("ones", 1)):
        if (tensor.data == value).all() and not np.signbit(tensor.data).any():
            lookup(name)
            return OPS[name](size=tensor.shape)
    return None


def _call_of(tensor: Tensor) -> Origin | None:
    """The call of an operator that computed a tensor without grad_fn."""
    record = tensor._record
    if record is None:
        return tensor.origin
    match record.call:
        case (Node(op=op, attrs=attrs), operands, _) if not tensor.output:
            return Origin(op, operands, attrs, 0)
    return None


# ---- elements of a tensor ------------------------------------------------------------------------


def _indexed(node: Node, index: tuple[Any, ...]) -> Node:
    """An indexed node; x[0][1], as autograd records it, becomes x[0, 1]."""
    inner = node.attrs.get("index", ())
    if node.op.name == "getitem" and inner and all(type(i) is int for i in inner):
        node, index = node.parents[0], (*inner, *index)
    return intern(OPS["getitem"], (node,), {"index": index})


def _elements(node: Node, at: Any) -> Node:
    """The elements of a node at these flat indices."""
    if np.array_equal(at, np.arange(node.numel).reshape(node.shape)):
        return node
    lookup("getitem")
    if node.op.name in ("select_scatter", "slice_scatter"):
        target, new = node.parents
        if new.shape == at.shape and _overwritten(target, at, new) is node:
            return new
    part = _basic_index(at, node.shape)
    if part is not None:
        return _indexed(node, part)
    flat = OPS["reshape"](node, shape=(node.numel,))
    return OPS["getitem"](flat, index=(Array(at),))


def _basic_index(at: Any, shape: Sequence[int]) -> tuple[Any, ...] | None:
    """An index of integers and slices for these flat indices; None if there is none."""
    if not at.size:
        return None
    places = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
    first, last = (np.unravel_index(int(p), shape) for p in (at.flat[0], at.flat[-1]))
    free = list(at.shape)
    index: list[Any] = []
    for start, end, size in zip(map(int, first), map(int, last), shape):
        count = free[0] if free else 1
        if free and (end > start or count == 1) and (start != end or len(free) == len(shape)):
            step = (end - start) // (count - 1) if count > 1 else 1
            whole = (start, end, step) == (0, size - 1, 1)
            part = slice(start, end + 1, step if step > 1 else None)
            index.append(slice(None) if whole else part)
            free.pop(0)
        else:
            index.append(start)
    while index and index[-1] == slice(None):
        index.pop()
    return tuple(index) if np.array_equal(places[tuple(index)], at) else None


def _overwritten(node: Node, at: Any, new: Node) -> Node:
    """A node with some elements replaced by others."""
    if not at.size or new is _elements(node, at):
        return node
    index = _basic_index(at, node.shape)
    apart = [(d, i) for d, i in enumerate(index or ()) if i != slice(None)]
    if index is not None and len(apart) == 1:
        (d, i), new = apart[0], _expanded(new, at.shape)
        if isinstance(i, int):
            return _operator("select_scatter")(node, new, dim=d, index=i)
        bounds = {"start": i.start, "end": i.stop, "step": i.step or 1}
        return _operator("slice_scatter")(node, new, dim=d, **bounds)
    return _operator("put")(node, numbers(at), _expanded(new, at.shape))


def _expanded(node: Node, shape: Sequence[int]) -> Node:
    return node if node.shape == tuple(shape) else _operator("expand")(node, tuple(shape))


def _operator(name: str) -> Any:
    """The operator with this name; imports its module."""
    return lookup(name)
