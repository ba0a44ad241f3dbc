"""Steps that cut the graph, and what they become: numbers without a graph, indices, comparisons,
functions that are flat.
"""

import ast
import re
from typing import Any, NamedTuple

from ....snippets.python.values import Instance
from .case import Case
from .text import Edit, dotted, keyword, method

COPIES = ("tensor", "as_tensor", "from_numpy", "Tensor", "FloatTensor")
INTEGERS = re.compile(r"\((dtype=)?torch\.(Long|Int|long|int)\w*\)$")
STRAIGHT = "Straight through: its gradient is taken to be 1."
SMOOTH = "It is another function, which agrees with it where the numbers are clear."
IN_TORCH = {"arctan": "atan", "power": "pow", "absolute": "abs", "fabs": "abs"}  # NumPy's names


class Uncut(NamedTuple):
    """What a step that cuts the graph becomes, why it cuts, and what to know of the change."""

    edit: Edit
    why: str
    note: str = ""


def uncut(case: Case, node: ast.AST) -> Uncut | None:
    """What a step that cuts the graph becomes; None for what cuts nothing."""
    if any(_goes_straight(n) for n in (node, *case.text.around(node))):
        return None
    if isinstance(node, ast.Call):
        return _of_module(case, node) or _of_method(case, node) or _of_function(case, node)
    if isinstance(node, ast.Subscript):
        return _indices(case, node)
    if isinstance(node, ast.Compare) and isinstance(case.text.parents.get(node), ast.Assign):
        return _threshold(case, node, node)
    if isinstance(node, ast.Attribute) and node.attr == "indices":
        return Uncut(case.renamed(node, "values"), _at(node, ".indices have no gradient."))
    if isinstance(node, ast.Attribute) and node.attr == "data":
        why = _at(node, ".data is a tensor with the same numbers and no graph.")
        return Uncut(Edit(case.dot(node), case.text.end(node), ""), why)
    return None


def _of_module(case: Case, node: ast.Call) -> Uncut | None:
    """np.exp(x), torch.tensor(x): functions that know nothing of the graph."""
    module, _, name = dotted(node.func).rpartition(".")
    if module == "torch" and name in COPIES:
        return _copied(case, node)
    if module not in ("np", "numpy", "math") or name in ("random", "pi"):
        return None
    if name == "array":
        return _copied(case, node)
    why = _at(node, f"{module}.{name} gives numbers without a graph.")
    return Uncut(case.text.replacing(node.func, f"torch.{IN_TORCH.get(name, name)}"), why)


def _of_method(case: Case, node: ast.Call) -> Uncut | None:
    """x.item(), x.argmax(), (x > 0).float(), and functions of torch by these names."""
    if not isinstance(node.func, ast.Attribute):
        return None
    name, inner = node.func.attr, node.func.value
    if name in LEFT_OUT and not node.args:
        return Uncut(case.without_method(node), _at(node, LEFT_OUT[name]))
    if name == "item" and not node.args:
        return _number(case, node, node.func)
    if name in ("argmax", "argmin", "round", "sign", "floor", "ceil"):
        return _smooth(case, node)
    if name in ("type", "to") and INTEGERS.search(case.text.of(node)):
        return Uncut(case.without_method(node), _at(node, LEFT_OUT["long"]))
    if name in ("float", "double") and isinstance(inner, ast.Compare):
        return _threshold(case, node, inner)
    first = node.args[0] if node.args else None
    if name == "one_hot" and isinstance(first, ast.Call) and method(first) == "argmax":
        return _soft_classes(case, node, first)
    if name == "where" and len(node.args) == 3 and isinstance(first, ast.Compare):
        return _step(case, node, first)
    return None


LEFT_OUT = {
    **{name: f".{name}() cuts the graph on purpose." for name in ("detach", "detach_")},
    **dict.fromkeys(("numpy", "tolist"), "NumPy records nothing."),
    **dict.fromkeys(("long", "int", "bool", "byte"), "Integers have no gradient."),
}


def _number(case: Case, node: ast.Call, name: ast.Attribute) -> Uncut:
    """x.item() as x; what a module gives, of one number, without its dimensions."""
    why = _at(node, ".item() gives a Python number, which has no graph.")
    called = name.value.func if isinstance(name.value, ast.Call) else None
    if isinstance(case.value(called), Instance):
        return Uncut(case.renamed(name, "squeeze"), why)
    return Uncut(case.without_method(node), why)


