"""A graph as a matrix formula: a tree whose text is valid input for gradcli.

Sizes are written as sizes of named tensors where possible, so that a formula is valid for other
sizes. An operator is written by the template in its definition, or by a function in IDIOMS.
"""

import ast
from collections.abc import Callable, Collection, Mapping
from functools import cached_property, lru_cache, partial
from itertools import islice
from math import isfinite, isnan
from typing import Any, ClassVar

from ...budget import tick
from ...graphs import Node, Operator, upstream, walk
from ...graphs.arguments import REQUIRED
from ...graphs.shapes import Shape, axis, numel
from ...operators.indexing import inputs_and_indices, is_array, is_mask
from ...operators.leaves import Array
from .. import tree
from ..tree import (
    NEW_DIMENSION,
    Attribute,
    Call,
    Listing,
    Method,
    Name,
    Number,
    Prefix,
    Slice,
    Subscript,
    Tree,
    Verbatim,
)
from .numerals import by_log, by_pi, numeral, with_root_calls
from .simplify import without_ones
from .sizes import (
    LEAST,
    difference_formula,
    dimension,
    is_generic_size,
    power_formula,
    size_formula,
)
from .spelling import read, spelled

# Attributes that are shapes.
SIZES = ("shape", "size", "input_size", "weight_size")
MODULES = ("torch.special.", "torch.nn.grad.")
# Functions that only torch.linalg has; inv and pinv are missing, as formulas write inv(A).
LINALG = {"eigvalsh", "householder_product", "matrix_norm", "matrix_rank", "svdvals"}
NEAR = 20  # positions up to this distance from the end of a dimension are written from the end
GenericSizes = Mapping[float, Node]  # numbers that the program computes from generic sizes
ARITHMETIC = ("add", "sub", "mul", "div")  # operators that promote integers to floats
ANY_OPERAND = ("movement", "reduction", "leaf")  # families whose operands may be Python numbers
TOO_LONG = 300  # names, numbers and symbols; longer formulas are shown as statements only
TOO_LONG_IN_STATEMENTS = 200  # the same for formulas in statements; longer ones are not shown
MOST = 5_000  # the same, with repeated parts counted each time; longer ones are not evaluated


def formula(
    node: Node,
    names: Mapping[Node, Name],
    generic_sizes: GenericSizes | None = None,
    program: Collection[Node] = (),
) -> Tree:
    """`node` as a formula of named nodes.

    A shape is written as that of the first named node with this shape. If the sizes of the inputs
    are generic, `generic_sizes` maps numbers that the program computes from sizes to nodes: these
    numbers, and sizes, are written symbolically, as sizes of named nodes or of nodes of the
    `program`. If it is None, numbers are written literally.
    """
    return Writer(names, generic_sizes, program).tree(node)


def is_large(node: Node, names: Collection[Node]) -> bool:
    """Whether a node is computed from too many nodes for a readable formula."""
    within = upstream(node, lambda n: () if n in names else n.inputs)
    return next(islice(within, TOO_LONG, None), None) is not None


def too_long(written: Tree) -> bool:
    """Whether a formula is too long to be shown, or to be compared in numbers."""
    at_once = tree.size(written)
    return at_once > MOST or (at_once > TOO_LONG and tree.length(written) > TOO_LONG_IN_STATEMENTS)


def in_library(op: Operator) -> str:
    """The qualified name of an operator, which no variable of a program can shadow."""
    return op.torch or f"torch.{op.name}"


def word(op: Operator) -> str:
    """The name of an operator in a formula: `softmax`; with its module if torch itself does not
    have the function: `special.ndtr`, `nn.grad.conv2d_input`.
    """
    within = op.torch or ""
    alone = within.startswith(MODULES) or op.name in LINALG
    return within.removeprefix("torch.") if alone else op.name


def number_of(node: Node) -> Any:
    """The value of a constant node; None for other nodes."""
    return node.attrs["value"] if node.op.name == "constant" else None


