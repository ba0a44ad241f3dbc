"""Corrections of dtypes: of two tensors, of targets and indices, of masks."""

import ast
from collections.abc import Iterator

from ....snippets.eager.tensor import Tensor
from .case import Case, Proposal, weight_of
from .cut_steps import ROUNDING, chosen_from
from .losses import independent_labels, last_loss, swapped
from .nodes import argument, dotted, elements, keyword, method, owner, target_of, within
from .requiring import CREATORS

COMPARISONS = ("gt", "ge", "lt", "le", "eq", "ne", "greater", "less")


def same_dtype(case: Case) -> Iterator[Proposal]:
    """Convert to float32 by .float(), or to the dtype of the other tensor."""
    for node, tensor in case.tensors:
        if tensor.dtype.name != "float32":
            yield from made_float(case, node)
            yield case.appended(node, ".float()")
    for call in case.calls(everywhere=True):
        for named in [k for k in call.keywords if k.arg in ("weight", "pos_weight")]:
            yield from floating_creation(case, [named.value])
            for built in case.makers(named.value):
                yield from floating_creation(case, [built.value])
    for side in [s for s in case.sides if not isinstance(s, ast.Name)]:
        computed = case.tensor(side)
        if computed is not None and not computed.dtype.is_floating:
            yield case.appended(side, ".float()")
    if "ouble" in case.message:
        arrays = case.calls("from_numpy", everywhere=True)
        yield from case.change(*[case.appending(call, ".float()") for call in arrays])
    for word, end in (("ouble", ".double()"), ("Half", ".half()")):
        modules = [c for c in case.calls() if case.is_module(c.func) and c.args]
        if word in case.message:
            yield from (case.appended(call.args[0], end) for call in modules)
    for node in case.creations:
        yield case.appended(node, ".float()")
    nodes = case.operands
    for node, other in [(n, o) for n in nodes for o in nodes if n is not o]:
        yield case.appended(node, f".to({case.of(other)}.dtype)")
    for statement in case.of_type(ast.Assign):
        if place := target_of(statement, ast.Subscript):
            yield case.appended(statement.value, f".to({case.of(place.value)}.dtype)")
    for given in [a for call in case.calls() for a in call.args]:
        yield case.appended(given, ".float()")


def made_float(case: Case, node: ast.expr) -> Iterator[Proposal]:
    """Create a tensor of floats."""
    for built in case.makers(node):
        if isinstance(built.value, ast.Call):
            yield from floating_creation(case, [built.value])
            if "from_numpy" in method(built.value) or "double" in method(built.value):
                yield case.appended(built.value, ".float()")


def _integer_index(case: Case, indexed: ast.Subscript) -> Iterator[Proposal]:
    """Convert an index of floats to a mask or to integers."""
    yield from weighted_rows(case, indexed)
    if _may_be_masked(case, indexed):
        yield from _index(case, indexed.slice)
    if method(indexed.slice) in ("float", "double") and owner(indexed.slice) is not None:
        yield case.without(indexed.slice)  # type: ignore[arg-type]
    whole = [p for p in elements(indexed.slice) if method(p) in ROUNDING]
    yield from case.change(*[case.appending(p, ".long()") for p in whole])
    for part in elements(indexed.slice):
        tensor = case.tensor(part)
        if tensor is not None and tensor.dtype.is_floating:
            yield case.appended(part, ".long()", note=_cut_off(case, part))


