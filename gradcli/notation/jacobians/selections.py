"""Permutations and selections as formulas: rows of an identity in the order of the places that the
program itself moves, eye(x.numel())[arange(x.numel()).reshape(x.shape).T.flatten()].
"""

from collections.abc import Mapping

from ...graphs import Node, walk
from .. import tree
from ..formulas.formula import Telling, formula
from ..formulas.simplify import simplify
from ..tree import Attribute, Call, Method, Name, Number, Subscript, Tree


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
    node = _unreshaped(node)  # the rows are the same
    count = (
        Method(like, "numel")
        if source.ndim != 1
        else Subscript(Attribute(like, "shape"), (Number(0),))
    )
    flat: Tree = Call("arange", (count,))
    places = flat if source.ndim == 1 else Method(flat, "reshape", (Attribute(like, "shape"),))
    known = {n: name for n, name in names.items() if n.op.name == "input" and n is not seed}
    known[source], moved = Name(tree.text(places)), simplify(node)
    vectors = (n for n in walk([moved]) if n.op.index == "reshape" and n.ndim == 1)
    known |= {n: Name(tree.text(flat)) for n in vectors if _unreshaped(n) is source}
    index = formula(moved, known, telling)
    if node.ndim != 1:
        index = Method(index, "flatten")
    at: tuple[Tree, ...] = (index,)
    if isinstance(index, Subscript) and tree.text(index.base) == tree.text(flat):
        at = index.items  # arange(n)[::2] picks as ::2 does
    built = Subscript(Call("eye", (count,)), at)
    return Attribute(built, "T") if transposed else built


def _unreshaped(node: Node) -> Node:
    while node.op.index == "reshape":
        (node,) = node.parents
    return node
