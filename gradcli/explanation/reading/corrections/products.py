"""Corrections of matrix products: transposes, batches of matrices and vectors, quadratic forms."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal
from .layers import resized_layer
from .nodes import dotted, is_operation, method, number_of, operands, owner
from .text import Edit


def matrix_product(case: Case) -> Iterator[Proposal]:
    """Transpose a factor, or change the number of inputs of a layer."""
    yield from along_features(case, "chunk", "split", "cat")
    yield from transposed_matrices(case)
    products = [n for n in case.of_type(ast.BinOp) if is_operation(n, ast.MatMult)]
    for product in products:
        yield from outer_product(case, product)
        yield from products_of_rows(case, product)
        yield from quadratic_form(case, product)
        yield from batch_of_vectors(case, product)
    if case.match[1]:
        a, b, c, d = (int(case.match[k]) for k in (1, 2, 3, 4))
        yield from stacked_samples(case, c)
        yield from flattened_samples(case, a, b, c)
        yield from written_batch(case)
        yield from resized_layer(case, a, b, c, d)
    yield from transposed_in_batch(case)
    yield from other_factors(case, products)
    for operand, tensor in case.tensors:
        ends = {1: (".unsqueeze(0)", ".unsqueeze(1)"), 2: (), 0: ()}
        for end in ends.get(tensor.ndim, (".flatten(1)",)):
            yield case.appended(operand, end)


def stacked_samples(case: Case, features: int) -> Iterator[Proposal]:
    """Write torch.stack(samples) for torch.cat(samples) of vectors with a layer's features."""
    for operand, tensor in case.tensors:
        made = case.made(operand)
        if tensor.ndim == 1 and isinstance(made, ast.Call) and method(made) in ("cat", "concat"):
            samples = case.listed(made.args[0]) if len(made.args) == 1 else []
            if samples and all(s.shape == (features,) for s in samples):
                why = f"Line {made.lineno} joins the samples to one vector; stack makes rows."
                yield case.renamed_to(made.func, "stack", why=why)


def transposed_in_batch(case: Case) -> Iterator[Proposal]:
    """Write bmm(a, b.transpose(-2, -1)) for batches of matrices."""
    note = "The last two dimensions are the matrices; {} the batch."
    for call in case.calls("bmm", "baddbmm"):
        first, second = [case.shape(a) or () for a in (*operands(call), None)][:2]
        if len(first) == len(second) == 3 and first[2] == second[2]:
            end = ".transpose(-2, -1)"
            yield case.appended(operands(call)[1], end, note=note.format("the first is"))
    for node, tensor in reversed(case.tensors):
        if tensor.ndim > 2 and "batch2" in case.message:
            yield case.appended(node, ".transpose(-2, -1)", note=note.format("those before are"))


def along_features_of_chunk(case: Case) -> Iterator[Proposal]:
    """Chunk the features, the last dimension, where no dim is given."""
    yield from along_features(case, "chunk")


def along_features(case: Case, *names: str) -> Iterator[Proposal]:
    """Split or join the features, the last dimension, where no dim is given."""
    for call in case.calls(*names, everywhere=True):
        if call.lineno <= case.line and len(call.args) == 1 and not call.keywords:
            done = "joined" if method(call) == "cat" else "split"
            why = f"Line {call.lineno}: without dim the batch is {done}, not the features."
            yield case.given(call, "dim", "-1", why=why)


def other_factors(case: Case, products: list[ast.BinOp]) -> Iterator[Proposal]:
    """Write x @ W.T for W @ x of samples x; transpose a factor, or exchange the two."""
    calls = [c for c in case.calls("matmul", "mm") if len(c.args) == 2]
    for node, w, x in [(n, n.left, n.right) for n in products] + [(c, *c.args) for c in calls]:
        a, b = case.tensor(w), case.tensor(x)
        if a and b and a.ndim == b.ndim == 2 and a.is_leaf and a.requires_grad > b.requires_grad:
            yield case.replaced(node, f"{case.operand(x)} @ {case.operand(w)}.T")
    pairs = [(n.left, n.right) for n in products] + [(c.args[0], c.args[1]) for c in calls]
    for left, right in [p for p in pairs if case.of(p[0]) == case.of(p[1])]:
        outer = case.parents.get(case.parents[left])
        count = case.number(outer.right) if is_operation(outer, ast.Div) else None  # type: ignore[union-attr]
        rows = (case.shape(left) or (0,))[0]
        if count in (rows, rows - 1):
            yield case.appended(left, ".T", note="The mean over the rows: a covariance.")
        yield case.appended(right, ".T", note="The product of each row with each other.")
    for node in products:
        for factor in (node.right, node.left):
            if isinstance(factor, ast.Call):  # the outermost product, not its factors
                yield case.appended(factor, ".T")
    inputs = [case.of(a) for call, _ in case.calls_of_modules for a in call.args]
    for operand, tensor in case.tensors:
        if tensor.ndim == 2 and case.of(operand) not in inputs:
            yield case.appended(operand, ".T")
    for node in products:
        for factor in (node.right, node.left):
            if len(case.shape(factor) or (0, 0)) == 2:
                yield case.replaced(factor, f"{case.operand(factor)}.T")
        yield case.replaced(node, f"{case.of(node.right)} @ {case.of(node.left)}")
    for call in case.calls("matmul", "mm", "mv", "dot", "linear"):
        for given in call.args:
            yield case.appended(given, ".T")