def target_dtype(case: Case) -> Iterator[Proposal]:
    """Convert regression targets by .float(), classes and indices by .long()."""
    yield from swapped(case)
    yield from scores_for_classes(case)
    yield from independent_labels(case)
    integer = any(w in case.message for w in ("Long", "index", "int64", "indices"))
    integer &= not any(w in case.message for w in ("floating point type for", "expected Float"))
    result = "Found dtype" in case.message
    nodes = _targets(case) + (last_loss(case) if result else [])
    nodes = [n for n in dict.fromkeys(nodes) if not isinstance(n, ast.Constant)]
    if "used as indices" in case.message:
        yield from masked_places(case)
        for indexed in case.of_type(ast.Subscript):
            yield from _integer_index(case, indexed)
    yield from of_scores(case)
    if not integer:
        yield from filled(case, nodes)
    for end in (".long()", ".float()") if integer else (".float()", ".long()"):
        others = [n for n in nodes if (t := case.tensor(n)) is None or _is_other(t, end)]
        for node in [*others, *(nodes if result else [])]:
            note = _cut_off(case, node) if end == ".long()" else ""
            if not (note and "target dtype" in case.message):  # averages of classes are no class
                yield case.appended(node, end, note=note)


def filled(case: Case, nodes: list[ast.expr]) -> Iterator[Proposal]:
    """Write torch.full((n,), 1.0) for a target filled with an integer."""
    for node in nodes:
        made = case.made(node)
        fill = argument(made, 1, "fill_value") if isinstance(made, ast.Call) else None
        if method(made) == "full" and isinstance(fill, ast.Constant | ast.Name):
            text = case.of(fill)
            yield case.replaced(fill, f"{text}.0" if text.isdigit() else f"float({text})")


def of_scores(case: Case) -> Iterator[Proposal]:
    """Pass to an embedding the index of the largest score of each row, not the scores."""
    for call in case.calls() if "'indices'" in case.message else ():
        given = call.args[0] if call.args else None
        scores, weight = case.tensor(given), weight_of(case.value(call.func))
        if given is None or scores is None or weight is None or not scores.requires_grad:
            continue
        if scores.shape[-1] == weight.shape[0]:
            note = "Each row has a score for each class: argmax selects the class."
            loop = case.loop(call)
            made = case.makers(given, len(case.lines) + 1) if loop is not None else []
            for built in [s for s in made if loop in [*case.around(s)]]:
                yield case.appended(built.value, ".argmax(-1)", note=note)
            yield case.appended(given, ".argmax(-1)", note=note)


def _may_be_masked(case: Case, node: ast.Subscript) -> bool:
    """Whether an index may be a mask: it has the dimension's size, and values 0 and 1."""
    mask, shape = case.tensor(node.slice), case.shape(node.value)
    if mask is None or shape is None or shape[: mask.ndim] != mask.shape:
        return False
    return bool(((mask.data == 0) | (mask.data == 1)).all())


def masked_places(case: Case) -> Iterator[Proposal]:
    """Write x = x.masked_fill(mask.bool(), value) for x[mask] = value, if the mask is of floats and
    has the last sizes of x.
    """
    for statement in case.of_type(ast.Assign):
        target = target_of(statement, ast.Subscript)
        if target is None:
            continue
        mask, shape = case.tensor(target.slice), case.shape(target.value) or ()
        if mask is None or not 1 < mask.ndim < len(shape):
            continue
        if mask.shape == shape[-mask.ndim :] and ((mask.data == 0) | (mask.data == 1)).all():
            x, places = case.of(target.value), case.operand(target.slice)
            new = f"{x} = {x}.masked_fill({places}.bool(), {case.of(statement.value)})"
            yield case.replaced(statement, new, note="As a mask: filled where it is 1.")


def weighted_rows(case: Case, node: ast.Subscript) -> Iterator[Proposal]:
    """Write p @ table for table[p] if p has weights of the rows, which require a gradient."""
    weights, rows = case.tensor(node.slice), case.shape(node.value)
    if weights is not None and weights.requires_grad and rows and weights.shape[-1:] == rows[:1]:
        new = f"{case.operand(node.slice)} @ {case.operand(node.value)}"
        note = "The product sums the rows with these weights; an index has no gradient."
        yield case.replaced(node, f"({new})", note=note)


def _index(case: Case, node: ast.expr) -> Iterator[Proposal]:
    """Convert an index to integers, or to a mask if it is computed by a comparison."""
    if _is_compared(case, node):
        yield case.appended(node, ".bool()", note="As a mask: selected where it is 1.")
    note = "As indices: for a mask use .bool() instead."
    yield case.appended(node, ".long()", note=_cut_off(case, node) or note)


