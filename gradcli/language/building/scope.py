"""The scope in which expressions are evaluated: names, values, and services of the evaluator that
functions need. It does not know which functions exist.
"""

import ast
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

from ...errors import MISUSES, GradcliError, Span, misused
from ...graphs import OPS, Node, Operator, Outputs, with_graph
from ...graphs.shapes import MOST_DIMENSIONS, numel
from ...limits import Limits
from ...operators.families import is_integer
from ..foreign import foreign
from ..names import libraries_of
from ..program import Program
from ..syntax import Source
from .operands import in_words, is_number


class Scope(ABC):
    """The names and values of a program, and the conversion of its operations to nodes.

    `inputs` are the nodes of the free names, and `values` are the arrays of inputs with a value,
    which masks and indices need. `draws.random` is the generator of rand and randn. `seed_shape` is
    the shape of `onehot` in an upstream gradient. With `sizes`, numbers that are computed from
    sizes carry the graph that computes them, and `of_sizes` maps them to their nodes. `supposed`
    are inputs with placeholder values, which must not appear in answers. `drawn` maps calls such as
    "randn(3)" to the numbers already drawn for them.
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
        self.indices: list[Node] = []  # integer tensors used as indices
        # (tensor, text) -> array, so that equal indices x[m] are one array
        self.arrays: dict[tuple[Node, str], Any] = {}
        self.outputs: list[Node] = []  # all outputs of operations with several outputs
        self.statement_values: list[tuple[Any, ...]] = []  # the values that each statement assigns
        self.count = self.depth = 0

    @cached_property
    def libraries(self) -> frozenset[str]:
        """The libraries whose functions the program calls."""
        return libraries_of(self.program)

    @abstractmethod
    def visit(self, e: ast.expr) -> Any:
        """The value of an expression."""

    @abstractmethod
    def product(self, left: Any, right: Any) -> Any:
        """The value of left * right."""

    def several(self, written: Sequence[ast.expr]) -> list:
        """The values of expressions separated by commas, with `*shape` unpacked."""
        result: list[Any] = []
        for e in written:
            value = self.visit(e.value if isinstance(e, ast.Starred) else e)
            if isinstance(e, ast.Starred) and not isinstance(value, tuple):
                raise foreign(e, self.source.span(e))
            result += value if isinstance(e, ast.Starred) else [value]
        return result

    def whole(self, value: Any, index: bool = True) -> int:
        """A size, or an index, as an integer. Raises GradcliError for other values."""
        if is_integer(value):
            return int(value)
        shown = value if is_number(value) else in_words(value)
        if not index:
            message = f"this must be an integer, got {shown}"
            raise GradcliError("arguments", message, hint="as in randn(2, 3) and range(4)")
        hint = "x[0] is the first element, x[-1] the last, x[1:3] two of them"
        raise GradcliError("index", f"an index must be an integer, got {shown}", hint=hint)

    def shape(self, node: Node) -> tuple[int, ...]:
        """The sizes of a tensor."""
        return tuple(self.size(node, d) for d in range(node.ndim)) if self.sizes else node.shape

    def size(self, node: Node, *dim: int) -> int:
        """The number of elements along some dimensions, or of all elements."""
        dim = dim or tuple(range(node.ndim))
        count = numel([node.shape[d] for d in dim])
        if not self.sizes or not dim:
            return count
        named = node if node.op.name == "input" else OPS["ones"](size=node.shape)
        return with_graph(count, OPS["size"](named, dim=dim))

    def numbers(self, node: Node, why: str) -> Any:
        """The array of `node`. Raises GradcliError if it depends on inputs without a value."""
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

    def node(self, op: Operator, args: Sequence, e: ast.expr, /, **named: Any) -> Node:
        """The node of an operator."""
        span = self.source.span(e)
        return self.counted(self.tried(op, args, named, span), e)

    def tried(
        self, called: Any, args: Sequence, named: dict[str, Any], span: Span | None = None
    ) -> Any:
        """Call an operation; Python's exceptions become GradcliError."""
        of_table = isinstance(called, Operator)
        try:
            return called.call(args, named, span) if of_table else called(*args, **named)
        except MISUSES as error:
            hint = called.signature() if of_table else called.sentence
            raise misused(called.name, hint) from error

    def counted(self, value: Any, e: ast.expr) -> Any:
        """`value`, after counting the operation and checking the limits."""
        self.count += 1
        sizes = self.limits.sizes
        if self.count > sizes["operations"]:
            self.limits.check("operations", self.count, "the expression")
        if isinstance(value, Outputs):
            self.outputs += value
        for node in value if isinstance(value, Outputs) else (value,):
            if isinstance(node, Node):
                shape = node.shape
                if not (isinstance(shape, tuple) and all(map(is_integer, shape))):
                    raise GradcliError("arguments", "a size must be an integer")
                if min(node.shape, default=0) < 0:
                    message = f"a tensor cannot have shape {node.shape}"
                    raise GradcliError("arguments", message, hint="sizes are 0 or more")
                if node.ndim > MOST_DIMENSIONS:
                    message = (
                        f"a tensor must have at most {MOST_DIMENSIONS} dimensions, got {node.ndim}"
                    )
                    raise GradcliError("shape", message)
                if node.numel > sizes["elements"]:
                    message = f"a tensor of shape {node.shape}"
                    self.limits.check_shape(node.numel, message, self.source.span(e))
        return value
