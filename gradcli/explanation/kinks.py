"""What is answered where a derivative does not exist: the points come from the table.

The answers of PyTorch and JAX stand in kinks.json, which scripts/docs writes where both are
installed; the tests ask them again.
"""

import json
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from .. import frameworks
from ..autodiff.reverse import backward
from ..backends.numeric import Evaluator
from ..errors import GradcliError
from ..graphs import OPS, Node, Operator, intern, walk
from ..language.options import read_shapes
from ..language.problem import pose
from ..lazy import np

FILE = Path(__file__).with_name("kinks.json")
STEP = 1e-7  # how far from a kink its sides are looked at
STEEP = 1e3  # slopes beyond this are told as infinite
FILLS = (0.0, 1.0)  # what tensors are filled with in search of a kink
MOST = 2  # points shown of one operator


class Kink(NamedTuple):
    """A point without a derivative: the expression, its values, the input that moves; the slopes to
    either side, and what PyTorch and JAX answer. Numbers are texts; JAX's is None where JAX cannot
    say it.
    """

    operator: str
    expr: str
    at: str
    by: str
    left: str
    right: str
    pytorch: str
    jax: str | None


@cache
def known() -> dict[str, list[Kink]]:
    """The kinks of every operator that has some, as they were measured last."""
    found: dict[str, list[Kink]] = {}
    for row in json.loads(FILE.read_text("utf-8")):
        kink = Kink(*row)
        found.setdefault(kink.operator, []).append(kink)
    return found


def measured() -> list[Kink]:
    """All kinks, measured anew. Needs PyTorch and JAX."""
    return [kink for op in OPS.values() if op.kink for kink in _of(op)]


def _of(op: Operator) -> Iterator[Kink]:
    for node, values in list(_points(op))[:MOST]:
        seed = np.ones(node.shape)
        inputs = [i for i in dict.fromkeys(node.parents) if i.dtype == "float" and i in values]
        grads = backward(node, OPS["ones"](size=node.shape), inputs).of
        theirs = frameworks.answer("torch", node, values, seed, inputs).grads
        in_jax = _in_jax(node, values, seed, inputs)
        at = ", ".join(f"{i.attrs['name']} = {_text(values[i])}" for i in inputs)
        for x in inputs:
            if grads[x] is None or not np.size(values[x]):
                continue
            left, right = (_slope(node, values, x, side * STEP) for side in (-1, 1))
            if left == right == _text(theirs[x]):
                continue
            jax = None if in_jax is None else _text(in_jax[x])
            name = x.attrs["name"]
            yield Kink(op.name, _written(node), at, name, left, right, _text(theirs[x]), jax)


def _in_jax(node: Node, values: dict[Node, Any], seed: Any, inputs: list[Node]) -> Any:
    try:
        return frameworks.answer("jax", node, values, seed, inputs).grads
    except frameworks.Unsaid:
        return None


def _points(op: Operator) -> Iterator[tuple[Node, dict[Node, Any]]]:
    """Nodes of the operator, with values of their inputs that lie at a kink."""
    for expr, shapes in op.examples:
        try:
            problem = pose(expr, shapes=read_shapes([shapes]))
        except GradcliError:
            continue
        for example in walk([problem.out], lambda n: (*n.inputs, n.expansion)):
            if example.op is op:
                yield from _at_kink(example)
                return


def _at_kink(example: Node) -> Iterator[tuple[Node, dict[Node, Any]]]:
    """The operation on fresh inputs, which are given every combination of values to try."""
    elementwise = example.op.family == "elementwise"
    node = _on_its_own(example, elementwise)
    inputs = [i for i in dict.fromkeys(node.parents) if i.op.name == "input"]
    tried = [s for s in example.op.samples if np.isfinite(s)] if elementwise else FILLS
    for fills in product(tried, repeat=len(inputs)):
        values = {i: np.full(i.shape, float(f)) for i, f in zip(inputs, fills)}
        try:
            hit = Evaluator(values)(node.op.kink(node, *node.inputs, **node.attrs))[0]
        except GradcliError:
            continue
        if np.any(hit):
            yield node, values


def _on_its_own(example: Node, elementwise: bool) -> Node:
    """The same operation on inputs alone; on single numbers, where it works element by element."""
    names = iter("xyzwuv")
    fresh = {
        i: i
        if i.op.name in ("constant", "tensor")
        else OPS["input"](name=next(names), shape=() if elementwise else i.shape, dtype=i.dtype)
        for i in dict.fromkeys(example.parents)
    }
    return intern(example.op, tuple(i and fresh[i] for i in example.inputs), example.attrs)


def _slope(node: Node, values: dict[Node, Any], x: Node, step: float) -> str:
    """The slope of the sum of all elements, along each element of x, to one side."""
    start = Evaluator(values)(node)[0].sum()
    slopes = np.zeros(np.shape(values[x]))
    for place in np.ndindex(*slopes.shape):
        moved = values[x].copy()
        moved[place] += step
        slopes[place] = (Evaluator({**values, x: moved})(node)[0].sum() - start) / step
    return _text(np.where(np.abs(slopes) > STEEP, np.sign(slopes) * np.inf, np.round(slopes, 4)))


def _text(value: Any) -> str:
    """Numbers with four digits, as Python writes a list of them."""
    if value is None:
        return "none"
    array = np.asarray(value, float)
    if array.ndim == 0:
        return f"{float(np.round(array, 4)) + 0.0:g}"
    return "[" + ", ".join(map(_text, array)) + "]"


def _written(node: Node) -> str:
    from ..notation import tree
    from ..notation.formula import formula
    from ..notation.tree import Name

    names = {i: Name(i.attrs["name"]) for i in node.parents if i.op.name == "input"}
    return tree.text(formula(node, names))
