"""Findings on programs that run without an error: accumulated gradients, losses that broadcast,
operations that cut the graph or have a zero gradient, outdated code.
"""

import ast
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ...errors import GradcliError, if_applicable
from ...lazy import np
from ...limits import Limits
from ...pasted.problems import Unexplained, pose_backward
from ...snippets.eager.tensor import Record, Tensor
from ...snippets.eager.views import readable
from ...snippets.reading import Reading
from ...snippets.trace import Backward
from ..why.answer import Element, Why
from .changes import Finding, evidence, numbers
from .corrections.in_place import base_of, in_place_calls, written
from .corrections.nodes import dotted, keyword, method, owner
from .corrections.probing import place_of, places_of, probed
from .corrections.text import Edit, Text
from .digits import cancelled, last_digits
from .steps import (
    analysis_of,
    computed_by,
    is_spread,
    is_weighted_by_row,
    operands,
    operation,
    records,
    result,
)
from .uses import gradient_is_read, optimisers_of

Look = Callable[[Reading, Text], Iterator[Finding]]

GREW = "The numbers grow from step to step: use a smaller learning rate or clip_grad_norm_."
KEEP = "Keep its operand away from that point: clamp it, or use one function for the whole."


def not_finite(reading: Reading, _: Any, limits: Limits | None) -> Iterator[Finding]:
    """The finding on the first backward pass whose gradients are nan or infinite. Tracing the cause
    ends when the budget of `limits` is used up.
    """
    for turn, back in enumerate(reading.backwards):
        kinds = [kind for g in back.results.values() if (kind := kind_of(g))]
        if kinds:
            traced = _traced(back, limits)
            grew = any(b.line == back.line for b in reading.backwards[:turn])
            keep = GREW if grew else KEEP
            if traced is not None:
                yield _of_elements(reading, back, traced, keep)
            else:
                yield from _of_results(reading, back, kinds[0], keep)
            return


def kind_of(array: Any) -> str:
    """The kind of nonfinite numbers in an array: "nan", "inf", or "" if there are none."""
    if array is None or np.isfinite(array).all():
        return ""
    return "nan" if np.isnan(array).any() else "inf"


def _traced(back: Backward, limits: Limits | None) -> Why | None:
    """The origin of each nonfinite element; None if the pass cannot be converted to a problem of
    gradcli's language, or no element is nonfinite there.
    """
    why = if_applicable(
        lambda: Why(analysis_of(pose_backward(back), limits)), (Unexplained, GradcliError)
    )
    bad = [] if why is None else if_applicable(lambda: _bad(why))
    return why if bad else None


def _bad(why: Why) -> list[Element]:
    """The elements that are not finite, nan before inf."""
    return sorted(
        (e for e in why.elements if e.kind in ("nan", "inf")), key=lambda e: e.kind != "nan"
    )


def _of_elements(reading: Reading, back: Backward, why: Why, keep: str) -> Finding:
    """The finding on the first nonfinite element: its cause, and a finite equal expression."""
    first, *others = _bad(why)
    same_cause = sum((e.kind, e.reason) == (first.kind, first.reason) for e in others)
    more = f" and {same_cause} more" if same_cause else ""
    built = sorted({r.line for r in records(back) if operation(r) == first.operation and r.line})
    rows = [
        (n, f"{first.operation}: the backward pass through it is {first.kind}") for n in built[:1]
    ]
    same = "\nIt is finite at these values, and has the same value and gradient elsewhere."
    return Finding(
        "not-finite",
        f"The gradient of line {back.line} is {first.kind} at {first.name}{more}",
        _nonfinite_leaf(back) or first.reason,
        f"{why.rewritten}{same}" if why.rewritten else keep,
        back.line,
        evidence(reading, *rows, (back.line, f"sends {first.kind} to {first.name}{more}")),
    )


