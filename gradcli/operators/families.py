"""Families of operators: the fields that their members share.

Each family is a decorator of a rule, with the remaining fields as keywords. Rules receive `g`, the
upstream gradient, `y`, the output, and the inputs; they return the gradient of every input, built
with the same operators. Rules ignore broadcasting: autodiff/reverse.py repairs the shapes.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import MISUSES, GradcliError
from ..graphs import OPS, Node, Operator, shapes
from ..graphs.arguments import FIRST_INPUT, in_deprecated_order, parameters_of
from ..graphs.operator import InputDtypes, check_dtypes
from ..lazy import np
from . import precision
from .bounds import with_zero

SAMPLES = (-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)
SHORTHANDS: dict[str, "Shorthand"] = {}


def operator(**fields):
    """Declare an operator, of no family by default. One with `flops=no_flops`, which only moves
    elements, is exact by default.
    """
    if "expand" not in fields:
        fields.setdefault("flops", flops_per_element)
    if fields.get("flops") is no_flops:
        fields.setdefault("exact", "all")
    return lambda rule: Operator(rule, **fields)


def flops_per_element(out, /, *inputs, **_):
    """FLOP: one for each element of the largest tensor among inputs and output."""
    return max(shapes.numel(s) for s in (out, *inputs) if s is not None)


def no_flops(*_, **__):
    """FLOP of an operator that only moves, repeats or drops elements: 0."""
    return 0


def named(name: str, sentence: str) -> Callable:
    """A decorator for a function that defines several operators: its name and docstring."""

    def rename(function):
        function.__name__ = function.__qualname__ = name
        function.__doc__ = sentence
        return function

    return rename


def elementwise(value: Callable | None = None, **fields):
    """Declare an elementwise operator, with broadcasting. `value` defaults to NumPy's function with
    the operator's name, and `numpy` to that name or to `spelling`.
    """

    def declare(rule):
        name = rule.__name__.rstrip("_")
        known = {
            "family": "elementwise",
            "shape": _broadcast,
            "dtype": "promote",
            "value": value,
            "numpy": fields.get("spelling"),
            "rows": _aligned_rows,
            "samples": SAMPLES,
            "examples": _elementwise_examples(name, len(_names(rule)) - 2),
        }
        if value is None:
            known |= {"value": precision.named(name), "dtype": "float"}
            known["symbolic"] = lambda sp, *xs: getattr(sp, name)(*xs)
            known["numpy"] = known["numpy"] or f"np.{name}"
        if "expand" not in fields:
            known["flops"] = _flops_of_output
        return Operator(rule, **known | fields)

    return declare


def _elementwise_examples(name: str, inputs: int):
    if inputs == 1:
        return ((f"{name}(x)", "x=3"), (f"{name}(x)", "x=2x3"))
    return ((f"{name}(a, b)", "a=2x3,b=2x3"), (f"{name}(a, b)", "a=2x1,b=3"))


def _flops_of_output(out, /, *_, **__):
    """FLOP: one for each element of the output."""
    return shapes.numel(out)


def require(condition, message):
    """Raise GradcliError `arguments` with this message unless a condition holds."""
    if not condition:
        raise GradcliError("arguments", message)


def exactly_one(call, what, *inputs):
    """The only input that is not None. If there are none or several, raises GradcliError with a
    hint, the example `call`. `what` describes the argument.
    """
    result = [value for value in inputs if value is not None]
    if len(result) != 1:
        name = call.partition("(")[0].rpartition(".")[2]
        text = f"takes {what} only once" if result else f"needs {what}"
        raise GradcliError("arguments", f"{name}() {text}", hint=f"as in {call}")
    return result[0]


def is_integer(value):
    """Whether an argument is an integer, and not a bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def one_of(**known):
    """A `canonical_attributes` function that raises GradcliError for values other than these."""

    def canonical(**attrs):
        for name, values in known.items():
            if attrs[name] not in values:
                text = " or ".join(map(repr, values))
                raise GradcliError("arguments", f"{name} must be {text}, got {attrs[name]!r}")
        return attrs

    return canonical


