"""Cures of shapes and dtypes that do not fit."""

import ast
import difflib
import operator
from collections.abc import Callable, Iterator
from typing import Any

from ....snippets.eager.tensor import Tensor
from ....snippets.python.values import Instance
from .case import Case, Proposal, cures
from .seeds import first_output, is_loss, product, size
from .text import Edit, dotted, keyword, method

DTYPES = {
    "float": "float",
    "float32": "float",
    "double": "double",
    "float64": "double",
    "long": "long",
    "int64": "long",
    "int": "int",
    "int32": "int",
    "half": "half",
    "float16": "half",
    "bool": "bool",
}


def operands(case: Case) -> list[ast.expr]:
    """The expressions on the line that raises that are tensors of a name, the first first."""
    found: dict[str, ast.expr] = {}
    for node in case.of_type(ast.Name, ast.Attribute, ast.Subscript):
        if isinstance(getattr(node, "ctx", None), ast.Store):
            continue
        if isinstance(case.value(node), Tensor):
            found.setdefault(case.text.of(node), node)
    return list(found.values())


def creations(case: Case) -> list[ast.Call]:
    """Calls on the line that raises that make a tensor."""
    return [
        n
        for n in case.nodes
        if isinstance(n, ast.Call) and dotted(n.func).startswith("torch.") and n.args
    ]


# ---- shapes --------------------------------------------------------------------------------------


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
    for node in reversed(operands(case)):
        tensor = case.tensor(node)
        if tensor is not None and tensor.ndim > 2 and "batch2" in case.failure.message:
            note = "The last two dimensions are the matrices; those before are the batch."
            yield case.appended(node, ".transpose(-2, -1)", note=note)
    products = [n for n in case.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.MatMult)]
    for node in products:
        for factor in (node.right, node.left):
            if isinstance(factor, ast.Call):  # as a whole, not what is in it
                yield case.appended(factor, ".T")
    for operand in operands(case):
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
    for node in operands(case):
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


def resized_layer(case: Case, a: int, b: int, c: int, d: int) -> Iterator[Proposal]:
    """The layer whose weight is d×c takes b inputs: the number where it is made; or a flattened or
    transposed input where its sizes say so.
    """
    for node in case.calls():
        if node.args and isinstance(case.value(node.func), Instance):
            x = node.args[0]
            tensor = case.tensor(x)
            shape = tensor.shape if tensor is not None else ()
            if shape and len(shape) > 2 and product(shape) // shape[0] == c:
                yield case.appended(x, ".flatten(1)")
            if len(shape) == 1 and shape[0] != c and c == 1:
                yield case.appended(x, ".unsqueeze(1)")
            if a == c and (len(shape) == 2 or tensor is None):
                yield case.appended(x, ".T")
    layers = [n for n in case.all_nodes if method(n) == "Linear" and len(n.args) >= 2]
    exact = [n for n in layers if _is(n.args[0], c) and _is(n.args[1], d)]
    yield from flattened_before(case, exact)
    for node in [*exact, *[n for n in layers if n not in exact]]:
        first = node.args[0]
        if isinstance(first, ast.Constant) or node in exact:
            why = f"The layer takes {c} features and is given {b}."
            yield case.replaced(first, str(b), why=why)
    for node in layers:
        if isinstance(node.args[0], ast.Name):
            for text in (*outputs_called(case, layers, b), str(b)):
                yield case.replaced(node.args[0], text, weak=True)


def outputs_called(case: Case, layers: list[ast.Call], number: int) -> list[str]:
    """What the program calls a number of features that a layer gives."""
    found = []
    for node in layers:
        made = case.text.statement(node)
        layer = case.value(made.targets[0]) if isinstance(made, ast.Assign) else None
        weight = layer.fields.get("_parameters", {}) if isinstance(layer, Instance) else {}
        tensor = weight.get("weight")
        given = isinstance(tensor, Tensor) and tensor.shape[0] == number
        if given and _number(node.args[1]) is None:
            found.append(case.text.of(node.args[1]))
    return list(dict.fromkeys(found))