def _nonfinite_leaf(back: Backward) -> str:
    """The name of a leaf whose value is not finite; "" if there is none."""
    for leaf in back.leaves:
        if kind := kind_of(back.values[leaf]):
            return (
                f"{back.paths.get(leaf) or back.called.get(leaf, 'a leaf')} itself contains {kind}"
            )
    return ""


def _of_results(reading: Reading, back: Backward, kind: str, keep: str) -> Iterator[Finding]:
    """The finding on the first operation that returns a nonfinite result for finite operands."""
    for record in reversed(list(records(back))):
        output = result(record)
        given = "" if output is None else kind_of(output.data)
        if given and not any(kind_of(t.data) for t in operands(record)):
            yield Finding(
                "not-finite",
                f"The gradient of line {back.line} is {kind}",
                f"{operation(record)} returns {given} for finite numbers, and backward uses it.",
                keep,
                back.line,
                evidence(reading, (record.line, f"gives {given}"), (back.line, "runs backward")),
            )
            return


CLEARS = re.compile(
    r"zero_grad\(|\.grad\s*=[^=]|\.grad\.(data\.)?(zero_|fill_)|del \w+\.grad|set_\("
)
FLAT = ("Round", "Floor", "Ceil", "Sign", "Trunc", "Heaviside")


def surprises(reading: Reading, limits: Limits | None = None) -> list[Finding]:
    """The findings on a program apart from its error, at most one of each kind. Searches end when
    the budget of `limits` is used up.
    """
    try:
        text = Text(reading.source)
    except SyntaxError:
        return []
    result: dict[str, Finding] = {}
    looks: list[Look] = [partial(not_finite, limits=limits), *FINDERS]
    for look in looks:
        for finding in look(reading, text):
            result.setdefault(finding.kind, finding)
    return list(result.values())


def _name(reading: Reading, tensor: Tensor) -> str:
    """The name of a tensor in the program; "" if it has none."""
    trace = reading.trace
    return trace.paths.get(tensor) or trace.called.get(tensor) or ""


# ---- methods without parentheses -----------------------------------------------------------------


# methods that are called for their effect, apart from those whose names end in _
WITH_EFFECT = ("backward", "step", "zero_grad", "train", "eval", "retain_grad")


def not_called(reading: Reading, text: Text) -> Iterator[Finding]:
    """The finding that a statement names a method and does not call it: `loss.backward`."""
    for node in ast.walk(text.tree):
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Attribute):
            continue
        name = node.value.attr
        if name in WITH_EFFECT or name.endswith("_"):
            yield Finding(
                "not-called",
                f"Line {node.lineno} does not call {name}",
                f"Without parentheses a method is only looked up: {name} does not run.",
                f"line {node.lineno}:  {text.of(node)}()",
                node.lineno,
                evidence(reading, (node.lineno, "no parentheses")),
            )


# ---- accumulated gradients -----------------------------------------------------------------------


def accumulation(reading: Reading, text: Text) -> Iterator[Finding]:
    """The finding that a second backward pass adds to a gradient that was not cleared."""
    if CLEARS.search(ast.unparse(text.tree)):  # unparse omits comments
        return
    backwards = [b for b in reading.trace.backwards if b.kind == "backward"]
    for back in backwards:
        leaf = next((x for x in back.leaves if back.before[x] is not None), None)
        if leaf is None:
            continue
        name = _name(reading, leaf) or "a parameter"
        if _is_replaced(text, name):
            return
        first = next(b for b in backwards if leaf in b.leaves)
        before = numbers(Tensor(back.before[leaf]))
        held = f"{name}.grad holds {before} already" if before else f"{name}.grad is set already"
        shown = [(back.line, f"runs again: {held}")]
        if first.line != back.line:
            shown = [(first.line, f"fills {name}.grad"), (back.line, f"adds to it: {held}")]
        steps = (n for n in ast.walk(text.tree) if method(n) == "step")
        optimizer = next((text.of(owner(n)) for n in steps), "")
        clear = f"{optimizer}.zero_grad()" if optimizer else f"{name}.grad = None"
        yield Finding(
            "accumulates",
            f"Gradients add up: {name}.grad is not the gradient of line {back.line} alone",
            "backward() adds to .grad, which the program does not clear in between.",
            f"{clear} before the next backward pass, unless the sum is meant.",
            back.line,
            evidence(reading, *shown),
        )
        return