class Writer:
    """Writes nodes as trees; the tree of a node is cached."""

    def __init__(
        self,
        names: Mapping[Node, Name],
        generic_sizes: GenericSizes | None = None,
        program: Collection[Node] = (),
    ):
        self.generic_sizes, self.named = generic_sizes, names
        self.trees: dict[Node, Tree] = dict(names)
        self.numbers: set[Node] = set()  # written as Python numbers: 2, 1 / x.numel()
        self.in_torch: dict[Node, Node | None] = {}
        for node in () if generic_sizes is None else program:
            parts = node.op.family == "movement"
            if any(n >= LEAST and self.named_size(n, rounded=parts) is None for n in node.shape):
                self.shapes.setdefault(node.shape, self.tree(node))
                self.kinds.setdefault((node.shape, node.dtype), self.tree(node))

    @cached_property
    def used(self) -> set[str]:
        """The names in use, which shadow functions."""
        return tree.words_in_use(self.named.values())

    @cached_property
    def shapes(self) -> dict[Shape, Tree]:
        """The first named node of each shape."""
        result: dict[Shape, Tree] = {}
        for node, name in self.named.items():
            result.setdefault(node.shape, name)
        return result

    @cached_property
    def kinds(self) -> dict[tuple[Shape, str], Tree]:
        """The first named node of each shape and dtype."""
        result: dict[tuple[Shape, str], Tree] = {}
        for node, name in self.named.items():
            result.setdefault((node.shape, node.dtype), name)
        return result

    def tree(self, node: Node) -> Tree:
        """The formula of a node."""
        stack = [node]
        while stack:
            n = stack[-1]
            missing = [s for s in self.sources(n) if s is not None and s not in self.trees]
            if n in self.trees or not missing:
                stack.pop()
                self._settle(n)
            else:
                stack += missing
        return self.trees[node]

    def _settle(self, node: Node) -> None:
        if node not in self.trees:
            tick()
            if self._is_number(node):
                self.numbers.add(node)
            special = node.op.of_numbers if node in self.numbers else None
            self.trees[node] = self._spelled(node, special) if special else self.written(node)

    def _is_number(self, node: Node) -> bool:
        if node.op.name in ("constant", "size"):
            return True
        infix = node.op.spelling and node.op.family == "elementwise"
        return bool(infix or node.op.of_numbers) and self.numbers.issuperset(node.parents)

    def _spelled(self, node: Node, spelling: str) -> Tree:
        holes = {str(k): self.trees[i] for k, i in enumerate(node.parents)}
        return self.with_roots(spelled(spelling, holes))

    def sources(self, node: Node) -> tuple[Node | None, ...]:
        """The nodes whose formulas occur in that of `node`: inputs, or an equivalent in PyTorch."""
        text = self.torch_equivalent(node)
        return node.inputs if text is None else (text,)

    def torch_equivalent(self, node: Node) -> Node | None:
        """An equal node of PyTorch's operators if PyTorch lacks the node's operator; else None."""
        if node not in self.in_torch:
            meaning = None if node.op.name in IDIOMS else node.op.in_torch(node)
            self.in_torch[node] = meaning and without_ones(meaning, node.parents)
        return self.in_torch[node]

    def is_foreign(self, node: Node) -> bool:
        """Whether the function that a node is written with is missing in PyTorch."""
        op = node.op
        named = op.torch is None and not op.spelling and op.name not in IDIOMS
        return named and self.torch_equivalent(node) is None

    def is_in_words(self, node: Node) -> bool:
        """Whether PyTorch has every function that the formula of a node uses."""
        return not any(map(self.is_foreign, walk([node], self.sources)))

    def mentions(self, node: Node) -> tuple[int, ...]:
        """The number of occurrences of the formula of each source in that of `node`."""
        return (1,) * len(self.sources(node))

    def written(self, node: Node) -> Tree:
        """The formula of a node, from the formulas of its sources."""
        special = IDIOMS.get(node.op.name)
        if special is not None:
            return special(self, node)
        text = self.torch_equivalent(node)
        if text is not None:
            return self.trees[text]
        return self.by_spelling(node) if node.op.spelling else self.call(node)

    # ---- operators -------------------------------------------------------------------------------

    def by_spelling(self, node: Node) -> Tree:
        """`node` by the spelling of its operator, without attributes that have their defaults."""
        holes: dict[str, Tree | None] = {
            str(k): self.operand(node, k) for k in range(len(node.inputs))
        }
        for name, value in node.attrs.items():
            usual = value == node.op.attributes[name]
            holes[name] = None if usual else self.attribute(node, name)
        built = spelled(node.op.spelling, holes, partial(self.word_for, node.op))
        if isinstance(built, tree.Infix) and len(node.parents) == 2:
            return built._replace(ndims=(node.parents[0].ndim, node.parents[1].ndim))
        return built

    def word_for(self, op: Operator, name: str) -> str:
        """The name of an operator; qualified if a variable of the program has that name."""
        return in_library(op) if name.partition(".")[0] in self.used else name

    def operand(self, node: Node, place: int) -> Tree:
        """The formula of an input; an integral float keeps its point if the dtype depends on it."""
        source = node.inputs[place]
        assert source is not None
        if self.takes_no_mask(node, place):
            return self.in_numbers(source)
        beside = node.op.name in ARITHMETIC and [i for i in node.parents if i is not source]
        one_hot = self.one_hot(source) if beside and beside[0].dtype == "float" else None
        if one_hot is not None:
            return one_hot
        foreign = source in self.numbers and node not in self.numbers
        foreign = foreign and not self._may_be_number(node, place)
        value = number_of(source)
        if isinstance(value, float) and isfinite(value) and node.op.dtype == "promote":
            others = [i for i in node.parents if i.op.name != "constant"]
            point = foreign or all(i.dtype != "float" for i in others)
            written = self.number(value, point=point)
            return self.as_tensor(written) if foreign else written
        return self.as_tensor(self.trees[source]) if foreign else self.trees[source]

    def one_hot(self, node: Node) -> Tree | None:
        """one_hot(y, n) for eye(n)[y] with a named integer tensor y, its negative for -eye(n)[y];
        None for any other node.
        """
        if node.op.name == "neg" and node not in self.named:
            positive = self.one_hot(node.parents[0])
            return None if positive is None else tree.Prefix("-", positive)
        if node.op.name != "getitem" or node.parents[0].op.name != "eye":
            return None
        unit, (labels, *others) = node.parents[0], node.attrs["index"]
        named = isinstance(labels, Array) and labels.text.isidentifier()
        if others or not named or unit.shape[0] != unit.shape[1] or unit in self.named:
            return None
        if labels.dtype != "int" or (labels.value < 0).any():  # one_hot() does not accept these
            return None
        written = self.tree(unit)
        if not isinstance(written, Call):  # it has a name, as a shared subexpression
            return None
        name = "F.one_hot" if "one_hot" in self.used else "one_hot"
        return Call(name, (Name(labels.text), written.args[0]))

    def _may_be_number(self, node: Node, place: int) -> bool:
        """Whether an input may be written as a Python number."""
        op = node.op
        return bool(op.spelling) or op.family in ANY_OPERAND or self.takes_number(node, place)

    def takes_no_mask(self, node: Node, place: int) -> bool:
        """Whether an input is a mask that has to be converted to numbers."""
        op, source = node.op, node.inputs[place]
        if (
            op.input_dtypes == "any"
            or op.needs_one_dtype
            or source is None
            or source.dtype != "bool"
        ):
            return False
        return "no masks" in op.input_dtypes or all(i.dtype == "bool" for i in node.parents)

    def in_numbers(self, mask: Node) -> Tree:
        """The formula of a mask, converted to floats."""
        return Method(self.trees[mask], "double")

    def takes_number(self, node: Node, place: int) -> bool:
        """Whether PyTorch's function accepts a number for an input."""
        return node.op.takes_number(place, [i in self.numbers for i in node.parents])

    def as_tensor(self, number: Tree) -> Tree:
        """A Python number as a tensor, for functions that accept tensors only."""
        return Call("tensor", (number,))

    def call(self, node: Node) -> Tree:
        """`node` as a call of a function, or of a method of its first input."""
        op = node.op
        args, named = self.arguments(node)
        if op.method:
            return Method(args[0], op.name, tuple(args[1:]), tuple(named))
        return Call(self.function(op), tuple(args), tuple(named))

    def function(self, op: Operator) -> str:
        """The name by which an operator is called."""
        return self.word_for(op, word(op))

    def library(self, name: str) -> str:
        """The name by which a function that creates tensors is called."""
        return f"torch.{name}" if name in self.used else name

    def indices(self, data: Array) -> str:
        """The text of an array in an index."""
        return data.text

    def number(self, value: float, point: bool = False) -> Tree:
        """A number, as an expression of sizes if it is computed from generic ones."""
        result = None
        if self.generic_sizes is not None and isfinite(value):
            whole = value in self.generic_sizes or is_generic_size(value)
            result = self.named_size(value) if whole else power_formula(value, self.shapes)
        return self.with_roots(result) if result else self.numeral(value, point)

    def numeral(self, value: float, point: bool = False) -> Tree:
        """A number, possibly as an expression of pi, or of a logarithm."""
        logarithm = None if "math" in self.used else by_log(value)
        written = by_pi(value, Name(self.library("pi"))) or logarithm
        return self.with_roots(written or numeral(value, point))

    def with_roots(self, number: Tree) -> Tree:
        """A number with calls of math.sqrt, unless a variable of the program is called math."""
        return number if "math" in self.used else with_root_calls(number)

    def named_size(self, value: float, rounded: bool = True) -> Tree | None:
        """A number as a formula of sizes; None if it is none, or if sizes are not generic."""
        if self.generic_sizes is None:
            return None
        if value in self.generic_sizes:
            return self.tree(self.generic_sizes[value])
        return size_formula(int(value), self.shapes, rounded) if value == int(value) else None

    def arguments(self, node: Node) -> tuple[list[Tree], list[tuple[str, Tree]]]:
        """The positional and keyword arguments of a call; all after an omitted one are keywords."""
        op = node.op
        args: list[Tree] = []
        named: list[tuple[str, Tree]] = []
        last, by_place = _last_required(op), op.family == "movement"
        for position, name in enumerate(op.order):
            if op.variadic and name == op.inputs[0]:
                operands = tuple(self.operand(node, k) for k in range(len(node.inputs)))
                args += operands if position else [Listing(operands, "[]")]
                continue
            value = self._argument(node, name)
            if value is None:
                if position < last:
                    args.append(self.attribute(node, name))
                else:
                    by_place = False
            elif position < last or (position == last and name != "dim") or by_place:
                args += spread(value) if name == op.collect else (value,)
            elif name in op.inputs and not op.method and not named and _all_positional(node, name):
                args.append(value)
            else:
                named.append((name, value))
        return args, named

    def _argument(self, node: Node, name: str) -> Tree | None:
        """One argument; None if it is omitted or has its default."""
        op = node.op
        if name in op.inputs:
            place = op.inputs.index(name)
            return None if node.inputs[place] is None else self.operand(node, place)
        if _is_default(node.attrs[name], op.attributes[name]):
            return None
        return self.attribute(node, name)

    # ---- indices -----------------------------------------------------------------------------

    def trimmed(self, index: tuple, shape: Shape) -> tuple:
        """An index into a tensor of this shape, without starts and stops that equal its ends."""
        if self.generic_sizes is None or any(
            i is None or i is Ellipsis or is_array(i) for i in index
        ):
            return index
        return tuple(map(_trimmed_slice, index, shape))

    def place(self, n: int) -> str:
        """A position in an index, as an expression of sizes if possible."""
        return tree.text(self.plain(n))

    # ---- attributes ------------------------------------------------------------------------------

    def attribute(self, node: Node, name: str) -> Tree:
        """An attribute in PyTorch's spelling; a shape by name, unless the user wrote it out."""
        value = node.attrs[name]
        if name in SIZES and isinstance(value, tuple):
            return self.shape(value) if node.span is None else self.plain(value)
        return self.plain(value)

    def plain(self, value: Any) -> Tree:
        """A Python value."""
        if isinstance(value, tuple):
            return Listing(tuple(map(self.plain, value)))
        if isinstance(value, float):
            return self.number(value, point=isfinite(value))
        if isinstance(value, int):
            return self.named_size(value) or Number(value)
        return Verbatim(repr(value))

    def shape(self, shape: Shape) -> Tree:
        """A shape: that of a named node, or a list of sizes."""
        if shape and shape in self.shapes:
            return Attribute(self.shapes[shape], "shape")
        return Listing(tuple(self.size(n, d - len(shape)) for d, n in enumerate(shape)))

    def size(self, size: int, place: int) -> Tree:
        """A size: of a named node in dimension `place` from the end, or another formula."""
        for shape, name in self.shapes.items() if size > 1 else ():
            if len(shape) >= -place > 0 and shape[place] == size:
                return dimension(name, place + len(shape))
        rest = difference_formula(size, self.shapes) if self.generic_sizes is not None else None
        return self.named_size(size) or rest or Number(size)

    def count(self, n: int) -> Tree:
        """A number as a size of a last dimension, or as the number of elements of a named node."""
        result = self.size(n, -1)
        if isinstance(result, tree.Subscript):
            return result
        tensors = ((shape, name) for shape, name in self.shapes.items() if len(shape) > 1)
        whole = next((name for shape, name in tensors if numel(shape) == n), None)
        return result if whole is None else Method(whole, "numel")

    def like(self, node: Node) -> Tree | None:
        """The first named node of this shape; None if there is none, or the user wrote sizes."""
        return None if self._has_user_sizes(node) else self.shapes.get(node.shape)

    def same_kind(self, node: Node) -> Tree | None:
        """As `like`, with the same dtype too; for ones_like()."""
        return None if self._has_user_sizes(node) else self.kinds.get((node.shape, node.dtype))

    def _has_user_sizes(self, node: Node) -> bool:
        span = node.span
        return span is not None and "_like" not in span.excerpt