def flattened_before(case: Case, layers: list[ast.Call]) -> Iterator[Proposal]:
    """nn.Flatten() before the first linear layer after convolutions."""
    for node in layers:
        outer = case.text.parents.get(node)
        if method(outer) != "Sequential" or not isinstance(outer, ast.Call):
            continue
        before = outer.args[: outer.args.index(node)]
        if any(method(b).startswith(("Conv", "MaxPool", "AvgPool", "Adaptive")) for b in before):
            prefix = dotted(node.func).rpartition(".")[0]
            at = case.text.start(node)
            new = f"{prefix}.Flatten(), " if prefix else "torch.nn.Flatten(), "
            why = "A linear layer takes rows of features; what comes here are images."
            yield case.proposal(Edit(at, at, new), why=why)


def _is(node: ast.AST, number: int) -> bool:
    return _number(node) == number


ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def _number(node: ast.AST | None) -> int | None:
    """The integer that a node is, or a product of integers, as 16 * 5 * 5."""
    if isinstance(node, ast.BinOp):
        parts = _number(node.left), _number(node.right)
        apply = ARITHMETIC.get(type(node.op))
        return None if apply is None or None in parts else apply(*parts)  # type: ignore[arg-type]
    value = node.value if isinstance(node, ast.Constant) else None
    return value if type(value) is int else None


@cures(
    r"(self|mat2?|mat1|vec|batch[12]) must be a (matrix|3D tensor|vector)|1D tensors expected|"
    r"vector and matrix|both arguments to matmul need to be at least 1D|"
    r"dot : expected|mv\(\) expects",
    "This product takes tensors of one number of dimensions alone.",
)
def general_product(case: Case) -> Iterator[Proposal]:
    """matmul, which takes vectors, matrices and batches."""
    for node in case.nodes:
        if isinstance(node, ast.Attribute) and node.attr in ("mm", "dot", "mv", "bmm", "inner"):
            yield case.renamed_to(node, "matmul")
        if isinstance(node, ast.Call) and method(node) == "dot" and len(node.args) == 2:
            a, b = (case.text.operand(x) for x in node.args)
            yield case.replaced(node, f"({a} * {b}).sum()")


@cures(
    r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton",
    "Broadcasting goes from the last dimension: two sizes must be equal, or one of them 1.",
)
def broadcast(case: Case) -> Iterator[Proposal]:
    """A dimension of size 1 where it is missing; a transposition."""
    yield from reduced_with_keepdim(case)
    yield from as_column(case)
    yield from each_with_each(case)
    for call in creations(case):
        for argument in call.args:
            if _number(argument) is not None and case.text.of(argument) in case.match.groups():
                (other,) = {*case.match.groups()[:2]} - {case.text.of(argument)}
                yield case.replaced(argument, other)
    yield from same_sizes(case, parameters=True)
    nodes: list[ast.expr] = operands(case)
    for node in case.of_type(ast.BinOp):
        nodes += [node.left, node.right]
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
    nodes = operands(case)
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
            place = named.value if named else call.args[-1] if call.args else None
            if method(call) in ("sum", "mean", "norm") and _number(place) == 1:
                edits.append(case.text.replacing(place, "-1"))
        note = "Rows are those of the first, columns those of the second."
        yield case.proposal(*edits, note=note)


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
    r"Using a target size \(torch.Size\((.*?)\)\) that is different to the input size "
    r"\(torch.Size\((.*?)\)\)|Target size \(torch.Size\((.*?)\)\) must be the same as input size "
    r"\(torch.Size\((.*?)\)\)",
    "Target and input are compared element by element: they need the same shape.",
)
def target_size(case: Case) -> Iterator[Proposal]:
    """The target in the shape of the input."""
    for node in case.calls():
        if len(node.args) >= 2:
            first, second = node.args[:2]
            of_target, of_input = (
                size(case.match[1] or case.match[3]),
                size(case.match[2] or case.match[4]),
            )
            if of_input == (*of_target, 1):
                yield case.appended(second, f".unsqueeze({len(of_target)})")
            if of_target == (*of_input, 1):
                yield case.appended(second, f".squeeze({len(of_input)})")
            if isinstance(first, ast.Name | ast.Attribute):
                yield case.appended(second, f".view_as({case.text.of(first)})")
                yield case.appended(second, f".expand_as({case.text.of(first)})")
            yield case.appended(second, f".reshape({of_input})")


