"""Numbers of the matrix formulas that matrices.py writes.

In these diag and outer take tensors flattened; all else means what it means in the language.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from ...lazy import np
from .. import tree
from ..tree import Call, Infix, Method, Prefix, Subscript, Tree

FLATTENING: Mapping[str, Callable[..., Any]] = {
    "diag": lambda a, k=0: np.diag(np.ravel(a), int(k)),
    "outer": lambda a, b: np.outer(a, b),
}
SYMBOLS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "@": "matmul"}


def numbers(
    formula: Tree, arrays: Callable[[str], Any], letters: Mapping[str, int] | None = None
) -> Any:
    """The array of a formula that Matrices wrote, `letters` having the values given; `arrays`
    evaluates texts of the language. Raises LookupError for another formula.
    """
    if isinstance(formula, tree.Number):
        return np.asarray(formula.value)
    if not _flattens(formula):
        return np.asarray(arrays(_with(tree.text(formula), letters or {})))
    if isinstance(formula, Infix) and formula.symbol in SYMBOLS:
        sides = (numbers(side, arrays, letters) for side in (formula.left, formula.right))
        return getattr(np, SYMBOLS[formula.symbol])(*sides)
    if isinstance(formula, Prefix) and formula.symbol == "-":
        return -numbers(formula.operand, arrays, letters)
    if isinstance(formula, Call) and not formula.named:
        args = [numbers(a, arrays, letters) for a in formula.args]
        if formula.function in FLATTENING:
            return FLATTENING[formula.function](*args)
        if formula.function in ("kron", "tril", "triu"):
            return getattr(np, formula.function)(*args)
    if isinstance(formula, Subscript) and formula.index == ":, None":
        return numbers(formula.base, arrays, letters)[:, None]
    if isinstance(formula, Method) and formula.name == "reshape":
        sizes = [int(numbers(size, arrays, letters)) for size in formula.args]
        return numbers(formula.base, arrays, letters).reshape(sizes)
    raise LookupError(tree.text(formula))


def _with(text: str, letters: Mapping[str, int]) -> str:
    """The text with numbers for its letters."""
    for letter, value in letters.items():
        text = re.sub(rf"\b{letter}\b", str(value), text)
    return text


def _flattens(formula: Tree) -> bool:
    """Whether there is a diag or an outer in it."""
    if isinstance(formula, Call) and formula.function in FLATTENING:
        return True
    return any(map(_flattens, _parts(formula)))


def _parts(formula: Tree) -> tuple[Tree, ...]:
    if isinstance(formula, Infix):
        return formula.left, formula.right
    if isinstance(formula, Prefix):
        return (formula.operand,)
    if isinstance(formula, Method):
        return (formula.base, *formula.args)
    if isinstance(formula, Subscript):
        return (formula.base,)
    return formula.args if isinstance(formula, Call) else ()
