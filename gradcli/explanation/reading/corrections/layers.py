"""Cures of layers that are made for other sizes than they are given."""

import ast
from collections.abc import Iterator

from ....snippets.python.values import Instance
from .case import Case, Proposal, cures, weight_of
from .seeds import product, size
from .text import Edit, dotted, is_number, method, number_of


def resized_layer(case: Case, a: int, b: int, c: int, d: int) -> Iterator[Proposal]:
    """The layer whose weight is d×c takes b inputs: the number where it is made; or a flattened or
    transposed input where its sizes say so.
    """
    for node in case.calls():
        if node.args and isinstance(case.value(node.func), Instance):
            x = node.args[0]
            tensor = case.tensor(x)
            shape = tensor.shape if tensor is not None else ()
            if shape and len(shape) > 2 and product(shape) // shape[0] == c:
                yield case.appended(x, ".flatten(1)")
            if len(shape) == 1 and shape[0] != c and c == 1:
                yield case.appended(x, ".unsqueeze(1)")
            if a == c and (len(shape) == 2 or tensor is None):
                yield case.appended(x, ".T")
    layers = [n for n in case.calls("Linear", everywhere=True) if len(n.args) >= 2]
    exact = [n for n in layers if is_number(n.args[0], c) and is_number(n.args[1], d)]
    yield from flattened_before(case, exact)
    for node in [*exact, *[n for n in layers if n not in exact]]:
        first = node.args[0]
        if isinstance(first, ast.Constant) or node in exact:
            why = f"The layer takes {c} features and is given {b}."
            yield case.replaced(first, str(b), why=why)
    for node in layers:
        if isinstance(node.args[0], ast.Name):
            for text in (*outputs_called(case, layers, b), str(b)):
                yield case.replaced(node.args[0], text, weak=True)


def outputs_called(case: Case, layers: list[ast.Call], number: int) -> list[str]:
    """What the program calls a number of features that a layer gives."""
    found = []
    for node in layers:
        made = case.text.statement(node)
        layer = case.value(made.targets[0]) if isinstance(made, ast.Assign) else None
        weight = weight_of(layer)
        given = weight is not None and weight.shape[0] == number
        if given and number_of(node.args[1]) is None:
            found.append(case.text.of(node.args[1]))
    return list(dict.fromkeys(found))


def flattened_before(case: Case, layers: list[ast.Call]) -> Iterator[Proposal]:
    """nn.Flatten() before the first linear layer after convolutions."""
    for node in layers:
        outer = case.text.parents.get(node)
        if not isinstance(outer, ast.Call) or method(outer) != "Sequential":
            continue
        before = outer.args[: outer.args.index(node)]
        if any(method(b).startswith(("Conv", "MaxPool", "AvgPool", "Adaptive")) for b in before):
            prefix = dotted(node.func).rpartition(".")[0]
            at = case.text.start(node)
            new = f"{prefix}.Flatten(), " if prefix else "torch.nn.Flatten(), "
            why = "A linear layer takes rows of features; what comes here are images."
            yield case.proposal(Edit(at, at, new), why=why)


@cures(
    r"input.size\(-1\) must be equal to input_size. Expected (\d+), got (\d+)",
    "A recurrent layer takes as many features as its input has.",
)
def recurrent_features(case: Case) -> Iterator[Proposal]:
    """The number of features where the layer is made."""
    for call in case.calls("RNN", "LSTM", "GRU", everywhere=True):
        first = case.argument(call, 0, "input_size")
        if first is not None:
            yield case.replaced(first, case.match[2])


@cures(
    r"running_(?:mean|var) should contain (\d+) elements not (\d+)",
    "A norm has a mean and a variance for each feature of its input.",
)
def normalised_features(case: Case) -> Iterator[Proposal]:
    """The number of features where the layer is made."""
    have, want = case.match[1], case.match[2]
    for call in case.calls("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", everywhere=True):
        if call.args and is_number(call.args[0], int(want)):
            yield case.replaced(call.args[0], have)


@cures(
    r"expected (2D or 3D|4D|5D) input \(got (\d)D input\)",
    "Each batch norm takes inputs of one number of dimensions: batch, features, then places.",
)
def norm_of_dimensions(case: Case) -> Iterator[Proposal]:
    """A single image as a batch of one; else the norm for as many dimensions as there are."""
    for call in case.calls():
        image = case.tensor(call.args[0]) if call.args else None
        if image is not None and image.ndim == 3 and case.match[1] == "4D":
            yield case.appended(call.args[0], ".unsqueeze(0)", note="A batch of one image.")
    right = {"2": "BatchNorm1d", "3": "BatchNorm1d", "4": "BatchNorm2d", "5": "BatchNorm3d"}
    for name in case.attributes("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", everywhere=True):
        yield case.renamed_to(name, right[case.match[2]])


