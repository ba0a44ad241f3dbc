"""Corrections of shapes: products, broadcasting, views, einsum, indices, concatenation."""

import ast
import re
from collections.abc import Iterator
from itertools import permutations
from math import prod

from ....snippets.library.numpy_arrays import Scalar
from .case import Case, Proposal, renaming, weight_of
from .layers import (
    arguments_called,
    embedded,
    encoded,
    given_for,
    numbers_given,
    padded_convolutions,
    resized_layer,
)
from .losses import numbers_of_classes, weights_of_classes, weights_of_labels
from .nodes import (
    argument,
    calls_in,
    dotted,
    elements,
    is_operation,
    keyword,
    method,
    names_in,
    number_of,
    operands,
    owner,
    size,
    target_of,
    value_of,
    within,
)
from .numbers import without_array
from .seeds import reduced_elsewhere
from .text import Edit

not_contiguous = renaming("view", to="reshape")
MADE_BY_SIZE = ("zeros", "ones", "rand", "randn", "empty", "full")
joined_numbers = renaming("cat", "concat", to="stack")


def matrix_product(case: Case) -> Iterator[Proposal]:
    """A transposition, or a layer with the right number of inputs."""
    yield from along_features(case, "chunk", "split", "cat")
    yield from transposed_matrices(case)
    products = [n for n in case.of_type(ast.BinOp) if is_operation(n, ast.MatMult)]
    for product in products:
        yield from products_of_rows(case, product)
        yield from quadratic_form(case, product)
        yield from batch_of_vectors(case, product)
    if case.match[1]:
        a, b, c, d = (int(case.match[k]) for k in (1, 2, 3, 4))
        yield from flattened_samples(case, a, b, c)
        yield from written_batch(case)
        yield from resized_layer(case, a, b, c, d)
    for call in case.calls("bmm", "baddbmm"):
        first, second = [case.shape(a) or () for a in (*operands(call), None)][:2]
        if len(first) == len(second) == 3 and first[2] == second[2]:
            note = "The last two dimensions are the matrices; the first is the batch."
            yield case.appended(operands(call)[1], ".transpose(-2, -1)", note=note)
    for node, tensor in reversed(case.tensors):
        if tensor.ndim > 2 and "batch2" in case.message:
            note = "The last two dimensions are the matrices; those before are the batch."
            yield case.appended(node, ".transpose(-2, -1)", note=note)
    yield from other_factors(case, products)
    for operand, tensor in case.tensors:
        ends = {1: (".unsqueeze(0)", ".unsqueeze(1)"), 2: (), 0: ()}
        for end in ends.get(tensor.ndim, (".flatten(1)",)):
            yield case.appended(operand, end)


def along_features(case: Case, *names: str) -> Iterator[Proposal]:
    """Split or join the features, the last dimension, where no dim is given."""
    for call in case.calls(*names, everywhere=True):
        if call.lineno <= case.line and len(call.args) == 1 and not call.keywords:
            done = "joined" if method(call) == "cat" else "split"
            why = f"Line {call.lineno}: without dim the batch is {done}, not the features."
            yield case.given(call, "dim", "-1", why=why)


def other_factors(case: Case, products: list[ast.BinOp]) -> Iterator[Proposal]:
    """Transpose a factor, or exchange the two."""
    for node in products:
        if case.of(node.left) == case.of(node.right):
            note = "The product of each row with each other."
            yield case.appended(node.right, ".T", note=note)
        for factor in (node.right, node.left):
            if isinstance(factor, ast.Call):  # the outermost product, not its factors
                yield case.appended(factor, ".T")
    inputs = [case.of(a) for call, _ in case.calls_of_modules for a in call.args]
    for operand, tensor in case.tensors:
        if tensor.ndim == 2 and case.of(operand) not in inputs:
            yield case.appended(operand, ".T")
    for node in products:
        yield case.replaced(node.right, f"{case.operand(node.right)}.T")
        yield case.replaced(node.left, f"{case.operand(node.left)}.T")
        yield case.replaced(node, f"{case.of(node.right)} @ {case.of(node.left)}")
    for call in case.calls("matmul", "mm", "mv", "dot", "linear"):
        for given in call.args:
            yield case.appended(given, ".T")


def products_of_rows(case: Case, product: ast.BinOp) -> Iterator[Proposal]:
    """(a * b).sum(1) for the (a @ b).sum(1) of two matrices of one shape."""
    outer = case.parents[product]
    summed = case.parents[outer] if getattr(outer, "attr", "") == "sum" else outer
    shape = case.shape(product.left)
    sides = [s for s in (product.left, product.right) if isinstance(s, ast.Call)]
    embedded_rows = [case.called_class(s) for s in sides] == ["Embedding", "Embedding"]
    if embedded_rows and shape and shape == case.shape(product.right):
        new = f"({case.of(product.left)} * {case.of(product.right)}).sum(-1)"
        yield case.replaced(product, new, note="The product of each pair of rows.")
    along = isinstance(summed, ast.Call) and bool(summed.args or summed.keywords)
    if method(summed) == "sum" and along and shape and shape == case.shape(product.right):
        between = Edit(case.end(product.left), case.start(product.right), " * ")
        yield case.proposal(between, note="The product of each row with the other's row.")


def quadratic_form(case: Case, product: ast.BinOp) -> Iterator[Proposal]:
    """Write x @ A @ x or x.T @ A @ x for each row of x."""
    inner, x = product.left, product.right
    if not is_operation(inner, ast.MatMult):
        return
    form, others = case.shape(inner) or (), case.shape(x) or ()
    if len(form) == 2 and form == others and form[0] != form[1]:
        new = f"(({case.of(inner)}) * {case.of(x)}).sum(-1)"
        yield case.replaced(product, new, note="The form of each pair of rows.")
    first, turned = case.of(inner.left), f"{case.of(x)}.T"  # type: ignore[attr-defined]
    if first in (case.of(x), turned):
        shape = case.shape(x)
        if shape is not None and len(shape) == 2 and min(shape) > 1:
            rows = f"{case.of(x)} @ {case.of(inner.right)}"  # type: ignore[attr-defined]
            new = f"(({rows}) * {case.of(x)}).sum(-1)"
            yield case.replaced(product, new, note="The quadratic form of each row.")


def column_of_vector(case: Case) -> Iterator[Proposal]:
    """Write cholesky_solve(b.unsqueeze(1), L).squeeze(1) for a vector b."""
    for call in case.calls("cholesky_solve", "solve_triangular", "lu_solve", "lstsq"):
        for given in [a for a in call.args if len(case.shape(a) or ()) == 1]:
            why = "It takes a matrix of right sides: a vector is one column."
            outer = case.parents.get(call)
            column = case.appending(given, ".unsqueeze(1)")
            if not (isinstance(outer, ast.Attribute) and outer.attr == "squeeze"):
                yield case.proposal(column, case.adding(call, ".squeeze(1)"), why=why)
            yield case.proposal(column, why=why)


def written_batch(case: Case) -> Iterator[Proposal]:
    """Write x.view(x.shape[0], -1) for a literal batch size that differs from the actual one."""
    for call in case.methods("view", "reshape", everywhere=True):
        if len(call.args) == 2 and number_of(call.args[0]) and case.of(call.args[1]) == "-1":
            why = "The last batch may be smaller: its size is that of the input."
            new = f"{case.operand(owner(call))}.shape[0]"
            if call.lineno <= case.line:
                yield case.replaced(call.args[0], new, why=why)


def batch_of_vectors(case: Case, product: ast.BinOp) -> Iterator[Proposal]:
    """Multiply each matrix of a batch with the vector of the same sample."""
    matrices, vectors = case.shape(product.left) or (), case.shape(product.right) or ()
    if len(matrices) == 3 and vectors == (matrices[0], matrices[2]):
        new = f"({case.of(product.left)} @ {case.operand(product.right)}.unsqueeze(-1)).squeeze(-1)"
        note = "Each matrix of the batch is multiplied with the vector of its own sample."
        yield case.replaced(product, new, note=note)


def transposed_matrices(case: Case) -> Iterator[Proposal]:
    """Write x.transpose(-2, -1) for x.T of a batch, which also transposes the batch dimension."""
    for node in case.attributes("T"):
        shape = case.shape(node.value)
        if shape is not None and len(shape) > 2:
            why = f"{case.of(node)} reverses all dimensions, those of the batch too."
            yield case.replaced(node, f"{case.of(node.value)}.transpose(-2, -1)", why=why)