def _is_replaced(text: Text, name: str) -> bool:
    """Whether a statement such as `w = w - 0.1 * w.grad` assigns a new tensor to a name, in whose
    .grad nothing adds up.
    """
    assigned = [n for n in ast.walk(text.tree) if isinstance(n, ast.Assign)]
    targets = [n for n in assigned if name in map(ast.unparse, n.targets)]
    return any(f"{name}.grad" in ast.unparse(n.value) for n in targets)


# ---- shapes --------------------------------------------------------------------------------------


COMPARED = (
    "The loss broadcasts: each prediction is compared with every target",
    "the gradient pulls every prediction to the mean of the targets.",
    "Equal shapes: prediction.squeeze(1), or target.unsqueeze(1).",
)
WEIGHTED = (
    "The weights broadcast: each row is multiplied by every weight",
    "every row gets the sum of the weights, not its own.",
    "Equal shapes: weights.unsqueeze(1), or the column with squeeze(1).",
)


def broadcast_loss(reading: Reading, text: Text) -> Iterator[Finding]:
    """The finding that a loss compares a column with a row, every prediction with every target, or
    that a column is multiplied by a row of weights.
    """
    for back in reading.trace.backwards:
        for record in records(back):
            if is_spread(record) or is_weighted_by_row(record):
                title, why, cure = COMPARED if is_spread(record) else WEIGHTED
                shapes = [t.shape for t in operands(record)]
                n = max(map(max, shapes))
                sizes = f"{shapes[0]} against {shapes[1]}"
                yield Finding(
                    "broadcast",
                    title,
                    f"{sizes} becomes {n}×{n}: {why}",
                    cure,
                    record.line,
                    evidence(reading, (record.line, sizes)),
                )
                return


# ---- memory ------------------------------------------------------------------------------------


def repeated_write(reading: Reading, text: Text) -> Iterator[Finding]:
    """The finding that a write to some elements of an expanded tensor changes all of them."""
    for warning in reading.outcome.warnings:
        if "on expanded tensors is deprecated" not in warning.message:
            continue
        yield Finding(
            "repeated-write",
            f"Line {warning.line} changes more elements than it selects",
            "The tensor is expanded, like the gradient that sum() sends back: many elements share "
            "one number in memory, and writing to one of them changes all.",
            _copy_first(text, warning.line),
            warning.line,
            evidence(reading, (warning.line, "writes to an expanded tensor")),
        )
        return


def _copy_first(text: Text, line: int) -> str:
    """Advice to copy the tensor that a line changes in place: "Copy first: y = y.clone()." """
    for statement in text.statements_of(line):
        for call in in_place_calls(statement):
            name = dotted(base_of(owner(call)))
            if name and any(isinstance(n, ast.Lambda) for n in text.around(call)):
                return f"Copy first: {name}.clone() instead of {name}."
        name = dotted(base_of(written(statement)))
        if name:
            return f"Copy first: {name} = {name}.clone()."
    return "Copy first, with .clone()."


# ---- missing gradients ---------------------------------------------------------------------------


