"""Concatenation, stacking and combination of tensors."""

import itertools
from itertools import pairwise

from ..errors import GradcliError
from ..graphs import OPS, Outputs, shapes
from ..lazy import np
from .families import no_flops, operator, shorthand
from .leaves import numbers, zeros
from .shaping import as_box, as_matrix, as_vector, expand, flatten, listed, reshape


def _is_joined(s):
    """Whether cat() joins a tensor of shape s; it ignores empty vectors, of shape (0,)."""
    return s != (0,)


def _joined(*inputs, dim):
    if not inputs:
        raise GradcliError("arguments", "cat() needs at least one tensor")
    inputs = tuple(filter(_is_joined, inputs)) or inputs
    first = inputs[0]
    axis = shapes.axis(dim, len(first))
    for s in inputs[1:]:
        refusal = f"shapes {shapes.text(first)} and {shapes.text(s)} cannot be joined"
        if len(s) != len(first):
            text = f"{refusal}: they differ in their number of dimensions"
            hint = "unsqueeze adds a dimension: x.unsqueeze(0)"
            raise GradcliError("shape", text, hint=hint)
        for d, (a, b) in enumerate(zip(first, s, strict=True)):
            if d != axis and a != b:
                message = f"{refusal} along dimension {axis}: dimension {d} is {a} and {b}"
                hint = "sizes along all other dimensions must be equal"
                raise shapes.Conflict(message, a, b, hint)
    return (*first[:axis], sum(s[axis] for s in inputs), *first[axis + 1 :])


@operator(
    shape=_joined,
    value=lambda *xs, dim: np.concatenate([x for x in xs if _is_joined(x.shape)] or xs, axis=dim),
    aliases=("concat", "concatenate"),
    examples=(("cat([a, b], dim=1)", "a=2x3,b=2x2"), ("cat((a, a))", "a=2x3")),
    index=lambda lower, i, *tensors, dim: lower.concatenated(i, tensors, dim),
    flops=no_flops,
    numpy="np.concatenate({tensors}, axis={dim})",
)
def cat(g, y, *tensors, dim=0):
    """Tensors one after the other along dim."""
    starts = [0]
    for x in tensors:
        starts.append(starts[-1] + (x.shape[dim] if _is_joined(x.shape) else 0))
    leading = (slice(None),) * shapes.axis(dim, y.ndim)
    parts = (g[(*leading, slice(a, b))] for a, b in pairwise(starts))
    return tuple(
        part if _is_joined(x.shape) else zeros(size=(0,))
        for part, x in zip(parts, tensors, strict=True)
    )


def _stacked(*inputs, dim):
    for s in inputs[1:]:
        text = "stack() needs equal shapes, got {have} and {want}"
        hint = "cat joins tensors of different sizes along an existing dimension"
        shapes.require_equal(inputs[0], s, text, hint)
    if not inputs:
        raise GradcliError("arguments", "stack() needs at least one tensor")
    axis = shapes.axis(dim, len(inputs[0]) + 1)
    return (*inputs[0][:axis], len(inputs), *inputs[0][axis:])


@operator(
    shape=_stacked,
    value=lambda *xs, dim: np.stack(xs, axis=dim),
    examples=(
        ("stack([a, b])", "a=2x3,b=2x3"),
        ("stack([a, b], dim=-1)", "a=3,b=3"),
        ("stack([a[0], b.sum()])", "a=3,b=3"),
    ),
    index=lambda lower, i, *tensors, dim: lower.stacked(i, tensors, dim),
    flops=no_flops,
    numpy="np.stack({tensors}, axis={dim})",
)
def stack(g, y, *tensors, dim=0):
    """Tensors of one shape joined along a new dimension."""
    leading = (slice(None),) * shapes.axis(dim, y.ndim)
    return tuple(g[(*leading, k)] for k in range(len(tensors)))


@shorthand()
def hstack(tensors):
    """Tensors joined along dimension 1, vectors along dimension 0."""
    nodes = tuple(map(as_vector, listed((tensors,))))
    return cat(nodes, dim=0 if nodes[0].ndim == 1 else 1)


