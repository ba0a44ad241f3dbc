"""What the formula of a claim can be changed with: what has a name in its program, numbers, and
the derivatives of elementwise functions on the way to the output.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeGuard

from ...autodiff.reverse import backward
from ...graphs import OPS, Node, walk
from ...language.inference.products import called
from ...language.problem import Problem
from ...language.syntax import is_whole_number
from ...notation import tree
from ..formulas.wording import Wording
from .findings import Finding
from .given import Claim
from .syntax import is_size


class Derivative(NamedTuple):
    """Of an elementwise operation: its formula, the function, and what its output and its input are
    called. No function where a mask chooses: that is no derivative of what it chooses from.
    """

    formula: str
    function: str | None
    of: tuple[str, ...]


class Words(NamedTuple):
    """What a formula can be changed with: the seed's name, where a formula needs it; the
    derivatives of elementwise operations; all names; dimensions; numbers of elements; the numbers
    of the program.
    """

    seed: str | None
    derivatives: tuple[Derivative, ...]
    names: tuple[str, ...]
    dims: tuple[str, ...]
    sizes: tuple[str, ...]
    numbers: tuple[str, ...] = ()


def words(claim: Claim, finding: Finding, named: Mapping[str, Node], sizes: Sequence[str]) -> Words:
    """The words for a claim that was tried, with `sizes` as texts."""
    problem = finding.point.problem
    seed, used = problem.seed, finding.node
    there = used is not None and seed.node in walk([used])
    missing = not seed.implicit and not there
    opposite = (f"~{name}" for name, node in named.items() if node.dtype == "bool")
    again = () if missing or seed.implicit else (seed.name,)
    return Words(
        seed.name if missing else None,
        derivatives(problem, finding.point.wording),
        (*named, *opposite, *again),
        _dims(claim, problem, max((node.ndim for node in named.values()), default=0)),
        tuple(sizes),
        _numbers(problem),
    )


def _dims(claim: Claim, problem: Problem, rank: int) -> tuple[str, ...]:
    last = "-1" if "-1" in f"{claim.text} {problem.program.source.text}" else "1"
    more: tuple[str, ...] = ("2", "(0, 2)", "(1, 2)") if rank > 2 else ()
    more += ("3", "(2, 3)", "(0, 2, 3)") if rank > 3 else ()
    return ("0", last, "1" if last == "-1" else "-1", "(0, 1)", *more)


def _numbers(problem: Problem) -> tuple[str, ...]:
    """Those that the program has: slopes, bounds, exponents."""
    result = (e for value in problem.program.values for e in typed_numbers(value))
    return tuple(dict.fromkeys(map(ast.unparse, result)))


def typed_numbers(e: ast.AST) -> Iterator[ast.expr]:
    """The numbers that a formula computes with, with their signs and without: no dimensions, sizes
    or indices, and no lists of numbers.
    """
    if _is_number(e):
        yield e
        yield from typed_numbers(e.operand) if isinstance(e, ast.UnaryOp) else ()
    elif not (isinstance(e, ast.expr) and is_size(e)):
        for inner in _inside(e):
            if not _is_number(inner) or _computes_with(e, inner):
                yield from typed_numbers(inner)


def _inside(e: ast.AST) -> Iterable[ast.AST]:
    """What a part is made of, without an index."""
    if isinstance(e, ast.Call):
        return [e.func, *e.args, *(k.value for k in e.keywords)]
    return [e.value] if isinstance(e, ast.Subscript) else ast.iter_child_nodes(e)


def _computes_with(e: ast.AST, number: ast.expr) -> bool:
    """Whether a number in a part is one to compute with; whole ones in calls may be places, sizes
    or dimensions.
    """
    if not isinstance(e, ast.Call):
        return isinstance(e, ast.BinOp | ast.Compare)
    op = called(e)
    computes = getattr(op, "family", "composite") in ("elementwise", "composite")
    whole = is_whole_number(number)
    return not whole or (computes and "dim" not in getattr(op, "places", ()))


def _is_number(e: ast.AST) -> TypeGuard[ast.expr]:
    """Whether it is a number as it was typed, with its sign or without."""
    bare = e.operand if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub) else e
    return isinstance(bare, ast.Constant) and type(bare.value) in (int, float)


# ---- derivatives ---------------------------------------------------------------------------------


def derivatives(problem: Problem, w: Wording) -> tuple[Derivative, ...]:
    """Those that have a formula, each once."""
    result: dict[str, Derivative] = {}
    for node in walk([problem.out]):
        for x in node.parents if _is_function(node) else ():
            text = formula(backward(node, OPS["ones"](size=node.shape), [x]).of[x], w)
            if text is not None:
                of = tuple(_called(n, w) for n in (node, x))
                function = None if node.op.masks else node.op.name
                result.setdefault(text, Derivative(text, function, of))
    return tuple(result.values())


def formula(node: Node | None, w: Wording) -> str | None:
    """The formula of a node as text; None where it has none."""
    built = None if node is None else w.formula(node)
    return None if built is None else tree.text(built)


def _called(node: Node, w: Wording) -> str:
    """The name of a node, or its formula."""
    name = w.names.get(node)
    return (formula(node, w) or "") if name is None else name.text


def _is_function(node: Node) -> bool:
    """Whether it is a function of elements that is written as a call: tanh, but not a product."""
    return node.op.family == "elementwise" and not node.op.spelling