def _cut_off(case: Case, node: ast.expr) -> str:
    """A remark that .long() truncates; "" if all values are integers or not known."""
    values = case.tensor(node)
    if values is None or not values.dtype.is_floating or not (values.data % 1 != 0).any():
        return ""
    return (
        "Fractions are cut off, 0.9 becomes 0: check that these numbers are positions, or classes, "
        "at all; .round() before .long() takes the nearest."
    )


def _is_compared(case: Case, node: ast.expr) -> bool:
    """Whether an expression is computed by a comparison."""
    places = [node, *case.slice_of(node, case.line)]
    return any(
        isinstance(n, ast.Compare) or (isinstance(n, ast.Call) and method(n) in COMPARISONS)
        for place in places
        for n in ast.walk(place)
    )


def _targets(case: Case) -> list[ast.expr]:
    """Expressions that may have the wrong dtype: arguments of calls, the first one last, and
    indices.
    """
    nodes: list[ast.expr] = []
    for node in case.of_type(ast.Call, ast.Subscript):
        nodes += [node.slice] if isinstance(node, ast.Subscript) else []
        nodes += [*node.args[1:], *node.args[:1]] if isinstance(node, ast.Call) else []
    return nodes


def scores_for_classes(case: Case) -> Iterator[Proposal]:
    """Compute a loss of the scores in place of argmax."""
    for call in case.calls():
        scores = chosen_from(case, call.args[0]) if len(call.args) > 1 else None
        if scores is not None:
            why = "argmax returns a class; this loss needs the scores of all classes."
            yield case.replaced(call.args[0], case.of(scores), why=why)


def _is_other(tensor: Tensor, end: str) -> bool:
    """Whether a tensor is not floating, for ".float()"; or not int64, for ".long()"."""
    if end == ".float()":
        return not tensor.dtype.is_floating
    return tensor.dtype.name != "int64"


def mean_of_integers(case: Case) -> Iterator[Proposal]:
    """Convert the argument of mean by .float()."""
    for call in case.methods("mean", "std", "var", "norm"):
        if dotted(owner(call)) == "torch":
            yield case.appended(call.args[0], ".float()")
        else:
            yield case.first(call, ".float()")


def integers(case: Case) -> Iterator[Proposal]:
    """Use floats: 1. for 1, another dtype, or .float()."""
    yield from floating_creation(case, case.nodes)
    for node in case.attributes():
        for built in case.makers(node.value):
            yield from floating_creation(case, within(built.value, ast.AST))
            yield case.appended(built.value, ".float()")
    for call in case.calls():
        if method(call) == "Parameter" and call.args:
            yield case.appended(call.args[0], ".float()")
        for given in call.args:
            if isinstance(given, ast.Name) and case.tensor(given) is not None:
                yield case.appended(given, ".float()")
        if method(call) == "requires_grad_":
            yield case.first(call, ".float()")
    # arguments of a call of torch.func
    for call in case.calls(*CREATORS):
        yield case.appended(call, ".float()")


def floating_creation(case: Case, nodes: list[ast.AST]) -> Iterator[Proposal]:
    """Create floats in a call that creates integers."""
    for call in [n for n in nodes if isinstance(n, ast.Call)]:
        name, named = method(call), keyword(call, "dtype")
        if name not in (*CREATORS, "LongTensor"):
            continue
        if named is not None:
            yield case.replaced(named.value, "torch.float32")
        elif name == "LongTensor" and isinstance(call.func, ast.Attribute):
            yield case.renamed_to(call, "FloatTensor")
        elif name in ("tensor", "arange", "full", "randint"):
            numbers = [n for a in call.args for n in within(a, ast.Constant)]
            numbers = [n for n in numbers if type(n.value) is int]
            if name == "tensor" and not within(call.args[0], ast.Call, ast.Name):
                yield from case.change(*[case.adding(n, ".0") for n in numbers])
            yield case.given(call, "dtype", "torch.float32")
