"""Cures of states that are loaded into another model than they were taken from."""

import re
from collections.abc import Iterator

from .case import Case, Proposal
from .nodes import method, owner, size, value_of


def other_state(case: Case) -> Iterator[Proposal]:
    """The layer with the sizes of the state; or the tensors alone that fit."""
    saved, own = size(case.match[2]), size(case.match[3])
    for call in case.calls("Linear", "Embedding", everywhere=True):
        order = -1 if method(call) == "Linear" else 1
        given = [value_of(a) for a in call.args[:2]]
        if given == list(own)[::order] and len(saved) == 2:
            edits = [case.replacing(a, str(n)) for a, n in zip(call.args, saved[::order])]
            yield case.proposal(*edits, weak=True)
    for call in case.calls("load_state_dict"):
        state, model = case.operand(call.args[0]), case.of(owner(call))
        fitting = (
            f"{{k: v for k, v in {state}.items() if v.shape == {model}.state_dict()[k].shape}}"
        )
        note = "Layers of other sizes, as a new last one, keep the numbers that they begin with."
        new = f"{model}.load_state_dict({fitting}, strict=False)"
        yield case.replaced(call, new, note=note)


def other_names(case: Case) -> Iterator[Proposal]:
    """Without, or with, the first part of the names; else what is there alone."""
    listed = dict(re.findall(r"(Missing|Unexpected) key\(s\).*?: (.*)", case.message))
    missing, given = (re.findall(r'"(.*?)"', listed.get(k, "")) for k in ("Missing", "Unexpected"))
    for call in case.calls("load_state_dict"):
        for name, other in zip(missing[:1], given[:1]):
            key = ""
            if other.endswith(name):
                key = f"k.removeprefix({other.removesuffix(name)!r})"
            elif name.endswith(other):
                key = f"{name.removesuffix(other)!r} + k"
            if key:
                new = f"{{{key}: v for k, v in {case.operand(call.args[0])}.items()}}"
                saved = "The state was saved from a model that has"
                why = f"{saved} {other} where this one has {name}."
                yield case.replaced(call.args[0], new, why=why)
        note = "What is not in the state keeps the numbers that it begins with."
        yield case.given(call, "strict", "False", note=note, weak=True)
