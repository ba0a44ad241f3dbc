"""Corrections of elementwise operations on shapes that do not broadcast: a missing dimension,
another order of dimensions, a part of a longer tensor.
"""

import ast
from collections.abc import Callable, Iterator
from math import prod

from .case import Case, Proposal
from .convolutions import padded_output, projected_shortcut, strided_shortcut
from .creation import (
    bias_of_product,
    identity_of_size,
    noise_of_shape,
    other_size,
    resized_output,
    sizes_of_data,
    sizes_of_parameters,
)
from .indexing import own_columns
from .layers import padded_convolutions
from .losses import numbers_of_classes, weights_of_classes, weights_of_labels
from .nodes import (
    argument,
    calls_in,
    dims_of,
    dotted,
    elements,
    is_operation,
    keyword,
    method,
    operands,
    owner,
    value_of,
)
from .pairs import compared_sets, each_with_each, similarity_of_each
from .products import along_features_of_chunk, product_for_elementwise, transposed_matrices
from .seeds import of_each_parameter

Shape = tuple[int, ...]


def broadcast(case: Case) -> Iterator[Proposal]:
    """Insert a missing dimension of size 1; or transpose; or change a size where it is written."""
    where = case.calls("where")  # it is not known which of its three tensors is wrong
    for change in (as_column,) if where else CHANGES:
        yield from change(case)


def same_numbers(case: Case) -> Iterator[Proposal]:
    """Write y.view_as(x) for a loss of x and y with equally many numbers for each sample."""
    for call in [c for c in case.calls() if case.is_loss(c) and len(c.args) > 1]:
        a, b = (case.shape(x) or () for x in call.args[:2])
        if len(a) != len(b) and min(len(a), len(b)) > 1 and (a[0], prod(a)) == (b[0], prod(b)):
            end = f".reshape_as({case.of(call.args[0])})"
            yield case.appended(call.args[1], end, note="The same values in another shape.")


def _fitted(case: Case, node: ast.expr) -> Iterator[Proposal]:
    """Reshape an operand, according to its sizes."""
    wanted, tensor = {int(n) for n in case.match.groups()}, case.tensor(node)
    if tensor is None and isinstance(node, ast.BinOp | ast.Call):
        yield case.appended(node, ".unsqueeze(1)")
        yield case.appended(node, ".T")
    if tensor is None or not wanted & set(tensor.shape):
        return
    if tensor.ndim == 1:
        yield case.appended(node, ".unsqueeze(1)")
    if tensor.ndim == 2:
        yield case.appended(node, ".T")
    if 1 in tensor.shape:
        yield case.appended(node, ".squeeze()")
    leaf = tensor.requires_grad and tensor.is_leaf
    if tensor.ndim > 1 and tensor.shape[0] == max(wanted) > 1 and not leaf:
        note = "Only as many rows as the other tensor has; the rest is dropped."
        yield case.appended(node, f"[:{min(wanted)}]", note=note, weak=tensor.requires_grad)


def encoded_targets(case: Case) -> Iterator[Proposal]:
    """Write p * one_hot(y) for the product of scores of classes with the numbers of classes."""
    for node in [n for n in case.of_type(ast.BinOp) if is_operation(n, ast.Mult)]:
        for scores, target in ((node.left, node.right), (node.right, node.left)):
            classes, shape = case.tensor(target), case.shape(scores) or ()
            if classes is None or classes.dtype.name != "int64" or len(shape) < 2:
                continue
            known = classes.shape == (shape[0], *shape[2:]) and classes.numel > 0
            if known and 0 <= classes.data.min() <= classes.data.max() < shape[1]:
                new = f"torch.nn.functional.one_hot({case.of(target)}, {shape[1]})"
                end = ".movedim(-1, 1)" if len(shape) > 2 else ""
                note = "Each class has a score: 1 where it is the right one, else 0."
                yield case.replaced(target, new + end, note=note)


def same_elements(case: Case) -> Iterator[Proposal]:
    """Write loss * mask.flatten() for a vector and a tensor of as many numbers."""
    for node in case.of_type(ast.BinOp):
        for vector, other in ((node.left, node.right), (node.right, node.left)):
            row, shape = case.shape(vector) or (), case.shape(other) or ()
            if len(row) == 1 and len(shape) > 1 and row[0] == prod(shape):
                note = f"It has as many numbers as {case.of(vector)}."
                yield case.appended(other, ".flatten()", note=note)


