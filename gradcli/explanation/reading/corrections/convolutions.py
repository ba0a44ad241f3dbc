"""Corrections of convolutions: images and kernels without a channel, shortcuts, the size of the
output.
"""

import ast
from collections.abc import Iterator

from .case import Case, Proposal
from .nodes import argument, calls_in, method, within


def padded_output(case: Case) -> Iterator[Proposal]:
    """Pass output_padding to a transposed convolution whose output is too small."""
    a, b = (int(n) for n in case.match.groups())
    names = ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")
    doubled = []
    for call in case.calls(*names, everywhere=True):
        stride = case.number(argument(call, 3, "stride")) or 1
        why = f"With a stride of {stride} several sizes become one: output_padding says which."
        if argument(call, 5, "output_padding") is not None:
            continue
        if abs(a - b) < stride:
            yield case.given(call, "output_padding", str(abs(a - b)), why=why)
        if stride > 1:
            doubled.append(case.with_keyword(call, "output_padding", str(stride - 1)))
    if len(doubled) > 1:
        why = "With a stride several sizes become one: output_padding says which."
        yield case.proposal(*doubled, why=why)


def strided_shortcut(case: Case) -> Iterator[Proposal]:
    """Use the stride of one convolution of a class for another one that it is added to."""
    for call in case.calls("Conv1d", "Conv2d", "Conv3d", everywhere=True):
        function = case.function_of(call)
        others = [c for c in calls_in(function, method(call)) if c is not call]
        strides = {case.of(s) for c in others if (s := argument(c, 3, "stride")) is not None}
        for stride in strides - {"1"} if argument(call, 3, "stride") is None else ():
            why = "What is added up goes through convolutions of one stride."
            yield case.given(call, "stride", stride, why=why)


def projected_shortcut(case: Case) -> Iterator[Proposal]:
    """Add a 1×1 convolution to a shortcut around convolutions that change channels or sizes."""
    for node in case.of_type(ast.BinOp):
        function = case.function_of(node)
        cls = case.parents.get(function) if function is not None else None
        given = {a.arg for a in function.args.args} if function is not None else set()
        sides = [s for s in (node.left, node.right) if isinstance(s, ast.Name) and s.id in given]
        layers = [(s, s.value) for s in within(cls, ast.Assign) if isinstance(s.value, ast.Call)]
        convolutions = [layer for layer in layers if method(layer[1]).startswith("Conv")]
        if not (isinstance(cls, ast.ClassDef) and len(sides) == 1 and convolutions):
            continue
        (_, first), (statement, last) = convolutions[0], convolutions[-1]
        stride = argument(first, 3, "stride")
        sizes = [case.of(first.args[0]), case.of(last.args[1]), "1"]
        sizes += [f"stride={case.of(stride)}"] if stride is not None else []
        line = f"self.shortcut = {case.of(first.func)}({', '.join(sizes)})"
        yield case.proposal(
            case.after(statement, line),
            case.replacing(sides[0], f"self.shortcut({sides[0].id})"),
            why="The convolutions change channels or size: what goes around them must, too.",
        )


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
