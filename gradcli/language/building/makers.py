"""Functions that create tensors from literals or random numbers."""

import ast
from collections.abc import Callable
from typing import Any

from ...errors import GradcliError
from ...graphs import OPS, Node, with_graph
from ...graphs.shapes import numel
from ...lazy import np
from ...operators.leaves import Array
from ..libraries.function import rectangular
from ..refusals import UNSET
from ..syntax import arguments_of, has_new
from ..vocabulary import DTYPES, MAKER_KINDS
from .operands import in_words, is_number
from .scope import Scope


def tensor(b: Scope, e: ast.expr, args: list, named: dict) -> Node:
    """A tensor of literal numbers, given as lists of equal length."""
    if len(args) != 1 or named:
        raise GradcliError("arguments", "tensor() needs one list of numbers")
    if isinstance(args[0], Node):
        return args[0]
    array = rectangular(args[0])
    if array is None:
        raise GradcliError(
            "value",
            "tensor() needs numbers, in lists of equal length",
            hint="tensors are joined by stack([a, b]); torch.tensor() copies numbers, and no "
            "gradient flows through it",
        )
    renamed = isinstance(e, ast.Call) and has_new(e.func)  # formulas then show the name of the call
    text = ast.unparse(e) if renamed else b.source.segment(e)
    return b.counted(OPS["tensor"].call((), {"data": Array(array, text)}, b.source.span(e)), e)


def _copied(b: Scope, e: ast.expr, args: list, named: dict) -> Node:
    """torch.tensor, which detaches a tensor passed to it."""
    if "data" in named:
        args, named = [*args, named["data"]], {k: v for k, v in named.items() if k != "data"}
    built = tensor(b, e, args, named)
    return b.node(OPS["detach"], (built,), e) if isinstance(args[0], Node) else built


def _floats(b: Scope, e: ast.expr, args: list, named: dict) -> Node:
    """The legacy constructors of float tensors; sizes are an error, as memory is uninitialised."""
    if args and all(map(is_number, args)):
        message = f"a tensor made from its sizes alone {UNSET}"
        raise GradcliError("unsupported", message, hint="write torch.zeros(2, 3) or randn(2, 3)")
    built = tensor(b, e, args, named)
    return built if built.dtype == "float" else b.node(OPS["double"], (built,), e)


def _arange(b: Scope, e: ast.Call, args: list, named: dict) -> Node:
    start_end = args[:1] if len(args) == 1 else args[:2]
    names = ("end",) if len(start_end) == 1 else ("start", "end")
    attributes = (
        dict(zip(names, start_end, strict=False))
        | dict(zip(("step",), args[2:], strict=False))
        | named
    )
    _check_numbers(attributes.values(), "arange")
    return b.node(OPS["arange"], (), e, **attributes)


def _check_numbers(values, name: str) -> None:
    if not all(map(is_number, values)):
        raise GradcliError("arguments", f"{name}() takes numbers")


def _draw(b: Scope, e: ast.Call, args: list, how: str) -> Node:
    shape = args[0] if len(args) == 1 and isinstance(args[0], tuple) else tuple(args)
    shape = tuple(b.whole(n, index=False) for n in shape)
    if any(size < 0 for size in shape):
        raise GradcliError("arguments", f"{how}() needs sizes of at least 0, got {min(shape)}")
    b.limits.check("elements", numel(shape), f"a tensor of shape {shape}")
    text = b.source.segment(e)
    drawn = b.drawn.get(text)
    if drawn is None:
        drawn = Array(np.asarray(getattr(b.draws.random, how)(shape)), text)
    return b.counted(OPS["tensor"].call((), {"data": drawn}, b.source.span(e)), e)


BY_KIND: dict[str, Callable[[Scope, ast.Call, list, dict], Any]] = {
    "array": tensor,
    "floats": _floats,
    "copy": _copied,
    "arange": _arange,
    "rand": lambda b, e, args, named: _draw(b, e, args, "rand"),
    "randn": lambda b, e, args, named: _draw(b, e, args, "randn"),
}
MAKERS = {name: BY_KIND[kind] for name, kind in MAKER_KINDS.items()}


# ---- finfo and iinfo: the properties of dtypes ---------------------------------------------------


OF_PYTHON = {"float": "float64", "int": "int64"}  # torch.float and torch.int have fewer bits
FULL = {"float": "float32", "double": "float64", "half": "float16"}
FULL |= {"long": "int64", "int": "int32", "short": "int16"}
BFLOAT16 = {"bits": 16, "eps": 2.0**-7, "max": (2 - 2.0**-7) * 2.0**127, "tiny": 2.0**-126}


class Range:
    """The properties of a dtype, by PyTorch's names."""

    def __init__(self, text: str, facts: dict[str, Any]):
        self.text, self.facts = text, facts

    def __repr__(self) -> str:
        return self.text


def _of_floats(dtype: str) -> Range:
    if dtype == "bfloat16":
        facts = BFLOAT16 | {"resolution": 0.01}
    else:
        result = np.finfo(dtype)
        facts = {name: float(getattr(result, name)) for name in ("eps", "max", "tiny")}
        facts |= {"bits": result.bits, "resolution": float(str(result.resolution))}
    facts |= {"min": -facts["max"], "smallest_normal": facts["tiny"]}
    return Range(f"finfo({dtype})", facts)


def _of_integers(dtype: str) -> Range:
    result = np.iinfo(dtype)
    facts = {"bits": result.bits, "max": int(result.max), "min": int(result.min)}
    return Range(f"iinfo({dtype})", facts)


def _dtype(b: Scope, e: ast.Call, args: list, named: dict, kind: str) -> str:
    """The full name of the dtype argument; float64 by default."""
    (argument,) = (*args, *named.values()) or ("float64",)
    written = b.source.segment(e.args[0]) if e.args else ""
    if not isinstance(argument, str) or DTYPES.get(argument) != kind:
        message = (
            f"this must be a dtype of {kind}s, such as torch.{kind}64, got {in_words(argument)}"
        )
        raise GradcliError("arguments", message)
    return OF_PYTHON.get(written) or FULL.get(argument, argument)


def _finfo(b: Scope, e: ast.Call, args: list, named: dict) -> Range:
    result = _of_floats(_dtype(b, e, args, named, "float"))
    (argument,) = arguments_of(e) or (None,)
    if isinstance(argument, ast.Attribute) and argument.attr == "dtype":
        unit = OPS["rounding_unit"](b.visit(argument.value))
        result.facts["eps"] = with_graph(result.facts["eps"], unit)
    return result


RANGES = {
    "finfo": _finfo,
    "iinfo": lambda b, e, args, named: _of_integers(_dtype(b, e, args, named, "int")),
}
