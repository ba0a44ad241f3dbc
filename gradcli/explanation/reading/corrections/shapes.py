"""Cures of shapes that do not fit: products, broadcasting, views, tensors that are joined."""

import ast
import re
from collections.abc import Iterator

from ....snippets.eager.tensor import Tensor
from .case import Case, Proposal, cures, weight_of
from .layers import resized_layer
from .text import Edit, dotted, is_number, keyword, method, number_of


@cures(
    r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)|"
    r"size mismatch, got input \((\d+)\), mat \((\d+)x(\d+)\), vec \((\d+)\)|"
    r"inconsistent tensor size, expected tensor \[\d+\] and src \[\d+\]|"
    r"vector @ matrix|Expected size for first two dimensions of batch2 tensor",
    "The columns of the left matrix must be as many as the rows of the right one.",
)
def matrix_product(case: Case) -> Iterator[Proposal]:
    """A transposition, or a layer with the right number of inputs."""
    for call in case.calls("chunk", "split", everywhere=True):
        if call.lineno <= case.line and len(call.args) == 1 and not call.keywords:
            why = f"Line {call.lineno}: without dim the batch is split, not the features."
            yield case.proposal(case.with_argument(call, "dim=-1"), why=why)
    if case.match[1]:
        a, b, c, d = (int(case.match[k]) for k in (1, 2, 3, 4))
        yield from flattened_samples(case, a, b, c)
        yield from resized_layer(case, a, b, c, d)
    for node in reversed(case.operands):
        tensor = case.tensor(node)
        if tensor is not None and tensor.ndim > 2 and "batch2" in case.failure.message:
            note = "The last two dimensions are the matrices; those before are the batch."
            yield case.appended(node, ".transpose(-2, -1)", note=note)
    products = [n for n in case.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.MatMult)]
    for node in products:
        for factor in (node.right, node.left):
            if isinstance(factor, ast.Call):  # as a whole, not what is in it
                yield case.appended(factor, ".T")
    for operand in case.operands:
        tensor = case.tensor(operand)
        if tensor is not None and tensor.ndim == 2:
            yield case.appended(operand, ".T")
    for node in products:
        left, right = case.text.of(node.left), case.text.of(node.right)
        yield case.replaced(node.right, f"{case.text.operand(node.right)}.T")
        yield case.replaced(node.left, f"{case.text.operand(node.left)}.T")
        yield case.replaced(node, f"{right} @ {left}")
    for node in case.nodes:
        if node in products:
            continue
        elif method(node) in ("matmul", "mm", "mv", "dot", "linear"):
            for argument in node.args:
                yield case.appended(argument, ".T")
    for node in case.operands:
        tensor = case.tensor(node)
        if tensor is not None and tensor.ndim > 2:
            yield case.appended(node, ".flatten(1)")
        if tensor is not None and tensor.ndim == 1:
            yield case.appended(node, ".unsqueeze(0)")
            yield case.appended(node, ".unsqueeze(1)")


def flattened_samples(case: Case, rows: int, given: int, wanted: int) -> Iterator[Proposal]:
    """x.view(-1) of a batch, with the batch kept."""
    if rows != 1 or given % wanted:
        return
    for call in case.calls("view", "reshape", "flatten", everywhere=True):
        minus = call.args and case.text.of(call.args[0]) == "-1"
        whole = minus or (method(call) == "flatten" and not call.args)
        alone = len(call.args) < 2 and call.lineno <= case.line
        if whole and alone and isinstance(call.func, ast.Attribute):
            at = case.text.end(call.func)
            why = "The whole batch became one row; each sample is a row of its own."
            new = Edit(at, case.text.end(call), "(1)")
            yield case.proposal(case.renamed(call.func, "flatten"), new, why=why)


@cures(
    r"(self|mat2?|mat1|vec|batch[12]) must be a (matrix|3D tensor|vector)|1D tensors expected|"
    r"vector and matrix|both arguments to matmul need to be at least 1D|"
    r"dot : expected|mv\(\) expects",
    "This product takes tensors of one number of dimensions alone.",
)
def general_product(case: Case) -> Iterator[Proposal]:
    """matmul, which takes vectors, matrices and batches."""
    for name in case.attributes("mm", "dot", "mv", "bmm", "inner"):
        yield case.renamed_to(name, "matmul")
    for call in case.calls("dot"):
        if len(call.args) == 2:
            a, b = (case.text.operand(x) for x in call.args)
            yield case.replaced(call, f"({a} * {b}).sum()")


