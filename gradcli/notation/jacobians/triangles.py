"""What a bound between two letters leaves of a matrix: tril, triu."""

from .. import tree
from ..indices.expressions import Relation
from ..indices.places import linear, plus
from ..tree import Call, Tree


def triangle(bound: Relation, row: str, column: str, whole: Tree) -> Tree | None:
    """tril(whole), tril(whole, -1); None where the bound says something else."""
    form = linear(plus(bound.right, bound.left, -1))
    terms = dict(form.terms)
    if terms == {row: 1, column: -1}:
        function, diagonal = "tril", form.offset
    elif terms == {row: -1, column: 1}:
        function, diagonal = "triu", -form.offset
    else:
        return None
    return Call(function, (whole, *([tree.Number(diagonal)] if diagonal else [])))
