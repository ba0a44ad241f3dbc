"""Steps that cut the graph, and their differentiable replacements: numbers read from tensors,
indices, comparisons, functions with zero gradient.
"""

import ast
import re
from typing import Any, NamedTuple

from ....snippets.python.values import Instance
from .case import Case, layers_of
from .nodes import (
    argument,
    calls_in,
    dotted,
    elements,
    is_operation,
    method,
    names_in,
    operands,
    owner,
    targets,
    value_of,
    within,
)
from .text import Edit

COPIES = ("tensor", "as_tensor", "from_numpy", "Tensor", "FloatTensor")
INTEGERS = re.compile(r"\((dtype=)?torch\.(Long|Int|long|int)\w*\)$")
FLOATS = re.compile(r"\((dtype=)?[\"']?torch\.(Float|Double|float|double)\w*[\"']?\)$|float\)$")
STRAIGHT = "Straight-through: its gradient is replaced by 1."
SMOOTH = "It is a smooth approximation, which is accurate away from the jumps."
IN_TORCH = {"arctan": "atan", "power": "pow", "absolute": "abs", "fabs": "abs"}  # NumPy's names
BOUNDS = {"maximum": "min", "minimum": "max", "fmax": "min", "fmin": "max"}  # with a number
ROUNDING = ("round", "sign", "floor", "ceil")
COMPARISONS: dict[str, ast.cmpop] = {
    **{"gt": ast.Gt(), "ge": ast.GtE(), "lt": ast.Lt(), "le": ast.LtE()},
    **{"eq": ast.Eq(), "ne": ast.NotEq()},
}  # as functions and methods
CONVERSIONS = ("float", "double", "int", "long", "type", "to")
PAIRS = ("max", "min", "topk", "sort", "median", "kthvalue")
LEFT_OUT = {
    **{name: f".{name}() cuts the graph on purpose." for name in ("detach", "detach_")},
    **dict.fromkeys(("numpy", "tolist"), "Autograd does not record NumPy functions."),
    **dict.fromkeys(("long", "int", "bool", "byte"), "Integers have no gradient."),
}


class Uncut(NamedTuple):
    """A replacement for a step that cuts the graph, why it cuts it, and a remark on the change."""

    edit: Edit
    why: str
    note: str = ""


def uncut(case: Case, node: ast.AST) -> Uncut | None:
    """The replacement for a step that cuts the graph; None if it does not cut it."""
    if any(_goes_straight(n) for n in (node, *case.around(node))):
        return None
    if isinstance(node, ast.expr) and _is_number(case, node):
        test = as_comparison(node)
        if test:
            return _threshold(case, node, test)
    if isinstance(node, ast.Call):
        step = _loss_of_indices(case, node) or _of_module(case, node)
        step = step or _of_method(case, node) or _of_function(case, node)
        return step or _chosen_row(case, node)
    if isinstance(node, ast.Subscript):
        return _indices(case, node) or _chosen_row(case, node)
    if isinstance(node, ast.Name):
        return _second_of_pair(case, node)
    if isinstance(node, ast.Attribute) and node.attr == "indices":
        return Uncut(case.renamed(node, "values"), _at(node, ".indices have no gradient."))
    if isinstance(node, ast.Attribute) and node.attr == "data":
        why = _at(node, ".data is a tensor with the same values but without a graph.")
        return Uncut(Edit(case.dot(node), case.end(node), ""), why)
    return None


def _instead(case: Case, node: Any, new: str, why: str, note: str = "") -> Uncut:
    """An Uncut with another expression in place of a step."""
    return Uncut(case.replacing(node, new), _at(node, why), note)


def _at(node: Any, why: str) -> str:
    is_name = not why.split()[0][1:].islower()  # such as "NumPy", ".detach()"
    return f"Line {node.lineno}: {why if is_name else why[0].lower() + why[1:]}"


def _goes_straight(node: ast.AST) -> bool:
    """Whether a node is (x.round() - x).detach(), of a straight-through estimator."""
    inner = owner(node) if method(node) == "detach" else None
    return isinstance(inner, ast.BinOp) and method(inner.left) in ROUNDING


# ---- calls ---------------------------------------------------------------------------------------