@cures(
    r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton",
    "Broadcasting goes from the last dimension: two sizes must be equal, or one of them 1.",
)
def broadcast(case: Case) -> Iterator[Proposal]:
    """A dimension of size 1 where it is missing; a transposition."""
    yield from reduced_with_keepdim(case)
    yield from as_column(case)
    yield from each_with_each(case)
    for call in case.creations:
        for argument in call.args:
            if number_of(argument) is not None and case.text.of(argument) in case.match.groups():
                (other,) = {*case.match.groups()[:2]} - {case.text.of(argument)}
                yield case.replaced(argument, other)
    yield from same_sizes(case, parameters=True)
    nodes: list[ast.expr] = case.operands
    for sum_of in case.of_type(ast.BinOp):
        nodes += [sum_of.left, sum_of.right]
    wanted = {int(case.match[1]), int(case.match[2])}
    for node in dict.fromkeys(nodes):
        tensor = case.tensor(node)
        if tensor is None and not isinstance(node, ast.BinOp | ast.Call):
            continue
        sizes = tensor.shape if tensor is not None else ()
        if tensor is not None and not wanted & set(sizes):
            continue
        if tensor is None or tensor.ndim == 1:
            yield case.appended(node, ".unsqueeze(1)")
        if tensor is None or tensor.ndim == 2:
            yield case.appended(node, ".T")
        if tensor is not None and 1 in sizes:
            yield case.appended(node, ".squeeze()")
        if tensor is not None and tensor.ndim > 1 and tensor.shape[0] == max(wanted) > 1:
            note = "As many as there are of the other; the rest is left out."
            if not (tensor.requires_grad and tensor.is_leaf):
                yield case.appended(node, f"[:{min(wanted)}]", note=note)
        if tensor is not None and tensor.ndim > 1:
            yield case.appended(node, ".mean(1, keepdim=True)", weak=True)
            yield case.appended(node, ".mean(0)", weak=True)
    yield from same_sizes(case, parameters=False)
    least = min(wanted)
    for node in dict.fromkeys(nodes):
        tensor = case.tensor(node)
        if tensor is not None and tensor.ndim == 1 and tensor.numel > least > 1:
            yield case.appended(node, f"[:{least}]", note="What is left over is cut.", weak=True)


def as_column(case: Case) -> Iterator[Proposal]:
    """A vector that has a number for each row of the other tensor."""
    nodes = case.operands
    rows = [t.shape[-2] for n in nodes if (t := case.tensor(n)) is not None and t.ndim > 1]
    for node in nodes:
        tensor = case.tensor(node)
        if tensor is not None and tensor.ndim == 1 and tensor.numel in rows:
            note = f"Each row has one number of {case.text.of(node)}."
            yield case.appended(node, ".unsqueeze(1)", note=note)


def each_with_each(case: Case) -> Iterator[Proposal]:
    """a - b of two sets of points: the difference of each of the one with each of the other."""
    for node in case.of_type(ast.BinOp):
        if not isinstance(node.op, ast.Sub):
            continue
        a, b = case.tensor(node.left), case.tensor(node.right)
        if a is None or b is None or not a.ndim == b.ndim == 2 or a.shape[1] != b.shape[1]:
            continue
        edits = [case.text.appending(node.left, ".unsqueeze(1)")]
        for call in [n for n in case.text.around(node) if isinstance(n, ast.Call)]:
            named = keyword(call, "dim")
            dims = [named.value] if named else call.args[-1:]
            if method(call) in ("sum", "mean", "norm") and [number_of(d) for d in dims] == [1]:
                edits.append(case.text.replacing(dims[0], "-1"))
        note = "Rows are those of the first, columns those of the second."
        yield case.proposal(*edits, note=note)


@cures(
    r"einsum\(\): subscript (\w) has size \d+ for operand (\d+) which does not broadcast",
    "A letter stands for one size.",
)
def einsum_letters(case: Case) -> Iterator[Proposal]:
    """The letters of an operand exchanged: its transpose."""
    for call in case.calls("einsum"):
        equation = call.args[0] if call.args else None
        if not (isinstance(equation, ast.Constant) and isinstance(equation.value, str)):
            continue
        left, arrow, right = equation.value.partition("->")
        operands = left.split(",")
        for k in (int(case.match[2]), 0):
            new = [o[::-1] if j == k else o for j, o in enumerate(operands)]
            yield case.replaced(equation, repr(",".join(new) + arrow + right))


