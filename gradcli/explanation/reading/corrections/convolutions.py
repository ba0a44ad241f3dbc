"""Corrections of convolutions: images and kernels without a channel, shortcuts, the size of the
output.
"""

import ast
from collections.abc import Iterator

from .case import Case, Proposal
from .nodes import argument, calls_in, dotted, method


def padded_output(case: Case) -> Iterator[Proposal]:
    """Pass output_padding to a transposed convolution whose output is too small."""
    a, b = (int(n) for n in case.match.groups())
    names = ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")
    doubled = []
    for call in case.calls(*names, everywhere=True):
        stride = case.number(argument(call, 3, "stride")) or 1
        why = f"With a stride of {stride} several sizes are possible: output_padding selects one."
        if argument(call, 5, "output_padding") is not None:
            continue
        if abs(a - b) < stride:
            yield case.given(call, "output_padding", str(abs(a - b)), why=why)
        if stride > 1:
            doubled.append(case.with_keyword(call, "output_padding", str(stride - 1)))
    if len(doubled) > 1:
        why = "With a stride several output sizes are possible: output_padding selects one."
        yield case.proposal(*doubled, why=why)


def projected_shortcut(case: Case) -> Iterator[Proposal]:
    """Add self.shortcut, a convolution with a kernel of size 1, to a residual block whose output
    has other channels, or is smaller, than the input that is added to it.
    """
    function = case.function_of(case.statement)
    inputs = [a.arg for a in function.args.args[1:2]] if function is not None else []
    added = [n for n in case.of_type(ast.BinOp, ast.AugAssign) if isinstance(n.op, ast.Add)]
    sides = [s for n in added for s in ((n.left, n.right) if hasattr(n, "left") else (n.value,))]
    for cls in [c for c in case.around(case.statement) if isinstance(c, ast.ClassDef)][:1]:
        made = [c for c in calls_in(cls, "Conv1d", "Conv2d", "Conv3d") if len(c.args) > 1]
        for x in [s for s in sides if dotted(case.made(s)) in inputs and made]:
            into, out = case.of(made[0].args[0]), case.of(made[-1].args[1])
            strides = [case.of(s) for c in made if (s := argument(c, 3, "stride")) is not None]
            stride = next((s for s in strides if s != "1"), "1")
            layer = f"{case.of(made[0].func)}({into}, {out}, 1, stride={stride})"
            identity = case.of(made[0].func).replace(method(made[0]), "Identity()")
            same = f" if {stride} != 1 or {into} != {out} else {identity}"
            line = f"self.shortcut = {layer}{'' if (into + out).isdigit() else same}"
            last = case.statement_of(made[-1])
            edits = case.after(last, line), case.replacing(x, f"self.shortcut({dotted(x)})")
            why = "The block changes the shape: what is added to its output must change as well."
            yield case.proposal(*edits, why=why, note="A convolution with a kernel of size 1.")


def strided_shortcut(case: Case) -> Iterator[Proposal]:
    """Use the stride of one convolution of a class for another one that it is added to."""
    for call in case.calls("Conv1d", "Conv2d", "Conv3d", everywhere=True):
        function = case.function_of(call)
        others = [c for c in calls_in(function, method(call)) if c is not call]
        strides = {case.of(s) for c in others if (s := argument(c, 3, "stride")) is not None}
        for stride in strides - {"1"} if argument(call, 3, "stride") is None else ():
            why = "Both terms of the sum need convolutions with the same stride."
            yield case.given(call, "stride", stride, why=why)


def exchanged_channels(case: Case, expected: int, got: int) -> Iterator[Proposal]:
    """Exchange the first two sizes of a kernel that has the input channels first; else make it for
    as many channels as there are.
    """
    for call in case.calls("conv1d", "conv2d", "conv3d"):
        kernel = argument(call, 1, "weight")
        shape = case.shape(kernel) or ()
        if kernel is not None and shape[:2] == (1, 1) and not case.tensor(kernel).requires_grad:  # type: ignore[union-attr]
            many = f"{case.operand(call.args[0])}.shape[1]"
            repeated = f".repeat({many}, {', '.join('1' * (len(shape) - 1))})"
            edits = [case.appending(kernel, repeated), case.with_keyword(call, "groups", many)]
            if edits[0].end == edits[1].start:  # the kernel is the last argument
                edits = [case.appending(kernel, f"{repeated}, groups={many}")]
            yield case.proposal(*edits, note="Each channel is convolved with the kernel.")
        made = [c for s in case.makers(kernel)[:1] for c in calls_in(s.value)] if kernel else []
        for out, into in [m.args[:2] for m in made if [*map(case.number, m.args)] == [*shape]]:
            why = "A kernel has the output channels first, then the input channels."
            if shape[:2] == (got, expected):
                yield case.exchanged(out, into, why=why, reprints=True)
            yield case.replaced(into, str(got), why=why, reprints=True)


def kernel_of_plane(case: Case) -> Iterator[Proposal]:
    """Write kernel[None, None] for a kernel with one input and one output channel."""
    for call in case.calls("conv1d", "conv2d", "conv3d"):
        kernel, places = argument(call, 1, "weight"), int(method(call)[4])
        if kernel is not None and len(case.shape(kernel) or ()) == places:
            note = "One channel in, one channel out."
            yield case.appended(kernel, "[None, None]", note=note)


def image_of_plane(case: Case) -> Iterator[Proposal]:
    """Make a matrix an image with one channel."""
    for call in case.calls():
        for given in call.args[:1]:
            note = "One image of one channel: batch, channel, height, width."
            yield case.appended(given, "[None, None]", note=note)