def _of_module(case: Case, node: ast.Call) -> Uncut | None:
    """Replace functions that ignore the graph, such as np.exp(x) and torch.tensor(x)."""
    module, _, name = dotted(node.func).rpartition(".")
    numpy = module in ("np", "numpy")
    if (module == "torch" and name in COPIES) or (numpy and name == "array"):
        return _copied(case, node)
    if not (numpy or module == "math") or name in ("random", "pi"):
        return None
    why = _at(node, f"{module}.{name} returns values without a graph.")
    bound = [a for a in node.args if isinstance(a, ast.Constant | ast.UnaryOp)]
    if name in BOUNDS and len(node.args) == 2 and len(bound) == 1:
        (x,) = [a for a in node.args if a is not bound[0]]
        new = f"torch.clamp({case.of(x)}, {BOUNDS[name]}={case.of(bound[0])})"
        return Uncut(case.replacing(node, new), why)
    return Uncut(case.replacing(node.func, f"torch.{IN_TORCH.get(name, name)}"), why)


def _of_method(case: Case, node: ast.Call) -> Uncut | None:
    """Replace x.item(), x.argmax(), (x > 0).float(), and the same functions of torch."""
    if not isinstance(node.func, ast.Attribute):
        return None
    name, inner = node.func.attr, node.func.value
    casts = name in ("float", "double", "long", "int")
    if casts or (name in ("type", "to") and FLOATS.search(case.of(node))):
        test = as_comparison(inner)
        if test:
            return _threshold(case, node, test)
    if name in LEFT_OUT and not node.args:
        return Uncut(case.without_method(node), _at(node, LEFT_OUT[name]))
    if name == "item" and not node.args:
        return _number(case, node)
    if name == "sample" and (_draws_by_formula(case.value(inner)) or method(inner) in BY_FORMULA):
        why = "sample() is not differentiable; rsample() computes the sample from the parameters."
        return Uncut(case.renamed(node, "rsample"), _at(node, why))
    if name in ("argmax", "argmin", *ROUNDING):
        return _smooth(case, node)
    if name in ("type", "to") and INTEGERS.search(case.of(node)):
        return Uncut(case.without_method(node), _at(node, LEFT_OUT["long"]))
    first = node.args[0] if node.args else None
    chosen = case.made(first) if first is not None and name == "one_hot" else first
    if name == "one_hot" and isinstance(chosen, ast.Call) and method(chosen) == "argmax":
        return _soft_classes(case, node, chosen)
    if name == "where" and len(node.args) == 3:
        return _step(case, node)
    return None


BY_FORMULA = ("Normal", "MultivariateNormal", "Uniform", "Laplace", "Gumbel", "Beta", "Gamma")


def _draws_by_formula(distribution: object) -> bool:
    """Whether a distribution implements rsample."""
    if not isinstance(distribution, Instance):
        return False
    return any("rsample" in c.members and c.name != "Distribution" for c in distribution.cls.mro)


def _number(case: Case, node: ast.Call) -> Uncut:
    """Replace x.item() by x; by x.squeeze() if x is the output of a module, of one element."""
    why = _at(node, ".item() returns a Python number, which has no graph.")
    called = owner(node)
    if isinstance(called, ast.Call) and case.is_module(called.func):
        return Uncut(case.renamed(node, "squeeze"), why)
    return Uncut(case.without_method(node), why)


def _of_function(case: Case, node: ast.Call) -> Uncut | None:
    """Replace round(x), float(x), Variable(x)."""
    name, first = dotted(node.func), node.args[0] if node.args else None
    if first is None:
        return None
    x = case.operand(first)
    if name == "round" and len(node.args) == 1:
        new = f"({x} + ({x}.round() - {x}).detach())"
        return _instead(case, node, new, "round is flat: its derivative is 0.", STRAIGHT)
    if name in ("float", "int"):
        return _instead(case, node, x, f"{name}() returns a Python number, which has no graph.")
    leaf = name in ("Variable", "nn.Parameter")
    named = isinstance(first, ast.Name | ast.Attribute | ast.BinOp)
    called = isinstance(first, ast.Call) and isinstance(first.func, ast.Attribute)
    if leaf and (named or (called and dotted(owner(first)) not in ("torch", "np"))):
        return _instead(case, node, x, f"{name}(...) creates a new leaf from the values.")
    return None


def _indices(case: Case, node: ast.Subscript) -> Uncut | None:
    """Replace x.max(0)[1] by the values."""
    name = method(node.value)
    if name not in PAIRS or value_of(node.slice) != 1:
        return None
    why = _at(node, f"[1] of {name} are the indices, which have no gradient.")
    return Uncut(case.replacing(node.slice, "0"), why, "[0] are the values.")


