"""Cures of layers that are made for other sizes than they are given."""

import ast
from collections.abc import Iterator
from math import prod

from .case import Case, Proposal, weight_of
from .nodes import dotted, method, number_of, size, target_of

NORMS = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d")


def resized_layer(case: Case, a: int, b: int, c: int, d: int) -> Iterator[Proposal]:
    """The layer whose weight is d×c takes b inputs: the number where it is made; or a flattened or
    transposed input where its sizes say so.
    """
    for call in case.calls():
        if call.args and case.is_module(call.func):
            x, shape = call.args[0], case.shape(call.args[0])
            sizes = shape or ()
            if len(sizes) > 2 and prod(sizes) // sizes[0] == c:
                yield case.appended(x, ".flatten(1)")
            if len(sizes) == 1 and sizes[0] != c and c == 1:
                yield case.appended(x, ".unsqueeze(1)")
            if a == c and (len(sizes) == 2 or shape is None):
                yield case.appended(x, ".T")
    layers = [n for n in case.calls("Linear", everywhere=True) if len(n.args) >= 2]
    exact = [n for n in layers if [number_of(x) for x in n.args[:2]] == [c, d]]
    yield from flattened_before(case, exact)
    for node in [*exact, *[n for n in layers if n not in exact]]:
        if isinstance(node.args[0], ast.Constant) or node in exact:
            why = f"The layer takes {c} features and is given {b}."
            yield case.replaced(node.args[0], str(b), why=why)
    for node in layers:
        if isinstance(node.args[0], ast.Name):
            for text in (*outputs_called(case, layers, b), str(b)):
                yield case.replaced(node.args[0], text, weak=True)


def outputs_called(case: Case, layers: list[ast.Call], number: int) -> list[str]:
    """What the program calls a number of features that a layer gives."""
    result = []
    for node in layers:
        weight = weight_of(case.value(target_of(case.statement_of(node), ast.AST)))
        if weight is not None and weight.shape[0] == number and number_of(node.args[1]) is None:
            result.append(case.of(node.args[1]))
    return list(dict.fromkeys(result))


def flattened_before(case: Case, layers: list[ast.Call]) -> Iterator[Proposal]:
    """nn.Flatten() before the first linear layer after convolutions."""
    for node in layers:
        outer = case.parents.get(node)
        if not isinstance(outer, ast.Call) or method(outer) != "Sequential":
            continue
        before = outer.args[: outer.args.index(node)]
        if any(method(b).startswith(("Conv", "MaxPool", "AvgPool", "Adaptive")) for b in before):
            prefix = dotted(node.func).rpartition(".")[0] or "torch.nn"
            why = "A linear layer takes rows of features; what comes here are images."
            yield case.proposal(case.inserting(node, f"{prefix}.Flatten(), "), why=why)


def normalised_features(case: Case) -> Iterator[Proposal]:
    """The number of features where the layer is made."""
    for call in case.calls(*NORMS, everywhere=True):
        if call.args and number_of(call.args[0]) == int(case.match[2]):
            yield case.replaced(call.args[0], case.match[1])


def norm_of_dimensions(case: Case) -> Iterator[Proposal]:
    """A single image as a batch of one; else the norm for as many dimensions as there are."""
    for call in case.calls():
        image = case.shape(call.args[0]) if call.args else None
        if len(image or ()) == 3 and case.match[1] == "4D":
            yield case.appended(call.args[0], ".unsqueeze(0)", note="A batch of one image.")
    right = {"2": "BatchNorm1d", "3": "BatchNorm1d", "4": "BatchNorm2d", "5": "BatchNorm3d"}
    for name in case.attributes(*NORMS, everywhere=True):
        yield case.renamed_to(name, right[case.match[2]])


def normalised_shape(case: Case) -> Iterator[Proposal]:
    """The size of the last dimension where the layer is made."""
    for call in case.calls("LayerNorm", everywhere=True):
        if call.args:
            yield case.replaced(call.args[0], str(size(case.match[2])[-1]))


def norm_of_one(case: Case) -> Iterator[Proposal]:
    """eval(): the running mean and variance; or more samples."""
    for call in case.calls():
        if case.is_module(call.func) and "." not in dotted(call.func):
            text = f"{case.of(call.func)}.eval()"
            note = "In eval() the running statistics are used; batches of several need none of it."
            yield case.proposal(case.before(case.statement, text), note=note)


def channels(case: Case) -> Iterator[Proposal]:
    """The number of channels where the layer is made; or the channels put second."""
    expected, got = int(case.match[4]), int(case.match[5])
    shape = size(case.match[3])
    given = [c.args[0] for c in case.calls() if c.args]
    if shape and shape[-1] == expected:
        order = ", ".join(map(str, [0, len(shape) - 1, *range(1, len(shape) - 1)]))
        for x in given:
            yield case.appended(x, f".permute({order})")
    for x in given:
        sizes = case.shape(x) or ()
        if expected == 1 and sizes[:1] == (got,) and len(sizes) == len(shape) - 1:
            note = "A batch of images of one channel: batch, channel, height, width."
            yield case.appended(x, ".unsqueeze(1)", note=note)
    built = [c for c in case.calls(everywhere=True) if c.args]
    for call in built:
        if method(call).startswith("Conv") and number_of(call.args[0]) == expected:
            yield case.replaced(call.args[0], str(got))
    for call in built:
        image = dotted(call.func).startswith("torch.") and len(call.args) == 4
        if image and number_of(call.args[1]) == got:
            yield case.replaced(call.args[1], str(expected))