def flattened_samples(case: Case, rows: int, given: int, wanted: int) -> Iterator[Proposal]:
    """Keep the batch dimension in x.view(-1) of a batch."""
    if rows != 1 or given % wanted:
        return
    for call in case.calls("flatten", everywhere=True):
        alone = dotted(call.func) == "torch.flatten" and len(call.args) == 1 and not call.keywords
        if alone and call.lineno <= case.line:
            why = "The whole batch became one row; each sample is a row of its own."
            yield case.proposal(case.with_argument(call, "1"), why=why)
    for call in case.methods("view", "reshape", "flatten", everywhere=True):
        minus = call.args and case.of(call.args[0]) == "-1"
        whole = minus or (method(call) == "flatten" and not call.args)
        if whole and len(call.args) < 2 and call.lineno <= case.line:
            why = "The whole batch became one row; each sample is a row of its own."
            yield case.proposal(*flattened(case, call), why=why)


def flattened(case: Case, call: ast.Call) -> list[Edit]:
    """Write x.flatten(1) for x.view(...)."""
    return [case.renamed(call, "flatten"), Edit(case.end(call.func), case.end(call), "(1)")]


def general_product(case: Case) -> Iterator[Proposal]:
    """A vector for each matrix as its column; matmul, which takes vectors, matrices and batches."""
    for number in [s for s in case.sides if case.shape(s) == ()]:
        product = case.made(number)
        inner = product.left if is_operation(product, ast.MatMult) else None  # type: ignore[attr-defined]
        first = case.of(inner.left) if is_operation(inner, ast.MatMult) else ""  # type: ignore[union-attr]
        for built in case.makers(first)[:1] if first == case.of(product.right) else ():  # type: ignore[attr-defined]
            note = f"{first} has the numbers of a diagonal matrix."
            yield case.replaced(built.value, f"torch.diag({case.of(built.value)})", note=note)
    for call in case.calls("bmm"):
        matrices, vectors = [case.shape(a) or () for a in (*operands(call), None)][:2]
        if len(matrices) == 3 and vectors == (matrices[0], matrices[2]):
            note = "Each matrix of the batch is multiplied with one row, as a column."
            yield case.appended(operands(call)[1], ".unsqueeze(-1)", note=note)
        if len(vectors) == 3 and matrices == vectors[:2]:
            note = "Each row is multiplied with the matrix of its own sample."
            row = case.appending(operands(call)[0], ".unsqueeze(1)")
            yield case.proposal(row, case.adding(call, ".squeeze(1)"), note=note)
    for call in case.calls("outer", "ger"):
        edits = [case.appending(a, ".flatten()") for a in call.args if len(case.shape(a) or ()) > 1]
        yield from case.change(*edits)
    for name in case.attributes("mm", "dot", "mv", "bmm", "inner"):
        yield case.renamed_to(name, "matmul")
    for call in case.calls("dot"):
        if len(call.args) == 2:
            a, b = (case.operand(x) for x in call.args)
            yield case.replaced(call, f"({a} * {b}).sum()")


def broadcast(case: Case) -> Iterator[Proposal]:
    """Insert a missing dimension of size 1; or transpose."""
    if case.calls("where"):  # it is not known which of its three tensors is wrong
        yield from as_column(case)
        return
    yield from along_features(case, "chunk")
    yield from bias_of_product(case)
    yield from numbers_of_classes(case)
    yield from weights_of_labels(case)
    yield from weights_of_classes(case)
    yield from same_numbers(case)
    yield from causal_convolution(case)
    yield from similarity_of_each(case)
    yield from for_each_sample(case)
    yield from transposed_matrices(case)
    yield from padding_mask(case)
    yield from kept_column(case)
    yield from vectors_of_leaves(case)
    yield from noise_of_shape(case)
    yield from leading_sizes(case)
    yield from channels_moved(case)
    yield from along_one_dimension(case)
    yield from terms_reduced(case)
    yield from reduced_with_keepdim(case)
    yield from as_column(case)
    yield from each_with_each(case)
    yield from compared_sets(case)
    yield from encoded_classes(case)
    yield from part_of_square(case)
    yield from resized_parameter(case)
    yield from padded_output(case)
    yield from resized_output(case)
    for call in case.creations:
        yield from _other_size(case, call)
    yield from padded_convolutions(case)
    yield from strided_shortcut(case)
    yield from projected_shortcut(case)
    yield from same_sizes(case, parameters=True)
    yield from part_of_buffer(case)
    nodes = list(dict.fromkeys([*case.operands, *case.sides]))
    for node in nodes:
        yield from _fitted(case, node)
    yield from same_sizes(case, parameters=False)


def bias_of_product(case: Case) -> Iterator[Proposal]:
    """Make a vector of parameters as long as the rows of the matrix product that it is added to."""
    for total in [n for n in case.of_type(ast.BinOp) if is_operation(n, ast.Add)]:
        for product, bias in ((total.left, total.right), (total.right, total.left)):
            made, leaf = case.made(product), case.tensor(bias)
            columns = (case.shape(product) or (0,))[-1]
            parameter = leaf is not None and leaf.is_leaf and leaf.requires_grad
            if is_product(made) and parameter and leaf.ndim == 1 < columns != leaf.shape[0]:  # type: ignore[union-attr]
                why = f"A bias has a number for each column of the product: {columns}."
                for old in sizes_where_made(case, bias, leaf.shape[0]):  # type: ignore[union-attr]
                    for new in (*sizes_called(case, made, old, columns), str(columns)):
                        yield case.replaced(old, new, why=why, reprints=True)


def is_product(node: ast.AST) -> bool:
    """Whether an expression is a product of matrices."""
    return is_operation(node, ast.MatMult) or method(node) in ("mm", "matmul")


def sizes_where_made(case: Case, node: ast.expr, number: int) -> Iterator[ast.expr]:
    """The arguments for a size where a vector is made."""
    for built in reversed(case.assignments(dotted(node))):
        for call in calls_in(value_of(built)):
            for given in call.args[:1] if method(call) in MADE_BY_SIZE else ():
                taken = numbers_given(case, call).get(dotted(given))
                if number in (case.number(given), taken):
                    yield given


def sizes_called(case: Case, product: ast.expr, near: ast.expr, number: int) -> list[str]:
    """The names with which the factors of a product are given a size, in the same function."""
    names: dict[str, None] = {}
    for factor in within(product, ast.Name, ast.Attribute):
        for built in case.assignments(dotted(factor)):
            if case.function_of(built) is case.function_of(near):
                for name in within(value_of(built), ast.Name):
                    taken = numbers_given(case, near).get(name.id)
                    if number in (case.number(name), taken):
                        names[name.id] = None
    return list(names)


def same_numbers(case: Case) -> Iterator[Proposal]:
    """Write y.view_as(x) for a loss of x and y with equally many numbers for each sample."""
    for call in [c for c in case.calls() if case.is_loss(c) and len(c.args) > 1]:
        a, b = (case.shape(x) or () for x in call.args[:2])
        if len(a) != len(b) and min(len(a), len(b)) > 1 and (a[0], prod(a)) == (b[0], prod(b)):
            end = f".reshape_as({case.of(call.args[0])})"
            yield case.appended(call.args[1], end, note="The same numbers, in another shape.")


def similarity_of_each(case: Case) -> Iterator[Proposal]:
    """Compare each row of x with each row of y for cosine_similarity(x, y.T)."""
    for call in case.calls("cosine_similarity"):
        x, y = (*call.args, None, None)[:2]
        transposed = method(y) == "t" or getattr(y, "attr", "") in ("T", "mT")
        if x is not None and transposed and len(case.shape(x) or ()) == 2 and len(call.args) == 2:
            rows = f"{case.operand(x)}[:, None], {case.operand(owner(y))}[None], dim=-1"
            why = "cosine_similarity is no product: it compares along one dimension."
            yield case.proposal(case.spanning(call.args, rows), why=why)


def causal_convolution(case: Case) -> Iterator[Proposal]:
    """Write conv(x)[..., :-2] for a convolution with kernel 3 and padding 2: each place sees what
    is before it, and the places after the end are left out.
    """
    a, b = (int(n) for n in case.match.groups())
    function = case.function_of(case.statement)
    for call in calls_in(function or case.tree):
        layer = case.module(call.func)
        fields = layer.fields if layer is not None and layer.cls.name == "Conv1d" else {}
        kernel, padding, dilation = (_single(fields.get(n)) for n in PADDED)
        if padding and padding == (kernel - 1) * dilation == abs(a - b):
            why = f"A padding of {padding} on both sides makes the sequence {padding} longer."
            note = "Each place sees those before it alone; what comes after the end is left out."
            yield case.appended(call, f"[..., :-{padding}]", why=why, note=note)


PADDED = ("kernel_size", "padding", "dilation")


def _single(value: object) -> int:
    """The size of a layer with one dimension of places."""
    first = value[0] if isinstance(value, tuple | list) and value else value
    return first if isinstance(first, int) else 0


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
        note = "As many as there are of the other; the rest is left out."
        yield case.appended(node, f"[:{min(wanted)}]", note=note)