def _last_required(op: Operator) -> int:
    """The position of the last required parameter; -1 if there is none."""
    required = [
        position
        for position, name in enumerate(op.order)
        if (name in op.inputs and name not in op.optional) or op.attributes.get(name) is REQUIRED
    ]
    return max(required, default=-1)


class OperatorWriter(Writer):
    """Writes gradcli's operators by name, as equal ones of PyTorch may have other gradients."""

    def torch_equivalent(self, node: Node) -> Node | None:
        return None


class CodeWriter(Writer):
    """Writes formulas as code of a library. Operators without a spelling are written by a function
    in `equivalents`, or by their expansion.
    """

    equivalents: ClassVar[Mapping[str, "Idiom"]] = {}

    def has_name(self, node: Node) -> bool:
        """Whether the library has a name for an operation."""
        return node.op.torch is not None

    def by_expansion(self, node: Node) -> bool:
        """Whether a node is written by the expansion of its operator."""
        named = self.has_name(node) or node.op.name in self.equivalents
        return node.op.expand is not None and not named

    def sources(self, node: Node) -> tuple[Node | None, ...]:
        """The inputs of a node and the nodes of its index; or its expansion."""
        return (node.op.expanded(node),) if self.by_expansion(node) else inputs_and_indices(node)

    def written(self, node: Node) -> Tree:
        """The formula of a node, from the formulas of its sources."""
        if self.by_expansion(node):
            return self.trees[node.op.expanded(node)]
        special = self.equivalents.get(node.op.name)
        return special(self, node) if special else self.by_name(node)

    def by_name(self, node: Node) -> Tree:
        """The formula of a node for which the library has a name."""
        return super().written(node)

    def one_hot(self, node: Node) -> Tree | None:
        """None: dtypes in programs are explicit."""
        return None

    def as_tensor(self, number: Tree) -> Tree:
        """The number itself: `operand` makes a tensor of it for functions that need tensors."""
        return number

    def numeral(self, value: float, point: bool = False) -> Tree:
        """A number; inf and nan by the library's names."""
        if isfinite(value):
            return numeral(value, point)
        name = Verbatim(self.library("nan" if isnan(value) else "inf"))
        return Prefix("-", name) if value < 0 else name

    def with_roots(self, number: Tree) -> Tree:
        """The number itself, with powers: programs do not import math."""
        return number


