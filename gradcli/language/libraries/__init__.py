"""Functions of NumPy, SciPy, JAX and HIPS autograd.

A name with such a prefix has the meaning of that library, never of PyTorch's function of the same
name; it is an error if the library's table lacks it. Tables are imported when first used. An entry
is a function with the library's arguments and defaults, written with gradcli's operators, or the
name of an operator with the same arguments and meaning.
"""

from functools import cache
from importlib import import_module
from types import ModuleType

from ...errors import GradcliError, Span, did_you_mean
from ...operators import lookup
from ...public_names import in_pytorch
from .function import Function

# The tables of each module, as `file.TABLE`; the first one that has a name is used.
MODULES: dict[str, tuple[str, ...]] = {
    "numpy": ("numpy.ARRAYS", "numpy.NOT_IN_JAX"),
    "numpy.ndarray": ("numpy.METHODS",),
    "numpy.linalg": ("linalg.NUMPY",),
    "numpy.fft": ("numpy.FFT",),
    "jax.numpy.fft": ("numpy.FFT",),
    "jax.numpy": ("jax.ARRAYS", "numpy.ARRAYS"),
    "jax.numpy.linalg": ("jax.LINALG", "linalg.NUMPY"),
    "jax.nn": ("jax.NN",),
    "jax.ops": ("jax.OPS",),
    "jax.lax": ("lax.LAX",),
    "scipy.special": ("scipy.SPECIAL", "scipy.NOT_IN_JAX"),
    "jax.scipy.special": ("jax.SPECIAL", "scipy.SPECIAL"),
    "scipy.linalg": ("linalg.SCIPY", "linalg.NOT_IN_JAX"),
    "jax.scipy.linalg": ("jax.SCIPY_LINALG", "linalg.SCIPY"),
    "scipy.signal": ("scipy.SIGNAL",),
    "jax.scipy.signal": ("scipy.SIGNAL",),
}
UFUNCS = (
    "add",
    "multiply",
    "maximum",
    "minimum",
    "logaddexp",
    "subtract",
)  # universal functions whose methods are known, such as np.add.outer
MODULES |= {f"jax.numpy.{name}": (f"numpy.{name.upper()}",) for name in UFUNCS}
MODULES |= {f"numpy.{name}": (f"numpy.{name.upper()}",) for name in (*UFUNCS, "divide", "power")}
STATS = "scipy.stats."  # prefix of a module for each distribution, with a table of its functions
METHODS = {  # methods of arrays that differ from those of tensors
    *("all", "any", "argmax", "argmin", "argsort", "clip", "compress", "copy", "cumprod", "cumsum"),
    *("diagonal", "dot", "flatten", "max", "mean", "min", "nonzero", "prod", "ptp", "ravel"),
    *("repeat", "round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes", "take"),
    *("trace", "transpose", "var", "astype"),
}
UNLIKE = {"std", "var", "repeat"}  # methods whose results differ from PyTorch's for some arguments
OTHER_METHODS = {  # other methods of arrays: they equal those of tensors, or are unsupported
    *("argpartition", "at", "choose", "conj", "conjugate", "dump", "dumps", "fill", "item"),
    *("partition", "put", "reshape", "resize", "tobytes", "tofile", "tolist"),
}
JOINING = {  # for np.c_[a, b] and np.r_[a, b]: the function that joins, and each of its operands
    "numpy.c_": ("numpy.column_stack([{}])", "{}"),
    "numpy.r_": ("numpy.concatenate([{}])", "numpy.atleast_1d({})"),
}
# Functions whose argument is a function.
OF_FUNCTIONS = """
    grad value_and_grad vjp jvp jacfwd jacrev jacobian hessian linearize jit vmap pmap
    checkpoint remat custom_vjp custom_jvp apply_along_axis apply_over_axes vectorize frompyfunc
    fromfunction cond scan while_loop fori_loop switch map associative_scan reduce
    reduce_window
"""
WITHOUT_DERIVATIVE = {"jax.numpy.nextafter", "jax.lax.nextafter"}  # JAX has no derivative of these
CURES = {  # hints for names that no table has
    "partition": "sort() returns one of the possible results: sort(x)[k]",
    "argpartition": "argsort() returns one of the possible results: argsort(x)[k]",
    "apply_along_axis": "most functions take the axis: np.sum(x, axis=0)",
    "vectorize": "functions apply to each element: np.sin(x), not np.vectorize(np.sin)(x)",
    "piecewise": "where() chooses by a mask: where(x < 0, a, b)",
    "betainc": "its derivative with respect to x is x ** (a - 1) * (1 - x) ** (b - 1) / beta(a, "
    "b); those with respect to a and b have no closed form",
}
IN_JAX = {  # hints for names that JAX does not have
    "psi": "write digamma()",
    "fix": "write jnp.trunc()",
    "row_stack": "write jnp.vstack()",
    "log_expit": "write jax.nn.log_sigmoid()",
}
WRITE_OUT = "write out what it computes, or make its result an input"


