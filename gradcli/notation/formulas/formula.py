"""A graph as a matrix formula: a tree whose text is valid input to gradcli.

Sizes are written through names wherever a name has them, so that a formula holds for other sizes
too. Operators are written as their records say, or as `idioms` does.
"""

from collections.abc import Collection, Mapping
from functools import cached_property, partial
from itertools import islice
from math import isfinite
from typing import Any

from ...graphs import Node, Operator, upstream, walk
from ...graphs.arguments import REQUIRED
from ...graphs.shapes import Shape, numel
from ...operators.indexing import is_array
from ...operators.leaves import Array
from .. import tree
from ..tree import Attribute, Call, Listing, Method, Name, Number, Tree, Verbatim
from .idioms import IDIOMS
from .numerals import by_pi, numeral
from .sizes import LEAST, dimension, tells, told, told_rest, told_root
from .spelling import spelled

# Attributes that are shapes.
SIZES = ("shape", "size", "input_size", "weight_size")
SPECIAL = "torch.special."
NEAR = 20  # places from the end of a dimension
Telling = Mapping[float, Node]  # what the program computes from sizes
ARITHMETIC = ("add", "sub", "mul", "div")  # which make floats of integers beside floats
ANY_OPERAND = ("movement", "reduction", "leaf")  # families that are written for numbers as well
TOO_LONG = 300  # names, numbers and symbols: what is longer is read in statements alone
TOO_LONG_IN_STATEMENTS = 200  # and not at all, if it is longer with names for what is repeated
MOST = 5_000  # what is longer with all that is repeated written out is not tried out


def formula(
    node: Node,
    names: Mapping[Node, Name],
    telling: Telling | None = None,
    program: Collection[Node] = (),
) -> Tree:
    """`node` in terms of the nodes that have names; of several of one shape the first lends it.

    Where the sizes of the inputs are `telling`, each number that is one of them is written by name,
    and so is what the program computes from them; what no name has is a size of a node of the
    `program`, inputs first.
    """
    return Writer(names, telling, program).tree(node)


def is_large(node: Node, names: Collection[Node]) -> bool:
    """Whether a node is computed by so many that its formula cannot be read, whatever they are."""
    within = upstream(node, lambda n: () if n in names else n.inputs)
    return next(islice(within, TOO_LONG, None), None) is not None


def too_long(written: Tree) -> bool:
    """Whether a formula is too long to be read, in statements or all at once to be tried out."""
    at_once = tree.size(written)
    return at_once > MOST or (at_once > TOO_LONG and tree.length(written) > TOO_LONG_IN_STATEMENTS)


def in_library(op: Operator) -> str:
    """The name of an operator that no name of a program hides."""
    return op.torch or f"torch.{op.name}"


def word(op: Operator) -> str:
    """The name of an operator in a formula: `softmax`, and `special.ndtr`, which torch has there
    alone.
    """
    return f"special.{op.name}" if (op.torch or "").startswith(SPECIAL) else op.name


def number_of(node: Node) -> Any:
    """The number that a node is, as the program has it; None for what is computed."""
    return node.attrs["value"] if node.op.name == "constant" else None


