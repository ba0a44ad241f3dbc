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
from .numeric import LARGE, Evaluator, Schedule, array_bytes, sources, workspace

BLOCK = 1 << 15  # elements of the widest tensor of a run, in a block


class Source(NamedTuple):
    """What a value is computed from: all of a node, or the rows at the same place."""

    node: Any
    by_rows: bool


Plan = Mapping[Node, Sequence[Source]]


class Run(NamedTuple):
    """Nodes that are computed together, a few of `length` rows at a time; one alone as a whole."""

    nodes: list[Node]
    length: int


def alone(evaluator: Evaluator, roots: Collection[Node]) -> list[Any]:
    """The arrays of `roots`, in their order; where tensors are large, nothing else is kept."""
    schedule = Schedule(evaluator.missing(roots))
    if schedule.largest < LARGE:
        evaluator.run(schedule)
    else:
        evaluator.check(schedule)
        evaluate(evaluator, schedule.nodes, roots)
    return [np.asarray(evaluator.values[root]) for root in roots]


def evaluate(evaluator: Evaluator, order: Sequence[Node], roots: Collection[Node]) -> None:
    """Compute `roots`, and leave no other value of `order` behind."""
    values = evaluator.values
    plan = {node: _sources(node, values) for node in order if not _only_means(node, values)}
    meant = {root: _meant(root, values) for root in roots}
    runs = list(_runs(plan))
    read = [{s.node for node in run.nodes for s in plan[node]} - set(run.nodes) for run in runs]
    needed = set(meant.values()).union(*read)
    spent = _last_uses(read, plan.keys() - set(meant.values()))
    most = _most_bytes(runs, spent, needed)
    evaluator.limits.check("memory", most, f"the values of {len(plan):,} operations")
    for run, done in zip(runs, spent, strict=True):
        if len(run.nodes) == 1:
            _compute_whole(evaluator, run.nodes[0], plan)
        else:
            _compute(evaluator, run, plan, needed)
        for node in done:
            del values[node]
    values |= {root: values[node] for root, node in meant.items()}
    for node in (plan.keys() & meant.values()) - set(roots):
        del values[node]


# ---- the plan ------------------------------------------------------------------------------------


def _sources(node: Node, values: Collection[Node | None]) -> list[Source]:
    result = [_meant(i, values) for i in sources(node)]
    by_rows: Sequence[bool] = ()
    if node.op.rows is not None and node.shape:
        by_rows = node.op.rows(*[i and i.shape for i in result], **node.attrs)
    return [Source(i, bool(by_rows) and by_rows[k]) for k, i in enumerate(result)]


def _only_means(node: Node | None, values: Collection[Node | None]) -> bool:
    """Whether it has no value of its own, but that of what it means."""
    return node is not None and node not in values and node.op.value is None and node.op.expand


def _meant(node: Any, values: Collection[Node | None]) -> Any:
    while _only_means(node, values):
        (node,) = sources(node)
    return node


def _runs(plan: Plan) -> Iterable[Run]:
    """What is computed together; each comes after what it reads.

    Another level begins where a node needs all rows of what a run computes.
    """
    ready: dict[Node | None, tuple[int, int]] = {}  # the levels that may read its rows, all of it
    runs: dict[int, dict[int, list[Node]]] = defaultdict(lambda: defaultdict(list))
    single: dict[int, list[Node]] = defaultdict(list)
    for node, result in plan.items():
        here = max((ready.get(s.node, (0, 0))[not s.by_rows] for s in result), default=0)
        moving = [s.node for s in result if s.by_rows]
        ready[node] = here, here + bool(moving)
        if moving:
            runs[here][moving[0].shape[0]].append(node)
        else:
            single[here].append(node)
    for here in range(max(ready.values(), default=(-1, -1))[0] + 1):
        yield from (Run([node], 0) for node in single[here])
        for count, nodes in runs[here].items():
            run = Run(nodes, count)
            yield from [run] if _is_worth_it(run) else (Run([node], 0) for node in nodes)


def _is_worth_it(run: Run) -> bool:
    return max(node.numel for node in run.nodes) >= LARGE and _block_rows(run) < run.length


def _block_rows(run: Run) -> int:
    """How many rows make a block."""
    widest = max(node.numel for node in run.nodes) // max(run.length, 1)
    return max(BLOCK // max(widest, 1), 1)


def _last_uses(
    read: Sequence[Collection[Node | None]], of: Collection[Node | None]
) -> list[list[Node]]:
    """For each of several steps, the nodes `of` these that no later one reads."""
    seen: set[Node | None] = set()
    result: list[list[Any]] = []
    for nodes in reversed(read):
        result.append([n for n in nodes if n in of and n not in seen])
        seen.update(nodes)
    return result[::-1]


def _most_bytes(
    runs: Sequence[Run], spent: Sequence[Collection[Node]], needed: Collection[Node | None]
) -> int:
    """How much memory the values that are held at the same time take, at most."""
    held = most = 0
    for run, done in zip(runs, spent, strict=True):
        kept = [n for n in run.nodes if len(run.nodes) == 1 or n in needed]
        held += sum(map(array_bytes, kept))
        most = max(most, held + max(map(workspace, kept), default=0))
        held -= sum(map(array_bytes, done))
    return most


# ---- a run ---------------------------------------------------------------------------------------


def _compute_whole(evaluator: Evaluator, node: Node, plan: Plan) -> None:
    values = evaluator.values
    with np.errstate(all="ignore"):
        values[node] = evaluator.value(node, [values[s.node] for s in plan[node]])


def _compute(evaluator: Evaluator, run: Run, plan: Plan, needed: Collection[Node | None]) -> None:
    """Compute a run block by block, and put together what is `needed` of it."""
    whole = evaluator.values
    kept = [node for node in run.nodes if node in needed]
    read = [{s.node for s in plan[node] if s.by_rows} for node in run.nodes]
    spent = _last_uses(read, set().union(*read).difference(kept))
    size = _block_rows(run)
    for start in range(0, run.length, size):
        rows = slice(start, start + size)
        block: dict[Any, Any] = {}
        with np.errstate(all="ignore"):
            for node, done in zip(run.nodes, spent, strict=True):
                arrays = [
                    whole[n] if not by_rows else block[n] if n in block else whole[n][rows]
                    for n, by_rows in plan[node]
                ]
                block[node] = evaluator.value(node, arrays)
                for n in done:
                    block.pop(n, None)
            for node in kept:
                whole[node] = _with_rows(whole.get(node), rows, block[node], run.length)


def _with_rows(whole: Any, rows: slice, block: Any, count: int) -> Any:
    """`whole` with a block in its place, made for the first one."""
    if whole is None:
        whole = np.empty((count, *block.shape[1:]), block.dtype)
    elif whole.dtype != block.dtype:
        whole = whole.astype(np.result_type(whole, block))
    whole[rows] = block
    return whole
