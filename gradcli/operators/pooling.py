"""Average and maximum pooling over one, two and three dimensions."""

import math
from itertools import product
from operator import mul

from ..budget import EVERY, tick
from ..errors import GradcliError
from ..graphs import INTERMEDIATE, OPS, Outputs, shapes
from ..graphs.arguments import REQUIRED
from ..graphs.operator import check_dtypes
from ..lazy import np
from . import elements
from .arithmetic import abs, sign
from .bounds import ANY, summed
from .families import composite, named, operator, shorthand
from .leaves import Array
from .pointwise import F, relu
from .rounding import div_trunc
from .windows import several, zeros_around

LAYOUTS = {1: "L", 2: "H, W", 3: "D, H, W"}


def _check(name, n, s):
    if len(s) not in (n + 1, n + 2):
        raise GradcliError(
            "shape",
            f"{name}() needs shape (N, C, {LAYOUTS[n]}) or (C, {LAYOUTS[n]}), got {shapes.text(s)}",
        )
    if 0 in s[-n - 1 :]:
        raise GradcliError("shape", f"{name}() of a shape without elements: {shapes.text(s)}")


class _Windows1d:
    """The windows along one dimension."""

    def __init__(self, size, kernel, stride, padding, dilation, ceil_mode):
        self.size, self.kernel, self.stride = size, kernel, stride
        self.padding, self.dilation = padding, dilation
        if min(kernel, stride, dilation) < 1 or padding < 0:
            raise GradcliError("arguments", "kernel_size, stride and dilation must be positive")
        self.reach = dilation * (kernel - 1) + 1  # the effective kernel size
        if padding > self.reach // 2:
            raise GradcliError(
                "arguments", "padding must be at most half of the effective kernel size"
            )
        last_start = size + 2 * padding - self.reach
        self.count = (last_start + (stride - 1 if ceil_mode else 0)) // stride + 1
        if ceil_mode and (self.count - 1) * stride >= size + padding:
            self.count -= 1  # no window starts in the padding after the end
        if self.count < 1:
            raise GradcliError(
                "shape", f"the effective kernel size {self.reach} exceeds the input size {size}"
            )

    @property
    def overhang(self):
        """The number of elements by which the last window exceeds the padded input."""
        return max(0, (self.count - 1) * self.stride + self.reach - self.size - self.padding)

    def divisors(self, count_include_pad):
        """The divisor of each window's mean."""
        start = np.arange(self.count) * self.stride - self.padding
        end = np.minimum(start + self.kernel, self.size + self.padding)
        if count_include_pad:
            return end - start
        return np.minimum(end, self.size) - np.maximum(start, 0)

    def indices(self):
        """The indices of the elements in each window; padding is replaced by the nearest element of
        the window.
        """
        start = (np.arange(self.count) * self.stride - self.padding)[:, None]
        first = np.where(start < 0, start % self.dilation, start)
        last = start + (self.size - 1 - start) // self.dilation * self.dilation
        return np.clip(start + np.arange(self.kernel) * self.dilation, first, last)


def _windows(name, n, s, kernel_size, stride, padding, dilation=1, ceil_mode=False):
    _check(name, n, s)
    kernel = several(kernel_size, n)
    stride = kernel if stride is None or stride == () else several(stride, n)
    windows = zip(s[-n:], kernel, stride, several(padding, n), several(dilation, n))
    return [_Windows1d(*each, ceil_mode) for each in windows]


# ---- averages ------------------------------------------------------------------------------------


def _divisor(windows, count_include_pad):
    """The number of elements of each window: a number, or a tensor if they differ."""
    out = 1
    for d, window in enumerate(windows):
        sizes = window.divisors(count_include_pad)
        if (sizes == sizes[0]).all():
            out = out * int(sizes[0])
            continue
        data = Array(sizes, f"tensor({sizes.tolist()})")
        out = OPS["tensor"](data=data).reshape(shape=(-1, *(1,) * (len(windows) - d - 1))) * out
    return out


def _averaged(x, *, divisor_override=None, **_):
    return summed(x) if divisor_override is None or divisor_override > 0 else ANY


