"""Steps that cut the graph, and what they become: numbers without a graph, indices, comparisons,
functions that are flat.
"""

import ast
import re
from typing import Any, NamedTuple

from .case import Case
from .nodes import (
    argument,
    dotted,
    elements,
    is_operation,
    method,
    owner,
    targets,
    value_of,
    within,
)
from .text import Edit

COPIES = ("tensor", "as_tensor", "from_numpy", "Tensor", "FloatTensor")
INTEGERS = re.compile(r"\((dtype=)?torch\.(Long|Int|long|int)\w*\)$")
STRAIGHT = "Straight through: its gradient is taken to be 1."
SMOOTH = "It is another function, which agrees with it where the numbers are clear."
IN_TORCH = {"arctan": "atan", "power": "pow", "absolute": "abs", "fabs": "abs"}  # NumPy's names
ROUNDING = ("round", "sign", "floor", "ceil")
PAIRS = ("max", "min", "topk", "sort", "median", "kthvalue")
LEFT_OUT = {
    **{name: f".{name}() cuts the graph on purpose." for name in ("detach", "detach_")},
    **dict.fromkeys(("numpy", "tolist"), "NumPy records nothing."),
    **dict.fromkeys(("long", "int", "bool", "byte"), "Integers have no gradient."),
}


class Uncut(NamedTuple):
    """What a step that cuts the graph becomes, why it cuts, and what to know of the change."""

    edit: Edit
    why: str
    note: str = ""


def uncut(case: Case, node: ast.AST) -> Uncut | None:
    """What a step that cuts the graph becomes; None for what cuts nothing."""
    if any(_goes_straight(n) for n in (node, *case.around(node))):
        return None
    if isinstance(node, ast.Call):
        return _of_module(case, node) or _of_method(case, node) or _of_function(case, node)
    if isinstance(node, ast.Subscript):
        return _indices(case, node)
    if isinstance(node, ast.Compare) and isinstance(case.parents.get(node), ast.Assign):
        return _threshold(case, node, node)
    if isinstance(node, ast.Attribute) and node.attr == "indices":
        return Uncut(case.renamed(node, "values"), _at(node, ".indices have no gradient."))
    if isinstance(node, ast.Attribute) and node.attr == "data":
        why = _at(node, ".data is a tensor with the same numbers and no graph.")
        return Uncut(Edit(case.dot(node), case.end(node), ""), why)
    return None


def _instead(case: Case, node: Any, new: str, why: str, note: str = "") -> Uncut:
    """Another expression in the place of a step."""
    return Uncut(case.replacing(node, new), _at(node, why), note)


def _at(node: Any, why: str) -> str:
    is_name = not why.split()[0][1:].islower()  # NumPy, .detach()
    return f"Line {node.lineno}: {why if is_name else why[0].lower() + why[1:]}"


def _goes_straight(node: ast.AST) -> bool:
    """Whether a node is the (x.round() - x).detach() of a step whose gradient is taken to be 1."""
    inner = owner(node) if method(node) == "detach" else None
    return isinstance(inner, ast.BinOp) and method(inner.left) in ROUNDING


# ---- calls ---------------------------------------------------------------------------------------


def _of_module(case: Case, node: ast.Call) -> Uncut | None:
    """np.exp(x), torch.tensor(x): functions that know nothing of the graph."""
    module, _, name = dotted(node.func).rpartition(".")
    numpy = module in ("np", "numpy")
    if (module == "torch" and name in COPIES) or (numpy and name == "array"):
        return _copied(case, node)
    if not (numpy or module == "math") or name in ("random", "pi"):
        return None
    why = _at(node, f"{module}.{name} gives numbers without a graph.")
    return Uncut(case.replacing(node.func, f"torch.{IN_TORCH.get(name, name)}"), why)


def _of_method(case: Case, node: ast.Call) -> Uncut | None:
    """x.item(), x.argmax(), (x > 0).float(), and functions of torch by these names."""
    if not isinstance(node.func, ast.Attribute):
        return None
    name, inner = node.func.attr, node.func.value
    if name in LEFT_OUT and not node.args:
        return Uncut(case.without_method(node), _at(node, LEFT_OUT[name]))
    if name == "item" and not node.args:
        return _number(case, node)
    if name in ("argmax", "argmin", *ROUNDING):
        return _smooth(case, node)
    if name in ("type", "to") and INTEGERS.search(case.of(node)):
        return Uncut(case.without_method(node), _at(node, LEFT_OUT["long"]))
    if name in ("float", "double") and isinstance(inner, ast.Compare):
        return _threshold(case, node, inner)
    first = node.args[0] if node.args else None
    if name == "one_hot" and isinstance(first, ast.Call) and method(first) == "argmax":
        return _soft_classes(case, node, first)
    if name == "where" and len(node.args) == 3 and isinstance(first, ast.Compare):
        return _step(case, node, first)
    return None


