"""PyTorch as programs say it: with functions of their own where PyTorch has none."""

from collections.abc import Mapping
from typing import Any

from ...graphs import Node
from ...graphs.shapes import axis
from ...notation import tree
from ...notation.code.array_code import check_written
from ...notation.code.torch_code import TorchWriter, array
from ...notation.formulas.formula import GenericSizes, Writer
from ...notation.tree import Call, Infix, Listing, Name, Tree, Verbatim
from ...operators.indexing import is_array

PUT = '''
def put(shape, index, values):
    """Zeros of a shape with values at an index."""
    out = values.new_zeros(shape)
    out[index] = values
    return out
'''


class ProgramWriter(TorchWriter):
    """Formulas that PyTorch can run. New tensors have dtype and device of `like`, where it is
    given.
    """

    def __init__(
        self,
        names: Mapping[Node, Name],
        generic_sizes: GenericSizes | None = None,
        like: str | None = None,
    ):
        super().__init__(names, generic_sizes)
        self.like_name = like
        self.helpers: dict[str, str] = {}

    def written(self, node: Node) -> Tree:
        """The formula of a node whose sources have theirs."""
        if node.op.name == "tensor":
            check_written(node.attrs["data"])
            return Verbatim(array(node.attrs["data"].value, kind=self.kind(node.dtype)))
        if node.op.name == "put_at" and not any(map(is_array, node.attrs["index"])):
            return self._put_tree(node)
        if node.op.name == "size" and node.parents[0] not in self.named:
            return self._sizes(node) or super().written(node)
        result = super().written(node)
        if node.op.family != "leaf" or not isinstance(result, Call):
            return result
        if result.function.endswith("_like"):
            return result
        return result._replace(named=(*result.named, *self._kind(node.dtype)))

    def kind(self, dtype: str) -> str:
        """`, dtype=g.dtype, device=g.device`."""
        return "".join(f", {name}={tree.text(value)}" for name, value in self._kind(dtype))

    def _kind(self, dtype: str) -> list[tuple[str, Tree]]:
        """The options of a call that makes a tensor; whole numbers and conditions stay what they
        are.
        """
        names = ("dtype", "device") if dtype == "float" else ("device",)
        return [(n, Name(f"{self.like_name}.{n}")) for n in names if self.like_name]

    def _sizes(self, node: Node) -> Tree | None:
        """The size of what has no name, as a product of sizes of what has one; None without."""
        (x,) = node.parents
        dims = sorted(axis(d, x.ndim) for d in node.attrs["dim"])
        if x.shape in self.shapes or not dims:
            return None
        product, *others = [self.size(x.shape[d], d - x.ndim) for d in dims]
        for other in others:
            product = Infix("*", product, other)
        return product

    def _put_tree(self, node: Node) -> Tree:
        if node.inputs[0] in self.numbers:
            return super().written(node)
        self.helpers["put"] = PUT
        index = node.attrs["index"]
        items = tuple(map(self._item, self.trimmed(index, node.shape)))
        at = items[0] if len(items) == 1 else Listing(items)
        return Call("put", (self.attribute(node, "shape"), at, Writer.operand(self, node, 0)))

    def _item(self, item: Any) -> Tree:
        """One item of an index as a value."""
        if isinstance(item, slice):
            return Call("slice", tuple(map(self.plain, (item.start, item.stop, item.step))))
        return Verbatim("...") if item is Ellipsis else self.plain(item)
