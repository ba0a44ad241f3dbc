"""numpy for interpreted programs: arrays, scalars, the listed functions, random numbers.

NumPy itself computes; a program can use only the names in these lists.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any
from warnings import catch_warnings, simplefilter

from ...lazy import np
from ..eager.mode import MODE
from ..eager.tensor import Tensor
from ..python.methods import FLOAT
from ..python.objects import Generator
from ..python.operations import BINARY, plain
from ..python.values import (
    EXCEPTIONS,
    MISSING,
    Builtin,
    Class,
    Instance,
    Machine,
    Module,
    Object,
    Property,
    Unsupported,
    error,
    functions,
)

ARRAY = Class("numpy.ndarray")
SCALAR = Class("numpy.generic")
MOST = 20_000_000  # elements of one array
FUNCTIONS = """
abs absolute add all allclose amax amin any append arange arccos arcsin arctan arctan2 argmax
argmin argsort argwhere around array2string array_equal array_split ascontiguousarray atleast_1d
atleast_2d average bincount broadcast_to cbrt ceil clip column_stack concatenate convolve copy
corrcoef correlate cos cosh count_nonzero cov cross cumprod cumsum deg2rad delete diag diagonal
diff digitize divide dot dstack einsum equal exp exp2 expand_dims expm1 eye fill_diagonal
flatnonzero flip fliplr flipud float_power floor floor_divide fmax fmin fmod full full_like
geomspace gradient greater greater_equal heaviside histogram hsplit hstack hypot identity indices
inner insert interp intersect1d isclose isfinite isin isinf isnan isscalar kron less less_equal
linspace log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor logspace
matmul max maximum mean median meshgrid min minimum mod moveaxis multiply nan_to_num nanargmax
nanargmin nanmax nanmean nanmin nanstd nansum ndim negative nonzero not_equal ones ones_like outer
pad percentile polyfit polyval positive power prod ptp quantile rad2deg ravel reciprocal remainder
repeat reshape resize rint roll rot90 round searchsorted setdiff1d shape sign signbit sin sinc
sinh size sort split sqrt square squeeze stack std subtract sum swapaxes take take_along_axis tan
tanh tensordot tile trace transpose trapezoid tri tril tril_indices triu triu_indices true_divide
trunc union1d unique unravel_index vander var vdot vsplit vstack where zeros zeros_like
"""
METHODS = """
all any argmax argmin argsort clip copy cumprod cumsum diagonal dot fill flatten item max mean min
nonzero prod ravel repeat reshape round searchsorted sort squeeze std sum swapaxes take tolist
trace transpose var
"""
LINALG = """
norm inv det solve eigh eigvalsh svd pinv matrix_rank cholesky qr matrix_power lstsq cond slogdet
multi_dot
"""
TESTING = """
assert_allclose assert_almost_equal assert_array_almost_equal assert_array_equal assert_equal
"""
TYPES = """
float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool_
"""


@cache
def _scalar_class(dtype: str) -> Class:
    """The class of NumPy scalars of a dtype."""
    members = {"__index__": Builtin("__index__", _index)} if "int" in dtype else {}
    bases = (SCALAR, FLOAT) if dtype == "float64" else (SCALAR,)
    return Class(f"numpy.{dtype}", bases, members)


class Array(Object):
    """A NumPy array as a value of the program."""

    __slots__ = ("array", "cls")

    def __init__(self, array: Any):
        self.array = array
        self.cls: Class = ARRAY


class Scalar(Object):
    """A NumPy scalar: np.float64(1.5)."""

    __slots__ = ("array", "cls")

    def __init__(self, number: Any):
        self.array = number
        self.cls: Class = _scalar_class(number.dtype.name)

    def __hash__(self) -> int:
        return hash(self.array)

    def __eq__(self, other: object) -> bool:
        """Equality as a dict key or set item, also with a Python number or string."""
        number = other.array if isinstance(other, Scalar) else other
        plain = isinstance(number, str | int | float | np.generic)
        return self is other or (plain and bool(self.array == number))


class Type(Object):
    """A scalar type: np.float32."""

    __slots__ = ("name",)
    cls = Class("type")

    def __init__(self, name: str):
        self.name = name


class DType(Type):
    """The dtype of an array."""

    __slots__ = ()
    cls = Class("numpy.dtype")


LINALG_ERROR = Class("LinAlgError", (EXCEPTIONS["ValueError"],), module="numpy.linalg")
AXIS_ERROR = Class(
    "AxisError", (EXCEPTIONS["ValueError"], EXCEPTIONS["IndexError"]), module="numpy.exceptions"
)
UFUNC_ERROR = Class("UFuncTypeError", (EXCEPTIONS["TypeError"],), module="numpy._core._exceptions")
OWN_ERRORS = {cls.name: cls for cls in (LINALG_ERROR, AXIS_ERROR, UFUNC_ERROR)}
FAILURES = (ValueError, TypeError, IndexError, ArithmeticError, AssertionError)


def raised(failure: Exception) -> Exception:
    """The program's exception for an exception that NumPy raised."""
    name = type(failure).__name__
    return error(OWN_ERRORS.get(name, name), str(failure))