def outer_product(case: Case, product: ast.BinOp) -> Iterator[Proposal]:
    """Write torch.outer(u, v) for u @ v of vectors of different sizes."""
    shapes = [case.shape(s) or () for s in (product.left, product.right)]
    if [len(s) for s in shapes] == [1, 1]:
        new = f"torch.outer({case.of(product.left)}, {case.of(product.right)})"
        yield case.replaced(product, new, note="Each number of one with each of the other.")


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


def product_for_elementwise(case: Case) -> Iterator[Proposal]:
    """Write a @ b for the a * b of two matrices of which only the product exists."""
    for node in [n for n in case.of_type(ast.BinOp) if is_operation(n, ast.Mult)]:
        a, b = case.shape(node.left) or (), case.shape(node.right) or ()
        different = all(m != n and 1 not in (m, n) for m, n in zip(a, b))
        if len(a) == len(b) == 2 and a[1] == b[0] and different:
            between = Edit(case.end(node.left), case.start(node.right), " @ ")
            why = "* multiplies element by element; @ is the product of matrices."
            yield case.proposal(between, why=why)


def quadratic_form(case: Case, product: ast.BinOp) -> Iterator[Proposal]:
    """Write x @ A @ x or x.T @ A @ x for each row of x."""
    inner, x = product.left, product.right
    if not is_operation(inner, ast.MatMult):
        return
    form, others = case.shape(inner) or (), case.shape(x) or ()
    if len(form) == 2 and form == others and form[0] != form[1]:
        new = f"(({case.of(inner)}) * {case.of(x)}).sum(-1)"
        yield case.replaced(product, new, note="The bilinear form of each pair of rows.")
    first, transposed = case.of(inner.left), f"{case.of(x)}.T"  # type: ignore[attr-defined]
    if first in (case.of(x), transposed):
        shape = case.shape(x)
        if shape is not None and len(shape) == 2 and min(shape) > 1:
            rows = f"{case.of(x)} @ {case.of(inner.right)}"  # type: ignore[attr-defined]
            new = f"(({rows}) * {case.of(x)}).sum(-1)"
            yield case.replaced(product, new, note="The quadratic form of each row.")


def column_of_vector(case: Case) -> Iterator[Proposal]:
    """Write cholesky_solve(b.unsqueeze(1), L).squeeze(1) for a vector b."""
    for call in case.calls("cholesky_solve", "solve_triangular", "lu_solve", "lstsq"):
        for given in [a for a in call.args if len(case.shape(a) or ()) == 1]:
            why = "The right-hand side must be a matrix: a vector becomes one column."
            outer = case.parents.get(call)
            column = case.appending(given, ".unsqueeze(1)")
            if not (isinstance(outer, ast.Attribute) and outer.attr == "squeeze"):
                yield case.proposal(column, case.adding(call, ".squeeze(1)"), why=why)
            yield case.proposal(column, why=why)


def rows_as_right_sides(case: Case) -> Iterator[Proposal]:
    """Write solve(A, b.T).T where the rows of b are the right sides."""
    for call in case.calls("solve", "solve_triangular", "cholesky_solve"):
        for given in [a for a in call.args if len(case.shape(a) or ()) == 2]:
            why = "Each right side is a column."
            yield case.proposal(case.appending(given, ".T"), case.adding(call, ".T"), why=why)


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
        note = "Each matrix of the batch is multiplied by the vector of its own sample."
        yield case.replaced(product, new, note=note)