def non_leaf(reading: Reading, text: Text) -> Iterator[Finding]:
    """The finding that .grad of a computed tensor is read."""
    for warning in reading.outcome.warnings:
        if "not a leaf Tensor is being accessed" not in warning.message:
            continue
        names = [
            dotted(n.value)
            for n in text.nodes_of(warning.line)
            if isinstance(n, ast.Attribute) and n.attr == "grad"
        ]
        built = {a.name: a for a in reading.trace.assignments if a.line <= warning.line}
        known = [n for n in names if n in built and readable(built[n].tensor)]
        name = next((n for n in known if not built[n].tensor.is_leaf), "")
        if not name:
            continue
        line = built[name].line
        yield Finding(
            "non-leaf",
            f"{name}.grad is None: {name} is computed",
            "backward() fills .grad of leaves only, not of tensors computed from them.",
            f"{name}.retain_grad() after line {line}; or make {name} a leaf: "
            "call requires_grad_() on it, not on the tensors it is computed from.",
            warning.line,
            evidence(
                reading, (line, f"computes {name}"), (warning.line, f"reads {name}.grad: None")
            ),
        )
        return


def no_gradient(reading: Reading, text: Text) -> Iterator[Finding]:
    """The finding that a leaf gets no gradient, as the output does not depend on it."""
    backwards = [b for b in reading.trace.backwards if b.kind == "backward"]
    if not backwards or reading.outcome.exception:
        return
    reached = {x for b in backwards for x in b.leaves}
    leaves = reading.trace.called.names | reading.trace.paths
    for tensor, name in leaves.items():
        wants = readable(tensor) and tensor.requires_grad and tensor.is_leaf
        if (
            not wants
            or tensor in reached
            or tensor.grad is not None
            or not (gradient_is_read(reading, name) or any(optimisers_of(reading, tensor)))
        ):
            continue
        added = _without_graph(reading, text, tensor, name)
        added = added or _derivatives_of(reading, tensor, name)
        cut = None if added else _cut(reading, text)
        reason = cut[1] if cut else "No output of a backward pass was computed from it."
        use = added[1] if added else f"Use {name} in the loss, or remove it."
        last = backwards[-1].line
        shown = [(cut[0], "cuts the graph")] if cut else []
        shown.append((last, f"runs backward, and does not reach {name}"))
        yield Finding(
            "no-gradient",
            f"{name}.grad stays None",
            added[0] if added else reason,
            "" if cut else use,
            last,
            evidence(reading, *shown),
        )
        return


def _without_graph(
    reading: Reading, text: Text, tensor: Tensor, name: str
) -> tuple[str, str] | None:
    """The reason and the advice for a leaf that the loss would reach through a derivative, were
    that computed with create_graph=True; None if it would not.
    """
    for back in reading.trace.backwards:
        if back.kind != "grad" or tensor not in back.leaves:
            continue
        calls = [n for n in text.nodes_of(back.line) if isinstance(n, ast.Call)]
        calls = [n for n in calls if method(n) == "grad" and not keyword(n, "create_graph")]
        for call in calls:
            end = text.end(call) - 1
            changed = text.edited(Edit(end, end, ", create_graph=True"))
            after = reading.again(changed)
            called = after.trace.called
            if any(called.get(x) == name for b in after.backwards[-1:] for x in b.leaves):
                return (
                    f"Line {back.line} computes the derivative without its graph, and {name} is "
                    "in the loss only through it.",
                    f"create_graph=True in line {back.line}.",
                )
    return None


def _derivatives_of(reading: Reading, tensor: Tensor, name: str) -> tuple[str, str] | None:
    """The reason and the advice for a leaf without gradient, if the loss consists of derivatives of
    another output, as in a PINN: None otherwise.
    """
    for back in reading.trace.backwards:
        if back.kind == "grad" and any(leaf is tensor for leaf in back.leaves):
            return (
                f"The loss is computed from the derivatives of line {back.line}, and {name} is in "
                "none of them, just as neither x nor b is in w, the derivative of w * x + b.",
                "None is correct for a loss of derivatives only; a term with the values, "
                f"such as a boundary condition, gives {name} a gradient.",
            )
    return None


