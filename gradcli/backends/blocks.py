"""Values of large tensors, a few rows at a time.

A run is a part of a graph whose rows, along the first dimension, are computed apart
(`Operator.rows`). Evaluated block by block, what lies between its ends stays in the processor's
cache, and only what is needed outside of it is ever a whole array. What comes between runs is
evaluated as a whole; nothing is kept after its last use.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..graphs import Node
from ..lazy import np
from .numeric import LARGE, Evaluator, sources

BLOCK = 1 << 15  # elements of the widest tensor of a run, in a block


class Source(NamedTuple):
    """What a value is computed from: all of a node, or the rows at the same place."""

    node: Node | None
    by_rows: bool


Plan = Mapping[Node, Sequence[Source]]


def evaluate(evaluator: Evaluator, order: Sequence[Node], roots: Collection[Node]) -> None:
    """Compute `roots`, and leave no other value of `order` behind."""
    plan = {node: _sources(node) for node in order}
    steps = list(_steps(plan))
    read = [{s.node for node in step for s in plan[node]} - set(step) for step in steps]
    needed = set(roots).union(*read)
    spent = _last_uses(read, plan.keys() - set(roots))
    for step, done in zip(steps, spent, strict=True):
        if len(step) == 1:
            evaluator.run(step)
        else:
            _run(evaluator, step, plan, needed)
        for node in done:
            del evaluator.values[node]


# ---- the plan ------------------------------------------------------------------------------------


def _sources(node: Node) -> list[Source]:
    found = sources(node)
    if node.op.value is None:
        by_rows: Sequence[bool] = [True] * len(found)  # the same value, said with other operators
    elif node.op.rows is not None:
        by_rows = node.op.rows(*[i and i.shape for i in found], **node.attrs)
    else:
        by_rows = ()
    return [Source(i, bool(by_rows and node.shape) and by_rows[k]) for k, i in enumerate(found)]


def _steps(plan: Plan) -> Iterable[list[Node]]:
    """What is computed together: runs of several nodes, and single ones; each inputs first.

    Another level begins where a node needs all rows of what a run computes.
    """
    level: dict[Node | None, int] = {}
    runs: dict[tuple[int, int], list[Node]] = defaultdict(list)
    single: dict[int, list[Node]] = defaultdict(list)
    moving: set[Node | None] = set()
    for node, found in plan.items():
        here = max(
            (level.get(s.node, 0) + (s.node in moving and not s.by_rows) for s in found), default=0
        )
        level[node] = here
        if any(s.by_rows for s in found):
            moving.add(node)
            runs[here, node.shape[0]].append(node)
        else:
            single[here].append(node)
    for here in range(max(level.values(), default=-1) + 1):
        yield from ([node] for node in single[here])
        for (at, _), run in runs.items():
            if at == here:
                yield from [run] if _is_worth_it(run) else ([node] for node in run)


def _is_worth_it(run: list[Node]) -> bool:
    return max(node.numel for node in run) >= LARGE and _block_rows(run) < run[0].shape[0]


def _block_rows(run: list[Node]) -> int:
    """How many rows make a block."""
    widest = max(node.numel for node in run) // max(run[0].shape[0], 1)
    return max(BLOCK // max(widest, 1), 1)


def _last_uses(
    read: Sequence[Collection[Node | None]], of: Collection[Node | None]
) -> list[list[Node]]:
    """For each of several steps, the nodes `of` these that no later one reads."""
    seen: set[Node | None] = set()
    found: list[list[Any]] = []
    for nodes in reversed(read):
        found.append([n for n in nodes if n in of and n not in seen])
        seen.update(nodes)
    return found[::-1]


# ---- a run ---------------------------------------------------------------------------------------


def _run(
    evaluator: Evaluator, nodes: list[Node], plan: Plan, needed: Collection[Node | None]
) -> None:
    """Compute a run block by block, and put together what is `needed` of it."""
    whole, count, size = evaluator.values, nodes[0].shape[0], _block_rows(nodes)
    kept = [node for node in nodes if node in needed]
    read = [{s.node for s in plan[node] if s.by_rows} for node in nodes]
    spent = _last_uses(read, set().union(*read).difference(kept))
    for start in range(0, count, size):
        rows = slice(start, start + size)
        block: dict[Node | None, Any] = {}
        with np.errstate(all="ignore"):
            for node, done in zip(nodes, spent, strict=True):
                arrays = [
                    whole[n] if not by_rows else block[n] if n in block else whole[n][rows]
                    for n, by_rows in plan[node]
                ]
                block[node] = evaluator.value(node, arrays)
                for n in done:
                    block.pop(n, None)
        for node in kept:
            whole[node] = _with_rows(whole.get(node), rows, block[node], count)


def _with_rows(whole: Any, rows: slice, block: Any, count: int) -> Any:
    """`whole` with a block in its place, made for the first one."""
    if whole is None:
        whole = np.empty((count, *block.shape[1:]), block.dtype)
    elif whole.dtype != block.dtype:
        whole = whole.astype(np.result_type(whole, block))
    whole[rows] = block
    return whole
