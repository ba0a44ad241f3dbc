"""Corrections of view, reshape, expand, permute, repeat and split."""

import ast
import re
from collections.abc import Iterator
from math import prod

from .case import Case, Proposal, renaming
from .nodes import elements, keyword, number_of, owner, size, target_of, within
from .products import flattened

not_contiguous = renaming("view", to="reshape")


def wrong_view(case: Case) -> Iterator[Proposal]:
    """Keep the batch dimension and flatten the rest; or write -1 for one size."""
    for call in case.calls("view", "reshape"):
        shape = case.shape(owner(call)) or ()
        if len(shape) > 2 == len(call.args) and case.of(call.args[0]) == "-1":
            note = "Each sample remains a separate row."
            yield case.proposal(*flattened(case, call), note=note)
        numbers = [case.number(a) for a in call.args]
        if len(shape) > 1 and None not in numbers and prod(shape) == shape[0] * prod(numbers):  # type: ignore[arg-type]
            first = f"{case.operand(owner(call))}.shape[0], "
            why = "The batch is the first dimension, and is not among the sizes."
            yield case.proposal(case.inserting(call.args[0], first), why=why)
        for given in reversed(call.args):
            if number_of(given) is not None:
                yield case.replaced(given, "-1")
        for given, number, there in reversed([*zip(call.args, numbers, shape)]):
            if number not in (there, None):  # a size by a name, not that of the input
                yield case.replaced(given, "-1", weak=True)


def expanded(case: Case) -> Iterator[Proposal]:
    """Assign as many elements as the target has."""
    places, numbers = case.match.groups()
    for statement in case.of_type(ast.Assign):
        target = target_of(statement, ast.Subscript)
        if target is None:
            continue
        if isinstance(target.slice, ast.Slice) and numbers:
            yield case.replaced(target.slice, f":{numbers}")
        for built in case.makers(target.value):
            sizes = [n for n in within(built, ast.expr) if str(number_of(n)) == places]
            if sizes:
                yield case.replaced(sizes[-1], numbers)
        ends = [f"[:{places}]"] if places else []
        cut = _cropped(case)
        ends = [cut, *ends] if cut else ends
        for end in (*ends, ".T", f".view_as({case.of(target)})", ".squeeze()"):
            yield case.appended(statement.value, end)
    for call in case.methods("expand", "expand_as"):
        yield case.first(call, ".unsqueeze(-1)")
        for given in reversed(call.args):
            if str(number_of(given)) == places:
                yield case.replaced(given, numbers)


def _cropped(case: Case) -> str:
    """An index that keeps the first elements, as many as the target has; "" if several dimensions
    differ.
    """
    sizes = re.search(r"Target sizes: (\[.*?\])\.\s+Tensor sizes: (\[.*?\])", case.message)
    if not sizes:
        return ""
    places, given = size(sizes[1]), size(sizes[2])
    larger = [d for d, (n, m) in enumerate(zip(places, given)) if m > n]
    if len(places) != len(given) or len(larger) != 1 or larger == [0] or places[larger[0]] < 2:
        return ""
    parts = [f":{places[d]}" if d in larger else ":" for d in range(larger[0] + 1)]
    return f"[{', '.join(parts)}]"


def copied_array(case: Case) -> Iterator[Proposal]:
    """Copy an array with negative strides."""
    for call in case.calls("from_numpy", "tensor", "as_tensor", "Tensor", "FloatTensor"):
        for given in call.args[:1]:
            yield case.appended(given, ".copy()", why="A tensor cannot have negative strides.")


def repeated_dimensions(case: Case) -> Iterator[Proposal]:
    """Write repeat(4, 1) for repeat(4) of a matrix."""
    for call in case.methods("repeat", "tile"):
        missing = len(case.shape(owner(call)) or ()) - len(call.args)
        if missing > 0 and not keyword(call, "repeats"):
            yield case.proposal(case.with_argument(call, ", ".join(["1"] * missing)))


def permuted_batch(case: Case) -> Iterator[Proposal]:
    """Add the batch dimension to a permutation, or remove it."""
    many, given = (int(n) for n in re.findall(r"= (\d+)", case.message))
    for call in case.methods("permute"):
        places = [case.number(a) for a in call.args]
        if None in places or len(places) != given:
            continue
        if many == given + 1:
            new = ", ".join(map(str, [0, *[int(p or 0) + 1 for p in places]]))
            yield case.proposal(case.spanning(call.args, new), note="The batch stays first.")
        if many == given - 1 and places[0] == 0:
            new = ", ".join(str(int(p or 0) - 1) for p in places[1:])
            yield case.proposal(case.spanning(call.args, new), note="There is no batch.")


def split_sizes(case: Case) -> Iterator[Proposal]:
    """Make the last part of a split as large as the remaining size."""
    found = re.search(r"exactly to (\d+) .*split_sizes=(\[.*?\])", case.message)
    whole, sizes = (int(found[1]), size(found[2])) if found else (0, ())
    for node in case.of_type(ast.List, ast.Tuple) if len(sizes) > 1 else ():
        last, left = node.elts[-1:], whole - sum(sizes[:-1])
        if last and tuple(case.number(e) for e in node.elts) == sizes and left > 0:
            note = f"The last part is the rest of {whole}."
            yield case.replaced(last[0], str(left), note=note)


def split_lengths(case: Case) -> Iterator[Proposal]:
    """Make the last part of a data set as large as the remaining length."""
    for call in case.calls("random_split"):
        lengths = elements(call.args[1]) if len(call.args) > 1 else []
        if len(lengths) > 1:
            first = " - ".join(case.of(n) for n in lengths[:-1])
            new = f"len({case.of(call.args[0])}) - {first}"
            yield case.replaced(lengths[-1], new, note="The last part is the rest.")


def one_element(case: Case) -> Iterator[Proposal]:
    """Write append() for += of a list and a single number; or add a dimension to a 0-dim tensor."""
    for statement in case.of_type(ast.AugAssign):
        if isinstance(case.value(statement.target), list):
            held, item = case.of(statement.target), case.of(statement.value)
            why = "+= on a list iterates over its right side; append() adds one item."
            yield case.replaced(statement, f"{held}.append({item})", why=why)
    for node, tensor in case.tensors:
        if tensor.ndim == 0:
            yield case.appended(node, ".reshape(1)")
