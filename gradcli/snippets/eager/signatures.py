"""PyTorch's errors for arguments that match no overload of a native function (one written in C++).

This module reads the overloads in `signatures.txt` and imitates PyTorch's argument parser. It is
used only after a call has failed.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..python.operations import plain
from ..python.values import Class, Machine, error
from .arguments import kind_of, mismatch_text, no_overload
from .devices import Device
from .dtypes import DType
from .parameter_lists import too_many_message
from .tensor import Tensor

ALIASES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "x2": "other"}  # NumPy's names
IN_PYTHON = ("Tensor.norm", "Tensor.split")  # the methods of the table that are written in Python
TAKE_NUMBERS = ("add", "sub", "mul", "div", "copy")  # functions that accept numbers as tensors


class Parameter(NamedTuple):
    """One parameter of a function."""

    kind: str
    name: str
    optional: bool
    allows_none: bool
    by_name: bool
    sizes: int  # n of `int[n]`, for which one integer may be passed; else 0


class Overload(NamedTuple):
    """One signature of a function."""

    text: str
    parameters: tuple[Parameter, ...]

    @property
    def positional(self) -> int:
        """The number of parameters that may be positional."""
        return sum(not p.by_name for p in self.parameters)

    @property
    def least(self) -> int:
        """The number of required parameters."""
        return sum(not p.optional for p in self.parameters)

    def takes(self, count: int) -> bool:
        """Whether a call with `count` arguments can match."""
        return self.least <= count <= len(self.parameters)


class Function(NamedTuple):
    """The overloads of a function. `older`: it also has deprecated ones, which are not listed."""

    overloads: tuple[Overload, ...]
    older: bool = False


class Misfit(Exception):
    """Raised for an argument that does not match a parameter, with PyTorch's reason."""


