"""Leaves of graphs: inputs, numbers, arrays, and tensors created from a shape."""

from collections.abc import Callable

from ..errors import GradcliError
from ..graphs import OPS, Node, as_node
from ..graphs.arguments import REQUIRED
from ..graphs.shapes import Shape, numel
from ..graphs.signature import digest
from ..lazy import np
from .families import is_integer, named, no_flops, operator, shorthand

WRITTEN_OUT = 100  # formulas show longer arrays as the call that creates them, if there is one


class Array:
    """An array as an attribute of a node. It is compared by identity, and displayed as `text`, or
    as its numbers. `node`, if not None, is the node of the user's program that computed it.
    """

    __slots__ = ("_text", "node", "value")

    def __init__(
        self, value, text: str | Callable[[], str] | None = None, node: Node | None = None
    ):
        self.value, self._text, self.node = value, text, node

    @property
    def text(self) -> str:
        """The text that is displayed for the array."""
        if not isinstance(self._text, str):
            self._text = self._text() if self._text else str(self.value.tolist())
        return self._text

    @property
    def dtype(self) -> str:
        """ "float", "int" or "bool"."""
        return {"f": "float", "b": "bool"}.get(self.value.dtype.kind, "int")

    def __str__(self) -> str:
        return self.text

    @property
    def signature(self) -> str:
        """A text that identifies its numbers."""
        return f"{self.value.dtype}{self.value.shape}{digest(self.value.tobytes())}"


def leaf(**fields):
    """Declare an operator without inputs; it has no gradient."""
    return operator(family="leaf", flops=no_flops, **fields)


@leaf(
    shape=lambda *, shape, **_: shape,
    dtype=lambda *, dtype, **_: dtype,
    spelling="{name}",
    torch=None,
    finite=True,
)
def input_(g, y, *, name, shape, dtype="float", is_direction=False, known=()):
    """A named input, or with `is_direction` a seed or tangent; `known` are its assumptions."""


@leaf(
    shape=lambda *, value: (),
    dtype=lambda *, value: {bool: "bool", int: "int"}.get(type(value), "float"),
    value=lambda *, value: value,
    torch=None,
)
def constant(g, y, *, value):
    """A number."""


@leaf(
    shape=lambda *, data: data.value.shape,
    dtype=lambda *, data: data.dtype,
    value=lambda *, data: data.value,
    spelling="{data}",
)
def tensor(g, y, *, data):
    """An array of numbers."""


def numbers(array, call: str | None = None) -> Node:
    """A tensor that formulas show as its numbers, or a long one as the `call` that creates it."""
    short = call is None or array.size <= WRITTEN_OUT
    return tensor(data=Array(array, (lambda: f"tensor({array.tolist()})") if short else call))


def _filled(name, fill):
    @named(name, f"A tensor of {name}.")
    def make(g, y, *, size):
        pass

    examples = ((f"x * {name}(2, 3)", "x=2x3"),)
    return leaf(
        shape=lambda *, size: size,
        dtype="float",
        value=lambda *, size: getattr(np, name)(size),
        collect="size",
        examples=examples,
        symbolic=lambda sp, *, size: np.full(size, sp.Integer(fill), dtype=object),
        index=lambda lower, i, *, size: lower.number(fill),
    )(make)


zeros = _filled("zeros", 0)
ones = _filled("ones", 1)


def _full_size(*, size, fill_value):
    if not isinstance(fill_value, int | float):
        raise TypeError(f"{fill_value!r} is not a number")
    return size


@leaf(
    shape=_full_size,
    value=lambda *, size, fill_value: np.full(size, fill_value),
    dtype=lambda *, size, fill_value: {bool: "bool", int: "int"}.get(type(fill_value), "float"),
    examples=(("x * full((2, 3), 2.5)", "x=2x3"),),
    index=lambda lower, i, *, size, fill_value: lower.number(fill_value),
)
def full(g, y, *, size, fill_value):
    """A tensor of one value."""


@leaf(
    shape=lambda *, n, m: (n, n if m is None else m),
    value=lambda *, n, m: np.eye(n, m),
    dtype="float",
    symbolic=lambda sp, *, n, m: np.eye(n, m, dtype=int).astype(object) * sp.Integer(1),
    index=lambda lower, i, *, n, m: lower.delta(*i),
    examples=(("x * eye(3)", "x=3x3"),),
)
def eye(g, y, *, n, m=None):
    """Ones on the diagonal."""


