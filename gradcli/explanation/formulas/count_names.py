"""Sizes that are named where elements are counted in index notation: / (x.shape[0] W.shape[1])."""

from collections.abc import Iterable

from ...graphs import OPS, Node, walk
from ...language.problem import Problem


def known_sizes(here: Problem, in_general: Problem, names: Iterable[Node]) -> dict[int, Node]:
    """The sizes of a problem that are one and the same `in_general`, where all sizes tell, each
    read off the first of the nodes with `names` that has it.
    """
    own, others = (walk(p.roots, _made_of) for p in (here, in_general))
    if [n.op for n in own] != [n.op for n in others]:
        return {}
    meant: dict[int, set[int]] = {}
    for a, b in zip(own, others, strict=True):
        for n, m in zip(a.shape, b.shape, strict=True):
            meant.setdefault(n, set()).add(m)
    result: dict[int, Node] = {}
    for node in names:
        for d, n in enumerate(node.shape):
            if len(meant.get(n, ())) == 1 and n not in meant[n]:
                result.setdefault(n, OPS["size"](node, dim=(d,)))
    return result


def _made_of(node: Node) -> list[Node]:
    """What a node is computed from, and what it stands for."""
    return [*node.parents, *([] if node.op.expand is None else [node.op.expanded(node)])]
