"""The graph of a program: each expression becomes a node, a number, or a tuple of these.

Operations on numbers are evaluated, as Python does before PyTorch sees them; operations on tensors
become nodes with the spans of their text. Errors of operators get their spans here.
"""

import ast
import math
import operator as python
from collections.abc import Callable
from typing import Any

from ...errors import GradcliError, did_you_mean
from ...graphs import OPS, Node, Outputs, Ratio, Size, as_node, with_graph
from ...graphs.operator import check_dtypes, dtypes
from ...lazy import np
from ...operators import is_defined, lookup
from ..foreign import foreign
from ..libraries import library_function
from ..libraries.function import promoted
from ..names import BARE_CONSTANTS, BARE_DTYPES, library_path
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
from .calls import applied, call
from .indices import array_module, is_array_program, sliced, subscripted, unpacked_values
from .makers import Range
from .operands import List, can_be_combined, have_bits, in_words, is_number, unfit
from .scope import Scope

BITWISE = {
    ast.BitAnd: ("bitwise_and", python.and_),
    ast.BitOr: ("bitwise_or", python.or_),
    ast.BitXor: ("bitwise_xor", None),
    ast.LShift: ("bitwise_left_shift", python.lshift),
    ast.RShift: ("bitwise_right_shift", python.rshift),
}
BINARY = {
    ast.Add: ("add", python.add),
    ast.Sub: ("sub", python.sub),
    ast.Mult: ("mul", python.mul),
    ast.Div: ("div", python.truediv),
    ast.FloorDiv: ("floor_divide", python.floordiv),
    ast.Mod: ("remainder", python.mod),
    ast.Pow: ("pow", python.pow),
    ast.MatMult: ("matmul", None),
    **BITWISE,
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
    ast.Invert: (None, python.invert),
    ast.Not: (None, python.not_),
}
PROMOTING = {"matmul", "sub"}  # NumPy promotes operands of two dtypes, PyTorch raises an error
# Operators whose derivatives, or signs of zeros, are different for arrays of NumPy or JAX.
ARRAY_OPERATORS = {"pow": "power", "floor_divide": "floor_divide", "remainder": "remainder"}
TOO_LARGE_HINT = "floating-point numbers end at about 1.8e308; inf is infinity"