def transposed_matrices(case: Case) -> Iterator[Proposal]:
    """Write x.transpose(-2, -1) for x.T of a batch, which also transposes the batch dimension."""
    for node in case.attributes("T"):
        shape = case.shape(node.value)
        if shape is not None and len(shape) > 2:
            why = f"{case.of(node)} reverses all dimensions, including those of the batch."
            yield case.replaced(node, f"{case.of(node.value)}.transpose(-2, -1)", why=why)


def flattened_samples(case: Case, rows: int, given: int, wanted: int) -> Iterator[Proposal]:
    """Keep the batch dimension in x.view(-1) of a batch."""
    if rows != 1 or given % wanted:
        return
    for call in case.calls("flatten", everywhere=True):
        alone = dotted(call.func) == "torch.flatten" and len(call.args) == 1 and not call.keywords
        if alone and call.lineno <= case.line:
            why = "The whole batch became one row; each sample must be a separate row."
            yield case.proposal(case.with_argument(call, "1"), why=why)
    for call in case.methods("view", "reshape", "flatten", everywhere=True):
        minus = call.args and case.of(call.args[0]) == "-1"
        whole = minus or (method(call) == "flatten" and not call.args)
        if whole and len(call.args) < 2 and call.lineno <= case.line:
            why = "The whole batch became one row; each sample must be a separate row."
            yield case.proposal(*flattened(case, call), why=why)


def flattened(case: Case, call: ast.Call) -> list[Edit]:
    """Write x.flatten(1) for x.view(...)."""
    return [case.renamed(call, "flatten"), Edit(case.end(call.func), case.end(call), "(1)")]


def general_product(case: Case) -> Iterator[Proposal]:
    """Pass a vector as a column; or use matmul, which accepts vectors, matrices and batches."""
    yield from diagonal_matrix(case)
    yield from vectors_in_bmm(case)
    for call in case.calls("outer", "ger"):
        edits = [case.appending(a, ".flatten()") for a in call.args if len(case.shape(a) or ()) > 1]
        yield from case.change(*edits)
    for name in case.attributes("mm", "dot", "mv", "bmm", "inner"):
        yield case.renamed_to(name, "matmul")
    for call in case.calls("dot"):
        if len(call.args) == 2:
            a, b = (case.operand(x) for x in call.args)
            for end in (".sum(-1)", ".sum()"):
                yield case.replaced(call, f"({a} * {b}){end}")


def diagonal_matrix(case: Case) -> Iterator[Proposal]:
    """Write U @ torch.diag(s) @ U for a product of three factors whose middle one is a vector."""
    for number in [s for s in case.sides if case.shape(s) == ()]:
        product = case.made(number)
        inner = product.left if is_operation(product, ast.MatMult) else None  # type: ignore[attr-defined]
        first = case.of(inner.left) if is_operation(inner, ast.MatMult) else ""  # type: ignore[union-attr]
        for built in case.makers(first)[:1] if first == case.of(product.right) else ():  # type: ignore[attr-defined]
            note = f"{first} contains the diagonal of a matrix."
            yield case.replaced(built.value, f"torch.diag({case.of(built.value)})", note=note)


def vectors_in_bmm(case: Case) -> Iterator[Proposal]:
    """Pass a vector for each matrix of a batch to bmm as a matrix with one column or row."""
    for call in case.calls("bmm"):
        matrices, vectors = [case.shape(a) or () for a in (*operands(call), None)][:2]
        if len(matrices) == 3 and vectors == (matrices[0], matrices[2]):
            note = "Each matrix of the batch is multiplied by one row, as a column."
            yield case.appended(operands(call)[1], ".unsqueeze(-1)", note=note)
        if len(vectors) == 3 and matrices == vectors[:2]:
            note = "Each row is multiplied by the matrix of its own sample."
            row = case.appending(operands(call)[0], ".unsqueeze(1)")
            yield case.proposal(row, case.adding(call, ".squeeze(1)"), note=note)


def transposed_batch(case: Case) -> Iterator[Proposal]:
    """Exchange the last two dimensions, as t() is for matrices."""
    for call in case.methods("t"):
        if case.of(owner(call)) != "torch":
            new = f"{case.operand(owner(call))}.transpose(-2, -1)"
            yield case.replaced(call, new, note="The last two dimensions are the matrices.")
    for node in case.attributes("T"):
        yield case.renamed_to(node, "mT", note="The last two dimensions are the matrices.")