def _names(rule):
    return rule.__code__.co_varnames[: rule.__code__.co_argcount]


def _broadcast(*input_shapes, **_):
    return shapes.broadcast(
        *(s for s in input_shapes if s is not None) if None in input_shapes else input_shapes
    )


def _aligned_rows(*input_shapes, **_):
    result = _broadcast(*input_shapes)
    return tuple(
        s is not None and (len(s), s[:1]) == (len(result), result[:1]) for s in input_shapes
    )


def reduction(value: Callable | None = None, *, of_all: Callable | None = None, **fields):
    """Declare a reduction along `dim`: None, one dimension or several.

    `value(x, axis, keepdims, **attrs)` defaults to NumPy's function with the operator's name. In
    the rule, `dim` is a tuple of non-negative dimensions, and g and y broadcast against x for any
    keepdim. `of_all(g, y, x)` is PyTorch's rule for no dim, or for a 0-d x, if it differs.
    """

    def declare(rule):
        name = rule.__name__.rstrip("_")
        _, _, own = parameters_of(rule, 0)
        known = {
            "family": "reduction",
            "shape": reduced,
            "attributes": {"dim": None, "keepdim": False} | own,
            "value": _value_along(value or _in_numpy(name)),
            "rows": independent_rows,
            "method": True,
            "examples": _reduced_examples(name),
        }
        if value is None:
            known["numpy"] = f"{{0}}.{name}(axis={{dim}}, keepdims={{keepdim}})"
        if "expand" not in fields:
            known["flops"] = flops_per_element
        return Operator(_gradient_along(rule, of_all), defined_by=rule, **known | fields)

    return declare


def _in_numpy(name: str):
    """NumPy's reduction of this name."""
    return lambda x, axis, keepdims: getattr(np, name)(x, axis=axis, keepdims=keepdims)


def _value_along(numeric: Callable):
    """The value of a reduction: `numeric` with `dim` as a tuple of non-negative axes."""

    def value(x, *, dim, keepdim, **attrs):
        return numeric(x, shapes.axes(dim, np.ndim(x)), keepdim, **attrs)

    return value


def _gradient_along(rule: Callable, of_all: Callable | None):
    """The rule of a reduction: `rule` with a tuple of axes, and g and y that broadcast with x."""

    def gradient(g, y, x, *, dim, keepdim, **attrs):
        over = shapes.axes(dim, x.ndim)
        if of_all is not None and (dim is None or x.ndim == 0):
            return of_all(g, y, x, **attrs)
        if not keepdim:
            g, y = aligned(g, over), aligned(y, over)
        return rule(g, y, x, over, **attrs)

    return gradient


def _reduced_examples(name: str):
    return (
        (f"x.{name}()", "x=2x3"),
        (f"x.{name}(dim=1)", "x=2x3"),
        (f"{name}(x, 0, keepdim=True)", "x=3x2"),
    )


def reduced(s, *, dim, keepdim, **attrs):
    """The shape after a reduction that removes `dim`, or leaves it with size 1."""
    for name, value in attrs.items():
        if not isinstance(value, int | float):
            raise GradcliError("arguments", f"{name} must be a number, got {value!r}")
    return shapes.reduce(s, shapes.axes(dim, len(s)), keepdim)


def reduced_nonempty(s, *, dim, keepdim, **_):
    """As `reduced`, for reductions that select an element. Raises GradcliError for a size of 0."""
    if any(not s[d] for d in shapes.axes(dim, len(s))):
        over_all = dim is None or dim == ()
        where = f"in shape {shapes.text(s)}" if over_all else f"along dimension {dim}, of size 0"
        raise GradcliError("shape", f"there is no element {where}")
    return reduced(s, dim=dim, keepdim=keepdim)