@cures(
    r"0D or 1D target tensor expected, multi-target not supported|"
    r"Expected input batch_size \(\d+\) to match target batch_size",
    "Each row of scores has one class: the target is a vector of class numbers.",
)
def class_target(case: Case) -> Iterator[Proposal]:
    """The target as a vector: squeezed, or the argmax of one-hot rows."""
    yield from swapped(case)
    for node in case.calls():
        if len(node.args) >= 2:
            target = node.args[1]
            tensor = case.tensor(target)
            if tensor is None or tensor.shape[-1:] != (1,):
                yield case.appended(target, ".argmax(1)")
                yield case.appended(target, ".float()")
            yield case.appended(target, ".squeeze(1)")
            yield case.appended(target, ".view(-1)")
            yield case.appended(node.args[0], ".unsqueeze(0)")


@cures(
    r"Expected target size \[|size mismatch \(got input: \[\d+, \d+, \d+, \d+\] , target|"
    r"only batches of spatial targets supported",
    "The classes stand in the second dimension of the scores: a target has one class for each "
    "other place.",
)
def class_places(case: Case) -> Iterator[Proposal]:
    """The classes put second; a target without its dimension of size 1."""
    for node in case.calls():
        if len(node.args) < 2:
            continue
        scores, target = node.args[:2]
        values, labels = case.tensor(scores), case.tensor(target)
        if labels is not None and 1 in labels.shape[1:2]:
            yield case.appended(target, ".squeeze(1)")
        if values is not None and labels is not None and values.shape[:-1] == labels.shape:
            ends = {3: ".transpose(1, 2)", 4: ".permute(0, 3, 1, 2)"}
            if values.ndim in ends:
                yield case.appended(scores, ends[values.ndim])
        yield case.appended(scores, ".transpose(1, 2)")
        if labels is not None and values is not None and values.ndim == 4:
            yield case.appended(target, f".view({case.text.operand(scores)}[:, 0].shape)")


@cures(
    r"size mismatch \(got input: \[(\d+)\], target: \[1\]\)",
    "A batch of one sample is a batch: its scores have two dimensions.",
)
def batch_of_one(case: Case) -> Iterator[Proposal]:
    """Without what squeezes the scores; else a batch of one."""
    for call in case.calls("squeeze", everywhere=True):
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value) != "torch":
            yield case.proposal(case.without_method(call), why="squeeze() takes the batch away.")
    for node in case.calls():
        if len(node.args) >= 2:
            yield case.appended(node.args[0], ".unsqueeze(0)")


@cures(
    r"Index tensor must have the same number of dimensions as (input|self) tensor",
    "gather takes an index of as many dimensions as the tensor: one place for each row is a "
    "column.",
)
def gathered(case: Case) -> Iterator[Proposal]:
    """A column of places, and a vector of what stands there."""
    for call in case.calls("gather"):
        *_, dim, index = call.args or [None]
        named = keyword(call, "index")
        index = named.value if named else index
        if not isinstance(index, ast.expr) or dim is None:
            continue
        where = case.text.of(dim) if dim is not index else "1"
        edit = case.text.appending(index, f".unsqueeze({where})")
        end = case.text.end(call)
        yield case.proposal(edit, Edit(end, end, f".squeeze({where})"))
        yield case.proposal(edit)


@cures(r"Target (-?\d+) is out of bounds", "The classes are numbered from 0.")
def class_number(case: Case) -> Iterator[Proposal]:
    """Classes from 0; or as many scores as there are classes."""
    number = int(case.match[1])
    for node in case.calls():
        if len(node.args) >= 2:
            target, scores = node.args[1], case.tensor(node.args[0])
            values = case.tensor(target)
            lowest = int(values.data.min()) if values is not None and values.numel else 0
            if (scores is not None and number == scores.shape[-1]) or lowest > 0:
                note = "The numbers began at 1; classes are counted from 0."
                yield case.appended(target, " - 1", note=note)
    for layer in case.calls("Linear", everywhere=True):
        if len(layer.args) >= 2 and _number(layer.args[1]) in range(number + 1):
            why = f"Class {number} needs {number + 1} scores."
            yield case.replaced(layer.args[1], str(number + 1), why=why)
    for node in case.calls():
        if len(node.args) >= 2:
            yield case.appended(node.args[1], f".clamp(max={number - 1})", weak=True)


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
    """-1 in the place of one size."""
    for node in case.calls("view", "reshape"):
        for argument in reversed(node.args):
            if _number(argument) is not None:
                yield case.replaced(argument, "-1")
        if len(node.args) > 1:
            whole = Edit(case.text.start(node.args[0]), case.text.end(node.args[-1]), "-1")
            yield case.proposal(whole, weak=True)


