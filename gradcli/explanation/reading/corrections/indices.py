"""Cures of indices that a tensor, or a list, does not take: masks, positions, what is put there."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal
from .nodes import argument, dotted, method, owner, size, target_of

ARG = {"max": "argmax", "min": "argmin"}


def mask_place(case: Case) -> Iterator[Proposal]:
    """A mask at the dimension that has its size."""
    for node in case.of_type(ast.Subscript):
        mask, shape = case.tensor(node.slice), case.shape(node.value)
        if mask is None or shape is None or mask.dtype.name not in ("bool", "uint8"):
            continue
        text = case.of(node.slice)
        for dim, have in enumerate(shape) if mask.ndim == 1 else ():
            if mask.shape == (have,):
                note = f"The mask chooses in dimension {dim}."
                yield case.replaced(node.slice, ":, " * dim + text, note=note)
        if mask.ndim == 2 == len(shape) and mask.shape[::-1] == shape:
            yield case.appended(node.slice, ".T")
        if 1 in mask.shape and mask.ndim == len(shape):
            ones = [d for d, n in enumerate(mask.shape) if n == 1 != shape[d]]
            yield case.appended(node.slice, f".expand_as({case.operand(node.value)})")
            yield case.appended(node.slice, f".squeeze({ones[0]})")


def number_of_indices(case: Case) -> Iterator[Proposal]:
    """As many indices as there are dimensions."""
    for node in case.of_type(ast.Subscript):
        shape, parts = case.shape(node.value), getattr(node.slice, "elts", [])
        whole = [p for p in parts if isinstance(p, ast.Slice) and not (p.lower or p.upper)]
        for part in whole if shape is not None and len(parts) == len(shape) + 1 else ():
            kept = [case.of(p) for p in parts if p is not part]
            yield case.replaced(node.slice, ", ".join(kept))


def index_of_list(case: Case) -> Iterator[Proposal]:
    """The place of the largest in the place of the largest; a whole number as one."""
    for node in case.of_type(ast.Subscript):
        made = case.made(node.slice)
        if method(made) in ARG and isinstance(made, ast.Call):
            given = [a for a in made.args if a is not None]
            alone = len(given) == (1 if dotted(owner(made)) == "torch" else 0)
            if alone and not made.keywords:
                text, name = case.of(made.func), method(made)
                new = text.removesuffix(name) + ARG[name] + case.of(made).removeprefix(text)
                note = f"{name} gives the value, {ARG[name]} its place."
                yield case.replaced(node.slice, new, note=note)
        value = case.tensor(node.slice)
        if value is not None and value.numel == 1 and value.data.item() == int(value.data.item()):
            yield case.replaced(node.slice, f"int({case.of(node.slice)})")


def value_put(case: Case) -> Iterator[Proposal]:
    """What is put there as a column, where it has a number for each row."""
    shapes = case.message.partition("value tensor of shape ")[2].split(" cannot be ")
    given, places = (size(s[s.rindex("[") :]) for s in shapes)
    if given == places[:-1]:
        for statement in case.of_type(ast.Assign):
            if target_of(statement, ast.Subscript):
                note = "Each row has one number."
                yield case.appended(statement.value, ".unsqueeze(-1)", note=note)


def of_each_row(case: Case) -> Iterator[Proposal]:
    """The rows and the columns as a grid, where each row is asked for each column."""
    for node in case.of_type(ast.Subscript):
        rows, *others = getattr(node.slice, "elts", [None])
        tensor = case.tensor(rows)
        if tensor is not None and tensor.ndim == 1 and len(others) == 1:
            note = "Each of the rows with each of the columns."
            yield case.appended(rows, ".unsqueeze(1)", note=note)


def turned_round(case: Case) -> Iterator[Proposal]:
    """x.flip(0) for x[::-1]."""
    for node in case.of_type(ast.Subscript):
        parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        back = [n for n, part in enumerate(parts) if _is_turned(part)]
        if not back or any(not isinstance(p, ast.Slice) for p in parts):
            continue
        rest = [":" if n in back else case.of(p) for n, p in enumerate(parts)]
        taken = f"[{', '.join(rest)}]" if any(r != ":" for r in rest) else ""
        dims = ", ".join(map(str, back))
        yield case.replaced(node, f"{case.operand(node.value)}{taken}.flip({dims})")


def _is_turned(part: ast.AST) -> bool:
    """Whether a slice is ::-1."""
    whole = isinstance(part, ast.Slice) and part.lower is None and part.upper is None
    return whole and ast.unparse(part) == "::-1"


def as_many_as_there_are(case: Case) -> Iterator[Proposal]:
    """No larger k than there are elements."""
    for call in case.calls("topk", "kthvalue"):
        of_torch = case.of(owner(call)) == "torch"
        k = argument(call, 1 if of_torch else 0, "k")
        dim = case.number(argument(call, 2 if of_torch else 1, "dim"))
        shape = case.shape(call.args[0] if of_torch and call.args else owner(call))
        if k is not None and shape:
            yield case.replaced(k, str(shape[-1 if dim is None else dim]))


def one_element(case: Case) -> Iterator[Proposal]:
    """A dimension for a tensor without any."""
    for node, tensor in case.tensors:
        if tensor.ndim == 0:
            yield case.appended(node, ".reshape(1)")


def enough_classes(case: Case) -> Iterator[Proposal]:
    """A class more than the largest label."""
    for call in case.calls("one_hot"):
        count, labels = argument(call, 1, "num_classes"), case.tensor(call.args[0])
        if count is not None and labels is not None:
            yield case.replaced(count, str(int(labels.data.max()) + 1))
