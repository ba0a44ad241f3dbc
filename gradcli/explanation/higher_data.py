"""Hessians and Jacobian-vector products as plain data: the keys of their JSON."""

from typing import Any

from ..graphs import Node
from ..graphs.shapes import Shape
from ..language.problem import Input, Tangent
from ..lazy import np
from ..notation import tree
from ..notation.indices.index import Notation
from ..notation.tree import Tree
from .analysis import Analysis
from .blocks import text_of
from .data import Data, check_data, jacobians, sides
from .formulas import by_index
from .higher.checks import hessian_checks, jvp_checks
from .higher.hessian import Hessian
from .higher.jvp import Jvp
from .notes import as_data, hessian_notes, jvp_notes

ABOUT = ("schema", "expression", "inputs", "output")


def hessian_data(h: Hessian) -> dict[str, Any]:
    """The JSON of a Hessian: its blocks, and its products with tangents, if any. Key `x` is the
    block of x with itself, `x,z` that of x and z.
    """
    data = Data(h.a)
    result = {key: data(key) for key in ABOUT} | {"hessian": blocks(h)}
    if h.p.tangents:
        result["tangents"] = {t.x.name: _tangent(data, t) for t in h.p.tangents}
        result["hvp"] = {z.name: _product(h, data, z) for z in h.p.wrt}
    checks = [check_data(c) for c in hessian_checks(h)]
    of_blocks = (n for x, z in h.pairs() for n in Data(h.gradient(x)).matrix_notes(z))
    notes = [*hessian_notes(h), *of_blocks]
    return result | {"checks": checks, "notes": as_data(notes)}


def blocks(h: Hessian) -> dict[str, dict[str, Any]]:
    """Each block as the Jacobian of a gradient: shape, matrix, structure, formula, index; if a
    block has no formula but its product with an arbitrary direction has one, that product.
    """
    pairs = {x.name if x is z else f"{x.name},{z.name}": (x, z) for x, z in h.pairs()}
    result = jacobians({key: (Data(h.gradient(x)), z) for key, (x, z) in pairs.items()})
    return {key: result[key] | {"product": _along_direction(h, *pairs[key])} for key in pairs}


def _along_direction(h: Hessian, x: Input, z: Input) -> dict[str, str] | None:
    """The name of a direction and the formula of a block times it; None if there is none."""
    product = h.along_direction(x, z)
    if product is None:
        return None
    return {"direction": h.gradient(x).problem.seed.name, "formula": tree.text(product)}


def _tangent(data: Data, t: Tangent) -> dict[str, Any]:
    value = None if t.value is None else data.a.value(t.value)
    return {"shape": list(t.x.shape), "value": value, "name": t.name, "text": t.text}


def _product(h: Hessian, data: Data, z) -> dict[str, Any]:
    node, written = h.product(z), h.written(z)
    if node is None or written is None:
        return _nothing(z.shape)
    w = h.writer
    index = by_index.shortest_notation(w, written, lambda n: w.indices.gradient(z.node, n, "hvp"))
    return _product_data(data, node, h.product_formula(z), index)


def jvp_data(j: Jvp) -> dict[str, Any]:
    """The tangents of inputs and output, checks and notes."""
    data = Data(j.a)
    result, index = j.node, j.index
    built = (
        _nothing(j.problem.out.shape)
        if result is None
        else _product_data(data, result, j.formula, index)
    )
    return {key: data(key) for key in ABOUT} | {
        "tangents": {t.x.name: _tangent(data, t) for t in j.problem.tangents},
        "jvp": built,
        "checks": [check_data(c) for c in jvp_checks(j)],
        "notes": as_data(jvp_notes(j)),
    }


def _nothing(shape: Shape) -> dict[str, Any]:
    zero = {"formula": "0", "index": "0", "index_of": None}
    return {"shape": list(shape), "value": np.zeros(shape)} | zero


def _product_data(
    data: Data, node: Node, formula: Tree | None, index: Notation | None
) -> dict[str, Any]:
    """A product with tangents: shape, value, formula and index notation."""
    return {
        "shape": list(node.shape),
        "value": data.a.value(node),
        "formula": text_of(data.w.line(formula)),
        **sides(index),
    }


# ---- arrays --------------------------------------------------------------------------------------


def hessian_arrays(h: Hessian) -> dict[str, dict[str, Any]]:
    """Every block of the Hessian, by the names of both inputs."""
    return {x.name: {z.name: _block(h, x, z) for z in h.p.wrt} for x in h.p.wrt}


def _block(h: Hessian, x: Input, z: Input) -> Any:
    entries = Data(h.gradient(x)).entries(z)
    return None if entries is None else entries.reshape((*x.shape, *z.shape))


def product_arrays(h: Hessian) -> dict[str, Any]:
    """The Hessian times the tangents, by the name of the input."""
    return {z.name: array_of(h.a, h.product(z), z.shape) for z in h.p.wrt}


def array_of(a: Analysis, node: Node | None, shape: Shape) -> Any:
    """The value of a node. If it has no numerical value: its elements as texts, or None if they are
    too long. Zeros if `node` is None.
    """
    if node is None:
        return np.zeros(shape)
    value = a.value(node)
    if value is not None:
        return np.array(value)
    texts = Data(a).elements(node)
    return None if texts is None else np.array(texts, dtype=object)
