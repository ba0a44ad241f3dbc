"""Numeric values of a graph, with NumPy.

Knows nothing about single operators: each brings its own NumPy function, or is made of others that
do.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import MISUSES, GradcliError, Span
from ..graphs import Node, downstream, walk
from ..graphs.shapes import numel
from ..lazy import np
from ..limits import Limits

Values = dict[Node | None, Any]

PYTHONS = (bool, int, float)
LARGE = 1 << 18  # elements of a tensor that is worth evaluating block by block: 2 MB


def sources(node: Node) -> Sequence[Node | None]:
    """The nodes that the value of `node` is computed from."""
    op = node.op
    return node.inputs if op.value or not op.expand else (op.expanded(node),)


class Evaluator:
    """Values of nodes, each computed once.

    `given` holds an array for every input that counts; floats are computed as `dtype`.
    """

    def __init__(
        self, given: Mapping[Any, Any], *, dtype: str = "float64", limits: Limits | None = None
    ):
        self.values: Values = {None: None, **given}
        self.dtype, self.limits = dtype, limits or Limits()

    def __call__(self, *roots: Node) -> list[Any]:
        """The arrays of `roots`, in their order."""
        self.run(self.missing(roots))
        return [np.asarray(self.values[root]) for root in roots]

    def alone(self, *roots: Node) -> list[Any]:
        """The arrays of `roots`, in their order; where tensors are large, nothing else is kept."""
        order = self.missing(roots)
        if self._checked(order) < LARGE:
            self.run(order)
        else:
            from .blocks import evaluate

            evaluate(self, order, roots)
        return [np.asarray(self.values[root]) for root in roots]

    def missing(self, roots: Iterable[Node]) -> list[Node]:
        """What is yet to be computed for `roots`, in order."""
        values = self.values
        needed = walk(roots, lambda node: () if node in values else sources(node))
        return [node for node in needed if node not in values]

    def run(self, order: Sequence[Node]) -> None:
        """Compute the nodes of `order`, which comes inputs first."""
        self._checked(order)
        values, value = self.values, self.value
        with np.errstate(all="ignore"):
            for node in order:
                try:
                    values[node] = value(node, [values[i] for i in sources(node)])
                except GradcliError as error:
                    raise error.at(written_for(node, order)) from error.__cause__

    def varying(self, root: Node, by: Node) -> "Varying":
        """`root` as a function of the value of `by`; what is independent of it is computed once."""
        return Varying(self, root, by)

    def value(self, node: Node, arrays: Sequence[Any]) -> Any:
        """The value of a node from those of its sources."""
        op = node.op
        if op.value is None:
            if not op.expand:
                raise GradcliError(
                    "needs-value", f"{node.attrs.get('name', op.name)} has no value", span=node.span
                )
            return arrays[0]
        try:
            value = op.value(*arrays, **node.attrs)
        except GradcliError as error:
            raise error.at(node.span) from None
        except MISUSES as error:
            said = f"{op.name}() has no value here: {error}"
            raise GradcliError("arguments", said, span=node.span) from error
        if self.dtype == "float64" or node.dtype != "float":
            return value
        return self._rounded(value, arrays)

    def _rounded(self, value: Any, arrays: Sequence[Any]) -> Any:
        """A value in `dtype`. Numbers that no tensor has met stay Python's, in double precision."""
        if type(value) in PYTHONS:
            return value
        if np.ndim(value) == 0 and arrays and all(type(array) in PYTHONS for array in arrays):
            return value.item()
        return np.asarray(value, dtype=self.dtype)

    def _checked(self, order: Sequence[Node]) -> int:
        """Elements of the largest tensor of `order`, none of which is too large."""
        largest = max(map(numel, {node.shape for node in order}), default=0)
        if largest > self.limits.sizes["elements"]:
            for node in order:
                what = f"the value of {node.op.name}, of shape {node.shape}"
                self.limits.check("elements", node.numel, what, node.span)
        return largest


def written_for(node: Node, order: Sequence[Node]) -> Span | None:
    """The text of the first node that a node of no text of its own is computed for."""
    needing = downstream(order, [node], sources)
    return next((n.span for n in order if n in needing and n.span), None)


class Varying:
    """A node as a function of the value of one input."""

    def __init__(self, evaluator: Evaluator, root: Node, by: Node):
        self.evaluator, self.root, self.by = evaluator, root, by
        order = evaluator.missing([root])
        depends = downstream(order, [by], sources)
        evaluator.run([n for n in order if n not in depends])
        self.order = [n for n in order if n in depends and n is not by]

    @property
    def work(self) -> int:
        """How many elements are computed for one value of `by`."""
        return sum(node.numel for node in self.order)

    def __call__(self, value: Any) -> Any:
        """The array of the root when `by` has this value."""
        values = self.evaluator.values
        values[self.by] = value
        self.evaluator.run(self.order)
        result = np.asarray(values[self.root])
        for node in (self.by, *self.order):
            values.pop(node, None)
        return result
