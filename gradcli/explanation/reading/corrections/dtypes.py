"""Cures of dtypes that do not fit: of two tensors, of targets and indices, of masks."""

import ast
from collections.abc import Iterator
from typing import Any

from ....snippets.eager.tensor import Tensor
from ....snippets.python.values import Instance
from .case import Case, Proposal, cures
from .cuts import CREATORS
from .losses import last_loss, swapped
from .text import Edit, dotted, keyword, method


@cures(
    r"masked_fill_? only supports boolean masks",
    "A mask says of each element whether it is one: it is boolean.",
)
def boolean_mask(case: Case) -> Iterator[Proposal]:
    """.bool()."""
    for call in case.calls("masked_fill", "masked_fill_"):
        if call.args:
            yield case.appended(call.args[0], ".bool()")


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
    nodes = case.operands
    for node in nodes:
        tensor = case.tensor(node)
        if tensor is not None and tensor.dtype.name != "float32":
            yield from made_float(case, node)
            yield case.appended(node, ".float()")
    if "ouble" in case.failure.message:
        for call in case.calls():
            if isinstance(case.value(call.func), Instance) and call.args:
                yield case.appended(call.args[0], ".double()")
    for node in case.creations:
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

    for made in reversed(case.assignments(dotted(node), case.line)):
        value: Any = getattr(made, "value", None)
        if isinstance(value, ast.Call):
            yield from floating_creation(case, [value])
            if "from_numpy" in method(value) or "double" in method(value):
                yield case.appended(value, ".float()")


@cures(
    r"Found dtype (\w+) but expected (\w+)|expected target dtype to be Long or Byte|"
    r"expected scalar type (\w+) but found (\w+)|[Ee]xpected floating point type for target|"
    r"\"\w+\" not implemented for '(\w+)'|gather\(\): Expected dtype int32/int64 for index|"
    r"index_select\(\): Expected dtype int32 or int64|tensors used as indices must be|"
    r"scatter\(\): Expected dtype int64 for index|Expected tensor for argument #1 'indices'|"
    r"result type Float can't be cast to",
    "The target, or the index, has another dtype than this function takes.",
)
def target_dtype(case: Case) -> Iterator[Proposal]:
    """.float() for regression targets, .long() for classes and indices."""
    yield from swapped(case)
    yield from scores_for_classes(case)
    message = case.failure.message
    integer = any(w in message for w in ("Long", "index", "int64", "indices"))
    integer &= "floating point type for target" not in message
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
                if tensor is None or _is_other(tensor, end):
                    yield case.appended(node, end)
        for node in dict.fromkeys(nodes):
            if not isinstance(node, ast.Constant) and "Found dtype" in message:
                yield case.appended(node, end)


def scores_for_classes(case: Case) -> Iterator[Proposal]:
    """A loss of the scores, where argmax made classes of them."""
    for call in case.calls():
        given = case.made(call.args[0]) if call.args else None
        if isinstance(given, ast.Call) and method(given) == "argmax" and len(call.args) > 1:
            owner = getattr(given.func, "value", None)
            scores = given.args[0] if dotted(owner) == "torch" else owner
            why = "argmax picks a class; this loss takes the scores that it picks from."
            yield case.replaced(call.args[0], case.text.of(scores), why=why)


def _is_other(tensor: Tensor, end: str) -> bool:
    """Whether .float() or .long() makes another dtype of a tensor, of its kind if it is a float."""
    if end == ".float()":
        return not tensor.dtype.is_floating
    return tensor.dtype.name != "int64"


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


INTEGERS = "Integers have no derivative: only floating tensors can require gradients."


@cures(r"[Oo]nly Tensors of floating point (and complex )?dtype can require gradients", INTEGERS)
def integers(case: Case) -> Iterator[Proposal]:
    """Floats: 1. for 1, another dtype, .float()."""
    yield from floating_creation(case, case.nodes)
    for node in case.nodes:
        name = dotted(node.value) if isinstance(node, ast.Attribute) else ""
        for made in reversed(case.assignments(name, case.line)) if name else ():
            value: Any = getattr(made, "value", None)
            yield from floating_creation(case, list(ast.walk(value)) if value is not None else [])
            if value is not None:
                yield case.appended(value, ".float()")
    for node in case.nodes:
        if isinstance(node, ast.Call) and node.args:
            if method(node) == "Parameter":
                yield case.appended(node.args[0], ".float()")
            for argument in node.args:
                if isinstance(argument, ast.Name) and case.tensor(argument) is not None:
                    yield case.appended(argument, ".float()")
        if method(node) == "requires_grad_" and isinstance(node.func, ast.Attribute):
            yield case.proposal(case.before_attribute(node.func, ".float()"))
    # of tensors that a call of torch.func is given
    for node in case.calls(*CREATORS):
        yield case.appended(node, ".float()")


def floating_creation(case: Case, nodes: list[Any]) -> Iterator[Proposal]:
    """A call that makes integers, making floats."""
    for node in nodes:
        if not (isinstance(node, ast.Call) and method(node) in (*CREATORS, "LongTensor")):
            continue
        named = keyword(node, "dtype")
        if named is not None:
            yield case.replaced(named.value, "torch.float32")
        elif method(node) == "tensor":
            numbers = [
                n
                for a in node.args
                for n in ast.walk(a)
                if isinstance(n, ast.Constant) and type(n.value) is int
            ]
            if numbers and not any(
                isinstance(n, ast.Call | ast.Name) for n in ast.walk(node.args[0])
            ):
                edits = [Edit(case.text.end(n), case.text.end(n), ".0") for n in numbers]
                yield case.proposal(*edits)
            yield case.proposal(case.with_argument(node, "dtype=torch.float32"))
        elif method(node) == "LongTensor" and isinstance(node.func, ast.Attribute):
            yield case.proposal(case.renamed(node.func, "FloatTensor"))
        elif method(node) in ("arange", "full", "randint"):
            yield case.proposal(case.with_argument(node, "dtype=torch.float32"))
