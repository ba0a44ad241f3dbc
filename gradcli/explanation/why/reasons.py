"""Sentences on the cause of an element: the operation, with its numbers."""

import ast
from typing import Any

from ...autodiff.reverse import passes_gradient
from ...backends.numeric import Evaluator
from ...errors import if_applicable
from ...graphs import Node, walk
from ...language.program import Program
from ...language.syntax import arguments_of
from ...lazy import np
from ...notation import tree
from ...notation.formulas.formula import formula
from ...notation.tree import Name
from ..analysis import Analysis
from .tracing import Index, LocalStep, Origin, Tracer, first

LONGEST = 50  # characters of a rule or an operation that is written out
SIGNS = {"div": "/", "mul": "·", "pow": "^", "add": " + ", "sub": " - "}
INSTEAD = {  # alternatives to operations without a derivative
    "comparison": "a comparison has no slope: train on sigmoid or a loss such as "
    "binary_cross_entropy_with_logits, and keep this as a metric",
    "index": "train on the scores themselves (softmax, cross_entropy), and keep indices as a "
    "metric",
    "barrier": "leave it out where a gradient should flow",
    "other": "use a smooth function instead",
}


class Reasons:
    """Sentences for the elements of a problem's gradients."""

    def __init__(self, a: Analysis, tracer: Tracer):
        self.a, self.tracer = a, tracer
        self._names = {i.node: Name(i.name) for i in a.problem.inputs.values()}

    # ---- not finite ------------------------------------------------------------------------------

    def not_finite(self, kind: str, origin: Origin) -> str:
        """Why an element is nan or infinite."""
        if origin.step is None:
            return self._added(kind, origin)
        name = operation_name(self.a, origin.node)
        parts = [self._received(origin.step, origin.at)]
        rule, sent = self._rule(origin.step), float(origin.step.sent[origin.at])
        arithmetic = self._arithmetic(origin.step, origin.at)
        rule = f"{name}'s rule passes back {rule}" if rule else f"{name} passes back {number(sent)}"
        parts.append(f"{rule}: {arithmetic}" if arithmetic else rule)
        if kind == "nan" and np.isinf(sent):
            maker, other = self._maker(origin), self.tracer.beside(origin)
            parts.append(f"{maker} turns it into nan" if maker else "")
            if other is not None and not maker:
                also = number(float(other.sent[origin.at]))
                parts.append(f"{operation_name(self.a, other.node)} adds {also}, which makes nan")
        return "; ".join(filter(None, parts))

    def _maker(self, origin: Origin) -> str:
        """A clause on the operation that turns an infinite upstream gradient into nan."""
        infinite = (n for n, index in origin.path if np.isinf(self.tracer.arriving(n, index)))
        node = next(infinite, None)
        return "" if node is None else operation_name(self.a, node)

    def _added(self, kind: str, origin: Origin) -> str:
        if not origin.cancels:
            return "the seed is not finite there"
        terms = " + ".join(number(t) for t in origin.terms)
        return f"the {len(origin.terms)} gradients that arrive add up to {kind}: {terms}"

    def _received(self, step: LocalStep, index: Index) -> str:
        """A clause such as "relu passes back 0" if this element's upstream element is 0, or ""."""
        at = self._aligned(step, index)
        if at is None or step.received[at] != 0:
            return ""
        zero = self.tracer.zero(step.node, at)
        if zero.step is None:
            return "" if zero.cancels else "the seed is 0 there"
        name = operation_name(self.a, zero.node)
        into = " into the branch not taken" if zero.node.op.name == "where" else ""
        return f"{name} passes back 0{into}"

    def _aligned(self, step: LocalStep, index: Index) -> Index | None:
        """The upstream element on which an element of the gradient depends, if it is one alone."""
        if step.node.shape == step.to.shape and step.node.op.family == "elementwise":
            return index
        return () if step.node.shape == () else None

    def _rule(self, step: LocalStep) -> str:
        """The derivative rule of a step as a formula of the program's names, with g for the
        upstream gradient; "" if it is too long.
        """
        names = self._names | {step.seed: Name("g")}
        text = if_applicable(lambda: tree.text(formula(step.sent_node, names))) or ""
        return text if len(text) <= LONGEST else ""

    def _arithmetic(self, step: LocalStep, index: Index) -> str:
        """The first operation of a rule whose result is not finite at this element, such as `0/0 is
        nan`; for an operation on matrices, at any element of its operands.
        """
        evaluator = Evaluator(step.here | {step.seed: step.received})
        known_nodes, elsewhere = set(evaluator.values), ""
        for node in walk([step.sent_node], lambda n: () if n in known_nodes else n.inputs):
            if node in known_nodes or node.op.family == "leaf" or node.dtype != "float":
                continue
            values, operands = evaluator(node)[0], [evaluator(i)[0] for i in node.parents]
            result = _at(values, index)
            elementwise = node.op.family == "elementwise"
            if result is not None and not np.isfinite(result):
                if elementwise:
                    return _written(node, [_at(o, index) for o in operands], result)
                return _singular_operand(node, operands) or elsewhere
            if elementwise and not elsewhere and not np.all(np.isfinite(values)):
                at = first(~np.isfinite(values))
                elsewhere = _written(node, [_at(o, at) for o in operands], values[at])
        return ""

    # ---- zero ------------------------------------------------------------------------------------

    def zero(self, origin: Origin) -> str:
        """Why an element is zero."""
        if origin.cancels:
            terms = " and ".join(number(t) for t in origin.terms)
            return f"the {len(origin.terms)} gradients that arrive cancel: {terms}"
        if origin.step is None:
            return "the seed is 0 there, and nothing else arrives"
        step, node, name = origin.step, origin.node, operation_name(self.a, origin.node)
        if node.op.name == "where":
            return "where selects the other branch there, and passes back 0 into this one"
        if node.op.name == "masked_fill":
            return f"{name} puts another value there, and passes back 0 to the one it replaces"
        if node.op.name in ("mul", "div") and len(node.parents) == 2:
            return self._factor(step, origin.at, name)
        if "margin" in node.op.attributes:
            return f"{name}'s margin is satisfied there: it passes back 0"
        if self._takes_others(step, origin.at):
            return f"{name} selects another element, and passes back 0 to this one"
        if self._takes_other_operand(step, origin.at):
            return f"{name} selects the other operand there, and passes back 0 to this one"
        if not step.upstream_elements(origin.at).any():
            if node.op.family == "elementwise":
                return f"{name} is constant between its steps: its slope is 0 everywhere"
            if node.span is None or not step.selects_some:
                return f"{name} passes back 0 there, whatever the upstream gradient is"
            return f"no index of {self._text(node)} selects it, so its gradient is 0"
        return self._no_slope(step, origin.at, name)

    def _takes_others(self, step: LocalStep, index: Index) -> bool:
        """Whether a reduction such as amax chooses elements by size, and not the one at `index`."""
        op, operand = step.node.op, np.asarray(self.a.value(step.to))
        if op.family == "elementwise" or op.kink is None or self._at_kink(step):
            return False
        chosen = np.asarray(self.a.value(step.node))
        return bool(np.all(np.isin(chosen, operand)) and operand[index] not in chosen)

    def _takes_other_operand(self, step: LocalStep, index: Index) -> bool:
        """Whether an operation such as maximum(a, b) selects the other operand here."""
        node = step.node
        if node.op.family != "elementwise" or node.op.kink is None or len(node.inputs) != 2:
            return False
        (other,) = [p for p in node.parents if p is not step.to] or [step.to]
        chosen = _at(self.a.value(node), index)
        return bool(chosen == _at(self.a.value(other), index) != _at(self.a.value(step.to), index))

    def _no_slope(self, step: LocalStep, index: Index, name: str) -> str:
        node, value = step.node, _at(self.a.value(step.to), index)
        if node.op.family == "elementwise" and value is not None:
            operands = [_at(self.a.value(p), index) for p in node.parents]
            at = _with_sign(node, operands) or number(float(value))
            return f"{name} {self._how_flat(step, index)} at {at}: it passes back g * 0"
        if node.op.caveat and self._at_kink(step):
            return f"{name} passes back 0 there: {node.op.caveat}"
        floats = [p for p in node.parents if p.dtype == "float"]
        if len(floats) == 1 and self._flat_around(step, index):
            return f"{name} is saturated there: near these values, too, it passes back 0"
        same = all(p.shape == step.to.shape for p in floats) and len(floats) > 1
        if same and all(_at(self.a.value(p), index) == value for p in floats):
            return f"{name} has slope 0 where its operands are equal"
        return f"{name} passes back 0 there: its derivative at these values is 0"

    def _how_flat(self, step: LocalStep, index: Index) -> str:
        if not self._flat_around(step, index):
            return "has slope 0"
        is_bounded = step.node.op.kink is None and len(step.node.parents) == 1
        return "is saturated" if is_bounded else "is flat"

    def _factor(self, step: LocalStep, index: Index, name: str) -> str:
        a, b = step.node.parents
        other = b if step.to is a else a
        factor = _at(self.a.value(other), index)
        if factor is None:
            zero = step.node.op.name == "mul" and not np.any(self.a.value(other))
            added = "what {} passes back adds up to 0 over the elements that it is broadcast to"
            return f"{name} multiplies by 0" if zero else added.format(name)
        if factor == 0 or step.node.op.name == "div":
            how = "multiplies by" if step.node.op.name == "mul" else "divides, with"
            return f"{name} {how} {number(float(factor))}, and passes back 0"
        return f"{name} multiplies by {number(float(factor))}, and the product underflows to 0"

    def _flat_around(self, step: LocalStep, index: Index) -> bool:
        """Whether the derivative of an operation is also 0 at nearby values."""
        for move in (-1e-3, 1e-3):
            nearby = np.asarray(step.operands[step.to]) * (1 + move) + move * 1e-3
            sent = step.send(step.operands | {step.to: nearby}, np.ones(step.node.shape))
            if sent[index] != 0:
                return False
        return True

    def _at_kink(self, step: LocalStep) -> bool:
        masks = step.node.op.kink_masks(step.node, [step.to])
        return any(np.any(self.a.value(mask)) for mask in masks)

    # ---- none ------------------------------------------------------------------------------------

    def cut(self, node: Node | None, out: str) -> str:
        """Why a gradient is None. `node` is the operation that passes none back; it is None if the
        output, whose name is `out`, does not depend on the input.
        """
        if node is None:
            return f"{out} does not depend on its values"
        text = self._text(node)
        if node.op.name == "detach" or node.op.family == "barrier":
            return f"{text} is cut off: no gradient flows through {operation_name(self.a, node)}"
        if node.dtype == "bool":
            return f"{text} is True or False: no gradient flows through a comparison"
        if node.dtype == "int":
            return f"{text} contains integers: no gradient flows through them"
        if not passes_gradient(node):
            return f"no gradient goes through {text}"
        return f"{text} passes back no gradient: PyTorch has no derivative with respect to it"

    def instead(self, node: Node | None) -> str:
        """A differentiable alternative to the operation `node`; "" if `node` is None."""
        if node is None:
            return ""
        kind = {"bool": "comparison", "int": "index"}.get(node.dtype, "other")
        return INSTEAD["barrier" if node.op.family == "barrier" else kind]

    def _text(self, node: Node) -> str:
        around = _enclosing_operation(self.a, node)
        if node.span is None and around is not None:
            node = around
        if node.span is None:
            text = tree.text(formula(node, self._names))
        else:
            text = node.span.in_one_line
        return text if len(text) <= LONGEST else operation_name(self.a, node)