def _average(n):
    name, x, y = f"avg_pool{n}d", "x".join("2" * n), "x".join("3" * n)

    @named(name, "The average of each window.")
    def meaning(input, *, kernel_size, stride, padding, ceil_mode, count_include_pad, **more):
        windows = _windows(name, n, input.shape, kernel_size, stride, padding, 1, ceil_mode)
        around = tuple((s.padding, max(s.padding, s.overhang)) for s in windows)
        how = {"stride": tuple(s.stride for s in windows), "dilation": (1,) * n}
        parts = zeros_around(input, around).windows(kernel=several(kernel_size, n), **how)
        divisor = more.get("divisor_override")
        if divisor == 0:
            raise GradcliError("arguments", "divisor_override must not be 0")
        total = parts.sum(dim=tuple(range(-n, 0)))
        count = _divisor(windows, count_include_pad) if divisor is None else divisor
        return div_trunc(total, count) if input.dtype == "int" else total / count

    attributes = {"kernel_size": REQUIRED, "stride": None, "padding": 0, "ceil_mode": False}
    attributes["count_include_pad"] = True
    composite(
        input_dtypes="numbers",
        torch=F + name if n > 1 else "torch." + name,
        attributes=attributes | ({"divisor_override": None} if n > 1 else {}),
        integer_attributes=("divisor_override",),
        examples=(
            (f"{name}(x, 2)", f"x=1x2x{x}"),
            (f"{name}(x, 3, stride=2, padding=1, count_include_pad=False)", f"x=1x{y}"),
        ),
        saved=(..., "input"),
        zero_second_derivative=True,
        bounds=_averaged,
    )(meaning)


# ---- maxima --------------------------------------------------------------------------------------


def _largest(x, indices):
    """The row-major flat index of the largest element of each window; nan counts as largest. As in
    PyTorch, the first of equal elements is selected, but the last nan.
    """
    sizes = x.shape[-len(indices) :]
    best = result = None
    for k in product(*(range(p.shape[1]) for p in indices)):
        tick(EVERY)
        position = np.ix_(*(p[:, i] for p, i in zip(indices, k)))
        candidate = x[(..., *position)]
        flat_index = np.ravel_multi_index(np.broadcast_arrays(*position), sizes)
        if best is None:
            best, result = candidate, np.broadcast_to(flat_index, candidate.shape)
            continue
        better = (candidate > best) | np.isnan(candidate)
        best, result = np.where(better, candidate, best), np.where(better, flat_index, result)
    return result


def _workspace(out, counts, kernels):
    """Elements of the indices by dimension, and of the arrays of one place in all windows."""
    return 3 * sum(map(mul, counts, kernels)) + 6 * shapes.numel(out)


def _flat_indices(indices, sizes):
    """The row-major flat indices of the elements in each window."""
    n = len(indices)
    by_dimension = [
        np.expand_dims(p, tuple(k for k in range(2 * n) if k not in (d, n + d)))
        for d, p in enumerate(indices)
    ]
    flat = np.ravel_multi_index(np.broadcast_arrays(*by_dimension), sizes)
    return flat.reshape(*flat.shape[:n], -1)


def _largest_in_symbols(sp, x, indices):
    """`_largest` for SymPy elements: Piecewise expressions of indices."""
    n, sizes = len(indices), x.shape[-len(indices) :]
    counts = tuple(len(p) for p in indices)
    rows = x.reshape(*x.shape[:-n], -1)
    out = np.empty((*x.shape[:-n], *counts), object)
    for place in np.ndindex(out.shape):
        window = product(*(p[i].tolist() for p, i in zip(indices, place[-n:])))
        flat = list(dict.fromkeys(int(np.ravel_multi_index(w, sizes)) for w in window))
        result = elements.argextreme(sp, "Max", *(rows[place[:-n]][k] for k in flat))
        out[place] = elements.at_index(
            sp, result, len(flat), lambda k, flat=flat: sp.Integer(flat[k])
        )
    return out


