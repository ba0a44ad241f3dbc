"""Cures of recurrent layers, which give a tuple: their outputs, and their last state."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal
from .nodes import argument, calls_in, dotted, keyword, method, number_of, size
from .text import Edit

RECURRENT = ("RNN", "LSTM", "GRU")


def first_output(case: Case, node: ast.expr) -> Iterator[Proposal]:
    """`out, _ = lstm(x)`: a recurrent layer gives its outputs and its last state."""
    for built in case.makers(node):
        if isinstance(built.value, ast.Call) and case.is_module(built.value.func):
            why = f"Line {built.lineno} gives a tuple: the outputs, and the last state."
            yield case.proposal(case.adding(built.targets[0], ", _"), why=why)
            yield case.appended(built.value, "[0]", why=why)


def in_sequential(case: Case) -> Iterator[Proposal]:
    """A layer after it that takes the outputs; or the last of them, where that is what fits."""
    for sequential in case.calls("Sequential", everywhere=True):
        layers = [c for a in sequential.args for c in _recurrent(case, a)]
        items = [_item(case, layer, sequential) for layer in layers]
        inner = [i for i in items if not _is_last(i, sequential)]
        if not inner:
            continue
        first = keyword(layers[0], "batch_first") if isinstance(layers[0], ast.Call) else None
        last = "outputs[0][:, -1]" if first else "outputs[0][-1]"
        for result, note in (("outputs[0]", EACH), (last, LAST)):
            lines = [f"class Outputs({_module(sequential)}):"]
            lines += ["    def forward(self, outputs):", f"        return {result}", "", ""]
            edits = [_after(case, i, k) for k, i in enumerate(inner)]
            top = case.outermost(sequential)
            yield case.proposal(case.before(top, *lines), *edits, note=note)


EACH = "Outputs leaves the last state out."
LAST = "Outputs takes what the layer gives for the last step of the sequence."


def _recurrent(case: Case, node: ast.expr) -> list[ast.expr]:
    """The recurrent layers in an argument of Sequential, also one that has a name."""
    built = calls_in(node, *RECURRENT)
    if built:
        return [*built]
    return [node] if method(case.made(node)) in RECURRENT else []


def _item(case: Case, layer: ast.expr, sequential: ast.Call) -> ast.expr:
    """What stands for a layer in Sequential: itself, or its pair in an OrderedDict."""
    outer = case.parents[layer]
    return outer if isinstance(outer, ast.Tuple) and outer not in sequential.args else layer


def _is_last(item: ast.expr, sequential: ast.Call) -> bool:
    return bool(sequential.args) and sequential.args[-1] is item


def _after(case: Case, item: ast.expr, number: int) -> Edit:
    name = f"outputs{number or ''}"
    new = f'("{name}", Outputs())' if isinstance(item, ast.Tuple) else "Outputs()"
    return case.adding(item, f", {new}")


def _module(sequential: ast.Call) -> str:
    return f"{dotted(sequential.func).rpartition('.')[0] or 'torch.nn'}.Module"


def recurrent_features(case: Case) -> Iterator[Proposal]:
    """The number of features where the layer is made."""
    for call in case.calls("RNN", "LSTM", "GRU", everywhere=True):
        first = argument(call, 0, "input_size")
        if first is not None:
            yield case.replaced(first, case.match[2])


def state_size(case: Case) -> Iterator[Proposal]:
    """The sizes where the states are made."""
    wanted, given = size(case.match[1]), size(case.match[2])
    edits = []
    for call in case.calls(everywhere=True):
        numbers = tuple(number_of(a) for a in call.args)
        if dotted(call.func).startswith("torch.") and numbers == given:
            sizes = zip(call.args, wanted, given)
            edits += [case.replacing(a, str(n)) for a, n, old in sizes if n != old]
    yield from case.change(*edits)
    for node, tensor in case.tensors:
        if tensor.shape == given and given[1] > wanted[1]:
            new = f"{case.of(node)}[:, :{wanted[1]}].contiguous()"
            yield case.replaced(node, new, weak=True)