def number(value: float) -> str:
    """A number in a sentence."""
    return f"{value:.6g}" if value else "0"


def _at(array: Any, index: Index) -> Any:
    """The element of `array`, broadcast, at `index`; None if the array does not broadcast."""
    array = np.asarray(array)
    if array.ndim > len(index):
        return array.reshape(())[()] if array.size == 1 else None
    tail = index[len(index) - array.ndim :]
    where = tuple(0 if n == 1 else i for n, i in zip(array.shape, tail))
    inside = all(i < n for i, n in zip(where, array.shape))
    return array[where] if inside else None


def _singular_operand(node: Node, operands: list[Any]) -> str:
    """Why an operation on matrices is not finite, if one of them is singular."""
    matrix = np.asarray(operands[0])
    square = matrix.ndim > 1 and matrix.shape[-1] == matrix.shape[-2]
    if not square or node.op.name not in ("scaled_inverse_transpose", "inv", "solve"):
        return ""
    singular = np.linalg.matrix_rank(matrix) < matrix.shape[-1]
    return "the matrix is singular, and has no inverse" if np.any(singular) else ""


def _written(node: Node, operands: list[Any], result: Any) -> str:
    known = [number(float(v)) for v in operands if v is not None]
    if len(known) < len(operands):
        return ""
    text = _with_sign(node, operands) or f"{node.op.name}({', '.join(known)})"
    return f"{text} is {number(float(result))}"