def for_each_sample(case: Case) -> Iterator[Proposal]:
    """Broadcast a vector that has one number per sample over a batch of images."""
    sizes = {int(n) for n in case.match.groups()}
    for name in dict.fromkeys(n.id for n in case.of_type(ast.Name)):
        vector = case.tensor_of(name)
        if vector is None or vector.ndim != 1 or vector.numel not in sizes:
            continue
        for rank in {t.ndim for _, t in case.tensors if t.ndim > 2 and t.shape[0] == vector.numel}:
            end = f".view(-1{', 1' * (rank - 1)})"
            note = f"Each sample has one number of {name}."
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
            note = f"The first {less} of {more} places: the sequence has no more."
            yield case.appended(node, f"[{first}:{k}, :{k}]", note=note)


def kept_column(case: Case) -> Iterator[Proposal]:
    """Write a - net(x) for a - net(x).squeeze(), if the column matches a row."""
    for call in [s for s in case.sides if isinstance(s, ast.Call) and method(s) == "squeeze"]:
        if (case.shape(owner(call)) or ())[1:] == (1,):
            note = "Each of the column stands beside each of the row."
            yield case.without(call, note=note)


def vectors_of_leaves(case: Case) -> Iterator[Proposal]:
    """Write a.unsqueeze(1) + b for two parameter vectors of different sizes."""
    vectors = [n for n, t in case.tensors if t.ndim == 1 and t.is_leaf and t.requires_grad]
    if len(vectors) == 2 and not case.calls("matmul", "dot"):
        note = f"Rows are those of {case.of(vectors[0])}, columns of {case.of(vectors[1])}."
        yield case.appended(vectors[0], ".unsqueeze(1)", note=note)


def noise_of_shape(case: Case) -> Iterator[Proposal]:
    """Write torch.randn(5, 8) for torch.randn(5) that is added to a matrix with 5 rows."""
    for node in [n for n in case.of_type(ast.BinOp) if is_operation(n, ast.Add)]:
        for side, other in ((node.left, node.right), (node.right, node.left)):
            held, whole = case.shape(side) or (), case.shape(other) or ()
            drawn = calls_in(case.made(side), "randn", "rand") if len(held) == 1 else []
            if len(drawn) == 1 and whole[:1] == held and len(drawn[0].args) == 1:
                sizes = ", ".join(map(str, whole[1:]))
                note = f"Each element of {case.of(other)} has a random number of its own."
                edit = case.adding(drawn[0].args[0], f", {sizes}")
                yield case.proposal(edit, note=note, reprints=True)


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
            note = "The first places: the sequence has no more."
            yield case.appended(side, f"[{first}: {size}]", note=note)


def padded_output(case: Case) -> Iterator[Proposal]:
    """Pass output_padding to a transposed convolution whose output is too small."""
    a, b = (int(n) for n in case.match.groups())
    names = ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")
    doubled = []
    for call in case.calls(*names, everywhere=True):
        stride = case.number(argument(call, 3, "stride")) or 1
        why = f"With a stride of {stride} several sizes become one: output_padding says which."
        if argument(call, 5, "output_padding") is not None:
            continue
        if abs(a - b) < stride:
            yield case.given(call, "output_padding", str(abs(a - b)), why=why)
        if stride > 1:
            doubled.append(case.with_keyword(call, "output_padding", str(stride - 1)))
    if len(doubled) > 1:
        why = "With a stride several sizes become one: output_padding says which."
        yield case.proposal(*doubled, why=why)


def resized_output(case: Case) -> Iterator[Proposal]:
    """Change the size where a layer is constructed whose output is compared with data of another
    size.
    """
    a, b = (int(n) for n in case.match.groups())
    fixed = {t.shape[-1] for _, t in case.tensors if t.ndim > 1 and not t.requires_grad}
    for own, other in ((a, b), (b, a)):
        for call in reversed(case.calls("Linear", everywhere=True)):
            out = argument(call, 1, "out_features")
            if own in fixed or out is None or case.number(out) != own:
                continue
            why = f"The layer gives {own} features, and is compared with {other}."
            for text in (*arguments_called(case, call, other), str(other)):
                yield case.replaced(out, text, why=why)


def resized_parameter(case: Case) -> Iterator[Proposal]:
    """Change the size of a parameter to that of the tensor that it is added to, if a variable gives
    it: n + 1 for n.
    """
    a, b = (int(n) for n in case.match.groups())
    for node, tensor in case.tensors:
        if not (tensor.requires_grad and tensor.is_leaf):
            continue
        for built in [s.value for s in case.assignments(dotted(node))]:  # type: ignore[attr-defined]
            for call in [c for c in calls_in(built) if len(c.args) == tensor.ndim]:
                yield from _enlarged(case, call, tensor.shape, {a: b, b: a})


def _enlarged(
    case: Case, call: ast.Call, shape: tuple[int, ...], other: dict[int, int]
) -> Iterator[Proposal]:
    for given, own in zip(call.args, shape):
        wanted = other.get(own)
        if wanted is not None and isinstance(given, ast.Name) and 1 < own < wanted:
            new = f"{given.id} + {wanted - own}"
            why = f"What it is added to has {wanted} where {given.id} is {own}."
            yield case.replaced(given, new, why=why)


def strided_shortcut(case: Case) -> Iterator[Proposal]:
    """Use the stride of one convolution of a class for another one that it is added to."""
    for call in case.calls("Conv1d", "Conv2d", "Conv3d", everywhere=True):
        function = case.function_of(call)
        others = [c for c in calls_in(function, method(call)) if c is not call]
        strides = {case.of(s) for c in others if (s := argument(c, 3, "stride")) is not None}
        for stride in strides - {"1"} if argument(call, 3, "stride") is None else ():
            why = "What is added up goes through convolutions of one stride."
            yield case.given(call, "stride", stride, why=why)


def projected_shortcut(case: Case) -> Iterator[Proposal]:
    """Add a 1×1 convolution to a shortcut around convolutions that change channels or sizes."""
    for node in case.of_type(ast.BinOp):
        function = case.function_of(node)
        cls = case.parents.get(function) if function is not None else None
        given = {a.arg for a in function.args.args} if function is not None else set()
        sides = [s for s in (node.left, node.right) if isinstance(s, ast.Name) and s.id in given]
        layers = [(s, s.value) for s in within(cls, ast.Assign) if isinstance(s.value, ast.Call)]
        convolutions = [layer for layer in layers if method(layer[1]).startswith("Conv")]
        if not (isinstance(cls, ast.ClassDef) and len(sides) == 1 and convolutions):
            continue
        (_, first), (statement, last) = convolutions[0], convolutions[-1]
        stride = argument(first, 3, "stride")
        sizes = [case.of(first.args[0]), case.of(last.args[1]), "1"]
        sizes += [f"stride={case.of(stride)}"] if stride is not None else []
        line = f"self.shortcut = {case.of(first.func)}({', '.join(sizes)})"
        yield case.proposal(
            case.after(statement, line),
            case.replacing(sides[0], f"self.shortcut({sides[0].id})"),
            why="The convolutions change channels or size: what goes around them must, too.",
        )


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
    """Reshape a tensor that has the leading dimensions of the other one, so that they broadcast."""
    for node in case.of_type(ast.BinOp):
        for side, other in ((node.left, node.right), (node.right, node.left)):
            shape, whole = case.shape(side), case.shape(other)
            if shape is None or whole is None or not 1 < len(shape) < len(whole):
                continue
            if shape == whole[: len(shape)]:
                end = ".unsqueeze(-1)" * (len(whole) - len(shape))
                note = f"{case.of(side)} has a number for each of the first dimensions."
                yield case.appended(side, end, note=note)


def channels_moved(case: Case) -> Iterator[Proposal]:
    """b.permute(2, 0, 1) for a tensor whose last dimension stands before the others in the other
    one: channels, or heads.
    """
    for node in case.of_type(ast.BinOp):
        for side, other in ((node.right, node.left), (node.left, node.right)):
            shape, whole = case.shape(side) or (), case.shape(other) or ()
            moved = (*shape[-1:], *shape[:-1])
            if len(shape) > 2 and moved == whole[-len(shape) :] != shape:
                order = ", ".join(map(str, [len(shape) - 1, *range(len(shape) - 1)]))
                note = f"The last dimension of {case.of(side)} stands before the others there."
                yield case.appended(side, f".permute({order})", note=note)


def _other_size(case: Case, call: ast.Call, **words: bool) -> Iterator[Proposal]:
    """Replace one of two sizes by the other in a call that creates a tensor."""
    a, b = case.match.groups()
    for given in call.args:
        if case.of(given) in (a, b):
            yield case.replaced(given, b if case.of(given) == a else a, **words)