@cures(
    r"(all elements of input should be between 0 and 1)",
    "binary_cross_entropy takes probabilities; these are scores.",
)
def probabilities(case: Case) -> Iterator[Proposal]:
    """The loss that takes scores."""
    for node in case.attributes("BCELoss", "binary_cross_entropy", everywhere=True):
        new = {"BCELoss": "BCEWithLogitsLoss"}.get(node.attr, f"{node.attr}_with_logits")
        yield case.proposal(case.renamed(node, new), note="It applies the sigmoid itself.")
    for node in case.calls():
        if node.args:
            new = f"torch.sigmoid({case.text.of(node.args[0])})"
            yield case.replaced(node.args[0], new)


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
    """Joined instead of stacked."""
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
    r"masked_fill_? only supports boolean masks",
    "A mask says of each element whether it is one: it is boolean.",
)
def boolean_mask(case: Case) -> Iterator[Proposal]:
    """.bool()."""
    for call in case.calls("masked_fill", "masked_fill_"):
        if call.args:
            yield case.appended(call.args[0], ".bool()")


@cures(
    r"(\w+) is not a valid value for reduction", "A loss is reduced by mean, sum, or not at all."
)
def reduction_name(case: Case) -> Iterator[Proposal]:
    """The name that is nearly the same."""
    known = ("mean", "sum", "none", "batchmean")
    for node in case.of_type(ast.Constant, everywhere=True):
        if node.value == case.match[1]:
            near = difflib.get_close_matches(case.match[1], known, 1, 0.4) or ["mean"]
            yield case.replaced(node, repr(near[0]))


@cures(
    r"(max|min)\(\) received an invalid combination of arguments - got \((int|float), Tensor\)",
    "max and min of PyTorch compare tensors; a bound that is a number is what clamp has.",
)
def bound(case: Case) -> Iterator[Proposal]:
    """clamp."""
    for call in case.calls(case.match[1]):
        number, x = call.args[:2]
        side = "min" if case.match[1] == "max" else "max"
        new = f"torch.clamp({case.text.of(x)}, {side}={case.text.of(number)})"
        yield case.replaced(call, new)


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
                edits = [
                    case.text.replacing(e, f"torch.tensor({float(e.value)})")
                    for e in listed.elts
                    if isinstance(e, ast.Constant) and isinstance(e.value, int | float)
                ]
                if edits:
                    yield case.proposal(*edits)
                cat = [
                    case.text.replacing(e, f"torch.tensor([{float(e.value)}])")
                    for e in listed.elts
                    if isinstance(e, ast.Constant) and isinstance(e.value, int | float)
                ]
                if cat:
                    yield case.proposal(*cat)
            for made in case.assignments(dotted(listed), case.line):
                begun = getattr(made, "value", None)
                numbers = begun.elts if isinstance(begun, ast.List) else []
                if begun and numbers and all(isinstance(e, ast.Constant) for e in numbers):
                    yield case.replaced(begun, "[]")
            new = f"torch.tensor({case.text.of(listed)})"
            yield case.replaced(node, new, weak=True)
            for s in case.calls("append", everywhere=True):
                if s.args and method(s.args[0]) == "item":
                    yield case.proposal(case.without_method(s.args[0]))


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
                    yield case.replaced(last, str(size_there))
                yield case.replaced(last, f"{case.text.operand(last)} - 1")
    for node in case.of_type(ast.Subscript):
        for n in ast.walk(node.slice):
            if isinstance(n, ast.Constant) and str(n.value) == case.match[1]:
                yield case.replaced(n, str((size_there or 1) - 1))
    for node in case.all_nodes:
        rows = _number(node.args[0]) if method(node) == "Embedding" and node.args else None
        for more in (1, 2, 3) if rows is not None else ():
            yield case.replaced(node.args[0], str((rows or 0) + more))


@cures(r"invalid index of a 0-dim tensor", "A single number has no elements to index.")
def number_indexed(case: Case) -> Iterator[Proposal]:
    """.item() in the place of [0]: what was written before 0.4."""
    for node in case.of_type(ast.Subscript):
        text = case.text.of(node.value).removesuffix(".data")
        yield case.replaced(
            node,
            f"{text}.item()",
            note="Before PyTorch 0.4 a loss had one dimension: loss.data[0] was its number.",
        )
        yield case.replaced(node, text)


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
                numbers = [n for n in ast.walk(made) if _is(n, int(case.match[1] or -1))]
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
                if case.match[1] and _is(argument, int(case.match[1])):
                    yield case.replaced(argument, case.match[2])


