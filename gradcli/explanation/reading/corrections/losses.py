"""Corrections of losses: targets of another shape, class indices out of range, scores for
probabilities.
"""

import ast
import difflib
from collections.abc import Iterator

from .case import Case, Proposal
from .layers import RECURRENT, hidden_of_pair
from .nodes import (
    argument,
    calls_in,
    dotted,
    keyword,
    method,
    number_of,
    size,
    targets,
    within,
)
from .text import Edit


def compared(case: Case) -> list[tuple[ast.expr, ast.expr]]:
    """The first two arguments of the calls on the line that raises: scores and target."""
    calls = [c for c in case.calls() if len(c.args) >= 2]
    return [(c.args[0], c.args[1]) for c in calls if not isinstance(c.args[1], ast.Constant)]


def target_size(case: Case) -> Iterator[Proposal]:
    """Reshape the target like the input; or use a loss for classes, if each has a score."""
    of_target = size(case.match[1] or case.match[3])
    of_input = size(case.match[2] or case.match[4])
    if of_input[:-1] == of_target and of_input[-1:] > (1,):
        yield from of_classes(case)
    if of_input[:-1] == of_target and of_input[-1:] > (1,) and "probab" not in case.message:
        yield from single_score(case, of_input[-1])
    if of_input[1:] == of_target[1:] and 0 < of_input[0] < of_target[0]:
        yield from labels_of_batch(case)
    targets = [s for _, s in compared(case) if case.shape(s) in (None, of_target)]
    if len(targets) > 1 and of_input == (*of_target, 1):
        yield case.proposal(*[case.appending(s, f".unsqueeze({len(of_target)})") for s in targets])
    for first, second in [c for c in compared(case) if c[1] in targets]:
        if of_input == (*of_target, 1):
            yield case.appended(second, f".unsqueeze({len(of_target)})")
        if of_target == (*of_input, 1):
            yield case.appended(second, f".squeeze({len(of_input)})")
        if isinstance(first, ast.Name | ast.Attribute):
            yield case.appended(second, f".view_as({case.of(first)})")
            yield case.appended(second, f".expand_as({case.of(first)})", weak=True)
        yield case.appended(second, f".reshape({of_input})")


def labels_of_batch(case: Case) -> Iterator[Proposal]:
    """Write loss(D(x), labels[:len(x)]) for labels that were made for a full batch."""
    for first, second in compared(case):
        outputs = case.made(first)
        batch = outputs.args[0] if isinstance(outputs, ast.Call) and outputs.args else first
        if isinstance(second, ast.Name) and isinstance(batch, ast.Name):
            why = "The last batch is smaller, so it needs fewer labels."
            yield case.appended(second, f"[:len({batch.id})]", why=why)


def column_beside_row(case: Case) -> Iterator[Proposal]:
    """Write pred.squeeze(1) - y for pred - y of a column and a vector."""
    for node in case.of_type(ast.BinOp, ast.Call):
        binary = isinstance(node, ast.BinOp)
        for side in (node.left, node.right) if binary else node.args:
            shape = case.shape(side) or ()
            if len(shape) == 2 and shape[1] == 1 and str(shape) in case.message:
                note = "Each prediction is compared with its own target."
                yield case.appended(side, ".squeeze(1)", note=note)


def single_score(case: Case, many: int) -> Iterator[Proposal]:
    """Give the last layer one output, if the target has one number for each sample."""
    for call in reversed(case.calls("Linear", everywhere=True)):
        out = argument(call, 1, "out_features")
        if out is not None and number_of(out) == many:
            why = f"The layer outputs {many} numbers for each sample, but the target has one."
            yield case.replaced(out, "1", why=why, reprints=True)
            return


def numbers_of_classes(case: Case) -> Iterator[Proposal]:
    """Use cross entropy for scores that are compared with class indices."""
    for call in [c for c in case.calls() if case.is_loss(c) and len(c.args) > 1]:
        scores, target = case.shape(call.args[0]), case.tensor(call.args[1])
        if target is None or target.dtype.is_floating or len(scores or ()) != 2:
            continue
        if target.shape == scores[:1]:  # type: ignore[index]
            yield from of_classes(case)