def for_each_sample(case: Case) -> Iterator[Proposal]:
    """Broadcast a vector that has one number per sample over a batch of images."""
    sizes = {int(n) for n in case.match.groups()}
    for name in dict.fromkeys(n.id for n in case.of_type(ast.Name)):
        vector = case.tensor_of(name)
        if vector is None or vector.ndim != 1 or vector.numel not in sizes:
            continue
        for rank in {t.ndim for _, t in case.tensors if t.ndim > 2 and t.shape[0] == vector.numel}:
            end = f".view(-1{', 1' * (rank - 1)})"
            note = f"{name} has one number for each sample."
            edits = [case.appending(n, end) for n in case.names(name, everywhere=False)]
            yield case.proposal(*edits, note=note)


def encoded_classes(case: Case) -> Iterator[Proposal]:
    """Pass num_classes to one_hot: as many as there are scores."""
    a, b = (int(n) for n in case.match.groups())
    for call in case.calls("one_hot", everywhere=True):
        count, labels = argument(call, 1, "num_classes"), case.tensor(call.args[0])
        many = case.number(count)
        for other in (b, a) if count is not None and many in (a, b) else ():
            if other != many and (labels is None or int(labels.data.max()) < other):
                yield case.replaced(count, str(other), why="Each class has a score.")  # type: ignore[arg-type]


def part_of_square(case: Case) -> Iterator[Proposal]:
    """Use the upper left part of a square mask that is made for longer sequences."""
    less, more = sorted(int(n) for n in case.match.groups())
    names = [n for n, v in case.failure.names.items() if type(v) is int and v == less]
    k = names[0] if len(names) == 1 else str(less)
    for node, tensor in case.tensors:
        square = tensor.ndim >= 2 and tensor.shape[-2:] == (more, more)
        if square and prod(tensor.shape[:-2]) == 1:
            first = ":, " * (tensor.ndim - 2)
            note = f"The sequence is shorter: only the first {less} of {more} positions are used."
            yield case.appended(node, f"[{first}:{k}, :{k}]", note=note)


def column_for_row(case: Case) -> Iterator[Proposal]:
    """Write a - net(x) for a - net(x).squeeze(), if a is a row."""
    for call in [s for s in case.sides if isinstance(s, ast.Call) and method(s) == "squeeze"]:
        if (case.shape(owner(call)) or ())[1:] == (1,):
            note = "Each element of the column is combined with each element of the row."
            yield case.without(call, note=note)


def vectors_of_leaves(case: Case) -> Iterator[Proposal]:
    """Write a.unsqueeze(1) + b for two parameter vectors of different sizes."""
    vectors = [n for n, t in case.tensors if t.ndim == 1 and t.is_leaf and t.requires_grad]
    if len(vectors) == 2 and not case.calls("matmul", "dot"):
        note = f"Rows are those of {case.of(vectors[0])}, columns of {case.of(vectors[1])}."
        yield case.appended(vectors[0], ".unsqueeze(1)", note=note)


def part_of_buffer(case: Case) -> Iterator[Proposal]:
    """Write self.pe[:, : x.shape[1]] for a tensor of a module that is made for longer sequences."""
    for node in case.of_type(ast.BinOp):
        for side, other in ((node.left, node.right), (node.right, node.left)):
            held, beside = case.shape(side) or (), case.shape(other) or ()
            pairs = [*zip(reversed(held), reversed(beside))]
            longer = [k for k, (m, n) in enumerate(pairs, 1) if m > n > 1]
            others = [k for k, (m, n) in enumerate(pairs, 1) if m != n and 1 not in (m, n)]
            if not dotted(side).startswith("self.") or len(longer) != 1 or longer != others:
                continue
            first = ":, " * (len(held) - longer[0])
            size = f"{case.operand(other)}.shape[{len(beside) - longer[0]}]"
            note = "The sequence is shorter: only the first positions are used."
            yield case.appended(side, f"[{first}: {size}]", note=note)


def bounded_dimension(case: Case) -> Iterator[Proposal]:
    """Write pe[:n] for pe[:, :n], or pe[: x.shape[1]] for pe[: x.shape[0]], where that fits the
    other operand.
    """
    for node in case.of_type(ast.BinOp):
        for side, other in ((node.left, node.right), (node.right, node.left)):
            beside = case.shape(other) or ()
            held = case.shape(value_of(side)) if isinstance(side, ast.Subscript) else None
            if isinstance(side, ast.Subscript) and held and len(held) <= len(beside):
                yield from _other_bound(case, side, held, other, beside[-len(held) :])