def _number(case: Case, node: ast.Call) -> Uncut:
    """x.item() as x; what a module gives, of one number, without its dimensions."""
    why = _at(node, ".item() gives a Python number, which has no graph.")
    called = owner(node)
    if isinstance(called, ast.Call) and case.is_module(called.func):
        return Uncut(case.renamed(node, "squeeze"), why)
    return Uncut(case.without_method(node), why)


def _of_function(case: Case, node: ast.Call) -> Uncut | None:
    """round(x), float(x), Variable(x)."""
    name, first = dotted(node.func), node.args[0] if node.args else None
    if first is None:
        return None
    x = case.operand(first)
    if name == "round" and len(node.args) == 1:
        new = f"({x} + ({x}.round() - {x}).detach())"
        return _instead(case, node, new, "round is flat: its derivative is 0.", STRAIGHT)
    if name in ("float", "int"):
        return _instead(case, node, x, f"{name}() gives a Python number, which has no graph.")
    leaf = name in ("Variable", "nn.Parameter")
    if leaf and isinstance(first, ast.Name | ast.Attribute | ast.BinOp):
        return _instead(case, node, x, f"{name}(...) makes a new leaf of the numbers.")
    return None


def _indices(case: Case, node: ast.Subscript) -> Uncut | None:
    """x.max(0)[1]: the values in the place of the indices."""
    name = method(node.value)
    if name not in PAIRS or value_of(node.slice) != 1:
        return None
    why = _at(node, f"[1] of {name} are the indices, which have no gradient.")
    return Uncut(case.replacing(node.slice, "0"), why, "[0] are the values.")


def _copied(case: Case, node: ast.Call) -> Uncut | None:
    """torch.tensor(...) of tensors copies numbers: stack them, or leave it out."""
    given = node.args[0] if node.args else None
    if given is None or isinstance(given, ast.Constant):
        return None
    why = f"{dotted(node.func)}(...) copies the numbers, and leaves the graph behind."
    if isinstance(given, ast.List | ast.Tuple):
        if not within(given, ast.Name, ast.Call):
            return None  # numbers alone
        return _instead(case, node, f"torch.stack({_stackable(case, given)})", why)
    if isinstance(given, ast.ListComp | ast.GeneratorExp) or isinstance(case.value(given), list):
        return _instead(case, node, f"torch.stack({case.of(given)})", why)
    return _instead(case, node, case.operand(given), why)


def _stackable(case: Case, given: ast.List | ast.Tuple) -> str:
    """A list of tensors: numbers among them as tensors, rows stacked."""
    rows = [e for e in given.elts if isinstance(e, ast.List | ast.Tuple)]
    if rows and len(rows) == len(given.elts):
        inner = [f"torch.stack([{', '.join(case.of(e) for e in elements(r))}])" for r in rows]
        return f"[{', '.join(inner)}]"
    if rows or not any(isinstance(e, ast.Constant) for e in given.elts):
        return case.of(given)
    items = [
        f"torch.tensor({float(e.value)})"
        if isinstance(e, ast.Constant) and isinstance(e.value, int | float)
        else case.of(e)
        for e in given.elts
    ]
    return f"[{', '.join(items)}]"


# ---- what is flat --------------------------------------------------------------------------------


def _smooth(case: Case, node: ast.Call) -> Uncut | None:
    """A function that has a gradient in the place of one that is flat everywhere."""
    name = method(node)
    given = [*node.args] if dotted(owner(node)) == "torch" else [owner(node), *node.args]
    if not given:
        return None
    x, why = case.operand(given[0]), f"{name} is flat: its derivative is 0 or does not exist."
    if name in ("argmax", "argmin"):
        where = case.of(argument(node, len(node.args) - len(given) + 1, "dim")) or "-1"
        signed = x if name == "argmax" else f"(-1.0 * {x})"
        numbers = f"torch.arange({x}.shape[{where}], dtype={x}.dtype)"
        new = f"(torch.softmax({signed}, dim={where}) * {numbers}).sum(dim={where})"
        return _instead(case, node, new, why, f"The mean index under softmax. {SMOOTH}")
    if name == "sign":
        return _instead(case, node, f"torch.tanh({x})", why, SMOOTH)
    return _instead(case, node, f"({x} + ({x}.{name}() - {x}).detach())", why, STRAIGHT)