def of_classes(case: Case) -> Iterator[Proposal]:
    """Use cross entropy in place of a loss for independent labels or for numbers."""
    new = {
        **dict.fromkeys(("BCEWithLogitsLoss", "MSELoss", "L1Loss"), "CrossEntropyLoss"),
        **dict.fromkeys(("binary_cross_entropy_with_logits", "mse_loss"), "cross_entropy"),
    }
    why = "Each sample has a score for each class, and its target is one class."
    for node in case.attributes(*new, everywhere=True):
        yield case.renamed_to(node, new[node.attr], why=why)


def independent_labels(case: Case) -> Iterator[Proposal]:
    """Use the loss for independent labels for targets of 0 and 1 whose rows do not sum to 1."""
    new = {
        "CrossEntropyLoss": "BCEWithLogitsLoss",
        "cross_entropy": "binary_cross_entropy_with_logits",
    }
    for scores, target in compared(case):
        labels = case.tensor(target)
        if labels is None or labels.ndim != 2 or labels.shape != case.shape(scores):
            continue
        if labels.data.min() < 0 or labels.data.max() > 1 or (labels.data.sum(1) == 1).all():
            continue
        names = case.attributes(*new, everywhere=True)
        edits = [case.renamed(n, new[n.attr]) for n in names]
        why = "A row has several labels or none: each is a question of its own."
        yield from case.change(*edits, case.appending(target, ".float()"), why=why)


def class_target(case: Case) -> Iterator[Proposal]:
    """Make the target a vector: by squeeze, or by argmax of one-hot rows."""
    yield from swapped(case)
    if "input batch_size (1)" in case.message:
        yield from hidden_of_pair(case)
    for scores, _ in compared(case):
        if "input batch_size (1)" in case.message and len(case.shape(scores) or (1,) * 3) == 3:
            note = "The first dimension of a recurrent layer's last state is its layers."
            yield case.appended(scores, ".squeeze(0)", note=note)
    for scores, _ in compared(case) if "batch_size" in case.message else ():
        yield from reduced_batch(case, scores)
        yield from mixed_samples(case)
    for target in [c.args[2] for c in case.calls() if case.is_loss(c) and len(c.args) == 3]:
        if isinstance(target, ast.Call) and method(target) in ("unsqueeze", "view", "reshape"):
            yield case.without(target)
        else:
            yield case.appended(target, ".view(-1)")
    for scores, target in compared(case):
        shape, (rows, *_, places) = case.shape(target), case.shape(scores) or (0, 0)
        if len(case.shape(scores) or ()) == 3 and shape == (places, rows):
            note = "The target has the batch first, the scores have the steps first."
            yield case.appended(target, ".T", note=note)
        if shape is None:
            yield case.appended(target, ".squeeze(1)")
        yield from soft_target(case, target)
        if shape is None or shape[-1:] != (1,):
            yield case.appended(target, ".argmax(1)")
            yield case.appended(target, ".float()")
        yield case.appended(target, ".squeeze(1)")
        yield case.appended(target, ".view(-1)")
        yield case.appended(scores, ".unsqueeze(0)")


def encoded_target(case: Case) -> Iterator[Proposal]:
    """Write one_hot(y) for the classes y of a kl_div; or, of a target that is an average of
    classes, for the classes in that average.
    """
    for scores, target in compared(case):
        rows = case.shape(scores) or ()
        form = f"torch.nn.functional.one_hot({{}}, {rows[-1]}).float()" if len(rows) == 2 else ""
        for node, uses in _classes_of(case, target) if form else ():
            if case.shape(node) == rows[:1]:
                edits = [case.replacing(n, form.format(case.of(n))) for n in uses]
                yield case.proposal(*edits, note="A row has 1 at its class, and 0 elsewhere.")


def _classes_of(case: Case, target: ast.expr) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """Integer tensors that a target is, or is averaged from, with the places to change."""
    tensor, made = case.tensor(target), case.made(target)
    if tensor is not None and not tensor.dtype.is_floating:
        yield target, [target]
    elif tensor is not None and tensor.ndim == 1 and (tensor.data % 1 != 0).any():
        for name in dict.fromkeys(n.id for n in within(made, ast.Name)):
            classes = case.tensor_of(name)
            if classes is not None and classes.dtype.name == "int64":
                read = [n for n in within(made, ast.Name) if n.id == name]
                yield read[0], [_outer_item(case, n) for n in read]


def _outer_item(case: Case, node: ast.expr) -> ast.expr:
    """y[i] of the y in it."""
    outer = case.parents[node]
    return outer if isinstance(outer, ast.Subscript) and outer.value is node else node


