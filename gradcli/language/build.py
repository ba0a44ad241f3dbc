"""Statements to graph: each piece of syntax becomes a node, a number, or a tuple of them.

Numbers that are written out are computed as Python would before PyTorch sees them; everything that
touches a tensor becomes a node, which carries the span of its text. Errors of operators get their
place here.
"""

import ast
import operator as python
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import GradcliError, Span, did_you_mean
from ..graphs import OPS, Node, Operator, Outputs, Ratio, Size, as_node, walk
from ..graphs.shapes import numel
from ..lazy import np
from ..limits import Limits
from ..operators import lookup
from ..operators.families import Shorthand
from ..operators.leaves import Array
from .names import BARE_CONSTANTS, BARE_DTYPES, library_path
from .options import MOST_DIMENSIONS
from .program import Program, Source
from .vocabulary import CONSTANTS, DTYPES, function

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
# Arguments that say where and how a tensor is kept, not what it is.
STORAGE = {
    "requires_grad",
    "device",
    "generator",
    "layout",
    "pin_memory",
    "memory_format",
    "non_blocking",
    "copy",
}
# What Python raises where an argument is of a wrong kind, and no operator says so itself.
MISUSES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
LARGEST = "floating-point numbers end at about 1.8e308; inf is infinity"
IDENTITY = {"clone", "contiguous", "requires_grad_", "cpu", "to", "type", "retain_grad"}
ATTRIBUTES = {"T", "mT", "H", "mH"}
ARRAY_MAKERS = {
    *("tensor", "as_tensor", "array", "asarray"),
    *("Tensor", "FloatTensor", "DoubleTensor", "LongTensor", "BoolTensor"),
}


