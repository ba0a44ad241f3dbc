"""Statements to graph: each piece of syntax becomes a node, a number, or a tuple of them.

Numbers that are written out are computed as Python would before PyTorch sees them; everything that
touches a tensor becomes a node, which carries the span of its text. Errors of operators get their
place here.
"""

import ast
import operator as python
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ...errors import MISUSES, GradcliError, Span, did_you_mean, misused
from ...graphs import OPS, Node, Operator, Outputs, Ratio, Size, as_node, with_graph
from ...graphs.shapes import MOST_DIMENSIONS, numel
from ...lazy import np
from ...limits import Limits
from ...operators import lookup
from ...operators.families import is_whole
from ..foreign import foreign
from ..names import BARE_CONSTANTS, BARE_DTYPES, library_path
from ..program import Program
from ..source import Source
from ..vocabulary import (
    ATTRIBUTES,
    CONSTANTS,
    KINDS,
    PROPERTIES,
    function,
    is_library_constant,
    is_of_module,
    library_constant,
    no_attribute,
)
from .arrays import is_array_program
from .calls import applied, call
from .indices import sliced, subscripted, taken_apart
from .operands import List, check_bits, go_together, in_words, is_number, unfit
from .ranges import Range

BINARY = {
    ast.Add: ("add", python.add),
    ast.Sub: ("sub", python.sub),
    ast.Mult: ("mul", python.mul),
    ast.Div: ("div", python.truediv),
    ast.FloorDiv: ("floor_divide", python.floordiv),
    ast.Mod: ("remainder", python.mod),
    ast.Pow: ("pow", python.pow),
    ast.MatMult: ("matmul", None),
    ast.BitAnd: ("logical_and", python.and_),
    ast.BitOr: ("logical_or", python.or_),
}
COMPARE = {
    ast.Gt: ("gt", python.gt),
    ast.GtE: ("ge", python.ge),
    ast.Lt: ("lt", python.lt),
    ast.LtE: ("le", python.le),
    ast.Eq: ("eq", python.eq),
    ast.NotEq: ("ne", python.ne),
}
UNARY: dict[type[ast.unaryop], tuple[str | None, Callable]] = {
    ast.USub: ("neg", python.neg),
    ast.UAdd: (None, python.pos),
    ast.Invert: ("logical_not", python.invert),
    ast.Not: (None, python.not_),
}
LARGEST = "floating-point numbers end at about 1.8e308; inf is infinity"