def _second_of_pair(case: Case, node: ast.Name) -> Uncut | None:
    """Replace i by v, after v, i = x.max(0)."""
    built = case.makers(node, node.lineno)[:1] if isinstance(node.ctx, ast.Load) else []
    pair = elements(built[0].targets[0]) if built else []
    if len(pair) != 2 or dotted(pair[1]) != node.id or method(built[0].value) not in PAIRS:
        return None
    values = dotted(pair[0])
    if values in ("", "_"):
        return None
    why = f"{node.id} are the indices, which have no gradient; {values} are the values."
    return Uncut(case.replacing(node, values), _at(built[0], why))


def _copied(case: Case, node: ast.Call) -> Uncut | None:
    """Replace torch.tensor(...) of tensors, which copies their values, by stack, or remove it."""
    given = node.args[0] if node.args else None
    if given is None or isinstance(given, ast.Constant):
        return None
    why = f"{dotted(node.func)}(...) copies the values, but not the graph."
    if isinstance(given, ast.List | ast.Tuple):
        if not within(given, ast.Name, ast.Call):
            return None  # only numbers
        new = f"torch.stack({_stackable(case, given)})"
        read = [case.shape(n) for n in within(given, ast.Name)]
        if (1,) in read and set(read) <= {(1,), (), None}:  # of each only its number was copied
            new = f"{new}.squeeze(-1)"
        return _instead(case, node, new, why)
    built = case.made(given, node.lineno)
    if isinstance(built, ast.ListComp | ast.GeneratorExp) or case.is_list(given):
        if _are_numbers(case, given):
            return None
        called = isinstance(built, ast.ListComp) and getattr(built.elt, "func", None)
        flat = ".flatten()" if case.is_module(called or None) else ""  # with one element each
        return _instead(case, node, f"torch.stack({case.of(given)}){flat}", why)
    return _instead(case, node, case.operand(given), why)


def _are_numbers(case: Case, given: ast.expr) -> bool:
    """Whether a list has only numbers, such as rewards, that were not read from tensors."""
    values = case.value(given)
    if not isinstance(values, list):
        return not case.leads_to_leaf(given)
    places = [given, *case.slice_of(given, given.lineno)]
    read = [c for p in places for c in calls_in(p, "item", "tolist", "float")]
    return not read and all(isinstance(v, int | float) for v in values)


def _stackable(case: Case, given: ast.List | ast.Tuple) -> str:
    """A list of tensors for torch.stack: numbers as tensors, rows stacked."""
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


# ---- functions with zero gradient ----------------------------------------------------------------


def _smooth(case: Case, node: ast.Call) -> Uncut | None:
    """Replace a function whose gradient is 0 everywhere by a smooth one."""
    name = method(node)
    given = operands(node)
    if not given:
        return None
    x, why = case.operand(given[0]), f"{name} is flat: its derivative is 0 or does not exist."
    if name in ("argmax", "argmin"):
        dim = argument(node, len(node.args) - len(given) + 1, "dim")
        signed = x if name == "argmax" else f"(-1.0 * {x})"
        return _instead(case, node, _mean_index(case, signed, given[0], dim), why, MEAN_INDEX)
    if name == "round" and is_probability(case, given[0]):
        note = "The probability itself, which has a gradient."
        return _instead(case, node, x, "round is flat: its derivative is 0.", note)
    if name == "sign":
        return _instead(case, node, f"torch.tanh({x})", why, SMOOTH)
    return _instead(case, node, f"({x} + ({x}.{name}() - {x}).detach())", why, STRAIGHT)


MEAN_INDEX = f"The mean index under softmax. {SMOOTH}"


def _mean_index(case: Case, signed: str, given: ast.expr, dim: ast.expr | None) -> str:
    """The mean index under softmax; of two classes it is the probability of the second."""
    where, x, shape = case.of(dim) or "-1", case.operand(given), case.shape(given) or ()
    weights, place = f"torch.softmax({signed}, dim={where})", case.number(dim)
    if place is not None and shape[place : place + 1] == (2,):
        return f"{weights}.select({where}, 1)"
    numbers = f"torch.arange({x}.shape[{where}], dtype={x}.dtype)"
    if place is not None and 0 <= place < len(shape) - 1:
        return f"({weights}.movedim({where}, -1) @ {numbers})"
    return f"({weights} * {numbers}).sum(dim={where})"