def _with_sign(node: Node, operands: list[Any]) -> str:
    """An operation between two numbers in symbols, such as `1/0`; "" for other operations."""
    sign = SIGNS.get(node.op.name)
    known = [number(float(v)) for v in operands if v is not None]
    return sign.join(known) if sign and len(known) == 2 else ""


# ---- PyTorch's names of operations ---------------------------------------------------------------


PREFIXES = ("torch.", "nn.functional.", "functional.", "F.", "Tensor.")
OPERATORS = {"sum_to_size": "sum", "same": "eq", "__getitem__": "getitem"}
ARRAYS = ("np.", "numpy.", "jnp.", "jax.")
OUTPUTS = (
    *("values", "indices", "eigenvalues", "eigenvectors", "U", "S", "Vh", "Q", "R", "L", "P", "LU"),
    *("pivots", "sign", "logabsdet", "solution", "mantissa", "exponent"),
)
MODULES = ("linalg", "special")


def operation_name(a: Analysis, node: Node) -> str:
    """PyTorch's name of an operation, or the typed name of a call: linalg_svd, max."""
    around = typed_name(_enclosing_operation(a, node))
    torch_name = node.op.torch if node.span is not None else None
    path = typed_name(node) or torch_name or around or node.op.torch or node.op.name
    for prefix in PREFIXES:
        path = path.removeprefix(prefix)
    return OPERATORS.get(path, path.replace(".", "_"))