def _all_positional(node: Node, name: str) -> bool:
    """Whether all parameters before `name` can be passed by position."""
    for other in node.op.order[: node.op.order.index(name)]:
        if other in node.op.inputs:
            is_passed = node.inputs[node.op.inputs.index(other)] is not None
        else:
            is_passed = node.op.attributes.get(other) is REQUIRED
        if not is_passed:
            return False
    return True


def _is_default(value: Any, default: Any) -> bool:
    """Whether an attribute has its default, also if once for each dimension: (1, 1) for 1."""
    each = isinstance(value, tuple) and type(default) is int and {*value} == {default}
    return value == default or each


def _trimmed_slice(item: Any, size: int) -> Any:
    """A slice without redundant start and stop; positions near the end are written from the end."""
    if not isinstance(item, slice):
        return item
    start = None if item.start == 0 else item.start
    if start is not None and NEAR < start < size <= start + NEAR:
        start -= size
    stop = None if item.stop == size else item.stop
    if stop is not None and NEAR < stop < size <= stop + NEAR:
        stop -= size
    return slice(start, stop, item.step)


# ---- operators whose spelling is not a template --------------------------------------------------
# Creation, indexing and reshaping, in PyTorch's spelling.


Idiom = Callable[[Any, Node], Tree]  # (writer, node) -> tree
IDIOMS: dict[str, Idiom] = {}
UNPARENTHESIZED = (ast.Compare, ast.BinOp, ast.UnaryOp)  # a text with these may need parentheses