def _ties(name, n, indices):
    """The field `kink`: the mask of windows whose maximum is tied; arguments as of `_maximum`."""

    def tied(y, input, **how):
        sizes = input.shape[-n:]
        in_window = Array(_flat_indices(indices(input.shape, **how), sizes), "indices")
        first = OPS[f"{name}_indices"](input, **how).unsqueeze(dim=-1)
        rows = input.reshape(shape=(*input.shape[:-n], shapes.numel(sizes)))
        equal = rows[(..., in_window)].eq(y.unsqueeze(dim=-1))
        return (equal & first.ne(OPS["tensor"](data=in_window))).any(dim=-1)

    return tied


def _maximum(name, n, counts, kernels, indices, attributes, sentence, examples):
    """Declare the operators `name` and `name`_indices.

    For each dimension, counts(shape, **attrs) returns the number of windows, kernels(shape,
    **attrs) the most elements of one, and indices(shape, **attrs) an array with the indices of the
    elements in each window.
    """
    _indices(name, n, counts, kernels, indices, attributes, examples)

    @named(name, sentence)
    def meaning(input, **how):
        index, head = OPS[f"{name}_indices"](input, **how), input.shape[:-n]
        rows = input.reshape(shape=(*head, shapes.numel(input.shape[-n:])))
        flat_index = index.reshape(shape=(*head, shapes.numel(index.shape[-n:])))
        return rows.gather(dim=-1, index=flat_index).reshape(shape=index.shape)

    composite(
        input_dtypes="numbers",
        torch=F + name,
        attributes=attributes,
        kink=_ties(name, n, indices),
        caveat="of equal elements the first receives the whole gradient",
        examples=examples,
        saved=(..., "input", INTERMEDIATE),
        zero_second_derivative=True,
        exact="all",
    )(meaning)


def _indices(name, n, counts, kernels, indices, attributes, examples):
    """Declare the operator `name`_indices, which computes the indices that `name` returns with
    return_indices=True.
    """

    @named(
        f"{name}_indices",
        f"The row-major flat indices of the elements that {name} selects; no gradient.",
    )
    def selected(g, y, input, **how):
        return None

    arguments = ", ".join(f"{key}={{{key}}}" for key in list(attributes)[1:])
    first = f"{{0}}, {{{next(iter(attributes))}}}"
    call = f"{name}({', '.join(filter(None, (first, arguments)))}, return_indices=True)"
    operator(
        shape=lambda s, **how: (*s[:-n], *counts(s, **how)),
        value=lambda x, **how: _largest(x, indices(x.shape, **how)),
        workspace=lambda out, s, **how: _workspace(out, counts(s, **how), kernels(s, **how)),
        symbolic=lambda sp, x, **how: _largest_in_symbols(sp, x, indices(x.shape, **how)),
        dtype="int",
        finds_indices=True,
        attributes=attributes,
        spelling=f"{call}[1]",
        examples=(
            (f"x[..., :2] * {examples[0][0][:-1]}, return_indices=True)[1]", examples[0][1]),
        ),
        torch=F + name,
    )(selected)


def _with_indices(name, input, return_indices, **how):
    values = OPS[name](input, **how)
    return Outputs((values, OPS[f"{name}_indices"](input, **how))) if return_indices else values


def _check_kernel(n, input):
    """Raise GradcliError for integers that PyTorch has no kernel for, if no indices are needed."""
    check_dtypes(f"max_pool{n}d", "floats" if n == 1 else "numbers", (input,))


