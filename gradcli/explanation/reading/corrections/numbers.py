"""Cures of numbers in the place of tensors, and of questions that a tensor cannot answer."""

import ast
from collections.abc import Iterator
from typing import Any

from ....snippets.eager.arguments import SECOND
from ....snippets.eager.tensor import Tensor
from ....snippets.python.values import Instance
from .case import Case, Proposal
from .nodes import dotted, is_operation, method, target_of, value_of, within
from .recurrent import first_output
from .seeds import reduction
from .text import Edit


def bound(case: Case) -> Iterator[Proposal]:
    """clamp."""
    for call in case.calls(case.match[1]):
        yield case.replaced(call, _clamped(case, case.match[1], *call.args[:2]))


def _clamped(case: Case, name: str, number: ast.expr, x: ast.expr) -> str:
    """max or min of a number and a tensor."""
    side = "min" if name == "max" else "max"
    return f"torch.clamp({case.of(x)}, {side}={case.of(number)})"


def number_indexed(case: Case) -> Iterator[Proposal]:
    """.item() in the place of [0]: what was written before 0.4."""
    note = "Before PyTorch 0.4 a loss had one dimension: loss.data[0] was its number."
    for node in case.of_type(ast.Subscript):
        text = case.of(node.value).removesuffix(".data")
        yield case.replaced(node, f"{text}.item()", note=note)
        yield case.replaced(node, text)


def to_number(case: Case) -> Iterator[Proposal]:
    """Reduced first, or as a list."""
    for call in case.calls():
        name = dotted(call.func)
        if method(call) == "item":
            end = reduction(case.source[case.start(call) : case.dot(call)])
            if end == ".sum()" and case.calls("print"):
                yield case.renamed_to(call, "tolist")
            yield case.first(call, end)
            yield case.renamed_to(call, "tolist")
        if name == "float" and call.args:
            (x, *_) = call.args
            yield case.replaced(call, f"{case.operand(x)}{reduction(case.of(x))}.item()")
        if name == "int" and call.args:
            yield case.appended(call.args[0], ".sum()")
        if name in ("torch.tensor", "torch.Tensor", "torch.FloatTensor") and call.args:
            yield case.replaced(call, f"torch.stack({case.of(call.args[0])})")
            yield case.replaced(call, f"torch.cat({case.of(call.args[0])})")
        if name.startswith(("math.", "np.", "numpy.")):
            yield case.replaced(call.func, f"torch.{method(call)}")
    for text in case.of_type(ast.BinOp):
        if is_operation(text, ast.Mod) and case.tensor(text.right) is not None:
            yield case.appended(text.right, reduction(case.of(text.right)))


def no_tensor(case: Case) -> Iterator[Proposal]:
    """The two tensors of a list; what is a tensor in it: the output of a recurrent layer, a stack
    of a list; else a tensor of the same numbers.
    """
    for given in [a for call in case.calls() for a in call.args]:
        value = case.value(given)
        value = getattr(value, "array", value)
        if case.match[1] in SECOND and len(case.listed(given)) == 2:
            yield case.proposal(case.inserting(given, "*"))
        if isinstance(value, tuple) and value and isinstance(value[0], Tensor):
            yield from first_output(case, given)
            yield case.appended(given, "[0]")
        elif isinstance(given, ast.Call) and "tuple" in case.message:
            yield case.appended(given, "[0]")
        for new in _as_tensor(case, given, value):
            yield case.replaced(given, new)


def _as_tensor(case: Case, node: ast.expr, value: object) -> Iterator[str]:
    """A tensor of what is a number, a list or an array."""
    text = case.of(node)
    if isinstance(value, list) and any(isinstance(v, Tensor) for v in value):
        yield f"torch.stack({text})"
    elif isinstance(node, ast.List):
        if any(case.tensor(e) is not None for e in node.elts):
            yield f"torch.stack({text})"
        yield f"torch.tensor({text})"
    elif isinstance(node, ast.Constant | ast.UnaryOp):
        yield f"torch.tensor({text}.0)" if text.lstrip("-").isdigit() else f"torch.tensor({text})"
    elif isinstance(value, list | float | int) and not isinstance(value, bool):
        yield f"torch.tensor({text})"
    elif value is not None and not isinstance(value, Tensor | Instance | str | tuple):
        yield f"torch.as_tensor({text}).float()"
        yield f"torch.as_tensor({text})"