def _chosen_row(case: Case, node: ast.Subscript | ast.Call) -> Uncut | None:
    """Replace rows[p.argmax(1)], or an embedding of it, by p @ rows: the expected row."""
    if isinstance(node, ast.Subscript):
        rows, where, table = node.value, node.slice, case.of(node.value)
    else:
        embeds = case.called_class(node) == "Embedding" and len(node.args) == 1
        rows, where = node.func, node.args[0] if embeds else node.func
        table = f"{case.of(rows)}.weight"
    chosen = case.made(where, node.lineno)
    if method(chosen) != "argmax" or not isinstance(chosen, ast.Call):
        return None
    scores = operands(chosen)[0]
    if len(case.shape(scores) or ()) != 2 or isinstance(getattr(node, "ctx", None), ast.Store):
        return None
    known = is_probability(case, scores)
    weights = case.of(scores) if known else f"torch.softmax({case.of(scores)}, -1)"
    why = "argmax returns an integer index, which has no gradient."
    note = "Each row is weighted by its probability." if known else SMOOTH
    return _instead(case, node, f"({weights} @ {table})", why, note)


def _soft_classes(case: Case, node: ast.Call, chosen: ast.Call) -> Uncut | None:
    """Replace one_hot(argmax(x)) by softmax(x)."""
    x = operands(chosen)[0]
    dim = argument(chosen, 1 if x in chosen.args else 0, "dim")
    new = f"torch.softmax({case.of(x)}, {case.of(dim) or '-1'})"
    why = "argmax and one_hot return integers, which have no gradient."
    return _instead(case, node, new, why, SMOOTH)


def as_comparison(node: ast.expr) -> ast.Compare | None:
    """The comparison a > b, also in the forms torch.gt(a, b) and a.gt(b)."""
    if isinstance(node, ast.Compare):
        return node if len(node.ops) == 1 else None
    sign = COMPARISONS.get(method(node))
    if sign is None or not isinstance(node, ast.Call):
        return None
    given = operands(node)
    if len(given) != 2 or given[0] is None:
        return None
    return ast.copy_location(ast.Compare(given[0], [sign], [given[1]]), node)


def _is_number(case: Case, node: ast.AST) -> bool:
    """Whether a comparison is used as a number: assigned, summed, or an operand."""
    outer = case.parents.get(node)
    if isinstance(outer, ast.Attribute):
        return outer.attr in ("sum", "mean")
    return isinstance(outer, ast.Assign | ast.BinOp) or method(outer) in ("sum", "mean")


def _threshold(case: Case, node: ast.expr, test: ast.Compare) -> Uncut | None:
    """Replace (x > t).float() by a sigmoid, or by x if it is a probability."""
    (sign,), (bound,) = test.ops, test.comparators
    if not case.leads_to_leaf(test):
        return None
    left, right = case.operand(test.left), case.operand(bound)
    why = "a comparison returns booleans, which have no gradient."
    if probability(case, test):
        note = "The probability itself, which has a gradient."
        statement = case.parents.get(node)
        if isinstance(statement, ast.Assign) and targets(statement) == [left]:
            return Uncut(case.removing(statement), _at(node, why), note)
        return _instead(case, node, left, why, note)
    if isinstance(sign, ast.Gt | ast.GtE):
        above = case.of(test.left) if right in ("(0)", "(0.0)") else f"{left} - {right}"
        return _instead(case, node, f"torch.sigmoid({above})", why, SMOOTH)
    if isinstance(sign, ast.Lt | ast.LtE):
        return _instead(case, node, f"torch.sigmoid({right} - {left})", why, SMOOTH)
    return _accuracy(case, node, test)


def probability(case: Case, test: ast.Compare) -> bool:
    """Whether p > 0.5 chooses between two classes by a sigmoid's output."""
    half = value_of(test.comparators[0]) == 0.5
    above = half and isinstance(test.ops[0], ast.Gt | ast.GtE)
    return above and is_probability(case, test.left)


def is_probability(case: Case, node: ast.expr) -> bool:
    """Whether an expression is a sigmoid's output, or has values between 0 and 1."""
    values = case.tensor(node)
    if values is not None and values.numel:
        return bool(values.data.min() >= 0 and values.data.max() <= 1)
    return method(node) in ("sigmoid", "softmax", "Sigmoid") or _ends_in_sigmoid(case, node)


def _ends_in_sigmoid(case: Case, node: ast.expr) -> bool:
    """Whether an expression calls a module that ends with a sigmoid."""
    layers = [*layers_of(case.module(node.func))] if isinstance(node, ast.Call) else []
    return bool(layers) and layers[-1].cls.name in ("Sigmoid", "Softmax")


def _step(case: Case, node: ast.Call) -> Uncut | None:
    """Replace where(x > t, 1, 0) by a sigmoid."""
    test = as_comparison(node.args[0])
    whole = _is_filled(case, node.args[1], "one", 1) and _is_filled(case, node.args[2], "zero", 0)
    return _threshold(case, node, test) if test and whole else None


