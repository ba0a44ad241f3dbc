"""Permutations and selections as formulas: rows of an identity in the order of the places that the
program itself moves, eye(x.numel())[arange(x.numel()).reshape(x.shape).T.flatten()].
"""

from collections.abc import Mapping

from ...graphs import Node
from .. import tree
from ..formulas.formula import Telling, formula
from ..formulas.simplify import simplify
from ..tree import Attribute, Call, Method, Name, Subscript, Tree


def selection(
    out: Node,
    x: Node,
    grad: Node,
    seed: Node,
    names: Mapping[Node, Name],
    transposed: bool,
    telling: Telling | None = None,
) -> Tree:
    """The Jacobian of `out` by `x`, an identity whose rows are picked as out picks elements of x;
    `transposed` where the gradient picks elements of the seed.
    """
    node, source, like = (
        (grad, seed, names.get(out, names[seed])) if transposed else (out, x, names[x])
    )
    while node.op.index == "reshape":  # the rows are the same
        (node,) = node.parents
    count = Method(like, "numel") if source.ndim != 1 else Subscript(Attribute(like, "shape"), "0")
    places: Tree = Call("arange", (count,))
    if source.ndim != 1:
        places = Method(places, "reshape", (Attribute(like, "shape"),))
    inputs = {n: name for n, name in names.items() if n.op.name == "input" and n is not seed}
    index = formula(simplify(node), {**inputs, source: Name(tree.text(places))}, telling)
    if node.ndim != 1:
        index = Method(index, "flatten")
    made = Subscript(Call("eye", (count,)), tree.text(index))
    return Attribute(made, "T") if transposed else made