def register_in(table: dict[str, Idiom], *names: str) -> Callable[[Idiom], Idiom]:
    """A decorator: add a function to a table, for operators of these names or of its own."""

    def add(function: Idiom) -> Idiom:
        table.update(dict.fromkeys(names or [function.__name__.strip("_")], function))
        return function

    return add


idiom = register_in(IDIOMS)


def spread(sizes: Tree) -> tuple[Tree, ...]:
    """The items of a list of sizes as arguments of a call; other sizes as one argument."""
    return (isinstance(sizes, Listing) and sizes.items) or (sizes,)


# ---- leaves --------------------------------------------------------------------------------------


@idiom
def input_(w: "Writer", node: Node) -> Tree:
    return Name(node.attrs["name"])


@idiom
def constant(w: "Writer", node: Node) -> Tree:
    return w.number(node.attrs["value"])


@idiom
def tensor(w: "Writer", node: Node) -> Tree:
    text = str(node.attrs["data"])
    if text.startswith("["):
        return Call("tensor", (Verbatim(text),)) if node.dtype == "bool" else Verbatim(text)
    return read(text) if _needs_parentheses(text) else Verbatim(text)


@lru_cache(1024)
def _needs_parentheses(text: str) -> bool:
    return isinstance(ast.parse(text, mode="eval").body, UNPARENTHESIZED)