def _cut(reading: Reading, text: Text) -> tuple[int, str] | None:
    """A line that cuts the graph before the last backward pass, with the reason; None otherwise."""
    from .corrections.case import Case
    from .corrections.cut_steps import uncut

    match = re.match("", "")
    assert match is not None
    case = Case(reading, match)
    last = reading.trace.backwards[-1].line
    for node in case.all_nodes:
        if node.lineno > last:  # statements after the last backward pass do not cut its graph
            return None
        if (
            isinstance(node, ast.With)
            and "no_grad" in text.of(node.items[0].context_expr)
            and not any("grad" in text.of(s) and isinstance(s, ast.AugAssign) for s in node.body)
        ):
            return node.lineno, f"Line {node.lineno}: operations inside no_grad() are not recorded."
        printed = any(method(a) == "print" for a in text.around(node) if isinstance(a, ast.Call))
        if isinstance(node, ast.Call | ast.Attribute) and not printed:
            if isinstance(getattr(node, "ctx", None), ast.Store):
                continue
            step = uncut(case, node)
            if step is not None:
                return node.lineno, step.why
    return None


def loss_is_leaf(reading: Reading, text: Text) -> Iterator[Finding]:
    """The finding that a loss is a leaf with requires_grad=True: backward() reaches only it."""
    for back in reading.trace.backwards:
        output = back.outputs[0]
        if output.is_leaf and output.requires_grad and back.leaves == [output]:
            name = _name(reading, output)
            if name and f"{name}.grad" in reading.source:
                continue
            cut = _cut(reading, text)
            yield Finding(
                "loss-leaf",
                f"{name or 'The loss'} is a leaf: no tensor before it gets a gradient",
                "Setting requires_grad on the loss hides the error, but does not repair the graph."
                + (f" {cut[1]}" if cut else ""),
                "Remove what cuts the graph, and requires_grad on the loss.",
                back.line,
                evidence(reading, (back.line, "runs backward to itself, and no further")),
            )
            return


# ---- zero gradients ------------------------------------------------------------------------------


def unregistered(reading: Reading, text: Text) -> Iterator[Finding]:
    """The finding that parameters() omits layers in a list, or tensors that are not a Parameter."""
    if ".parameters()" not in reading.source and "state_dict" not in reading.source:
        return
    for name, module in reading.outcome.scope.items():
        fields = getattr(module, "fields", {}) if _is_module(module) else {}
        for attribute, value in fields.items():
            values = value.values() if type(value) is dict else value
            listed = type(value) in (list, tuple, dict) and not attribute.startswith("_")
            if listed and any(_is_module(v) for v in values):
                kind = "ModuleDict" if type(value) is dict else "ModuleList"
                why, cure = f"Modules in a {type(value).__name__} are hidden", f"nn.{kind}(...)"
            elif isinstance(value, Tensor) and value.requires_grad and value.is_leaf:
                why, cure = "A tensor that is not a Parameter is hidden", "nn.Parameter(...)"
            else:
                continue
            line = next((n.lineno for n in _stores(text, attribute)), None)
            yield Finding(
                "unregistered",
                f"{name}.parameters() does not include {name}.{attribute}",
                f"{why} from nn.Module: an optimiser, state_dict() and to() skip them.",
                f"self.{attribute} = {cure}",
                line,
                evidence(reading, (line, "is not registered")),
            )
            return


def _is_module(value: Any) -> bool:
    return "_modules" in (getattr(value, "fields", None) or {})


def _stores(text: Text, name: str) -> Iterator[ast.Attribute]:
    """The assignments to self.name."""
    for node in ast.walk(text.tree):
        if not (isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)):
            continue
        if dotted(node) == f"self.{name}":
            yield node


def flat(reading: Reading, text: Text) -> Iterator[Finding]:
    """The finding that round, sign or floor has a derivative of 0 everywhere."""
    for back in reading.trace.backwards:
        for record in records(back):
            if record.name.startswith(FLAT):
                name = record.name.partition("Backward")[0].lower()
                yield Finding(
                    "flat",
                    f"{name} lets no gradient through",
                    f"The derivative of {name} is 0 wherever it exists: parameters before it do "
                    "not learn.",
                    f"Use straight-through, x + ({name}(x) - x).detach(), or a smooth function.",
                    record.line,
                    evidence(reading, (record.line, "its gradient is 0")),
                )
                return