@cures(
    r"input.size\(-1\) must be equal to input_size. Expected (\d+), got (\d+)",
    "A recurrent layer takes as many features as its input has.",
)
def recurrent_features(case: Case) -> Iterator[Proposal]:
    """The number of features where the layer is made."""
    for call in case.calls("RNN", "LSTM", "GRU", everywhere=True):
        named = keyword(call, "input_size")
        first = named.value if named else call.args[0] if call.args else None
        if first is not None:
            yield case.replaced(first, case.match[2])


@cures(
    r"running_(?:mean|var) should contain (\d+) elements not (\d+)",
    "A norm has a mean and a variance for each feature of its input.",
)
def normalised_features(case: Case) -> Iterator[Proposal]:
    """The number of features where the layer is made."""
    have, want = case.match[1], case.match[2]
    for call in case.calls("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", everywhere=True):
        if call.args and _is(call.args[0], int(want)):
            yield case.replaced(call.args[0], have)


@cures(
    r"Given normalized_shape=\[(\d+)\], expected input with shape .*size\[(.*)\]",
    "LayerNorm goes over the last dimension, and has its size.",
)
def normalised_shape(case: Case) -> Iterator[Proposal]:
    """The size of the last dimension where the layer is made."""
    for call in case.calls("LayerNorm", everywhere=True):
        if call.args:
            yield case.replaced(call.args[0], str(size(case.match[2])[-1]))


@cures(
    r"Expected more than 1 value per channel when training",
    "While training a batch norm takes mean and variance of the batch: one sample has none.",
)
def norm_of_one(case: Case) -> Iterator[Proposal]:
    """eval(): the running mean and variance; or more samples."""
    for call in case.calls():
        if isinstance(case.value(call.func), Instance) and dotted(call.func).count(".") == 0:
            text = f"{case.text.of(call.func)}.eval()"
            note = "In eval() the running statistics are used; batches of several need none of it."
            yield case.proposal(case.text.before(case.statement, text), note=note)


@cures(
    r"Expected hidden(?:\[\d\])? size \((.*?)\), got \[(.*?)\]",
    "A state has a row for each sample: layers, batch, features.",
)
def state_size(case: Case) -> Iterator[Proposal]:
    """The sizes where the states are made."""
    wanted, given = size(case.match[1]), size(case.match[2])
    edits = []
    for call in case.calls(everywhere=True):
        numbers = tuple(_number(a) for a in call.args)
        if dotted(call.func).startswith("torch.") and numbers == given:
            edits += [
                case.text.replacing(a, str(n))
                for a, n, old in zip(call.args, wanted, given)
                if n != old
            ]
    if edits:
        yield case.proposal(*edits)
    for node in operands(case):
        tensor = case.tensor(node)
        if tensor is not None and tensor.shape == given and given[1] > wanted[1]:
            new = f"{case.text.of(node)}[:, :{wanted[1]}].contiguous()"
            yield case.replaced(node, new, weak=True)


@cures(
    r"Given groups=(\d+), weight of size \[(.*?)\], expected input\[(.*?)\] to have (\d+) "
    r"channels, but got (\d+) channels",
    "A convolution has as many input channels as its input.",
)
def channels(case: Case) -> Iterator[Proposal]:
    """The number of channels where the layer is made; or the channels put second."""
    expected, got = int(case.match[4]), int(case.match[5])
    shape = size(case.match[3])
    if shape and shape[-1] == expected:
        order = ", ".join(map(str, [0, len(shape) - 1, *range(1, len(shape) - 1)]))
        for node in case.calls():
            if node.args:
                yield case.appended(node.args[0], f".permute({order})")
    for call in case.calls():
        x = case.tensor(call.args[0]) if call.args else None
        if x is not None and expected == 1 and x.shape[0] == got and x.ndim == len(shape) - 1:
            note = "A batch of images of one channel: batch, channel, height, width."
            yield case.appended(call.args[0], ".unsqueeze(1)", note=note)
    for node in case.all_nodes:
        if method(node).startswith("Conv") and node.args and _is(node.args[0], expected):
            yield case.replaced(node.args[0], str(got))
    for node in case.calls(everywhere=True):
        if (
            dotted(node.func).startswith("torch.")
            and len(node.args) == 4
            and _is(node.args[1], got)
        ):
            yield case.replaced(node.args[1], str(expected))


# ---- dtypes --------------------------------------------------------------------------------------