@idiom
def stack(w: "Writer", node: Node) -> Tree:
    """tensor([[1.0, 0.0], [0.0, 2.0]]) for nested stacks of numbers."""
    numbers = _listed_numbers(w, node)
    return w.call(node) if numbers is None else Call(w.library("tensor"), (numbers,))


def _listed_numbers(w: "Writer", node: Node) -> Tree | None:
    """Nested stacks of numbers as nested lists; None for other nodes."""
    value = 0.0 if node.op.name == "zeros" and not node.shape else number_of(node)
    if value is not None:
        return w.number(float(value), point=True)
    if node.op.name != "stack" or node.attrs["dim"] != 0:
        return None
    items = [_listed_numbers(w, part) for part in node.parents]
    return None if None in items else Listing(tuple(filter(None, items)), "[]")


@idiom
def kron(w: "Writer", node: Node) -> Tree:
    parts = ((w.operand(node, k), is_row_major(x)) for k, x in enumerate(node.parents))
    return Call(
        w.function(node.op),
        tuple(part if by_rows else Method(part, "contiguous") for part, by_rows in parts),
    )


@register_in(IDIOMS, "zeros", "ones")
def _filled(w: "Writer", node: Node) -> Tree:
    name, like = node.op.name, w.same_kind(node)
    if like is not None:
        return Call(w.library(f"{name}_like"), (like,))
    return Call(w.library(name), spread(w.attribute(node, "size")))


@idiom
def full(w: "Writer", node: Node) -> Tree:
    like, value = w.same_kind(node), w.plain(node.attrs["fill_value"])
    if like is not None:
        return Call(w.library("full_like"), (like, value))
    return Call(w.library("full"), (w.attribute(node, "size"), value))


@idiom
def eye(w: "Writer", node: Node) -> Tree:
    n, m = node.shape
    typed = node.span is not None and w.generic_sizes is None
    sizes = map(Number, (n, m)) if typed else (w.size(n, -2), w.size(m, -1))
    return Call(w.library("eye"), tuple(sizes)[: 1 if n == m else 2])


@idiom
def long(w: "Writer", node: Node) -> Tree:
    """one_hot(y, n), which is an integer tensor, for eye(n)[y].long()."""
    return w.one_hot(node.parents[0]) or w.call(node)


