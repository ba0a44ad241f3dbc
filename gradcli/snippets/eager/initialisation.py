"""torch.nn.init: fills tensors in place, without recording. Tensor.uniform_ and Tensor.normal_,
which are recorded, are here, too.
"""

import math
from collections.abc import Mapping
from typing import Any

from ...lazy import np
from ..python.values import EXCEPTIONS, Machine, error
from .creation import generator
from .layouts import drawn_over
from .maker_arguments import check_deviation
from .mode import MODE, recording
from .tables import define
from .tensor import Tensor
from .views import check_memory, check_writable, overwritten


def _write(tensor: Tensor, numbers: Any) -> Tensor:
    check_memory(tensor, repeats=not np.ndim(numbers))
    tensor.write(numbers)
    tensor.changed()
    return tensor


@define("init")
def uniform_(m: Machine, tensor: Tensor, a: float = 0.0, b: float = 1.0, **_: Any) -> Tensor:
    """Fill with uniform numbers between a and b."""
    return _write(tensor, _uniform_numbers(tensor, a, b, _))


def _uniform_numbers(tensor: Tensor, a: float, b: float, options: Mapping[str, Any]) -> Any:
    if a > b:
        text = f"uniform_ expects to return a [from, to) range, but found from={a:g} > to={b:g}"
        raise error("RuntimeError", text)
    rng = generator(options.get("generator"))
    return drawn_over(tensor, lambda shape: rng.between(shape, a, b, tensor.dtype))


@define("init")
def normal_(m: Machine, tensor: Tensor, mean: float = 0.0, std: float = 1.0, **_: Any) -> Tensor:
    """Fill with normal numbers."""
    return _write(tensor, _normal_numbers(tensor, mean, std, _))


def _normal_numbers(tensor: Tensor, mean: float, std: float, options: Mapping[str, Any]) -> Any:
    check_deviation(std)
    rng, in_order = generator(options.get("generator")), tensor.data.flags.c_contiguous
    return drawn_over(tensor, lambda shape: rng.normal(shape, tensor.dtype, mean, std, in_order))


@define("init")
def constant_(m: Machine, tensor: Tensor, val: float) -> Tensor:
    """Fill with one number."""
    return _write(tensor, val)


