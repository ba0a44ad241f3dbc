"""Calls with a number where PyTorch's function accepts tensors only, such as `maximum(x, 2)`."""

import ast
import math

from ...graphs import Node, walk
from ...language.names import libraries_of
from ...language.problem import Problem
from ...language.syntax import called_name, dotted
from ...language.vocabulary import library_name
from ...operators import lookup
from ..phrases import number_text

REFUSED_NUMBER = "number-for-tensor"


def numbers_for_tensors(p: Problem) -> list[tuple[str, str]]:
    """Notes on calls for which PyTorch raises an error because an argument is a number. Functions
    of NumPy, SciPy and JAX accept numbers.
    """
    if libraries_of(p.program) - {"torch"}:
        return []
    texts = map(_refusal, walk([p.out, *p.named.values()]))
    return [(REFUSED_NUMBER, text) for text in dict.fromkeys(texts) if text]


def _refusal(node: Node) -> str | None:
    """The note on a call; None if PyTorch accepts it, or if the user has not written it."""
    op, is_number = node.op, [i is None or i.op.name == "constant" for i in node.inputs]
    places = [k for k, i in enumerate(node.inputs) if i is not None and is_number[k]]
    refused = (k for k in places if k < len(op.inputs) and not op.takes_number(k, is_number))
    place = None if op.torch is None or op.sign else next(refused, None)
    if place is None or not _is_called(node, all(is_number)):
        return None
    number = number_text(node.inputs[place].attrs["value"])
    tensor = f"torch.tensor({number}{'.' * number.lstrip('-').isdigit()})"
    return (
        f"{node.span.in_one_line} raises an error in PyTorch, whose {op.name} accepts tensors only:"
        f" write {tensor} for {number}."
    )


def _is_called(node: Node, of_numbers: bool) -> bool:
    """Whether the user calls PyTorch's function of a node; `sqrt(2)` may be that of `math`."""
    if node.span is None:
        return False
    try:
        parsed = ast.parse(node.span.in_one_line, mode="eval").body
    except SyntaxError:
        return False
    name = called_name(parsed)
    if name is None or lookup(name) is not node.op:
        return False
    path = dotted(parsed.func) or ""
    return not library_name(path) and not (of_numbers and hasattr(math, path))