@idiom
def arange(w: "Writer", node: Node) -> Tree:
    start, end, step = node.attrs.values()
    arguments = (
        [end] if (start, step) == (0, 1) else [start, end, step] if step != 1 else [start, end]
    )
    if (node.span is None or w.generic_sizes is not None) and arguments == [end]:
        return Call(w.library("arange"), (w.count(end),))
    return Call(w.library("arange"), tuple(map(w.plain, arguments)))


@idiom
def size(w: "Writer", node: Node) -> Tree:
    """The number of elements of x, or of a named tensor of its shape; or a product of sizes."""
    (x,) = node.parents
    dims = [axis(d, x.ndim) for d in node.attrs["dim"]] if x.ndim else []
    whole = w.shapes.get(x.shape)
    if len(dims) == x.ndim and whole is not None:
        return Method(whole, "numel")
    sizes = [
        Subscript(Attribute(whole, "shape"), (Number(d),)) if whole else _size_of(w, x, d)
        for d in dims
    ]
    product = tree.product([n for n in sizes if n != Number(1)])
    counted = Method(w.trees[x], "numel")
    longer = len(dims) == x.ndim > 1 and tree.size(product) > tree.size(counted)
    return counted if longer else product


def _size_of(w: "Writer", x: Node, d: int) -> Tree:
    """The size of a dimension: of the tensor, of the only named tensor with it, or a number."""
    result = w.size(x.shape[d], d - x.ndim)
    if not isinstance(result, Number) or result.value == 1:
        return result
    own = [
        Subscript(Attribute(name, "shape"), (Number(axis),))
        for shape, name in w.shapes.items()
        for axis, n in enumerate(shape)
        if n == x.shape[d]
    ]
    return own[0] if len(own) == 1 else result


@idiom
def div(w: "Writer", node: Node) -> Tree:
    """x instead of x / 1 where the divisor is a size that is written as the number 1, such as the
    count of targets in a mean.
    """
    x, count = node.parents
    if count.op.name == "size" and w.trees[count] == Number(1) and x.dtype == node.dtype:
        return w.operand(node, 0)
    return w.by_spelling(node)


@idiom
def matmul(w: "Writer", node: Node) -> Tree:
    """(a * b) @ c, with redundant parentheses."""
    left, right = w.operand(node, 0), w.operand(node, 1)
    x, written_out = node.parents[0], isinstance(left, tree.Infix)
    if written_out and x.op.name in ("mul", "div") and all(i.shape for i in x.parents):
        left = tree.Bracketed(left)
    return tree.Infix("@", left, right, (x.ndim, node.parents[1].ndim))


# ---- shapes and indices --------------------------------------------------------------------------


@idiom
def transpose(w: "Writer", node: Node) -> Tree:
    (x,) = node.parents
    dims = tuple(node.attrs.values())
    base = w.operand(node, 0)
    if sorted(axis(d, x.ndim) for d in dims) == [x.ndim - 2, x.ndim - 1]:
        plain = x.ndim == 2 and (node.span is None or dims == (0, 1))
        return Attribute(base, "T" if plain else "mT")
    return Method(base, "transpose", tuple(map(w.plain, node.attrs.values())))


@idiom
def reshape(w: "Writer", node: Node) -> Tree:
    if node.parents[0] in w.numbers:
        return _filled_with(w, node, node.parents[0])
    sizes = w.attribute(node, "shape")
    items = sizes.items if isinstance(sizes, Listing) else ()
    chosen = node.span is not None and any(isinstance(i, Number) for i in items)
    if not chosen and not isinstance(sizes, Attribute):
        ends = _flattened(node.parents[0].shape, node.shape)
        if ends is not None:
            return Method(w.operand(node, 0), "flatten", tuple(map(Number, ends)))
    return Method(w.operand(node, 0), "reshape", spread(sizes))


def _flattened(shape: Shape, new: Shape) -> tuple[int, ...] | None:
    """The arguments of flatten() for this reshape; None if it merges no consecutive dimensions.

    These are the first and last merged dimension; the last one is omitted if it is the final
    dimension, and both if all dimensions are merged.
    """
    for start in range(len(new)):
        end = start + len(shape) - len(new)
        middle, rest = shape[start : end + 1], shape[end + 1 :]
        if end > start and new == (*shape[:start], numel(middle), *rest):
            return (start, end) if end < len(shape) - 1 else (start,) if start else ()
    return None