def as_column(case: Case) -> Iterator[Proposal]:
    """Make a vector that has one number per row of the other tensor a column."""
    rows = [t.shape[-2] for _, t in case.tensors if t.ndim > 1]
    for node, tensor in case.tensors:
        if tensor.ndim == 1 and tensor.numel in rows:
            note = f"Each row has one number of {case.of(node)}."
            read = case.names(case.of(node), everywhere=False)
            if len(read) > 1:
                yield case.proposal(*[case.appending(n, ".unsqueeze(1)") for n in read], note=note)
            yield case.appended(node, ".unsqueeze(1)", note=note)


def each_with_each(case: Case) -> Iterator[Proposal]:
    """Compute all pairwise differences in a - b of two sets of points."""
    for node in case.of_type(ast.BinOp):
        a, b = case.shape(node.left) or (), case.shape(node.right) or ()
        many = len(a)
        if not is_operation(node, ast.Sub) or not many == len(b) in (2, 3) or a[-1] != b[-1]:
            continue
        edits = [case.appending(node.left, f".unsqueeze({many - 1})")]
        edits += [case.appending(node.right, ".unsqueeze(1)")] if many == 3 else []
        for call in [n for n in case.around(node) if isinstance(n, ast.Call)]:
            dims = dims_of(call)
            if method(call) in ("sum", "mean", "norm") and [number_of(d) for d in dims] == [
                many - 1
            ]:
                edits.append(case.replacing(dims[0], "-1"))
        note = "Rows are those of the first, columns those of the second."
        yield case.proposal(*edits, note=note)


def compared_sets(case: Case) -> Iterator[Proposal]:
    """Write cosine_similarity(a.unsqueeze(1), b, dim=-1) or cdist(a, b), for all pairs of two sets
    of different sizes.
    """
    for call in case.calls("cosine_similarity", "pairwise_distance"):
        a, b = [case.shape(x) or () for x in (*call.args, None, None)][:2]
        if not len(a) == len(b) == 2 or a[1] != b[1] or a[0] == b[0]:
            continue
        note = "Rows are those of the first, columns those of the second."
        if method(call) == "pairwise_distance" and len(call.args) == 2 and not call.keywords:
            yield case.replaced(call.func, "torch.cdist", note=note)
        else:
            edits = case.appending(call.args[0], ".unsqueeze(1)"), _dim(case, call)
            yield from case.change(*edits, note=note)


def _dim(case: Case, call: ast.Call) -> Edit:
    """The argument dim=-1 of a function of two tensors."""
    given = argument(call, 2, "dim")
    return case.with_keyword(call, "dim", "-1") if given is None else case.replacing(given, "-1")


REDUCED = ("sum", "mean", "norm", "std", "var", "amax", "logsumexp", "prod")


def dims_of(call: ast.Call) -> list[ast.expr]:
    """The dimension that a reduction goes along, where it is given one."""
    named = keyword(call, "dim")
    return [named.value] if named else call.args[-1:]


def along_one_dimension(case: Case) -> Iterator[Proposal]:
    """sum(1) / norm(dim=1) for the sum(1) / norm(dim=0) of tensors of one shape."""
    dims = [(d, c) for c in case.calls(*REDUCED) for d in dims_of(c)]
    shapes = {case.shape(owner(c)) for _, c in dims}
    if len(shapes) == 1 and len({case.of(d) for d, _ in dims}) > 1:
        edits = [case.replacing(d, case.of(dims[0][0])) for d, _ in dims[1:]]
        yield case.proposal(*edits, note="All of them go along one dimension.")


def terms_reduced(case: Case) -> Iterator[Proposal]:
    """a.mean() + b.mean() for the (a + b).mean() of terms of several sizes."""
    for node in case.of_type(ast.BinOp) if len(case.of_type(ast.Assign)) == 1 else ():
        made = case.parents[node]
        target = target_of(made, ast.Name)
        a, b = case.shape(node.left) or (), case.shape(node.right) or ()
        penalties = [s for s in (node.left, node.right) if _is_penalty(s)]
        added = is_operation(node, ast.Add) and len(penalties) == 2
        if target is None or not added or not len(a) == len(b) > 1:
            continue
        for end in filter(None, [reduced_elsewhere(case, target)]):
            edits = [case.appending(side, end) for side in (node.left, node.right)]
            yield case.proposal(*edits, note="Each term is reduced by itself.")


def _is_penalty(node: ast.expr) -> bool:
    """Whether an expression is a square, or an absolute value."""
    return is_operation(node, ast.Pow) or method(node) in ("abs", "square", "pow")


def reduced_with_keepdim(case: Case) -> Iterator[Proposal]:
    """keepdim=True for a sum over a dimension that the result is combined with."""
    earlier = [c for s in case.origins for c in calls_in(s, *REDUCED)]
    for call in [*case.calls(*REDUCED), *earlier]:
        if not keyword(call, "keepdim") and (call.args or keyword(call, "dim")):
            yield case.given(call, "keepdim", "True")


def same_sizes(case: Case, parameters: bool) -> Iterator[Proposal]:
    """A size written where a tensor is made, the size that the other has: of parameters first, and
    of several of one size at once.
    """
    names = [n.id for n in case.of_type(ast.Name)] if parameters else []
    leaves = [n for n in dict.fromkeys(names) if (t := case.tensor_of(n)) and t.requires_grad]
    made = [value_of(s) for n in leaves for s in case.assignments(n, case.line)]
    sizes = [a for m in made for c in calls_in(m) for a in c.args[:1]]
    for old, new in permutations(case.match.groups()):
        same = [a for a in sizes if case.of(a) == old]
        if len(same) > 1:
            yield case.proposal(*[case.replacing(a, new) for a in same])
    for name in dict.fromkeys(n.id for n in case.of_type(ast.Name)):
        tensor = case.tensor_of(name)
        if bool(tensor and tensor.requires_grad and tensor.is_leaf) != parameters:
            continue
        for built in reversed(case.assignments(name, case.line + 1)):
            for call in calls_in(built):
                if dotted(call.func).startswith("torch."):
                    yield from _other_size(case, call, weak=not parameters)


def added_rows(case: Case) -> Iterator[Proposal]:
    """Write index_add for scatter_add of rows."""
    for call in case.methods("scatter_add", "scatter_add_"):
        target, places = case.shape(owner(call)), call.args[1:2]
        if len(target or ()) == 2 and places and len(case.shape(places[0]) or ()) == 1:
            why = "scatter_add has a place for each number, index_add one for each row."
            yield case.renamed_to(call, method(call).replace("scatter", "index"), why=why)


def gathered(case: Case) -> Iterator[Proposal]:
    """Pass the indices of gather as a column, and squeeze the result."""
    yield from added_rows(case)
    for call in case.calls("scatter", "scatter_", "scatter_add", "scatter_add_"):
        given = [*call.args, *[k.value for k in call.keywords]]
        place = 1 if dotted(owner(call)) != "torch" else 2
        where = case.of(given[place - 1])
        columns = [a for a in given[place:] if len(case.shape(a) or ()) == 1]
        yield from case.change(*[case.appending(a, f".unsqueeze({where})") for a in columns])
    for call in case.calls("gather"):
        given = [*call.args[-2:], *[k.value for k in call.keywords if k.arg == "index"]]
        x, index = owner(call), case.shape(given[-1]) if given else None
        shape = case.shape(x) or ()
        if index is not None and len(index) == 1 and len(shape) == 3 and index[0] == shape[0]:
            if case.number(given[-2]) == 1:
                text = case.operand(x)
                new = f"{text}[torch.arange({text}.shape[0]), {case.of(given[-1])}]"
                yield case.replaced(call, new, note="Of each sample the place that is its own.")
            continue
        if len(given) >= 2:
            where = case.of(given[-2])
            column = case.appending(given[-1], f".unsqueeze({where})")
            yield case.proposal(column, case.adding(call, f".squeeze({where})"))
            yield case.proposal(column)


def wrong_view(case: Case) -> Iterator[Proposal]:
    """Keep the batch dimension and flatten the rest; or write -1 for one size."""
    for call in case.calls("view", "reshape"):
        shape = case.shape(owner(call)) or ()
        if len(shape) > 2 == len(call.args) and case.of(call.args[0]) == "-1":
            note = "Each sample stays a row of its own."
            yield case.proposal(*flattened(case, call), note=note)
        numbers = [case.number(a) for a in call.args]
        if len(shape) > 1 and None not in numbers and prod(shape) == shape[0] * prod(numbers):  # type: ignore[arg-type]
            first = f"{case.operand(owner(call))}.shape[0], "
            why = "The batch is the first dimension, and is not among the sizes."
            yield case.proposal(case.inserting(call.args[0], first), why=why)
        for given in reversed(call.args):
            if number_of(given) is not None:
                yield case.replaced(given, "-1")


