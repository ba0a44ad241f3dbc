"""Tensors made from numbers, lists, shapes and random draws."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from ...lazy import np
from ..python.operations import plain
from ..python.values import (
    EXCEPTIONS,
    Builtin,
    Class,
    Instance,
    Machine,
    Object,
    Property,
    Unsupported,
    error,
)
from . import nested
from .apply import call_operator, cast
from .checks import check_broadcast, check_broadcast_all, check_fits
from .devices import CPU, check_device
from .draws import Generator
from .dtypes import (
    ALL,
    BFLOAT16,
    BOOL,
    BY_NUMPY,
    INT64,
    KINDS,
    DType,
    of_number,
    promoted,
    result_type,
)
from .kernels import not_implemented
from .layouts import drawn_over
from .maker_arguments import check_steps
from .mode import MODE
from .records import rename, underived, with_zeros
from .single import fused, fused_double
from .sizes import shape_value
from .tables import TABLES, define
from .tensor import TENSOR, MetaTensor, Tensor, tensors_in
from .transforms import refuse_random
from .views import check_writable, overwritten

ONLY_FLOATS = "Only Tensors of floating point and complex dtype can require gradients"


LAYOUT = ("layout", "pin_memory", "memory_format", "out", "generator", "size", "names")


def check_flag(name: str, value: Any, place: str = "") -> None:
    """Refuse a flag that is neither True nor False."""
    if not isinstance(value, bool) and isinstance(value, int | float | str | list):
        kind = type(value).__name__
        if not name:
            raise Unsupported("a requires_grad that is not a bool")
        text = f"{name}(): argument 'requires_grad'{place} must be bool, not {kind}"
        raise error("TypeError", text)


def finished(
    tensor: Tensor,
    requires_grad: Any = False,
    device: Any = None,
    *,
    maker: str = "",
    like: Tensor | None = None,
    copies: bool = False,
    **layout: Any,
) -> Tensor:
    """A new tensor with the options of factory functions applied: requires_grad, device, layout.

    `maker` is the name of the factory function in its errors, or "" if its error for an unknown
    option is not known. With `like`, a row of a vmap, the tensor is a row, too. `copies`: the
    values are copied to the device.
    """
    for name in layout:
        if name not in LAYOUT and maker:
            text = f"{maker}() got an unexpected keyword argument '{name}'"
            raise error("TypeError", text)
        if name not in LAYOUT:
            raise Unsupported(f"the argument {name} of a function that creates a tensor")
    if check_device(device, copies=copies).type == "meta":
        tensor = MetaTensor(tensor)
    check_flag(maker, requires_grad)
    if requires_grad and not tensor.dtype.is_floating:
        raise error("RuntimeError", ONLY_FLOATS)
    if requires_grad and MODE.inference:
        raise Unsupported("requires_grad=True on a tensor created in inference mode")
    tensor.requires_grad = bool(requires_grad)
    tensor.inference = MODE.inference
    if MODE.transforms:
        rows = like.fields.get("batched") if like is not None else None
        tensor.fields["batched" if rows else "unbatched"] = rows or True
    return tensor


def shape_of(sizes: Sequence[Any]) -> tuple[int, ...]:
    """The shape passed to a factory function: zeros(2, 3), zeros((2, 3)) or zeros([2, 3])."""
    if len(sizes) == 1 and not isinstance(sizes[0], int | Tensor):
        sizes = tuple(plain(sizes[0]))
    shape = tuple(s.data.item() if isinstance(s, Tensor) and s.numel == 1 else s for s in sizes)
    for s in shape:
        if isinstance(s, Tensor):
            raise Unsupported("a tensor of several elements as a size")
        if isinstance(s, float):
            raise Unsupported("a float as a size")
        if s < 0:
            text = f"Trying to create tensor with negative dimension {s}: {list(shape)}"
            raise error("RuntimeError", text)
    return shape


def leaf_tensor(data: Any, dtype: DType | None) -> Tensor:
    """A new leaf with the values of a number, list, array or tensor."""
    return Tensor(*nested.read(data, dtype))


COPIED = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
)


TO_SCALAR = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first. (Triggered internally at "
    "/__w/pytorch/pytorch/torch/csrc/autograd/generated/python_variable_methods.cpp:822.)"
)


@define("torch")
def tensor(m: Machine, data: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """A new leaf with a copy of the values."""
    if isinstance(data, Tensor):
        m.warn(EXCEPTIONS["UserWarning"], COPIED)
    elif any(t.requires_grad for t in tensors_in([data])):
        m.warn(EXCEPTIONS["UserWarning"], TO_SCALAR)
    return finished(leaf_tensor(data, dtype), maker="tensor", copies=True, **options)


@define("torch")
def as_tensor(m: Machine, data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor unchanged; a tensor that shares the memory of an array; else a new tensor."""
    if isinstance(data, Tensor):
        return data if dtype in (None, data.dtype) else cast(data, dtype)
    array = getattr(data, "array", None)
    if array is not None and dtype in (None, BY_NUMPY.get(array.dtype.name)):
        return from_numpy(m, data)
    return finished(leaf_tensor(data, dtype), device=device, copies=True)