@cures(
    r"Given normalized_shape=\[(\d+)\], expected input with shape .*size\[(.*)\]",
    "LayerNorm goes over the last dimension, and has its size.",
)
def normalised_shape(case: Case) -> Iterator[Proposal]:
    """The size of the last dimension where the layer is made."""
    for call in case.calls("LayerNorm", everywhere=True):
        if call.args:
            yield case.replaced(call.args[0], str(size(case.match[2])[-1]))


@cures(r"embed_dim must be divisible by num_heads", "Each head has an equal share of features.")
def head_count(case: Case) -> Iterator[Proposal]:
    """The nearest number of heads that divides them."""
    for call in case.calls("MultiheadAttention", everywhere=True):
        width, heads = (case.argument(call, k, n) for k, n in ((0, "embed_dim"), (1, "num_heads")))
        many, few = number_of(width), number_of(heads)
        if heads is not None and many and few:
            near = max(n for n in range(1, few + 1) if many % n == 0)
            yield case.replaced(heads, str(near))


@cures(
    r"Expected more than 1 value per channel when training",
    "While training a batch norm takes mean and variance of the batch: one sample has none.",
)
def norm_of_one(case: Case) -> Iterator[Proposal]:
    """eval(): the running mean and variance; or more samples."""
    for call in case.calls():
        if isinstance(case.value(call.func), Instance) and dotted(call.func).count(".") == 0:
            text = f"{case.text.of(call.func)}.eval()"
            note = "In eval() the running statistics are used; batches of several need none of it."
            yield case.proposal(case.text.before(case.statement, text), note=note)


@cures(
    r"Expected hidden(?:\[\d\])? size \((.*?)\), got \[(.*?)\]",
    "A state has a row for each sample: layers, batch, features.",
)
def state_size(case: Case) -> Iterator[Proposal]:
    """The sizes where the states are made."""
    wanted, given = size(case.match[1]), size(case.match[2])
    edits = []
    for call in case.calls(everywhere=True):
        numbers = tuple(number_of(a) for a in call.args)
        if dotted(call.func).startswith("torch.") and numbers == given:
            edits += [
                case.text.replacing(a, str(n))
                for a, n, old in zip(call.args, wanted, given)
                if n != old
            ]
    yield from case.together(edits)
    for node in case.operands:
        tensor = case.tensor(node)
        if tensor is not None and tensor.shape == given and given[1] > wanted[1]:
            new = f"{case.text.of(node)}[:, :{wanted[1]}].contiguous()"
            yield case.replaced(node, new, weak=True)


@cures(
    r"Calculated padded input size per channel: .*Kernel size: \((\d+) ",
    "A kernel that is larger than the image has no place in it.",
)
def larger_kernel(case: Case) -> Iterator[Proposal]:
    """Padding by half of the kernel, which keeps the size of the image."""
    kernel = int(case.match[1])
    for call in case.calls("Conv1d", "Conv2d", "Conv3d", everywhere=True):
        if number_of(case.argument(call, 2, "kernel_size")) == kernel:
            yield case.proposal(case.with_keyword(call, "padding", str(kernel // 2)))


@cures(
    r"Given groups=(\d+), weight of size \[(.*?)\], expected input\[(.*?)\] to have (\d+) "
    r"channels, but got (\d+) channels",
    "A convolution has as many input channels as its input.",
)
def channels(case: Case) -> Iterator[Proposal]:
    """The number of channels where the layer is made; or the channels put second."""
    expected, got = int(case.match[4]), int(case.match[5])
    shape = size(case.match[3])
    if shape and shape[-1] == expected:
        order = ", ".join(map(str, [0, len(shape) - 1, *range(1, len(shape) - 1)]))
        for node in case.calls():
            if node.args:
                yield case.appended(node.args[0], f".permute({order})")
    for call in case.calls():
        x = case.tensor(call.args[0]) if call.args else None
        if x is not None and expected == 1 and x.shape[0] == got and x.ndim == len(shape) - 1:
            note = "A batch of images of one channel: batch, channel, height, width."
            yield case.appended(call.args[0], ".unsqueeze(1)", note=note)
    for node in case.all_nodes:
        if method(node).startswith("Conv") and node.args and is_number(node.args[0], expected):
            yield case.replaced(node.args[0], str(got))
    for node in case.calls(everywhere=True):
        if (
            dotted(node.func).startswith("torch.")
            and len(node.args) == 4
            and is_number(node.args[1], got)
        ):
            yield case.replaced(node.args[1], str(expected))
