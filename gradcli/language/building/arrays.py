"""Arrays of NumPy and JAX: creation from lists, sizes, methods."""

import ast
from collections.abc import Callable
from typing import Any

from ...errors import GradcliError
from ...graphs import Node
from ...operators import lookup
from ..libraries import METHODS, UNLIKE, Function, library_function, only_of_tensors
from ..libraries.function import array
from ..names import uses_constants
from .indices import array_module, is_array_program
from .makers import RANGES, tensor
from .operands import is_number
from .scope import Scope

ROOTS = ("numpy", "jax.numpy")


def _array(b: Scope, e: ast.Call, args: list, named: dict) -> Node:
    """An array from a number, nested lists, or another array; gradients flow through it."""
    value, *extra = [*args, *([named.pop("object")] if "object" in named else [])]
    if [n for n in named if n not in ("copy", "order", "ndmin")] or extra:
        raise GradcliError(
            "arguments", "array() needs one list of numbers and arrays, and accepts a dtype"
        )
    if _has_array(value):
        return b.counted(array(value), e)
    return tensor(b, e, [value], {})


def _has_array(value: Any) -> bool:
    return isinstance(value, Node) or (isinstance(value, tuple) and any(map(_has_array, value)))


def _shape(b: Scope, e: ast.Call, args: list, named: dict) -> tuple[int, ...]:
    (a,) = args
    return b.shape(array(a))


def _size(b: Scope, e: ast.Call, args: list, named: dict) -> int:
    a, *axis = [*args, *named.values()]
    return b.size(array(a), *axis)


def _ndim(b: Scope, e: ast.Call, args: list, named: dict) -> int:
    (a,) = args
    return array(a).ndim


BY_NAME: dict[str, Callable[[Scope, ast.Call, list, dict], Any]] = {
    **dict.fromkeys(("array", "asarray", "asanyarray", "ascontiguousarray"), _array),
    "shape": _shape,
    "size": _size,
    "ndim": _ndim,
    **RANGES,
}
ARRAYS = {f"{root}.{name}": made for root in ROOTS for name, made in BY_NAME.items()}


def method(b: Scope, name: str, args: list, named: dict) -> Function | None:
    """The function behind a method of arrays in this program; None for a method of tensors. Raises
    GradcliError `unsupported` if it could be either.
    """
    if not isinstance(args[0], Node):
        return None
    if is_array_program(b):
        return _of_arrays(array_module(b), name)
    if name in UNLIKE and not named.keys() & {"dim", "unbiased", "correction"}:
        _check_clear(b, name)
    return None


def _of_arrays(module: str, name: str) -> Function | None:
    """The function of a module that is a method of its arrays, but not of tensors; or None."""
    if only_of_tensors(name):
        raise _no_method(module, name)
    if name == "sort" and module == "numpy":
        message = "x.sort() returns None in NumPy, which sorts the array in place"
        raise GradcliError("unsupported", message, hint="write np.sort(x)")
    if name == "item" and module == "numpy":
        module = "numpy.ndarray"  # not a function of numpy itself
    elif name not in METHODS:
        return None
    return library_function(f"{module}.{name}")


def _check_clear(b: Scope, name: str) -> None:
    """Raise GradcliError if the method differs in NumPy and PyTorch, and both are used."""
    of_constants = not b.libraries and "torch" not in b.program.imported
    if len(b.libraries) > 1 or (of_constants and uses_constants(b.program)):
        text = f"{name}() means one thing in PyTorch and another in NumPy, and both are used here"
        hint = f"write torch.{name}(x, ...) or np.{name}(x, ...)"
        raise GradcliError("unsupported", text, hint=hint)


def _no_method(module: str, name: str) -> GradcliError:
    """The error for a method of tensors in a program of arrays, with the function to call."""
    prefixes = {"np": "numpy"} if module == "numpy" else {"jnp": module, "jax.nn": "jax.nn"}
    prefixes |= {"scipy.special": "scipy.special"}
    matches = (p for p, root in prefixes.items() if library_function(f"{root}.{name}"))
    prefix = next(matches, None)
    known = f"{name}(x, ...), a function of PyTorch" if lookup(name) else "what it computes"
    hint = f"write {prefix}.{name}(x, ...)" if prefix else f"write {known}"
    return GradcliError(
        "unsupported", f"arrays of NumPy and JAX have no method {name}()", hint=hint
    )


def by_method(name: str, args: list) -> list:
    """Arguments of a method in the order of the function: axes of transpose() in one tuple, and the
    condition of compress() first.
    """
    if name == "compress" and len(args) > 1:
        return [args[1], args[0], *args[2:]]
    several = name == "transpose" and len(args) > 2 and all(map(is_number, args[1:]))
    return [args[0], tuple(args[1:])] if several else args