@shorthand("row_stack")
def vstack(tensors):
    """Tensors joined along dimension 0; a vector is a row."""
    return cat(tuple(map(as_matrix, listed((tensors,)))))


@shorthand()
def dstack(tensors):
    """Tensors joined along dimension 2."""
    return cat(tuple(map(as_box, listed((tensors,)))), dim=2)


@shorthand()
def column_stack(tensors):
    """Tensors side by side; a vector is a column."""
    nodes = listed((tensors,))
    return cat(tuple(x if x.ndim > 1 else reshape(x, shape=(x.numel, 1)) for x in nodes), dim=1)


@shorthand()
def block_diag(*tensors):
    """Matrices along a diagonal, zeros elsewhere; a vector is a row."""
    nodes = tuple(map(as_matrix, listed(tensors)))
    if any(x.ndim > 2 for x in nodes):
        raise GradcliError("shape", "block_diag() takes tensors of at most two dimensions")
    left, right, rows = 0, sum(x.shape[1] for x in nodes), []
    for x in nodes:
        right -= x.shape[1]
        rows.append(OPS["zero_pad"](x, amount=((0, 0), (left, right))))
        left += x.shape[1]
    return cat(rows)


@shorthand(input_dtypes="any of one dtype")
def meshgrid(*tensors, indexing="ij"):
    """Each vector expanded to the grid of all; with "xy", rows and columns are exchanged."""
    if indexing not in ("ij", "xy"):
        raise GradcliError("arguments", f"indexing must be 'ij' or 'xy', got {indexing!r}")
    nodes = tuple(map(as_vector, listed(tensors)))
    if any(x.ndim > 1 for x in nodes):
        raise GradcliError("shape", "meshgrid() takes vectors and single numbers")
    swapped = indexing == "xy" and len(nodes) > 1
    if swapped:
        nodes = (nodes[1], nodes[0], *nodes[2:])
    shape = tuple(x.numel for x in nodes)
    grids = []
    for k, x in enumerate(nodes):
        along = reshape(x, shape=(x.numel, *(1,) * (len(nodes) - k - 1)))
        grids.append(expand(along, shape=shape))
    return Outputs((grids[1], grids[0], *grids[2:]) if swapped else grids)


@shorthand(input_dtypes="any of one dtype")
def cartesian_prod(*tensors):
    """Every combination of one element from each vector, as rows."""
    nodes = listed(tensors)
    if any(x.ndim != 1 for x in nodes):
        raise GradcliError("shape", "cartesian_prod() takes vectors")
    if len(nodes) == 1:
        return nodes[0]
    return stack(tuple(map(flatten, meshgrid(*nodes))), dim=1)


MOST_ROWS = 100_000  # most rows of a result of combinations()


def _choices(count, r, with_replacement):
    """The number of combinations; some number above MOST_ROWS if there are more."""
    count += r - 1 if with_replacement else 0
    rows, least = 1, min(r, count - r)
    for k in range(least):
        if rows > MOST_ROWS:
            break
        rows = rows * (count - k) // (k + 1)
    return rows if least >= 0 else 0


def _chosen(input, r=2, with_replacement=False):
    return r * _choices(input.numel, r, with_replacement)


@shorthand(allocates=_chosen)
def combinations(input, r=2, with_replacement=False):
    """Every choice of r elements of a vector, in their order, as rows."""
    if input.ndim != 1 or r < 0:
        raise GradcliError("arguments", "combinations() takes a vector, and r of at least 0")
    if r == 0:
        return zeros(size=(0,))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    count = _choices(input.numel, r, with_replacement)
    if count > MOST_ROWS:
        raise GradcliError("limit", f"there are more than {MOST_ROWS:,} combinations")
    if not count:
        return reshape(input[0:0], shape=(0, r))
    return OPS["take"](input, numbers(np.array([*choose(range(input.numel), r)])))
