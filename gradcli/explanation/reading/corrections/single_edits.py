"""Cures that are one edit of one kind of place: a table of messages, reasons and edits."""

import ast
from collections.abc import Callable, Iterator

from .case import Case, Proposal
from .cut_steps import SMOOTH
from .nodes import keyword
from .table import cures

Edits = Callable[[Case], Iterator[Proposal]]


def renaming(*names: str, to: str) -> Edits:
    """Another attribute, or method, on the line that raises."""
    return lambda case: (case.renamed_to(n, to) for n in case.attributes(*names))


def giving(call: str, name: str, value: str) -> Edits:
    """A keyword argument of the calls of a function."""
    return lambda case: (case.given(c, name, value) for c in case.calls(call, everywhere=True))


def leaving_out(name: str) -> Edits:
    """The calls that go back here without a keyword argument."""
    return lambda case: (p for c in case.here for p in case.change(case.without_keyword(c, name)))


def argument_then(*names: str, end: str) -> Edits:
    """Something called on the first argument of calls."""
    given = lambda case: [c.args[0] for c in case.calls(*names) if c.args]  # noqa: E731
    return lambda case: (case.appended(a, end) for a in given(case))


def _qr_mode(case: Case) -> Iterator[Proposal]:
    """mode="reduced"."""
    for call in case.calls("qr", everywhere=True):
        if named := keyword(call, "mode"):
            yield case.replaced(named.value, '"reduced"')


def _step_alone(case: Case) -> Iterator[Proposal]:
    """step()."""
    for call in case.calls("step"):
        if call.args:
            yield case.replaced(call.args[0], "")


def _unchecked(case: Case) -> Iterator[Proposal]:
    """The check left out."""
    note = "The gradient stays nan; find where it becomes so."
    for call in case.calls("clip_grad_norm_"):
        cut = case.without_keyword(call, "error_if_nonfinite")
        yield from case.change(cut, note=note, weak=True)


def _sigmoid(case: Case) -> Iterator[Proposal]:
    """torch.sigmoid(x) for torch.heaviside(x, values)."""
    for call in case.calls("heaviside", everywhere=True):
        if len(call.args) == 2:
            yield case.replaced(call, f"torch.sigmoid({case.of(call.args[0])})", note=SMOOTH)


def _as_text(case: Case) -> Iterator[Proposal]:
    """str(...)."""
    for node in case.of_type(ast.BinOp):
        if isinstance(node.op, ast.Add):
            yield case.replaced(node.right, f"str({case.of(node.right)})")


TABLE: tuple[tuple[str, str, Edits], ...] = (
    (
        r"view size is not compatible with input tensor's size and stride",
        "The elements do not stand in memory in this order; reshape copies them where it must.",
        renaming("view", to="reshape"),
    ),
    (
        r"zero-dimensional tensor \(at position \d+\) cannot be concatenated",
        "cat joins along a dimension, and a single number has none.",
        renaming("cat", "concat", to="stack"),
    ),
    (
        "post accumulate grad hooks cannot be registered on non-leaf tensors",
        "Gradients accumulate in leaves alone.",
        renaming("register_post_accumulate_grad_hook", to="register_hook"),
    ),
    (
        r"masked_fill_? only supports boolean masks",
        "A mask says of each element whether it is one: it is boolean.",
        argument_then("masked_fill", "masked_fill_", end=".bool()"),
    ),
    (
        "a leaf Variable that requires grad has been used in an in-place operation",
        "The Function changes its input in place, and a leaf may not be changed.",
        argument_then("apply", end=".clone()"),
    ),
    (
        "When use_reentrant=True, torch.utils.checkpoint is incompatible",
        "The re-entrant form of checkpoint runs a backward of its own.",
        giving("checkpoint", "use_reentrant", "False"),
    ),
    (
        r"vmap: called random operation while in randomness error mode",
        "Whether each sample has random numbers of its own is for the program to say.",
        giving("vmap", "randomness", '"different"'),
    ),
    (
        r"`grad_tensors` and `grad_variables`",
        "Both are names of the seeds.",
        leaving_out("grad_variables"),
    ),
    (
        r"Expected allow_unused to be True",
        "materialize_grads=True is for unused inputs.",
        leaving_out("allow_unused"),
    ),
    (
        r"The derivative of linalg.qr depends on Q|The QR decomposition is not differentiable",
        "Only the reduced decomposition has a derivative.",
        _qr_mode,
    ),
    (
        r"'(float|Tensor|int)' object is not callable",
        "An optimiser's step() takes a function that computes the loss, or nothing.",
        _step_alone,
    ),
    (
        r"The total norm of order .* for gradients from `parameters` is non-finite",
        "A gradient is nan or infinite: no factor makes its norm 1.",
        _unchecked,
    ),
    (
        "derivative for aten::heaviside is not implemented",
        "A step has derivative 0 on both sides, and none at the step itself.",
        _sigmoid,
    ),
    (
        r'can only concatenate str \(not "(\w+)"\) to str',
        "Text is joined with text alone.",
        _as_text,
    ),
)

for pattern, why, edits in TABLE:
    cures(pattern, why)(edits)