def soft_target(case: Case, target: ast.expr) -> Iterator[Proposal]:
    """Write -(y * scores).sum(1).mean() for the nll_loss(scores, y) of probabilities y."""
    values = case.tensor(target)
    if values is None or not values.dtype.is_floating or not {*values.data.ravel()} - {0.0, 1.0}:
        return
    for call in [c for c in case.calls() if c.args[1:2] == [target]]:
        names = case.called_class(call), method(call.func), method(call)
        if "NLLLoss" in names or "nll_loss" in names:
            new = f"-({case.operand(target)} * {case.operand(call.args[0])}).sum(1).mean()"
            why = "The target has a probability for each class; nll_loss expects one class."
            yield case.replaced(call, new, why=why)


def reduced_batch(case: Case, scores: ast.expr) -> Iterator[Proposal]:
    """Write mean(1) for mean(0) in the computation of scores, which removes the batch dimension."""
    for place in [scores, *case.slice_of(scores, case.line)]:
        for call in calls_in(place, "mean", "sum", "amax"):
            dim = argument(call, 0, "dim")
            if dim is not None and number_of(dim) == 0:
                why = "The first dimension is the batch and must remain: reduce the next one."
                yield case.replaced(dim, "1", why=why)


def part_for_each_loss(case: Case) -> Iterator[Proposal]:
    """Give each loss its own part of what a network with several outputs gives."""
    losses = [c for c in case.calls(everywhere=True) if case.is_loss(c) and len(c.args) > 1]
    for name in dict.fromkeys(dotted(c.args[0]) for c in losses):
        outputs = case.values.get(name)
        given = [c.args[0] for c in losses if dotted(c.args[0]) == name]
        if isinstance(outputs, tuple) and len(outputs) == len(given) > 1:
            edits = [case.appending(g, f"[{k}]") for k, g in enumerate(given)]
            note = f"{name} has {len(given)} outputs: each loss takes its own."
            yield case.proposal(*edits, note=note)


def mixed_samples(case: Case) -> Iterator[Proposal]:
    """Write x.flatten(1) for x.view(-1, 320) of samples that do not have 320 numbers."""
    for call in case.methods("view", "reshape", everywhere=True):
        if len(call.args) == 2 and case.of(call.args[0]) == "-1":
            why = "-1 stands for the batch: with another number of features it is another one."
            edit = Edit(case.end(call.func), case.end(call), "(1)")
            yield case.proposal(case.renamed(call, "flatten"), edit, why=why, uncovers=True)


def class_places(case: Case) -> Iterator[Proposal]:
    """Move the classes to dimension 1; or squeeze the target."""
    for scores, target in compared(case):
        values, labels = case.shape(scores), case.shape(target)
        recurrent = case.calls(*RECURRENT, everywhere=True)
        if labels is not None and len(labels) == 1 and recurrent:
            last = "[:, -1]" if keyword(recurrent[0], "batch_first") else "[-1]"
            note = "One class for each sequence: the scores of its last step."
            yield case.appended(scores, last, note=note)
        if labels is not None and labels == (values or ())[:1] and len(values or ()) == 3:
            note = "One class for each sequence: the mean of the scores of its steps."
            yield case.appended(scores, ".mean(1)", note=note)
        if labels is not None and 1 in labels[1:2]:
            yield case.appended(target, ".squeeze(1)")
        if values is not None and values[:-1] == labels:
            ends = {3: ".transpose(1, 2)", 4: ".permute(0, 3, 1, 2)"}
            if len(values) in ends:
                yield case.appended(scores, ends[len(values)])
        yield case.appended(scores, ".transpose(1, 2)")
        if labels is not None and len(values or ()) == 4:
            yield case.appended(target, f".view({case.operand(scores)}[:, 0].shape)")


def batch_of_one(case: Case) -> Iterator[Proposal]:
    """Remove a squeeze of the scores; or add a batch dimension."""
    for call in case.methods("squeeze", everywhere=True):
        if not dotted(call.func).startswith("torch."):
            yield case.without(call, why="squeeze() removes the batch dimension.")
    scores = [first for first, _ in compared(case)] or last_loss(case)[1::2]
    for node in scores:
        yield case.appended(node, ".unsqueeze(0)")