def dead_relu(reading: Reading, text: Text) -> Iterator[Finding]:
    """The finding that all inputs of a relu are negative."""
    for back in reading.trace.backwards:
        for record in records(back):
            output = result(record)
            dead = record.name.startswith("Relu") and output is not None and output.numel
            if dead and output is not None and not (output.data > 0).any():
                yield Finding(
                    "dead-relu",
                    "A relu lets nothing through: every gradient before it is 0",
                    "All its inputs are 0 or below, where its derivative is 0.",
                    "Use other initial values, a smaller learning rate or leaky_relu.",
                    record.line,
                    evidence(reading, (record.line, f"all {output.numel} outputs are 0")),
                )
                return


# ---- losses --------------------------------------------------------------------------------------


def softmax_twice(reading: Reading, text: Text) -> Iterator[Finding]:
    """The finding that softmax or sigmoid precedes a loss that applies it itself."""
    for back in reading.trace.backwards:
        for record in records(back):
            before = [e.record for e in record.edges if e and isinstance(e.record, Record)]
            for inner in before:
                pair = (_plain(record), _plain(inner))
                if pair not in TWICE:
                    continue
                loss, function = TWICE[pair]
                yield Finding(
                    "softmax-twice",
                    f"{function} before a loss that applies it itself",
                    f"{loss} expects scores: it applies {function} to {function}'s output, "
                    "which shrinks the gradients.",
                    f"Pass the scores to the loss, without {function}.",
                    inner.line,
                    evidence(
                        reading,
                        (inner.line, f"applies {function}"),
                        (record.line, f"{loss} applies it again"),
                    ),
                )
                return


TWICE = {
    ("LogSoftmax", "Softmax"): ("cross_entropy", "softmax"),
    ("LogSoftmax", "LogSoftmax"): ("cross_entropy", "log_softmax"),
    ("BinaryCrossEntropyWithLogits", "Sigmoid"): ("binary_cross_entropy_with_logits", "sigmoid"),
}


def _plain(record: Record) -> str:
    return record.name.partition("Backward")[0]


def ignored_targets(reading: Reading, text: Text) -> Iterator[Finding]:
    """The finding that a loss is nan because it ignores all of its targets."""
    for record in computed_by(reading):
        output, given = result(record), operands(record)
        mean = record.name.startswith("NllLoss") and output is not None and output.numel == 1
        if not mean or output is None or len(given) < 2:
            continue
        if np.isnan(output.data).all() and np.isfinite(given[0].data).all():
            value = given[1].data.flat[0]
            yield Finding(
                "ignored",
                f"The loss of line {record.line} is nan: it ignores all targets",
                f"All targets are {value}, which ignore_index leaves out of the mean: it is 0 / 0. "
                "The gradient is 0.",
                "Skip a batch without targets, or use other targets.",
                record.line,
                evidence(reading, (record.line, "is the mean of no terms")),
            )
            return


def nothing_loaded(reading: Reading, text: Text) -> Iterator[Finding]:
    """The finding that {k: v for k, v in state.items() if k in own} is empty."""
    if ".load_state_dict(" not in reading.source or reading.outcome.exception:
        return
    found = [n for n in ast.walk(text.tree) if isinstance(n, ast.DictComp)]
    found = [n for n in found if any(" in " in text.of(t) for g in n.generators for t in g.ifs)]
    values = probed(reading, places_of(found)) if found else {}
    for node in found:
        if values.get(place_of(node)) == {}:
            (test, *_) = [t for g in node.generators for t in g.ifs]
            yield Finding(
                "nothing-loaded",
                f"Line {node.lineno} leaves nothing to load",
                f"No name of the state passes `{text.of(test)}`: the module keeps its own values.",
                'Compare the names; often one has a prefix: k.removeprefix("module.").',
                node.lineno,
                evidence(reading, (node.lineno, "is empty")),
            )
            return