@cache
def functions() -> dict[str, Function]:
    """The functions of the table, by path: "Tensor.view", "torch.softmax"."""
    result: dict[str, Function] = {}
    text = (Path(__file__).parent / "signatures.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line.startswith("#"):
            path, _, overload = line.partition(" ")
            name = path.rstrip("~")
            known = result[name].overloads if name in result else ()
            overloads = known if overload == "-" else (*known, overload_of(overload))
            result[name] = Function(overloads, path.endswith("~"))
    return result


def overload_of(text: str) -> Overload:
    """An overload from the text in PyTorch's errors, such as "(int dim, bool keepdim = False)"."""
    parameters, by_name = [], False
    for part in filter(None, text[1:-1].split(", ")):  # "int dim", "str? rounding_mode = None"
        if part == "*":
            by_name = True
            continue
        left, equals, default = part.partition(" = ")
        kind, _, name = left.rpartition(" ")
        size = re.search(r"\[(\d+)\]", kind)
        parameters.append(
            Parameter(
                kind.rstrip("?").partition("[")[0],
                name,
                bool(equals),
                default == "None" or kind.endswith("?"),
                by_name,
                int(size[1]) if size else 0,
            )
        )
    return Overload(re.sub(r"\[\d+\]|\?", "", text), tuple(parameters))


def _name_of(path: str) -> str:
    """The name of a function in errors: linalg_inv for torch.linalg.inv, Tensor.norm for methods
    written in Python, else the last part of the path.
    """
    module, _, name = path.rpartition(".")
    if path in IN_PYTHON:
        return path
    return f"linalg_{name}" if module == "torch.linalg" else name


def refuse_arguments(m: Machine, path: str, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Raise PyTorch's error for arguments that match no overload."""
    function = functions().get(path)
    if function is None:
        return
    if not function.overloads:
        _refuse_any(_name_of(path), args, named)
        return
    refuse_overloads(m, path, function, args, named)


def refuse_overloads(
    m: Machine, path: str, function: Function, args: Sequence[Any], named: Mapping[str, Any]
) -> None:
    """Raise PyTorch's error for arguments that match none of these overloads."""
    name = _name_of(path)
    parser = _Parser(m, name, args, named)
    for overload in function.overloads:
        try:
            parser.fit(overload)
        except Misfit:
            continue
        parser.unpack(overload)
        return
    count = len(args) + len(named)
    plausible = [overload for overload in function.overloads if overload.takes(count)]
    single = len(function.overloads) == 1 and not function.older
    if single or len(plausible) == 1:
        try:
            parser.fit((*plausible, *function.overloads)[0])
        except Misfit as misfit:
            raise error("TypeError", str(misfit)) from None
    if function.older:
        text = f"{mismatch_text(m, name, args, named)}, but expected {function.overloads[0].text}"
        raise error("TypeError", text)
    raise no_overload(m, name, args, [_typed(overload) for overload in function.overloads], named)


def torch_name(path: str, name: str) -> str:
    """PyTorch's name of a parameter: dim for NumPy's axis."""
    return name if path in IN_PYTHON else ALIASES.get(name, name)


def with_torch_names(path: str, named: dict[str, Any]) -> dict[str, Any]:
    """Keywords of a native function, with PyTorch's names in place of NumPy's."""
    if not any(k in ALIASES for k in named):
        return named
    known = _names(path)
    return {n if (n := torch_name(path, k)) in known else k: v for k, v in named.items()}


def knows(path: str, named: Mapping[str, Any]) -> bool:
    """Whether all keywords are parameters of some overload of the function. True for a function
    that is not in the table.
    """
    names = _names(path)
    return path not in functions() or all(torch_name(path, k) in names for k in named)


@cache
def _names(path: str) -> frozenset[str]:
    """The names of all parameters of a native function."""
    function = functions().get(path, Function(()))
    return frozenset(p.name for overload in function.overloads for p in overload.parameters)


def _refuse_any(name: str, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    if named:
        raise error("TypeError", f"TensorBase.{name}() takes no keyword arguments")
    if args:
        raise error("TypeError", f"TensorBase.{name}() takes no arguments ({len(args)} given)")


def _typed(overload: Overload) -> str | tuple[str, ...]:
    """An overload as a tuple of its parameters, as `no_overload` expects it."""
    return tuple(overload.text[1:-1].split(", "))


class _Parser:
    """PyTorch's argument parser for one call."""

    def __init__(self, m: Machine, name: str, args: Sequence[Any], named: Mapping[str, Any]):
        self.m, self.name = m, name
        self.args = [plain(a) for a in args]
        self.named = {torch_name(name, k): plain(v) for k, v in named.items()}
        self.as_written = list(named)

    def fit(self, overload: Overload) -> None:
        """Match the arguments with an overload. Raises Misfit if they do not match."""
        first = overload.parameters[0] if overload.parameters else None
        listed = first is not None and overload.positional == 1 and first.kind == "tuple of ints"
        several = listed and bool(self.args) and self._integer(self.args[0])
        if len(self.args) > overload.positional and not several:
            raise Misfit(
                too_many_message(self.name, overload.least, overload.positional, len(self.args))
            )
        place, used = 0, 0
        for k, parameter in enumerate(overload.parameters):
            if place < len(self.args):
                value, by_name = self.args[place], False
            elif parameter.name in self.named:
                value, by_name = self.named[parameter.name], True
                used += 1
            elif parameter.optional:
                continue
            else:
                raise Misfit(self._missing(overload, k))
            if several and k == 0 and not by_name:
                place = len(self.args)
                continue
            if not (value is None and parameter.allows_none):
                self._check(parameter, value, 0 if by_name else place + 1)
            place += not by_name
        if used < len(self.named):
            known = [p.name for p in overload.parameters]
            extra = next((n for n in self.as_written if n not in known), None)
            text = (
                "got an unexpected keyword argument"
                if extra
                else "got multiple values for argument"
            )
            raise Misfit(f"{self.name}() {text} '{extra or next(iter(self.named))}'")

    def unpack(self, overload: Overload) -> None:
        """Raise PyTorch's error for sizes whose first item is an integer but a later one is not."""
        for k, parameter in enumerate(overload.parameters):
            if parameter.kind != "tuple of ints":
                continue
            value = self.args[k] if k < len(self.args) else self.named.get(parameter.name)
            sizes = value if isinstance(value, list | tuple) else ()
            if k == 0 and overload.positional == 1 and len(self.args) > 1:
                sizes = self.args
            for place, size in enumerate(sizes, 1):
                if not self._integer(size):
                    why = f"type must be tuple of ints,but got {kind_of(self.m, size)}"
                    text = f"{self.name}(): argument '{parameter.name}' failed to unpack the object"
                    raise error("TypeError", f'{text} at pos {place} with error "{why}"')

    def _check(self, parameter: Parameter, value: Any, place: int) -> None:
        kind = parameter.kind
        numbers = kind == "Tensor" and self.name.rstrip("_") in TAKE_NUMBERS
        if self._fits(kind, value) or (numbers and isinstance(value, bool | int | float)):
            return
        if kind.startswith("tuple of ints") and parameter.sizes and self._integer(value):
            return
        position = f" (position {place})" if place else ""
        actual = f"not {kind_of(self.m, value)}"
        if kind == "tuple of ints" and isinstance(value, list | tuple):
            actual = f"but found element of type {kind_of(self.m, value[0])} at pos 0"
        text = f"{self.name}(): argument '{parameter.name}'{position} must be {kind}, {actual}"
        raise Misfit(text)

    def _fits(self, kind: str, value: Any) -> bool:
        check = FITS.get(kind)
        if kind == "tuple of ints":
            return isinstance(value, list | tuple) and (not value or self._integer(value[0]))
        if kind == "int":
            return self._integer(value)
        return check is None or check(value)

    def _integer(self, value: Any) -> bool:
        if isinstance(value, Tensor):
            return value.ndim == 0 and value.dtype.kind == "int"
        return isinstance(value, int) and not isinstance(value, bool)

    def _missing(self, overload: Overload, place: int) -> str:
        in_python = self.name in IN_PYTHON
        quote = "'" if in_python else '"'
        required = [p.name for p in overload.parameters[place:] if not p.optional]
        names = [f"{quote}{n}{quote}" for n in required]
        plural = "s" if len(names) == 1 and not in_python else ""  # PyTorch's plural is reversed
        listed = ", ".join(names)
        return f"{self.name}() missing {len(names)} required positional argument{plural}: {listed}"


def _scalar(value: Any) -> bool:
    return isinstance(value, Tensor) and value.ndim == 0 and not value.requires_grad


FITS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda v: isinstance(v, Tensor),
    "Number": lambda v: isinstance(v, bool | int | float | complex) or _scalar(v),
    "float": lambda v: (isinstance(v, int | float) and not isinstance(v, bool)) or _scalar(v),
    "bool": lambda v: isinstance(v, bool),
    "str": lambda v: isinstance(v, str),
    "tuple of Tensors": lambda v: (
        isinstance(v, list | tuple) and all(isinstance(t, Tensor) for t in v)
    ),
    "torch.dtype": lambda v: isinstance(v, DType | Class),
    "torch.device": lambda v: isinstance(v, Device | str | int),
}