def _arange_size(*, start, end, step):
    if not step or (end - start) * step < 0:
        message = f"arange() does not get from {start} to {end} in steps of {step}"
        raise GradcliError("arguments", message, hint="a step below 0 counts down")
    return (-int((start - end) // step),)


def _arange_dtype(**numbers):
    return "float" if any(isinstance(v, float) for v in numbers.values()) else "int"


def _arange(*, start, end, step):
    numbers = {"start": start, "end": end, "step": step}
    return start + step * np.arange(*_arange_size(**numbers), dtype=_arange_dtype(**numbers))


@leaf(
    shape=_arange_size,
    value=_arange,
    dtype=_arange_dtype,
    attributes={"start": 0, "end": REQUIRED, "step": 1},
    examples=(("x * arange(3)", "x=2x3"),),
)
def arange(g, y, *, start, end, step):
    """start, start + step, ... below end."""


@leaf(
    shape=lambda *, start, end, steps: (steps,),
    value=lambda *, start, end, steps: np.linspace(start, end, steps),
    dtype="float",
    examples=(("x * linspace(0, 1, 3)", "x=2x3"),),
)
def linspace(g, y, *, start, end, steps):
    """Evenly spaced numbers, both ends included."""


@operator(
    shape=lambda s, *, dim: (),
    dtype="int",
    value=lambda x, *, dim: numel([x.shape[d] for d in dim]),
    symbolic=lambda sp, x, *, dim: np.array(
        sp.Integer(numel([x.shape[d] for d in dim])), dtype=object
    ),
    torch=None,
    examples=(("x.mean(dim=1)", "x=2x3"),),
    index=lambda lower, i, x, *, dim: lower.count(x, dim),
    flops=no_flops,
    shape_only=True,
)
def size(g, y, x, *, dim):
    """The number of elements along the dimensions `dim`, from the shape alone."""
    return None


def size_of(shape: Shape, dim: tuple[int, ...]) -> Node:
    """The number of elements along some dimensions of a shape."""
    return size(ones(size=shape), dim=dim)


@operator(
    family="barrier",
    shape=lambda s: s,
    dtype="first",
    value=lambda x: x,
    symbolic=lambda sp, x: x,
    method=True,
    examples=(("x * x.detach()", "x=2x3"),),
    index=lambda lower, i, x: lower(x, i),
    flops=no_flops,
    view=True,
)
def detach(g, y, x):
    """The same values, through which no gradient flows."""
    return None


@shorthand()
def ones_like(input):
    """Ones in the shape of input."""
    x = as_node(input)
    return filled_as(x, x.shape, 1)


@shorthand()
def zeros_like(input):
    """Zeros in the shape of input."""
    x = as_node(input)
    return filled_as(x, x.shape, 0)


@shorthand()
def full_like(input, fill_value, *, dtype=None):
    """One value in the shape of input."""
    x = as_node(input)
    return filled_as(x, x.shape, fill_value, dtype)


def filled_as(x, shape, value, dtype=None) -> Node:
    """A tensor of this shape filled with `value`, which is converted to the dtype of x unless
    `dtype` is passed.
    """
    if x.dtype == "float" or dtype is not None:
        if type(value) is int and value in (0, 1):
            return (zeros, ones)[value](size=shape)
        return full(size=shape, fill_value=value)
    return full(size=shape, fill_value={"int": int, "bool": bool}[x.dtype](value))


@shorthand()
def onehot(*index, shape):
    """One at `index`, zeros elsewhere; as a seed it has the output's shape."""
    index = index[0] if len(index) == 1 and isinstance(index[0], tuple) else index
    shape = tuple(shape)
    if len(index) != len(shape) or not all(map(is_integer, index)):
        are = f"are {len(shape)}" if len(shape) != 1 else "is 1"
        message = f"onehot() needs an integer for each dimension: there {are}"
        raise GradcliError("index", message, hint=f"as in onehot({', '.join('0' for _ in shape)})")
    one: Node = OPS["constant"](value=1.0)
    return OPS["put_at"](one, shape=shape, index=index)