def same_with_axis(s, *, dim):
    """The shape s, unchanged, after checking `dim`."""
    shapes.axis(dim, len(s))
    return s


def independent_rows(s, *, dim, **_):
    """The field `rows` of an operator along `dim`: rows are independent of each other unless `dim`
    includes the first dimension.
    """
    return (0 not in shapes.axes(dim, len(s)),)


def aligned(x: Node, over: tuple[int, ...]) -> Node:
    """The result of a reduction, with the reduced dimensions as dimensions of size 1. If these are
    the first ones, broadcasting adds them, and x is unchanged.
    """
    if over == tuple(range(len(over))):
        return x
    for axis in over:
        x = OPS["unsqueeze"](x, dim=axis)
    return x


def movement(value: Callable, *, shape: Callable, **fields):
    """Declare a movement: elements moved, repeated or dropped; its rule is its transpose."""
    fields.setdefault("method", True)
    fields.setdefault("bounds", with_zero)
    fields |= {"family": "movement", "dtype": "first", "flops": no_flops, "finite": True}
    return operator(shape=shape, value=value, **fields)


def overwriting(view: Callable, **fields):
    """Declare an operator that writes `src` over a part of x, which `view(x, **attrs)` returns."""

    def declare(rule):
        name = rule.__name__

        def shape(s, src, **where):
            part = view(np.broadcast_to(np.False_, s), **where).shape
            message = f"src of {name}() must have the shape of what it replaces, {{want}}, "
            message += "got {have}"
            shapes.require_equal(src, part, message)
            return s

        def value(x, src, **where):
            out = np.array(x)
            view(out, **where)[...] = src
            return out

        common = {"shape": shape, "value": value, "dtype": "first", "method": True}
        return operator(**common, flops=no_flops, **fields)(rule)

    return declare


def composite(**fields):
    """Declare an operator that is defined by other operators: its body returns the same value.
    `rule`, if passed, computes a better gradient than that of the body; a test compares the two.
    """

    def declare(meaning):
        rule = fields.pop("rule", None)
        return Operator(
            rule, expand=meaning, defined_by=meaning, **({"family": "composite"} | fields)
        )

    return declare


def written_out(**fields):
    """Declare a composite for which PyTorch has no function; formulas show its body. The default
    example is a call with a vector of size 3 for each parameter.
    """

    def declare(meaning):
        names = _names(meaning)
        call = f"{meaning.__name__}({', '.join(names)})"
        fields.setdefault("examples", ((call, ",".join(f"{name}=3" for name in names)),))
        return composite(family="written out", torch=None, **fields)(meaning)

    return declare