def index_too_large(case: Case) -> Iterator[Proposal]:
    """Use the last index; or end a loop at it."""
    there = int(case.match[3]) if case.match[3] else None
    loop = case.loop(case.statement)
    yield from as_many_as_there(case, there)
    for call in calls_in(loop.iter, "range") if isinstance(loop, ast.For) else ():
        last = call.args[-1] if len(call.args) < 3 else call.args[1]
        if there is not None:
            yield from from_zero(case, call, there)
            yield case.replaced(last, str(there))
        for node in case.of_type(ast.Subscript) if there is None else ():
            held = case.value(node.value)
            if isinstance(held, list | tuple) and dotted(node.slice) == dotted(loop.target):  # type: ignore[union-attr]
                yield case.replaced(last, f"len({case.of(node.value)})")
        for n in looked_ahead(case, case.of_type(ast.Subscript), dotted(loop.target)):  # type: ignore[union-attr]
            yield case.replaced(last, f"{case.of(last)} - {n}")
        yield case.replaced(last, f"{case.of(last)} - 1")
    last_index = (there or 1) - 1
    for number in [c for n in case.of_type(ast.Subscript) for c in within(n.slice, ast.Constant)]:
        if str(number.value) == case.match[1]:
            yield case.replaced(number, str(last_index))
    yield from fewer_samples(case)
    yield from more_rows(case)
    for call in case.calls("gather", "index_select"):
        note = "Indices that are too large pick the last one."
        yield case.appended(call.args[-1], f".clamp(max={last_index})", note=note, weak=True)


def as_many_as_there(case: Case, there: int | None) -> Iterator[Proposal]:
    """Iterate in a comprehension over as many numbers as there are elements."""
    for part in case.of_type(ast.comprehension) if there is not None else ():
        for end in [c.args[-1] for c in calls_in(part.iter, "range") if 0 < len(c.args) < 3]:
            yield case.replaced(end, str(there))


def fewer_samples(case: Case) -> Iterator[Proposal]:
    """Subtract n in a __len__, if __getitem__ reads data[i + n]."""
    getter = case.function_of(case.statement)
    if getter is None or getter.name != "__getitem__" or len(getter.args.args) < 2:
        return
    item = getter.args.args[1].arg
    ahead = looked_ahead(case, case.of_type(ast.Subscript), item)
    for counting in [s for s in case.blocks[getter] if getattr(s, "name", "") == "__len__"]:
        for returned in within(counting, ast.Return):
            for n in ahead if returned.value else ():
                why = f"A sample looks {n} further: the last ones have nothing there."
                text = f" - {n}"
                yield case.proposal(case.adding(returned.value, text), why=why)  # type: ignore[arg-type]


def looked_ahead(case: Case, nodes: list[ast.Subscript], item: str) -> list[str]:
    """The offsets n in x[i + n], where i is the target of a loop."""
    sums = [n for s in nodes for n in within(s.slice, ast.BinOp) if is_operation(n, ast.Add)]
    return list(dict.fromkeys(case.of(n.right) for n in sums if dotted(n.left) == item))


def from_zero(case: Case, call: ast.Call, there: int) -> Iterator[Proposal]:
    """Write range(n) for range(1, n + 1), as indices start at 0."""
    first, last = (case.number(a) for a in call.args[:2]) if len(call.args) == 2 else (None, None)
    if first and last is not None and last - first == there:
        why = f"There are {there} elements, numbered from 0."
        yield case.proposal(case.spanning(call.args, str(there)), why=why)


def more_rows(case: Case) -> Iterator[Proposal]:
    """Enlarge an Embedding to contain the largest index."""
    indices = [t.data for _, t in case.tensors if not t.dtype.is_floating]
    written = [n.value for c in case.creations for n in within(c.args[0], ast.Constant)]
    largest = max(
        (*(int(a.max()) for a in indices if a.size), *(n for n in written if type(n) is int)),
        default=0,
    )
    for call in case.calls("Embedding", everywhere=True):
        first = argument(call, 0, "num_embeddings")
        layer = target_of(case.statement_of(call), ast.AST)
        weight = weight_of(case.value(layer))
        given = [c.args[0] for c in case.calls() if c.args and dotted(c.func) == dotted(layer)]
        asked = [n for g in given if (n := largest_index(case, g)) is not None]
        if given and asked and first is not None and weight is not None:
            if max(asked) >= weight.shape[0]:
                yield from _with_rows(case, first, max(asked) + 1)
            continue
        count = number_of(first)
        rows = weight.shape[0] if weight is not None else count
        if first is None or rows is None or largest < rows:
            continue
        new = f"{case.of(first)} + {largest + 1 - rows}" if count is None else str(largest + 1)
        why = f"The largest index is {largest}: that needs {largest + 1} rows, from 0 on."
        yield case.replaced(first, new, why=why)


def largest_index(case: Case, node: ast.expr) -> int | None:
    """The largest value of an index, if it is known: n - 1 for arange(n)."""
    tensor = case.tensor(node)
    if tensor is not None:
        return int(tensor.data.max()) if tensor.numel else None
    if method(node) == "arange" and isinstance(node, ast.Call) and len(node.args) == 1:
        count = case.number(node.args[0])
        return None if count is None else count - 1
    return None


def _with_rows(case: Case, first: ast.expr, rows: int) -> Iterator[Proposal]:
    """Change the number of rows where it is written: in the call, or in the assignment of a
    variable.
    """
    why = f"The largest index is {rows - 1}: that needs {rows} rows, from 0 on."
    for given in given_for(case, first):
        yield case.replaced(given, str(rows), why=why, reprints=True)
    for built in case.makers(first) if isinstance(first, ast.Name) else ():
        if number_of(built.value) is not None:
            yield case.replaced(built.value, str(rows), why=why)
    old = case.number(first)
    plain = number_of(first) is not None or old is None
    yield case.replaced(first, str(rows) if plain else f"{case.of(first)} + {rows - old}", why=why)  # type: ignore[operator]


def dimension(case: Case) -> Iterator[Proposal]:
    """Add a dimension to vectors that are to be stacked; or use the last dimension."""
    for call in case.calls("cat", "concat"):
        listed = elements(call.args[0]) if call.args else []
        shapes = [case.shape(e) for e in listed]
        if shapes and len(set(shapes)) == 1 and len(shapes[0] or ()) == 1 and case.match[3] == "1":
            why = "cat joins vectors to a longer one; stack makes columns of them."
            yield case.renamed_to(call, "stack", why=why)
    for call in case.calls():
        for given in [*call.args, *[k.value for k in call.keywords]]:
            if case.of(given) == case.match[3]:
                yield case.replaced(given, "-1")
        x = owner(call)
        for a in ([x] if x is not None and dotted(x) != "torch" else []) + call.args[:1]:
            if not isinstance(a, ast.Constant):
                yield case.appended(a, ".unsqueeze(0)")


def expanded(case: Case) -> Iterator[Proposal]:
    """Assign as many elements as the target has."""
    places, numbers = case.match.groups()
    for statement in case.of_type(ast.Assign):
        target = target_of(statement, ast.Subscript)
        if target is None:
            continue
        if isinstance(target.slice, ast.Slice) and numbers:
            yield case.replaced(target.slice, f":{numbers}")
        for built in case.makers(target.value):
            sizes = [n for n in within(built, ast.expr) if str(number_of(n)) == places]
            if sizes:
                yield case.replaced(sizes[-1], numbers)
        ends = [f"[:{places}]"] if places else []
        cut = _cropped(case)
        ends = [cut, *ends] if cut else ends
        for end in (*ends, ".T", f".view_as({case.of(target)})", ".squeeze()"):
            yield case.appended(statement.value, end)
    for call in case.methods("expand", "expand_as"):
        yield case.first(call, ".unsqueeze(-1)")
        for given in reversed(call.args):
            if str(number_of(given)) == places:
                yield case.replaced(given, numbers)


def _cropped(case: Case) -> str:
    """An index that keeps the first elements, as many as the target has; "" if several dimensions
    differ.
    """
    sizes = re.search(r"Target sizes: (\[.*?\])\.\s+Tensor sizes: (\[.*?\])", case.message)
    if not sizes:
        return ""
    places, given = size(sizes[1]), size(sizes[2])
    larger = [d for d, (n, m) in enumerate(zip(places, given)) if m > n]
    if len(places) != len(given) or len(larger) != 1 or larger == [0] or places[larger[0]] < 2:
        return ""
    parts = [f":{places[d]}" if d in larger else ":" for d in range(larger[0] + 1)]
    return f"[{', '.join(parts)}]"


def equation_first(case: Case) -> Iterator[Proposal]:
    """Write einsum("ij,jk->ik", a, b) for einsum(a, b, "ij,jk->ik")."""
    for call in case.calls("einsum"):
        texts = [a for a in call.args if isinstance(value_of(a), str)]
        if len(texts) == 1 and call.args[0] is not texts[0]:
            others = [a for a in call.args if a is not texts[0]]
            given = ", ".join(map(case.of, [*texts, *others]))
            why = "einsum takes the equation first, and then the operands."
            yield case.proposal(case.spanning(call.args, given), why=why)