def reduced_with_keepdim(case: Case) -> Iterator[Proposal]:
    """keepdim=True for a sum over a dimension that the result is combined with."""
    names = [n.id for n in case.nodes if isinstance(n, ast.Name)]
    made = [s for n in names for s in case.assignments(n, case.line)]
    nodes = [*case.nodes, *[n for s in made for n in ast.walk(s)]]
    for node in nodes:
        if (
            isinstance(node, ast.Call)
            and not keyword(node, "keepdim")
            and (
                method(node) in ("sum", "mean", "norm", "std", "var", "amax", "logsumexp", "prod")
                and (node.args or keyword(node, "dim"))
            )
        ):
            yield case.proposal(case.with_argument(node, "keepdim=True"))


def same_sizes(case: Case, parameters: bool) -> Iterator[Proposal]:
    """A size written where a tensor is made, the size that the other has: of parameters first."""
    a, b = case.match[1], case.match[2]
    names = [n.id for n in case.nodes if isinstance(n, ast.Name)]
    for name in dict.fromkeys(names):
        tensor = case.values.get(name)
        leaf = isinstance(tensor, Tensor) and tensor.requires_grad and tensor.is_leaf
        if leaf != parameters:
            continue
        for made in reversed(case.assignments(name, case.line + 1)):
            for node in ast.walk(made):
                if not (isinstance(node, ast.Call) and dotted(node.func).startswith("torch.")):
                    continue
                for argument in node.args:
                    if isinstance(argument, ast.Constant) and str(argument.value) in (a, b):
                        other = b if str(argument.value) == a else a
                        yield case.replaced(argument, other, weak=not parameters)


@cures(
    r"Index tensor must have the same number of dimensions as (input|self) tensor",
    "gather takes an index of as many dimensions as the tensor: one place for each row is a "
    "column.",
)
def gathered(case: Case) -> Iterator[Proposal]:
    """A column of places, and a vector of what stands there."""
    for call in case.calls("gather"):
        given = [*call.args[-2:], *[k.value for k in call.keywords if k.arg == "index"]]
        if len(given) < 2:
            continue
        dim, index = given[-2:]
        where = case.text.of(dim)
        edit = case.text.appending(index, f".unsqueeze({where})")
        end = case.text.end(call)
        yield case.proposal(edit, Edit(end, end, f".squeeze({where})"))
        yield case.proposal(edit)


@cures(
    r"view size is not compatible with input tensor's size and stride",
    "The elements do not stand in memory in this order; reshape copies them where it must.",
)
def not_contiguous(case: Case) -> Iterator[Proposal]:
    """reshape."""
    for node in case.attributes("view"):
        yield case.renamed_to(node, "reshape")


@cures(r"shape '\[(.*?)\]' is invalid for input of size (\d+)", "The number of elements differs.")
def wrong_view(case: Case) -> Iterator[Proposal]:
    """The batch kept, and the rest in one dimension; -1 in the place of one size."""
    for node in case.calls("view", "reshape"):
        x = case.tensor(node.func.value) if isinstance(node.func, ast.Attribute) else None
        if x is not None and x.ndim > 2 == len(node.args) and case.text.of(node.args[0]) == "-1":
            flat = Edit(case.text.end(node.func), case.text.end(node), "(1)")
            note = "Each sample stays a row of its own."
            yield case.proposal(case.renamed(node.func, "flatten"), flat, note=note)  # type: ignore[arg-type]
        for argument in reversed(node.args):
            if number_of(argument) is not None:
                yield case.replaced(argument, "-1")
        if len(node.args) > 1:
            whole = Edit(case.text.start(node.args[0]), case.text.end(node.args[-1]), "-1")
            yield case.proposal(whole, weak=True)


def fitting_dims(shapes: list[tuple[int, ...]]) -> list[int]:
    """The dimensions along which tensors can be joined."""
    first = shapes[0]
    return [
        d
        for d in range(len(first))
        if all(s[:d] + s[d + 1 :] == first[:d] + first[d + 1 :] for s in shapes)
    ]