def array_beside_tensor(case: Case) -> Iterator[Proposal]:
    """The array as a tensor."""
    sums = [side for n in case.of_type(ast.BinOp) for side in (n.left, n.right)]
    for node in [*sums, *case.of_type(ast.Name)]:
        made = isinstance(node, ast.Call) and dotted(node.func).startswith(("np.", "numpy."))
        if made or hasattr(case.value(node), "array"):
            yield case.replaced(node, f"torch.as_tensor({case.of(node)}).float()")


def ambiguous(case: Case) -> Iterator[Proposal]:
    """torch.where for a value each; else .any() or .all()."""
    yield from where_of_expressions(case)
    for statement in case.statements:
        if isinstance(statement, ast.If):
            yield from where_of_branches(case, statement)
        if isinstance(statement, ast.If | ast.While | ast.Assert):
            end = ".any()" if isinstance(statement, ast.If) else ".all()"
            for test in _tests(statement.test):
                yield case.appended(test, end)
    for node in case.of_type(ast.BoolOp, ast.UnaryOp, ast.Call):
        if isinstance(node, ast.BoolOp):
            sign = " & " if isinstance(node.op, ast.And) else " | "
            yield case.replaced(node, sign.join(f"({case.of(v)})" for v in node.values))
        elif isinstance(node, ast.Call):
            yield from _of_python(case, node)
        elif isinstance(node.op, ast.Not):
            yield case.replaced(node, f"~({case.of(node.operand)})")


def _of_python(case: Case, call: ast.Call) -> Iterator[Proposal]:
    """PyTorch's function for max, min and bool."""
    name = dotted(call.func)
    if name in ("max", "min") and len(call.args) == 2:
        a, b = call.args
        new = f"torch.{name}imum({case.of(a)}, {case.of(b)})"
        if isinstance(a, ast.Constant):
            new = _clamped(case, name, a, b)
        elif isinstance(b, ast.Constant):
            new = _clamped(case, name, b, a)
        yield case.replaced(call, new)
    if name == "bool" and call.args:
        yield case.appended(call.args[0], ".any()")


def _tests(test: ast.expr) -> list[ast.expr]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return [test.operand]
    return [test, *[n for n in within(test, ast.Compare) if n is not test]]


def where_of_expressions(case: Case) -> Iterator[Proposal]:
    """a if x > 0 else b, as torch.where(x > 0, a, b)."""
    for node in case.of_type(ast.IfExp):
        yield case.replaced(node, _where(case, node.test, node.body, node.orelse))


def _where(case: Case, *nodes: ast.expr | None) -> str:
    return f"torch.where({', '.join(case.of(n) for n in nodes)})"


def where_of_branches(case: Case, statement: ast.If) -> Iterator[Proposal]:
    """if x > 0: y = a, else: y = b, as y = torch.where(x > 0, a, b); with return likewise."""
    body, orelse, after = statement.body, statement.orelse, case.block_after(statement)
    if len(body) != 1:
        return
    first, test = body[0], statement.test
    if isinstance(first, ast.Return) and not orelse and after:
        if isinstance(after[0], ast.Return):
            new = f"return {_where(case, test, first.value, after[0].value)}"
            yield case.proposal(Edit(case.start(statement), case.end(after[0]), new))
        return
    last = orelse[0] if len(orelse) == 1 else None
    if isinstance(first, ast.Return) and isinstance(last, ast.Return):
        yield case.replaced(statement, f"return {_where(case, test, first.value, last.value)}")
    target, other = target_of(first, ast.AST), target_of(last, ast.AST)
    if target and (last is None or (other and case.of(other) == case.of(target))):
        values: list[Any] = [value_of(first), value_of(last) if last else target]
        yield case.replaced(statement, f"{case.of(target)} = {_where(case, test, *values)}")


def tuple_indexed(case: Case) -> Iterator[Proposal]:
    """The output of a recurrent layer; the first tensor."""
    for node in case.of_type(ast.Subscript):
        yield from first_output(case, node.value)
        yield case.appended(node.value, "[0]")


def inverted_mask(case: Case) -> Iterator[Proposal]:
    """~mask for 1 - mask; else the mask as numbers."""
    inverted = [n.operand for n in case.of_type(ast.UnaryOp) if isinstance(n.op, ast.USub)]
    differences = [n for n in case.of_type(ast.BinOp) if isinstance(n.op, ast.Sub)]
    inverted += [n.right for n in differences if value_of(n.left) in (1, True)]
    for mask in inverted:
        yield case.replaced(case.parents[mask], f"~{case.operand(mask)}")
    for node, tensor in case.tensors:
        if tensor.dtype.name == "bool":
            yield case.appended(node, ".float()")