def _of_function(case: Case, node: ast.Call) -> Uncut | None:
    """round(x), float(x), Variable(x)."""
    name, text = dotted(node.func), case.text
    if name == "round" and len(node.args) == 1:
        x = text.operand(node.args[0])
        why = _at(node, "round is flat: its derivative is 0.")
        return Uncut(text.replacing(node, f"({x} + ({x}.round() - {x}).detach())"), why, STRAIGHT)
    if name in ("float", "int") and node.args:
        why = _at(node, f"{name}() gives a Python number, which has no graph.")
        return Uncut(text.replacing(node, text.operand(node.args[0])), why)
    return _rewrapped(case, node) if name in ("Variable", "nn.Parameter") else None


def _indices(case: Case, node: ast.Subscript) -> Uncut | None:
    """x.max(0)[1]: the values in the place of the indices."""
    name = method(node.value)
    pairs = ("max", "min", "topk", "sort", "median", "kthvalue")
    if name not in pairs or getattr(node.slice, "value", None) != 1:
        return None
    why = _at(node, f"[1] of {name} are the indices, which have no gradient.")
    return Uncut(case.text.replacing(node.slice, "0"), why, "[0] are the values.")


def _goes_straight(node: ast.AST) -> bool:
    """Whether a node is the (x.round() - x).detach() of a step whose gradient is taken to be 1."""
    called = node.func if isinstance(node, ast.Call) and method(node) == "detach" else None
    inner = getattr(called, "value", None)
    return isinstance(inner, ast.BinOp) and method(inner.left) in ("round", "sign", "floor", "ceil")


def _at(node: Any, why: str) -> str:
    is_name = not why.split()[0][1:].islower()  # NumPy, .detach()
    return f"Line {node.lineno}: {why if is_name else why[0].lower() + why[1:]}"


def _rewrapped(case: Case, node: ast.Call) -> Uncut | None:
    """Variable(y) of a tensor that is computed: a leaf of its own."""
    inner = node.args[0] if node.args else None
    if isinstance(inner, ast.Name | ast.Attribute | ast.BinOp):
        why = f"{dotted(node.func)}(...) makes a new leaf of the numbers."
        new = case.text.of(inner) if isinstance(inner, ast.Name) else case.text.operand(inner)
        return Uncut(case.text.replacing(node, new), _at(node, why))
    return None


def _copied(case: Case, node: ast.Call) -> Uncut | None:
    """torch.tensor(...) of tensors copies numbers: stack them, or leave it out."""
    if not node.args:
        return None
    (argument, *_), text = node.args, case.text
    why = _at(node, f"{dotted(node.func)}(...) copies the numbers, and leaves the graph behind.")
    if isinstance(argument, ast.List | ast.Tuple):
        if not any(isinstance(n, ast.Name | ast.Call) for n in ast.walk(argument)):
            return None  # numbers alone
        rows = [e for e in argument.elts if isinstance(e, ast.List | ast.Tuple)]
        if not rows and any(isinstance(e, ast.Constant) for e in argument.elts):
            items = [
                f"torch.tensor({float(e.value)})"
                if isinstance(e, ast.Constant) and isinstance(e.value, int | float)
                else text.of(e)
                for e in argument.elts
            ]
            return Uncut(text.replacing(node, f"torch.stack([{', '.join(items)}])"), why)
        if len(rows) == len(argument.elts):
            inner = [f"torch.stack([{', '.join(text.of(e) for e in r.elts)}])" for r in rows]
            return Uncut(text.replacing(node, f"torch.stack([{', '.join(inner)}])"), why)
        return Uncut(text.replacing(node, f"torch.stack({text.of(argument)})"), why)
    if isinstance(argument, ast.ListComp | ast.GeneratorExp):
        return Uncut(text.replacing(node, f"torch.stack({text.of(argument)})"), why)
    if isinstance(argument, ast.Constant):
        return None
    if isinstance(case.value(argument), list):
        return Uncut(text.replacing(node, f"torch.stack({text.of(argument)})"), why)
    return Uncut(text.replacing(node, text.operand(argument)), why)


def _smooth(case: Case, node: ast.Call) -> Uncut | None:
    """A function that has a gradient in the place of one that is flat everywhere."""
    assert isinstance(node.func, ast.Attribute)
    name, text = node.func.attr, case.text
    function = dotted(node.func.value) == "torch"
    if function and not node.args:
        return None
    x = text.operand(node.args[0] if function else node.func.value)
    rest = node.args[1:] if function else node.args
    why = _at(node, f"{name} is flat: its derivative is 0 or does not exist.")
    if name in ("argmax", "argmin"):
        dim = keyword(node, "dim") or (rest[0] if rest else None)
        where = text.of(dim.value if isinstance(dim, ast.keyword) else dim) or "-1"
        sign = "" if name == "argmax" else "(-1.0 * "
        soft = f"torch.softmax({sign}{x}{')' if sign else ''}, dim={where})"
        numbers = f"torch.arange({x}.shape[{where}], dtype={x}.dtype)"
        new = f"({soft} * {numbers}).sum(dim={where})"
        return Uncut(text.replacing(node, new), why, f"The mean index under softmax. {SMOOTH}")
    if name == "sign":
        return Uncut(text.replacing(node, f"torch.tanh({x})"), why, SMOOTH)
    new = f"({x} + ({x}.{name}() - {x}).detach())"
    return Uncut(text.replacing(node, new), why, STRAIGHT)