@cures(
    r"stack expects each tensor to be equal size|Sizes of tensors must match except in dimension",
    "Tensors of different sizes do not fit into one.",
)
def stacked(case: Case) -> Iterator[Proposal]:
    """Padded with zeros to one length; joined instead of stacked."""
    for call in case.calls("stack"):
        shapes = [t.shape for t in case.listed(call.args[0])] if call.args else []
        if shapes and all(s and s[1:] == shapes[0][1:] for s in shapes):
            padded = (
                f"torch.nn.utils.rnn.pad_sequence({case.text.of(call.args[0])}, batch_first=True)"
            )
            note = "Shorter ones get zeros at their end."
            yield case.replaced(call, padded, note=note)
    yield from cropped(case)
    for node in case.nodes:
        if isinstance(node, ast.Attribute) and node.attr == "stack":
            yield case.renamed_to(node, "cat")
        if isinstance(node, ast.Call) and method(node) in ("stack", "cat") and node.args:
            listed = node.args[0]
            if isinstance(listed, ast.List | ast.Tuple):
                for item in listed.elts:
                    yield case.appended(item, ".unsqueeze(0)")
                    yield case.appended(item, ".unsqueeze(1)")
                tensors = [t for e in listed.elts if (t := case.tensor(e)) is not None]
                if method(node) == "cat" and len(tensors) == len(listed.elts):
                    for dim in fitting_dims([t.shape for t in tensors]):
                        yield case.proposal(case.with_keyword(node, "dim", str(dim)))


def cropped(case: Case) -> Iterator[Proposal]:
    """Images of nearly the same size: the larger one without its last rows and columns."""
    sizes = re.search(r"Expected size (\d+) but got size (\d+)", case.failure.message)
    wanted, given = (int(n) for n in sizes.groups()) if sizes else (0, 0)
    for call in case.calls("cat") if 0 < wanted - given < wanted / 2 else ():
        for item in getattr(call.args[0], "elts", []):
            image = case.tensor(item)
            if image is not None and image.ndim > 2 and wanted in image.shape[2:]:
                cut = [f":{given}" if n == wanted else ":" for n in image.shape]
                note = f"One is {wanted} wide, the other {given}: the rest is left out."
                yield case.appended(item, f"[{', '.join(cut)}]", note=note)


@cures(
    r"Tensors must have same number of dimensions: got (\d+) and (\d+)",
    "cat joins tensors of the same number of dimensions.",
)
def joined_dimensions(case: Case) -> Iterator[Proposal]:
    """A dimension of size 1 for the tensors that have fewer."""
    most = max(int(case.match[1]), int(case.match[2]))
    for call in case.calls("cat", "concat", "concatenate", "hstack"):
        listed = call.args[0] if call.args else None
        for item in getattr(listed, "elts", []):
            tensor = case.tensor(item)
            if tensor is None or tensor.ndim < most:
                yield case.appended(item, ".unsqueeze(1)")
                yield case.appended(item, ".unsqueeze(0)")


@cures(
    r"zero-dimensional tensor \(at position \d+\) cannot be concatenated",
    "cat joins along a dimension, and a single number has none.",
)
def joined_numbers(case: Case) -> Iterator[Proposal]:
    """stack."""
    for node in case.attributes("cat", "concat"):
        yield case.renamed_to(node, "stack")


@cures(
    r"expected Tensor as element (\d+) in argument 0, but got (\w+)",
    "Only tensors can be stacked.",
)
def stacked_numbers(case: Case) -> Iterator[Proposal]:
    """Numbers as tensors."""
    for node in case.calls("stack", "cat"):
        if node.args:
            listed = node.args[0]
            if isinstance(listed, ast.List | ast.Tuple):
                for form in ("torch.tensor({})", "torch.tensor([{}])"):
                    yield from case.together(case.numbers_as(form, listed.elts))
            for made in case.assignments(dotted(listed), case.line):
                begun = getattr(made, "value", None)
                numbers = begun.elts if isinstance(begun, ast.List) else []
                if begun and numbers and all(isinstance(e, ast.Constant) for e in numbers):
                    yield case.replaced(begun, "[]")
            new = f"torch.tensor({case.text.of(listed)})"
            yield case.replaced(node, new, weak=True)
            for s in case.calls("append", everywhere=True):
                item = s.args[0] if s.args else None
                if isinstance(item, ast.Call) and method(item) == "item":
                    yield case.proposal(case.without_method(item))


