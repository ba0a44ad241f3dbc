"""Cures of tensors that are joined by stack and cat, and do not fit."""

import ast
import re
from collections.abc import Iterator

from .case import Case, Proposal
from .nodes import elements, method


def stacked(case: Case) -> Iterator[Proposal]:
    """Padded with zeros to one length; joined instead of stacked."""
    for call in case.calls("stack"):
        shapes = [t.shape for t in case.listed(call.args[0])] if call.args else []
        if shapes and all(s and s[1:] == shapes[0][1:] for s in shapes):
            given = case.of(call.args[0])
            new = f"torch.nn.utils.rnn.pad_sequence({given}, batch_first=True)"
            yield case.replaced(call, new, note="Shorter ones get zeros at their end.")
    yield from cropped(case)
    for node in case.of_type(ast.Attribute, ast.Call):
        if isinstance(node, ast.Attribute) and node.attr == "stack":
            yield case.renamed_to(node, "cat")
        if isinstance(node, ast.Call) and method(node) in ("stack", "cat") and node.args:
            yield from _dimensions(case, node)


def _dimensions(case: Case, call: ast.Call) -> Iterator[Proposal]:
    """A dimension more; or another one along which the tensors are joined."""
    items = elements(call.args[0])
    for item in items:
        yield case.appended(item, ".unsqueeze(0)")
        yield case.appended(item, ".unsqueeze(1)")
    shapes = [t.shape for e in items if (t := case.tensor(e)) is not None]
    if method(call) == "cat" and items and len(shapes) == len(items):
        for dim in fitting_dims(shapes):
            yield case.given(call, "dim", str(dim))


def fitting_dims(shapes: list[tuple[int, ...]]) -> list[int]:
    """The dimensions along which tensors can be joined."""
    first = shapes[0]
    return [
        d
        for d in range(len(first))
        if all(s[:d] + s[d + 1 :] == first[:d] + first[d + 1 :] for s in shapes)
    ]


def cropped(case: Case) -> Iterator[Proposal]:
    """Images of nearly the same size: the larger one without its last rows and columns."""
    sizes = re.search(r"Expected size (\d+) but got size (\d+)", case.message)
    wanted, given = (int(n) for n in sizes.groups()) if sizes else (0, 0)
    for call in case.calls("cat") if 0 < wanted - given < wanted / 2 else ():
        for item in elements(call.args[0]):
            shape = case.shape(item) or ()
            if wanted in shape[2:]:
                cut = [f":{given}" if n == wanted else ":" for n in shape]
                note = f"One is {wanted} wide, the other {given}: the rest is left out."
                yield case.appended(item, f"[{', '.join(cut)}]", note=note)


def joined_dimensions(case: Case) -> Iterator[Proposal]:
    """A dimension of size 1 for the tensors that have fewer."""
    most = max(int(case.match[1]), int(case.match[2]))
    for call in case.calls("cat", "concat", "concatenate", "hstack"):
        for item in elements(call.args[0]) if call.args else []:
            tensor = case.tensor(item)
            if tensor is None or tensor.ndim < most:
                yield case.appended(item, ".unsqueeze(1)")
                yield case.appended(item, ".unsqueeze(0)")


def listed_numbers(case: Case) -> Iterator[Proposal]:
    """Lists of numbers as tensors."""
    for node in case.calls("where", "cat"):
        given = elements(node.args[0]) if method(node) == "cat" and node.args else node.args
        lists = [a for a in given if isinstance(a, ast.List | ast.Tuple)]
        yield from case.change(*[case.replacing(a, f"torch.tensor({case.of(a)})") for a in lists])
        known = [a for a in given if isinstance(case.value(a), list | bool)]
        yield from case.change(*[case.replacing(a, f"torch.tensor({case.of(a)})") for a in known])


def stacked_numbers(case: Case) -> Iterator[Proposal]:
    """Numbers as tensors."""
    for node in case.calls("stack", "cat"):
        if not node.args:
            continue
        (joined, *_) = node.args
        for form in ("torch.tensor({})", "torch.tensor([{}])"):
            yield from case.change(*case.numbers_as(form, elements(joined)))
        for built in reversed(case.makers(joined)):
            begun = elements(built.value)
            if begun and all(isinstance(e, ast.Constant) for e in begun):
                yield case.replaced(built.value, "[]")
        yield case.replaced(node, f"torch.tensor({case.of(joined)})", weak=True)
        for item in [a for s in case.calls("append", everywhere=True) for a in s.args[:1]]:
            if isinstance(item, ast.Call) and method(item) == "item":
                yield case.without(item)