class Builder:
    """The graph of a program.

    `inputs` are the nodes of its free names, `values` the arrays of those that have one (masks and
    indices are looked up in them), `draws.random` draws for rand and randn, `seed_shape` is what
    `onehot` fills, in a seed. With `sizes` kept, the numbers that are computed from sizes are graph
    where they meet a tensor, and elsewhere found in `computed`.
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
    ):
        self.sizes, self.computed = sizes, dict[float, Node]()
        self.source: Source = program.source
        self.program, self.values, self.limits = program, values, limits
        self.draws, self.seed_shape = draws, seed_shape
        self.scope: dict[str, Any] = dict(inputs)
        self.indices: set[str] = set()  # inputs that decide which elements an index takes
        self.outputs: list[Node] = []  # of operations with several, used or not
        self.count = self.depth = 0

    def run(self) -> Any:
        """The value of the last statement; `scope` then holds all names."""
        for statement in self.program.statements:
            value = self.visit(statement.value)
            if len(statement.names) == 1:
                self.scope[statement.names[0]] = value
            else:
                self._take_apart(statement, value)
        return self.scope[self.program.statements[-1].names[-1]]

    def _take_apart(self, statement, value) -> None:
        parts = list(value) if isinstance(value, Outputs | tuple) else None
        if parts is None or len(parts) != len(statement.names):
            have = "one value" if parts is None else f"{len(parts)} values"
            raise GradcliError(
                "arguments",
                f"{have} cannot be taken apart into {len(statement.names)} names",
                span=self.source.span(statement.value),
            )
        self.scope.update(zip(statement.names, parts, strict=True))

    # ---- syntax ----------------------------------------------------------------------------------

    def visit(self, e: ast.expr) -> Any:
        """What a piece of syntax stands for."""
        self.depth += 1
        if self.depth > self.limits.sizes["nesting"]:
            self.limits.check("nesting", self.depth, "the expression", self.source.span(e))
        method = getattr(self, f"_{type(e).__name__}", None)
        if method is None:
            raise self._foreign(e)
        try:
            return method(e)
        except GradcliError as error:
            raise error.at(self.source.span(e)) from error.__cause__
        finally:
            self.depth -= 1

    def _foreign(self, e: ast.expr) -> GradcliError:
        hints = {
            "IfExp": ("a conditional expression", "a choice is written where(condition, a, b)"),
            "BoolOp": (
                "and / or",
                "masks are combined with & and |, each in brackets: (x > 0) & (x < 1)",
            ),
            "Lambda": ("a lambda", "write its body"),
            "NamedExpr": (
                "an assignment inside an expression",
                "make it a statement of its own, before ;",
            ),
            "Starred": ("an argument with *", "write the arguments out"),
            "JoinedStr": ("an f-string", None),
            "Set": ("a set", "lists are written [1, 2]"),
            "Dict": ("a dictionary", "lists are written [1, 2]"),
            "ListComp": ("a loop in brackets", "write its elements out"),
            "GeneratorExp": ("a loop in brackets", "write its elements out"),
        }
        what, hint = hints.get(type(e).__name__, ("this", "gradcli ops lists the operations"))
        return GradcliError(
            "syntax", f"{what} is not part of the language", span=self.source.span(e), hint=hint
        )

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
                hint=f"write {e.id}(...)",
            )
        hint = did_you_mean(e.id, self.scope)
        raise GradcliError(
            "unknown-name", f"there is no {e.id}", span=self.source.span(e), hint=hint
        )

    def _Tuple(self, e: ast.Tuple) -> tuple:
        return tuple(map(self.visit, e.elts))

    def _List(self, e: ast.List) -> tuple:
        return tuple(map(self.visit, e.elts))

    def _Slice(self, e: ast.Slice) -> slice:
        return slice(
            *(
                None if part is None else self._whole(self.visit(part))
                for part in (e.lower, e.upper, e.step)
            )
        )

    def _whole(self, value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool):
            return int(value)
        raise GradcliError("index", f"an index must be a whole number, not {value!r}")

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
        if type(e.op) not in BINARY:
            hint = "a power is written x ** 2" if isinstance(e.op, ast.BitXor) else None
            raise GradcliError("syntax", "this operator is not part of the language", hint=hint)
        name, compute = BINARY[type(e.op)]
        if _operands(left, right):
            _check_masks(name, left, right)
            return self._node(OPS[name], (left, right), e)
        if isinstance(left, tuple) and isinstance(right, tuple) and name == "add":
            return left + right
        if not (_number(left) and _number(right)) or compute is None:
            raise _unfit(left, right)
        value = self._fold(compute, left, right)
        return self._computed(value, name, left, right)

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
            raise GradcliError("arguments", "division of a number by zero") from None
        except OverflowError:
            return float("inf")
        except TypeError:
            raise _unfit(left, right) from None

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
            _check_masks(name, value)
            return value if name is None else self._node(OPS[name], (value,), e)
        if not _number(value) or (isinstance(value, float) and isinstance(e.op, ast.Invert)):
            raise GradcliError("arguments", f"{_kind(value)} has no opposite")
        return self._computed(compute(value), name, value)

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
        if _operands(left, right):
            return self._node(OPS[name], (left, right), e)
        if not (_number(left) and _number(right)):
            raise _unfit(left, right)
        return compute(left, right)

    def _Attribute(self, e: ast.Attribute) -> Any:
        path = library_path(e, self.scope, called=False)
        if path is not None:
            return CONSTANTS.get(path, path)
        base = self.visit(e.value)
        if isinstance(base, Outputs):
            if e.attr in base.names:
                return base.nodes[base.names.index(e.attr)].at(self.source.span(e))
            raise self._no_attribute(e, base.names)
        node = as_node(base) if _number(base) else base
        if not isinstance(node, Node):
            raise GradcliError("unknown-function", f"{_kind(base)} has no attribute {e.attr}")
        if e.attr in ATTRIBUTES:
            return self._call(function(e.attr, None), [node], {}, e)
        if e.attr in ("shape", "ndim"):
            return self._shape(node) if e.attr == "shape" else node.ndim
        if e.attr == "data":
            return self._node(OPS["detach"], (node,), e)
        raise self._no_attribute(e, sorted(ATTRIBUTES) + ["shape", "ndim"])

    def _no_attribute(self, e: ast.Attribute, known) -> GradcliError:
        hint = (
            f"it is a method: write .{e.attr}(...)"
            if lookup(e.attr)
            else did_you_mean(e.attr, known)
        )
        span = self.source.span(e)
        return GradcliError(
            "unknown-function",
            f"there is no attribute {e.attr}",
            hint=hint,
            span=span._replace(start=span.end - len(e.attr)),
        )

    def _Subscript(self, e: ast.Subscript) -> Any:
        base, index = self.visit(e.value), e.slice
        if isinstance(base, tuple | Outputs):
            return self._item(base, self.visit(index), e)
        if not isinstance(base, Node):
            raise GradcliError("index", f"{_kind(base)} cannot be indexed")
        items = index.elts if isinstance(index, ast.Tuple) else [index]
        return self._node(OPS["getitem"], (base,), e, index=tuple(map(self._index_item, items)))

    def _item(self, base: Any, place: Any, e: ast.Subscript) -> Any:
        parts = base if isinstance(base, tuple) else base.nodes
        if not isinstance(place, int | slice):
            raise GradcliError(
                "index", f"these {len(parts)} values are numbered from 0 to {len(parts) - 1}"
            )
        try:
            item = parts[place]
        except IndexError:
            raise GradcliError(
                "index", f"there are only {len(parts)} values, numbered from 0"
            ) from None
        return (
            item.at(self.source.span(e))
            if isinstance(base, Outputs) and isinstance(item, Node)
            else item
        )

    def _index_item(self, item: ast.expr) -> Any:
        value = self.visit(item)
        if isinstance(value, Node):
            return self._index_array(value, item)
        if isinstance(value, tuple):
            array = np.asarray(value)
            if array.dtype.kind not in "bi" and array.size:
                raise GradcliError(
                    "index",
                    "a list index holds whole numbers or True and False",
                    span=self.source.span(item),
                )
            return Array(array, self.source.segment(item)) if array.dtype.kind == "b" else value
        if value is None or value is Ellipsis or isinstance(value, slice):
            return value
        return self._whole(value)

    def _index_array(self, node: Node, item: ast.expr) -> Any:
        """A tensor used as an index: its numbers are needed now, for the result's shape."""
        text = self.source.segment(item)
        if node.dtype == "float":
            raise GradcliError(
                "needs-value",
                f"{text} is used as an index, and what it picks depends on its numbers",
                span=self.source.span(item),
                hint="give it whole numbers or a mask with --value",
            )
        value = self.numbers(node, f"what {text} picks depends on its numbers")
        self.indices |= {
            n.attrs["name"]
            for n in walk([node])
            if n.op.name == "input" and n.dtype == "int" and node.dtype == "int"
        }
        return int(value) if value.ndim == 0 and value.dtype.kind != "b" else Array(value, text)

    def numbers(self, node: Node, why: str) -> Any:
        """The array of `node`, where all inputs that it depends on have values."""
        from ..backends.numeric import Evaluator

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

    # ---- calls -----------------------------------------------------------------------------------

    def _Call(self, e: ast.Call) -> Any:
        if any(k.arg is None for k in e.keywords):
            hint = "write the arguments out"
            raise GradcliError(
                "syntax", "an argument with ** is not part of the language", hint=hint
            )
        name, operands = self._callee(e)
        args = [*operands, *map(self.visit, e.args)]
        named = {str(k.arg): self.visit(k.value) for k in e.keywords if k.arg not in STORAGE}
        dtype = named.pop("dtype", None)
        special = getattr(self, f"_call_{name}", None) or (
            self._call_tensor if name in ARRAY_MAKERS else None
        )
        if operands and name in IDENTITY:
            asked = [a for a in args[1:] if isinstance(a, str)] if name in ("to", "type") else []
            dtype = dtype or next((a for a in asked if a in DTYPES), None)
            value = operands[0]
        elif special is not None:
            value = special(e, args, named)
        else:
            of_tensors = lookup(f"Tensor.{name}") if operands else None
            called = of_tensors or lookup(name) or function(name, self._function_span(e))
            if operands and isinstance(called, Operator) and called.order[0] in called.attributes:
                named[called.inputs[0]] = args.pop(0)
            value = self._call(called, args, named, e)
        return self._as_dtype(value, dtype, e)

    def _callee(self, e: ast.Call) -> tuple[str, list]:
        """The name of the function, and the tensor before the dot of a method."""
        if isinstance(e.func, ast.Name):
            return e.func.id, []
        path = library_path(e.func, self.scope, called=True)
        if path is not None:
            return path, []
        if not isinstance(e.func, ast.Attribute):
            raise GradcliError("syntax", "only functions and methods can be called")
        base = self.visit(e.func.value)
        if isinstance(base, Outputs | tuple) and e.func.attr not in ("size",):
            raise GradcliError(
                "arguments",
                f"{_kind(base)} have no method {e.func.attr}",
                hint="choose one of them: [0]",
            )
        return e.func.attr, [base]

    def _function_span(self, e: ast.Call) -> Span:
        span = self.source.span(e.func)
        return (
            span._replace(start=span.end - len(e.func.attr))
            if isinstance(e.func, ast.Attribute)
            else span
        )

    def _call(self, called: Any, args: list, named: dict[str, Any], e: ast.expr) -> Any:
        if isinstance(called, Operator):
            return self._node(called, args, e, **named)
        assert isinstance(called, Shorthand)
        if called.name == "onehot" and self.seed_shape is not None:
            named.setdefault("shape", self.seed_shape)
        if args and called.parameters and _number(args[0]):
            args = [as_node(args[0]), *args[1:]]
        if called.numbers and isinstance(e, ast.Call):
            args, named = self._with_numbers(called, args, named, e)
        value = self._tried(called, args, named)
        fresh = isinstance(value, Outputs) or (
            isinstance(value, Node) and not any(value is a for a in args)
        )
        return self._counted(value.at(self.source.span(e)) if fresh else value, e)

    def _with_numbers(
        self, called: Shorthand, args: list, named: dict[str, Any], e: ast.Call
    ) -> tuple[list, dict[str, Any]]:
        """Arguments of a call; for those whose numbers decide a shape, these numbers."""
        written: list[ast.expr] = list(e.args)
        if len(args) > len(written):
            written.insert(0, getattr(e.func, "value", e))
        names = (*called.parameters, *(None,) * len(args))
        texts = {k.arg: k.value for k in e.keywords}
        return [
            self._numbers_in(a, text) if name in called.numbers else a
            for name, a, text in zip(names, args, written)
        ], {
            k: self._numbers_in(v, texts[k]) if k in called.numbers else v for k, v in named.items()
        }

    def _numbers_in(self, value: Any, e: ast.expr) -> Any:
        if isinstance(value, tuple) and isinstance(e, ast.Tuple | ast.List):
            return tuple(map(self._numbers_in, value, e.elts))
        return self._index_array(value, e) if isinstance(value, Node) else value

    def _node(self, op: Operator, args, e: ast.expr, **named) -> Node:
        return self._counted(self._tried(op, args, {"span": self.source.span(e), **named}), e)

    def _tried(self, called: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
        """An operation on its arguments; what Python finds wrong with them is an error too."""
        try:
            return called(*args, **named)
        except MISUSES as error:
            hint = called.signature() if isinstance(called, Operator) else called.sentence
            said = f"{called.name}() does not take these arguments"
            raise GradcliError("arguments", said, hint=hint) from error

    def _counted(self, value: Any, e: ast.expr) -> Any:
        self.count += 1
        sizes = self.limits.sizes
        if self.count > sizes["operations"]:
            self.limits.check("operations", self.count, "the expression")
        if isinstance(value, Outputs):
            self.outputs += value.nodes
        for node in value if isinstance(value, Outputs) else (value,):
            if isinstance(node, Node):
                if not all(isinstance(size, int) for size in node.shape):
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

    def _as_dtype(self, value: Any, dtype: Any, e: ast.expr) -> Any:
        kind = DTYPES.get(dtype) if isinstance(dtype, str) else None
        if not isinstance(value, Node) or kind is None or value.dtype == kind:
            return value
        return self._node(
            OPS[{"float": "double", "int": "long", "bool": "ne"}[kind]],
            (value, 0) if kind == "bool" else (value,),
            e,
        )

    def _call_tensor(self, e: ast.expr, args: list, named: dict) -> Node:
        if len(args) != 1 or named:
            raise GradcliError("arguments", "tensor() takes one list of numbers")
        if isinstance(args[0], Node):
            return args[0]
        try:
            array = np.array(args[0])
        except ValueError:
            array = np.array(None)
        if array.dtype.kind not in "bif":
            raise GradcliError(
                "value",
                "tensor() takes numbers, in lists of equal length",
                hint="tensors are joined by stack([a, b])",
            )
        return self._counted(
            OPS["tensor"](data=Array(array, self.source.segment(e)), span=self.source.span(e)), e
        )

    def _call_arange(self, e: ast.Call, args: list, named: dict) -> Node:
        start_end = args[:1] if len(args) == 1 else args[:2]
        names = ("end",) if len(start_end) == 1 else ("start", "end")
        given = (
            dict(zip(names, start_end, strict=False))
            | dict(zip(("step",), args[2:], strict=False))
            | named
        )
        self._check_numbers(given.values(), "arange")
        return self._node(OPS["arange"], (), e, **given)

    def _check_numbers(self, values, name: str) -> None:
        if not all(map(_number, values)):
            raise GradcliError("arguments", f"{name}() takes numbers")

    def _draw(self, e: ast.Call, args: list, how: str) -> Node:
        shape = args[0] if len(args) == 1 and isinstance(args[0], tuple) else tuple(args)
        shape = tuple(map(self._whole, shape))
        if any(size < 0 for size in shape):
            raise GradcliError("arguments", f"{how}() needs sizes of at least 0, not {min(shape)}")
        self.limits.check("elements", numel(shape), f"a tensor of shape {shape}")
        drawn = getattr(self.draws.random, how)(shape)
        return self._counted(
            OPS["tensor"](
                data=Array(np.asarray(drawn), self.source.segment(e)), span=self.source.span(e)
            ),
            e,
        )

    def _call_rand(self, e: ast.Call, args: list, named: dict) -> Node:
        return self._draw(e, args, "rand")

    def _call_randn(self, e: ast.Call, args: list, named: dict) -> Node:
        return self._draw(e, args, "randn")

    def _call_size(self, e: ast.Call, args: list, named: dict) -> Any:
        shape = self._shape(as_node(args[0]))
        place = args[1] if len(args) > 1 else named.get("dim")
        return shape if place is None else self._item(shape, place, e)  # type: ignore[arg-type]

    def _call_numel(self, e: ast.Call, args: list, named: dict) -> int:
        return self._size(as_node(args[0]))

    _call_nelement = _call_numel

    def _call_dim(self, e: ast.Call, args: list, named: dict) -> int:
        return as_node(args[0]).ndim

    def _call_len(self, e: ast.Call, args: list, named: dict) -> int:
        if isinstance(args[0], tuple | Outputs):
            return len(args[0])
        if not (isinstance(args[0], Node) and args[0].shape):
            raise GradcliError("arguments", f"{_kind(args[0])} has no length")
        return self._shape(args[0])[0]

    # ---- sizes -----------------------------------------------------------------------------------

    def _shape(self, node: Node) -> tuple[int, ...]:
        return tuple(self._size(node, d) for d in range(node.ndim)) if self.sizes else node.shape

    def _size(self, node: Node, *dim: int) -> int:
        """The number of elements along some dimensions; along all where none are given."""
        dim = dim or tuple(range(node.ndim))
        size = numel([node.shape[d] for d in dim])
        if node.op.name != "input":
            node = OPS["ones"](size=node.shape)
        return self._with_graph(size, OPS["size"](node, dim=dim)) if self.sizes and dim else size

    def _computed(self, value: Any, name: str | None, *operands: Any) -> Any:
        """The number that the operator `name` makes of some, with its graph if one has its own."""
        known = any(isinstance(x, Size | Ratio) for x in operands)
        if name is None or not known or not _number(value) or isinstance(value, bool):
            return value
        value = self._with_graph(value, OPS[name](*operands))
        self.computed.setdefault(value, value.node)
        return value

    @staticmethod
    def _with_graph(value: Any, node: Node) -> Any:
        made = Size(value) if isinstance(value, int) else Ratio(value)
        made.node = node
        return made


def _number(value: Any) -> bool:
    return isinstance(value, int | float)


def _check_masks(name: str | None, *operands: Any) -> None:
    """Refuse & | ~ of anything but masks: of whole numbers, PyTorch takes their bits."""
    kinds = {v.dtype if isinstance(v, Node) else type(v).__name__ for v in operands}
    if name in ("logical_and", "logical_or", "logical_not") and kinds != {"bool"}:
        said = "& | ~ of numbers work on their bits in PyTorch; here they combine masks"
        raise GradcliError("unsupported", said, hint="a mask is a comparison: (x > 0) & (y != 0)")


def _operands(left: Any, right: Any) -> bool:
    """Whether two values are what an operator of tensors takes."""
    if isinstance(left, Node):
        return isinstance(right, Node) or _number(right)
    return isinstance(right, Node) and _number(left)


def _unfit(left: Any, right: Any) -> GradcliError:
    listed = isinstance(left, tuple) or isinstance(right, tuple)
    hint = "a list becomes a tensor with tensor([...])" if listed else None
    said = f"{_kind(left)} and {_kind(right)} cannot be combined in this way"
    return GradcliError("arguments", said, hint=hint)


def _kind(value: Any) -> str:
    """What a value is, in words."""
    if isinstance(value, Outputs):
        return f"{len(value)} outputs"
    kinds = {tuple: "a list", str: "a text", slice: "a slice", type(None): "None", Node: "a tensor"}
    return kinds.get(type(value), f"the number {value}")