def _is_filled(case: Case, node: ast.expr, name: str, number: int) -> bool:
    """Whether an expression is 1, torch.tensor(1.0), or a call such as ones(...)."""
    alone = node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 else node
    return name in case.of(node) or value_of(alone) == number


# ---- accuracies ----------------------------------------------------------------------------------

STANDS_FOR = "An accuracy has no gradient; this loss is trained instead."


def _accuracy(case: Case, node: ast.expr, test: ast.Compare) -> Uncut | None:
    """Replace an accuracy by a loss of the scores."""
    sides = (test.left, test.comparators[0])
    for side, other in (sides, sides[::-1]):
        scores = chosen_from(case, side)
        loss = _loss_of_classes(case, case.made(side, test.lineno), other)
        if not loss and scores is not None:
            loss = f"torch.nn.functional.cross_entropy({case.of(scores)}, {case.of(other)})"
        whole: ast.AST = node
        while isinstance(case.parents[whole], ast.expr):
            whole = case.parents[whole]
        if loss and method(whole) != "print":
            why = _at(node, "a comparison of classes has no gradient.")
            place = _subtracted(case, case.statement_of(node)) or whole
            return Uncut(case.replacing(place, loss), why, STANDS_FOR)
    return None


def _loss_of_classes(case: Case, chosen: ast.expr, target: ast.expr) -> str:
    """The loss that compares scores, logits or margins with a target; "" if they are none."""
    functional, labels = "torch.nn.functional", case.of(target)
    name = method(chosen)
    if isinstance(chosen, ast.Call) and name in ("argmax", "sign"):
        scores = operands(chosen)[0]
        loss = "cross_entropy" if name == "argmax" else "soft_margin_loss"
        return f"{functional}.{loss}({case.of(scores)}, {labels})"
    converted = name in CONVERSIONS
    test = as_comparison(owner(chosen) if converted else chosen)
    if test is None or not isinstance(test.ops[0], ast.Gt | ast.GtE):
        return ""
    tensor = case.tensor(target)
    floating = tensor is not None and tensor.dtype.is_floating
    given = f"{case.of(test.left)}, {labels if floating else f'{case.operand(target)}.float()'}"
    if probability(case, test):
        return f"{functional}.binary_cross_entropy({given})"
    at_zero = value_of(test.comparators[0]) == 0
    return f"{functional}.binary_cross_entropy_with_logits({given})" if at_zero else ""


def _loss_of_indices(case: Case, node: ast.Call) -> Uncut | None:
    """Replace a loss of class indices, chosen by max or argmax, by a loss of the scores."""
    if len(node.args) != 2 or not case.is_loss(node):
        return None
    chosen, target = (owner(a) if method(a) in ("float", "double") else a for a in node.args)
    labels, scores = case.tensor(target), chosen_from(case, chosen)
    if labels is None or labels.ndim != 1 or scores is None:
        return None
    end = ".long()" if labels.dtype.is_floating else ""
    new = f"torch.nn.functional.cross_entropy({case.of(scores)}, {case.of(target)}{end})"
    why = _at(node, "class numbers have no gradient.")
    note = "Cross entropy compares scores with classes."
    return Uncut(case.replacing(node, new), why, note)


def chosen_from(case: Case, chosen: ast.expr | None) -> ast.expr | None:
    """The scores from which a class was chosen: x in x.argmax(1) and in _, i = x.max(1)."""
    made = case.made(chosen) if chosen is not None else None
    while method(made) in CONVERSIONS:
        made = owner(made)
    if not isinstance(made, ast.Call) or method(made) not in ("argmax", "max", "topk"):
        return None
    scores = next(iter(operands(made)), None)
    if isinstance(scores, ast.Call) and method(scores) == "softmax":
        # cross entropy applies softmax itself
        scores = next(iter(operands(scores)), None)
    if method(made) == "argmax":
        return scores
    built = case.makers(chosen)[:1] if isinstance(chosen, ast.Name) else []
    pair = elements(built[0].targets[0]) if built else []
    second = len(pair) == 2 and dotted(pair[1]) == dotted(chosen)
    return scores if second else None


def _subtracted(case: Case, statement: ast.stmt) -> ast.expr | None:
    """The expression 1 - accuracy, or -accuracy, of the value that a statement assigns."""
    names = set(targets(statement))
    for node in case.of_type(ast.BinOp, ast.UnaryOp, everywhere=True):
        if isinstance(node, ast.UnaryOp) and names & set(names_in(node.operand)):
            return node
        if is_operation(node, ast.Sub) and names & set(names_in(node.right)):
            return node
    return None
