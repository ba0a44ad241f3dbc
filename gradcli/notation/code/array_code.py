"""A graph as code of an array library: NumPy, under `import numpy as np`, or JAX.

What an operator is called there is in its record (the fields `numpy` and `jax`); what takes more
than a name is in array_words and array_places.
"""

import ast
import re
from collections.abc import Mapping
from math import isfinite, isnan
from typing import Any

from ...errors import GradcliError
from ...graphs import Node
from ...operators.indexing import index_text, with_read
from ...operators.leaves import Array
from .. import tree
from ..formulas.formula import GenericSizes, Writer
from ..formulas.numerals import numeral
from ..formulas.spelling import spelled
from ..tree import Call, Listing, Method, Name, Prefix, Tree, Verbatim
from .array_words import IN_OTHER_WORDS

LEFT_OUT = (None, False)  # values of an argument that is not written
MOST_NUMBERS = 1000  # of a tensor that is written out
SIMPLE = (
    ast.Compare, ast.BinOp, ast.UnaryOp, ast.Constant, ast.expr_context, ast.cmpop, ast.operator,
    ast.unaryop,
)  # fmt: skip


class ArrayWriter(Writer):
    """Writes formulas as NumPy code."""

    def one_hot(self, node: Node) -> Tree | None:
        """None: dtypes in programs are explicit."""
        return None

    title, module = "NumPy", "np"

    def __init__(self, names: Mapping[Node, Name], generic_sizes: GenericSizes | None = None):
        super().__init__(names, generic_sizes)
        self.called = tree.taken(names.values())
        self.helpers: dict[str, str] = {}  # source of helper functions that formulas call, by name

    def template(self, node: Node) -> str | None:
        """What the library calls an operation, as its operator's record says it."""
        text = node.op.numpy
        return text(**node.attrs) if callable(text) else text

    def sources(self, node: Node) -> tuple[Node | None, ...]:
        """The inputs of a node and what its index reads; or what it means, where the library has no
        name for it.
        """
        if self._is_foreign(node):
            return (node.op.expanded(node),)
        return with_read(node)

    def _is_foreign(self, node: Node) -> bool:
        op = node.op
        return op.expand is not None and not self.template(node) and op.name not in IN_OTHER_WORDS

    def mentions(self, node: Node) -> tuple[int, ...]:
        """How often the text of a node names each of its sources."""
        template = None if node.op.name in IN_OTHER_WORDS else self.template(node)
        if not template or "{" not in template or node.op.variadic or self._is_foreign(node):
            return super().mentions(node)
        return tuple(template.count(f"{{{k}}}") for k in range(len(node.inputs)))

    def written(self, node: Node) -> Tree:
        """The formula of a node whose sources have theirs. Raises GradcliError for one that the
        library cannot say.
        """
        if self._is_foreign(node):
            return self.trees[node.op.expanded(node)]
        special = IN_OTHER_WORDS.get(node.op.name)
        if special is not None:
            return special(self, node)
        template = self.template(node)
        if not template:
            raise self.refusal(node)
        return self._call(node, template)

    def refusal(self, node: Node, of: str = "") -> GradcliError:
        """The error for a node that the library does not support."""
        return GradcliError(
            "unsupported",
            f"{self.title} has no function for {node.op.name}{of}",
            span=node.span,
            hint="--target torch has words for every operator",
        )

    def _call(self, node: Node, template: str) -> Tree:
        if "{" not in template:
            template += f"({', '.join(f'{{{k}}}' for k in range(len(node.inputs)))})"
        holes: dict[str, Tree | None] = {
            str(k): None if i is None else self.operand(node, k) for k, i in enumerate(node.inputs)
        }
        if template.startswith("{0}.") and node.inputs:
            holes["0"] = self.as_array(node, 0)
        if node.op.variadic:
            operands = tuple(self.operand(node, k) for k in range(len(node.inputs)))
            holes[node.op.inputs[0]] = Listing(operands, "[]")
        along = "{dim}" in template and not node.op.variadic and node.op.family != "reduction"
        if along and not node.parents[0].ndim:
            raise self.refusal(node, " of a single number")
        for name, value in node.attrs.items():
            usual = f"{{{name}?}}" in template and value == node.op.attributes[name]
            given = self._dims(node) if name == "dim" else value
            holes[name] = None if usual or any(given is v for v in LEFT_OUT) else self.plain(given)
        return spelled(re.sub(r"\?}", "}", template), holes)

    @staticmethod
    def _dims(node: Node) -> Any:
        """Dimensions as NumPy's `axis`: None for all of a reduction, an int for a single one."""
        dim = node.attrs["dim"] if node.parents[0].ndim else None
        if not isinstance(dim, tuple):
            return dim
        return (dim[0] if len(dim) == 1 else dim) if dim else None

    def takes_no_mask(self, node: Node, place: int) -> bool:
        """The same; functions of masks alone are in half precision in NumPy, or refused."""
        if super().takes_no_mask(node, place):
            return True
        source = node.inputs[place]
        if source is None or source.dtype != "bool":
            return False
        numbers = [i for k, i in enumerate(node.inputs) if i and not node.op.is_integer_input(k)]
        short = node.dtype == "float" and all(i.dtype == "bool" for i in numbers)
        return short and re.search(r"\b(np|jnp|jax|scipy)\.", self.template(node) or "") is not None

    def in_numbers(self, mask: Node) -> Tree:
        """A mask converted to floats."""
        return Method(self.trees[mask], "astype", (Verbatim("float"),))

    def as_array(self, node: Node, place: int) -> Tree:
        """An operand, as an array where it would be a Python number."""
        written = self.operand(node, place)
        number = node.inputs[place] in self.numbers
        return self.function_call("array", written) if number else written

    def as_tensor(self, number: Tree) -> Tree:
        """The number itself, which functions of arrays accept."""
        return number

    def library(self, name: str) -> str:
        """The library's function of this name."""
        return f"{self.module}.{name}"

    def function_call(self, name: str, *args: Tree, **named: Tree) -> Tree:
        """A call of a function of the library."""
        return Call(self.library(name), args, tuple(named.items()))

    def numeral(self, value: float, point: bool = False) -> Tree:
        """A number; inf and nan by the library's names."""
        if isfinite(value):
            return numeral(value, point)
        name = Verbatim(self.library("nan" if isnan(value) else "inf"))
        return Prefix("-", name) if value < 0 else name

    def index(self, index: tuple) -> str:
        """An index as the library reads it, between brackets."""
        return ", ".join(map(self.index_item, index))

    def index_item(self, item: Any) -> str:
        """One item of an index; a list stays a list."""
        if isinstance(item, Array):
            if item.node is not None:
                return tree.text(self.trees[item.node])
            plain = item.text.startswith("[")
            return item.text if plain else array_text(item.value, self.module)
        return index_text((item,), self.place)

    def numbers_of(self, data: Array) -> Tree:
        """An array of numbers: by its name, or written out."""
        if self._known(data.text):
            return Verbatim(data.text)
        check_written(data)
        return Verbatim(array_text(data.value, self.module))

    def _known(self, text: str) -> bool:
        """Whether a text is valid here: a name, or a comparison of names and numbers."""
        names = names_in(text)
        return bool(names) and names <= self.called