def _sliding(n):
    name = f"max_pool{n}d"
    short, edge = f"({'1, ' * (n - 1)}2,)", f"({'0, ' * (n - 1)}1,)"

    def windows(s, kernel_size, stride, padding, dilation, ceil_mode):
        return _windows(name, n, s, kernel_size, stride, padding, dilation, ceil_mode)

    _maximum(
        name,
        n,
        lambda s, **how: tuple(each.count for each in windows(s, **how)),
        lambda s, **how: [each.kernel for each in windows(s, **how)],
        lambda s, **how: [each.indices() for each in windows(s, **how)],
        {"kernel_size": REQUIRED, "stride": None, "padding": 0, "dilation": 1, "ceil_mode": False},
        "The largest element of each window.",
        (
            (f"{name}(x, {short})", f"x=1x{'1x' * n}4"),
            (f"{name}(x, {short}, stride=1, padding={edge}, dilation=2)", f"x=1x{'1x' * (n - 1)}4"),
        ),
    )

    @named(name, "The largest element of each window, and its index.")
    def pool(
        input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
        return_indices=False,
    ):  # fmt: skip
        if not return_indices:
            _check_kernel(n, input)
        how = {"kernel_size": kernel_size, "stride": stride, "padding": padding}
        return _with_indices(
            name, input, return_indices, dilation=dilation, ceil_mode=ceil_mode, **how
        )

    shorthand(input_dtypes="numbers")(pool)

    @shorthand(f"{name}_with_indices", only_aliases=True, input_dtypes="numbers")
    def both(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
        """The largest element of each window, and its index."""
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode, True)


# ---- adaptive pooling ----------------------------------------------------------------------------


def adaptive_sizes(name, n, s, output_size):
    """The number of windows of an adaptive pooling in each dimension; None is the input's size."""
    _check(name, n, s)
    sizes = output_size if isinstance(output_size, tuple) else (output_size,) * n
    if len(sizes) != n or not all(k is None or (isinstance(k, int) and k >= 0) for k in sizes):
        raise GradcliError(
            "arguments", f"output_size of {name}() must be an integer or a tuple of {n} integers"
        )
    return tuple(m if k is None else k for m, k in zip(s[-n:], sizes))


def adaptive_indices(size, count):
    """The indices of elements in each of `count` windows; shorter ones repeat their last index."""
    start = np.arange(count) * size // max(count, 1)
    end = -(-(np.arange(count) + 1) * size // max(count, 1))
    width = np.arange(np.max(end - start, initial=1))
    return np.clip(start[:, None] + width, None, end[:, None] - 1)


def _adaptive(n):
    name = f"adaptive_max_pool{n}d"

    def counts(s, output_size):
        return adaptive_sizes(name, n, s, output_size)

    _maximum(
        name,
        n,
        counts,
        lambda s, **how: [-(-m // max(k, 1)) + 1 for m, k in zip(s[-n:], counts(s, **how))],
        lambda s, **how: list(map(adaptive_indices, s[-n:], counts(s, **how))),
        {"output_size": REQUIRED},
        "The largest element of each of output_size windows.",
        ((f"{name}(x, ({'1, ' * (n - 1)}2,))", f"x=1x{'1x' * (n - 1)}2x3"),),
    )

    @named(name, "The largest element of each of output_size windows, and its index.")
    def pool(input, output_size, return_indices=False):
        return _with_indices(name, input, return_indices, output_size=output_size)

    shorthand(input_dtypes="floats")(pool)

    # torch.adaptive_max_pool1d always returns values and indices
    names = (f"{name}_with_indices", *(("torch." + name,) if n == 1 else ()))

    @shorthand(*names, only_aliases=True, input_dtypes="floats")
    def both(input, output_size):
        """The largest element of each window, and its index."""
        return pool(input, output_size, True)


# ---- norms ---------------------------------------------------------------------------------------


def _power(n):
    @shorthand(f"lp_pool{n}d", only_aliases=True)
    def lp_pool(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        """The p-norm of each window."""
        how = {"kernel_size": kernel_size, "stride": stride, "ceil_mode": ceil_mode}
        if math.isinf(norm_type):  # the sign selects minimum or maximum
            _check_kernel(n, input)
            largest, magnitude = OPS[f"max_pool{n}d"], input.abs()
            return largest(magnitude, **how) if norm_type > 0 else -largest(-magnitude, **how)
        mean = OPS[f"avg_pool{n}d"](input**norm_type, **how)
        total = sign(mean) * relu(abs(mean)) * shapes.numel(several(kernel_size, n))
        return total ** (1.0 / norm_type)


for _n in (1, 2, 3):
    for _declare in (_average, _sliding, _adaptive, _power):
        _declare(_n)
