"""The PyTorch lines that reproduce the answer."""

import re

from ..analysis import Analysis
from ..blocks import Code, Section, words
from ..checking.rounding import wants_double
from ..phrases import number_text
from ..torch_lines import gradient_variable, program_lines

MOST_SHOWN = 12  # numbers of a gradient that fit in a comment


def code(a: Analysis, precision: int) -> Section:
    """A program, with its results as comments."""
    lines = program_lines(a.problem, in_double=wants_double(a))
    # No line for inputs that PyTorch does not differentiate, such as class weights.
    leaves = [x for x in a.problem.wrt if _wants_gradient(x.name, lines)]
    lines += [_result(a, x, precision) for x in leaves]
    text = "\n".join([*_imports(lines), *lines])
    return Section("code", words("In PyTorch"), (), (Code(text, "python"),))


def _imports(lines: list[str]) -> list[str]:
    """The modules that the lines use."""
    text = "\n".join(lines)
    names = {"torch": "torch", "torch.nn.functional as F": "F", "math": "math"}
    return [f"import {how}" for how, name in names.items() if re.search(rf"\b{name}\.", text)]


def _wants_gradient(name: str, lines: list[str]) -> bool:
    built = [line for line in lines if line.startswith((f"{name} = ", f"# {name}: "))]
    return not built or built[0].startswith("#") or "requires_grad=True" in built[0]


def _result(a: Analysis, x, precision: int) -> str:
    order = a.problem.order
    name = f"{x.name}.grad" if order == 1 else gradient_variable(x.name, order)
    if a.gradient(x) is None:
        return f"{name}  # None"
    value = a.grad_value(x)
    if value is None or value.size > MOST_SHOWN:
        return name
    return f"{name}  # {_nested(value, precision)}"


def _nested(value, precision: int) -> str:
    if value.ndim == 0:
        return number_text(value, precision)
    return "[" + ", ".join(_nested(v, precision) for v in value) + "]"
