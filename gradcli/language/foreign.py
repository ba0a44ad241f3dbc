"""What Python has and the language has not, and what to write in its place."""

import ast

from ..errors import GradcliError, Span

HINTS: dict[str, tuple[str, str | None]] = {
    "IfExp": ("a conditional expression", "a choice is written where(condition, a, b)"),
    "BoolOp": (
        "and / or",
        "masks are combined with & and |, each in brackets: (x > 0) & (x < 1)",
    ),
    "Lambda": ("a lambda", "write its body"),
    "NamedExpr": (
        "an assignment inside an expression",
        "make it a statement of its own, before ;",
    ),
    "Starred": ("an argument with *", "write the arguments out"),
    "JoinedStr": ("an f-string", None),
    "Set": ("a set", "lists are written [1, 2]"),
    "Dict": ("a dictionary", "lists are written [1, 2]"),
    "ListComp": ("a loop in brackets", "write its elements out"),
    "GeneratorExp": ("a loop in brackets", "write its elements out"),
}


def foreign(e: ast.expr, span: Span) -> GradcliError:
    """The error for a piece of syntax that is not part of the language."""
    what, hint = HINTS.get(type(e).__name__, ("this", "gradcli ops lists the operations"))
    return GradcliError("syntax", f"{what} is not part of the language", span=span, hint=hint)
