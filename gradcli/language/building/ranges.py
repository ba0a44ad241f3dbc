"""finfo and iinfo: the properties of dtypes."""

import ast
from typing import Any

from ...errors import GradcliError
from ...graphs import OPS, with_graph
from ...lazy import np
from ..vocabulary import DTYPES
from .operands import in_words
from .scope import Scope

OF_PYTHON = {"float": "float64", "int": "int64"}  # torch.float and torch.int are shorter
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
        message = f"a dtype of {kind}s is needed, such as torch.{kind}64, not {in_words(argument)}"
        raise GradcliError("arguments", message)
    return OF_PYTHON.get(written) or FULL.get(argument, argument)


def _finfo(b: Scope, e: ast.Call, args: list, named: dict) -> Range:
    result = _of_floats(_dtype(b, e, args, named, "float"))
    (argument,) = (*e.args, *(k.value for k in e.keywords)) or (None,)
    if isinstance(argument, ast.Attribute) and argument.attr == "dtype":
        unit = OPS["rounding_unit"](b.visit(argument.value))
        result.facts["eps"] = with_graph(result.facts["eps"], unit)
    return result


RANGES = {
    "finfo": _finfo,
    "iinfo": lambda b, e, args, named: _of_integers(_dtype(b, e, args, named, "int")),
}