SAME = "One operation computes in one dtype: its tensors must have the same."


@cures(
    r"expected m1 and m2 to have the same dtype, but got: (.+?) != (.+)|"
    r"mat1 and mat2 must have the same dtype, but got (\w+) and (\w+)|"
    r"dot : expected both vectors to have same dtype, but found (\w+) and (\w+)|"
    r"expected scalar type (\w+) but found (\w+)|"
    r"scatter\(\): Expected self.dtype to be equal to src.dtype|"
    r"Index put requires the source and destination dtypes match, got (\w+) for the destination "
    r"and (\w+) for the source|expected .* to have the same dtype",
    SAME,
)
def same_dtype(case: Case) -> Iterator[Proposal]:
    """.float() for what is no float32; or the other's dtype."""
    nodes = operands(case)
    for node in nodes:
        tensor = case.tensor(node)
        if tensor is not None and tensor.dtype.name != "float32":
            yield from made_float(case, node)
            yield case.appended(node, ".float()")
    if "ouble" in case.failure.message:
        for call in case.calls():
            if isinstance(case.value(call.func), Instance) and call.args:
                yield case.appended(call.args[0], ".double()")
    for node in creations(case):
        yield case.appended(node, ".float()")
    for node in nodes:
        for other in nodes:
            if node is not other:
                end = f".to({case.text.of(other)}.dtype)"
                yield case.appended(node, end)
    for statement in case.statements:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
            base = case.text.of(statement.targets[0].value)
            end = f".to({base}.dtype)"
            yield case.appended(statement.value, end)
    for node in case.calls():
        for a in node.args:
            yield case.appended(a, ".float()")


def made_float(case: Case, node: ast.expr) -> Iterator[Proposal]:
    """Floats where a tensor is made."""
    from .parameters import floating_creation

    for made in reversed(case.assignments(dotted(node), case.line)):
        value: Any = getattr(made, "value", None)
        if isinstance(value, ast.Call):
            yield from floating_creation(case, [value])
            if "from_numpy" in method(value) or "double" in method(value):
                yield case.appended(value, ".float()")


@cures(
    r"Found dtype (\w+) but expected (\w+)|expected target dtype to be Long or Byte|"
    r"expected scalar type (\w+) but found (\w+)|expected floating point type for target|"
    r"\"\w+\" not implemented for '(\w+)'|gather\(\): Expected dtype int32/int64 for index|"
    r"index_select\(\): Expected dtype int32 or int64|tensors used as indices must be|"
    r"scatter\(\): Expected dtype int64 for index|Expected tensor for argument #1 'indices'|"
    r"result type Float can't be cast to",
    "The target, or the index, has another dtype than this function takes.",
)
def target_dtype(case: Case) -> Iterator[Proposal]:
    """.float() for regression targets, .long() for classes and indices."""
    yield from swapped(case)
    message = case.failure.message
    integer = any(w in message for w in ("Long", "index", "int64", "indices"))
    wanted = (".long()", ".float()") if integer else (".float()", ".long()")
    nodes: list[ast.expr] = []
    for node in case.nodes:
        if isinstance(node, ast.Call):
            nodes += [*node.args[1:], *node.args[:1]]
        if isinstance(node, ast.Subscript):
            nodes.append(node.slice)
    if "Found dtype" in message:
        nodes += last_loss(case)
    if "used as indices" in message:
        for node in dict.fromkeys(nodes):
            mask = case.tensor(node)
            if mask is not None and ((mask.data == 0) | (mask.data == 1)).all():
                yield case.appended(node, ".bool()", note="A mask: what is 1 is taken.")
    for end in wanted:
        for node in dict.fromkeys(nodes):
            if not isinstance(node, ast.Constant):
                tensor = case.tensor(node)
                if tensor is None or tensor.dtype.is_floating != (end == ".float()"):
                    yield case.appended(node, end)
        for node in dict.fromkeys(nodes):
            if not isinstance(node, ast.Constant) and "Found dtype" in message:
                yield case.appended(node, end)


def swapped(case: Case) -> Iterator[Proposal]:
    """Scores first, classes second."""
    for node in case.calls():
        if len(node.args) == 2:
            a, b = case.tensor(node.args[0]), case.tensor(node.args[1])
            if a is None or b is None or a.dtype.is_floating or not b.dtype.is_floating:
                continue
            first, second = node.args
            yield case.proposal(
                case.text.replacing(first, case.text.of(second)),
                case.text.replacing(second, case.text.of(first)),
                why="A loss takes the scores first, and then the target.",
            )