@cures(
    r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)|"
    r"list index out of range|tuple index out of range|"
    r"index out of range in self",
    "The index is larger than what there is.",
)
def index_too_large(case: Case) -> Iterator[Proposal]:
    """The last index there is; or a loop to the last one."""
    size_there = int(case.match[3]) if case.match[3] else None
    loop = case.loop(case.statement)
    if loop is not None and isinstance(loop, ast.For):
        for node in ast.walk(loop.iter):
            if isinstance(node, ast.Call) and method(node) == "range" and node.args:
                last = node.args[-1] if len(node.args) < 3 else node.args[1]
                if size_there is not None:
                    yield from from_zero(case, node, size_there)
                    yield case.replaced(last, str(size_there))
                yield case.replaced(last, f"{case.text.operand(last)} - 1")
    for node in case.of_type(ast.Subscript):
        for n in ast.walk(node.slice):
            if isinstance(n, ast.Constant) and str(n.value) == case.match[1]:
                yield case.replaced(n, str((size_there or 1) - 1))
    yield from more_rows(case)
    for call in case.calls("gather", "index_select"):
        end = f".clamp(max={(size_there or 1) - 1})"
        note = "Indices that are too large pick the last one."
        yield case.appended(call.args[-1], end, note=note, weak=True)


def from_zero(case: Case, call: ast.Call, size_there: int) -> Iterator[Proposal]:
    """range(1, n + 1) for n elements, which are counted from 0."""
    first, last = (case.number(a) for a in call.args[:2]) if len(call.args) == 2 else (None, None)
    if first and last is not None and last - first == size_there:
        start, end = case.text.start(call.args[0]), case.text.end(call.args[-1])
        why = f"There are {size_there} elements, numbered from 0."
        yield case.proposal(Edit(start, end, str(size_there)), why=why)


def more_rows(case: Case) -> Iterator[Proposal]:
    """An Embedding with a row for the largest index."""
    indices = [t.data for n in case.operands if (t := case.tensor(n)) and not t.dtype.is_floating]
    largest = max((int(a.max()) for a in indices if a.size), default=0)
    for call in case.calls("Embedding", everywhere=True):
        first = case.argument(call, 0, "num_embeddings")
        made = case.text.statement(call)
        target = made.targets[0] if isinstance(made, ast.Assign) else None
        weight = weight_of(case.value(target))
        rows = weight.shape[0] if weight is not None else number_of(first)
        if first is None or rows is None or largest < rows:
            continue
        more = largest + 1 - rows
        plain = number_of(first) is not None
        new = str(largest + 1) if plain else f"{case.text.of(first)} + {more}"
        why = f"The largest index is {largest}: that needs {largest + 1} rows, from 0 on."
        yield case.replaced(first, new, why=why)


@cures(
    r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)",
    "The tensor has fewer dimensions than that.",
)
def dimension(case: Case) -> Iterator[Proposal]:
    """The last dimension."""
    for node in case.calls():
        for a in [*node.args, *[k.value for k in node.keywords]]:
            if case.text.of(a) == case.match[3]:
                yield case.replaced(a, "-1")
        x = node.func.value if isinstance(node.func, ast.Attribute) else None
        for a in ([x] if x is not None and dotted(x) != "torch" else []) + node.args[:1]:
            if not isinstance(a, ast.Constant):
                yield case.appended(a, ".unsqueeze(0)")


@cures(
    r"The expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)|"
    r"shape mismatch: value tensor of shape",
    "What is written must have the size of the places that it is written to.",
)
def expanded(case: Case) -> Iterator[Proposal]:
    """As many numbers as there are places."""
    for statement in case.statements:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
            target, value = statement.targets[0], statement.value
            index = target.slice
            if isinstance(index, ast.Slice) and case.match[2]:
                yield case.replaced(index, f":{case.match[2]}")
            for made in reversed(case.assignments(dotted(target.value), case.line)):
                numbers = [n for n in ast.walk(made) if is_number(n, int(case.match[1] or -1))]
                if numbers and case.match[2]:
                    yield case.replaced(numbers[-1], case.match[2])
            if case.match[1]:
                yield case.appended(value, f"[:{case.match[1]}]")
            yield case.appended(value, ".T")
            yield case.appended(value, f".view_as({case.text.of(target)})")
            yield case.appended(value, ".squeeze()")
    for node in case.calls("expand", "expand_as"):
        if isinstance(node.func, ast.Attribute):
            yield case.proposal(case.before_attribute(node.func, ".unsqueeze(-1)"))
            for argument in reversed(node.args):
                if case.match[1] and is_number(argument, int(case.match[1])):
                    yield case.replaced(argument, case.match[2])
