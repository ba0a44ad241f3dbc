"""Cures of numbers in the place of tensors, and of questions that a tensor cannot answer."""

import ast
from collections.abc import Iterator

from ....snippets.eager.tensor import Tensor
from ....snippets.python.values import Instance
from .case import Case, Proposal, cures
from .seeds import first_output, is_loss
from .text import Edit, dotted, method


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
            if end == ".sum()" and bool(case.calls("print")):
                yield case.proposal(case.renamed(node.func, "tolist"))
            yield case.proposal(case.before_attribute(node.func, end))
            yield case.proposal(case.renamed(node.func, "tolist"))
        if dotted(node.func) == "float" and node.args:
            end = ".mean()" if is_loss(case.text.of(node.args[0])) else ".sum()"
            yield case.replaced(node, f"{case.text.operand(node.args[0])}{end}.item()")
        if dotted(node.func) == "int" and node.args:
            yield case.appended(node.args[0], ".sum()")
        if dotted(node.func) in ("torch.tensor", "torch.Tensor", "torch.FloatTensor") and node.args:
            yield case.replaced(node, f"torch.stack({case.text.of(node.args[0])})")
            yield case.replaced(node, f"torch.cat({case.text.of(node.args[0])})")
        module, _, name = dotted(node.func).rpartition(".")
        if module in ("math", "np", "numpy"):
            yield case.replaced(node.func, f"torch.{name}")
    for text in case.of_type(ast.BinOp):
        if isinstance(text.op, ast.Mod) and case.tensor(text.right) is not None:
            loss = is_loss(case.text.of(text.right))
            yield case.appended(text.right, ".mean()" if loss else ".sum()")


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
    for node in case.of_type(ast.Name):
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
    yield from where_of_expressions(case)
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


def where_of_expressions(case: Case) -> Iterator[Proposal]:
    """a if x > 0 else b, as torch.where(x > 0, a, b)."""
    t = case.text
    for node in case.of_type(ast.IfExp):
        new = f"torch.where({t.of(node.test)}, {t.of(node.body)}, {t.of(node.orelse)})"
        yield case.replaced(node, new)


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


@cures(
    r"tuple indices must be integers or slices, not (tuple|Tensor|ellipsis)",
    "It is a tuple of tensors, and is none itself.",
)
def tuple_indexed(case: Case) -> Iterator[Proposal]:
    """The output of a recurrent layer; the first tensor."""
    for node in case.of_type(ast.Subscript):
        yield from first_output(case, node.value)
        yield case.appended(node.value, "[0]")


@cures(
    r"Subtraction, the `-` operator, with (a|two) bool tensors? is not supported|"
    r"Negation, the `-` operator, on a bool tensor is not supported",
    "Booleans are not subtracted: ~ gives the other ones.",
)
def inverted_mask(case: Case) -> Iterator[Proposal]:
    """~mask for 1 - mask; else the mask as numbers."""
    inverted = [n.operand for n in case.of_type(ast.UnaryOp) if isinstance(n.op, ast.USub)]
    differences = [n for n in case.of_type(ast.BinOp) if isinstance(n.op, ast.Sub)]
    inverted += [n.right for n in differences if getattr(n.left, "value", None) in (1, True)]
    for mask in inverted:
        yield case.replaced(case.text.parents[mask], f"~{case.text.operand(mask)}")
    for name in case.operands:
        tensor = case.tensor(name)
        if tensor is not None and tensor.dtype.name == "bool":
            yield case.appended(name, ".float()")
