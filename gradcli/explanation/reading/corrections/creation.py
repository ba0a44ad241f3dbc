"""Corrections of the size of a tensor or a layer where it is made."""

import ast
from collections.abc import Iterator
from itertools import permutations

from .case import Case, Proposal
from .layers import arguments_called, numbers_given
from .nodes import (
    argument,
    calls_in,
    dotted,
    is_operation,
    method,
    names_in,
    value_of,
    within,
)

MADE_BY_SIZE = ("zeros", "ones", "rand", "randn", "empty", "full")


def bias_of_product(case: Case) -> Iterator[Proposal]:
    """Make a vector of parameters as long as the rows of the matrix product that it is added to."""
    for total in [n for n in case.of_type(ast.BinOp) if is_operation(n, ast.Add)]:
        for product, bias in ((total.left, total.right), (total.right, total.left)):
            made, leaf = case.made(product), case.tensor(bias)
            columns = (case.shape(product) or (0,))[-1]
            parameter = leaf is not None and leaf.is_leaf and leaf.requires_grad
            if is_product(made) and parameter and leaf.ndim == 1 < columns != leaf.shape[0]:  # type: ignore[union-attr]
                why = f"A bias needs one number for each of the {columns} columns of the product."
                for old in sizes_where_made(case, bias, leaf.shape[0]):  # type: ignore[union-attr]
                    for new in (*sizes_called(case, made, old, columns), str(columns)):
                        yield case.replaced(old, new, why=why, reprints=True)


def is_product(node: ast.AST) -> bool:
    """Whether an expression is a product of matrices."""
    return is_operation(node, ast.MatMult) or method(node) in ("mm", "matmul")


def sizes_where_made(case: Case, node: ast.expr, number: int) -> Iterator[ast.expr]:
    """The arguments for a size where a vector is made."""
    for built in reversed(case.assignments(dotted(node))):
        for call in calls_in(value_of(built)):
            for given in call.args[:1] if method(call) in MADE_BY_SIZE else ():
                taken = numbers_given(case, call).get(dotted(given))
                if number in (case.number(given), taken):
                    yield given


def sizes_called(case: Case, product: ast.expr, near: ast.expr, number: int) -> list[str]:
    """The names with which the factors of a product are given a size, in the same function."""
    names: dict[str, None] = {}
    for factor in within(product, ast.Name, ast.Attribute):
        for built in case.assignments(dotted(factor)):
            if case.function_of(built) is case.function_of(near):
                for name in within(value_of(built), ast.Name):
                    taken = numbers_given(case, near).get(name.id)
                    if number in (case.number(name), taken):
                        names[name.id] = None
    return list(names)


def noise_of_shape(case: Case) -> Iterator[Proposal]:
    """Write torch.randn(5, 8) for torch.randn(5) that is added to a matrix with 5 rows."""
    for node in [n for n in case.of_type(ast.BinOp) if is_operation(n, ast.Add)]:
        for side, other in ((node.left, node.right), (node.right, node.left)):
            held, whole = case.shape(side) or (), case.shape(other) or ()
            drawn = calls_in(case.made(side), "randn", "rand") if len(held) == 1 else []
            if len(drawn) == 1 and whole[:1] == held and len(drawn[0].args) == 1:
                sizes = ", ".join(map(str, whole[1:]))
                note = f"Each element of {case.of(other)} gets its own random number."
                edit = case.adding(drawn[0].args[0], f", {sizes}")
                yield case.proposal(edit, note=note, reprints=True)


def identity_of_size(case: Case) -> Iterator[Proposal]:
    """Create the identity matrix that a square matrix is compared with in its size."""
    a, b = (int(n) for n in case.match.groups())
    for call in [c for s in (case.statement, *case.origins) for c in calls_in(s, "eye")]:
        for given in call.args[:1]:
            for own, other in ((a, b), (b, a)):
                if case.number(given) == own:
                    why = f"The other matrix has size {other}."
                    yield case.replaced(given, str(other), why=why)


def resized_output(case: Case) -> Iterator[Proposal]:
    """Change the size where a layer is constructed whose output is compared with data of another
    size.
    """
    a, b = (int(n) for n in case.match.groups())
    fixed = {t.shape[-1] for _, t in case.tensors if t.ndim > 1 and not t.requires_grad}
    for own, other in ((a, b), (b, a)):
        for call in reversed(case.calls("Linear", everywhere=True)):
            out = argument(call, 1, "out_features")
            if own in fixed or out is None or case.number(out) != own:
                continue
            why = f"The layer outputs {own} features, but is compared with {other}."
            for text in (*arguments_called(case, call, other), str(other)):
                yield case.replaced(out, text, why=why)


def other_size(case: Case, call: ast.Call, **words: bool) -> Iterator[Proposal]:
    """Replace one of two sizes by the other in a call that creates a tensor."""
    a, b = case.match.groups()
    for given in call.args:
        if case.of(given) in (a, b):
            yield case.replaced(given, b if case.of(given) == a else a, **words)


def sizes_of_parameters(case: Case) -> Iterator[Proposal]:
    """Create parameters with the size of the other operand: first several of one size at once."""
    names = [n.id for n in case.of_type(ast.Name)]
    leaves = [n for n in dict.fromkeys(names) if (t := case.tensor_of(n)) and t.requires_grad]
    made = [value_of(s) for n in leaves for s in case.assignments(n, case.line)]
    sizes = [a for m in made for c in calls_in(m) for a in c.args[:1]]
    for old, new in permutations(case.match.groups()):
        same = [a for a in sizes if case.of(a) == old]
        if len(same) > 1:
            yield case.proposal(*[case.replacing(a, new) for a in same])
    yield from _created_sizes(case, parameters=True)


def sizes_of_data(case: Case) -> Iterator[Proposal]:
    """Create other tensors than parameters with the size of the other operand."""
    yield from _created_sizes(case, parameters=False)


def _computed_here(case: Case) -> list[ast.stmt]:
    """The statements that the operands of the line that raises are computed by."""
    return [s for n in case.of_type(ast.Name) for s in case.slice_of(n, case.line)]


def _created_sizes(case: Case, parameters: bool) -> Iterator[Proposal]:
    for name in dict.fromkeys(n.id for n in case.of_type(ast.Name)):
        tensor = case.tensor_of(name)
        if bool(tensor and tensor.requires_grad and tensor.is_leaf) != parameters:
            continue
        if any(name in names_in(value_of(s)) for s in _computed_here(case)):
            continue  # the other operand has its size too
        for built in reversed(case.assignments(name, case.line + 1)):
            for call in calls_in(built):
                if dotted(call.func).startswith("torch."):
                    yield from other_size(case, call, weak=not parameters)
