"""The gradients of PyTorch and JAX at points without a derivative, computed from the table of
operators: what gradcli/explanation/in_pytorch/kinks.json has to hold.
"""

import json
from collections.abc import Collection, Iterator
from itertools import product
from typing import Any

import numpy as np

from gradcli import frameworks
from gradcli.backends.numeric import Evaluator
from gradcli.errors import if_applicable
from gradcli.explanation.in_pytorch.stored_kinks import FILE, Kink, known
from gradcli.graphs import OPS, Node, Operator, intern, walk
from gradcli.language.arguments.option_texts import read_shapes
from gradcli.language.posing import pose
from gradcli.notation import tree
from gradcli.notation.formulas.formula import OperatorWriter
from gradcli.notation.tree import Name
from gradcli.operators import all_operators

STEP = 1e-7  # distance from a kink at which one-sided slopes are computed
STEEP = 1e3  # slopes beyond this are shown as infinite
MOST = 4  # kinks shown of one operator
FILLS = (0.0, 1.0)  # values that tensors are filled with in search of a kink


def versions() -> dict[str, str]:
    """The versions of the frameworks that computed the file."""
    return json.loads(FILE.read_text("utf-8"))["versions"]


def measure() -> None:
    """Compute the gradients in PyTorch and JAX, and write the file."""
    version_numbers = {name: frameworks.version(name).split()[1] for name in frameworks.TITLES}
    rows = ",\n  ".join(json.dumps(kink, ensure_ascii=False) for kink in measured())
    FILE.write_text(
        f'{{"versions": {json.dumps(version_numbers)}, "kinks": [\n  {rows}\n]}}\n', "utf-8"
    )
    known.cache_clear()


def measured() -> list[Kink]:
    """All kinks, computed in PyTorch and JAX, which must be installed; of points with the same
    slopes the one nearest to 0. Without operators that PyTorch lacks.
    """
    text = [op for op in all_operators().values() if op.kink and op.family != "written out"]
    return [kink for op in text for kink in _of(op)]


def _of(op: Operator) -> list[Kink]:
    result: dict[tuple, Kink] = {}
    first: dict[str, str] = {}  # one point for each tensor input suffices
    for node, values in _points(op):
        for kink in _at(node, values):
            name = kink.by.partition("[")[0]
            if op.family == "elementwise" or first.setdefault(name, kink.at) == kink.at:
                result.setdefault((name, *kink[4:]), kink)
    return list(result.values())[:MOST]


def _at(node: Node, values: dict[Node, Any]) -> Iterator[Kink]:
    """The kinks at a point, one for each element without a derivative."""
    inputs = [i for i in dict.fromkeys(node.parents) if i in values]
    seed = np.ones(node.shape)
    try:
        in_torch = frameworks.answer("torch", node, values, seed, inputs).grads
    except frameworks.NotSupported:
        return
    in_jax = _in_jax(node, values, seed, inputs)
    text = ", ".join(f"{i.attrs['name']} = {_text(values[i])}" for i in inputs)
    for x in inputs:
        if in_torch[x] is None or not _hit(node, values, [x]):
            continue
        for place in np.ndindex(*x.shape):
            left, right = (_slope(node, values, x, place, side * STEP) for side in (-1, 1))
            pytorch = _text(in_torch[x][place])
            if not left == right == pytorch:
                jax = None if in_jax is None else _text(in_jax[x][place])
                element = x.attrs["name"] + (f"[{','.join(map(str, place))}]" if place else "")
                yield Kink(node.op.name, _written(node), text, element, left, right, pytorch, jax)


def _in_jax(node: Node, values: dict[Node, Any], seed: Any, inputs: list[Node]) -> Any:
    try:
        return frameworks.answer("jax", node, values, seed, inputs).grads
    except frameworks.NotSupported:
        return None


def _points(op: Operator) -> Iterator[tuple[Node, dict[Node, Any]]]:
    """Nodes of the operator, with values of their inputs that lie at a kink."""
    for expr, shapes in op.examples:
        problem = pose(expr, shapes=read_shapes([shapes]))
        for example in walk([problem.out], lambda n: (*n.inputs, n.expansion)):
            if example.op is op:
                yield from _at_kink(example)
                return


def _at_kink(example: Node) -> Iterator[tuple[Node, dict[Node, Any]]]:
    """The operation on new inputs, with each combination of values that is at a kink."""
    elementwise = example.op.family == "elementwise"
    node = _on_new_inputs(example, elementwise)
    inputs = [i for i in dict.fromkeys(node.parents) if i.op.name == "input"]
    finite = [s for s in example.op.samples if np.isfinite(s)]
    tried = sorted(finite, key=abs) if elementwise else FILLS
    for fills in product(tried, repeat=len(inputs)):
        values = {i: np.full(i.shape, float(f)) for i, f in zip(inputs, fills)}
        if _hit(node, values, inputs) and np.all(np.isfinite(Evaluator(values)(node)[0])):
            yield node, values


def _hit(node: Node, values: dict[Node, Any], moving: Collection[Node]) -> bool:
    """Whether the values are at a kink for some of the inputs."""
    masks = if_applicable(lambda: Evaluator(values)(*node.op.kink_masks(node, moving)))
    return any(map(np.any, masks or ()))


def _on_new_inputs(example: Node, elementwise: bool) -> Node:
    """The operation on new inputs, which are scalars if it is elementwise."""
    names = iter("xyzwuv")
    fresh = {
        i: i
        if i.op.name in ("constant", "tensor")
        else OPS["input"](name=next(names), shape=() if elementwise else i.shape, dtype=i.dtype)
        for i in dict.fromkeys(example.parents)
    }
    return intern(example.op, tuple(i and fresh[i] for i in example.inputs), example.attrs)


def _slope(
    node: Node, values: dict[Node, Any], x: Node, place: tuple[int, ...], step: float
) -> str:
    """The one-sided slope of the sum of the output with respect to one element, as a text; nan if
    it cannot be computed.
    """
    shifted = values[x].copy()
    shifted[place] += step
    sums = if_applicable(
        lambda: [Evaluator({**values, x: v})(node)[0].sum() for v in (values[x], shifted)]
    )
    if sums is None:
        return "nan"
    start, end = sums
    with np.errstate(all="ignore"):
        slope = (end - start) / step
    return _text(np.copysign(np.inf, slope) if abs(slope) > STEEP else slope)


def _text(value: Any) -> str:
    """Numbers with four digits, as Python writes a list of them."""
    array = np.asarray(value, float)
    if array.ndim == 0:
        return f"{float(np.round(array, 4)) + 0.0:g}"
    return "[" + ", ".join(map(_text, array)) + "]"


def _written(node: Node) -> str:
    names = {i: Name(i.attrs["name"]) for i in node.parents if i.op.name == "input"}
    return tree.text(OperatorWriter(names).tree(node))