def last_loss(case: Case) -> list[ast.expr]:
    """The arguments of the call that makes what goes back."""
    from .seeds import here, roots

    found: list[ast.expr] = []
    for call in here(case):
        root = roots(case, call)
        if root is None:
            continue
        nodes = [n for s in case.slice_of(root, case.line)[:1] for n in ast.walk(s)]
        for node in [*ast.walk(root), *nodes]:
            if isinstance(node, ast.Call) and len(node.args) >= 2:
                found += [node.args[1], node.args[0]]
    return found


@cures(
    r"mean\(\): could not infer output dtype|mean\(\): input dtype should be either floating",
    "The mean of integers is no integer.",
)
def mean_of_integers(case: Case) -> Iterator[Proposal]:
    """.float() before it."""
    for node in case.calls("mean", "std", "var", "norm"):
        if isinstance(node.func, ast.Attribute):
            if dotted(node.func.value) == "torch":
                yield case.appended(node.args[0], ".float()")
            else:
                yield case.proposal(case.before_attribute(node.func, ".float()"))


# ---- numbers from tensors ------------------------------------------------------------------------


@cures(
    r"a Tensor with (\d+) elements cannot be converted to Scalar|"
    r"only one element tensors can be converted to Python scalars|"
    r"only integer tensors of a single element can be converted to an index",
    "A Python number is one number; the tensor has several.",
)
def to_number(case: Case) -> Iterator[Proposal]:
    """Reduced first, or as a list."""
    for node in case.calls():
        if method(node) == "item" and isinstance(node.func, ast.Attribute):
            end = ".mean()" if is_loss(case.text.of(node.func.value)) else ".sum()"
            if end == ".sum()" and any(method(n) == "print" for n in case.nodes):
                yield case.proposal(case.renamed(node.func, "tolist"))
            yield case.proposal(case.before_attribute(node.func, end))
            yield case.proposal(case.renamed(node.func, "tolist"))
        if dotted(node.func) in ("float", "int") and node.args:
            yield case.appended(node.args[0], ".sum()")
        if dotted(node.func) in ("torch.tensor", "torch.Tensor", "torch.FloatTensor") and node.args:
            yield case.replaced(node, f"torch.stack({case.text.of(node.args[0])})")
            yield case.replaced(node, f"torch.cat({case.text.of(node.args[0])})")
        module, _, name = dotted(node.func).rpartition(".")
        if module in ("math", "np", "numpy"):
            yield case.replaced(node.func, f"torch.{name}")


@cures(
    r"(\w+)\(\): argument '(\w+)' \(position (\d+)\) must be Tensor, not (\w+)|"
    r"'(list|tuple|float|int|ndarray)' object has no attribute "
    r"'(size|softmax|log_softmax|sigmoid)'",
    "This function takes tensors: no numbers, lists or arrays of other libraries.",
)
def no_tensor(case: Case) -> Iterator[Proposal]:
    """What is a tensor in it: the output of a recurrent layer, a stack of a list; else a tensor of
    the same numbers.
    """
    for call in case.calls():
        for argument in call.args:
            value = case.value(argument)
            value = getattr(value, "array", value)
            if isinstance(value, tuple) and value and isinstance(value[0], Tensor):
                yield from first_output(case, argument)
                yield case.appended(argument, "[0]")
            elif isinstance(argument, ast.Call) and "tuple" in case.failure.message:
                yield case.appended(argument, "[0]")
            text = case.text.of(argument)
            if isinstance(value, list) and any(isinstance(v, Tensor) for v in value):
                yield case.replaced(argument, f"torch.stack({text})")
            elif isinstance(argument, ast.List):
                if any(case.tensor(e) is not None for e in argument.elts):
                    yield case.replaced(argument, f"torch.stack({text})")
                yield case.replaced(argument, f"torch.tensor({text})")
            elif isinstance(argument, ast.Constant | ast.UnaryOp):
                number = _float_text(text)
                yield case.replaced(argument, f"torch.tensor({number})")
            elif isinstance(value, list | float | int) and not isinstance(value, bool):
                yield case.replaced(argument, f"torch.tensor({text})")
            elif value is not None and not isinstance(value, Tensor | Instance | str | tuple):
                yield case.replaced(argument, f"torch.as_tensor({text}).float()")
                yield case.replaced(argument, f"torch.as_tensor({text})")