def _other_bound(
    case: Case, side: ast.Subscript, held: Shape, other: ast.expr, wanted: Shape
) -> Iterator[Proposal]:
    slices = elements(side.slice) or [side.slice]
    bounds = [(k, s.upper) for k, s in enumerate(slices) if isinstance(s, ast.Slice) and s.upper]
    if len(bounds) != 1 or not all(isinstance(s, ast.Slice) for s in slices):
        return
    ((place, bound),) = bounds
    count, text = case.number(bound), case.of(bound)
    for dim in range(len(held)) if count else ():
        if dim != place and _fits(held, dim, count, wanted):  # type: ignore[arg-type]
            note = f"Dimension {dim} is that of the {count} positions."
            yield case.replaced(side.slice, f"{':, ' * dim}:{text}", note=note)
    of_other = case.of(other) in (case.of(owner(bound)), case.of(owner(value_of(bound))))
    if of_other and _fits(held, place, wanted[place], wanted):
        dim = (len(case.shape(other) or ()) - len(wanted)) + place
        yield case.replaced(bound, f"{case.of(other)}.shape[{dim}]")


def _fits(held: Shape, dim: int, count: int, wanted: Shape) -> bool:
    """Whether a tensor broadcasts to a shape after its first `count` elements of a dimension are
    taken.
    """
    taken = (*held[:dim], min(count, held[dim]), *held[dim + 1 :])
    return all(n in (1, m) for n, m in zip(taken, wanted))


def padding_mask(case: Case) -> Iterator[Proposal]:
    """Reshape a padding mask of each sample's keys for scores with more dimensions."""
    for call in case.calls("masked_fill", "masked_fill_"):
        scores, given = case.shape(owner(call)), call.args[0] if call.args else None
        mask = given.left if isinstance(given, ast.Compare) else given
        shape = case.shape(mask)
        if scores is None or shape is None or mask is None or len(scores) < 3 or len(shape) < 2:
            continue
        if len(scores) == 4 and shape == (scores[0], *scores[2:]):
            note = "Each sample has one mask, for all of its heads."
            yield case.appended(mask, ".unsqueeze(1)", note=note)
        if shape == (scores[0], scores[-1]):
            more = ", ".join(["None"] * (len(scores) - 2))
            note = "Each sample has one mask, for all of its heads and queries."
            yield case.appended(mask, f"[:, {more}]", note=note)


def leading_sizes(case: Case) -> Iterator[Proposal]:
    """Reshape a tensor that has the first dimensions of the other one, so that they broadcast; or
    the first and the last ones.
    """
    for node in case.of_type(ast.BinOp):
        for side, other in ((node.left, node.right), (node.right, node.left)):
            shape, whole = case.shape(side), case.shape(other)
            if shape is None or whole is None or not 1 < len(shape) < len(whole):
                continue
            if shape == whole[: len(shape)]:
                end = ".unsqueeze(-1)" * (len(whole) - len(shape))
                note = f"{case.of(side)} has a number for each index of the first dimensions."
                yield case.appended(side, end, note=note)
            elif len(whole) == 3 and shape == (whole[0], whole[2]):
                note = f"Each row of {case.of(side)} is combined with all rows of its sample."
                yield case.appended(side, ".unsqueeze(1)", note=note)


def of_channels(case: Case) -> Iterator[Proposal]:
    """Reshape the vectors that have one number per channel of a batch of images or sequences."""
    channels = {t.shape[1]: t.ndim for _, t in case.tensors if t.ndim > 2}
    vectors = [(n, t) for n, t in case.tensors if t.ndim == 1 and t.numel in channels]
    for count in dict.fromkeys(t.numel for _, t in vectors):
        ones = ", 1" * (channels[count] - 2)
        names = [case.of(n) for n, t in vectors if t.numel == count]
        nodes = [n for n in case.of_type(ast.Name, ast.Attribute) if case.of(n) in names]
        edits = [case.appending(n, f".view(-1{ones})") for n in nodes]
        yield from case.change(*edits, note=f"A number for each of the {count} channels.")


def channels_first(case: Case) -> Iterator[Proposal]:
    """Write b.permute(2, 0, 1) for a tensor b whose last dimension, of channels or heads, comes
    before the others in the other operand.
    """
    for node in case.of_type(ast.BinOp):
        for side, other in ((node.right, node.left), (node.left, node.right)):
            shape, whole = case.shape(side) or (), case.shape(other) or ()
            permuted = (*shape[-1:], *shape[:-1])
            if len(shape) > 2 and permuted == whole[-len(shape) :] != shape:
                order = ", ".join(map(str, [len(shape) - 1, *range(len(shape) - 1)]))
                note = f"The last dimension of {case.of(side)} comes first in the other tensor."
                yield case.appended(side, f".permute({order})", note=note)