@define("torch")
def from_numpy(m: Machine, ndarray: Any) -> Tensor:
    """A tensor that shares the memory of a NumPy array."""
    array = getattr(ndarray, "array", None)
    if array is None:
        name = m.class_of(ndarray).name
        raise error("TypeError", f"expected np.ndarray (got {name})")
    nested.check_array(array)
    return Tensor(array)


def _define_filled(name: str, value: float) -> None:
    """Define zeros, ones or empty: a function of torch, its _like form, and Tensor.new_NAME."""

    def maker(m: Machine, *size: Any, dtype: Any = None, **options: Any) -> Tensor:
        size = size or (options.pop("size"),)
        kind = dtype or MODE.default_dtype
        m.spend(memory=8 * int(np.prod(shape_of(size), dtype=float)))
        array = np.full(shape_of(size), value, kind.numpy)
        return finished(Tensor(array, kind), maker=name, **options)

    def like(m: Machine, input: Tensor, *, dtype: Any = None, **options: Any) -> Tensor:
        kind = dtype or input.dtype
        array = np.full_like(input.data, value, kind.numpy)
        return finished(Tensor(array, kind), like=input, **options)

    def new(m: Machine, self: Tensor, *size: Any, dtype: Any = None, **options: Any) -> Tensor:
        kind = dtype or self.dtype
        array = np.full(shape_of(size), value, kind.numpy)
        return finished(Tensor(array, kind), like=self, **options)

    define("torch", name=name)(maker)
    define("torch", name=f"{name}_like")(like)
    define("Tensor", name=f"new_{name}")(new)


for _name, _value in (("zeros", 0), ("ones", 1), ("empty", 0)):
    _define_filled(_name, _value)