class Writer:
    """Trees of nodes, each made once."""

    def __init__(
        self,
        names: Mapping[Node, Name],
        telling: Telling | None = None,
        program: Collection[Node] = (),
    ):
        self.telling, self.named = telling, names
        self.trees: dict[Node, Tree] = dict(names)
        self.numbers: set[Node] = set()  # what is written as a Python number: 2, 1 / x.numel()
        self.in_torch: dict[Node, Node | None] = {}
        for node in () if telling is None else program:
            parts = node.op.family == "movement"
            if any(n >= LEAST and self.told(n, rounded=parts) is None for n in node.shape):
                self.shapes.setdefault(node.shape, self.tree(node))
                self.kinds.setdefault((node.shape, node.dtype), self.tree(node))

    @cached_property
    def taken(self) -> set[str]:
        """Names that are no longer those of functions."""
        return tree.taken(self.named.values())

    @cached_property
    def shapes(self) -> dict[Shape, Tree]:
        """What lends its shape."""
        result: dict[Shape, Tree] = {}
        for node, name in self.named.items():
            result.setdefault(node.shape, name)
        return result

    @cached_property
    def kinds(self) -> dict[tuple[Shape, str], Tree]:
        """The same by shape and dtype."""
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
        return spelled(spelling, {str(k): self.trees[i] for k, i in enumerate(node.parents)})

    def sources(self, node: Node) -> tuple[Node | None, ...]:
        """The nodes that the formula of `node` is made of: its inputs, or what it is said with."""
        text = self.said(node)
        return node.inputs if text is None else (text,)

    def said(self, node: Node) -> Node | None:
        """What stands for a node that PyTorch has no name for; None where it stands for itself."""
        if node not in self.in_torch:
            self.in_torch[node] = None if node.op.name in IDIOMS else node.op.in_torch(node)
        return self.in_torch[node]

    def is_foreign(self, node: Node) -> bool:
        """Whether its own name is a word that PyTorch does not have."""
        op = node.op
        named = op.torch is None and not op.spelling and op.name not in IDIOMS
        return named and self.said(node) is None

    def is_in_words(self, node: Node) -> bool:
        """Whether PyTorch has all the words of a formula."""
        return not any(map(self.is_foreign, walk([node], self.sources)))

    def mentions(self, node: Node) -> tuple[int, ...]:
        """How often the formula of `node` has that of each of its sources."""
        return (1,) * len(self.sources(node))

    def written(self, node: Node) -> Tree:
        """The formula of a node whose inputs have theirs."""
        special = IDIOMS.get(node.op.name)
        if special is not None:
            return special(self, node)
        text = self.said(node)
        if text is not None:
            return self.trees[text]
        return self.by_spelling(node) if node.op.spelling else self.call(node)

    # ---- operators as their record says ----------------------------------------------------------

    def by_spelling(self, node: Node) -> Tree:
        """`node` as its operator's spelling has it, without attributes of their usual value."""
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
        """A name to call an operator by; with its library where the program means something else
        by its beginning.
        """
        return in_library(op) if name.partition(".")[0] in self.taken else name

    def operand(self, node: Node, place: int) -> Tree:
        """An input of a node; a whole float keeps its point where it alone makes the result one."""
        source = node.inputs[place]
        assert source is not None
        if self.takes_no_mask(node, place):
            return self.in_numbers(source)
        beside = node.op.name in ARITHMETIC and [i for i in node.parents if i is not source]
        one_hot = self.one_hot(source) if beside and beside[0].dtype == "float" else None
        if one_hot is not None:
            return one_hot
        foreign = source in self.numbers and node not in self.numbers
        foreign = foreign and not self._takes_numbers(node, place)
        value = number_of(source)
        if isinstance(value, float) and isfinite(value) and node.op.dtype == "promote":
            others = [i for i in node.parents if i.op.name != "constant"]
            point = foreign or all(i.dtype != "float" for i in others)
            written = self.number(value, point=point)
            return self.as_tensor(written) if foreign else written
        return self.as_tensor(self.trees[source]) if foreign else self.trees[source]

    def one_hot(self, node: Node) -> Tree | None:
        """Rows of a unit matrix that labels pick, as PyTorch calls them; its integers are converted
        where they stand beside floats. None for anything else.
        """
        if node.op.name != "getitem" or node.parents[0].op.name != "eye":
            return None
        unit, (labels, *others) = node.parents[0], node.attrs["index"]
        named = isinstance(labels, Array) and labels.text.isidentifier()
        if others or not named or unit.shape[0] != unit.shape[1] or unit in self.named:
            return None
        if labels.dtype != "int" or (labels.value < 0).any():  # which one_hot() refuses
            return None
        written = self.tree(unit)
        assert isinstance(written, Call)
        name = "F.one_hot" if "one_hot" in self.taken else "one_hot"
        return Call(name, (Name(labels.text), written.args[0]))

    def _takes_numbers(self, node: Node, place: int) -> bool:
        """Whether a Python number may stand in the place of an input."""
        op = node.op
        return bool(op.spelling) or op.family in ANY_OPERAND or self.takes(node, place)

    def takes_no_mask(self, node: Node, place: int) -> bool:
        """Whether the mask in the place of an input has to be written as its numbers, 0 and 1."""
        op, source = node.op, node.inputs[place]
        if op.takes == "any" or op.of_one_kind or source is None or source.dtype != "bool":
            return False
        return "no masks" in op.takes or all(i.dtype == "bool" for i in node.parents)

    def in_numbers(self, mask: Node) -> Tree:
        """A mask as floats."""
        return Method(self.trees[mask], "double")

    def takes(self, node: Node, place: int) -> bool:
        """Whether PyTorch's function takes a number in the place of an input."""
        return node.op.takes_number(place, [i in self.numbers for i in node.parents])

    def as_tensor(self, number: Tree) -> Tree:
        """A Python number where a function of PyTorch stands, which takes tensors."""
        return Call("tensor", (number,))

    def call(self, node: Node) -> Tree:
        """`node` as a function, or as a method of its first input."""
        op = node.op
        args, named = self.arguments(node)
        if op.method:
            return Method(args[0], op.name, tuple(args[1:]), tuple(named))
        return Call(self.function(op), tuple(args), tuple(named))

    def function(self, op: Operator) -> str:
        """The name to call an operator by."""
        return self.word_for(op, word(op))

    def library(self, name: str) -> str:
        """The name to call a function by that makes tensors."""
        return f"torch.{name}" if name in self.taken else name

    def indices(self, data: Array) -> str:
        """Numbers in an index."""
        return data.text

    def number(self, value: float, point: bool = False) -> Tree:
        """A number, by sizes where it is made of some that tell."""
        result = None
        if self.telling is not None and isfinite(value):
            whole = value in self.telling or tells(value)
            result = self.told(value) if whole else told_root(value, self.shapes)
        return result or self.numeral(value, point)

    def numeral(self, value: float, point: bool = False) -> Tree:
        """A number as it is, or as it is made of pi."""
        return by_pi(value, Verbatim(self.library("pi"))) or numeral(value, point)

    def told(self, value: float, rounded: bool = True) -> Tree | None:
        """A number as the program computes it from sizes that tell; None for others."""
        if self.telling is None:
            return None
        if value in self.telling:
            return self.tree(self.telling[value])
        return told(int(value), self.shapes, rounded) if value == int(value) else None

    def arguments(self, node: Node) -> tuple[list[Tree], list[tuple[str, Tree]]]:
        """What stands in the brackets: by place as long as nothing is left out, then by name."""
        op = node.op
        args: list[Tree] = []
        named: list[tuple[str, Tree]] = []
        last, by_place = _last_required(op), op.family == "movement"
        for place, name in enumerate(op.order):
            if op.variadic and name == op.inputs[0]:
                operands = tuple(self.operand(node, k) for k in range(len(node.inputs)))
                args += operands if place else [Listing(operands, "[]")]
                continue
            value = self._argument(node, name)
            if value is None:
                if place < last:
                    args.append(self.attribute(node, name))
                else:
                    by_place = False
            elif place < last or (place == last and name != "dim") or by_place:
                args += (
                    value.items
                    if name == op.collect and isinstance(value, Listing) and value.items
                    else (value,)
                )
            elif name in op.inputs and not op.method and not named and _all_given(node, name):
                args.append(value)
            else:
                named.append((name, value))
        return args, named

    def _argument(self, node: Node, name: str) -> Tree | None:
        """The tree of one argument; None where it is left out or has its usual value."""
        op = node.op
        if name in op.inputs:
            place = op.inputs.index(name)
            return None if node.inputs[place] is None else self.operand(node, place)
        usual = node.attrs[name] == op.attributes[name]
        return None if usual else self.attribute(node, name)

    # ---- places ------------------------------------------------------------------------------

    def trimmed(self, index: tuple, shape: Shape) -> tuple:
        """An index into a tensor of this shape, without ends that sizes tell are its own."""
        if self.telling is None or any(i is None or i is Ellipsis or is_array(i) for i in index):
            return index
        return tuple(map(_without_ends, index, shape))

    def place(self, n: int) -> str:
        """A place in an index, by sizes where it is made of some that tell."""
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
            return self.told(value) or Number(value)
        return Verbatim(repr(value))

    def shape(self, shape: Shape) -> Tree:
        """A shape: that of a named node, or its sizes one by one."""
        if shape and shape in self.shapes:
            return Attribute(self.shapes[shape], "shape")
        return Listing(tuple(self.size(n, d - len(shape)) for d, n in enumerate(shape)))

    def size(self, size: int, place: int) -> Tree:
        """A size through a name that has it at the same place, counted from the end."""
        for shape, name in self.shapes.items() if size > 1 else ():
            if len(shape) >= -place > 0 and shape[place] == size:
                return dimension(name, place + len(shape))
        rest = told_rest(size, self.shapes) if self.telling is not None else None
        return self.told(size) or rest or Number(size)

    def count(self, n: int) -> Tree:
        """A last size, or the number of elements of a name."""
        result = self.size(n, -1)
        if isinstance(result, tree.Subscript):
            return result
        tensors = ((shape, name) for shape, name in self.shapes.items() if len(shape) > 1)
        whole = next((name for shape, name in tensors if numel(shape) == n), None)
        return result if whole is None else Method(whole, "numel")

    def like(self, node: Node) -> Tree | None:
        """The name of a node of this shape; None without one, or where the user wrote sizes."""
        return None if self._has_own_sizes(node) else self.shapes.get(node.shape)

    def same_kind(self, node: Node) -> Tree | None:
        """The same, of a node with the same kind of numbers, which ones_like() takes over."""
        return None if self._has_own_sizes(node) else self.kinds.get((node.shape, node.dtype))

    def _has_own_sizes(self, node: Node) -> bool:
        span = node.span
        return span is not None and "_like" not in span.text[span.start : span.end]