def points_of_numbers(case: Case) -> Iterator[Proposal]:
    """Write cdist(x[:, None], y[:, None]) for vectors, whose elements are points on a line."""
    for call in case.calls("cdist"):
        vectors = [a for a in call.args if len(case.shape(a) or ()) == 1]
        yield from case.change(*[case.appending(a, "[:, None]") for a in vectors])


def missing_letter(case: Case) -> Iterator[Proposal]:
    """Write 'id,jd->ij' for 'id,id->ij': a letter of the output in the place of one that an operand
    has, too.
    """
    for call, terms, rest in _equations(case):
        for k, term in reversed([*enumerate(terms)]):
            others = "".join(terms[:k] + terms[k + 1 :])
            for letter in [c for c in term if c in others]:
                new = [*terms[:k], term.replace(letter, case.match[1]), *terms[k + 1 :]]
                yield case.replaced(call.args[0], repr(",".join(new) + rest))


def letters(case: Case) -> Iterator[Proposal]:
    """Exchange the subscripts of an operand: use its transpose."""
    for call, terms, rest in _equations(case):
        for k in (int(case.match[2]), 0):
            new = [o[::-1] if j == k else o for j, o in enumerate(terms)]
            yield case.replaced(call.args[0], repr(",".join(new) + rest))


def number_of_letters(case: Case) -> Iterator[Proposal]:
    """Write a subscript for each dimension: add a batch subscript that the other operand has, or
    remove one.
    """
    letters, dimensions, place = (int(n) for n in case.match.groups())
    for call, terms, rest in _equations(case):
        shapes = [case.shape(a) for a in call.args[1:]]
        if any(s is None for s in shapes) or len(shapes) != len(terms):
            continue
        sizes = {
            c: n
            for k, (term, shape) in enumerate(zip(terms, shapes))
            for c, n in zip(term, shape or ())
            if k != place
        }
        term, shape, other = terms[place], shapes[place] or (), "".join(terms[: place + 1])
        fitting = _with_batch if dimensions > letters else _without
        for new in fitting(term, dimensions, other):
            if all(sizes.get(c, n) == n for c, n in zip(new, shape)):
                changed = [new if k == place else t for k, t in enumerate(terms)]
                gone = set(term) - set("".join(changed))
                right = "".join(c for c in rest if c not in gone)
                yield case.replaced(call.args[0], repr(",".join(changed) + right))


def _with_batch(term: str, dimensions: int, other: str) -> Iterator[str]:
    batch = other[: dimensions - len(term)]
    if set(batch) & set(term):
        return
    for own in permutations(term):
        yield batch + "".join(own)


def _without(term: str, dimensions: int, other: str) -> Iterator[str]:
    shared = [c for c in term if other.count(c) > 1]
    if len(shared) == dimensions:
        yield "".join(shared)


def _equations(case: Case) -> Iterator[tuple[ast.Call, list[str], str]]:
    """The calls of einsum, each with the terms of its operands and the rest of its equation."""
    for call in case.calls("einsum"):
        equation = case.value(call.args[0])
        left, arrow, right = equation.replace(" ", "").partition("->")
        yield call, left.split(","), arrow + right


ARG = {"max": "argmax", "min": "argmin"}


def mask_place(case: Case) -> Iterator[Proposal]:
    """Apply a mask to the dimension that has its size."""
    for node in case.of_type(ast.Subscript):
        mask, shape = case.tensor(node.slice), case.shape(node.value)
        if mask is None or shape is None or mask.dtype.name not in ("bool", "uint8"):
            continue
        text = case.of(node.slice)
        for dim, have in enumerate(shape) if mask.ndim == 1 else ():
            if mask.shape == (have,):
                note = f"The mask chooses in dimension {dim}."
                yield case.replaced(node.slice, ":, " * dim + text, note=note)
        if mask.ndim == 2 == len(shape) and mask.shape[::-1] == shape:
            yield case.appended(node.slice, ".T")
        if 1 in mask.shape and mask.ndim == len(shape):
            ones = [d for d, n in enumerate(mask.shape) if n == 1 != shape[d]]
            yield case.appended(node.slice, f".expand_as({case.operand(node.value)})")
            yield case.appended(node.slice, f".squeeze({ones[0]})")


def number_of_indices(case: Case) -> Iterator[Proposal]:
    """Use as many indices as there are dimensions."""
    for node in case.of_type(ast.Subscript):
        shape, parts = case.shape(node.value), getattr(node.slice, "elts", [])
        whole = [p for p in parts if isinstance(p, ast.Slice) and not (p.lower or p.upper)]
        for part in whole if shape is not None and len(parts) == len(shape) + 1 else ():
            kept = [case.of(p) for p in parts if p is not part]
            yield case.replaced(node.slice, ", ".join(kept))
        if shape and len(parts) > len(shape):
            kept = [case.of(p) for p in parts[: len(shape)]]
            yield case.replaced(node.slice, ", ".join(kept), weak=True)


def index_of_list(case: Case) -> Iterator[Proposal]:
    """Write argmax for max as an index; convert an index to an integer; or a list that is computed
    with to a tensor.
    """
    for side in case.sides:
        if isinstance(case.value(side), list):
            stack = "stack" if case.listed(side) else "tensor"
            why = "A list times a number is the list several times: a tensor is computed with."
            yield case.replaced(side, f"torch.{stack}({case.of(side)})", why=why)
    for node in case.of_type(ast.Subscript):
        made = case.made(node.slice)
        if method(made) in ARG and isinstance(made, ast.Call):
            given = [a for a in made.args if a is not None]
            alone = len(given) == (1 if dotted(owner(made)) == "torch" else 0)
            if alone and not made.keywords:
                text, name = case.of(made.func), method(made)
                new = text.removesuffix(name) + ARG[name] + case.of(made).removeprefix(text)
                note = f"{name} gives the value, {ARG[name]} its place."
                yield case.replaced(node.slice, new, note=note)
        value = case.tensor(node.slice)
        if value is not None and value.ndim == 1 and value.numel > 1:
            new = f"[{case.of(node.value)}[i] for i in {case.of(node.slice)}]"
            yield case.replaced(node, new, note="The items at all of these places.")
        if value is not None and value.numel == 1 and value.data.item() == int(value.data.item()):
            yield case.replaced(node.slice, f"int({case.of(node.slice)})")


def value_put(case: Case) -> Iterator[Proposal]:
    """Assign a vector that has one number per row as a column."""
    shapes = case.message.partition("value tensor of shape ")[2].split(" cannot be ")
    given, places = (size(s[s.rindex("[") :]) for s in shapes)
    if given == places[:-1]:
        for statement in case.of_type(ast.Assign):
            if target_of(statement, ast.Subscript):
                note = "Each row has one number."
                yield case.appended(statement.value, ".unsqueeze(-1)", note=note)


def of_each_row(case: Case) -> Iterator[Proposal]:
    """Index rows and columns as a grid, if each row is read at each column."""
    for node in case.of_type(ast.Subscript):
        rows, *others = getattr(node.slice, "elts", [None])
        tensor = case.tensor(rows)
        if tensor is not None and tensor.ndim == 1 and len(others) == 1:
            note = "Each of the rows with each of the columns."
            yield case.appended(rows, ".unsqueeze(1)", note=note)


def stacked(case: Case) -> Iterator[Proposal]:
    """Use full windows only; pad to one length with zeros; or concatenate in place of stacking."""
    yield from repeated_as_new(case)
    yield from padded_convolutions(case)
    yield from whole_windows(case)
    for call in case.calls("stack"):
        shapes = [t.shape for t in case.listed(call.args[0])] if call.args else []
        if shapes and all(s and s[1:] == shapes[0][1:] for s in shapes):
            given = case.of(call.args[0])
            new = f"torch.nn.utils.rnn.pad_sequence({given}, batch_first=True)"
            yield case.replaced(call, new, note="Shorter ones get zeros at their end.")
    yield from padded_batches(case)
    yield from repeated(case)
    yield from enlarged(case)
    yield from cropped(case)
    for node in case.of_type(ast.Attribute, ast.Call):
        if isinstance(node, ast.Attribute) and node.attr == "stack":
            yield case.renamed_to(node, "cat")
        if isinstance(node, ast.Call) and method(node) in ("stack", "cat") and node.args:
            yield from _dimensions(case, node)


def repeated_as_new(case: Case) -> Iterator[Proposal]:
    """Write h.unsqueeze(1).repeat(1, T, 1), if h lacks that dimension."""
    for call in case.calls("cat"):
        for name in elements(call.args[0]) if call.args else []:
            made = case.made(name)
            counts = [number_of(a) for a in made.args] if method(made) == "repeat" else []  # type: ignore[attr-defined]
            places = [k for k, n in enumerate(counts) if n != 1]
            if len(places) == 1 and len(counts) == 3:
                why = "It has no such dimension yet: repeat puts a new one in front."
                yield case.first(made, f".unsqueeze({places[0]})", why=why)