@define("torch")
def full(m: Machine, size: Any, fill_value: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """A tensor filled with one number."""
    value = fill_value.data if isinstance(fill_value, Tensor) else fill_value
    kind = dtype or (
        fill_value.dtype
        if isinstance(fill_value, Tensor)
        else of_number(fill_value, MODE.default_dtype)
    )
    shape = shape_of((size,)) if not isinstance(size, int) else (size,)
    check_fits(value, kind)
    return finished(Tensor(np.full(shape, value, kind.numpy), kind), maker="full", **options)


@define("torch")
def full_like(
    m: Machine, input: Tensor, fill_value: Any, *, dtype: Any = None, **options: Any
) -> Tensor:
    """A tensor filled with one number, of the shape of another."""
    kind = dtype or input.dtype
    check_fits(fill_value, kind)
    array = np.full_like(input.data, fill_value, kind.numpy)
    return finished(Tensor(array, kind), like=input, **options)


@define("torch")
def eye(m: Machine, n: int, mm: Any = None, *, dtype: Any = None, **options: Any) -> Tensor:
    """An identity matrix."""
    kind = dtype or MODE.default_dtype
    columns = options.pop("m", mm)
    return finished(Tensor(np.eye(n, columns, dtype=kind.numpy), kind), **options)


@define("torch")
def arange(m: Machine, *ends: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Numbers from start up to, but not including, end."""
    values = [e.data.item() if isinstance(e, Tensor) else e for e in ends]
    names = ("end",) if len(values) == 1 else ("start", "end", "step")
    arguments = dict(zip(names, values)) | {
        k: options.pop(k) for k in ("start", "end", "step") if k in options
    }
    start, end, step = arguments.get("start", 0), arguments["end"], arguments.get("step", 1)
    kind = dtype or promoted(of_number(v, MODE.default_dtype) for v in (start, end, step))
    assert kind is not None
    count = max(int(np.ceil((end - start) / step)), 0)
    m.spend(memory=8 * count)
    array = (start + step * np.arange(count)).astype(kind.numpy)
    return finished(Tensor(array, kind), **options)


@define("torch")
def linspace(
    m: Machine, start: Any, end: Any, steps: int, *, dtype: Any = None, **options: Any
) -> Tensor:
    """`steps` evenly spaced numbers, including both ends."""
    kind = dtype or MODE.default_dtype
    a, b = (v.data.item() if isinstance(v, Tensor) else v for v in (start, end))
    number = np.dtype(kind.numpy).type
    step = (number(b) - number(a)) / number(max(steps - 1, 1))
    places = np.arange(steps)
    up, down = places.astype(kind.numpy), (steps - 1 - places).astype(kind.numpy)
    if kind.name in ("float32", "float64"):
        multiply_add = fused if kind.name == "float32" else fused_double
        low, high = multiply_add(step, up, a), multiply_add(-step, down, b)
    else:
        low, high = number(a) + step * up, number(b) - step * down
    return finished(Tensor(_halves(low, high).astype(kind.numpy), kind), **options)


def _halves(low: Any, high: Any) -> Any:
    """The first half of `low` and the second of `high`: PyTorch counts from the nearer end."""
    return np.where(np.arange(len(low)) < max(len(low) // 2, 1), low, high)


@define("torch")
def logspace(
    m: Machine, start: Any, end: Any, steps: int, base: float = 10.0, **options: Any
) -> Tensor:
    """Powers of `base` with evenly spaced exponents, including both ends."""
    check_steps(steps)
    kind = options.pop("dtype", None) or MODE.default_dtype
    a, b = (float(v.data.item() if isinstance(v, Tensor) else v) for v in (start, end))
    m.spend(memory=8 * steps)
    step, places = (b - a) / max(steps - 1, 1), np.arange(steps)
    low, high = a + step * places, b - step * (steps - 1 - places)
    array = np.power(float(base), _halves(low, high)).astype(kind.numpy)
    return finished(Tensor(array, kind), **options)


# ---- random numbers ------------------------------------------------------------------------------


def generator(chosen: Any = None) -> Any:
    """The generator that a call passes as `chosen`, or else the program's default generator."""
    refuse_random()
    if chosen is not None:
        return chosen.generator
    if MODE.generator is None:
        MODE.generator, MODE.unseeded = Generator(MODE.start), True
    return MODE.generator


class GeneratorValue(Object):
    """torch.Generator."""

    __slots__ = ("generator",)
    cls: Class

    def __init__(self) -> None:
        self.generator = Generator(67280421310721)


def _seed_generator(m: Machine, self: GeneratorValue, seed: int) -> GeneratorValue:
    self.generator = Generator(int(seed))
    return self


GeneratorValue.cls = Class(
    "Generator",
    members={
        "manual_seed": Builtin("manual_seed", _seed_generator),
        "initial_seed": Builtin("initial_seed", lambda m, self: self.generator.seed),
        "device": Property(Builtin("device", lambda m, self: CPU)),
    },
    module="torch._C",
    make=lambda m, cls, device=None: GeneratorValue(),
)


class DefaultGenerator(GeneratorValue):
    """torch.default_generator: draws the numbers of calls that pass no generator."""

    __slots__ = ()

    def __init__(self) -> None:
        pass

    @property
    def generator(self) -> Generator:
        """The default generator of MODE, which is new for every program."""
        return generator()

    @generator.setter
    def generator(self, seeded: Generator) -> None:
        MODE.generator = seeded


DEFAULT_GENERATOR = DefaultGenerator()
OF_GENERATORS: dict[str, Any] = {
    "Generator": GeneratorValue.cls,
    "default_generator": DEFAULT_GENERATOR,
}
TABLES.setdefault("torch", {}).update(OF_GENERATORS)


@define("torch")
def manual_seed(m: Machine, seed: int) -> GeneratorValue:
    """Seed the default generator."""
    if isinstance(seed, str):
        text = f"invalid literal for int() with base 10: {seed!r}"
        raise error("ValueError", text)
    return _seed_generator(m, DEFAULT_GENERATOR, seed)


def _define_random(name: str, draw: Any) -> None:
    """Define rand or randn, and its _like form; `draw` draws the numbers."""

    def maker(
        m: Machine, *size: Any, dtype: Any = None, generator: Any = None, **options: Any
    ) -> Tensor:
        size = size or (options.pop("size"),)
        kind, shape = dtype or MODE.default_dtype, shape_of(size)
        if not kind.is_floating:
            raise not_implemented(DRAWING[name], kind)
        m.spend(memory=8 * int(np.prod(shape, dtype=float)))
        return finished(Tensor(draw(_generator(generator), shape, kind, True), kind), **options)

    def like(m: Machine, input: Tensor, *, dtype: Any = None, **options: Any) -> Tensor:
        kind = dtype or input.dtype
        if not kind.is_floating:
            raise not_implemented(DRAWING[name], kind)
        in_order = input.data.flags.c_contiguous
        drawn = drawn_over(input, lambda shape: draw(_generator(None), shape, kind, in_order))
        return finished(Tensor(drawn, kind), like=input, **options)

    define("torch", name=name)(maker)
    define("torch", name=f"{name}_like")(like)


_generator = generator
DRAWING = {"rand": "check_uniform_bounds", "randn": "normal_kernel_cpu"}
_define_random("rand", lambda g, shape, kind, in_order: g.uniform(shape, kind))
_define_random("randn", lambda g, shape, kind, in_order: g.normal(shape, kind, in_order=in_order))


@define("torch")
def randint(
    m: Machine, *args: Any, dtype: Any = None, generator: Any = None, **options: Any
) -> Tensor:
    """Integers in [low, high)."""
    arguments = dict(options)
    options = {k: v for k, v in options.items() if k not in ("low", "high", "size")}
    values = [*args]
    size = arguments.get("size")
    if size is None:
        size = values.pop()
    high = arguments.get("high", values.pop() if values else None)
    low = arguments.get("low", values.pop() if values else 0)
    kind = dtype or INT64
    array = _generator(generator).integers(low, high, shape_of((size,)))
    return finished(Tensor(array.astype(kind.numpy), kind), **options)


@define("torch")
def randint_like(
    m: Machine,
    input: Tensor,
    low: int,
    high: int | None = None,
    *,
    dtype: Any = None,
    generator: Any = None,
    **options: Any,
) -> Tensor:
    """Integers in [low, high), or in [0, low) if `high` is None, in the shape of a tensor."""
    first, after = (0, low) if high is None else (low, high)
    kind, source = dtype or input.dtype, _generator(generator)
    drawn = drawn_over(input, lambda shape: source.integers(first, after, shape))
    return finished(Tensor(drawn.astype(kind.numpy), kind), **options)


@define("torch")
def randperm(
    m: Machine, n: int, *, dtype: Any = None, generator: Any = None, **options: Any
) -> Tensor:
    """A random permutation of the integers from 0 to n - 1."""
    kind = dtype or INT64
    return finished(
        Tensor(_generator(generator).permutation(n).astype(kind.numpy), kind), **options
    )


def _one(value: Any) -> Any:
    return value.data if isinstance(value, Tensor) else value


@define("torch")
def normal(
    m: Machine,
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Any = None,
    **options: Any,
) -> Tensor:
    """Samples of normal distributions with these means and standard deviations."""
    kind = next((v.dtype for v in (mean, std) if isinstance(v, Tensor)), MODE.default_dtype)
    if size is not None:
        shape = shape_of((size,))
    else:
        check_broadcast(mean, std)
        if isinstance(std, Tensor) and (std.data < 0).any():
            raise error("RuntimeError", "normal expects all elements of std >= 0.0")
        shape = np.broadcast_shapes(*(np.shape(_one(v)) for v in (mean, std)))
    if not any(isinstance(v, Tensor) for v in (mean, std)):
        drawn = _generator(generator).normal(shape, kind, mean, std)
        return finished(Tensor(drawn, kind), **options)
    drawn = _generator(generator).normal(shape, kind)
    a, b = (np.asarray(_one(v), kind.numpy) for v in (mean, std))
    place = 1 + isinstance(std, Tensor) + (isinstance(mean, Tensor) and isinstance(std, Tensor))
    output = finished(Tensor(np.asarray(drawn * b + a), kind), **options)
    return with_zeros(f"NormalBackward{place}", [mean, std], output)


@define("torch", "Tensor")
def bernoulli(m: Machine, input: Tensor, p: Any = None, *, generator: Any = None) -> Tensor:
    """1 with the probability given by each element, otherwise 0."""
    chances = input.data if p is None else p
    if p is None and ((chances < 0) | (chances > 1)).any():
        text = (
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message "
            "be improved?  If so, please report an enhancement request to PyTorch.)"
        )
        raise error("RuntimeError", text)
    if p is None and not input.dtype.is_floating:
        raise not_implemented("bernoulli_tensor_cpu_p_", input.dtype)
    if p is None:
        low = _generator(generator).uniform(input.shape, input.dtype)
        drawn = low < chances
    else:
        drawn = _generator(generator).chances(input.shape, p)
    output = Tensor(np.asarray(drawn).astype(input.dtype.numpy), input.dtype)
    if p is not None and MODE.recording and input.requires_grad:
        underived("derivative for aten::bernoulli is not implemented", None, [input], output, None)
        return output
    return with_zeros("BernoulliBackward0", [input], output)


@define("Tensor")
def bernoulli_(m: Machine, self: Tensor, p: float = 0.5, *, generator: Any = None) -> Tensor:
    """Fill a tensor with 1 with probability p, otherwise 0."""
    check_writable(self)
    if isinstance(p, Tensor):
        raise Unsupported("bernoulli_() with a tensor of probabilities")
    if not 0 <= p <= 1:
        raise error("RuntimeError", f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    drawn = drawn_over(self, lambda shape: _generator(generator).chances(shape, p))
    return overwritten(self, drawn, "BernoulliBackward2")


@define("torch", "Tensor")
def multinomial(
    m: Machine,
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Any = None,
) -> Tensor:
    """Indices drawn in proportion to these weights."""
    weights = input.data
    if not input.dtype.is_floating:
        kind = input.dtype.scalar_name
        text = f"multinomial only supports floating-point dtypes for input, got: {kind}"
        raise error("RuntimeError", text)
    if input.ndim not in (1, 2) or not weights.size:
        raise Unsupported("multinomial() of weights of this shape")
    if not np.isfinite(weights).all() or (weights < 0).any():
        text = "probability tensor contains either `inf`, `nan` or element < 0"
        raise error("RuntimeError", text)
    if not replacement and num_samples > input.shape[-1]:
        text = "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        raise error("RuntimeError", text)
    if (weights.sum(-1) <= 0).any():
        text = "invalid multinomial distribution (sum of probabilities <= 0)"
        raise error("RuntimeError", text)
    rows = weights.reshape(-1, input.shape[-1])
    drawn = _generator(generator).choices(rows, num_samples, replacement)
    return Tensor(drawn.reshape((*input.shape[:-1], num_samples)).astype("int64"), INT64)


@define("torch", name="_standard_gamma")
def standard_gamma(m: Machine, input: Tensor, generator: Any = None) -> Tensor:
    """Samples of gamma distributions of scale 1, with these shape parameters."""
    if MODE.recording and input.requires_grad:
        raise Unsupported("a gradient through samples of Gamma")
    drawn = _generator(generator).gamma(input.data)
    least = np.finfo(input.data.dtype).tiny
    return Tensor(np.maximum(drawn.astype(input.data.dtype), least), input.dtype)


@define("torch", name="_sample_dirichlet")
def sample_dirichlet(m: Machine, input: Tensor, generator: Any = None) -> Tensor:
    """Samples of Dirichlet distributions."""
    if MODE.recording and input.requires_grad:
        raise Unsupported("a gradient through samples of Dirichlet or Beta")
    drawn, kind = _generator(generator).gamma(input.data), input.data.dtype
    shares = (drawn / drawn.sum(-1, keepdims=True)).astype(kind)
    return Tensor(np.clip(shares, np.finfo(kind).tiny, np.nextafter(kind.type(1), kind.type(0))))


@define("torch")
def poisson(m: Machine, input: Tensor, generator: Any = None) -> Tensor:
    """Samples of Poisson distributions with these rates."""
    if not input.dtype.is_floating:
        raise Unsupported("torch.poisson() of an integer tensor")
    if (input.data < 0).any():
        raise error("RuntimeError", "invalid Poisson rate, expected rate to be non-negative")
    drawn = _generator(generator).poisson(input.data)
    output = Tensor(drawn.astype(input.data.dtype), input.dtype)
    return with_zeros("PoissonBackward0", [input], output)


@define("Tensor")
def exponential_(m: Machine, self: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill a tensor with samples of an exponential distribution."""
    check_writable(self)
    if lambd <= 0:
        text = f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}"
        raise error("RuntimeError", text)
    rng = _generator(generator)
    drawn = drawn_over(self, lambda shape: rng.exponential(shape, lambd))
    return overwritten(self, drawn, "ExponentialBackward0")


def _define_fill(name: str, draw: Callable[..., Any], **defaults: float) -> None:
    """Define a method such as `cauchy_`, which fills a tensor with samples of a distribution.
    `draw` draws them; `defaults` are its parameters.
    """

    def write(
        m: Machine, self: Tensor, *args: float, generator: Any = None, **named: Any
    ) -> Tensor:
        check_writable(self)
        values = {**defaults, **dict(zip(defaults, args)), **named}
        rng = _generator(generator)
        drawn = drawn_over(self, lambda shape: draw(rng, shape, **values))
        return overwritten(self, drawn, f"{name.title().replace('_', '')}Backward0")

    define("Tensor", name=name)(write)


_define_fill("log_normal_", Generator.log_normal, mean=1.0, std=2.0)
_define_fill("cauchy_", Generator.cauchy, median=0.0, sigma=1.0)


@define("Tensor")
def random_(m: Machine, self: Tensor, *ends: int, generator: Any = None, **named: Any) -> Tensor:
    """Fill a tensor with random integers from `from` (0 by default) to `to` - 1."""
    check_writable(self)
    arguments = {**dict(zip(("from", "to") if len(ends) > 1 else ("to",), ends)), **named}
    if "to" not in arguments or self.dtype is BOOL:
        raise Unsupported("random_() without an upper bound, or on a boolean tensor")
    low, high, source = arguments.get("from", 0), arguments["to"], _generator(generator)
    if low >= high:
        text = f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        raise error("RuntimeError", text)
    drawn = drawn_over(self, lambda shape: source.integers(low, high, shape))
    return overwritten(self, drawn, f"RandomBackward{int('from' not in arguments)}")


class Limits(Object):
    """torch.finfo and torch.iinfo: the limits of a dtype."""

    __slots__ = ("cls", "info")

    def __init__(self, cls: Class, info: Any):
        self.cls, self.info = cls, info


def _define_limits(name: str, numbers: tuple[str, ...], of: Any) -> None:
    """Define finfo or iinfo, whose attributes are `numbers`; `of(dtype)` has their values."""

    def make(m: Machine, cls: Class, type: Any = None) -> Limits:
        return Limits(cls, of(type or MODE.default_dtype))

    members: dict[str, Any] = {
        n: Property(Builtin(n, lambda m, self, n=n: getattr(self.info, n)))
        for n in (*numbers, "bits", "dtype")
    }

    def text(m: Machine, self: Limits) -> str:
        shown = "resolution min max eps smallest_normal tiny" if name == "finfo" else "min max"
        parts = [f"{n}={float(getattr(self.info, n)):g}" for n in shown.split()]
        return f"{name}({', '.join(parts)}, dtype={self.info.dtype})"

    members |= {key: Builtin(key, text) for key in ("__repr__", "__str__")}
    TABLES["torch"][name] = Class(name, members=members, module="torch", make=make)  # type: ignore


# decimal digits that a conversion to the dtype preserves
DIGITS = {"bfloat16": 2, "float16": 3, "float32": 6, "float64": 15}


def _of_floats(dtype: DType) -> Any:
    """The limits of a floating dtype as Python numbers; NumPy has them for all but bfloat16."""
    if dtype is BFLOAT16:
        largest, tiny = 2.0**128 - 2.0**120, 2.0**-126
        limits = {"eps": 2.0**-7, "max": largest, "min": -largest, "tiny": tiny}
    else:
        info = np.finfo(dtype.numpy)
        limits = {name: getattr(info, name).item() for name in ("eps", "max", "min", "tiny")}
    return SimpleNamespace(
        **limits,
        smallest_normal=limits["tiny"],
        resolution=10.0 ** -DIGITS[dtype.name],
        bits=8 * dtype.size,
        dtype=dtype.name,
    )


def _of_integers(dtype: DType) -> Any:
    """The limits of an integer dtype."""
    info = np.iinfo(dtype.numpy)
    return SimpleNamespace(max=info.max, min=info.min, bits=info.bits, dtype=dtype.name)


_define_limits(
    "finfo",
    ("eps", "max", "min", "tiny", "resolution", "smallest_normal"),
    _of_floats,
)
_define_limits("iinfo", ("max", "min"), _of_integers)


@define("torch")
def initial_seed(m: Machine) -> int:
    """The seed of the default generator."""
    return _generator().seed


@define("torch", name="compile")
def _compile(m: Machine, model: Any = None, **options: Any) -> Any:
    """torch.compile: the function itself, since compiling does not change what it computes."""
    if model is None:
        return Builtin("compile", lambda m, model: model)
    return model


# ---- legacy constructors -------------------------------------------------------------------------


def legacy(name: str, dtype: DType | None) -> Any:
    """A constructor such as torch.FloatTensor, called with a list of numbers or with sizes."""

    def maker(m: Machine, cls: Class, *args: Any, **named: Any) -> Tensor:
        return new_legacy(m, dtype, *args, **named)

    def is_instance(m: Machine, value: Any) -> bool:
        return isinstance(value, Tensor) and value.dtype is dtype

    check = {"__instancecheck__": Builtin("__instancecheck__", is_instance)}
    built = Class(name, members=check, module="torch", make=maker)
    TABLES.setdefault("torch", {})[name] = built  # type: ignore[assignment]
    return maker


@define("Tensor", name="new")
def _new(m: Machine, self: Tensor, *args: Any, **named: Any) -> Tensor:
    """x.new(...): a tensor of the dtype of x, from the arguments of the legacy constructors."""
    return new_legacy(m, self.dtype, *args, **named)


def new_legacy(m: Machine, dtype: DType | None, *args: Any, **named: Any) -> Tensor:
    """A tensor from a list of numbers, from another tensor, or uninitialised from sizes."""
    kind = dtype or MODE.default_dtype
    named.pop("device", None)
    if named:
        raise _refused_new(m, args, named)
    if args and isinstance(args[0], Tensor):
        _check_same_kind(dtype, args[0].dtype)
        return _alias(args[0])
    if args and (args[0] is None or isinstance(args[0], float | bool | dict)):
        kind_of = type(args[0]).__name__
        raise error("TypeError", f"new(): data must be a sequence (got {kind_of})")
    if args and isinstance(args[0], Instance) and args[0].cls.name == "Size":
        args = args[0].payload
    if args and all(isinstance(a, int) and not isinstance(a, bool) for a in args):
        return Tensor(np.zeros(args, kind.numpy), kind)
    if not args:
        return Tensor(np.zeros(0, kind.numpy), kind)
    if len(args) > 1:
        raise Unsupported(
            "a legacy constructor (torch.FloatTensor) with several arguments that are not all sizes"
        )
    return leaf_tensor(args[0], kind)


OPTIONS = (
    "TensorOptions(dtype={}, device=cpu, layout=Strided, requires_grad=false (default), "
    "pinned_memory=false (default), memory_format=(nullopt))"
)
IN_CPP = {
    **{"uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int"},
    **{"int64": "long int", "float16": "c10::Half", "float32": "float", "float64": "double"},
    "bfloat16": "c10::BFloat16",
}


def _check_same_kind(wanted: DType | None, actual: DType) -> None:
    """Refuse a tensor whose dtype is not that of the legacy constructor."""
    if wanted in (None, actual):
        return
    expected, got = (OPTIONS.format(IN_CPP.get(d.name, d.name)) for d in (wanted, actual) if d)
    raise error("TypeError", f"expected {expected} (got {got})")


NEW = (
    "*, torch.device device = None",
    "torch.Storage storage",
    "Tensor other",
    "tuple of ints size, *, torch.device device = None",
    "object data, *, torch.device device = None",
)


def _refused_new(m: Machine, args: Sequence[Any], named: dict[str, Any]) -> Exception:
    """The error of a legacy constructor, such as torch.FloatTensor, for an unknown keyword."""
    sizes = all(type(a) is int for a in args)
    if len(named) > 1 or not args or not (sizes or isinstance(args[0], list)):
        return Unsupported(
            f"the argument {next(iter(named))} of a legacy constructor (torch.FloatTensor)"
        )
    (keyword,) = named
    kinds = [m.class_of(a).name for a in args]
    text = f"got ({', '.join([*kinds, f'{keyword}={_kind_of(m, named[keyword])}'])})"
    lines = [f"new() received an invalid combination of arguments - {text}, but expected one of:"]
    for place, signature in enumerate(NEW):
        lines.append(f" * ({signature})")
        if (place > 2) if sizes else (place == 0):
            text = f"didn't match because some of the keywords were incorrect: {keyword}"
            lines.append(f"      {text}")
    return error("TypeError", "\n".join(lines) + "\n")


def _kind_of(m: Machine, value: Any) -> str:
    return "torch.dtype" if isinstance(value, DType) else m.class_of(value).name


def _alias(tensor: Tensor) -> Tensor:
    """Another tensor that shares the same memory."""
    output = call_operator("reshape", tensor, shape=tensor.shape)
    rename(output, "AliasBackward0")
    return output


for _kind in ALL:
    legacy(_kind.legacy, _kind)
_new = legacy("Tensor", None)


def _of_class(m: Machine, cls: Class, *args: Any, **named: Any) -> Tensor:
    """torch.Tensor(...)."""
    if cls is not TENSOR:
        raise Unsupported("an instance of a subclass of torch.Tensor")
    return _new(m, cls, *args, **named)


TENSOR.make = _of_class


# ---- settings ------------------------------------------------------------------------------------


def _setting(name: str, value: Any = None) -> None:
    """Define a function that sets a global option (it is ignored), or that returns its `value`."""
    define("torch", name=name)(lambda m, *args, **named: value)


for _name in (
    *("set_num_threads", "set_num_interop_threads", "use_deterministic_algorithms"),
    *("set_float32_matmul_precision", "set_flush_denormal"),
):
    _setting(_name)
_setting("get_float32_matmul_precision", "highest")


@define("torch")
def can_cast(m: Machine, from_: DType, to: DType) -> bool:
    """Whether a dtype can be cast to one of the same or a higher kind (bool < int < float)."""
    return KINDS.index(from_.kind) <= KINDS.index(to.kind)


@define("torch")
def promote_types(m: Machine, type1: DType, type2: DType) -> DType:
    """The dtype to which two dtypes are promoted."""
    result = promoted((type1, type2))
    assert result is not None
    return result


@define("torch", name="result_type")
def _result_type(m: Machine, tensor1: Any, tensor2: Any) -> DType:
    """The dtype of an operation on two tensors or numbers."""
    return result_type([tensor1, tensor2], MODE.default_dtype)


@define("torch")
def broadcast_shapes(m: Machine, *shapes: Any) -> Any:
    """The common shape of tensors that are broadcast together."""
    sizes = [shape_of([s]) for s in shapes]
    check_broadcast_all([Tensor(np.broadcast_to(0.0, s)) for s in sizes])
    return shape_value(np.broadcast_shapes(*sizes))


@define("torch")
def is_nonzero(m: Machine, input: Tensor) -> bool:
    """Whether the single element of a tensor is not 0."""
    return m.truth(input)


@define("torch")
def is_complex(m: Machine, input: Tensor) -> bool:
    """Whether a tensor is complex: always False, as complex tensors are not supported."""
    return False


@define("torch")
def is_inference(m: Machine, input: Tensor) -> bool:
    """Whether a tensor was made in inference mode."""
    return input.inference