def only_of_tensors(name: str) -> bool:
    """Whether a method exists for PyTorch's tensors, but not for arrays of NumPy and JAX."""
    return name not in METHODS | OTHER_METHODS and name in in_pytorch()["torch.Tensor"]


@cache
def library_function(name: str) -> Function | None:
    """The function with this full name, such as jax.numpy.dot; None if no table has it."""
    module, _, last = name.rpartition(".")
    entry = next((table[last] for table in _tables(module) if last in table), None)
    takes_lists = not module.startswith("jax.") or module == "jax.scipy.linalg"
    return None if entry is None else Function(last, entry, takes_lists)


def check_takes_arrays(name: str, path: str, span: Span | None) -> None:
    """Raise GradcliError `unsupported` for a function that takes another one, as jax.vmap does."""
    last = name.rpartition(".")[2]
    if last in OF_FUNCTIONS.split() and library_function(name) is None:
        text = f"{path}() takes a function; gradcli differentiates expressions of arrays"
        hint = CURES.get(last, "write out what the function computes, without it")
        raise GradcliError("unsupported", text, hint=hint, span=span)


def function(name: str, path: str, span: Span | None) -> Function:
    """The function with this full name. Raises GradcliError `unsupported` or `unknown-function`,
    with the `path` that the user wrote.
    """
    if name in WITHOUT_DERIVATIVE:
        message = f"JAX has no derivative of {path}()"
        raise GradcliError("not-differentiable", message, hint="leave it out", span=span)
    known = library_function(name)
    if known is not None:
        return known
    module, _, last = name.rpartition(".")
    if module.startswith("jax.") and library_function(name.removeprefix("jax.")):
        message, hint = f"JAX has no {path}()", _elsewhere(last)
        raise GradcliError("unknown-function", message, hint=hint, span=span)
    near = CURES.get(last) or did_you_mean(last, {n for t in _tables(module) for n in t})
    if near is None and lookup(last):
        near = (
            f"{WRITE_OUT}; {last}() without its prefix is PyTorch's, which may mean something else"
        )
    message = f"{path}() is not among the functions of {module} that gradcli knows"
    raise GradcliError("unknown-function", message, hint=near or WRITE_OUT, span=span)


def _elsewhere(name: str) -> str:
    """The hint for a function that JAX lacks: its name in another module of JAX."""
    modules = {"jnp": "jax.numpy", "jnp.linalg": "jax.numpy.linalg", "jax.nn": "jax.nn"}
    names = [f"{short}.{name}()" for short, m in modules.items() if library_function(f"{m}.{name}")]
    return f"write {names[0]}" if names else IN_JAX.get(name, WRITE_OUT)


def _tables(module: str) -> list[dict]:
    """The tables of a module, imported."""
    tables = MODULES.get(module, ())
    of_stats = module.removeprefix("jax.")
    if of_stats.startswith(STATS):
        table = of_stats.removeprefix(STATS).upper()
        tables = (f"jax.{table}",) if module != of_stats else ()
        tables += (f"stats.{table}",)
    result = (_table(path) for path in tables)
    return [table for table in result if isinstance(table, dict)]


def _table(path: str) -> dict | None:
    file, _, table = path.partition(".")
    module: ModuleType = import_module(f"{__name__}.{file}")
    return getattr(module, table, None)
