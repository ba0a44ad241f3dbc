"""Corrections of functions of two sets of points or vectors: each of one with each of the other."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal
from .nodes import argument, dims_of, is_operation, is_transposed, method, number_of, owner
from .text import Edit


def similarity_of_each(case: Case) -> Iterator[Proposal]:
    """Compare each row of x with each row of y for cosine_similarity(x, y.T)."""
    for call in case.calls("cosine_similarity"):
        x, y = (*call.args, None, None)[:2]
        matrix = len(case.shape(x) or ()) == 2 and len(call.args) == 2
        if x is not None and matrix and is_transposed(y):
            rows = f"{case.operand(x)}[:, None], {case.operand(owner(y))}[None], dim=-1"
            why = "cosine_similarity is not a product of matrices: it compares along one dimension."
            yield case.proposal(case.spanning(call.args, rows), why=why)


def each_with_each(case: Case) -> Iterator[Proposal]:
    """Compute all pairwise differences in a - b of two sets of points."""
    for node in case.of_type(ast.BinOp):
        a, b = case.shape(node.left) or (), case.shape(node.right) or ()
        many = len(a)
        if not is_operation(node, ast.Sub) or not many == len(b) in (2, 3) or a[-1] != b[-1]:
            continue
        edits = [case.appending(node.left, f".unsqueeze({many - 1})")]
        edits += [case.appending(node.right, ".unsqueeze(1)")] if many == 3 else []
        for call in [n for n in case.around(node) if isinstance(n, ast.Call)]:
            dims = dims_of(call)
            if method(call) in ("sum", "mean", "norm") and [number_of(d) for d in dims] == [
                many - 1
            ]:
                edits.append(case.replacing(dims[0], "-1"))
        note = "Rows are those of the first, columns those of the second."
        yield case.proposal(*edits, note=note)


def compared_sets(case: Case) -> Iterator[Proposal]:
    """Write cosine_similarity(a.unsqueeze(1), b, dim=-1) or cdist(a, b), for all pairs of two sets
    of different sizes.
    """
    for call in case.calls("cosine_similarity", "pairwise_distance"):
        a, b = [case.shape(x) or () for x in (*call.args, None, None)][:2]
        if not len(a) == len(b) == 2 or a[1] != b[1] or a[0] == b[0]:
            continue
        note = "Rows are those of the first, columns those of the second."
        if method(call) == "pairwise_distance" and len(call.args) == 2 and not call.keywords:
            yield case.replaced(call.func, "torch.cdist", note=note)
        else:
            edits = case.appending(call.args[0], ".unsqueeze(1)"), _dim(case, call)
            yield from case.change(*edits, note=note)


def _dim(case: Case, call: ast.Call) -> Edit:
    """The argument dim=-1 of a function of two tensors."""
    given = argument(call, 2, "dim")
    return case.with_keyword(call, "dim", "-1") if given is None else case.replacing(given, "-1")


def points_of_numbers(case: Case) -> Iterator[Proposal]:
    """Write cdist(x[:, None], y[:, None]) for vectors, whose elements are points on a line."""
    for call in case.calls("cdist"):
        vectors = [a for a in call.args if len(case.shape(a) or ()) == 1]
        yield from case.change(*[case.appending(a, "[:, None]") for a in vectors])
