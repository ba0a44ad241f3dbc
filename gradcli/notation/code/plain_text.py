"""Texts that mean the same in every library: names, numbers, and comparisons of them."""

import ast

SIMPLE = (
    ast.Compare, ast.BinOp, ast.UnaryOp, ast.Constant, ast.expr_context, ast.cmpop, ast.operator,
    ast.unaryop,
)  # fmt: skip


def names_in(text: str) -> set[str]:
    """The names in such a text; none in any other."""
    if text.startswith("["):  # a list, which may be long
        return set()
    try:
        parts = list(ast.walk(ast.parse(text, mode="eval").body))
    except SyntaxError:
        return set()
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return names if all(isinstance(part, (ast.Name, *SIMPLE)) for part in parts) else set()
