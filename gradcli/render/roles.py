"""The roles that pieces of a document play, which a format may colour."""

from collections.abc import Iterator
from typing import Any

from ..explanation.blocks import Formula, Matrix
from ..notation.tree import Token

MOST = 4  # inputs that have colours of their own


def input_roles(document: Any) -> list[str]:
    """The roles of inputs, in order of appearance."""
    return [*dict.fromkeys(role for role in _roles(document) if role.startswith("input:"))]


def _roles(part: Any) -> Iterator[str]:
    """The roles of all tokens in a document."""
    if isinstance(part, Token | Matrix):
        yield part.role if isinstance(part, Token) else part.input_role
    elif isinstance(part, Formula):
        yield from (token.role for token in part.tokens)
    elif isinstance(part, tuple):
        for field in part:
            yield from _roles(field)