def _soft_classes(case: Case, node: ast.Call, chosen: ast.Call) -> Uncut | None:
    """one_hot(argmax(x)) as softmax(x)."""
    x = chosen.args[0] if dotted(owner(chosen)) == "torch" else owner(chosen)
    dim = argument(chosen, 1 if x in chosen.args else 0, "dim")
    new = f"torch.softmax({case.of(x)}, {case.of(dim) or '-1'})"
    why = "argmax and one_hot give integers, which have no gradient."
    return _instead(case, node, new, why, SMOOTH)


def _threshold(case: Case, node: ast.expr, inner: ast.Compare) -> Uncut | None:
    """(x > t).float(): a sigmoid."""
    (sign, *more), (bound, *_) = inner.ops, inner.comparators
    left, right = case.operand(inner.left), case.operand(bound)
    why = "a comparison gives booleans, which have no gradient."
    if more:
        return None
    if probability(case, inner):
        note = "The probability itself, which has a gradient."
        return _instead(case, node, left, why, note)
    if isinstance(sign, ast.Gt | ast.GtE):
        above = case.of(inner.left) if right in ("(0)", "(0.0)") else f"{left} - {right}"
        return _instead(case, node, f"torch.sigmoid({above})", why, SMOOTH)
    if isinstance(sign, ast.Lt | ast.LtE):
        return _instead(case, node, f"torch.sigmoid({right} - {left})", why, SMOOTH)
    return _accuracy(case, inner) if isinstance(sign, ast.Eq | ast.NotEq) else None


def probability(case: Case, test: ast.Compare) -> bool:
    """Whether p > 0.5 asks of a sigmoid's output which of two classes it means."""
    half = value_of(test.comparators[0]) == 0.5
    if not half or not isinstance(test.ops[0], ast.Gt | ast.GtE):
        return False
    values = case.tensor(test.left)
    if values is not None and values.numel:
        return bool(values.data.min() >= 0 and values.data.max() <= 1)
    return method(test.left) in ("sigmoid", "softmax", "Sigmoid")


def _step(case: Case, node: ast.Call, test: ast.Compare) -> Uncut | None:
    """where(x > t, 1, 0): a sigmoid."""
    high, low = (case.of(a) for a in node.args[1:])
    one = "one" in high or high in ("1", "1.0", "1.")
    zero = "zero" in low or low in ("0", "0.0", "0.")
    return _threshold(case, node, test) if one and zero else None


def _accuracy(case: Case, inner: ast.Compare) -> Uncut | None:
    """The share of right classes as a loss: cross entropy in the place of 1 - accuracy."""
    sides = (inner.left, inner.comparators[0])
    for named, other in (sides, sides[::-1]):
        side = case.made(named, inner.lineno)
        if not (isinstance(side, ast.Call) and method(side) == "argmax"):
            continue
        whole: ast.AST = inner
        while isinstance(case.parents[whole], ast.expr):
            whole = case.parents[whole]
        if method(whole) == "print":
            continue
        scores = side.args[0] if dotted(owner(side)) == "torch" else owner(side)
        loss = f"torch.nn.functional.cross_entropy({case.of(scores)}, {case.of(other)})"
        note = "An accuracy has no gradient; cross entropy is the loss that stands for it."
        why = _at(inner, "an argmax and a comparison give no gradient.")
        return Uncut(case.replacing(_subtracted(case, inner) or whole, loss), why, note)
    return None


def _subtracted(case: Case, inner: ast.Compare) -> ast.expr | None:
    """The 1 - accuracy, or -accuracy, that a program computes of what a comparison is part of."""
    names = targets(case.statement_of(inner))
    for node in case.of_type(ast.BinOp, ast.UnaryOp, everywhere=True):
        if isinstance(node, ast.UnaryOp) and dotted(node.operand) in names:
            return node
        if is_operation(node, ast.Sub) and dotted(node.right) in names:
            return node
    return None
