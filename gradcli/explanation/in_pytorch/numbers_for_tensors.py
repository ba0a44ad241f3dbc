"""Calls that gradcli answers and PyTorch refuses: with a number where its function accepts tensors
only, as `maximum(x, 2)`, or with keepdim and no dim, as `x.sum(keepdim=True)`.
"""

import ast
import math

from ...graphs import Node, walk
from ...language.names import libraries_of
from ...language.problem import Problem
from ...language.syntax import called_name, dotted, name_of
from ...language.vocabulary import library_name
from ...operators import lookup
from ..phrases import number_text

REFUSED_NUMBER, MISSING_ARGUMENT = "number-for-tensor", "missing-argument"


def refused_calls(p: Problem) -> list[tuple[str, str]]:
    """Notes on calls for which PyTorch raises an error, and gradcli does not."""
    return [*numbers_for_tensors(p), *keepdim_without_dim(p)]


def numbers_for_tensors(p: Problem) -> list[tuple[str, str]]:
    """Notes on calls for which PyTorch raises an error because an argument is a number. Functions
    of NumPy, SciPy and JAX accept numbers.
    """
    if libraries_of(p.program) - {"torch"}:
        return []
    texts = map(_refusal, walk([p.out, *p.named.values()]))
    return [(REFUSED_NUMBER, text) for text in dict.fromkeys(texts) if text]


def keepdim_without_dim(p: Problem) -> list[tuple[str, str]]:
    """Notes on calls for which PyTorch raises an error because they have keepdim and no dim."""
    calls = [e for e in p.program.syntax if isinstance(e, ast.Call) and _is_keepdim_alone(e)]
    if not calls or libraries_of(p.program) - {"torch"}:
        return []
    texts = (_without_dim(e, p) for e in calls)
    return [(MISSING_ARGUMENT, text) for text in dict.fromkeys(texts) if text]


def _is_keepdim_alone(e: ast.Call) -> bool:
    """Whether a call has keepdim, and neither dim nor another argument beside its tensor."""
    names = {k.arg for k in e.keywords}
    is_method = isinstance(e.func, ast.Attribute) and name_of(e.func.value) != "torch"
    of_tensor = len(e.args) == (0 if is_method else 1)
    return of_tensor and bool(names & {"keepdim", "keepdims"}) and not names & {"dim", "axis"}


def _without_dim(e: ast.Call, p: Problem) -> str | None:
    """The note on a call; None if an overload of PyTorch's function fits."""
    from ...snippets.eager.signatures import ALIASES, functions  # slow to import, seldom needed

    name = called_name(e)
    known = functions().get(f"torch.{name}")
    names = {"input", *(ALIASES.get(k.arg or "", k.arg) for k in e.keywords)}
    for overload in known.overloads if known else ():
        parameters = overload.parameters
        required = {q.name for q in parameters if not q.optional}
        if required <= names <= {q.name for q in parameters}:
            return None
    text = f"raises an error in PyTorch, whose {name} takes keepdim only together with dim."
    return f"{p.program.source.segment(e)} {text}" if known else None


def _refusal(node: Node) -> str | None:
    """The note on a call; None if PyTorch accepts it, or if the user has not written it."""
    op, is_number = node.op, [i is None or i.op.name == "constant" for i in node.inputs]
    places = [k for k, i in enumerate(node.inputs) if i is not None and is_number[k]]
    listed = [k for k in places if op.variadic or k < len(op.inputs)]
    refused = (k for k in listed if not op.takes_number(k, is_number))
    place = None if op.torch is None or op.sign else next(refused, None)
    if place is None or not _is_called(node, all(is_number)):
        return None
    number = number_text(node.inputs[place].attrs["value"])  # type: ignore[union-attr]
    tensor = f"torch.tensor({number}{'.' * number.lstrip('-').isdigit()})"
    assert node.span is not None
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
    if not isinstance(parsed, ast.Call) or name is None or lookup(name) is not node.op:
        return False
    path = dotted(parsed.func) or ""
    return not library_name(path) and not (of_numbers and hasattr(math, path))