@define("init")
def zeros_(m: Machine, tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return _write(tensor, 0)


@define("init")
def ones_(m: Machine, tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return _write(tensor, 1)


@define("init")
def sparse_(m: Machine, tensor: Tensor, sparsity: float, std: float = 0.01, **given: Any) -> Tensor:
    """Fill with normal numbers, a fraction `sparsity` of each column with zeros at random. `given`
    may have a generator.
    """
    if tensor.ndim != 2:
        raise error("ValueError", "Only tensors with 2 dimensions are supported")
    zeros = math.ceil(sparsity * len(tensor.data))
    numbers = _normal_numbers(tensor, 0.0, std, given)
    for column in range(tensor.shape[1]):
        numbers[generator().permutation(len(numbers))[:zeros], column] = 0
    return _write(tensor, numbers)


@define("init")
def eye_(m: Machine, tensor: Tensor) -> Tensor:
    """Fill with an identity matrix."""
    return _write(tensor, np.eye(*tensor.shape))


def _fans(tensor: Tensor) -> tuple[int, int]:
    """fan_in and fan_out: inputs of each output, and outputs of each input, of a weight."""
    if tensor.ndim < 2:
        raise error(
            "ValueError",
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions",
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _gain(nonlinearity: str, a: float) -> float:
    """PyTorch's recommended gain for a nonlinearity; `a` is the negative slope of leaky_relu."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + a**2))
    if nonlinearity not in GAINS:
        raise error("ValueError", f"Unsupported nonlinearity {nonlinearity}")
    return GAINS[nonlinearity]


CONVOLUTIONS = [f"conv{way}{n}d" for way in ("", "_transpose") for n in (1, 2, 3)]
GAINS = dict.fromkeys(["linear", "sigmoid", *CONVOLUTIONS], 1) | {
    **{"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
}


def _fan(tensor: Tensor, mode: str) -> int:
    """fan_in or fan_out of a weight, as `mode` selects."""
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        text = f"Mode {mode.lower()} not supported, please use one of {modes}"
        raise error("ValueError", text)
    return _fans(tensor)[modes.index(mode.lower())]


@define("init")
def calculate_gain(m: Machine, nonlinearity: str, param: Any = None) -> float:
    """PyTorch's recommended gain for a nonlinearity."""
    return _gain(nonlinearity, 0.01 if param is None else param)


@define("init")
def kaiming_uniform_(
    m: Machine,
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    **_: Any,
) -> Tensor:
    """Fill with uniform numbers, with the bound of He et al. (2015)."""
    fan = _fan(tensor, mode)
    bound = math.sqrt(3.0) * (_gain(nonlinearity, a) / math.sqrt(fan))
    with recording(False):
        return uniform_(m, tensor, -bound, bound, **_)


@define("init")
def kaiming_normal_(
    m: Machine,
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    **_: Any,
) -> Tensor:
    """Fill with normal numbers, with the standard deviation of He et al. (2015)."""
    fan = _fan(tensor, mode)
    return normal_(m, tensor, 0.0, _gain(nonlinearity, a) / math.sqrt(fan), **_)


@define("init")
def xavier_uniform_(m: Machine, tensor: Tensor, gain: float = 1.0, **_: Any) -> Tensor:
    """Fill with uniform numbers, with the bound of Glorot and Bengio (2010)."""
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_fans(tensor)))
    return uniform_(m, tensor, -bound, bound, **_)


@define("init")
def xavier_normal_(m: Machine, tensor: Tensor, gain: float = 1.0, **_: Any) -> Tensor:
    """Fill with normal numbers, with the standard deviation of Glorot and Bengio (2010)."""
    return normal_(m, tensor, 0.0, gain * math.sqrt(2.0 / sum(_fans(tensor))), **_)


@define("Tensor", name="uniform_")
def _uniform(m: Machine, self: Tensor, a: float = 0.0, to: float = 1.0, **_: Any) -> Tensor:
    check_writable(self)
    return overwritten(self, _uniform_numbers(self, a, to, _), "UniformBackward0")


@define("Tensor", name="normal_")
def _normal(m: Machine, self: Tensor, mean: float = 0.0, std: float = 1.0, **_: Any) -> Tensor:
    check_writable(self)
    return overwritten(self, _normal_numbers(self, mean, std, _), "NormalBackward0")


@define("init")
def orthogonal_(m: Machine, tensor: Tensor, gain: float = 1, **_: Any) -> Tensor:
    """Fill with rows or columns of a random orthogonal matrix."""
    if tensor.ndim < 2:
        raise error("ValueError", "Only tensors with 2 or more dimensions are supported")
    if not tensor.numel:
        return tensor
    shape = tensor.shape[0], tensor.numel // tensor.shape[0]
    drawn = normal_(m, Tensor(np.zeros(shape, tensor.data.dtype)), 0.0, 1.0, **_).data
    wide = shape[0] < shape[1]
    q, r = np.linalg.qr(drawn.T if wide else drawn)
    q = q * np.sign(np.diag(r))
    return _write(tensor, (q.T if wide else q).reshape(tensor.shape) * gain)


@define("init")
def dirac_(m: Machine, tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill with the weights of a convolution that returns its input, channel by channel."""
    if tensor.ndim not in (3, 4, 5):
        text = "Only tensors with 3, 4, or 5 dimensions are supported"
        raise error("ValueError", text)
    if tensor.shape[0] % groups:
        raise error("ValueError", "dim 0 must be divisible by groups")
    numbers = np.zeros_like(tensor.data)
    rows = tensor.shape[0] // groups
    middle = tuple(n // 2 for n in tensor.shape[2:])
    for group in range(groups):
        for channel in range(min(rows, tensor.shape[1])):
            numbers[(group * rows + channel, channel, *middle)] = 1
    return _write(tensor, numbers)


@define("init")
def trunc_normal_(
    m: Machine,
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Tensor:
    """Fill with samples of a normal distribution truncated to [a, b].

    Samples outside are drawn again if more than 30 % of the distribution is inside; otherwise
    uniform samples are drawn, and accepted with a probability proportional to the density.
    """
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    draw = _normal_between if inside > 0.3 else _kept_by_density
    return _write(tensor, draw(tensor, (mean, std, a, b), {"generator": generator}))


def _normal_cdf(x: float) -> float:
    """The cumulative distribution function of a standard normal variable."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


Bounds = tuple[float, float, float, float]  # mean, standard deviation, a, b


def _normal_between(tensor: Tensor, bounds: Bounds, options: Mapping[str, Any]) -> Any:
    """Normal numbers, drawn again while they are outside of [a, b]."""
    mean, std, a, b = bounds
    low, high = (tensor.data.dtype.type(end) for end in (a, b))
    result = _normal_numbers(tensor, mean, std, options)
    while (outside := (result < low) | (result > high)).any():
        result = np.where(outside, _normal_numbers(tensor, mean, std, options), result)
    return result


def _kept_by_density(tensor: Tensor, bounds: Bounds, options: Mapping[str, Any]) -> Any:
    """Uniform numbers in [a, b], accepted with probability proportional to the density."""
    mean, std, a, b = bounds
    kind = tensor.data.dtype.type
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2

    def drawn() -> tuple[Any, Any]:
        """A pair: uniform numbers, and a mask of those that are rejected."""
        MODE.spend(250, 0)
        numbers = _uniform_numbers(tensor, a, b, options)
        density = ((numbers - kind(mean)) / kind(std)) ** 2 * kind(-0.5) - kind(peak)
        return numbers, np.log(_uniform_numbers(tensor, 0.0, 1.0, options)) > density

    with np.errstate(divide="ignore"):
        result, pending = drawn()
        while pending.any():
            numbers, refused = drawn()
            result, pending = np.where(pending, numbers, result), pending & refused
    return result


# ---- deprecated names, without _ at the end --------------------------------------------------


def _deprecated(name: str) -> None:
    newer: Any = globals()[f"{name}_"]

    @define("init", name=name)
    def older(m: Machine, *args: Any, **named: Any) -> Any:
        text = f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`."
        m.warn(EXCEPTIONS["FutureWarning"], text)
        return newer(m, *args, **named)


for _name in (
    *("uniform", "normal", "constant", "eye", "dirac", "orthogonal", "sparse"),
    *("xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal"),
):
    _deprecated(_name)
