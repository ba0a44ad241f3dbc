"""The material for edits of a claim: names of the program, numbers, dimensions, sizes, and the
derivatives of its elementwise functions.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeGuard

from ...autodiff.reverse import backward
from ...graphs import OPS, Node, walk
from ...language.inference.products import called
from ...language.problem import Problem
from ...language.syntax import arguments_of, is_whole_number, negated
from ...notation import tree
from ..formulas.formula_writer import FormulaWriter
from .claim import Claim
from .findings import Finding
from .syntax import is_size


class Derivative(NamedTuple):
    """The derivative of an elementwise operation: its formula, the name of the function, and the
    texts of its output and input. `function` is None if the operation selects by a mask, because
    the mask is not called its derivative.
    """

    formula: str
    function: str | None
    of: tuple[str, ...]


class Words(NamedTuple):
    """The material for edits: the seed's name if the formula lacks the seed; derivatives of
    elementwise operations; names; dimensions; sizes; the numbers of the program.
    """

    seed: str | None
    derivatives: tuple[Derivative, ...]
    names: tuple[str, ...]
    dims: tuple[str, ...]
    sizes: tuple[str, ...]
    numbers: tuple[str, ...] = ()


def words(claim: Claim, finding: Finding, named: Mapping[str, Node], sizes: Sequence[str]) -> Words:
    """The material for edits of a claim with this finding. `sizes` are the texts of sizes."""
    problem = finding.point.problem
    seed, used = problem.seed, finding.node
    has_seed = used is not None and seed.node in walk([used])
    missing = not seed.implicit and not has_seed
    opposite = (f"~{name}" for name, node in named.items() if node.dtype == "bool")
    again = () if missing or seed.implicit else (seed.name,)
    return Words(
        seed.name if missing else None,
        derivatives(problem, finding.point.writer),
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
    """The numbers of the program: slopes, bounds, exponents."""
    result = (e for value in problem.program.values for e in typed_numbers(value))
    return tuple(dict.fromkeys(map(ast.unparse, result)))


def typed_numbers(e: ast.AST) -> Iterator[ast.expr]:
    """The numbers that a formula computes with, with and without their signs; not dimensions,
    sizes, indices, or lists of numbers.
    """
    if _is_number(e):
        yield e
        yield from typed_numbers(e.operand) if isinstance(e, ast.UnaryOp) else ()
    elif not (isinstance(e, ast.expr) and is_size(e)):
        for inner in _subexpressions(e):
            if not _is_number(inner) or _computes_with(e, inner):
                yield from typed_numbers(inner)


def _subexpressions(e: ast.AST) -> Iterable[ast.AST]:
    """The subexpressions of a part, without indices."""
    if isinstance(e, ast.Call):
        return [e.func, *arguments_of(e)]
    return [e.value] if isinstance(e, ast.Subscript) else ast.iter_child_nodes(e)


def _computes_with(e: ast.AST, number: ast.expr) -> bool:
    """Whether a part computes with a number, which is not an index, a size or a dimension."""
    if not isinstance(e, ast.Call):
        return isinstance(e, ast.BinOp | ast.Compare)
    op = called(e)
    computes = getattr(op, "family", "composite") in ("elementwise", "composite")
    whole = is_whole_number(number)
    return not whole or (computes and "dim" not in getattr(op, "positional", ()))


def _is_number(e: ast.AST) -> TypeGuard[ast.expr]:
    """Whether a node is a literal number, with or without a sign."""
    bare = negated(e) or e
    return isinstance(bare, ast.Constant) and type(bare.value) in (int, float)


# ---- derivatives ---------------------------------------------------------------------------------


def derivatives(problem: Problem, w: FormulaWriter) -> tuple[Derivative, ...]:
    """The distinct derivatives of the program's elementwise functions that have a formula."""
    result: dict[str, Derivative] = {}
    for node in walk([problem.out]):
        for x in node.parents if _is_function(node) else ():
            text = formula(backward(node, OPS["ones"](size=node.shape), [x]).of[x], w)
            if text is not None:
                of = tuple(_node_text(n, w) for n in (node, x))
                function = None if node.op.masks else node.op.name
                result.setdefault(text, Derivative(text, function, of))
    return tuple(result.values())


def formula(node: Node | None, w: FormulaWriter) -> str | None:
    """The formula of a node as text; None if it has none."""
    built = None if node is None else w.formula(node)
    return None if built is None else tree.text(built)


def _node_text(node: Node, w: FormulaWriter) -> str:
    """The name of a node, or its formula."""
    name = w.names.get(node)
    return (formula(node, w) or "") if name is None else name.text


def _is_function(node: Node) -> bool:
    """Whether a node is an elementwise function in the form of a call: tanh, but not a product."""
    return node.op.family == "elementwise" and not node.op.spelling