class Builder(Scope):
    """Builds the graph of a program, statement by statement."""

    def run(self) -> Any:
        """The value of the last statement; afterwards `scope` contains all names."""
        with np.errstate(all="ignore"):
            for statement in self.program.statements:
                value = self.visit(statement.value)
                parts = unpacked_values(self, statement, value) if statement.unpacks else [value]
                self.statement_values.append(tuple(parts))
                self.scope.update(zip(statement.names, parts))
        return self.scope[self.program.statements[-1].names[-1]]

    # ---- syntax ----------------------------------------------------------------------------------

    def visit(self, e: ast.expr) -> Any:
        """The value of an expression."""
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
        """The value; an integer of more than 63 bits as a float. Raises GradcliError for an integer
        that has too many digits, or is too large for a float.
        """
        if type(value) is int and value.bit_length() > 63:
            self.limits.check("digits", value.bit_length() * 3 // 10, "an integer")
            try:
                return float(value)
            except OverflowError:
                raise GradcliError(
                    "arguments", "this integer is too large", hint=TOO_LARGE_HINT
                ) from None
        return value

    def _Name(self, e: ast.Name) -> Any:
        if e.id in self.scope:
            return self.scope[e.id]
        if e.id in BARE_CONSTANTS:
            return CONSTANTS[e.id]
        if e.id in BARE_DTYPES:
            return e.id
        if is_defined(e.id) and lookup(e.id):
            raise GradcliError(
                "unknown-name",
                f"{e.id} is a function here, but it is not called",
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

    def _Slice(self, e: ast.Slice) -> slice:
        parts = (e.lower, e.upper, e.step)
        return sliced(self, [None if p is None else self.visit(p) for p in parts])

    def _BinOp(self, e: ast.BinOp) -> Any:
        spine = [e]  # a + b + c + ... is a left-deep tree, which is traversed without recursion
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
        """The value of `left op right`: a node, a number, or a repeated list."""
        name, compute = BINARY[type(e.op)]
        of_bits, of_masks = type(e.op) in BITWISE, dtypes((left, right)) == {"bool"}
        if isinstance(e.op, ast.BitXor) and not (of_masks or have_bits(left, right)):
            raise self._xor_error(e)
        if can_be_combined(left, right):
            if name in PROMOTING and is_array_program(self):
                left, right = promoted(left, right)
            # OPS["add"] does not handle masks, the function add() does.
            by_function = of_bits or (of_masks and name == "add")
            called: Any = lookup(name) if by_function else OPS[name]
            numbers = any(isinstance(x, int | float) for x in (left, right))
            if not (numbers and isinstance(e.op, ast.MatMult)):  # x @ 2 raises an error of shapes
                called.check_dtypes((left, right))
            if by_function:
                return applied(self, called, [left, right], {}, e)
            of_array = is_array_program(self) and ARRAY_OPERATORS.get(name)
            if of_array:
                called = library_function(f"{array_module(self)}.{of_array}")
                return applied(self, called, [left, right], {}, e)
            return self.node(OPS[name], (left, right), e)
        listed, other = (left, right) if isinstance(left, tuple) else (right, left)
        if type(listed) in (List, tuple) and name == "mul" and type(other) in (int, Size):
            return self._repeated(listed, other)
        if isinstance(left, tuple) and isinstance(right, tuple) and name == "add":
            return type(left)((*left, *right)) if isinstance(left, List) else (*left, *right)
        if not (is_number(left) and is_number(right)) or compute is None:
            raise unfit(left, right)
        value = self._computed(compute, left, right)
        # The result of an operation on bits has no graph.
        return value if of_bits else self._with_graph_of(value, name, left, right)

    def _repeated(self, items: tuple, times: int) -> tuple:
        """A list or tuple repeated, as in Python."""
        kind = "operations" if any(isinstance(x, Node) for x in items) else "numbers"
        self.limits.check(kind, len(items) * times, "a list")
        return type(items)([*items] * times)

    def check_operator(self, e: ast.BinOp) -> None:
        """Raise GradcliError for ^ where a power is meant, as its right operand is a number."""
        negative = isinstance(e.right, ast.UnaryOp) and isinstance(e.right.op, ast.USub)
        if isinstance(e.op, ast.BitXor) and (negative or isinstance(e.right, ast.Constant)):
            raise self._xor_error(e)

    def _xor_error(self, e: ast.BinOp) -> GradcliError:
        """The error for ^ on other operands than integers and masks: a power is probably meant."""
        hint = "a power is written x ** 2"
        of_e = isinstance(e.left, ast.Name) and e.left.id == "e"
        hint += ", and that of e exp(x)" if of_e else ", and a transpose A.T"
        hint += ", that of an inverse inv(A).T" * isinstance(e.right, ast.UnaryOp)
        message, span = "^ is for the bits of integers and masks", self.source.span(e)
        return GradcliError("syntax", message, hint=hint, span=span)

    def product(self, left: Any, right: Any) -> Any:
        """The product of two sizes. If one of them carries a graph, so does the product."""
        return self._with_graph_of(self._computed(python.mul, left, right), "mul", left, right)

    def _computed(self, compute: Callable, left: Any, right: Any) -> Any:
        """The result of an operation on two numbers, without a graph. Raises GradcliError."""
        if isinstance(left, int) and isinstance(right, int) and right > 0:
            bits = {python.pow: left.bit_length() * right, python.lshift: right}.get(compute, 0)
            self.limits.check("digits", int(bits * 0.30103), "a power of integers")
        is_power = compute is python.pow
        if is_power and left < 0 and math.isfinite(right) and not float(right).is_integer():
            return math.nan
        try:
            return self._bounded(compute(left, right))
        except ZeroDivisionError:
            hint = "a tensor divided by zero gives inf: tensor(1.) / 0"
            raise GradcliError("arguments", "division of a number by zero", hint=hint) from None
        except OverflowError:
            return -math.inf if is_power and left < 0 and right % 2 == 1 else math.inf
        except (TypeError, ValueError):  # ValueError: a negative shift
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
            if isinstance(e.op, ast.Invert):
                return applied(self, lookup("bitwise_not"), [value], {}, e)
            if name is None:
                check_dtypes("+", "no masks", (value,))
                return value
            OPS[name].check_dtypes((value,))
            return self.node(OPS[name], (value,), e)
        if not is_number(value) or (isinstance(value, float) and isinstance(e.op, ast.Invert)):
            raise GradcliError("arguments", f"there is no opposite of {in_words(value)}")
        return self._with_graph_of(compute(value), name, value)

    def _with_graph_of(self, value: Any, name: str | None, *operands: Any) -> Any:
        """The `value` of an operation on numbers. If an operand carries a graph, because it is
        computed from sizes, the value carries the graph of operator `name` on the operands.
        """
        has_graph = any(isinstance(x, Size | Ratio) for x in operands)
        if name is None or not has_graph or not is_number(value) or isinstance(value, bool):
            return value
        value = with_graph(value, OPS[name](*operands))
        self.of_sizes.setdefault(value, value.node)
        return value

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
        if can_be_combined(left, right):
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
        span = self.source.span(e)
        if isinstance(base, Outputs | Range):
            known = base.names if isinstance(base, Outputs) else base.facts
            if e.attr not in known:
                raise no_attribute(e, known, span)
            if isinstance(base, Range):
                return base.facts[e.attr]
            return base[base.names.index(e.attr)].at(span)
        node = as_node(base) if is_number(base) else base
        if not isinstance(node, Node):
            raise GradcliError("unknown-function", f"{in_words(base)} has no attribute {e.attr}")
        return self._attribute_of(node, e)

    def _attribute_of(self, node: Node, e: ast.Attribute) -> Any:
        """The value of an attribute of a tensor. Raises GradcliError for an unknown attribute."""
        if e.attr in ATTRIBUTES:
            return applied(self, function(e.attr, None), [node], {}, e)
        if e.attr in ("shape", "ndim"):
            return self.shape(node) if e.attr == "shape" else node.ndim
        if e.attr == "size" and is_array_program(self):
            return self.size(node)
        if e.attr == "flat" and is_array_program(self) and array_module(self) == "numpy":
            return applied(self, lookup("flatten"), [node], {}, e)
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