def larger_vocabulary(case: Case, many: int) -> Iterator[Proposal]:
    """Enlarge the vocabulary V, if an embedding and the scores both have V words."""
    embedded = {case.of(c.args[0]) for c in case.calls("Embedding", everywhere=True) if c.args}
    layers = [c for c in case.calls("Linear", everywhere=True) if len(c.args) > 1]
    for name in sorted(embedded & {case.of(c.args[1]) for c in layers if dotted(c.args[1])}):
        for built in case.makers(name)[:1]:
            if number_of(built.value) is not None:
                why = f"Words are numbered up to {many - 1}: there are {many}."
                yield case.replaced(built.value, str(many), why=why)


def class_number(case: Case) -> Iterator[Proposal]:
    """Count classes from 0; or compute as many scores as there are classes."""
    number = int(case.match[1])
    yield from ignored_class(case, number)
    yield from larger_vocabulary(case, number + 1)
    for scores, target in compared(case):
        values = case.tensor(target)
        lowest = int(values.data.min()) if values is not None and values.numel else None
        if lowest > 0 if lowest is not None else (case.shape(scores) or ())[-1:] == (number,):
            note = "The labels started at 1; classes are numbered from 0."
            yield case.appended(target, " - 1", note=note)
    for layer in case.calls("Linear", everywhere=True):
        if len(layer.args) >= 2 and number_of(layer.args[1]) in range(number + 1):
            why = f"Class {number} needs {number + 1} scores."
            yield case.replaced(layer.args[1], str(number + 1), why=why)
    for _, target in compared(case):
        classes = (case.shape(scores) or (number,))[-1]
        note = (
            f"This changes the training: labels above {classes - 1} count as class "
            f"{classes - 1}. Check the labels, or give the scores {number + 1} classes."
        )
        yield case.appended(target, f".clamp(max={classes - 1})", note=note, weak=True)


VOID = 255  # the usual label of pixels without a class


def ignored_class(case: Case, number: int) -> Iterator[Proposal]:
    """Pass ignore_index for a label that marks missing classes."""
    targets = [t for _, target in compared(case) if (t := case.tensor(target)) is not None]
    if targets and (number < 0 or (number == VOID and any(t.ndim > 1 for t in targets))):
        note = f"{number} marks targets to be ignored: they add nothing to the loss."
        made = case.calls("CrossEntropyLoss", "NLLLoss", everywhere=True)
        for call in [*case.calls("cross_entropy", "nll_loss"), *made]:
            yield case.given(call, "ignore_index", str(number), note=note)


def class_weights(case: Case) -> Iterator[Proposal]:
    """Pass one weight per class, if all weights are equal."""
    count = case.match[1]
    for call in case.calls("ones", "full", "zeros", everywhere=True):
        for given in call.args[:1]:
            if number_of(given) == int(case.match[2]) and "eight" in case.of(
                case.statement_of(call)
            ):
                yield case.replaced(given, count)


def without_ignored_class(case: Case) -> Iterator[Proposal]:
    """Leave out the class that is ignored."""
    for call in case.calls("CrossEntropyLoss", "cross_entropy", everywhere=True):
        note = "A sample without a class has probabilities of 0, and adds 0 to the sum."
        yield from case.change(case.without_keyword(call, "ignore_index"), note=note)


def weights_of_labels(case: Case) -> Iterator[Proposal]:
    """Pass as many positive weights as a row has labels, if all weights are equal."""
    a, b = (int(n) for n in case.match.groups())
    for call in case.calls(
        "BCEWithLogitsLoss", "binary_cross_entropy_with_logits", everywhere=True
    ):
        weights = keyword(call, "pos_weight")
        for made in calls_in(case.made(weights.value), "ones", "full") if weights else ():
            for given in made.args[:1]:
                if case.number(given) in (a, b):
                    other = b if case.number(given) == a else a
                    why = f"There are {other} labels: each needs its own weight."
                    yield case.replaced(given, str(other), why=why)


def weights_of_classes(case: Case) -> Iterator[Proposal]:
    """Write weights[y] for the weights of classes beside a loss for each sample, whose targets y
    are classes.
    """
    lines = [case.statement, *case.slice_of(case.statement, case.line)]
    losses = [c for s in lines for c in calls_in(s) if case.is_loss(c) and len(c.args) > 1]
    for weights, tensor in case.tensors:
        for target in [c.args[1] for c in losses] if tensor.ndim == 1 else ():
            classes = case.tensor(target)
            if classes is None or classes.dtype.is_floating or classes.ndim != 1:
                continue
            if len(classes.data) != len(tensor.data) > classes.data.max():
                why = f"{case.of(weights)} has a number for each class, the loss for each sample."
                yield case.appended(weights, f"[{case.of(target)}]", why=why)


