"""Layered graph drawing: inputs above the nodes that use them, few crossings, short edges.

After Sugiyama, Tagawa and Toda (1981): assigns layers, adds dummy nodes where an edge crosses a
layer, orders each layer by barycenters, and computes coordinates.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

# in pixels: the gaps between nodes and between layers, the height of a node, the width of a dummy
GAP_ACROSS, GAP_DOWN, HEIGHT, BEND = 22.0, 42.0, 34.0, 12.0
SWEEPS = 8
OPERATION, LEAF = 16.0, 1.0  # the weights of nodes when a layer is placed


class Layout(NamedTuple):
    """The centre of each node, the points of each edge, and the total size."""

    nodes: list[tuple[float, float]]
    edges: dict[tuple[int, int], list[tuple[float, float]]]
    size: tuple[float, float]


def layout(
    inputs: Sequence[Sequence[int]], widths: Sequence[float], gap: float = GAP_DOWN
) -> Layout:
    """Positions for nodes of these widths, each below its inputs, which have smaller numbers;
    `gap` is the space between layers.
    """
    layers = _layers(inputs)
    paths, layer_of = _with_dummies(inputs, layers)
    all_widths = [*widths, *[BEND] * (len(layer_of) - len(widths))]
    above, below = _neighbours(paths, len(layer_of))
    rows = _order_layers(layer_of, above, below)
    x = _horizontal(rows, all_widths, above, below)
    y = [(HEIGHT + gap) * layer + HEIGHT / 2 for layer in layer_of]
    left = min(x[n] - all_widths[n] / 2 for n in range(len(x)))
    right = max(x[n] + all_widths[n] / 2 for n in range(len(x)))
    points = [(x[n] - left, y[n]) for n in range(len(x))]
    edges = {edge: [points[n] for n in path] for edge, path in paths.items()}
    return Layout(points[: len(widths)], edges, (right - left, max(y) + HEIGHT / 2))


def _layers(inputs: Sequence[Sequence[int]]) -> list[int]:
    """The layer of each node: below all its inputs; for a leaf, just above its first use."""
    layers = [0] * len(inputs)
    for n, from_ in enumerate(inputs):
        layers[n] = max((layers[i] + 1 for i in from_), default=0)
    for n, from_ in enumerate(inputs):
        if not from_:
            takers = [layers[m] for m, others in enumerate(inputs) if n in others]
            layers[n] = min(takers, default=1) - 1
    return layers


def _with_dummies(
    inputs: Sequence[Sequence[int]], layers: list[int]
) -> tuple[dict[tuple[int, int], list[int]], list[int]]:
    """The path of each edge, with dummy nodes in layers between, and the layers of all nodes."""
    layer_of, paths = [*layers], {}
    for n, from_ in enumerate(inputs):
        for i in dict.fromkeys(from_):
            between = range(layers[i] + 1, layers[n])
            dummies = [*range(len(layer_of), len(layer_of) + len(between))]
            layer_of += between
            paths[i, n] = [i, *dummies, n]
    return paths, layer_of


def _neighbours(
    paths: dict[tuple[int, int], list[int]], count: int
) -> tuple[list[list[int]], list[list[int]]]:
    """The neighbours of each node in the layers above and below."""
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for path in paths.values():
        for upper, lower in pairwise(path):
            above[lower].append(upper)
            below[upper].append(lower)
    return above, below


def _order_layers(
    layer_of: list[int], above: list[list[int]], below: list[list[int]]
) -> list[list[int]]:
    """The nodes of each layer from left to right."""
    rows: list[list[int]] = [[] for _ in range(max(layer_of) + 1)]
    for n, layer in enumerate(layer_of):
        rows[layer].append(n)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for k in range(len(rows)) if down else reversed(range(len(rows))):
            joined = above if down else below
            other = rows[k - 1] if down else rows[(k + 1) % len(rows)]
            at = {n: k for k, n in enumerate(other)}
            here = {n: k for k, n in enumerate(rows[k])}
            rows[k].sort(key=lambda n: _mean([at[m] for m in joined[n] if m in at], here[n]))
    return rows


def _mean(values: list[float] | list[int], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _horizontal(
    rows: list[list[int]], widths: list[float], above: list[list[int]], below: list[list[int]]
) -> list[float]:
    """Horizontal coordinates near the mean of the neighbours, in order and without overlap. Leaves
    have small weights, so that a chain of operations is straight.
    """
    weights = [OPERATION if up else LEAF for up in above]
    x = [0.0] * len(widths)
    for row in rows:
        _spread(row, [0.0] * len(row), widths, weights, x)
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = []
            for n in row:
                joined = above[n] + below[n]
                total = sum(weights[m] for m in joined)
                wanted.append(sum(weights[m] * x[m] for m in joined) / total if total else x[n])
            _spread(row, wanted, widths, weights, x)
    return x


def _spread(
    row: list[int], wanted: list[float], widths: list[float], weights: list[float], x: list[float]
) -> None:
    """Set the x of a layer's nodes, as near to `wanted` as possible without overlap. Nodes that
    would overlap form a run, which is placed at the weighted mean of the positions they want.
    """
    runs: list[_Run] = []
    for n, middle in zip(row, wanted):
        run = _Run([n], widths[n], weights[n] * (middle - widths[n] / 2), weights[n])
        while runs and runs[-1].left + runs[-1].width + GAP_ACROSS > run.left:
            run = runs.pop().joined(run)
        runs.append(run)
    for run in runs:
        left = run.left
        for n in run.nodes:
            x[n] = left + widths[n] / 2
            left += widths[n] + GAP_ACROSS


class _Run(NamedTuple):
    """Adjacent nodes; `wish` is the weighted sum of the left ends that they want for the run."""

    nodes: list[int]
    width: float
    wish: float
    weight: float

    @property
    def left(self) -> float:
        """The left end of the run: the weighted mean of the left ends that its nodes want."""
        return self.wish / self.weight

    def joined(self, other: "_Run") -> "_Run":
        """This run joined with another at its right."""
        self.nodes.extend(other.nodes)
        offset = self.width + GAP_ACROSS
        wish = self.wish + other.wish - other.weight * offset
        return _Run(self.nodes, offset + other.width, wish, self.weight + other.weight)