@cures(
    r"unsupported operand type\(s\) for \S+ '(Tensor|numpy.ndarray)' and '(numpy.ndarray|Tensor)'",
    "Arrays of NumPy and tensors are not computed with together.",
)
def array_beside_tensor(case: Case) -> Iterator[Proposal]:
    """The array as a tensor."""
    for node in [n for n in case.nodes if isinstance(n, ast.Name)]:
        value = case.value(node)
        if value is not None and hasattr(value, "array"):
            yield case.replaced(node, f"torch.as_tensor({node.id}).float()")


def _float_text(text: str) -> str:
    """A number as a float of the same value."""
    return f"{text}.0" if text.lstrip("-").isdigit() else text


@cures(
    r"Boolean value of Tensor with (more than one|no) value",
    "An if asks one question; a comparison of tensors answers one for each element.",
)
def ambiguous(case: Case) -> Iterator[Proposal]:
    """torch.where for a value each; else .any() or .all()."""
    for node in case.of_type(ast.IfExp):
        t = case.text
        new = f"torch.where({t.of(node.test)}, {t.of(node.body)}, {t.of(node.orelse)})"
        yield case.proposal(t.replacing(node, new))
    for statement in case.statements:
        if isinstance(statement, ast.If):
            yield from where_of_branches(case, statement)
        if isinstance(statement, ast.If | ast.While | ast.Assert):
            for test in _tests(statement.test):
                end = ".any()" if isinstance(statement, ast.If) else ".all()"
                yield case.appended(test, end)
    for node in case.nodes:
        if isinstance(node, ast.BoolOp):
            sign = " & " if isinstance(node.op, ast.And) else " | "
            parts = sign.join(f"({case.text.of(v)})" for v in node.values)
            yield case.replaced(node, parts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield case.replaced(node, f"~({case.text.of(node.operand)})")
        if (
            isinstance(node, ast.Call)
            and dotted(node.func) in ("max", "min")
            and len(node.args) == 2
        ):
            a, b = node.args
            numbers = [x for x in (a, b) if isinstance(x, ast.Constant)]
            if numbers:
                other = b if numbers[0] is a else a
                side = "min" if dotted(node.func) == "max" else "max"
                new = f"torch.clamp({case.text.of(other)}, {side}={case.text.of(numbers[0])})"
            else:
                name = "maximum" if dotted(node.func) == "max" else "minimum"
                new = f"torch.{name}({case.text.of(a)}, {case.text.of(b)})"
            yield case.replaced(node, new)
        if isinstance(node, ast.Call) and dotted(node.func) == "bool" and node.args:
            yield case.appended(node.args[0], ".any()")


def _tests(test: ast.expr) -> list[ast.expr]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return [test.operand]
    return [test, *[n for n in ast.walk(test) if isinstance(n, ast.Compare) and n is not test]]


def where_of_branches(case: Case, statement: ast.If) -> Iterator[Proposal]:
    """if x > 0: y = a, else: y = b, as y = torch.where(x > 0, a, b); with return likewise."""
    t = case.text
    test, body, orelse = t.of(statement.test), statement.body, list(statement.orelse)
    block = t.blocks.get(statement, [])
    place = block.index(statement)
    after = block[place + 1 : place + 2]
    if not orelse and len(body) == 1 and isinstance(body[0], ast.Return) and after:
        if isinstance(after[0], ast.Return):
            new = f"return torch.where({test}, {t.of(body[0].value)}, {t.of(after[0].value)})"
            start, end = t.start(statement), t.end(after[0])
            yield case.proposal(Edit(start, end, new))
        return
    if len(body) != 1:
        return
    first = body[0]
    last = orelse[0] if len(orelse) == 1 else None
    if isinstance(first, ast.Return) and isinstance(last, ast.Return):
        new = f"return torch.where({test}, {t.of(first.value)}, {t.of(last.value)})"
        yield case.proposal(t.replacing(statement, new))
    if isinstance(first, ast.Assign) and (last is None or isinstance(last, ast.Assign)):
        left = t.of(first.targets[0])
        other = t.of(last.value) if isinstance(last, ast.Assign) else left
        if not isinstance(last, ast.Assign) or t.of(last.targets[0]) == left:
            new = f"{left} = torch.where({test}, {t.of(first.value)}, {other})"
            yield case.proposal(t.replacing(statement, new))
