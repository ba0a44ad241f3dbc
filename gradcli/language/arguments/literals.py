"""The text of a value → a NumPy array: a list, a pasted print, a file. Nothing is executed.

This module knows how PyTorch, NumPy and JAX print tensors, and formats of files. It does not
evaluate expressions, which are left to the caller.
"""

import ast
import re
from typing import IO, Any

from ...limits import Limits
from ..syntax import dotted
from .files import read_file
from .prints import FIRST, MAKERS, NotLiteral, read_text


def read_array(text: str, *, limits: Limits, stdin: IO[bytes] | None = None, origin: str) -> Any:
    """The array that `text` spells, or None if `text` is an expression of the language.

    `text` is a number, a nested list, a print of PyTorch, NumPy or JAX, `@file`, or `@-` for
    `stdin`; `origin` names the option in errors. The array is int64, bool or float64. Raises
    GradcliError "value" if the text is not an array of numbers, "file" if the file cannot be read,
    "limit" if it is too large.
    """
    limits.check("length", len(text), "the value is too long")
    if text.lstrip().startswith("@"):
        return read_file(text.strip()[1:], limits, stdin)
    first = FIRST.match(text)
    if first and first["name"]:  # a call or a name: no value begins with an identifier
        return None
    try:
        return read_text(text, limits, origin)
    except NotLiteral:
        if _is_expression(text):
            return None
        raise


def _is_expression(text: str) -> bool:
    """Whether `text` is an expression with an operation, and all its literals are numbers."""
    try:
        todo = [ast.parse(text.strip(), mode="eval").body]
    except (SyntaxError, ValueError):
        return False
    except (RecursionError, MemoryError):  # the language has limits for these
        return True
    computed = False
    while todo:
        node = todo.pop()
        if isinstance(node, ast.List | ast.Tuple):
            todo += node.elts
        elif isinstance(node, ast.UnaryOp):
            todo.append(node.operand)
        elif isinstance(node, ast.BinOp):
            computed = True
            todo += [node.left, node.right]
        elif isinstance(node, ast.Call) and _is_maker(node.func):
            todo += node.args
        elif not isinstance(node, ast.Constant):
            computed = True
        elif not isinstance(node.value, int | float):
            return False
    return computed


def _is_maker(function: ast.expr) -> bool:
    """Whether `function` is `tensor`, `np.array` and the like."""
    return re.fullmatch(MAKERS, dotted(function) or "") is not None