class Shorthand:
    """A function of PyTorch that calls operators: `x.view(2, 3)` is a reshape.

    `concrete`: parameters whose values must be known, because a shape depends on them, unless the
    parameter `unless` is passed; the function receives Arrays or integers for them. `floats`: the
    values of `concrete` parameters may be floats. `of_numbers`: no parameter is a tensor; otherwise
    a number passed first becomes a tensor. `deprecated_orders`, `input_dtypes`: as of an Operator.
    `booleans`: parameters that must be True or False, besides those with such defaults. `saved`,
    if the function is a single operation in PyTorch: the parameters that PyTorch saves for
    backward; or (*args, **named) -> what it saves; with `saved_dtype`, only for tensors of that
    dtype. `allocates`: (*args, **named) -> the number of elements of the arrays that a call
    creates, if it may be larger than that of the arguments.
    """

    def __init__(
        self,
        function: Callable,
        names: tuple[str, ...],
        only_aliases: bool,
        *,
        concrete: tuple[str, ...] = (),
        unless: str | None = None,
        floats: bool = False,
        of_numbers: bool = False,
        deprecated_orders: tuple[str, ...] = (),
        input_dtypes: InputDtypes = "any",
        allocates: Callable[..., float] | None = None,
        booleans: tuple[str, ...] = (),
        saved: tuple[str, ...] | Callable[..., Sequence[Any]] = (),
        saved_dtype: str | None = None,
    ):
        self.allocates, self.saved, self.saved_dtype = allocates, saved, saved_dtype
        self.function, self.concrete, self.floats = function, concrete, floats
        self.unless, self.booleans = unless, booleans
        self.of_numbers, self.deprecated_orders = of_numbers, deprecated_orders
        self.input_dtypes = input_dtypes
        self.name = names[0] if only_aliases else function.__name__.rstrip("_")
        self.sentence = (function.__doc__ or "").strip()
        for name in names if only_aliases else (self.name, *names):
            SHORTHANDS[name] = self

    @property
    def positional(self) -> tuple[str, ...]:
        """The names of the positional parameters."""
        return _names(self.function)

    def saved_of(self, args: Sequence[Any], named: Mapping[str, Any]) -> Sequence[Any]:
        """What PyTorch saves for backward in a call with these arguments."""
        if callable(self.saved):
            return self.saved(*args, **named)
        by_name = {**dict(zip(self.positional, args)), **named}
        return [by_name.get(name) for name in self.saved]

    def __call__(self, /, *args, **named):
        named = {self._parameter(name): value for name, value in named.items()}
        orders = () if named else self.deprecated_orders
        by_name = in_deprecated_order(args, orders, self.positional)
        if by_name:
            args, named = (), by_name
        self._check_booleans(args, named)
        try:
            return self.function(*args, **named)
        except TypeError as error:
            if error.__traceback__ and error.__traceback__.tb_next is None:
                reason = str(error).replace("positional ", "")
                reason = reason.replace(f"{self.function.__qualname__}()", f"{self.name}()")
                raise GradcliError("arguments", reason, hint=self.usage()) from None
            raise

    def check_dtypes(self, operands):
        """Raise GradcliError for integers and masks that PyTorch's function does not accept."""
        check_dtypes(self.name, self.input_dtypes, operands)

    def elements(self, args, named) -> int:
        """The number of elements of the arrays that a call creates; 0 for invalid arguments, which
        the call refuses.
        """
        if self.allocates is None:
            return 0
        try:
            return int(self.allocates(*args, **{self._parameter(k): v for k, v in named.items()}))
        except MISUSES:
            return 0

    def usage(self) -> str:
        """A hint with the signature."""
        return f"signature: {self.signature()}"

    def signature(self) -> str:
        """The signature: `diag(input, diagonal=0)`."""
        return f"{self.name}{inspect.signature(self.function)}"

    def _parameter(self, name: str) -> str:
        """The parameter that a keyword means. The keyword is the name of the parameter, NumPy's
        name for it, or PyTorch's name for the first tensor.
        """
        name = {"axis": "dim", "keepdims": "keepdim"}.get(name, name)
        known = name in self.positional or name in self.defaults or not self.positional
        return self.positional[0] if name in FIRST_INPUT and not known else name

    def _check_booleans(self, args, named):
        for name, value in (*zip(self.positional, args, strict=False), *named.items()):
            either = name in self.booleans or isinstance(self.defaults.get(name), bool)
            if either and not isinstance(value, bool):
                message = f"{name} of {self.name}() must be True or False, got {value!r}"
                raise GradcliError("arguments", message)

    @property
    def defaults(self) -> dict[str, object]:
        """The default values of the parameters."""
        values = self.function.__defaults__ or ()
        by_place = dict(zip(reversed(self.positional), reversed(values), strict=False))
        return by_place | (self.function.__kwdefaults__ or {})


def shorthand(*names: str, only_aliases: bool = False, **fields):
    """Declare a Shorthand named as the function and `names`, or `only_aliases` as `names`."""
    return lambda function: Shorthand(function, names, only_aliases, **fields)
