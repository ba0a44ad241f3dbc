"""Tensors created from sizes, some with the dtype of another tensor."""

from ..errors import GradcliError
from ..graphs import Node, as_node
from ..lazy import np
from .families import exactly_one, is_integer, named, require, shorthand
from .kinds import type_as
from .leaves import filled_as, numbers, ones


def _call_text(name, *args, **named):
    """The text of a call, for hints."""
    return f"{name}({', '.join([*map(repr, args), *(f'{k}={v!r}' for k, v in named.items())])})"


def _sizes(name, sizes, size):
    """The sizes, passed as new_zeros(2, 3), new_zeros((2, 3)) or new_zeros(size=(2, 3))."""
    listed = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple) else sizes or None
    return exactly_one(f"x.{name}(2, 3)", "size", listed, size)


@shorthand()
def new_zeros(input, *sizes, size=None):
    """Zeros of the given size, with the dtype of input."""
    return filled_as(as_node(input), _sizes("new_zeros", sizes, size), 0)


@shorthand()
def new_ones(input, *sizes, size=None):
    """Ones of the given size, with the dtype of input."""
    return filled_as(as_node(input), _sizes("new_ones", sizes, size), 1)


@shorthand()
def new_full(input, size, fill_value, *, dtype=None):
    """fill_value at every element of the given size, with the dtype of input."""
    shape = (size,) if isinstance(size, int) else size
    return filled_as(as_node(input), shape, fill_value, dtype)


@shorthand()
def new_tensor(input, data):
    """The numbers of a list or a tensor, with the dtype of input; no gradient."""
    if isinstance(data, Node):
        return type_as(data.detach(), input)
    return numbers(np.array(data).astype(as_node(input).dtype))


@shorthand(of_numbers=True)
def scalar_tensor(s):
    """A number as a tensor of floats."""
    return as_node(float(s))


@shorthand(of_numbers=True, allocates=lambda start, end, steps, base=10.0: 2 * steps)
def logspace(start, end, steps, base=10.0):
    """Powers of base, their exponents evenly spaced."""
    array = np.power(float(base), np.linspace(start, end, steps))
    return numbers(array, _call_text("logspace", start, end, steps, base))


def _range_arguments(start=0, end=None, step=1):
    return (0, start, step) if end is None else (start, end, step)


def _range_length(*args, **named):
    first, last, step = _range_arguments(*args, **named)
    return (last - first) / step + 1


@shorthand("torch.range", only_aliases=True, of_numbers=True, allocates=_range_length)
def inclusive_range(start=0, end=None, step=1):
    """start, start + step, ... up to and including end."""
    first, last, step = _range_arguments(start, end, step)
    if not step or (last - first) / step < 0:
        message = f"range() cannot reach {last} from {first} in steps of {step}"
        raise GradcliError("arguments", message)
    return numbers(first + float(step) * np.arange(int((last - first) / step) + 1))


def _element_count(row, col, offset=0):
    return row * col


@shorthand(of_numbers=True, allocates=_element_count)
def tril_indices(row, col, offset=0):
    """Rows and columns of the elements on and below a diagonal."""
    _check_matrix("tril_indices", row, col, offset)
    indices = np.array(np.tril_indices(row, offset, col))
    return numbers(indices, _call_text("tril_indices", row, col, offset))


@shorthand(of_numbers=True, allocates=_element_count)
def triu_indices(row, col, offset=0):
    """Rows and columns of the elements on and above a diagonal."""
    _check_matrix("triu_indices", row, col, offset)
    indices = np.array(np.triu_indices(row, offset, col))
    return numbers(indices, _call_text("triu_indices", row, col, offset))


def _check_matrix(name, row, col, offset):
    valid = is_integer(row) and is_integer(col) and is_integer(offset)
    require(
        valid and min(row, col) >= 0,
        f"row, col and offset of {name}() must be integers, row and col at least 0",
    )


# ---- windows -------------------------------------------------------------------------------------


def _window(name, sentence, values):
    """Declare a window function. `values(length, *shape, **named)` returns a symmetric window; a
    periodic one is a symmetric window that is longer by one, without its last value.
    """

    @named(name, sentence)
    def window(window_length, periodic=True, *shape, **named):
        if not isinstance(window_length, int) or window_length < 0:
            raise GradcliError("arguments", f"{name}() needs a length of at least 0")
        if window_length < 2:
            return ones(size=(window_length,))
        array = values(window_length + bool(periodic), *shape, **named)[:window_length]
        return numbers(array, _call_text(name, window_length, bool(periodic), *shape, **named))

    return shorthand(of_numbers=True, allocates=_with_temporaries)(window)


def _with_temporaries(window_length, *_, **__):
    """Elements of the window and of the temporary arrays used to compute it."""
    return 5 * window_length


def _cosine_sum(count, *weights):
    """w[0] + w[1] * cos(t) + w[2] * cos(2 * t) + ... over one period."""
    angles = 2 * np.pi * np.arange(count) / (count - 1)
    return sum(w * np.cos(k * angles) for k, w in enumerate(weights))


bartlett_window = _window(
    "bartlett_window",
    "Triangular window from 0 to 1 and back.",
    lambda n: np.bartlett(n),
)
hann_window = _window(
    "hann_window",
    "(1 - cos(t)) / 2 over one period.",
    lambda n: _cosine_sum(n, 0.5, -0.5),
)
hamming_window = _window(
    "hamming_window",
    "alpha - beta * cos(t) over one period.",
    lambda n, alpha=0.54, beta=0.46: _cosine_sum(n, alpha, -beta),
)
blackman_window = _window(
    "blackman_window",
    "0.42 - 0.5 * cos(t) + 0.08 * cos(2 * t) over one period.",
    lambda n: _cosine_sum(n, 0.42, -0.5, 0.08),
)
kaiser_window = _window(
    "kaiser_window",
    "i0(beta * sqrt(1 - t * t)) / i0(beta), t from -1 to 1.",
    lambda n, beta=12.0: np.kaiser(n, beta),
)