class JaxWriter(ArrayWriter):
    """Writes formulas as JAX code."""

    title, module = "JAX", "jnp"

    def template(self, node: Node) -> str | None:
        """JAX's spelling if there is one, else NumPy's with jax.numpy."""
        if node.op.jax is not None:
            return node.op.jax
        text = super().template(node)
        return text and re.sub(r"\bnp\.", "jnp.", re.sub(r"\bscipy\.", "jax.scipy.", text))

    def index_item(self, item: Any) -> str:
        """One item of an index; JAX needs arrays where NumPy accepts lists."""
        text = super().index_item(item)
        return f"jnp.array({text})" if text.startswith("[") else text


# ---- numbers -------------------------------------------------------------------------------------


def check_written(data: Array) -> None:
    """Raise GradcliError if an array has too many numbers to be written."""
    if data.value.size > MOST_NUMBERS:
        raise GradcliError(
            "unsupported",
            f"{data.value.size:,} numbers would have to be written out: {data.text}",
            hint=f"up to {MOST_NUMBERS:,} are",
        )


def array_text(value: Any, module: str) -> str:
    """An array as a call of np.array, or of jnp.array."""
    if value.size == 0:
        return f"{module}.zeros({value.shape})"
    return f"{module}.array({_nested(value.tolist(), module)})"


def _nested(value: Any, module: str) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_nested(v, module) for v in value)}]"
    if not isinstance(value, float):
        return str(value)
    if not isfinite(value):
        return f"{module}.nan" if isnan(value) else f"{'-' * (value < 0)}{module}.inf"
    return repr(value)


def expression(
    node: Node, names: Mapping[Node, Name], writer: type[ArrayWriter] = JaxWriter
) -> str:
    """`node` as an expression, in terms of the nodes that have names."""
    return tree.text(writer(names).tree(node))


def names_in(text: str) -> set[str]:
    """The names in a comparison of names and numbers; empty for other texts."""
    if text.startswith("["):  # a list, which may be long
        return set()
    try:
        parts = list(ast.walk(ast.parse(text, mode="eval").body))
    except SyntaxError:
        return set()
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return names if all(isinstance(part, (ast.Name, *SIMPLE)) for part in parts) else set()