def host(value: Any) -> Any:
    """The Python or NumPy value of a program's value, to be passed to NumPy."""
    value = plain(value)
    if isinstance(value, Array | Scalar):
        return value.array
    if isinstance(value, Tensor):
        if value.requires_grad and MODE.grad_enabled:
            raise error("RuntimeError", NO_NUMPY)
        return value.data
    if isinstance(value, Type):
        return np.dtype(value.name.rstrip("_"))
    if isinstance(value, list):
        return [host(v) for v in value]
    if isinstance(value, tuple):
        return tuple(host(v) for v in value)
    if isinstance(value, bool | int | float | str | slice | range | complex | type(...) | None):
        return value
    cls = getattr(value, "cls", None)
    if isinstance(value, Class) and value.name in ("float", "int", "bool"):
        return {"float": float, "int": int, "bool": bool}[value.name]
    raise Unsupported(
        f"a NumPy function of a value of the class {cls.name if cls else type(value).__name__}"
    )


NO_NUMPY = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."


def program(value: Any) -> Any:
    """The program's value for a result of NumPy: arrays and scalars are wrapped."""
    if isinstance(value, np.ndarray):
        return Array(value)
    if isinstance(value, np.generic):
        return Scalar(value)
    if isinstance(value, tuple):
        return tuple(program(v) for v in value)
    if isinstance(value, list):
        return [program(v) for v in value]
    return value