def padded_batches(case: Case) -> Iterator[Proposal]:
    """Pad the samples of batches to one length with zeros."""
    new = "lambda batch: torch.nn.utils.rnn.pad_sequence(batch, batch_first=True)"
    pairs = (
        "lambda batch: (torch.nn.utils.rnn.pad_sequence([x for x, _ in batch], batch_first=True), "
        "torch.tensor([y for _, y in batch]))"
    )
    if any(len(elements(n.target)) == 2 for n in case.of_type(ast.For, everywhere=True)):
        new = pairs
    why = "A batch is a tensor: its samples must have one length."
    for call in case.calls("DataLoader", everywhere=True):
        if not keyword(call, "collate_fn"):
            note = "Shorter samples get zeros at their end."
            yield case.given(call, "collate_fn", new, why=why, note=note)


def ragged(case: Case) -> Iterator[Proposal]:
    """Pad rows of different lengths with zeros."""
    for call in case.calls("tensor", "Tensor", "FloatTensor", "LongTensor", "as_tensor"):
        rows = case.value(call.args[0]) if call.args else None
        if isinstance(call.args[0], ast.List):
            rows = [[case.value(e) for e in elements(r)] for r in elements(call.args[0])]
        if rows and all(isinstance(r, list) and r for r in rows):
            each = case.of(call.func) + "(row)"
            new = f"torch.nn.utils.rnn.pad_sequence([{each} for row in {case.of(call.args[0])}], "
            note = "Shorter rows get zeros at their end."
            yield case.replaced(call, f"{new}batch_first=True)", note=note)


def copied_array(case: Case) -> Iterator[Proposal]:
    """Copy an array with negative strides."""
    for call in case.calls("from_numpy", "tensor", "as_tensor", "Tensor", "FloatTensor"):
        for given in call.args[:1]:
            yield case.appended(given, ".copy()", why="A tensor has no steps backwards in memory.")


def _dimensions(case: Case, call: ast.Call) -> Iterator[Proposal]:
    """Add a dimension; or concatenate along another one."""
    items = elements(call.args[0])
    for item in items:
        yield case.appended(item, ".unsqueeze(0)")
        yield case.appended(item, ".unsqueeze(1)")
    shapes = [t.shape for e in items if (t := case.tensor(e)) is not None]
    if method(call) == "cat" and items and len(shapes) == len(items):
        for dim in fitting_dims(shapes):
            yield case.given(call, "dim", str(dim))
    elif method(call) == "cat" and len(call.args) == 1 and not keyword(call, "dim"):
        yield case.given(call, "dim", "-1")


def fitting_dims(shapes: list[tuple[int, ...]]) -> list[int]:
    """The dimensions along which tensors can be concatenated."""
    first = shapes[0]
    return [
        d
        for d in range(len(first))
        if all(s[:d] + s[d + 1 :] == first[:d] + first[d + 1 :] for s in shapes)
    ]


def repeated(case: Case) -> Iterator[Proposal]:
    """Repeat the only row of a tensor for each row of another."""
    sizes = re.search(r"Expected size (\d+) but got size (\d+)", case.message)
    many = max((int(n) for n in sizes.groups()), default=0) if sizes else 0
    for call in case.calls("cat", "concat") if sizes and "1" in sizes.groups() else ():
        for item in elements(call.args[0]):
            shape = case.shape(item) or ()
            for dim, n in enumerate(shape):
                if n == 1:
                    new = ", ".join(str(many) if d == dim else "-1" for d in range(len(shape)))
                    note = f"The one of {case.of(item)} stands beside each of the {many}."
                    yield case.appended(item, f".expand({new})", note=note)


def enlarged(case: Case) -> Iterator[Proposal]:
    """Interpolate an image that was enlarged from half the odd size of another one to that size."""
    sizes = re.search(r"Expected size (\d+) but got size (\d+)", case.message)
    small, large = sorted(int(n) for n in sizes.groups()) if sizes else (0, 0)
    joined = [elements(c.args[0]) for c in case.calls("cat") if c.args and large - small == 1]
    for a, b in [items for items in joined if len(items) == 2]:
        if (case.shape(a) or ()) > (case.shape(b) or ()):
            a, b = b, a
        own, other = case.shape(a) or (), case.shape(b) or ()
        if len(own) == len(other) == 4 and small == own[-1] and large == other[-1]:
            function = "torch.nn.functional.interpolate"
            new = f"{function}({case.of(a)}, size={case.operand(b)}.shape[2:])"
            why = f"Half of {large} is rounded down, and twice that is {small}."
            yield case.replaced(a, new, why=why)


def cropped(case: Case) -> Iterator[Proposal]:
    """Crop the larger of two images of nearly equal size."""
    sizes = re.search(r"Expected size (\d+) but got size (\d+)", case.message)
    given, wanted = sorted(int(n) for n in sizes.groups()) if sizes else (0, 0)
    for call in case.calls("cat") if 0 < wanted - given < wanted / 2 else ():
        for item in elements(call.args[0]):
            shape = case.shape(item) or ()
            if wanted in shape[2:]:
                cut = [f":{given}" if n == wanted else ":" for n in shape]
                note = f"One is {wanted} wide, the other {given}: the rest is left out."
                yield case.appended(item, f"[{', '.join(cut)}]", note=note)


def whole_windows(case: Case) -> Iterator[Proposal]:
    """Write x[i:i + n] for i in range(m - n + 1): only the windows of full length."""
    for loop in within(case.tree, ast.For, ast.comprehension):
        outer = case.parents[loop] if isinstance(loop, ast.comprehension) else loop
        slices = [s for s in within(outer, ast.Subscript) if isinstance(s.slice, ast.Slice)]
        for call in calls_in(loop.iter, "range"):
            for n in looked_ahead(case, slices, dotted(loop.target)):
                end, width = call.args[-1], number_of(ast.parse(n, mode="eval").body)
                count = number_of(end)
                text = f"{case.of(end)} - {n} + 1"
                if count is not None and width is not None:
                    text = str(count - width + 1)
                why = f"The last windows are shorter than {n}."
                if len(call.args) < 3:
                    yield case.replaced(end, text, why=why)


def repeated_dimensions(case: Case) -> Iterator[Proposal]:
    """Write repeat(4, 1) for repeat(4) of a matrix."""
    for call in case.methods("repeat", "tile"):
        missing = len(case.shape(owner(call)) or ()) - len(call.args)
        if missing > 0 and not keyword(call, "repeats"):
            yield case.proposal(case.with_argument(call, ", ".join(["1"] * missing)))


def listed_for_cat(case: Case) -> Iterator[Proposal]:
    """torch.cat([a, b]) for torch.cat(a, b); a list of what gives its items one after the other."""
    for call in case.calls(case.match[1]) if case.match[2] != "Tensor" else ():
        for items in call.args[:1]:
            shared = isinstance(items, ast.GeneratorExp) and case.end(items) == case.end(call)
            text = case.of(items)
            yield case.replaced(items, f"([{text[1:-1]}])" if shared else f"list({text})")
    for call in case.calls(case.match[1]):
        given = [a for a in call.args if case.number(a) is None]
        if len(given) > 1 and given == call.args[: len(given)]:
            yield case.proposal(case.spanning(given, f"[{', '.join(map(case.of, given))}]"))


def joined_dimensions(case: Case) -> Iterator[Proposal]:
    """Add a dimension of size 1 to tensors that have fewer dimensions."""
    for call in case.calls("cat", "concat", "concatenate", "hstack"):
        given = case.made(call.args[0]) if call.args else None
        if isinstance(given, ast.ListComp | ast.GeneratorExp):
            yield case.appended(given.elt, ".flatten()", note="All numbers, one after the other.")
    most = max(int(case.match[1]), int(case.match[2]))
    least = min(int(case.match[1]), int(case.match[2]))
    for call in case.calls("cat", "concat", "concatenate", "hstack"):
        for item in elements(call.args[0]) if call.args else []:
            shape = case.shape(item) or ()
            if len(shape) == most == least + 1 and 1 in shape[1:]:
                yield case.appended(item, f".squeeze({shape.index(1, 1)})")
    for call in case.calls("cat", "concat", "concatenate", "hstack"):
        for item in elements(call.args[0]) if call.args else []:
            tensor = case.tensor(item)
            yield from for_the_batch(case, item, elements(call.args[0]))
            yield from prepared(case, item, most)
            yield from embedded(case, item)
            yield from encoded(case, item, elements(call.args[0]))
            if tensor is None or tensor.ndim < most:
                yield case.appended(item, ".unsqueeze(1)")
                yield case.appended(item, ".unsqueeze(0)")