def typed_name(node: Node | None) -> str | None:
    """The called function in a node's text, such as `linalg.svd`; None for operators like `*`."""
    if node is None or node.span is None:
        return None
    call = _expression(node.span.in_one_line)
    if _is_output(node, call):
        call = call.value  # type: ignore[union-attr]
    if not isinstance(call, ast.Call):
        return None
    name = ast.unparse(call.func)
    if isinstance(call.func, ast.Name):
        return name
    if not isinstance(call.func, ast.Attribute) or name.startswith(ARRAYS):
        return None
    is_path = name.replace(".", "").replace("_", "").isalnum()
    is_module = is_path and name.split(".")[-2] in MODULES
    return f"{name.split('.')[-2]}.{call.func.attr}" if is_module else call.func.attr


def _is_output(node: Node, e: ast.expr | None) -> bool:
    """Whether a text selects one of several outputs: split(x, 2)[0], x.max(0).indices."""
    if isinstance(e, ast.Attribute):
        return isinstance(e.value, ast.Call) and e.attr in OUTPUTS
    if not isinstance(e, ast.Subscript) or not isinstance(e.value, ast.Call):
        return False
    texts = [i.span.in_one_line for i in node.parents if i.span is not None]
    operands = [inner for inner in map(_expression, texts) if inner is not None]
    return ast.unparse(e.value) not in map(ast.unparse, operands)


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def _enclosing_operation(a: Analysis, node: Node) -> Node | None:
    """The first operation written by the user that depends on `node`: for a node of the expansion
    of softmax(x), the softmax.
    """
    written = (n for n in walk([a.problem.out]) if n.span is not None and n.inputs)
    return next((n for n in written if node in walk([n])), None)


def used_for(program: Program, name: str) -> str | None:
    """The function or attribute that a program applies to an input whose values it does not use,
    such as `ones_like` or `shape`; None if there is none.
    """
    for e in program.syntax:
        if isinstance(e, ast.Call) and any(_is_named(i, name) for i in arguments_of(e)):
            return ast.unparse(e.func).rsplit(".", 1)[-1]
        if isinstance(e, ast.Attribute) and _is_named(e.value, name):
            return e.attr
    return None


def _is_named(e: ast.expr, name: str) -> bool:
    return isinstance(e, ast.Name) and e.id == name
