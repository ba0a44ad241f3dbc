"""Convolutions over one, two and three dimensions, defined once for n dimensions.

A transposed convolution is computed as the gradient of a convolution with respect to its input.
"""

from ..errors import GradcliError
from ..graphs import OPS, as_node, shapes
from .contractions import einsum
from .families import composite, is_integer, named, require, shorthand
from .pointwise import F
from .windows import Kernel, several, zeros_around

SPACE = {1: "length", 2: "rows, columns", 3: "depth, rows, columns"}


class _Grouped(Kernel):
    """A kernel of a grouped convolution."""

    def __init__(self, n, size, stride, padding, dilation, groups):
        super().__init__(n, size, stride, padding, dilation)
        self.groups = groups

    def sums(self, pattern, batched, *operands):
        """The einsum of windows, kernels and outputs.

        In the pattern, P stands for output positions, K for kernel positions, n for the batch, g
        for groups, i and o for the channels of input and output within a group.
        """
        batch, several = "n" if batched else "", "g" if self.groups > 1 else ""
        terms = {"n": batch, "g": several, "P": "xyz"[: self.n], "K": "klm"[: self.n]}
        return einsum("".join(terms.get(k, k) for k in pattern), *operands)

    def grouped(self, x, dim):
        """Split the channel dimension into (groups, channels per group)."""
        if self.groups == 1:
            return x
        dim %= x.ndim
        sizes = (self.groups, x.shape[dim] // self.groups)
        return x.reshape(shape=(*x.shape[:dim], *sizes, *x.shape[dim + 1 :]))

    def check_output(self, output_size, input, weight):
        """Raise GradcliError unless `output_size` is the output's shape for input and weight."""
        n = self.n
        padded = tuple(m + a + b for m, (a, b) in zip(input[-n:], self.edges))
        needed = (*input[: -n - 1], weight[0], *self.positions(padded))
        message = f"the gradient of conv{n}d()'s output must have the shape {{have}}, got {{want}}"
        shapes.require_equal(output_size, needed, message)

    def merged(self, x, dim):
        """Merge the dimensions (groups, channels per group) into one channel dimension."""
        if self.groups == 1:
            return x
        dim %= x.ndim
        count = x.shape[dim] * x.shape[dim + 1]
        return x.reshape(shape=(*x.shape[:dim], count, *x.shape[dim + 2 :]))


def _kernel(n, input, weight, stride, padding, dilation, groups):
    """The kernel of a convolution. Raises GradcliError unless input and weight fit."""
    require(all(map(is_integer, (*input, *weight))), "a size must be an integer")
    channels = weight[1] * groups if len(weight) > 1 else 0
    _check(f"conv{n}d", n, input, weight, groups, channels)
    return _Grouped(n, weight, stride, padding, dilation, groups)


def _check(name, n, input, weight, groups, channels):
    """Raise GradcliError unless weight has n + 2 dimensions, input n + 2, or n + 1 without a batch,
    and their channels fit.
    """
    if not is_integer(groups) or groups < 1:
        raise GradcliError("arguments", f"{name}() needs positive groups, got {groups!r}")
    if len(input) not in (n + 1, n + 2) or len(weight) != n + 2:
        order = "out, in" if "transpose" not in name else "in, out"
        raise GradcliError(
            "shape",
            f"{name}() needs an input of shape (batch, channels, {SPACE[n]}) "
            f"and a weight of shape ({order}, {SPACE[n]}), "
            f"not {shapes.text(input)} and {shapes.text(weight)}",
        )
    have = input[-n - 1]
    if have != channels:
        raise shapes.Conflict(
            f"{name}() needs {channels} channels for this weight, and the input has {have}",
            have,
            channels,
            _of_input(weight, have, groups) if "transpose" not in name else None,
        )
    if weight[0] % groups:
        raise GradcliError("shape", f"{weight[0]} channels do not divide into {groups!r} groups")


def _of_input(weight, channels, groups):
    """A hint with the shape of a weight that fits the input's channels; None if these cannot be
    divided into groups.
    """
    if channels % groups:
        return None
    fitting = shapes.text((weight[0], channels // groups, *weight[2:]))
    return f"a weight for this input{f' in {groups} groups' * (groups > 1)} has shape {fitting}"


def _with_bias(out, bias, n):
    if bias is None:
        return out
    channels = out.shape[-n - 1]
    message = f"a bias of shape {{have}} does not fit {channels} output channels"
    shapes.require_equal(bias.shape, (channels,), message)
    return out + bias.reshape(shape=(channels, *(1,) * n))


def _batched(rule, n):
    """The rule of a convolution for batched and unbatched inputs; `rule` needs batched ones."""

    def any_rule(g, y, input, *others, **how):
        if input.ndim == n + 2:
            return rule(g, y, input, *others, **how)
        batches = g.unsqueeze(dim=0), y, input.unsqueeze(dim=0)
        results = rule(*batches, *others, **how)
        if results is NotImplemented:
            return results
        to_input, *rest = results
        return to_input.squeeze(dim=0), *rest

    return any_rule


def _to_bias(g, bias):
    return None if bias is None else g.sum(dim=(0, *range(2, g.ndim)))


def _convolution(n):
    name, x, w = f"conv{n}d", "x".join("3" * n), "x".join("2" * n)

    def rule(g, y, input, weight, bias=None, *, stride, padding, dilation, groups):
        edges = _Grouped(n, weight.shape, stride, padding, dilation, groups).edges
        if any(a != b for a, b in edges):  # conv2d_input pads both sides by the same number
            return NotImplemented
        same = isinstance(padding, str)
        how = {"stride": stride, "padding": tuple(a for a, _ in edges) if same else padding}
        how |= {"dilation": dilation, "groups": groups, "grad_output": g}
        to_input = OPS[name + "_input"](weight=weight, input_size=input.shape, **how)
        to_weight = OPS[name + "_weight"](input=input, weight_size=weight.shape, **how)
        return to_input, to_weight, _to_bias(g, bias)

    @composite(
        input_dtypes="numbers of one dtype",
        torch=F + name,
        rule=_batched(rule, n),
        typical_inputs=("batches",),
        examples=(
            (f"{name}(x, w, b, stride=2)", f"x=2x{x},w=2x2x{w},b=2"),
            (f"{name}(x, w, b, padding=1)", f"x=2x2x{x},w=3x2x{w},b=3"),
            (f"{name}(x, w, groups=2)", f"x=1x4x{x},w=2x2x{w}"),
            (f"{name}(x, w, padding='same', dilation=2)", f"x=1x1x{x},w=1x1x{w[:-1]}3"),
        )[: 4 if n < 3 else 1],
    )
    @named(
        name,
        "At every position, the sum of products of the kernel and the part of the input under it.",
    )
    def meaning(input, weight, bias=None, *, stride=1, padding=0, dilation=1, groups=1):
        kernel = _kernel(n, input.shape, weight.shape, stride, padding, dilation, groups)
        parts = kernel.grouped(kernel.parts(input), -2 * n - 1)
        kernels = kernel.grouped(weight, 0)
        out = kernel.sums("ngiPK,goiK->ngoP", input.ndim == n + 2, parts, kernels)
        return _with_bias(kernel.merged(out, -n - 2), bias, n)


def _by_input(n):
    name, x, g = f"conv{n}d_input", "3, " * n, "x".join("2" * n)
    w, wide = g, "x".join("4" * n)

    def rule(g, y, weight, grad_output, *, input_size, **how):
        to_weight = OPS[f"conv{n}d_weight"](
            input=g, grad_output=grad_output, weight_size=weight.shape, **how
        )
        return to_weight, OPS[f"conv{n}d"](g, weight, **how)

    @composite(
        input_dtypes="floats of one dtype",
        torch=f"torch.nn.grad.{name}",
        rule=rule,
        flops=lambda out, weight, g, **_: _products(g, weight),
        order="input_size weight grad_output stride padding dilation groups",
        examples=(
            (f"{name}((1, 1, {x[:-2]}), w, g)", f"w=2x1x{w},g=1x2x{g}"),
            (
                f"{name}((1, 2, {x[:-2]}), w, g, padding=1, groups=2)",
                f"w=2x1x{w},g=1x2x{wide}",
            ),
        )[: 2 if n < 3 else 1],
    )
    @named(
        name,
        f"The gradient of conv{n}d with respect to its input: a transposed convolution.",
    )
    def meaning(weight, grad_output, *, input_size, stride=1, padding=0, dilation=1, groups=1):
        kernel = _kernel(n, input_size, weight.shape, stride, padding, dilation, groups)
        kernel.check_output(grad_output.shape, input_size, weight.shape)
        return _transposed_convolution(kernel, weight, grad_output, input_size[-n:])


def _products(g, weight):
    """FLOP of a transposed convolution of g: two for each element of g and each of its kernel."""
    return 2 * shapes.numel(g) * shapes.numel(weight[1:])


def _transposed_convolution(kernel, weight, g, size):
    """The transposed convolution of g: the kernel times each element of g, added at its position in
    an output of spatial size `size`.
    """
    n = kernel.n
    outputs, kernels = kernel.grouped(g, -n - 1), kernel.grouped(weight, 0)
    parts = kernel.sums("ngoP,goiK->ngiPK", g.ndim == n + 2, outputs, kernels)
    return kernel.transposed(kernel.merged(parts, -2 * n - 2), size)


def _by_weight(n):
    name, x, w, g = f"conv{n}d_weight", "x".join("3" * n), "2, " * n, "x".join("2" * n)
    wide = "x".join("4" * n)

    def rule(g, y, input, grad_output, *, weight_size, **how):
        to_input = OPS[f"conv{n}d_input"](
            weight=g, grad_output=grad_output, input_size=input.shape, **how
        )
        return to_input, OPS[f"conv{n}d"](input, g, **how)

    @composite(
        input_dtypes="floats of one dtype",
        torch=f"torch.nn.grad.{name}",
        rule=rule,
        order="input weight_size grad_output stride padding dilation groups",
        examples=(
            (f"{name}(x, (2, 1, {w[:-2]}), g)", f"x=2x1x{x},g=2x2x{g}"),
            (f"{name}(x, (2, 1, {w[:-2]}), g, padding=1, groups=2)", f"x=1x2x{x},g=1x2x{wide}"),
        )[: 2 if n < 3 else 1],
    )
    @named(
        name,
        f"The gradient of conv{n}d with respect to its weight: output gradients times "
        "input windows, summed.",
    )
    def meaning(input, grad_output, *, weight_size, stride=1, padding=0, dilation=1, groups=1):
        kernel = _kernel(n, input.shape, weight_size, stride, padding, dilation, groups)
        kernel.check_output(grad_output.shape, input.shape, weight_size)
        parts = kernel.grouped(kernel.parts(input), -2 * n - 1)
        outputs = kernel.grouped(grad_output, -n - 1)
        out = kernel.sums("ngoP,ngiPK->goiK", input.ndim == n + 2, outputs, parts)
        return kernel.merged(out, 0)


def _transposed_flops(out, x, weight, bias, **_):
    """FLOP, with an addition for each element of the output if there is a bias."""
    return _products(x, weight) + (0 if bias is None else shapes.numel(out))


def _transposed_rule(n):
    def rule(g, y, input, weight, bias=None, *, stride, padding, output_padding, groups, dilation):
        how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        to_input = OPS[f"conv{n}d"](g, weight, **how)
        to_bias = _to_bias(g, bias)
        if to_input.shape != input.shape:  # output_padding added elements that no window covers
            to_input = to_input[(..., *map(slice, input.shape[-n:]))]
            kernel = _Grouped(n, weight.shape, stride, padding, dilation, groups)
            covered = zip(input.shape[-n:], kernel.stride, kernel.spread)
            g = zeros_around(g, kernel.edges)[(..., *(slice(m * s + k) for m, s, k in covered))]
            how["padding"] = 0
        how["weight_size"] = weight.shape
        return to_input, OPS[f"conv{n}d_weight"](input=g, grad_output=input, **how), to_bias

    return _batched(rule, n)


def _transposed_size(name, kernel, size, output_padding):
    """The size of the output for an input of `size`. Raises GradcliError if it is empty."""
    more = several(output_padding, kernel.n)
    if any(p >= max(s, d) for p, s, d in zip(more, kernel.stride, kernel.dilation)):
        raise GradcliError("arguments", "output_padding must be below stride or dilation")
    inner = zip(size, kernel.stride, kernel.spread, kernel.edges, more)
    result = tuple(m * s + spread - a - b + p for m, s, spread, (a, b), p in inner)
    if min(result) < 1:
        raise GradcliError("shape", f"the output of {name}() would be empty: {shapes.text(result)}")
    return result


def _transposed(n):
    name, x, w = f"conv_transpose{n}d", "x".join("2" * n), "x".join("2" * n)

    @composite(
        input_dtypes="numbers of one dtype",
        torch=F + name,
        rule=_transposed_rule(n),
        typical_inputs=("batches",),
        flops=_transposed_flops,
        examples=(
            (f"{name}(x, w, b, stride=2, padding=1)", f"x=2x2x{x},w=2x3x{w},b=3"),
            (f"{name}(x, w, output_padding=1, groups=2, dilation=2)", f"x=2x{x},w=2x1x{w}"),
        )[: 2 if n < 3 else 1],
    )
    @named(
        name, f"Each element times the kernel, added into the output: the transpose of conv{n}d."
    )
    def meaning(
        input, weight, bias=None, *, stride=1, padding=0, output_padding=0, groups=1, dilation=1
    ):
        channels = weight.shape[0] if weight.ndim else 0
        _check(name, n, input.shape, weight.shape, groups, channels)
        kernel = _Grouped(n, weight.shape, stride, padding, dilation, groups)
        size = _transposed_size(name, kernel, input.shape[-n:], output_padding)
        return _with_bias(_transposed_convolution(kernel, weight, input, size), bias, n)


for _n in (1, 2, 3):
    for _declare in (_convolution, _by_input, _by_weight, _transposed):
        _declare(_n)


@shorthand(input_dtypes="numbers of one dtype", booleans=("transposed",))
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """conv1d, conv2d or conv3d, or their transposes, depending on the dimensions of input."""
    count = as_node(input).ndim - 2
    if count not in (1, 2, 3):
        raise GradcliError("shape", f"convolution() takes 3 to 5 dimensions, got {count + 2}")
    name = f"conv_transpose{count}d" if transposed else f"conv{count}d"
    padded = output_padding if isinstance(output_padding, tuple) else (output_padding,)
    fits = all(is_integer(p) and p >= 0 for p in padded)
    require(fits, f"output_padding of convolution() must be at least 0, got {output_padding!r}")
    how = {"output_padding": output_padding} if transposed else {}
    how |= {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return OPS[name](input, weight, bias, **how)


@shorthand(input_dtypes="numbers of one dtype")
def conv_tbc(input, weight, bias, pad=0):
    """conv1d of an input with dimensions (time, batch, channels)."""
    x, kernel = as_node(input).permute(dims=(1, 2, 0)), weight.permute(dims=(2, 1, 0))
    return OPS["conv1d"](x, kernel, bias, padding=pad).permute(dims=(2, 0, 1))