@idiom
def expand(w: "Writer", node: Node) -> Tree:
    like, (x,) = w.like(node), node.parents
    if x in w.numbers:
        return _filled_with(w, node, x)
    if like is not None:
        return Method(w.operand(node, 0), "expand_as", (like,))
    return Method(w.operand(node, 0), "expand", spread(w.attribute(node, "shape")))


def _filled_with(w: "Writer", node: Node, x: Node) -> Tree:
    """A tensor filled with a number; a float keeps its point if the dtype depends on it."""
    like = w.same_kind(node)
    if like is not None:
        return Call(w.library("full_like"), (like, w.trees[x]))
    value = x.attrs.get("value")
    number = w.trees[x]
    if isinstance(value, float) and isfinite(value):
        number = w.number(value, point=True)
    return Call(w.library("full"), (w.shape(node.shape), number))


@idiom
def getitem(w: "Writer", node: Node) -> Tree:
    index = w.trimmed(node.attrs["index"], node.parents[0].shape)
    return Subscript(w.operand(node, 0), tuple(_item(w, item) for item in index))


@idiom
def put(w: "Writer", node: Node) -> Tree:
    """x.index_put((tensor(0), y), v), if the flat indices are those of rows; otherwise put()."""
    x, places, _ = node.parents
    index = _index_of_rows(places, x.shape)
    if index is None:
        return w.call(node)
    items = Listing(tuple(_as_tensor(w, item) for item in index))
    named = (("accumulate", Verbatim("True")),) if node.attrs["accumulate"] else ()
    return Method(w.operand(node, 0), "index_put", (items, w.operand(node, 2)), named)


def _index_of_rows(places: Node, shape: Shape) -> tuple | None:
    """The index with these flat indices, as integers and lists; None for other flat indices."""
    counted = places.parents[0] if places.op.name == "getitem" else places
    base = counted.parents[0] if counted.op.name == "reshape" else counted
    if base.op.name != "arange" or counted.shape != shape or base.shape != (numel(shape),):
        return None
    index = places.attrs.get("index", (None,))
    plain = all(isinstance(i, int | tuple | Array) and not is_mask(i) for i in index)
    return index if plain else None


def _as_tensor(w: "Writer", item: Any) -> Tree:
    """One item of the index of index_put, which accepts only tensors."""
    written = _item(w, item)
    literal = not isinstance(item, Array) or item.text.startswith("[")
    return Call(w.library("tensor"), (written,)) if literal else written


def _item(w: "Writer", item: Any) -> Tree:
    """One item of an index."""
    if item is None:
        return NEW_DIMENSION
    if item is Ellipsis:
        return Verbatim("...")
    if isinstance(item, slice):
        start, stop = (None if end is None else w.plain(end) for end in (item.start, item.stop))
        return Slice(start, stop, None if item.step is None else Number(item.step))
    if isinstance(item, tuple):
        return Verbatim(str(list(item)))
    if not isinstance(item, Array):
        return w.plain(item)
    text = w.indices(item)
    return Verbatim(text) if text.startswith("[") else read(text)


# ---- memory layout -------------------------------------------------------------------------------
# Tensors are row-major, except for transposes and inverses. torch.kron (2.13) refuses a
# column-major tensor together with another one.


ROW_MAJOR_RESULTS = {"matmul", "mm", "mv", "outer", "kron", "diag"}
# families and operators that preserve the layout of their inputs
LAYOUT_PRESERVING_FAMILIES = {"elementwise", "reduction"}
LAYOUT_PRESERVING = {"softmax", "log_softmax", "getitem", "cumsum", "flip", "roll", "tril", "triu"}


def is_row_major(x: Node) -> bool:
    """Whether a tensor is known to be row-major in memory."""
    stack = [x]
    while stack:
        part = stack.pop()
        of_inputs = part.op.family in LAYOUT_PRESERVING_FAMILIES
        if of_inputs or part.op.name in LAYOUT_PRESERVING:
            stack.extend(part.parents)
        elif part.inputs and part.op.name not in ROW_MAJOR_RESULTS:
            return False
    return True
