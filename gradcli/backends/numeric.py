"""Numeric values of a graph, with NumPy.

Knows nothing about single operators: each brings its own NumPy function, or is made of others that
do.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import GradcliError
from ..graphs import Node, walk
from ..lazy import np
from ..limits import Limits

Values = dict[Node | None, Any]


def sources(node: Node) -> Iterable[Node | None]:
    """The nodes that the value of `node` is computed from."""
    return (
        node.inputs
        if node.op.value is not None or not node.op.expand
        else (node.op.expanded(node),)
    )


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

    def missing(self, roots: Iterable[Node]) -> list[Node]:
        """What is yet to be computed for `roots`, in order."""
        values = self.values
        return [
            n for n in walk(roots, lambda n: () if n in values else sources(n)) if n not in values
        ]

    def run(self, order: Iterable[Node]) -> None:
        """Compute the nodes of `order`, which comes inputs first."""
        with np.errstate(all="ignore"):
            for node in order:
                self.values[node] = self._compute(node)

    def varying(self, root: Node, by: Node) -> "Varying":
        """`root` as a function of the value of `by`; what is independent of it is computed once."""
        return Varying(self, root, by)

    def _compute(self, node: Node) -> Any:
        op = node.op
        if node.numel > self.limits.sizes["elements"]:
            what = f"the value of {op.name}, of shape {node.shape}"
            self.limits.check("elements", node.numel, what, node.span)
        if op.value is None:
            if not op.expand:
                raise GradcliError(
                    "needs-value", f"{node.attrs.get('name', op.name)} has no value", span=node.span
                )
            return self.values[op.expanded(node)]
        try:
            value = op.value(*[self.values[i] for i in node.inputs], **node.attrs)
        except GradcliError as error:
            raise error.at(node.span) from None
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            said = f"{op.name}() has no value here: {error}"
            raise GradcliError("arguments", said, span=node.span) from error
        if self.dtype != "float64" and node.dtype == "float" and node.shape != ():
            return np.asarray(value, dtype=self.dtype)
        return value


class Varying:
    """A node as a function of the value of one input."""

    def __init__(self, evaluator: Evaluator, root: Node, by: Node):
        self.evaluator, self.root, self.by = evaluator, root, by
        order = evaluator.missing([root])
        depends = {by}
        for node in order:
            if any(i in depends for i in sources(node)):
                depends.add(node)
        evaluator.run(n for n in order if n not in depends)
        self.order = [n for n in order if n in depends and n is not by]

    def __call__(self, value: Any) -> Any:
        """The array of the root when `by` has this value."""
        values = self.evaluator.values
        values[self.by] = value
        self.evaluator.run(self.order)
        result = np.asarray(values[self.root])
        for node in (self.by, *self.order):
            values.pop(node, None)
        return result