def as_column(case: Case) -> Iterator[Proposal]:
    """Make a vector that has one number per row of the other tensor a column."""
    rows = [t.shape[-2] for _, t in case.tensors if t.ndim > 1]
    for node, tensor in case.tensors:
        if tensor.ndim == 1 and tensor.numel in rows:
            note = f"{case.of(node)} has one number for each row."
            read = case.names(case.of(node), everywhere=False)
            if len(read) > 1:
                yield case.proposal(*[case.appending(n, ".unsqueeze(1)") for n in read], note=note)
            yield case.appended(node, ".unsqueeze(1)", note=note)


REDUCED = ("sum", "mean", "norm", "std", "var", "amax", "logsumexp", "prod", "max", "min", "amin")


def along_one_dimension(case: Case) -> Iterator[Proposal]:
    """sum(1) / norm(dim=1) for the sum(1) / norm(dim=0) of tensors of one shape."""
    dims = [(d, c) for c in case.calls(*REDUCED) for d in dims_of(c)]
    shapes = {case.shape(owner(c)) for _, c in dims}
    if len(shapes) == 1 and len({case.of(d) for d, _ in dims}) > 1:
        edits = [case.replacing(d, case.of(dims[0][0])) for d, _ in dims[1:]]
        yield case.proposal(*edits, note="All of them work along the same dimension.")


def reduced_with_keepdim(case: Case) -> Iterator[Proposal]:
    """Pass keepdim=True to a reduction whose result is combined with the reduced tensor."""
    here = [c for c in case.calls(*REDUCED) if isinstance(case.parents[c], ast.BinOp)]
    here = [c for c in here if dims_of(c) and not keyword(c, "keepdim")]
    if len(here) > 1 and len({case.shape(owner(c)) for c in here}) == 1:
        yield case.proposal(*[case.with_keyword(c, "keepdim", "True") for c in here])
    earlier = [c for s in case.origins for c in calls_in(s, *REDUCED)]
    for several in _of_one_tensor(case, earlier):
        yield case.proposal(*[case.with_keyword(c, "keepdim", "True") for c in several])
    for call in [*case.calls(*REDUCED), *earlier]:
        if not keyword(call, "keepdim") and (call.args or keyword(call, "dim")):
            yield case.given(call, "keepdim", "True")


def _of_one_tensor(case: Case, calls: list[ast.Call]) -> Iterator[list[ast.Call]]:
    """The calls that reduce the same tensor over a dimension, if there are several."""
    along = [c for c in dict.fromkeys(calls) if dims_of(c)]
    for text in dict.fromkeys(case.of(operands(c)[0]) for c in along):
        same = [c for c in along if case.of(operands(c)[0]) == text]
        if len(same) > 1:
            yield same


def created_with_other_size(case: Case) -> Iterator[Proposal]:
    """Change the size of a tensor that is created on the line that raises."""
    for call in case.creations:
        yield from other_size(case, call)


def fitted_operands(case: Case) -> Iterator[Proposal]:
    """Reshape one of the operands, unless there are more or fewer labels than samples."""
    vectors = all(t.ndim < 2 for _, t in case.tensors)
    if vectors and any(t.ndim and not t.dtype.is_floating for _, t in case.tensors):
        return
    for node in dict.fromkeys([*case.operands, *case.sides]):
        yield from _fitted(case, node)


CHANGES: tuple[Callable[[Case], Iterator[Proposal]], ...] = (  # likeliest first
    of_each_parameter,
    product_for_elementwise,
    own_columns,
    encoded_targets,
    same_elements,
    along_features_of_chunk,
    bias_of_product,
    numbers_of_classes,
    weights_of_labels,
    weights_of_classes,
    same_numbers,
    similarity_of_each,
    for_each_sample,
    transposed_matrices,
    padding_mask,
    column_for_row,
    vectors_of_leaves,
    noise_of_shape,
    leading_sizes,
    of_channels,
    channels_first,
    along_one_dimension,
    reduced_with_keepdim,
    as_column,
    each_with_each,
    compared_sets,
    encoded_classes,
    part_of_square,
    identity_of_size,
    padded_output,
    resized_output,
    created_with_other_size,
    padded_convolutions,
    projected_shortcut,
    strided_shortcut,
    sizes_of_parameters,
    bounded_dimension,
    part_of_buffer,
    fitted_operands,
    sizes_of_data,
)