def computed(m: Machine, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call a function of NumPy. Its RuntimeWarnings and exceptions become those of the program."""
    with np.errstate(**MODE.numpy_errors), catch_warnings(record=True) as seen:
        simplefilter("always")
        try:
            result = function(*args, **named)
        except FAILURES as failure:
            raise raised(failure) from None
    for warning in seen:
        if warning.category is RuntimeWarning:
            m.warn(EXCEPTIONS["RuntimeWarning"], str(warning.message))
    return result


def _of_tensors(m: Machine, function: Any, name: str, args: Sequence[Any], named: Any) -> Any:
    """The result of a function of NumPy on tensors if it is a tensor; MISSING if it is an array.

    Raises the program's TypeError if NumPy or PyTorch raises it.
    """
    if (isinstance(function, np.ufunc) or name in REWRAPPED) and not named:
        return Tensor(np.asarray(computed(m, function, *map(host, args))))
    if name == "concatenate" and isinstance(args[0], Tensor):
        raise error("TypeError", "The first input argument needs to be a sequence")
    if name in REDUCTIONS and isinstance(args[0], Tensor):
        raise _of_tensor(name, named)
    return MISSING


def called(function: Callable[..., Any], name: str) -> Builtin:
    """A function of NumPy as a function that the program can call."""

    def run(m: Machine, *args: Any, **named: Any) -> Any:
        if any(isinstance(a, Tensor) for a in args):
            tensor = _of_tensors(m, function, name, args, named)
            if tensor is not MISSING:
                return tensor
        given = [host(a) for a in args]
        options = {k: host(v) for k, v in named.items()}
        check_size(m, given)
        if name in PAIRWISE and len(given) > 1:
            pairs = np.size(given[0]) * np.size(given[1])
            m.spend(pairs // 1000, 8 * pairs if name in ("kron", "outer") else 0)
        result = computed(m, function, *given, **options)
        m.spend(memory=getattr(result, "nbytes", 0))
        return program(result)

    return Builtin(name, run)


PAIRWISE = ("kron", "outer", "convolve", "correlate")  # combine all pairs of elements
# functions that return a tensor for a tensor: NumPy wraps their results
REWRAPPED = ("clip", "repeat", "take")
REDUCTIONS = {  # functions that call their argument's method, and PyTorch's error
    "mean": "mean() got an unexpected keyword argument 'axis'",
    "sum": "sum() got an unexpected keyword argument 'axis'",
    "max": "max(): argument 'dim' must be int, not NoneType",
    "min": "min(): argument 'dim' must be int, not NoneType",
    "prod": "prod(): argument 'dim' must be int, not NoneType",
    **dict.fromkeys(("all", "amax", "amin", "any", "argmax", "argmin", "std", "var"), ""),
}


def _of_tensor(name: str, named: Mapping[str, Any]) -> Exception:
    """The error for a reduction of NumPy on a tensor."""
    text = REDUCTIONS[name]
    if not text or (named and "dim" in text):
        return Unsupported(f"numpy.{name}() of a tensor")
    return error("TypeError", text)


def check_size(m: Machine, arguments: list[Any]) -> None:
    """Charge the memory budget for integers that may be the shape of a large array."""
    for value in arguments:
        numbers = value if isinstance(value, tuple | list) else [value]
        if all(type(n) is int for n in numbers) and numbers:
            size = math.prod(abs(n) for n in numbers)
            if size > MOST:
                m.spend(memory=8 * size)


def _method(name: str) -> Builtin:
    return called(lambda array, *args, **named: getattr(array, name)(*args, **named), name)


def _operator(operation: Callable[..., Any], reflected: bool) -> Callable[..., Any]:
    def run(m: Machine, self: Any, other: Any) -> Any:
        if isinstance(other, Tensor):
            return _beside_tensor(m, self, operation, other, reflected)
        try:
            a, b = host(self), host(other)
        except Unsupported:
            return NotImplemented
        return program(computed(m, operation, *((b, a) if reflected else (a, b))))

    return run


def _beside_tensor(
    m: Machine, self: Any, operation: Callable[..., Any], other: Tensor, reflected: bool
) -> Any:
    """An operator on an array and a tensor; NotImplemented leaves it to the tensor."""
    if isinstance(self, Scalar):
        return NotImplemented
    if reflected:
        return Tensor(np.asarray(computed(m, operation, host(other), self.array)))
    if operation is operator.add:
        raise error("TypeError", CONCATENATED)
    return NotImplemented


CONCATENATED = (
    "Concatenation operation is not implemented for NumPy arrays, use np.concatenate() instead. "
    "Please do not rely on this error; it may not be given on all Python implementations."
)


def _compare(name: str) -> Callable[..., Any]:
    def run(m: Machine, self: Any, other: Any) -> Any:
        if isinstance(other, Tensor):
            if isinstance(self, Scalar) or name not in ("eq", "ne"):
                return NotImplemented
            return Tensor(np.asarray(getattr(self.array, f"__{name}__")(host(other))))
        return program(getattr(np.asarray(host(self)), f"__{name}__")(host(other)))

    return run


def _in_place(name: str) -> Callable[..., Any]:
    def run(m: Machine, self: Array, other: Any) -> Any:
        if isinstance(other, Tensor):
            return NotImplemented
        computed(m, getattr(self.array, name), host(other))
        return self

    return run


def _get(m: Machine, self: Array, key: Any) -> Any:
    try:
        return program(self.array[host(key)])
    except IndexError as failure:
        raise error("IndexError", str(failure)) from None


def _joined(name: str) -> Instance:
    """numpy.c_ or numpy.r_: `c_[a, b]` concatenates arrays as columns, `r_[a, b]` as rows."""
    joins = getattr(np, name)

    def get(m: Machine, self: Instance, key: Any) -> Any:
        parts = [host(k) for k in (key if isinstance(key, tuple) else (key,))]
        if any(isinstance(part, slice | str) for part in parts):
            raise Unsupported(f"numpy.{name} with slices or strings")
        return program(computed(m, joins.__getitem__, tuple(parts)))

    return Instance(Class(f"{name[0].upper()}Class", members={"__getitem__": Builtin(name, get)}))


def program_item(array: Array, key: Any) -> Any:
    """array[key] as a value of NumPy. Raises the program's error for an invalid index."""
    try:
        return array.array[host(key)]
    except (IndexError, ValueError) as failure:
        raise raised(failure) from None


def _put(m: Machine, self: Array, key: Any, value: Any) -> None:
    if isinstance(value, Tensor) and value.requires_grad and np.ndim(program_item(self, key)) == 0:
        if value.numel != 1:
            text = "only one element tensors can be converted to Python scalars"
            raise error("ValueError", text)
        value = value.data.item()  # one element is assigned one number
    try:
        self.array[host(key)] = host(value)
    except (IndexError, ValueError) as failure:
        raise raised(failure) from None


def _index(m: Machine, self: Any) -> int:
    if np.ndim(self.array) or self.array.dtype.kind != "i":
        raise error("TypeError", "only integer scalar arrays can be converted to a scalar index")
    return int(self.array)


def shown(text: Callable[[Any], str], array: Any) -> str:
    """str() or repr() (`text`) of an array, with the program's print options."""
    size, options = np.size(array), MODE.numpy_options
    if size > options.get("threshold", 1000):
        size = min(size, (2 * options.get("edgeitems", 3)) ** np.ndim(array))
    if options.get("precision", 8) > MOST_DIGITS:
        raise Unsupported("numpy.set_printoptions with so high a precision")
    MODE.spend(20 * size, 50 * size)
    with np.printoptions(**MODE.numpy_options):
        return text(array)


def formatted(array: Any, spec: str) -> str:
    """format() of an array or a scalar."""
    if not spec:
        return shown(str, array)
    try:
        return format(array, spec)
    except (TypeError, ValueError) as failure:
        raise raised(failure) from None


MOST_DIGITS = 100
OPTIONS = (
    *("precision", "threshold", "edgeitems", "linewidth", "suppress"),
    *("nanstr", "infstr", "sign", "floatmode"),
)


def _set_options(m: Machine, *args: Any, **named: Any) -> None:
    options = dict(zip(OPTIONS, args)) | named
    for name, value in options.items():
        if name not in OPTIONS and value is not None:
            raise Unsupported(f"numpy.set_printoptions(..., {name})")
    options = {k: host(v) for k, v in options.items() if v is not None}
    try:
        with np.printoptions(**options):
            MODE.numpy_options = MODE.numpy_options | options
    except FAILURES as failure:
        raise raised(failure) from None


class Errors(Object):
    """np.errstate: `chosen` are its settings, `before` the previous ones."""

    __slots__ = ("before", "chosen")
    cls = Class("numpy.errstate")

    def __init__(self, chosen: dict[str, str]):
        self.chosen, self.before = chosen, dict[str, str]()


def _set_errors(m: Machine, **named: str | None) -> dict[str, str]:
    with np.errstate(**MODE.numpy_errors):
        before = np.geterr()
    names = tuple(before) if named.get("all") else ()
    chosen = {k: v for k, v in named.items() if v is not None and k != "all"}
    for value in named.values():
        if value not in (None, "ignore", "warn", "raise"):
            raise Unsupported(f"numpy.seterr('{value}')")
    MODE.numpy_errors = MODE.numpy_errors | dict.fromkeys(names, named.get("all")) | chosen
    return before


def _enter_errors(m: Machine, self: Errors) -> None:
    self.before = _set_errors(m, **self.chosen)


Errors.cls.members |= functions(
    {
        "__enter__": _enter_errors,
        "__exit__": lambda m, self, *_: _set_errors(m, **self.before) and None,
    }
)


def _places(m: Machine, *shape: Any) -> Generator:
    sizes = host(shape[0] if len(shape) == 1 else shape)
    return Generator(iter(np.ndindex(sizes)), "ndindex")


def _numbered(m: Machine, arr: Any) -> Generator:
    pairs = ((place, program(value)) for place, value in np.ndenumerate(host(arr)))
    return Generator(pairs, "ndenumerate")


def _true(m: Machine, self: Any) -> bool:
    try:
        return bool(self.array)
    except ValueError as failure:
        raise error("ValueError", str(failure)) from None


SHARED: dict[str, Callable[..., Any]] = {  # members of both arrays and scalars
    "__repr__": lambda m, self: shown(repr, self.array),
    "__str__": lambda m, self: shown(str, self.array),
    "__format__": lambda m, self, spec="": formatted(self.array, spec),
    "__bool__": _true,
    "__float__": lambda m, self: float(self.array),
    "__int__": lambda m, self: int(self.array),
    "__neg__": lambda m, self: program(-self.array),
    "__abs__": lambda m, self: program(abs(self.array)),
    "__round__": lambda m, self, digits=None: program(round(self.array, digits)),
    "__invert__": lambda m, self: program(~self.array),
    "astype": lambda m, self, dtype, **_: program(self.array.astype(host(dtype))),
    **{op.method: _operator(op.host, reflected=False) for op in BINARY.values()},
    **{op.reflected: _operator(op.host, reflected=True) for op in BINARY.values()},
    **{f"__{name}__": _compare(name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
}
IN_PLACE = "add sub mul truediv pow floordiv mod matmul and or xor lshift rshift"
OF_ARRAYS: dict[str, Callable[..., Any]] = {
    "__getitem__": _get,
    "__setitem__": _put,
    "__index__": _index,
    "__len__": lambda m, self: len(self.array),
    "__iter__": lambda m, self: Generator(iter([program(v) for v in self.array]), "iterator"),
    **{f"__i{n}__": _in_place(f"__i{n}__") for n in IN_PLACE.split()},
}
PROPERTIES: dict[str, Callable[..., Any]] = {
    "ndim": lambda m, self: self.array.ndim,
    "size": lambda m, self: self.array.size,
    "T": lambda m, self: program(self.array.T),
    "shape": lambda m, self: self.array.shape,
    "dtype": lambda m, self: DType(self.array.dtype.name),
    "nbytes": lambda m, self: self.array.nbytes,
    "itemsize": lambda m, self: self.array.itemsize,
    "strides": lambda m, self: self.array.strides,
}


def _host_type(self: Type) -> Any:
    return np.dtype(self.name.rstrip("_")).type


OF_TYPES: dict[str, Callable[..., Any]] = {
    "__repr__": lambda m, self: f"<class 'numpy.{_host_type(self).__name__}'>",
    "__call__": lambda m, self, value=0: program(_host_type(self)(host(value))),
    "__eq__": lambda m, self, other: getattr(other, "name", other) == self.name,
    "__hash__": lambda m, self: hash(self.name),
}


OF_DTYPES: dict[str, Callable[..., Any]] = {
    "__repr__": lambda m, self: f"dtype('{self.name}')",
    "__str__": lambda m, self: self.name,
    "__eq__": OF_TYPES["__eq__"],
    "__hash__": OF_TYPES["__hash__"],
}


def _members() -> None:
    for cls in (ARRAY, SCALAR):
        cls.members.update(functions(SHARED))
        cls.members.update({name: _method(name) for name in METHODS.split()})
        cls.members.update({n: Property(Builtin(n, get)) for n, get in PROPERTIES.items()})
    ARRAY.members.update(functions(OF_ARRAYS))
    SCALAR.members["__hash__"] = Builtin("__hash__", lambda m, self: hash(self.array))
    Type.cls.members.update(functions(OF_TYPES))
    DType.cls.members.update(functions(OF_DTYPES))
    for name in ("name", "itemsize", "kind"):
        get = Builtin(name, lambda m, self, name=name: getattr(np.dtype(self.name), name))
        DType.cls.members[name] = Property(get)


_members()


def _array(m: Machine, object: Any, dtype: Any = None, **_: Any) -> Any:
    kind = None if dtype is None else host(dtype)
    try:
        return Array(np.array(host(object), dtype=kind))
    except (ValueError, TypeError) as failure:
        raise raised(failure) from None


def _as_array(m: Machine, a: Any, dtype: Any = None, **_: Any) -> Any:
    given = host(a)
    if isinstance(given, np.ndarray) and dtype is None:
        return a if isinstance(a, Array) else Array(given)
    return _array(m, a, dtype)


DRAWS = {
    "RandomState": "rand randn randint random uniform normal permutation choice shuffle "
    "random_sample standard_normal beta binomial exponential gamma poisson multinomial "
    "multivariate_normal seed",
    "Generator": "random uniform normal permutation choice shuffle standard_normal integers beta "
    "binomial exponential gamma poisson multinomial multivariate_normal",
}


def _drawn(generator: Callable[[], Any], name: str) -> Callable[..., Any]:
    """The method `name` of the generator that `generator()` returns, for calls by the program."""

    def run(m: Machine, *args: Any, **named: Any) -> Any:
        given = [host(a) for a in args]
        check_size(m, given)
        options = {k: host(v) for k, v in named.items()}
        try:
            return program(getattr(generator(), name)(*given, **options))
        except (ValueError, TypeError) as failure:
            raise raised(failure) from None

    return run


def _generator_class(name: str) -> Class:
    """The class RandomState or Generator, whose instances wrap NumPy's."""
    cls = Class(name, module="numpy.random")

    def method(draw: str) -> Callable[..., Any]:
        return lambda m, self, *args, **named: _drawn(lambda: self.payload, draw)(m, *args, **named)

    cls.members.update(functions({n: method(n) for n in DRAWS[name].split()}))
    return cls


def _random() -> Module:
    """numpy.random; the seed is 0 unless the program sets one."""
    state: dict[str, Any] = {}

    def seeded(seed: Any) -> Any:
        MODE.unseeded |= seed is None
        return MODE.start if seed is None else seed

    def seed(m: Machine, seed: Any = None) -> None:
        state["generator"] = np.random.RandomState(seeded(seed))

    def generator() -> Any:
        if not state:
            state["generator"] = np.random.RandomState(seeded(None))
        return state["generator"]

    def old_generator(m: Machine, cls: Class, seed: Any = None) -> Instance:
        return Instance(cls, payload=np.random.RandomState(seeded(seed)))

    def default_rng(m: Machine, seed: Any = None) -> Instance:
        return Instance(new, payload=np.random.default_rng(seeded(seed)))

    old, new = _generator_class("RandomState"), _generator_class("Generator")
    old.make = old_generator
    draws = {n: _drawn(generator, n) for n in DRAWS["RandomState"].split()}
    members: dict[str, Any] = functions(draws | {"seed": seed, "default_rng": default_rng})
    members["RandomState"] = old
    return Module("numpy.random", members, partial(_unknown, "numpy.random"))


def module(name: str) -> Module | None:
    """numpy, or one of its modules."""
    members: dict[str, Any]
    if name == "numpy.random":
        return _random()
    if name == "numpy.linalg":
        table = {n: called(getattr(np.linalg, n), n) for n in LINALG.split()}
        return Module(name, table, partial(_unknown, name))
    if name == "numpy.testing":
        table = {n: called(getattr(np.testing, n), n) for n in TESTING.split()}
        return Module(name, table, partial(_unknown, name))
    if name != "numpy":
        return None
    members = {n: called(getattr(np, n), n) for n in FUNCTIONS.split()}
    members |= {n: Type(n) for n in TYPES.split()} | {"ndarray": ARRAY}
    members |= {"int_": Type("int64"), "double": Type("float64"), "single": Type("float32")}
    members |= {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None}
    members |= functions({"array": _array, "asarray": _as_array})
    members |= functions({"set_printoptions": _set_options, "seterr": _set_errors})
    members |= functions({"errstate": lambda m, **named: Errors(named)})
    members |= functions({"ndindex": _places, "ndenumerate": _numbered})
    members |= {n: module(f"numpy.{n}") for n in ("random", "linalg", "testing")}
    members |= {n: _joined(n) for n in ("c_", "r_")}
    members["generic"] = SCALAR
    return Module(name, members, partial(_unknown, name))


def _unknown(path: str, name: str) -> Any:
    """For a name that is not defined here: Unsupported if NumPy has it, else AttributeError."""
    if path == "numpy.linalg" and name == "LinAlgError":
        return LINALG_ERROR
    namespace = getattr(np, path.partition(".")[2]) if "." in path else np
    try:
        getattr(namespace, name)
    except AttributeError as failure:  # NumPy's message mentions a replacement
        raise error("AttributeError", str(failure)) from None
    raise Unsupported(f"{path}.{name}")