# ---- modes and outdated code ---------------------------------------------------------------------


def graph_of_gradient(reading: Reading, text: Text) -> Iterator[Finding]:
    """The finding that backward(create_graph=True) builds a graph that is not used."""
    for warning in reading.outcome.warnings:
        if warning.message.startswith("Using backward() with create_graph=True"):
            used = [b for b in reading.trace.backwards if b.line > warning.line]
            yield Finding(
                "create-graph",
                "backward(create_graph=True) ties each gradient to its graph",
                "The .grad of a leaf then has a graph that refers to the leaf: this cycle is not "
                "freed." + ("" if used else " The program does not differentiate it."),
                "torch.autograd.grad(loss, inputs, create_graph=True)"
                if used
                else "Leave create_graph=True out.",
                warning.line,
                evidence(reading, (warning.line, "keeps the graph of the gradients")),
            )
            return


def old_advice(reading: Reading, text: Text) -> Iterator[Finding]:
    """The finding that a program uses names or arguments of releases before 0.4."""
    for node in ast.walk(text.tree):
        title = why = cure = ""
        if isinstance(node, ast.Call) and keyword(node, "volatile"):
            title, why = (
                "volatile does nothing since PyTorch 0.4",
                "Operations on it are still recorded.",
            )
            cure = "with torch.no_grad(): around what should not be recorded."
        elif isinstance(node, ast.Call) and method(node) == "Variable":
            title = "Variable is a tensor since PyTorch 0.4"
            why = "Tensors and Variables are one class; Variable(x) returns a tensor."
            cure = "torch.tensor(..., requires_grad=True)"
        elif isinstance(node, ast.Attribute) and _written_data(reading, text, node):
            title = ".data hides a change from autograd"
            why = (
                "Before 0.4 it was the tensor inside a Variable. Autograd does not notice a change "
                "through it: if backward needs the old values, the gradient is silently wrong."
            )
            cure = "x.detach() to read, with torch.no_grad(): to write."
        elif isinstance(node, ast.Call) and keyword(node, "size_average"):
            title, why = (
                "size_average is reduction since PyTorch 0.4",
                "The old argument still works.",
            )
            cure = 'reduction="mean" or reduction="sum".'
        if title:
            line: int = node.lineno  # type: ignore[attr-defined]
            yield Finding("old-advice", title, why, cure, line, evidence(reading, (line, "dated")))
            return


def _written_data(reading: Reading, text: Text, node: ast.Attribute) -> bool:
    """Whether an attribute is `.data` of a tensor that the program changes through it, and that is
    computed or updated by its gradient.
    """
    if node.attr != "data":
        return False
    tensors = reading.trace.called.tensors(dotted(node.value))
    steps = any(
        ".grad" in text.of(s) for s in text.around(node) if isinstance(s, ast.Expr | ast.AugAssign)
    ) or any(".grad" in text.of(s.value) for s in text.around(node) if isinstance(s, ast.Assign))
    computed = any(readable(t) and t.record is not None for t in tensors)
    if not tensors or not (computed or steps):
        return False
    outer = text.parents.get(node)
    stored = isinstance(node.ctx, ast.Store) or isinstance(getattr(outer, "ctx", None), ast.Store)
    return stored or (isinstance(outer, ast.Attribute) and outer.attr.endswith("_"))


FINDERS: tuple[Look, ...] = (
    not_called,
    accumulation,
    broadcast_loss,
    repeated_write,
    non_leaf,
    loss_is_leaf,
    no_gradient,
    unregistered,
    flat,
    dead_relu,
    softmax_twice,
    graph_of_gradient,
    old_advice,
    ignored_targets,
    nothing_loaded,
    cancelled,
    last_digits,
)
