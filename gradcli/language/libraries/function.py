"""A library's function, called with that library's arguments; conversion of lists to arrays."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ...errors import GradcliError
from ...graphs import Node, Operator, Outputs, as_node
from ...graphs.operator import result_dtype
from ...lazy import np
from ...operators import lookup
from ...operators.families import Shorthand
from ...operators.leaves import numbers

# Parameters that are arrays: numbers and lists passed for them are converted to tensors.
ARRAYS = {
    "A", "a", "a1", "a2", "alpha", "arr", "array", "ary", "b", "c", "c_or_cr", "condition", "cov",
    "df", "f", "fp", "in1", "in2", "lhs", "loc", "m", "mean", "mu", "on_false", "on_true",
    "operand", "p", "r", "rhs", "scale", "update", "v", "values", "weights", "x", "x1", "x2",
    "xp", "y", "z",
}  # fmt: skip
# Functions without `keepdims` whose `axis` may be a tuple of several axes, or of none.
ALONG_SEVERAL = {"softmax", "log_softmax", "standardize", "flip", "squeeze"}
NEVER_ALONG_NONE = {"norm", "argmax", "argmin", "nanargmax", "nanargmin"}  # axis=() is an error
NOT_CONVERTED = {"indices", "max", "min", "q", "repeats"}  # functions convert these themselves
TAKE_LISTS = {"array_equal", "stop_gradient", "ndtr", "log_ndtr"}  # also in JAX
# Arguments that are ignored by functions without such a parameter. Values of `out` and `order` that
# would change the result are an error.
IGNORED = {"out", "casting", "order", "subok", "kind", "stable", "copy", "optimize", "precision"}
IGNORED |= {"preferred_element_type", "device", "check_finite", "overwrite_a", "overwrite_b"}
IGNORED |= {"out_sharding", "index_dtype", "is_stable", "like"}


class WithKnownNumbers(NamedTuple):
    """A function, and its `parameters` whose values must be known, because they determine a shape.
    These are passed as Arrays or integers; floats are an error unless `floats` is True.
    """

    parameters: tuple[str, ...]
    function: Callable
    floats: bool = False


class Operators:
    """Operators, and functions composed of operators, by name: `op.sum`, `op["linalg.norm"]`."""

    def __getattr__(self, name: str) -> Any:
        return self[name.rstrip("_")]

    def __getitem__(self, name: str) -> Any:
        return lookup(name) or lookup(name.rpartition(".")[2])


op = Operators()


def array(value: Any) -> Any:
    """A number, or nested tuples of numbers and tensors (lists of the question are tuples), as a
    tensor; other values unchanged.
    """
    if isinstance(value, Outputs):
        return as_node(value)
    if isinstance(value, tuple):
        if _of_numbers(value):
            return numbers(_array_of(value))
        return op.stack([array(part) for part in value], dim=0)
    return as_node(value) if isinstance(value, int | float) else value


def promoted(*operands: Any) -> tuple[Any, ...]:
    """The operands, promoted to one dtype: NumPy does so in matrix products, PyTorch does not."""
    nodes = [as_node(x) for x in operands]
    dtypes = [x.dtype for x in nodes]
    if len(set(dtypes)) == 1:
        return operands
    wide = result_dtype("promote", dtypes)
    convert = op["double" if wide == "float" else "long"]
    return tuple(x if x.dtype == wide else convert(x) for x in nodes)


def _of_numbers(value: Any) -> bool:
    return all(map(_of_numbers, value)) if isinstance(value, tuple) else not isinstance(value, Node)


def rectangular(value: Any) -> Any:
    """Nested sequences of numbers as an array; None if those of one level differ in length, or
    contain anything but real numbers.
    """
    try:
        result = np.array(value)
    except ValueError:
        return None
    return result if result.dtype.kind in "bif" else None


def _array_of(value: tuple) -> Any:
    result = rectangular(value)
    if result is None:
        raise GradcliError("value", "an array needs numbers, in lists of equal length")
    return result


class Function(Shorthand):
    """A function of a library; `same` is the operator that it is an alias of, or None."""

    def __init__(self, name: str, meaning: Any, takes_lists: bool = True):
        self.same, self.takes_lists = None, takes_lists or name in TAKE_LISTS
        if isinstance(meaning, str):
            self.same = op[meaning]
            meaning = _as_function(self.same)
        entry = meaning if isinstance(meaning, WithKnownNumbers) else WithKnownNumbers((), meaning)
        self.concrete, self.function, self.floats = entry
        self.name, self.sentence = name, (self.function.__doc__ or "").strip()
        self.unless, self.of_numbers = None, True
        self.booleans = ()
        self.deprecated_orders, self.allocates = (), None
        self.input_dtypes = "any"

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        arrays = ARRAYS.difference(self.concrete)
        parameters = {*self.positional, *self.defaults}
        if not self.takes_lists:
            self._check_no_lists({**dict(zip(self.positional, args)), **named})
        positional = [array(a) if n in arrays else a for n, a in zip(self.positional, args)]
        for name in IGNORED & named.keys() - parameters:
            self._check_ignored(name, named.pop(name))
        named = {name: array(v) if name in arrays else v for name, v in named.items()}
        positional += args[len(positional) :]
        axis = dict(zip(self.positional, positional)).get("axis", named.get("axis"))
        takes_none = "keepdims" in parameters or self.name in ALONG_SEVERAL
        if axis == () and takes_none:
            if self.name in NEVER_ALONG_NONE:
                raise GradcliError("arguments", f"{self.name}() takes no empty axis")
            return self._along_none(dict(zip(self.positional, positional)) | named)
        return super().__call__(*positional, **named)

    def _check_no_lists(self, named: dict[str, Any]) -> None:
        for name in sorted((ARRAYS | NOT_CONVERTED) & named.keys()):
            if isinstance(named[name], tuple) and not isinstance(named[name], Outputs):
                message = f"{self.name}() of JAX takes no list for {name}"
                raise GradcliError("arguments", message, hint="write jnp.array([...])")

    def _along_none(self, named: dict[str, Any]) -> Any:
        """The value for axis=(), which reduces over no axis; in PyTorch an empty tuple means all.
        It is computed as a reduction over a new axis of size 1.
        """
        first = self.positional[0]
        a = named[first]
        keepdims = named.pop("keepdims", None)
        out = super().__call__(**named | {first: op.unsqueeze(a, dim=0), "axis": 0})
        return out if keepdims is not None or out.ndim == a.ndim else op.squeeze(out, dim=0)

    def _check_ignored(self, name: str, value: Any) -> None:
        """Raise GradcliError for a value of an ignored argument that would change the result."""
        if name == "out" and value is not None:
            message = f"{self.name}(out=...) writes over an array, which gradcli never does"
            raise GradcliError("unsupported", message, hint="omit out=")
        if name == "order" and value not in (None, "C", "K", "A"):
            message = f"order={value!r} of {self.name}() means column-major order"
            raise GradcliError("unsupported", message, hint="transpose before and after")

    def _parameter(self, name: str) -> str:
        return name


def _as_function(called: Any) -> Callable:
    """An operator of one or two arrays, with the parameters of a universal function."""
    if isinstance(called, Operator):
        count = len(called.inputs)
    else:
        count = len([name for name in called.positional if name not in called.defaults])
    return (lambda x: called(x)) if count == 1 else (lambda x1, x2: called(x1, x2))