def _soft_classes(case: Case, node: ast.Call, chosen: ast.Call) -> Uncut | None:
    """one_hot(argmax(x)) as softmax(x)."""
    text, owner = case.text, getattr(chosen.func, "value", None)
    of = [*chosen.args] if dotted(owner) == "torch" else [owner, *chosen.args]
    if not of or not isinstance(of[0], ast.expr):
        return None
    dim = case.argument(chosen, 1 if of[0] in chosen.args else 0, "dim")
    new = f"torch.softmax({text.of(of[0])}, {text.of(dim) or '-1'})"
    why = _at(node, "argmax and one_hot give integers, which have no gradient.")
    return Uncut(text.replacing(node, new), why, SMOOTH)


def _threshold(case: Case, node: ast.expr, inner: ast.Compare) -> Uncut | None:
    """(x > t).float(): a sigmoid."""
    text = case.text
    if len(inner.ops) != 1:
        return None
    if probability(case, inner):
        why = _at(node, "a comparison gives booleans, which have no gradient.")
        note = "The probability itself, which has a gradient."
        return Uncut(text.replacing(node, text.operand(inner.left)), why, note)
    left, right = text.operand(inner.left), text.operand(inner.comparators[0])
    above = f"{left} - {right}" if right not in ("(0)", "(0.0)") else text.of(inner.left)
    why = _at(node, "a comparison gives booleans, which have no gradient.")
    if isinstance(inner.ops[0], ast.Gt | ast.GtE):
        return Uncut(text.replacing(node, f"torch.sigmoid({above})"), why, SMOOTH)
    if isinstance(inner.ops[0], ast.Lt | ast.LtE):
        return Uncut(text.replacing(node, f"torch.sigmoid({right} - {left})"), why, SMOOTH)
    if isinstance(inner.ops[0], ast.Eq | ast.NotEq):
        return _accuracy(case, inner)
    return None


def probability(case: Case, test: ast.Compare) -> bool:
    """Whether p > 0.5 asks of a sigmoid's output which of two classes it means."""
    half = getattr(test.comparators[0], "value", None) == 0.5
    if not half or not isinstance(test.ops[0], ast.Gt | ast.GtE):
        return False
    values = case.tensor(test.left)
    if values is not None and values.numel:
        return bool(values.data.min() >= 0 and values.data.max() <= 1)
    return method(test.left) in ("sigmoid", "softmax", "Sigmoid")


def _step(case: Case, node: ast.Call, test: ast.Compare) -> Uncut | None:
    """where(x > t, 1, 0): a sigmoid."""
    high, low = (case.text.of(a) for a in node.args[1:])
    if "one" not in high and high not in ("1", "1.0", "1."):
        return None
    if "zero" not in low and low not in ("0", "0.0", "0."):
        return None
    return _threshold(case, node, test)


def _accuracy(case: Case, inner: ast.Compare) -> Uncut | None:
    """The share of right classes as a loss: cross entropy in the place of 1 - accuracy."""
    text = case.text
    sides = (inner.left, inner.comparators[0])
    for named, other in (sides, sides[::-1]):
        side = case.made(named, inner.lineno)
        if not (isinstance(side, ast.Call) and method(side) == "argmax"):
            continue
        assert isinstance(side.func, ast.Attribute)
        of = side.func.value if dotted(side.func.value) != "torch" else side.args[0]
        loss = f"torch.nn.functional.cross_entropy({text.of(of)}, {text.of(other)})"
        note = "An accuracy has no gradient; cross entropy is the loss that stands for it."
        why = _at(inner, "an argmax and a comparison give no gradient.")
        whole: ast.AST = inner
        while isinstance(text.parents[whole], ast.expr):
            whole = text.parents[whole]
        if isinstance(whole, ast.Call) and method(whole) == "print":
            continue
        statement = text.statement(inner)
        names = [dotted(t) for t in getattr(statement, "targets", [])]
        for node in case.all_nodes:
            operand = node.right if isinstance(node, ast.BinOp) else getattr(node, "operand", None)
            subtracted = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
            if (subtracted or isinstance(node, ast.UnaryOp)) and dotted(operand) in names:
                return Uncut(text.replacing(node, loss), why, note)
        return Uncut(text.replacing(whole, loss), why, note)
    return None