def _last_required(op: Operator) -> int:
    """The place of the last parameter that a call cannot go without."""
    needed = [
        place
        for place, name in enumerate(op.order)
        if (name in op.inputs and name not in op.optional) or op.attributes.get(name) is REQUIRED
    ]
    return max(needed, default=-1)


class OwnWriter(Writer):
    """Formulas in names of gradcli: what PyTorch says instead has their value, not their slope."""

    def said(self, node: Node) -> Node | None:
        return None


def _all_given(node: Node, name: str) -> bool:
    """Whether all that comes before the parameter `name` is given by place."""
    for other in node.op.order[: node.op.order.index(name)]:
        if other in node.op.inputs:
            given = node.inputs[node.op.inputs.index(other)] is not None
        else:
            given = node.op.attributes.get(other) is REQUIRED
        if not given:
            return False
    return True


def _without_ends(item: Any, size: int) -> Any:
    """A slice without a beginning and an end that it has anyway; an end near the last by that."""
    if not isinstance(item, slice):
        return item
    start = None if item.start == 0 else item.start
    if start is not None and NEAR < start < size <= start + NEAR:
        start -= size
    stop = None if item.stop == size else item.stop
    if stop is not None and NEAR < stop < size <= stop + NEAR:
        stop -= size
    return slice(start, stop, item.step)