class Builder:
    """The graph of a program.

    `inputs` are the nodes of its free names, `values` the arrays of those that have one (masks and
    indices are looked up in them), `draws.random` draws for rand and randn, `seed_shape` is what
    `onehot` fills, in a seed. With `sizes` kept, the numbers that are computed from sizes are graph
    where they meet a tensor, and elsewhere found in `of_sizes`. `supposed` are inputs whose values
    are made up, and stay a name in all that is said; `drawn` are random numbers that a text such as
    randn(3) stands for.
    """

    def __init__(
        self,
        program: Program,
        inputs: dict[str, Node],
        *,
        values: dict[Node, Any],
        limits: Limits,
        draws: Any = None,
        seed_shape: tuple[int, ...] | None = None,
        sizes: bool = False,
        supposed: Collection[Node] = (),
        drawn: Mapping[str, Any] = MappingProxyType({}),
    ):
        self.supposed, self.drawn = supposed, drawn
        self.sizes, self.of_sizes = sizes, dict[float, Node]()
        self.source: Source = program.source
        self.program, self.values, self.limits = program, values, limits
        self.draws, self.seed_shape = draws, seed_shape
        self.scope: dict[str, Any] = dict(inputs)
        self.indices: list[Node] = []  # whole numbers that stand in brackets
        self.outputs: list[Node] = []  # of operations with several, used or not
        self.count = self.depth = 0

    def run(self) -> Any:
        """The value of the last statement; `scope` then holds all names."""
        with np.errstate(all="ignore"):
            for statement in self.program.statements:
                value = self.visit(statement.value)
                parts = taken_apart(self, statement, value) if statement.apart else [value]
                self.scope.update(zip(statement.names, parts))
        return self.scope[self.program.statements[-1].names[-1]]

    # ---- syntax ----------------------------------------------------------------------------------

    def visit(self, e: ast.expr) -> Any:
        """What a piece of syntax stands for."""
        self.depth += 1
        if self.depth > self.limits.sizes["nesting"]:
            self.limits.check("nesting", self.depth, "the expression", self.source.span(e))
        method = getattr(self, f"_{type(e).__name__}", None)
        if method is None:
            raise foreign(e, self.source.span(e))
        try:
            return method(e)
        except GradcliError as error:
            raise error.at(self.source.span(e)) from error.__cause__
        finally:
            self.depth -= 1

    def _Constant(self, e: ast.Constant) -> Any:
        if isinstance(e.value, complex | bytes):
            raise GradcliError(
                "syntax", f"{self.source.segment(e)} is not a real number", span=self.source.span(e)
            )
        return self._bounded(e.value)

    def _bounded(self, value: Any) -> Any:
        if type(value) is int and value.bit_length() > 63:
            self.limits.check("digits", value.bit_length() * 3 // 10, "a whole number")
            try:
                return float(value)
            except OverflowError:
                raise GradcliError(
                    "arguments", "this whole number is too large", hint=LARGEST
                ) from None
        return value

    def _Name(self, e: ast.Name) -> Any:
        if e.id in self.scope:
            return self.scope[e.id]
        if e.id in BARE_CONSTANTS:
            return CONSTANTS[e.id]
        if e.id in BARE_DTYPES:
            return e.id
        if lookup(e.id):
            raise GradcliError(
                "unknown-name",
                f"{e.id} is a function here, and it is not called",
                span=self.source.span(e),
                hint=f"write A.{e.id}" if e.id in ATTRIBUTES else f"write {e.id}(...)",
            )
        hint = did_you_mean(e.id, self.scope)
        raise GradcliError(
            "unknown-name", f"there is no {e.id}", span=self.source.span(e), hint=hint
        )

    def _Tuple(self, e: ast.Tuple) -> tuple:
        return tuple(self.several(e.elts))

    def _List(self, e: ast.List) -> List:
        return List(self.several(e.elts))

    def several(self, written: Sequence[ast.expr]) -> list:
        """What stands between commas: `*shape` is all of its sizes."""
        found: list[Any] = []
        for e in written:
            value = self.visit(e.value if isinstance(e, ast.Starred) else e)
            if isinstance(e, ast.Starred) and not isinstance(value, tuple):
                raise foreign(e, self.source.span(e))
            found += value if isinstance(e, ast.Starred) else [value]
        return found

    def _Slice(self, e: ast.Slice) -> slice:
        parts = (e.lower, e.upper, e.step)
        return sliced(self, [None if p is None else self.visit(p) for p in parts])

    def whole(self, value: Any, index: bool = True) -> int:
        """A whole number, where one has to stand: an index, or a size."""
        if is_whole(value):
            return int(value)
        given = value if is_number(value) else in_words(value)
        if not index:
            said = f"a whole number belongs here, not {given}"
            raise GradcliError("arguments", said, hint="as in randn(2, 3) and range(4)")
        hint = "x[0] is the first element, x[-1] the last, x[1:3] two of them"
        raise GradcliError("index", f"an index must be a whole number, not {given}", hint=hint)

    def _BinOp(self, e: ast.BinOp) -> Any:
        spine = [e]  # a + b + c + ... leans to the left: walked, so that length is no depth
        while isinstance(spine[-1].left, ast.BinOp):
            spine.append(spine[-1].left)
        value = self.visit(spine[-1].left)
        for part in reversed(spine):
            try:
                value = self._binary(part, value, self.visit(part.right))
            except GradcliError as error:
                raise error.at(self.source.span(part)) from None
        return value

    def _binary(self, e: ast.BinOp, left: Any, right: Any) -> Any:
        self.check_operator(e)
        name, compute = BINARY[type(e.op)]
        if go_together(left, right):
            check_bits(name, left, right)
            OPS[name].check_kinds((left, right))
            return self.node(OPS[name], (left, right), e)
        if isinstance(left, tuple) and isinstance(right, tuple) and name == "add":
            return type(left)((*left, *right)) if isinstance(left, List) else (*left, *right)
        if not (is_number(left) and is_number(right)) or compute is None:
            raise unfit(left, right)
        value = self._fold(compute, left, right)
        return self._folded(value, name, left, right)

    def check_operator(self, e: ast.BinOp) -> None:
        """Refuse an operator that the language has not."""
        if type(e.op) not in BINARY:
            power = "a power is written x ** 2, and a transpose A.T"
            hint = power if isinstance(e.op, ast.BitXor) else "gradcli ops lists the operations"
            said, span = "this operator is not part of the language", self.source.span(e)
            raise GradcliError("syntax", said, hint=hint, span=span)

    def product(self, left: Any, right: Any) -> Any:
        """The product of two sizes, and how it is computed from these."""
        return self._folded(self._fold(python.mul, left, right), "mul", left, right)

    def _fold(self, compute: Callable, left: Any, right: Any) -> Any:
        if compute is python.pow and isinstance(left, int) and isinstance(right, int) and right > 0:
            self.limits.check(
                "digits", int(left.bit_length() * 0.30103 * right), "a power of whole numbers"
            )
        if compute is python.pow and left < 0 and not float(right).is_integer():
            return float("nan")
        try:
            return self._bounded(compute(left, right))
        except ZeroDivisionError:
            hint = "that of a tensor is inf, as in PyTorch: tensor(1.) / 0"
            raise GradcliError("arguments", "division of a number by zero", hint=hint) from None
        except OverflowError:
            return float("inf")
        except TypeError:
            raise unfit(left, right) from None

    def _UnaryOp(self, e: ast.UnaryOp) -> Any:
        name, compute = UNARY[type(e.op)]
        value = self.visit(e.operand)
        if isinstance(value, Node):
            if isinstance(e.op, ast.Not):
                raise GradcliError(
                    "syntax",
                    "not is not part of the language",
                    hint="the opposite of a mask is written ~mask",
                )
            check_bits(name, value)
            if name is None:
                return value
            OPS[name].check_kinds((value,))
            return self.node(OPS[name], (value,), e)
        if not is_number(value) or (isinstance(value, float) and isinstance(e.op, ast.Invert)):
            raise GradcliError("arguments", f"there is no opposite of {in_words(value)}")
        return self._folded(compute(value), name, value)

    def _folded(self, value: Any, name: str | None, *operands: Any) -> Any:
        """The number that the operator `name` makes of some, with its graph if one has its own."""
        known = any(isinstance(x, Size | Ratio) for x in operands)
        if name is None or not known or not is_number(value) or isinstance(value, bool):
            return value
        value = with_graph(value, OPS[name](*operands))
        self.of_sizes.setdefault(value, value.node)
        return value

    def shape(self, node: Node) -> tuple[int, ...]:
        """The sizes of a tensor."""
        return tuple(self.size(node, d) for d in range(node.ndim)) if self.sizes else node.shape

    def size(self, node: Node, *dim: int) -> int:
        """The number of elements along some dimensions; along all where none are given."""
        dim = dim or tuple(range(node.ndim))
        count = numel([node.shape[d] for d in dim])
        if not self.sizes or not dim:
            return count
        named = node if node.op.name == "input" else OPS["ones"](size=node.shape)
        return with_graph(count, OPS["size"](named, dim=dim))

    def _Compare(self, e: ast.Compare) -> Any:
        if len(e.ops) > 1:
            raise GradcliError(
                "syntax", "comparisons of tensors cannot be chained", hint="write (a < b) & (b < c)"
            )
        left, right = self.visit(e.left), self.visit(e.comparators[0])
        if type(e.ops[0]) not in COMPARE:
            raise GradcliError(
                "syntax", "this comparison is not part of the language", hint="== != < <= > >= are"
            )
        name, compute = COMPARE[type(e.ops[0])]
        if go_together(left, right):
            return self.node(OPS[name], (left, right), e)
        if not (is_number(left) and is_number(right)):
            raise unfit(left, right)
        return compute(left, right)

    def _Attribute(self, e: ast.Attribute) -> Any:
        path = library_path(e, self.scope, called=False)
        if path is not None and is_library_constant(path):
            return library_constant(path)
        if path is not None:
            return CONSTANTS.get(path, path)
        if is_of_module(e, self.scope):
            raise no_attribute(e, (), self.source.span(e))
        base = self.visit(e.value)
        if isinstance(base, Outputs):
            if e.attr in base.names:
                return base[base.names.index(e.attr)].at(self.source.span(e))
            raise no_attribute(e, base.names, self.source.span(e))
        if isinstance(base, Range):
            if e.attr in base.facts:
                return base.facts[e.attr]
            raise no_attribute(e, base.facts, self.source.span(e))
        node = as_node(base) if is_number(base) else base
        if not isinstance(node, Node):
            raise GradcliError("unknown-function", f"{in_words(base)} has no attribute {e.attr}")
        if e.attr in ATTRIBUTES:
            return applied(self, function(e.attr, None), [node], {}, e)
        if e.attr in ("shape", "ndim"):
            return self.shape(node) if e.attr == "shape" else node.ndim
        if e.attr == "size" and is_array_program(self):
            return self.size(node)
        if e.attr == "dtype":
            return KINDS[node.dtype]
        if e.attr == "device":
            return "cpu"
        if e.attr == "data":
            return self.node(OPS["detach"], (node,), e)
        raise no_attribute(e, PROPERTIES, self.source.span(e))

    def _Call(self, e: ast.Call) -> Any:
        return call(self, e)

    def _Subscript(self, e: ast.Subscript) -> Any:
        return subscripted(self, e)

    def numbers(self, node: Node, why: str) -> Any:
        """The array of `node`, where all inputs that it depends on have values."""
        from ...backends.numeric import Evaluator

        try:
            return Evaluator(self.values, limits=self.limits)(node)[0]
        except GradcliError as error:
            if error.code == "needs-value":
                raise GradcliError(
                    "needs-value",
                    f"{error.message}, and {why}",
                    hint="give it with --value",
                    span=node.span,
                ) from None
            raise

    # ---- nodes -----------------------------------------------------------------------------------

    def node(self, op: Operator, args: Sequence, e: ast.expr, /, **named: Any) -> Node:
        """The node of an operator."""
        span = self.source.span(e)
        return self.counted(self.tried(op, args, named, span), e)

    def tried(
        self, called: Any, args: Sequence, named: dict[str, Any], span: Span | None = None
    ) -> Any:
        """An operation on its arguments; what Python finds wrong with them is an error too."""
        of_table = isinstance(called, Operator)
        try:
            return called.made(args, named, span) if of_table else called(*args, **named)
        except MISUSES as error:
            hint = called.signature() if of_table else called.sentence
            raise misused(called.name, hint) from error

    def counted(self, value: Any, e: ast.expr) -> Any:
        """A value that an operation gave, none of whose tensors is too large."""
        self.count += 1
        sizes = self.limits.sizes
        if self.count > sizes["operations"]:
            self.limits.check("operations", self.count, "the expression")
        if isinstance(value, Outputs):
            self.outputs += value
        for node in value if isinstance(value, Outputs) else (value,):
            if isinstance(node, Node):
                shape = node.shape
                if not (isinstance(shape, tuple) and all(map(is_whole, shape))):
                    raise GradcliError("arguments", "a size is a whole number")
                if min(node.shape, default=0) < 0:
                    said = f"a tensor cannot have shape {node.shape}"
                    raise GradcliError("arguments", said, hint="sizes are 0 or more")
                if node.ndim > MOST_DIMENSIONS:
                    said = f"a tensor has at most {MOST_DIMENSIONS} dimensions, not {node.ndim}"
                    raise GradcliError("shape", said)
                if node.numel > sizes["elements"]:
                    said = f"a tensor of shape {node.shape}"
                    self.limits.check_shape(node.numel, said, self.source.span(e))
        return value
