"""Inputs that are integer or boolean tensors (indices, targets, masks): how they are recognised,
and placeholder values for them.
"""

from collections.abc import Collection, Mapping
from typing import Any

from ...errors import GradcliError
from ...graphs import Node, downstream, walk
from ...graphs.operator import NeedsIntegers
from ...lazy import np
from ...limits import Limits

MOST = 10_000  # most elements that are checked during the inference of shapes


def assumable_input(error: NeedsIntegers, excluded: Collection[str]) -> str | None:
    """The input that the failed operation needs as integers, if placeholders can be used for it.
    None if several inputs are involved, or if it is `excluded`.
    """
    free = [n.attrs["name"] for n in walk([error.node]) if n.op.name == "input"]
    return free[0] if len(free) == 1 and free[0] not in excluded else None


def floats_error(error: NeedsIntegers, arrays: Mapping[str, Any]) -> GradcliError:
    """The error for floats that the user passed, or the program computes, where integers or a mask
    are needed. `error` itself if there is no value.
    """
    if error.node.op.name != "input":
        return _computed(error, arrays)
    name = error.node.attrs["name"]
    array = arrays.get(name)
    if array is None or array.dtype.kind != "f":
        return error
    if error.kind == "bool":
        what, hint = "a mask", f"write True and False: {name}=[True, False]"
    else:
        what, hint = "integers", f"write them without a point: {name}=[0, 2]"
    message = f"{name} must contain {what} here, got floating-point numbers"
    return GradcliError("arguments", message, hint=hint, span=error.span)


def _computed(error: NeedsIntegers, arrays: Mapping[str, Any]) -> GradcliError:
    """The error for computed floats; `error` itself if they depend on inputs without a value."""
    free = (n.attrs["name"] for n in walk([error.node]) if n.op.name == "input")
    if any(name not in arrays for name in free):
        return error
    if error.kind == "bool":
        what, hint = "this must be a mask", "a comparison makes one: x > 0"
    else:
        what, hint = "these must be integers", "write them without a point, or convert: .long()"
    message = f"{what}, got floating-point numbers"
    return GradcliError("arguments", message, hint=hint, span=error.span)


def placeholder_values(node: Node) -> Any:
    """Placeholder values for an integer or boolean input: 0 and 1 alternating."""
    if node.numel > MOST:
        return np.broadcast_to(node.dtype == "bool" or 0, node.shape)
    numbers = np.arange(node.numel).reshape(node.shape) % 2
    return numbers == 0 if node.dtype == "bool" else numbers


def integer_nodes(roots: Collection[Node], indices: Collection[Node], out: Node) -> set[Node]:
    """The `indices`, the nodes used as index, target or mask of an operation, and the nodes from
    which all these are computed.

    A node is not included if an index depends on it only through an operation of floats, such as
    argsort, and `out` uses it as a value too.
    """
    nodes = walk(roots, lambda n: (*n.inputs, n.expansion))
    integers = [*indices, *(i for node in nodes for i in _of_operation(node))]
    valued = walk([out], lambda n: [i for i in n.inputs if i not in _of_operation(n)])
    direct = walk(integers, lambda n: () if n.op.dtype in ("int", "bool") else n.inputs)
    return set(direct) | (set(walk(integers)) - set(valued))


def check_bounds(out: Node, values: Mapping[Node, Any], limits: Limits) -> None:
    """Raise GradcliError `index`, with a span, for indices out of range. The forward graph is
    checked, because a gradient may not contain the indexed tensor.
    """
    if all(n.dtype != "int" for n in walk([out])):
        return
    from ...backends.numeric import Evaluator, sources, span_of_user

    order = walk([out], sources)
    free = [n for n in order if n.op.name == "input" and n not in values]
    unknown = downstream(order, free, sources)
    evaluator = Evaluator(values, limits=limits)
    for node in order:
        integers = [i for i in _of_operation(node) if i.dtype == "int"]
        if not integers or not unknown.isdisjoint(integers):
            continue
        try:
            _check(node, dict(zip(integers, evaluator(*integers), strict=True)), limits)
        except GradcliError as error:  # other errors depend on values of floats
            if error.code == "index":
                raise error.at(span_of_user(node, order)) from None


def _check(node: Node, integers: dict[Node, Any], limits: Limits) -> None:
    """Raise GradcliError if an operation does not accept the values of its indices."""
    from ...backends.numeric import Evaluator, sources

    if node.op.check_indices is not None:
        arguments = {i: i.shape for i in node.parents} | integers
        node.op.check_indices(*[i and arguments[i] for i in node.inputs], **node.attrs)
        return
    zeros = {i: np.broadcast_to(0.0, i.shape) for i in sources(node) if i}
    Evaluator(zeros | integers, limits=limits)(node)


def _of_operation(node: Node) -> list[Node]:
    """The inputs of an operation that are indices, targets or masks."""
    named = zip(node.op.inputs, node.inputs, strict=False)
    return [i for name, i in named if name in node.op.integer_inputs and i is not None]
