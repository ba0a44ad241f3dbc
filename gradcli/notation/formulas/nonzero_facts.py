"""What a program divides by, which is never 0 where the program has a number."""

from collections.abc import Collection

from ...graphs import OPS, Node, walk
from ...graphs.substitution import substitute
from .rules.products import constant_value, product_of

HOLDS = {"eq": False, "ne": True}


def divisors_of(program: Collection[Node]) -> frozenset[Node]:
    """What the nodes of a program are divided by, and its factors; nothing where it chooses between
    numbers, as one may be what it has where the divisor is 0.
    """
    nodes = walk(program)
    if any(n.dtype == "bool" or n.op.name == "where" for n in nodes):
        return frozenset()
    below = [n.parents[1] for n in nodes if n.op.name == "div"]
    return frozenset(below).union(*map(_factors, below))


def _factors(x: Node) -> tuple[Node, ...]:
    """Of which one is 0 where x is 0."""
    result = product_of(x)
    return () if result is None or not result.coefficient else tuple(result.factors)


def never_zero(node: Node, divisors: Collection[Node]) -> Node:
    """The node without the question whether a divisor is 0: where(1 - c == 0, 0, x) is x beside
    (x ** (1 - c) - 1) / (1 - c).
    """
    result = {}
    for n in walk([node]) if divisors else ():
        if n.op.name not in HOLDS or constant_value(n.parents[1]) != 0:
            continue
        parts = _factors(n.parents[0])
        if n.parents[0] in divisors or (parts and all(f in divisors for f in parts)):
            result[n] = OPS["full"](size=n.shape, fill_value=HOLDS[n.op.name])
    return substitute(node, result) if result else node