def probabilities(case: Case) -> Iterator[Proposal]:
    """Use the loss that takes scores."""
    for node in case.attributes("BCELoss", "binary_cross_entropy", everywhere=True):
        new = {"BCELoss": "BCEWithLogitsLoss"}.get(node.attr, f"{node.attr}_with_logits")
        yield case.renamed_to(node, new, note="It applies the sigmoid itself.")
    for call in case.calls():
        if call.args:
            yield case.replaced(call.args[0], f"torch.sigmoid({case.of(call.args[0])})")


def target_probabilities(case: Case) -> Iterator[Proposal]:
    """Draw a target between 0 and 1 by rand, or scale one from -1 to 1, or from 0 to 255."""
    for _, second in compared(case):
        target = case.tensor(second)
        if target is None or not target.numel:
            continue
        for call in case.calls("randn", everywhere=True):
            if any(case.values.get(n) is target for n in targets(case.statement_of(call))):
                yield case.renamed_to(call, "rand", note="rand draws numbers between 0 and 1.")
        least, most = float(target.data.min()), float(target.data.max())
        if -1 <= least < 0 and most <= 1:
            yield case.replaced(second, f"({case.of(second)} + 1) / 2")
        elif least >= 0 and 9 < most <= 255:
            yield case.replaced(second, f"{case.operand(second)} / 255")


def time_first(case: Case) -> Iterator[Proposal]:
    """Put the time steps of CTC's scores before the batch."""
    for call in case.calls():
        if case.is_loss(call) and call.args:
            yield case.appended(call.args[0], ".transpose(0, 1)")


def reduction_name(case: Case) -> Iterator[Proposal]:
    """Use the reduction with the most similar name."""
    known = ("mean", "sum", "none", "batchmean")
    for node in case.of_type(ast.Constant, everywhere=True):
        if node.value == case.match[1]:
            near = difflib.get_close_matches(case.match[1], known, 1, 0.4) or ["mean"]
            yield case.replaced(node, repr(near[0]))


def swapped(case: Case) -> Iterator[Proposal]:
    """Pass the scores first, then the classes."""
    for call in case.calls():
        a, b = [case.tensor(a) for a in call.args] if len(call.args) == 2 else (None, None)
        called = isinstance(call.args[-1], ast.Call) if call.args else False
        if a and b is None and called and not a.dtype.is_floating and case.is_loss(call):
            why = "A loss takes the scores first, and then the target."
            yield case.exchanged(*call.args, why=why)
        if a and b and not a.dtype.is_floating and b.dtype.is_floating:
            why = "A loss takes the scores first, and then the target."
            yield case.exchanged(*call.args, why=why)
            texts = case.of(call.args[1]), f"{case.of(call.args[0])}.float()"
            yield case.proposal(*map(case.replacing, call.args, texts), why=why)


def last_loss(case: Case) -> list[ast.expr]:
    """The arguments of the call that computes the differentiated loss."""
    result: list[ast.expr] = []
    for _, root in case.roots:
        for place in [root, *case.slice_of(root, case.line)[:1]]:
            for call in calls_in(place):
                result += reversed(call.args[:2]) if len(call.args) >= 2 else []
    return result


def similar_pairs(case: Case) -> Iterator[Proposal]:
    """Pass ones as the target of a loss of pairs: all of them are similar, or in order."""
    what = "is similar" if case.match[1] == "CosineEmbeddingLoss" else "has the larger score first"
    for call in case.calls():
        if len(call.args) == 2 and case.is_loss(call):
            new = f"torch.ones({case.operand(call.args[0])}.shape[0])"
            note = f"A target of 1 says that the pair {what}, -1 the opposite."
            yield case.proposal(case.with_argument(call, new), note=note)


def one_bag(case: Case) -> Iterator[Proposal]:
    """Write bag(x.unsqueeze(0)) for a bag of all indices x."""
    for call in case.calls():
        for given in call.args[:1]:
            if case.called_class(call) == "EmbeddingBag" or method(call) == "embedding_bag":
                note = "One bag of all indices; offsets=... starts several."
                yield case.appended(given, ".unsqueeze(0)", note=note)
