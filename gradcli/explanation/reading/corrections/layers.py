"""Corrections of layers whose sizes do not match their input, and of states loaded into them."""

import ast
import re
from collections.abc import Iterator
from math import isqrt, prod

from ....snippets.eager.tensor import Tensor
from ..steps import records_behind
from .case import Case, Proposal, layers_of, weight_of
from .convolutions import exchanged_channels
from .nodes import (
    argument,
    calls_in,
    dotted,
    elements,
    factors_of,
    keyword,
    method,
    number_of,
    owner,
    parts,
    size,
    target_of,
    targets,
    value_of,
    within,
)
from .text import Edit

RECURRENT = ("RNN", "LSTM", "GRU")
POOLED = (
    "The layer takes {0} features, the number of channels: each channel is one feature, its "
    "mean over all positions."
)
NORMS = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d")


def fitted_input(case: Case, a: int, b: int, c: int) -> Iterator[Proposal]:
    """Add a batch dimension, flatten samples, or transpose the input of a layer with c inputs that
    gets an a×b matrix.
    """
    for call in case.calls():
        if call.args and case.is_module(call.func):
            x, shape = call.args[0], case.shape(call.args[0])
            sizes = shape or ()
            if len(sizes) == 3 and a * b == c:
                note = "A batch of one image: without it the channels are treated as the batch."
                yield case.appended(x, ".unsqueeze(0)", note=note)
            if shape is None and c > b and c % b == 0 == a % (c // b):
                note = "Each sample remains a separate row."
                yield case.appended(x, ".flatten(1)", note=note)
            if len(sizes) > 2 and prod(sizes) // sizes[0] == c:
                yield case.appended(x, ".flatten(1)")
            if len(sizes) > 3 and sizes[-1] * sizes[-2] == c and b == sizes[-1]:
                yield case.appended(x, ".flatten(-2)", note="This concatenates the heads again.")
            if len(sizes) > 2 and sizes[1] == c != sizes[-1]:
                yield from _channels_as_features(case, call, len(sizes), c)
            if len(sizes) == 1 and sizes[0] != c and c == 1:
                yield case.appended(x, ".unsqueeze(1)")
            if a == c and (len(sizes) == 2 or shape is None):
                yield case.appended(x, ".T")


def _channels_as_features(
    case: Case, call: ast.Call, dimensions: int, channels: int
) -> Iterator[Proposal]:
    """Give a linear layer the mean of each channel over all places, if it follows a convolution; or
    the channels of each place.
    """
    x = call.args[0]
    places = tuple(range(2, dimensions))
    if case.calls(f"Conv{len(places)}d", everywhere=True):
        dims = places if len(places) > 1 else places[0]
        yield case.appended(x, f".mean(dim={dims})", why=POOLED.format(channels))
    why = "A linear layer expects the features last; here the channels are the second dimension."
    if dimensions == 3:
        yield case.appended(x, ".transpose(1, 2)", why=why)
    else:
        moved = case.appending(x, ".movedim(1, -1)")
        yield case.proposal(moved, case.adding(call, ".movedim(-1, 1)"), why=why)


def resized_layer(case: Case, a: int, b: int, c: int, d: int) -> Iterator[Proposal]:
    """Change a layer with a d×c weight to b inputs, where it is constructed; or flatten or
    transpose its a×b input.
    """
    fitted = [*fitted_input(case, a, b, c)]
    yield from fitted
    yield from reduced_elsewhere(case)
    for proposal in _resized(case, b, c, d):  # weak if the input can be fitted to the layer
        yield proposal._replace(weak=proposal.weak or bool(fitted))
    yield from resized_input(case, b, c)


def _resized(case: Case, b: int, c: int, d: int) -> Iterator[Proposal]:
    """Change the number of inputs where the layer is constructed."""
    layers = [n for n in case.calls("Linear", everywhere=True) if len(n.args) >= 2]
    exact = [n for n in layers if [number_of(x) for x in n.args[:2]] == [c, d]]
    yield from flattened_before(case, exact)
    yield from _exchanged_sizes(case, layers, b, c, d)
    why = f"The layer takes {c} features but receives {b}."
    for old, new in _sizes_of_input(case, layers, exact, b, c):
        yield case.replaced(old, new, why=why, reprints=True)
    for node in layers:
        if isinstance(node.args[0], ast.Name):
            times = [f"{node.args[0].id} * {b // c}"] if b % c == 0 and b > c else []
            names = (*outputs_called(case, layers, b), *arguments_called(case, node, b))
            for text in (*times, *names, str(b)):
                yield case.replaced(node.args[0], text, weak=True, reprints=True)


def _exchanged_sizes(
    case: Case, layers: list[ast.Call], b: int, c: int, d: int
) -> Iterator[Proposal]:
    """Write Linear(d, c) for Linear(c, d) that is given d features, if another layer takes c."""
    for node in layers if b == d else ():
        others = [case.number(n.args[0]) for n in layers if n is not node]
        if [case.number(a) for a in node.args[:2]] == [c, d] and c in others:
            why = f"The layer receives {d} features, and the next one takes {c}."
            yield case.exchanged(node.args[0], node.args[1], why=why, reprints=True)


def _sizes_of_input(
    case: Case, layers: list[ast.Call], exact: list[ast.Call], b: int, c: int
) -> Iterator[tuple[ast.expr, str]]:
    """The expressions for the number of inputs c of a Linear layer, each with an expression for b
    inputs; the `exact` layers, whose sizes are written as numbers, come first.
    """
    for node in [*exact, *[n for n in layers if n not in exact]]:
        if isinstance(node.args[0], ast.Constant) or number_of(node.args[0]) == c:
            yield node.args[0], str(b)
    for node in layers:
        product = other_product(case, node.args[0], b, c) if node not in exact else ""
        if product:
            yield node.args[0], product
    joined = list(_joined_sizes(case, layers, b, c))
    yield from joined if case.calls("cat", everywhere=True) else ()
    for node in layers:
        for given in given_for(case, node.args[0]):
            if case.number(given) == c:
                yield given, str(b)
    yield from joined


def _joined_sizes(
    case: Case, layers: list[ast.Call], b: int, c: int
) -> Iterator[tuple[ast.expr, str]]:
    """The sum of two arguments of a class as the number of inputs of a layer, for features that are
    concatenated.
    """
    for node in layers:
        first = node.args[0]
        own = case.number(first)
        taken = numbers_given(case, node).get(dotted(first)) if own is None else own
        for name in arguments_called(case, node, b - c) if taken == c < b else ():
            yield first, f"{case.of(first)} + {name}"


def reduced_elsewhere(case: Case) -> Iterator[Proposal]:
    """Write mean(dim=1) for mean(dim=2), if the layer needs the features."""
    given = [a for c in case.calls() for a in c.args[:1] if case.is_module(c.func)]
    for reduction in [c for a in given for c in calls_in(case.made(a), "mean", "sum", "amax")]:
        place = argument(reduction, 0 if dotted(owner(reduction)) != "torch" else 1, "dim")
        place = argument(reduction, 9, "axis") if place is None else place
        if place is not None and case.of(place) in ("2", "-1"):
            why = "The last dimension has the features: the mean is over the dimension before it."
            yield case.replaced(place, "1", why=why)


def other_product(case: Case, node: ast.expr, given: int, wanted: int) -> str:
    """A product such as hidden * 7 with other integer factors, so that it equals `given` and not
    `wanted`; "" if the node is no such product.
    """
    factors = factors_of(node)
    numbers = [n for f in factors if (n := number_of(f)) is not None]
    names = [case.of(f) for f in factors if number_of(f) is None]
    if len(factors) < 2 or not names or wanted % prod(numbers):
        return ""
    rest = wanted // prod(numbers)
    if not rest or given % rest:
        return ""
    number = given // rest
    side = isqrt(number)
    square = [str(side)] * 2 if side * side == number > 1 else [str(number)]
    return " * ".join(names + (square if number > 1 else []))


def resized_input(case: Case, given: int, wanted: int, place: int = -1) -> Iterator[Proposal]:
    """Change the size where an input is created, for a layer that accepts another size."""
    for call in case.calls():
        for x in call.args[:1] if case.is_module(call.func) else ():
            made = case.made(x)
            if not (isinstance(made, ast.Call) and dotted(made.func).startswith("torch.")):
                continue
            sizes = [a for a in made.args if number_of(a) is not None]
            if len(sizes) > 1 and number_of(sizes[place]) == given:
                note = f"The layer expects size {wanted}; this input has {given}."
                yield case.replaced(sizes[place], str(wanted), note=note, weak=True)


def outputs_called(case: Case, layers: list[ast.Call], number: int) -> list[str]:
    """Variables of the program for a number of features that a layer returns."""
    result = []
    for node in layers:
        weight = weight_of(case.value(target_of(case.statement_of(node), ast.AST)))
        if weight is not None and weight.shape[0] == number and number_of(node.args[1]) is None:
            result.append(case.of(node.args[1]))
    return list(dict.fromkeys(result))


def arguments_called(case: Case, node: ast.AST, number: int) -> list[str]:
    """The argument of the enclosing function that has this value, if there is only one."""
    fitting = [n for n, value in numbers_given(case, node).items() if value == number]
    return fitting if len(fitting) == 1 else []


def numbers_given(case: Case, node: ast.AST) -> dict[str, int | None]:
    """The values of the arguments of the enclosing function: defaults, or those with which the
    class is constructed.
    """
    function = case.function_of(node)
    if function is None:
        return {}
    names = [a.arg for a in function.args.args]
    numbers = dict(zip(reversed(names), map(case.number, reversed(function.args.defaults))))
    cls = case.parents.get(function)
    for call in case.calls(everywhere=True):
        if isinstance(cls, ast.ClassDef) and method(call) == cls.name:
            numbers |= dict(zip(names[1:], map(case.number, call.args)))
            numbers |= {k.arg or "": case.number(k.value) for k in call.keywords}
    return numbers


def flattened_before(case: Case, layers: list[ast.Call]) -> Iterator[Proposal]:
    """Insert nn.Flatten() before the first linear layer after convolutions."""
    for node in layers:
        outer = case.parents.get(node)
        if not isinstance(outer, ast.Call) or method(outer) != "Sequential":
            continue
        before = outer.args[: outer.args.index(node)]
        if any(method(b).startswith(("Conv", "MaxPool", "AvgPool", "Adaptive")) for b in before):
            prefix = dotted(node.func).rpartition(".")[0] or "torch.nn"
            why = "A linear layer expects rows of features, but receives images here."
            yield from _pooled_before(case, node, before, prefix)
            edit = case.inserting(node, f"{prefix}.Flatten(), ")
            yield case.proposal(edit, why=why, reprints=True)


def _pooled_before(
    case: Case, node: ast.Call, before: list[ast.expr], prefix: str
) -> Iterator[Proposal]:
    """Insert global average pooling before a linear layer that takes as many features as the last
    convolution has channels.
    """
    convolutions = [b for b in before if re.fullmatch(r"Conv\dd", method(b))]
    if not convolutions or any(method(b).startswith(("Flatten", "Linear")) for b in before):
        return
    last, features = convolutions[-1], case.number(node.args[0])
    given = argument(last, 1, "out_channels")  # type: ignore[arg-type]
    if features is not None and case.number(given) == features:
        pooling = f"{prefix}.AdaptiveAvgPool{method(last)[-2:]}(1), {prefix}.Flatten(), "
        why = POOLED.format(features)
        yield case.proposal(case.inserting(node, pooling), why=why, reprints=True)


def normalised_features(case: Case) -> Iterator[Proposal]:
    """Move the features to dimension 1; or change the number of features where the layer is
    constructed.
    """
    yield from _features_second(case)
    norms = [c for c in case.calls(*NORMS, everywhere=True) if c.args]
    for call in norms:
        if number_of(call.args[0]) == int(case.match[2]):
            yield case.replaced(call.args[0], case.match[1], reprints=True)
    for call in norms:
        text = _features_before(case, call)
        if number_of(call.args[0]) is None and text not in ("", case.of(call.args[0])):
            why = "A norm needs the number of features of the layer before it."
            yield case.replaced(call.args[0], text, why=why, reprints=True)


def _features_second(case: Case) -> Iterator[Proposal]:
    """Write norm(x.transpose(1, 2)).transpose(1, 2) for sequences with features in the last
    dimension.
    """
    for call in case.calls():
        x = call.args[0] if call.args and "Norm" in case.called_class(call) else None
        shape = case.shape(x) or ()
        if x is not None and len(shape) == 3 and shape[-1] == int(case.match[2]):
            new = f"{case.of(call.func)}({case.operand(x)}.transpose(1, 2)).transpose(1, 2)"
            why = "The features are last here; a batch norm expects them second."
            yield case.replaced(call, new, why=why)


def _features_before(case: Case, norm: ast.Call) -> str:
    """The source text for the number of features of the layer before a norm."""
    layers = case.calls("Linear", "Conv1d", "Conv2d", "Conv3d", everywhere=True)
    before = [c for c in layers if case.start(c) < case.start(norm) and len(c.args) > 1]
    near = [c for c in before if case.function_of(c) is case.function_of(norm)]
    return case.of(near[-1].args[1]) if near else ""


def norm_of_dimensions(case: Case) -> Iterator[Proposal]:
    """Add a batch dimension to a single image; or use the norm for this number of dimensions."""
    for call in case.calls():
        image = case.shape(call.args[0]) if call.args else None
        if len(image or ()) == 3 and case.match[1] == "4D":
            yield case.appended(call.args[0], ".unsqueeze(0)", note="A batch of one image.")
    right = {"2": "BatchNorm1d", "3": "BatchNorm1d", "4": "BatchNorm2d", "5": "BatchNorm3d"}
    for name in case.attributes(*NORMS, everywhere=True):
        yield case.renamed_to(name, right[case.match[2]], reprints=True)


def normalised_shape(case: Case) -> Iterator[Proposal]:
    """Move the dimension of the normalised size to the end; or change that size where the layer is
    constructed.
    """
    wanted, shape = int(case.match[1]), size(case.match[2])
    for call in case.calls():
        for x in call.args[:1] if case.is_module(call.func) else ():
            if _features_last(case.tensor(x)):
                yield from _normalised_size(case, shape[-1])
            if case.shape(x) == shape and shape[1:].count(wanted) == 1 and len(shape) > 2:
                turned = f".transpose({shape.index(wanted, 1)}, -1)"
                note = (
                    f"The norm is over dimension {shape.index(wanted, 1)}, which has size {wanted}."
                )
                edits = (case.appending(x, turned), case.adding(call, turned))
                yield case.proposal(*edits, note=note)
    yield from _normalised_size(case, shape[-1])
    yield from resized_input(case, shape[-1], wanted)


def _normalised_size(case: Case, features: int) -> Iterator[Proposal]:
    """Change the normalised size where the layer is constructed, or the variable that holds it."""
    for call in case.calls("LayerNorm", everywhere=True):
        numbers = case.scope.items() if case.function_of(call) is None else ()
        named = [n for n, v in numbers if type(v) is int and v == features]
        names = arguments_called(case, call, features) or (named if len(named) == 1 else [])
        for text in (*names, str(features)) if call.args else ():
            yield case.replaced(call.args[0], text, reprints=True)


def _features_last(x: Tensor | None) -> bool:
    """Whether a tensor comes from layers with features in the last dimension, not from
    convolutions.
    """
    for record in records_behind([x.record]) if x is not None else ():
        if record.name.startswith(("Convolution", "Addmm", "Mm", "Embedding")):
            return not record.name.startswith("Convolution")
    return False


def head_count(case: Case) -> Iterator[Proposal]:
    """Use the nearest number of heads that divides the number of features."""
    for call in case.calls("MultiheadAttention", *TRANSFORMERS, everywhere=True):
        width = argument(call, 0, "embed_dim") or argument(call, 0, "d_model")
        heads = argument(call, 1, "num_heads") or argument(call, 1, "nhead")
        wide, many = case.number(width), case.number(heads)
        if heads is not None and wide and many and wide % many:
            near = max(n for n in range(1, many + 1) if wide % n == 0)
            why = f"{wide} features cannot be divided evenly among {many} heads."
            yield case.replaced(heads, str(near), why=why, reprints=True)


def group_count(case: Case) -> Iterator[Proposal]:
    """Use the nearest number of groups that divides the number of channels."""
    for call in case.calls("GroupNorm", "group_norm", everywhere=True):
        groups, wide = call.args[0] if call.args else None, int(case.match[1])
        many = case.number(groups)
        if groups is not None and many == int(case.match[2]):
            near = max(n for n in range(1, many + 1) if wide % n == 0)
            why = f"{wide} channels cannot be divided evenly among {many} groups."
            yield case.replaced(groups, str(near), why=why, reprints=True)


def convolution_groups(case: Case) -> Iterator[Proposal]:
    """Use the nearest number of groups that divides the numbers of input and output channels."""
    for call in case.calls("Conv1d", "Conv2d", "Conv3d", everywhere=True):
        groups = argument(call, 6, "groups")
        sizes = [n for a in call.args[:2] if (n := case.number(a))]
        many = case.number(groups)
        if groups is None or not many or len(sizes) < 2:
            continue
        if any(n % many for n in sizes):
            near = max(k for k in range(1, many + 1) if not any(n % k for n in sizes))
            why = f"The channels, {sizes[0]} and {sizes[1]}, are not both divisible by {many}."
            if many == sizes[0]:
                each = max(1, round((sizes[1] or many) / many))
                note = f"One group for each input channel, with {each} output channel(s)."
                text = case.of(groups) if each == 1 else f"{each} * {case.of(groups)}"
                yield case.replaced(call.args[1], text, why=why, note=note, reprints=True)
            yield case.replaced(groups, str(near), why=why, reprints=True)


TRANSFORMERS = ("Transformer", "TransformerEncoderLayer", "TransformerDecoderLayer")


def embedding_dimension(case: Case) -> Iterator[Proposal]:
    """Embed token indices; or change the number of features where the layer is constructed."""
    for given in [a for call, _ in case.calls_of_modules for a in call.args]:
        yield from embedded(case, given)
    for call in case.calls("MultiheadAttention", *TRANSFORMERS, everywhere=True):
        names = ("d_model", "embed_dim")
        first = next((a for n in names if (a := argument(call, 0, n)) is not None), None)
        if first is not None and case.number(first) == int(case.match[1]):
            yield case.replaced(first, case.match[2], reprints=True)
    yield from resized_input(case, int(case.match[2]), int(case.match[1]))


def embedded(case: Case, item: ast.expr) -> Iterator[Proposal]:
    """Embed class indices, if the program has an embedding that it does not use."""
    tensor = case.tensor(item)
    if tensor is None or tensor.dtype.kind != "int":
        return
    called = {dotted(c.func) for c in case.calls(everywhere=True)}
    for built in case.of_type(ast.Assign, everywhere=True):
        name = dotted(built.targets[0])
        if method(built.value) == "Embedding" and name and name not in called:
            why = f"{case.of(item)} are class indices; {name} exists for them, but is not used."
            yield case.replaced(item, f"{name}({case.of(item)})", why=why)


def encoded(case: Case, item: ast.expr, others: list[ast.expr]) -> Iterator[Proposal]:
    """Write one_hot(c, k) for class indices c that are concatenated with features, if the layer has
    k more inputs.
    """
    labels = case.tensor(item)
    if labels is None or labels.dtype.kind != "int" or labels.ndim != 1:
        return
    widths = [(case.shape(o) or (0,))[-1] for o in others if o is not item]
    joined = targets(case.statement_of(item))
    for call in [c for c in case.calls(everywhere=True) if c.args]:
        taken = call in case.around(item) or dotted(call.args[0]) in joined
        weights = [w for m in layers_of(case.value(call.func)) if (w := weight_of(m)) is not None]
        many = weights[0].shape[-1] - sum(widths) if taken and weights else 0
        if 1 < many > labels.data.max():
            note = f"The layer takes {many} more inputs: one for each class."
            new = f"torch.nn.functional.one_hot({case.of(item)}, {many})"
            yield case.replaced(item, new, note=note)


def attention_mask(case: Case) -> Iterator[Proposal]:
    """Pass batch_first=True, if the mask then matches the input; or transpose the mask."""
    why = "The program has the batch first; this layer expects it second."
    for call in case.calls("MultiheadAttention", *TRANSFORMERS, everywhere=True):
        if not keyword(call, "batch_first"):
            yield case.given(call, "batch_first", "True", why=why, reprints=True)
    for call in case.calls():
        for named in [k for k in call.keywords if k.arg and "mask" in k.arg]:
            yield case.appended(named.value, ".T")
            yield from _mask_of_size(case, named.value)


def _mask_of_size(case: Case, mask: ast.expr) -> Iterator[Proposal]:
    """Create a square mask with a row and a column for each place of the sequence."""
    places = re.search(r"torch.Size\(\[(\d+), \1\]\), but should be \((\d+), \2\)", case.message)
    for statement in case.slice_of(mask, case.line) if places else ():
        for call in calls_in(statement, "ones", "zeros", "full"):
            sizes = [a for a in call.args if case.of(a) == places[1]]  # type: ignore[index]
            edits = [case.replacing(a, places[2]) for a in sizes]  # type: ignore[index]
            yield from case.change(*edits, why="Each position of the sequence needs a row.")


def norm_of_one(case: Case) -> Iterator[Proposal]:
    """Drop the last batch, if only it has a single sample; or use the running statistics."""
    for loader in case.calls("DataLoader", everywhere=True):
        note = "The last batch, of one sample, is dropped; with shuffling it varies."
        yield case.given(loader, "drop_last", "True", note=note)
    yield from without_rest(case)
    for call in case.calls():
        if case.is_module(call.func) and "." not in dotted(call.func):
            text = f"{case.of(call.func)}.eval()"
            note = (
                "eval() uses the running statistics, as for a single sample after training. To "
                "train, use batches of several samples."
            )
            yield case.proposal(case.before(case.statement, text), note=note)


def without_rest(case: Case) -> Iterator[Proposal]:
    """Skip a batch with a single sample in a loop over slices of the data."""
    loop = case.loop(case.statement)
    if loop is None:
        return
    for call in case.calls():
        for given in call.args[:1] if case.is_module(call.func) else ():
            shape = case.shape(given)
            if isinstance(given, ast.Name) and shape is not None and shape[0] == 1:
                text = f"if len({given.id}) == 1: continue"
                note = "A last batch of one sample is skipped."
                yield case.proposal(case.before(case.statement, text), note=note)


def images_of_steps(case: Case) -> Iterator[Proposal]:
    """Write cnn(x.flatten(0, 1)) for the images of all steps of all samples."""
    for call in case.calls():
        if call.args and len(case.shape(call.args[0]) or ()) == 5 and case.is_module(call.func):
            note = "The images of all steps, one after another, form one batch."
            yield case.appended(call.args[0], ".flatten(0, 1)", note=note)


def missing_batch(case: Case) -> Iterator[Proposal]:
    """Add batch and channel dimensions to an image that has neither."""
    missing = int(case.match[2]) - len(size(case.match[3]))
    for call in case.calls():
        shape = case.shape(call.args[0]) if call.args else None
        weight = weight_of(case.value(call.func))
        if shape is not None and len(shape) == missing == 2 and weight is not None:
            many = weight.shape[0 if "transpose" in case.message else 1]
            side = isqrt(shape[1] // many)
            if side > 1 and many * side * side == shape[1]:
                note = f"A sample becomes {many} channels of {side} x {side} pixels."
                yield case.appended(call.args[0], f".view(-1, {many}, {side}, {side})", note=note)
        if len(shape or ()) == 2 and missing > 1 and "transpose" in case.message:
            places = ", ".join(["None"] * missing)
            note = "Each sample becomes an image of one pixel, with a channel for each number."
            yield case.appended(call.args[0], f"[:, :, {places}]", note=note)
        if call.args and case.is_module(call.func) and missing > 0:
            note = "A batch of one image of one channel: batch, channel, then height and width."
            yield case.appended(call.args[0], ".unsqueeze(0)" * missing, note=note)


CHANNELS_FIRST = "The channels were last; PyTorch expects them before height and width."


def smaller_kernel(case: Case) -> Iterator[Proposal]:
    """Use the largest kernel that fits into the image."""
    fits, kernel = min(int(n) for n in case.match.groups()[:2] if n), int(case.match[3])
    for call in case.calls("Conv1d", "Conv2d", "Conv3d", everywhere=True):
        given = argument(call, 2, "kernel_size")
        if given is not None and number_of(given) == kernel:
            note = f"The input has size {fits} here: a kernel of {fits} just fits."
            yield case.replaced(given, str(fits), note=note, weak=True)


def _grouped(case: Case, channels: int) -> Iterator[Proposal]:
    """Give a convolution as many groups as the input has channels."""
    kernels = {case.of(c.args[1]) for c in case.calls("conv1d", "conv2d") if len(c.args) > 1}
    calls = case.calls("conv1d", "conv2d", everywhere=True)
    same = [c for c in calls if len(c.args) > 1 and case.of(c.args[1]) in kernels]
    edits = [case.with_keyword(c, "groups", str(channels)) for c in same]
    yield from case.change(*edits, note="Each channel has its own kernel.")


def channels(case: Case) -> Iterator[Proposal]:
    """Change the number of channels where the layer is constructed; or move the channels to
    dimension 1.
    """
    expected, got = int(case.match[4]), int(case.match[5])
    shape = size(case.match[3])
    given = [c.args[0] for c in case.calls() if c.args]
    if expected == 1 and size(case.match[2])[0] == got:
        yield from _grouped(case, got)
    for x in given if shape and shape[-1] == expected else ():
        ndim = len(case.shape(x) or shape)
        place = ndim - len(shape) + 1
        order = ", ".join(map(str, [*range(place), ndim - 1, *range(place, ndim - 1)]))
        yield case.appended(x, f".permute({order})", note=CHANNELS_FIRST)
    for x in given:
        sizes = case.shape(x) or ()
        if expected == 1 and sizes[:1] == (got,) and len(sizes) == len(shape) - 1:
            note = "A batch of images of one channel: batch, channel, height, width."
            yield case.appended(x, ".unsqueeze(1)", note=note)
    yield from exchanged_channels(case, expected, got)
    built = [c for c in case.calls(everywhere=True) if c.args]
    layers = [c for c in built if method(c).startswith("Conv")]
    for call in layers:
        if number_of(call.args[0]) == expected:
            yield case.replaced(call.args[0], str(got), reprints=True)
    for call in reversed(layers):
        why = f"The layer takes {expected} channels but receives {got}."
        taken = numbers_given(case, call).get(dotted(call.args[0]))
        for name in arguments_called(case, call, got) if taken == expected else ():
            yield case.replaced(call.args[0], name, why=why, reprints=True)
        for number in given_for(case, call.args[0]):
            if case.number(number) == expected:
                yield case.replaced(number, str(got), why=why, reprints=True)
    for call in built:
        image = dotted(call.func).startswith("torch.") and len(call.args) == 4
        if image and number_of(call.args[1]) == got:
            yield case.replaced(call.args[1], str(expected))


def given_for(case: Case, name: ast.expr) -> Iterator[ast.expr]:
    """The values that are passed to an __init__ for one of its arguments."""
    function = case.function_of(name)
    cls = case.parents.get(function) if function is not None else None
    if function is None or not isinstance(cls, ast.ClassDef):
        return
    names = [a.arg for a in function.args.args]
    if dotted(name) not in names[1:]:
        return
    for call in case.calls(everywhere=True):
        given = argument(call, names.index(dotted(name)) - 1, dotted(name))
        if method(call) == cls.name and given is not None and case.number(given) is not None:
            yield given


def other_state(case: Case) -> Iterator[Proposal]:
    """Construct the layer with the sizes of the state; or load only the tensors that match."""
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
        note = "Layers of other sizes, such as a new last one, keep their initial values."
        new = f"{model}.load_state_dict({fitting}, strict=False)"
        yield case.replaced(call, new, note=note)


def state_of(case: Case) -> Iterator[Proposal]:
    """Write b.state_dict() for b, and for b.state_dict."""
    called = {c.func for c in case.calls(everywhere=True)}
    whole = [n for n in case.attributes("state_dict", everywhere=True) if n not in called]
    why = "state_dict without parentheses is the method itself."
    yield from case.change(*[case.appending(n, "()") for n in whole], why=why)
    for call in case.calls("load_state_dict"):
        for given in call.args[:1]:
            if isinstance(given, ast.Call) and method(given) == "items":
                yield case.without(given)
            end = "()" if getattr(given, "attr", "") == "state_dict" else ".state_dict()"
            yield case.appended(given, end)


def other_names(case: Case) -> Iterator[Proposal]:
    """Take the state out of a saved dict; remove or add a prefix of its names; or load only the
    names that match.
    """
    listed = dict(re.findall(r"(Missing|Unexpected) key\(s\).*?: (.*)", case.message))
    missing, given = (re.findall(r'"(.*?)"', listed.get(k, "")) for k in ("Missing", "Unexpected"))
    for call in case.calls("load_state_dict"):
        saved = case.value(call.args[0])
        for key, state in saved.items() if isinstance(saved, dict) else ():
            names = getattr(state, "payload", state)  # an OrderedDict
            if isinstance(names, dict) and set(missing) <= names.keys():
                why = f"The saved object contains the model's state under the key {key!r}."
                yield case.appended(call.args[0], f"[{key!r}]", why=why)
                return
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
        if not given:
            yield from filtered_out(case, dotted(call.args[0]), missing)
        note = "Parameters that are not in the state keep their initial values."
        yield case.given(call, "strict", "False", note=note, weak=True)


def filtered_out(case: Case, name: str, missing: list[str]) -> Iterator[Proposal]:
    """Remove or add a prefix in {k: v for k, v in state.items() if k in own}, if no name of the
    state passes the condition as it is.
    """
    texts = [value_of(n) for n in case.of_type(ast.Constant, everywhere=True)]
    removed = [t for t in texts if isinstance(t, str) and t.endswith(".")] + ["module."]
    added = dict.fromkeys(m[: m.index(".") + 1] for m in missing if "." in m)
    for built in case.makers(name)[:1] if case.value(ast.Name(name, ast.Load())) == {} else ():
        for part in within(built.value, ast.DictComp):
            tests = [t for g in part.generators for t in g.ifs if isinstance(t, ast.Compare)]
            places = [part.key, *(t.left for t in tests if case.of(t.left) == case.of(part.key))]
            key = case.of(part.key)
            forms = {f"{key}.removeprefix({t!r})": t for t in dict.fromkeys(removed)}
            forms |= {f"{t!r} + {key}": t for t in added}
            for form, prefix in forms.items() if len(places) > 1 else ():
                edits = [case.replacing(p, form) for p in places]
                why = f"No name passes the condition: they differ by {prefix!r}."
                yield case.proposal(*edits, why=why)


def first_output(case: Case, node: ast.expr) -> Iterator[Proposal]:
    """Write `out, _ = lstm(x)`, as a recurrent layer returns its outputs and its last state; or
    out[0], if other lines read items of the tuple by index.
    """
    parts = case.of_type(ast.Subscript, everywhere=True)
    read = [dotted(n.value) for n in parts if type(value_of(n.slice)) is int]
    if dotted(node) and dotted(node) in read:
        yield case.appended(node, "[0]", why=f"{case.of(node)} is a tuple: its output comes first.")
        return
    for built in case.makers(node):
        if isinstance(built.value, ast.Call) and case.is_module(built.value.func):
            recurrent = case.called_class(built.value) in RECURRENT
            what = "the outputs, and the last state" if recurrent else "it has several values"
            why = f"Line {built.lineno} returns a tuple: {what}."
            states = [n for a in built.value.args for n in elements(a)][1:]
            if case.called_class(built.value) == "LSTMCell" and states:
                why = f"Line {built.lineno} returns the hidden state and the cell state."
                yield case.proposal(
                    case.adding(built.targets[0], f", {case.of(states[0])}"), why=why
                )
            yield case.proposal(case.adding(built.targets[0], ", _"), why=why)
            yield case.appended(built.value, "[0]", why=why)


def in_sequential(case: Case) -> Iterator[Proposal]:
    """Insert a layer in Sequential that selects the outputs of a recurrent layer, or the last
    output.
    """
    for sequential in case.calls("Sequential", everywhere=True):
        layers = [c for a in sequential.args for c in _recurrent(case, a)]
        items = [_item(case, layer, sequential) for layer in layers]
        inner = [i for i in items if not (bool(sequential.args) and sequential.args[-1] is i)]
        if not inner:
            continue
        first = keyword(layers[0], "batch_first") if isinstance(layers[0], ast.Call) else None
        last = "outputs[0][:, -1]" if first else "outputs[0][-1]"
        for result, note in (("outputs[0]", EACH), (last, LAST)):
            lines = [f"class Outputs({_module(sequential)}):"]
            lines += ["    def forward(self, outputs):", f"        return {result}", "", ""]
            edits = [_after(case, i, k) for k, i in enumerate(inner)]
            top = case.outermost(sequential)
            yield case.proposal(case.before(top, *lines), *edits, note=note, reprints=True)


EACH = "Outputs drops the last state."
LAST = "Outputs selects the output for the last step of the sequence."


def _recurrent(case: Case, node: ast.expr) -> list[ast.expr]:
    """The recurrent layers in an argument of Sequential, also if it has a name."""
    built = calls_in(node, *RECURRENT)
    if built:
        return [*built]
    return [node] if method(case.made(node)) in RECURRENT else []


def _item(case: Case, layer: ast.expr, sequential: ast.Call) -> ast.expr:
    """The argument of Sequential for a layer: the layer, or its (name, layer) pair in an
    OrderedDict.
    """
    outer = case.parents[layer]
    return outer if isinstance(outer, ast.Tuple) and outer not in sequential.args else layer


def _after(case: Case, item: ast.expr, number: int) -> Edit:
    name = f"outputs{number or ''}"
    new = f'("{name}", Outputs())' if isinstance(item, ast.Tuple) else "Outputs()"
    return case.adding(item, f", {new}")


def _module(sequential: ast.Call) -> str:
    return f"{dotted(sequential.func).rpartition('.')[0] or 'torch.nn'}.Module"


def recurrent_features(case: Case) -> Iterator[Proposal]:
    """Add a feature dimension of size 1; or change the number of features where the layer is
    constructed.
    """
    wanted, given = case.match[1] or case.match[4], case.match[2] or case.match[3]
    for call in case.calls() if case.match[1] == "1" else ():
        for x in call.args[:1] if case.is_module(call.func) else ():
            if len(case.shape(x) or ()) == 2:
                note = "Each step of a sequence has one feature."
                yield case.appended(x, ".unsqueeze(-1)", note=note)
    for call, _ in case.calls_of_modules:
        for x in call.args[:1]:
            if len(case.shape(x) or ()) == 3 and case.shape(x)[1] == int(wanted):  # type: ignore[index]
                note = "The features come last, after the steps."
                yield case.appended(x, ".transpose(1, 2)", note=note)
    for call in case.calls(*RECURRENT, *CELLS, everywhere=True):
        first = argument(call, 0, "input_size")
        if first is not None and case.number(first) in (None, int(wanted)):
            yield case.replaced(first, given, reprints=True)
    yield from resized_input(case, int(given), int(wanted))


def pair_of_states(case: Case) -> Iterator[Proposal]:
    """(h, zeros) for the single h that an LSTM is given; tuple(s) for both states in one tensor."""
    for call, module in case.calls_of_modules:
        for given in call.args[1:2] if module.cls.name.startswith("LSTM") else ():
            if (states := case.tensor(given)) is not None:
                h = case.of(given)
                if states.ndim == 4:
                    yield case.replaced(given, f"tuple({h})")
                note = "The cell state starts with zeros."
                loop, both = case.loop(call), target_of(case.statement, ast.Tuple)
                if loop is not None and both and [case.of(e) for e in both.elts[:-1]] == [h]:
                    c = case.of(both.elts[-1])
                    begun = case.before(loop, f"{c} = torch.zeros_like({h})")
                    yield case.proposal(begun, case.replacing(given, f"({h}, {c})"), note=note)
                yield case.replaced(given, f"({h}, torch.zeros_like({h}))", note=note)


def states_together(case: Case) -> Iterator[Proposal]:
    """Write lstm(x, (h, c)) for lstm(x, h, c)."""
    for call, module in case.calls_of_modules:
        if module.cls.name.startswith("LSTM") and len(call.args) == 3:
            both = ", ".join(map(case.of, call.args[1:]))
            why = "An LSTM takes its two states as one tuple."
            yield case.proposal(case.spanning(call.args[1:], f"({both})"), why=why)


def layers_of_state(case: Case) -> Iterator[Proposal]:
    """Use a state of one layer; or give the states of several layers a row for each sample."""
    for call, module in case.calls_of_modules:
        states = [s for given in call.args[1:2] for s in parts(given)]
        flat = [s for s in states if len(case.shape(s) or ()) == 2]
        note = "One layer: its dimension comes first."
        yield from case.change(*[case.appending(s, ".unsqueeze(0)") for s in flat], note=note)
        sizes = [c.args for s in flat for c in calls_in(case.made(s)) if len(c.args) == 2]
        place = 0 if module.fields.get("batch_first") else 1
        batch = _batch_of(case, (case.shape(call.args[0]) or (0, 0))[place])
        yield from case.change(*[case.adding(layers, f", {batch}") for layers, _ in sizes])


def padded_convolutions(case: Case) -> Iterator[Proposal]:
    """Pass padding=1 with a kernel of size 3, in a class whose convolutions keep the image size."""
    cls = next((n for n in case.around(case.statement) if isinstance(n, ast.ClassDef)), None)
    edits = []
    for call in calls_in(cls or case.tree, "Conv1d", "Conv2d", "Conv3d"):
        kernel = case.number(argument(call, 2, "kernel_size"))
        moved = argument(call, 3, "stride") or argument(call, 4, "padding")
        if kernel and kernel > 1 and kernel % 2 and moved is None:
            edits.append(case.with_keyword(call, "padding", str(kernel // 2)))
    why = "Without padding the output of a convolution is smaller than its input."
    yield from case.change(*edits, why=why, reprints=True)


def step_of_sequence(case: Case) -> Iterator[Proposal]:
    """Add a dimension of size 1 for the feature, or for the step, of a batch of sequences."""
    for call, module in case.calls_of_modules:
        for given in call.args[:1]:
            shape = case.shape(given) or ()
            if module.fields.get("input_size") == 1 != shape[-1]:
                yield case.appended(given, ".unsqueeze(-1)", note="Each step has one feature.")
            place = 1 if module.fields.get("batch_first") else 0
            yield case.appended(given, f".unsqueeze({place})", note="A sequence of one step.")


def hidden_of_pair(case: Case) -> Iterator[Proposal]:
    """Write _, (h, _) = lstm(x) for _, h = lstm(x), if h is used like other layers' states."""
    for built in case.of_type(ast.Assign, everywhere=True):
        pair = target_of(built, ast.Tuple)
        of_lstm = isinstance(built.value, ast.Call) and case.called_class(built.value) == "LSTM"
        if not pair or len(pair.elts) != 2 or not of_lstm:
            continue
        state = pair.elts[1]
        last = [n for n in case.of_type(ast.Subscript, everywhere=True) if _is_last(n)]
        if any(dotted(n.value) == dotted(state) for n in last):
            why = "An LSTM has two states: the hidden state h, its output, and the cell state c."
            yield case.replaced(state, f"({case.of(state)}, _)", why=why)


def _is_last(node: ast.Subscript) -> bool:
    """Whether a node is x[-1] or x[0]."""
    index = node.slice.operand if isinstance(node.slice, ast.UnaryOp) else node.slice
    return value_of(index) in (0, 1)


CELLS = ("RNNCell", "LSTMCell", "GRUCell")


def cell_state(case: Case) -> Iterator[Proposal]:
    """Change the number of features where a state is made; or pass only the last layer's state."""
    for call, _ in case.calls_of_modules if "got 3D" in case.message else ():
        for state in [p for a in call.args[1:] for p in parts(a)]:
            loop, last = case.loop(call), f"{case.of(state)}[-1]"
            if isinstance(case.value(state), tuple):
                last = f"tuple(s[-1] for s in {case.of(state)})"
            why = "A recurrent layer returns a state for each layer; a cell takes one state."
            if loop is not None and isinstance(state, ast.Name):
                yield case.proposal(case.before(loop, f"{state.id} = {last}"), why=why)
            yield case.replaced(state, last, why=why)
    for call in case.calls():
        given = [part for a in call.args[1:] for part in parts(a)]
        for made in [case.made(g) for g in given if case.is_module(call.func)]:
            sizes = made.args if isinstance(made, ast.Call) else []
            if sizes and case.number(sizes[-1]) == int(case.match[1]):
                yield case.replaced(sizes[-1], case.match[2], reprints=True)


def state_size(case: Case) -> Iterator[Proposal]:
    """Change the sizes where the states are created."""
    wanted, given = size(case.match[1]), size(case.match[2])
    made = [c for c in case.calls(everywhere=True) if dotted(c.func).startswith("torch.")]
    made = [c for c in made if len(c.args) == len(given) and _may_be(case, c.args, given)]
    places = [(a, n) for c in made for a, n, old in zip(c.args, wanted, given) if n != old]
    if places and all(method(a) == "size" or isinstance(a, ast.Subscript) for a, _ in places):
        for call in case.calls(*RECURRENT, everywhere=True):
            if not keyword(call, "batch_first"):
                why = "The program has the batch first; this layer expects it second."
                yield case.given(call, "batch_first", "True", why=why, reprints=True)
    yield from padded_batch_first(case)
    yield from _batch_first(case, given[1], wanted[1])
    edits = [case.replacing(a, str(n)) for a, n in places if case.number(a) is not None]
    yield from case.change(*edits if len(edits) == len(places) else ())
    for node, tensor in case.tensors:
        if tensor.shape == given and given[1] > wanted[1]:
            new = f"{case.of(node)}[:, :{_batch_of(case, wanted[1])}].contiguous()"
            yield case.replaced(node, new, weak=True)


def padded_batch_first(case: Case) -> Iterator[Proposal]:
    """Pass batch_first=True to pad_sequence, if the layer has the batch first."""
    if any(m.fields.get("batch_first") is True for _, m in case.calls_of_modules):
        for call in case.calls("pad_sequence", everywhere=True):
            if not keyword(call, "batch_first"):
                why = "The layer has the batch first; pad_sequence has the steps first by default."
                yield case.given(call, "batch_first", "True", why=why, reprints=True)


def _batch_first(case: Case, states: int, steps: int) -> Iterator[Proposal]:
    """Pass batch_first=True, if the input has a row for each state and the layer expects steps
    first.
    """
    for call, _ in case.calls_of_modules:
        for made in [case.made(call.func)] if call.args else ():
            sizes = case.shape(call.args[0]) or ()
            fits = len(sizes) == 3 and sizes[:2] == (states, steps)
            if fits and isinstance(made, ast.Call) and not keyword(made, "batch_first"):
                why = "The input and states have the batch first; this layer expects steps first."
                yield case.given(made, "batch_first", "True", why=why, reprints=True)


def _batch_of(case: Case, number: int) -> str:
    """The source text for the batch size of a recurrent layer's input."""
    for call, module in case.calls_of_modules:
        for x in call.args[:1]:
            place = 0 if module.fields.get("batch_first") else 1
            read = isinstance(x, ast.Name | ast.Attribute | ast.Subscript)
            if read and (case.shape(x) or ())[place : place + 1] == (number,):
                return f"{case.of(x)}.size({place})"
    return str(number)


def _may_be(case: Case, arguments: list[ast.expr], sizes: tuple[int, ...]) -> bool:
    """Whether arguments may have these values: the known ones do, and at least one is known."""
    numbers = [case.number(a) for a in arguments]
    return any(n is not None for n in numbers) and all(
        n in (None, size) for n, size in zip(numbers, sizes)
    )
