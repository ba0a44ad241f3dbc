"""Cures of labels that are texts: tensors hold numbers, so each class gets one."""

import ast
from collections.abc import Iterator
from typing import Any

from .case import Case, Proposal

MAKERS = ("tensor", "as_tensor", "Tensor", "LongTensor", "FloatTensor", "from_numpy")


def numbered(case: Case) -> Iterator[Proposal]:
    """The number that a text is; else the place of a class in the list of all of them."""
    for call in case.calls(*MAKERS):
        given = call.args[0] if call.args else None
        texts = _texts(case, given)
        if isinstance(given, ast.Call) and not texts:
            new = f"torch.tensor([float(c) for c in {case.of(given)}])"
            yield case.replaced(call, new)
        if given is None or not texts:
            continue
        text, alone = case.of(given), isinstance(case.value(given), str)
        whole = "torch.tensor({})" if alone else f"torch.tensor([{{}} for c in {text}])"
        name = text if alone else "c"
        for read in _read_as_numbers(texts):
            yield case.replaced(call, whole.format(f"{read}({name})"))
        for known, form in _numberings(case, set(texts)):
            note = f"{known} says which number each class has."
            yield case.replaced(call, whole.format(form.format(name)), note=note)
        if not alone:
            new = next(n for n in ("classes", "class_names", "kinds") if n not in case.values)
            built = case.before(case.statement_of(call), f"{new} = sorted(set({text}))")
            edit = case.replacing(call, whole.format(f"{new}.index(c)"))
            note = f"{new} are the texts in order: the number of a class is its place there."
            yield case.proposal(built, edit, note=note)


def _texts(case: Case, node: ast.expr | None) -> list[str]:
    """The texts that an expression is, or holds; [] where it holds others too."""
    if isinstance(node, ast.List | ast.Tuple):
        value: Any = [case.value(e) for e in node.elts]
    else:
        value = case.value(node)
        value = getattr(value, "array", value)
        value = value.tolist() if hasattr(value, "tolist") else value
    value = [value] if isinstance(value, str) else value
    held = isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)
    return list(value) if held else []


def _read_as_numbers(texts: list[str]) -> Iterator[str]:
    """int or float, where that is how texts are numbers."""
    for read in (int, float):
        try:
            [read(t) for t in texts]
        except ValueError:
            continue
        yield read.__name__
        return


def _numberings(case: Case, texts: set[str]) -> Iterator[tuple[str, str]]:
    """What the program has that numbers these classes: a list of their names, or a dict."""
    for name, value in case.values.items():
        if isinstance(value, dict) and texts <= value.keys():
            if all(isinstance(value[t], int) for t in texts):
                yield name, f"{name}[{{}}]"
        elif isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
            whole = texts <= set(value) and len(set(value)) == len(value)
            yield from [(name, f"{name}.index({{}})")] if whole else []