def for_the_batch(case: Case, item: ast.expr, others: list[ast.expr]) -> Iterator[Proposal]:
    """p.expand(n, -1, -1) for a parameter that stands beside each of n samples."""
    leaf, shape = case.tensor(item), case.shape(item) or ()
    for whole in [case.shape(o) or () for o in others]:
        trained = leaf is not None and leaf.is_leaf and leaf.requires_grad
        if trained and len(shape) == len(whole) - 1 > 1 and shape[1:] == whole[2:]:
            end = f".expand({whole[0]}, {', '.join(['-1'] * len(shape))})"
            yield case.appended(item, end, note=f"Each sample has {case.of(item)} beside it.")


def prepared(case: Case, item: ast.expr, dimensions: int) -> Iterator[Proposal]:
    """Use the unused result of a computation on a tensor in place of the tensor, such as
    one_hot(labels).
    """
    for built in case.of_type(ast.Assign, everywhere=True):
        name = dotted(built.targets[0])
        unread = name and not case.reads_of(name) and name != dotted(item)
        fits = len(case.shape(built.targets[0]) or ()) == dimensions
        if unread and fits and dotted(item) in names_in(built.value):
            why = f"Line {built.lineno} makes {name} of {dotted(item)}, and nothing reads it."
            yield case.replaced(item, name, why=why)


def stacked_numbers(case: Case) -> Iterator[Proposal]:
    """Numbers as tensors; the tensor that an array is taken from, or the array as a tensor."""
    for node in case.calls("stack", "cat"):
        if not node.args:
            continue
        (joined, *_) = node.args
        yield from arrays_joined(case, elements(joined))
        for form in ("torch.tensor({})", "torch.tensor([{}])"):
            yield from case.change(*case.numbers_as(form, elements(joined)))
        numbers = [e for e in elements(joined) if isinstance(case.value(e), int | float | Scalar)]
        form = "torch.tensor({})" if method(node) == "stack" else "torch.tensor([{}])"
        edits = [case.replacing(n, form.format(f"float({case.of(n)})")) for n in numbers]
        yield from case.change(*edits, why="Only tensors are joined; this is a number.")
        for built in reversed(case.makers(joined)):
            begun = elements(built.value)
            if begun and all(isinstance(e, ast.Constant) for e in begun):
                yield case.replaced(built.value, "[]")
        yield case.replaced(node, f"torch.tensor({case.of(joined)})", weak=True)
        for item in [a for s in case.calls("append", everywhere=True) for a in s.args[:1]]:
            if isinstance(item, ast.Call) and method(item) == "item":
                yield case.without(item)


def arrays_joined(case: Case, items: list[ast.expr]) -> Iterator[Proposal]:
    """x for the x.detach().numpy() among tensors that are joined; as_tensor of other arrays."""
    for item in [e for e in items if hasattr(case.value(e), "array")]:
        call = case.made(item)
        why = "Only tensors are joined; an array has no graph."
        if method(call) == "numpy" and isinstance(call, ast.Call):
            yield case.proposal(without_array(case, call), why=why)
        yield case.replaced(item, f"torch.as_tensor({case.of(item)}).float()", why=why)


def flipped(case: Case) -> Iterator[Proposal]:
    """Write x.flip(0) for x[::-1]."""
    for node in case.of_type(ast.Subscript):
        parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        back = [n for n, part in enumerate(parts) if _reverses(part)]
        if not back or any(not isinstance(p, ast.Slice) for p in parts):
            continue
        rest = [":" if n in back else case.of(p) for n, p in enumerate(parts)]
        taken = f"[{', '.join(rest)}]" if any(r != ":" for r in rest) else ""
        dims = ", ".join(map(str, back))
        yield case.replaced(node, f"{case.operand(node.value)}{taken}.flip({dims})")


def _reverses(part: ast.AST) -> bool:
    """Whether a slice is ::-1."""
    whole = isinstance(part, ast.Slice) and part.lower is None and part.upper is None
    return whole and ast.unparse(part) == "::-1"


def transposed_batch(case: Case) -> Iterator[Proposal]:
    """Exchange the last two dimensions, as t() is for matrices."""
    for call in case.methods("t"):
        if case.of(owner(call)) != "torch":
            new = f"{case.operand(owner(call))}.transpose(-2, -1)"
            yield case.replaced(call, new, note="The last two dimensions are the matrices.")
    for node in case.attributes("T"):
        yield case.renamed_to(node, "mT", note="The last two dimensions are the matrices.")


def permuted_batch(case: Case) -> Iterator[Proposal]:
    """Add the batch dimension to a permutation, or remove it."""
    many, given = (int(n) for n in re.findall(r"= (\d+)", case.message))
    for call in case.methods("permute"):
        places = [case.number(a) for a in call.args]
        if None in places or len(places) != given:
            continue
        if many == given + 1:
            new = ", ".join(map(str, [0, *[int(p or 0) + 1 for p in places]]))
            yield case.proposal(case.spanning(call.args, new), note="The batch stays first.")
        if many == given - 1 and places[0] == 0:
            new = ", ".join(str(int(p or 0) - 1) for p in places[1:])
            yield case.proposal(case.spanning(call.args, new), note="There is no batch.")


def kernel_of_plane(case: Case) -> Iterator[Proposal]:
    """Write kernel[None, None] for a kernel with one input and one output channel."""
    for call in case.calls("conv1d", "conv2d", "conv3d"):
        kernel, places = argument(call, 1, "weight"), int(method(call)[4])
        if kernel is not None and len(case.shape(kernel) or ()) == places:
            note = "One channel in, one channel out."
            yield case.appended(kernel, "[None, None]", note=note)


def image_of_plane(case: Case) -> Iterator[Proposal]:
    """Make a matrix an image with one channel."""
    for call in case.calls():
        for given in call.args[:1]:
            note = "One image of one channel: batch, channel, height, width."
            yield case.appended(given, "[None, None]", note=note)


def split_sizes(case: Case) -> Iterator[Proposal]:
    """Make the last part of a split as large as the remaining size."""
    found = re.search(r"exactly to (\d+) .*split_sizes=(\[.*?\])", case.message)
    whole, sizes = (int(found[1]), size(found[2])) if found else (0, ())
    for node in case.of_type(ast.List, ast.Tuple) if len(sizes) > 1 else ():
        last, left = node.elts[-1:], whole - sum(sizes[:-1])
        if last and tuple(case.number(e) for e in node.elts) == sizes and left > 0:
            note = f"The last part is what is left of {whole}."
            yield case.replaced(last[0], str(left), note=note)


def split_lengths(case: Case) -> Iterator[Proposal]:
    """Make the last part of a data set as large as the remaining length."""
    for call in case.calls("random_split"):
        lengths = elements(call.args[1]) if len(call.args) > 1 else []
        if len(lengths) > 1:
            first = " - ".join(case.of(n) for n in lengths[:-1])
            new = f"len({case.of(call.args[0])}) - {first}"
            yield case.replaced(lengths[-1], new, note="The last part is what is left.")


def smaller_k(case: Case) -> Iterator[Proposal]:
    """Limit k to the number of elements."""
    for call in case.calls("topk", "kthvalue"):
        of_torch = case.of(owner(call)) == "torch"
        k = argument(call, 1 if of_torch else 0, "k")
        dim = case.number(argument(call, 2 if of_torch else 1, "dim"))
        shape = case.shape(call.args[0] if of_torch and call.args else owner(call))
        if k is not None and shape:
            yield case.replaced(k, str(shape[-1 if dim is None else dim]))


def one_element(case: Case) -> Iterator[Proposal]:
    """Write append() for += of a list and a single number; or add a dimension to a 0-dim tensor."""
    for statement in case.of_type(ast.AugAssign):
        if isinstance(case.value(statement.target), list):
            held, item = case.of(statement.target), case.of(statement.value)
            why = "+= of a list goes along what it is given; append() takes one item."
            yield case.replaced(statement, f"{held}.append({item})", why=why)
    for node, tensor in case.tensors:
        if tensor.ndim == 0:
            yield case.appended(node, ".reshape(1)")


def enough_classes(case: Case) -> Iterator[Proposal]:
    """Labels that count from 0; a class more than the largest label."""
    for call in case.calls("one_hot"):
        count, labels = argument(call, 1, "num_classes"), case.tensor(call.args[0])
        numbers = [n.value for n in within(call.args[0], ast.Constant) if type(n.value) is int]
        numbers += labels.data.ravel().tolist() if labels is not None else []
        if numbers and (min(numbers), max(numbers)) == (1, case.number(count)):
            yield case.appended(call.args[0], " - 1", note="The labels count from 1.")
        if count is not None and numbers:
            yield case.replaced(count, str(max(numbers) + 1))
