"""Values of large tensors, computed a few rows at a time.

A run is a part of a graph whose rows, along the first dimension, are computed independently
(`Operator.rows`). It is evaluated block by block, so that intermediate values stay in the
processor's cache; only values that are needed outside the run are assembled. Other nodes are
evaluated as a whole. Values are deleted after their last use.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..budget import EVERY, tick
from ..graphs import Node
from ..lazy import np
from .numeric import LARGE, Evaluator, Schedule, array_bytes, sources, workspace

BLOCK = 1 << 15  # elements per block of the widest tensor of a run


class Source(NamedTuple):
    """An input of an operation, and whether row k of the output depends only on row k of it."""

    node: Any
    by_rows: bool


Plan = Mapping[Node, Sequence[Source]]


class Run(NamedTuple):
    """Nodes whose `length` rows are computed block by block; or one node, computed as a whole."""

    nodes: list[Node]
    length: int


def values_of(evaluator: Evaluator, roots: Collection[Node]) -> list[Any]:
    """The arrays of `roots`, in their order. Other values are deleted if tensors are large."""
    schedule = Schedule(evaluator.missing(roots))
    if schedule.largest < LARGE:
        evaluator.run(schedule)
    else:
        evaluator.check(schedule)
        evaluator.in_time(schedule, lambda: evaluate(evaluator, schedule.nodes, roots))
    return [np.asarray(evaluator.values[root]) for root in roots]


def evaluate(evaluator: Evaluator, order: Sequence[Node], roots: Collection[Node]) -> None:
    """Compute `roots`, and delete all other values of `order`."""
    values = evaluator.values
    plan = {node: _sources(node, values) for node in order if not _is_composite(node, values)}
    computed = {root: _computed_node(root, values) for root in roots}
    runs = list(_runs(plan))
    read = [{s.node for node in run.nodes for s in plan[node]} - set(run.nodes) for run in runs]
    needed = set(computed.values()).union(*read)
    last_uses = _last_uses(read, plan.keys() - set(computed.values()))
    most = _most_bytes(runs, last_uses, needed)
    evaluator.limits.check("memory", most, f"the values of {len(plan):,} operations")
    for run, finished in zip(runs, last_uses, strict=True):
        if len(run.nodes) == 1:
            _compute_whole(evaluator, run.nodes[0], plan)
        else:
            _compute(evaluator, run, plan, needed)
        for node in finished:
            del values[node]
    values |= {root: values[node] for root, node in computed.items()}
    for node in (plan.keys() & computed.values()) - set(roots):
        del values[node]


# ---- the plan ------------------------------------------------------------------------------------


def _sources(node: Node, values: Collection[Node | None]) -> list[Source]:
    result = [_computed_node(i, values) for i in sources(node)]
    by_rows: Sequence[bool] = ()
    if node.op.rows is not None and node.shape:
        by_rows = node.op.rows(*[i and i.shape for i in result], **node.attrs)
    return [Source(i, bool(by_rows) and by_rows[k]) for k, i in enumerate(result)]


def _is_composite(node: Node | None, values: Collection[Node | None]) -> bool:
    """Whether a node has no value function, so that its value is that of its expansion."""
    return node is not None and node not in values and node.op.value is None and node.op.expand


def _computed_node(node: Any, values: Collection[Node | None]) -> Any:
    while _is_composite(node, values):
        (node,) = sources(node)
    return node


def _runs(plan: Plan) -> Iterable[Run]:
    """Yield runs in the order of their dependencies.

    Nodes are grouped in levels; a node that needs all rows of a node that a run computes is in a
    later level than this run.
    """
    # for each node, the first level in which a run may read single rows of it, and in which it may
    # read all rows
    ready: dict[Node | None, tuple[int, int]] = {}
    runs: dict[int, dict[int, list[Node]]] = defaultdict(lambda: defaultdict(list))
    single: dict[int, list[Node]] = defaultdict(list)
    for node, result in plan.items():
        level = max((ready.get(s.node, (0, 0))[not s.by_rows] for s in result), default=0)
        by_rows = [s.node for s in result if s.by_rows]
        ready[node] = level, level + bool(by_rows)
        if by_rows:
            runs[level][by_rows[0].shape[0]].append(node)
        else:
            single[level].append(node)
    for level in range(max(ready.values(), default=(-1, -1))[0] + 1):
        yield from (Run([node], 0) for node in single[level])
        for count, nodes in runs[level].items():
            run = Run(nodes, count)
            yield from [run] if _is_worthwhile(run) else (Run([node], 0) for node in nodes)


def _is_worthwhile(run: Run) -> bool:
    return max(node.numel for node in run.nodes) >= LARGE and _block_rows(run) < run.length


def _block_rows(run: Run) -> int:
    """The number of rows of a block."""
    widest = max(node.numel for node in run.nodes) // max(run.length, 1)
    return max(BLOCK // max(widest, 1), 1)


def _last_uses(
    read: Sequence[Collection[Node | None]], of: Collection[Node | None]
) -> list[list[Node]]:
    """For each step, the nodes among `of` that no later step reads."""
    seen: set[Node | None] = set()
    result: list[list[Any]] = []
    for nodes in reversed(read):
        result.append([n for n in nodes if n in of and n not in seen])
        seen.update(nodes)
    return result[::-1]


def _most_bytes(
    runs: Sequence[Run], last_uses: Sequence[Collection[Node]], needed: Collection[Node | None]
) -> int:
    """The maximal memory of values that exist at the same time, in bytes."""
    in_use = most = 0
    for run, finished in zip(runs, last_uses, strict=True):
        stored = [n for n in run.nodes if len(run.nodes) == 1 or n in needed]
        in_use += sum(map(array_bytes, stored))
        most = max(most, in_use + max(map(workspace, stored), default=0))
        in_use -= sum(map(array_bytes, finished))
    return most


# ---- a run ---------------------------------------------------------------------------------------


def _compute_whole(evaluator: Evaluator, node: Node, plan: Plan) -> None:
    values = evaluator.values
    tick(EVERY)
    with np.errstate(all="ignore"):
        values[node] = evaluator.value(node, [values[s.node] for s in plan[node]])


def _compute(evaluator: Evaluator, run: Run, plan: Plan, needed: Collection[Node | None]) -> None:
    """Compute a run block by block, and assemble the values that are `needed`."""
    values = evaluator.values
    stored = [node for node in run.nodes if node in needed]
    read = [{s.node for s in plan[node] if s.by_rows} for node in run.nodes]
    last_uses = _last_uses(read, set().union(*read).difference(stored))
    size = _block_rows(run)
    for start in range(0, run.length, size):
        tick(EVERY)
        rows = slice(start, start + size)
        block: dict[Any, Any] = {}
        with np.errstate(all="ignore"):
            for node, finished in zip(run.nodes, last_uses, strict=True):
                arrays = [
                    values[n] if not by_rows else block[n] if n in block else values[n][rows]
                    for n, by_rows in plan[node]
                ]
                block[node] = evaluator.value(node, arrays)
                for n in finished:
                    block.pop(n, None)
            for node in stored:
                values[node] = _with_rows(values.get(node), rows, block[node], run.length)


def _with_rows(array: Any, rows: slice, block: Any, count: int) -> Any:
    """`array` with a block of rows set; allocated if it is None."""
    if array is None:
        array = np.empty((count, *block.shape[1:]), block.dtype)
    elif array.dtype != block.dtype:
        array = array.astype(np.result_type(array, block))
    array[rows] = block
    return array
