"""Cures of labels that are texts: tensors hold numbers, so each class gets one."""

import ast
from collections.abc import Iterator
from typing import Any

from .case import Case, Proposal
from .nodes import method

MAKERS = ("tensor", "as_tensor", "Tensor", "LongTensor", "FloatTensor", "from_numpy")


def numbered(case: Case) -> Iterator[Proposal]:
    """The number that a text is; else the place of a class in the list of all of them."""
    for call in case.calls(*MAKERS):
        given = call.args[0] if call.args else None
        value = None if given is None else _value(case, given)
        texts = _texts(value)
        if isinstance(given, ast.Call) and not texts:
            new = f"torch.tensor([float(c) for c in {case.of(given)}])"
            yield case.replaced(call, new)
        if given is None or not texts:
            continue
        text = case.of(given)
        name, form, all_of_them = _each(text, value)
        kept = case.source[case.end(given) : case.end(call)] if method(call) == "tensor" else ")"
        whole = f"torch.tensor({form}{kept}"
        for read in _read_as_numbers(texts):
            yield case.replaced(call, whole.format(f"{read}({name})"))
        for known, found in _numberings(case, set(texts)):
            note = f"{known} says which number each class has."
            yield case.replaced(call, whole.format(found.format(name)), note=note)
        if all_of_them:
            new = next(n for n in ("classes", "class_names", "kinds") if n not in case.values)
            built = case.before(case.statement_of(call), f"{new} = sorted({all_of_them})")
            edit = case.replacing(call, whole.format(f"{new}.index({name})"))
            note = f"{new} are the texts in order: the number of a class is its place there."
            yield case.proposal(built, edit, note=note)


def _each(text: str, value: Any) -> tuple[str, str, str]:
    """What each text is called, what is made of all of them, and the set of them; "" of one."""
    if isinstance(value, str):
        return text, "{}", ""
    if value and isinstance(value[0], list | tuple):
        return (
            "c",
            f"[[{{}} for c in row] for row in {text}]",
            f"{{c for row in {text} for c in row}}",
        )
    return "c", f"[{{}} for c in {text}]", f"set({text})"


def _value(case: Case, node: ast.expr) -> Any:
    """What an expression is, lists and arrays as lists."""
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(case, e) for e in node.elts]
    value = case.value(node)
    value = getattr(value, "array", value)
    return value.tolist() if hasattr(value, "tolist") else value


def _texts(value: Any) -> list[str]:
    """The texts that a value is, or holds, in rows or not; [] where it holds others too."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list | tuple):
        return []
    rows = [[v] if isinstance(v, str) else v for v in value]
    held = all(isinstance(r, list | tuple) and all(isinstance(v, str) for v in r) for r in rows)
    flat = len({isinstance(v, str) for v in value}) == 1
    return [v for r in rows for v in r] if held and flat else []


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
