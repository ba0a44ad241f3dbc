"""Corrections of numbers and strings in place of tensors, of tensors as conditions, of points
without a derivative, and others.
"""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ....snippets.eager.arguments import SECOND_ARGUMENTS
from ....snippets.eager.tensor import Tensor
from ....snippets.python.values import Instance
from .case import Case, Proposal
from .cut_steps import SMOOTH
from .functions import functions, results_of
from .layers import first_output
from .nodes import (
    calls_in,
    dotted,
    elements,
    is_operation,
    keyword,
    method,
    names_in,
    operands,
    owner,
    target_of,
    value_of,
    within,
)
from .seeds import reduction
from .text import Edit


def bound(case: Case) -> Iterator[Proposal]:
    """Use clamp."""
    for call in case.calls(case.match[1]):
        number, x = call.args[:2] if case.match[2] else reversed(call.args[:2])
        yield case.replaced(call, _clamped(case, case.match[1], number, x))


def of_two(case: Case) -> Iterator[Proposal]:
    """Write torch.max(a, b) for torch.max(a, b, dim=1)."""
    for call in case.calls("max", "min"):
        for name in [k.arg for k in call.keywords if k.arg in ("dim", "axis", "keepdim")]:
            why = "The maximum or minimum of two tensors is elementwise: it has no dimension."
            yield from case.change(case.without_keyword(call, name), why=why)


def _clamped(case: Case, name: str, number: ast.expr, x: ast.expr) -> str:
    """The clamp for a maximum or minimum of a number and a tensor."""
    side = "min" if name == "max" else "max"
    return f"torch.clamp({case.of(x)}, {side}={case.of(number)})"


def number_indexed(case: Case) -> Iterator[Proposal]:
    """Write .item() for [0], as before PyTorch 0.4."""
    note = "Before PyTorch 0.4 a loss had one dimension: loss.data[0] was its value."
    for node in case.of_type(ast.Subscript):
        text = case.of(node.value).removesuffix(".data")
        yield case.replaced(node, f"{text}.item()", note=note)
        yield case.replaced(node, text)


def pulled_by(case: Case, node: ast.expr) -> str:
    """The reduction `.sum()` or `.mean()`, if the program calls `loss.sum().backward()` or
    `loss.mean().backward()`; "" if it does not.
    """
    for back in case.backwards:
        reduced = owner(back)
        plain = method(reduced) in ("sum", "mean") and not reduced.args
        if plain and dotted(node) and dotted(owner(reduced)) == dotted(node):
            return f".{method(reduced)}()"
    return ""


def counted_samples(case: Case) -> Iterator[Proposal]:
    """Write len(x) for a tensor or list x that a __len__ returns."""
    counting = [f for f in case.of_type(ast.FunctionDef, everywhere=True) if f.name == "__len__"]
    for returned in [r.value for f in counting for r in within(f, ast.Return)]:
        if isinstance(returned, ast.Name | ast.Attribute):
            why = "__len__ returns the number of samples, not the samples."
            yield case.replaced(returned, f"len({case.of(returned)})", why=why)


def to_number(case: Case) -> Iterator[Proposal]:
    """Reduce the tensor first, or convert it to a list; or return the length from __len__."""
    yield from whole_in_text(case)
    yield from counted_samples(case)
    for call in case.calls():
        name = dotted(call.func)
        if method(call) == "item":
            pulled = pulled_by(case, owner(call))
            end = pulled or reduction(case.source[case.start(call) : case.dot(call)])
            if end == ".sum()" and not pulled and case.calls("print"):
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


def whole_in_text(case: Case) -> Iterator[Proposal]:
    """Write %s for %.2f of a tensor with several elements."""
    for text in case.of_type(ast.BinOp):
        if not (is_operation(text, ast.Mod) and isinstance(text.left, ast.Constant)):
            continue
        places = [*re.finditer(r"%[-+ #0]*[\d.]*[a-z]", case.of(text.left))]
        at = case.start(text.left)
        items = elements(text.right) if isinstance(text.right, ast.Tuple) else [text.right]
        tensors = [case.tensor(item) for item in items]
        edits = [
            Edit(at + p.start(), at + p.end(), "%s")
            for p, t in zip(places, tensors)
            if t is not None and t.numel != 1
        ]
        yield from case.change(*edits, why="%f is for one number; %s prints all of them.")


def negative_power(case: Case) -> Iterator[Proposal]:
    """Use a float as the base of a power."""
    for node in case.of_type(ast.BinOp):
        if isinstance(node.op, ast.Pow):
            yield case.appended(node.left, ".float()")
    for call in case.calls("pow"):
        yield case.appended(operands(call)[0], ".float()")


def _sum_of_python(case: Case) -> Iterator[Proposal]:
    """Add up what a generator yields by Python's sum, as torch.sum takes one tensor."""
    for call in case.calls("sum"):
        why = "torch.sum takes one tensor; Python's sum adds the items of an iterable."
        added = case.replacing(call.func, "sum")
        for each in [a.elt for a in call.args if isinstance(a, ast.GeneratorExp)]:
            whole = method(each) in ("sum", "mean", "norm", "item", "dot")
            inner = [] if whole else [case.appending(each, ".sum()")]
            yield case.proposal(added, *inner, why=why)
        yield case.proposal(added, why=why)


def no_tensor(case: Case) -> Iterator[Proposal]:
    """Pass the tensors in a list; or the output of a recurrent layer; a stack of a list; or a
    tensor of the same numbers.
    """
    yield from unpacked_sequence(case)
    yield from single_gradients(case)
    yield from loss_of_each(case)
    yield from number_for_layer(case)
    for given in [a for c in case.calls(case.match[1]) for a in c.args]:
        if method(given) == "item" and isinstance(given, ast.Call):
            why = f"{case.of(owner(given))} is the tensor; item() returns its number."
            yield case.without(given, why=why)
    if "generator" in case.message:
        yield from _sum_of_python(case)
    last = [a for call in case.calls() for a in call.args[-1:]]
    for given in [a for call in case.calls() for a in call.args]:
        value = case.value(given)
        value = getattr(value, "array", value)
        later = re.search(r"\(position [2-9]\)", case.message) and given in last
        is_second = case.match[1] in (*SECOND_ARGUMENTS, "max", "min") or later
        if is_second and len(case.listed(given)) == 2:
            yield case.proposal(case.inserting(given, "*"), why="It expects separate arguments.")
        if isinstance(value, tuple) and value and isinstance(value[0], Tensor):
            if any(calls_in(s.value, "zip") for s in case.makers(given)):
                why = "zip yields a tuple of the samples' tensors, but a batch is one tensor."
                yield case.replaced(given, f"torch.stack({case.of(given)})", why=why)
            yield from first_output(case, given)
            rest = f"{case.of(given)} is a tuple of {len(value)}: only the first is used."
            yield case.appended(given, "[0]", note=rest if len(value) > 1 else "")
        elif _of_loader(case, given) and case.listed(given):
            why = "A data loader yields a list: the inputs, and then the targets."
            yield case.appended(given, "[0]", why=why)
        elif isinstance(given, ast.Call) and "tuple" in case.message:
            yield case.appended(given, "[0]")
        for new in _as_tensor(case, given, value):
            yield case.replaced(given, new)


def number_for_layer(case: Case) -> Iterator[Proposal]:
    """emb(torch.tensor(i)) for the emb(i) of a number, in all calls of the layer; a tensor of
    floats for an array.
    """
    calls = case.calls(everywhere=True)
    for first, _ in case.calls_of_modules:
        same = [c for c in calls if case.of(c.func) == case.of(first.func) and len(c.args) == 1]
        given = [(a, case.value(a)) for c in same for a in c.args]
        edits = [
            case.replacing(a, f"torch.tensor({case.of(a)})") for a, v in given if type(v) is int
        ]
        arrays = [a for a, v in given if isinstance(a, ast.Name) and hasattr(v, "array")]
        edits += [case.replacing(a, f"torch.as_tensor({case.of(a)}).float()") for a in arrays]
        if len(edits) > 1:
            yield case.proposal(*edits, why="A layer expects tensors, even for a single number.")


def loss_of_each(case: Case) -> Iterator[Proposal]:
    """Write sum(loss(out, y) for out in outs) for loss(outs, y), if outs is a list."""
    for call in [c for c in case.calls() if len(c.args) == 2 and case.is_loss(c)]:
        outputs, target = call.args
        if isinstance(case.value(outputs), list) and case.listed(outputs):
            each = f"{case.of(call.func)}(output, {case.of(target)})"
            new = f"sum({each} for output in {case.of(outputs)})"
            yield case.replaced(call, new, why="A loss takes a single output.")


def single_gradients(case: Case) -> Iterator[Proposal]:
    """Write torch.autograd.grad(u, x)[0] for a tuple with one gradient, if it is used whole."""
    edits = []
    for call in case.backwards if "tuple" in case.message else ():
        outer = case.parents.get(call)
        wanted = case.inputs_of(call)
        whole = isinstance(outer, ast.Return) or target_of(outer, ast.Name) is not None
        if not (case.is_grad(call) and whole and isinstance(wanted, ast.Name)):
            continue
        name = dotted(target_of(outer, ast.Name))
        read = case.of_type(ast.Subscript, everywhere=True)
        if not any(name and dotted(n.value) == name for n in read):
            edits.append(case.appending(call, "[0]"))
    why = "torch.autograd.grad returns a tuple with one gradient for each input."
    yield from case.change(*edits, why=why)


def array_of_list(case: Case) -> Iterator[Proposal]:
    """Write torch.tensor for from_numpy of a list; or use a tensor itself."""
    for call in case.calls("from_numpy"):
        for given in call.args:
            if case.tensor(given) is not None:
                yield case.replaced(call, case.of(given))
        yield case.replaced(call.func, "torch.tensor")


def data_set_of_arrays(case: Case) -> Iterator[Proposal]:
    """Write TensorDataset(torch.from_numpy(X), ...) for arrays."""
    for call in case.calls("TensorDataset"):
        arrays = [a for a in call.args if type(case.value(a)).__name__ == "Array"]
        new = [case.replacing(a, f"torch.from_numpy({case.of(a)})") for a in arrays]
        yield from case.change(*new)
    for call in [c for c in case.calls() if case.is_loss(c)]:
        for given in [a for a in call.args if type(case.value(a)).__name__ == "Array"]:
            new_text = f"torch.as_tensor({case.of(given)}).float()"
            yield case.replaced(given, new_text, why="A loss compares tensors.")


def count_of_tensor(case: Case) -> Iterator[Proposal]:
    """Write len(x) for a tensor as a size, and x.shape[0] for x.shape."""
    for call in case.calls(case.match[1] or "range"):
        for given in call.args:
            shape = case.shape(given)
            if shape == ():
                yield case.appended(given, ".item()")
            elif shape is not None:
                yield case.replaced(given, f"len({case.of(given)})")
            elif "torch.Size" in case.message:
                yield case.appended(given, "[0]")


def size_of_shape(case: Case) -> Iterator[Proposal]:
    """Write x.shape[0] for x.shape in a product or quotient, len(x) of a vector."""
    for node in [n for s in case.sides for n in (s, *within(s, ast.Attribute, ast.Call))]:
        sized = getattr(node, "attr", "") == "shape" or (method(node) == "size" and not node.args)
        if sized and not isinstance(case.parents[node], ast.Subscript):
            several = len(case.shape(owner(node)) or ()) > 1
            note = "The number of rows; x.numel() is that of all elements." if several else ""
            yield case.appended(node, "[0]", note=note)


def size_for_layer(case: Case) -> Iterator[Proposal]:
    """Write nn.Linear(x.shape[-1], 1) for nn.Linear(x.shape, 1)."""
    for call in case.calls("Linear"):
        for given in call.args[:1]:
            if getattr(given, "attr", "") == "shape" or method(given) == "size":
                yield case.appended(given, "[-1]", why="The layer needs the number of features.")


def list_of_tensors(case: Case) -> Iterator[Proposal]:
    """Write torch.stack(x) for -x of a list of tensors, torch.tensor(x) for one of numbers."""
    for node in case.of_type(ast.UnaryOp):
        items = case.value(node.operand)
        if isinstance(items, list | tuple) and items:
            stacked = all(isinstance(i, Tensor) for i in items)
            make = "torch.stack" if stacked else "torch.tensor"
            yield case.replaced(node.operand, f"{make}({case.of(node.operand)})")


def unpacked_sequence(case: Case) -> Iterator[Proposal]:
    """Call pad_packed_sequence before a layer that does not accept packed sequences."""
    packed = case.calls("pack_padded_sequence", everywhere=True)
    for call in case.calls() if "PackedSequence" in case.message else ():
        for given in [a for a in call.args if isinstance(a, ast.Name)]:
            first = any(keyword(p, "batch_first") for p in packed)
            end = ", batch_first=True" if first else ""
            pad = f"torch.nn.utils.rnn.pad_packed_sequence({given.id}{end})"
            why = "The output of a packed sequence is packed too: this layer needs it padded."
            yield case.proposal(case.before(case.statement, f"{given.id}, _ = {pad}"), why=why)


def _of_loader(case: Case, node: ast.expr) -> bool:
    """Whether a name is the target of a loop over a data loader, where a list has one batch per
    field.
    """
    loop = case.loop(node)
    named = isinstance(loop, ast.For) and dotted(node) in names_in(loop.target)
    return named and "DataLoader" in case.source


def list_as_tensor(case: Case) -> Iterator[Proposal]:
    """Write torch.tensor([0.0, 1.0]) for [0.0, 1.0] among tensors."""
    for call in case.calls("pad_sequence"):
        if call.args and isinstance(case.value(call.args[0]), list):
            new = f"[torch.tensor(row) for row in {case.of(call.args[0])}]"
            yield case.replaced(call.args[0], new)
    if "unsupported operand" in case.message:
        yield from added_up(case)
        held = [s for s in case.sides if _is_list(case, s)]
        yield from case.change(*[case.replacing(g, f"torch.tensor({case.of(g)})") for g in held])
        return
    for call in case.calls():
        given = [i for a in call.args for i in (a, *elements(a))]
        given += [k.value for k in call.keywords]
        if "buffer" in case.message:
            form = "torch.tensor({})"
            yield from case.change(*case.numbers_as(form, [k.value for k in call.keywords]))
        held = [g for g in given if _is_list(case, g)]
        yield from case.change(*[case.replacing(g, f"torch.tensor({case.of(g)})") for g in held])


def listed_operand(case: Case) -> Iterator[Proposal]:
    """Stack the tensors of a list that a reduction is given."""
    for call in case.calls(case.match[1]):
        if call.args and case.listed(call.args[0]):
            why = "A list is no tensor: stack makes one of its tensors."
            yield case.replaced(call.args[0], f"torch.stack({case.of(call.args[0])})", why=why)


def added_up(case: Case) -> Iterator[Proposal]:
    """Write sum(losses) / n for losses / n of a list of scalars; or stack the tensors."""
    for side in case.sides:
        held = case.listed(side) if isinstance(case.value(side), list | tuple) else []
        others = [case.shape(s) for s in case.sides if s is not side]
        join = "cat" if all(t.ndim for t in held) else "stack"
        if len(held) > 1 and (len(held),) in others and all(t.numel == 1 for t in held):
            new = f"torch.{join}({case.of(side)})"
            yield case.replaced(side, new, why="The items become one tensor.")
        if held and all(t.numel == 1 for t in held):
            yield case.replaced(side, f"sum({case.of(side)})", why="A list has no arithmetic.")
        elif held and len({t.shape for t in held}) == 1:
            new = f"torch.stack({case.of(side)})"
            yield case.replaced(side, new, why="A list, or a tuple, has no arithmetic.")


def _is_list(case: Case, node: ast.expr) -> bool:
    """Whether an expression is a list of numbers, a literal or a variable."""
    numbers = [value_of(e) for e in elements(node)] or case.value(node)
    return isinstance(numbers, list) and all(isinstance(n, int | float) for n in numbers)


def _as_tensor(case: Case, node: ast.expr, value: object) -> Iterator[str]:
    """Source text for a number, a list or an array as a tensor."""
    text = case.of(node)
    if isinstance(value, list) and any(isinstance(v, Tensor) for v in value):
        yield f"torch.stack({text}{', 1' if _of_loader(case, node) else ''})"
    elif isinstance(node, ast.ListComp):
        yield f"torch.stack({text})"
    elif isinstance(node, ast.List):
        if any(case.tensor(e) is not None for e in node.elts):
            yield f"torch.stack({text})"
        yield f"torch.tensor({text})"
    elif isinstance(node, ast.Constant | ast.UnaryOp):
        yield f"torch.tensor({text}.0)" if text.lstrip("-").isdigit() else f"torch.tensor({text})"
    elif isinstance(value, list) or _are_numbers(value):
        yield f"torch.tensor({text})"
        if isinstance(value, int | float):
            yield f"torch.tensor([{text}])"
    elif value is not None and not isinstance(value, Tensor | Instance | str | tuple):
        yield f"torch.as_tensor({text}).float()"
        yield f"torch.as_tensor({text})"


def _are_numbers(value: object) -> bool:
    """Whether a value is a number or a tuple of numbers."""
    numbers = value if isinstance(value, tuple) else [value]
    return all(isinstance(n, int | float) for n in numbers) and not isinstance(value, bool)


def without_array(case: Case, call: ast.Call) -> Edit:
    """x for x.numpy() and x.detach().numpy()."""
    inner = owner(call)
    cut = inner if method(inner) in ("detach", "cpu") else call
    return Edit(case.dot(cut), case.end(call), "")


def array_beside_tensor(case: Case) -> Iterator[Proposal]:
    """Use the tensor from which an array is taken; or convert the array to a tensor."""
    for call in case.calls("numpy"):
        yield case.proposal(without_array(case, call))
    for name in [n for n in case.of_type(ast.Name) if hasattr(case.value(n), "array")]:
        for built in (
            case.makers(name)[:1] if len(case.names(name.id, everywhere=False)) > 1 else ()
        ):
            yield case.replaced(built.value, f"torch.as_tensor({case.of(built.value)}).float()")
    for part in case.of_type(ast.comprehension):
        items, item = case.value(part.iter), dotted(part.target)
        if isinstance(items, list) and all(hasattr(i, "array") for i in items) and item:
            read = [n for n in case.names(item, everywhere=False) if n is not part.target]
            new = f"torch.as_tensor({item}).float()"
            yield from case.change(*[case.replacing(n, new) for n in read])
    for node in [*case.sides, *case.of_type(ast.Name)]:
        made = isinstance(node, ast.Call) and dotted(node.func).startswith(("np.", "numpy."))
        if made or hasattr(case.value(node), "array"):
            yield case.replaced(node, f"torch.as_tensor({case.of(node)}).float()")


def ambiguous(case: Case) -> Iterator[Proposal]:
    """Write torch.where for an elementwise choice; or .any() or .all()."""
    yield from inputs_as_tuple(case)
    for node in case.of_type(ast.Compare):
        if isinstance(node.ops[0], ast.In) and isinstance(case.value(node.comparators[0]), list):
            held = case.of(node.comparators[0])
            new = f"any(torch.equal({case.of(node.left)}, t) for t in {held})"
            yield case.replaced(node, new, why="== returns one result for each element.")
        if len(node.ops) > 1:
            yield case.replaced(node, _each_comparison(case, node), why=CHAINED)
    yield from where_of_expressions(case)
    for statement in case.statements:
        if isinstance(statement, ast.If):
            yield from where_of_branches(case, statement)
        if isinstance(statement, ast.If | ast.While | ast.Assert):
            end = ".any()" if isinstance(statement, ast.If) else ".all()"
            if isinstance(statement, ast.If) and _ends(statement):
                end = ".all()"
            for test in _tests(statement.test):
                yield case.appended(test, end)
    yield from _of_each_element(case)


def _of_each_element(case: Case) -> Iterator[Proposal]:
    """Write & for and, | for or, ~ for not; PyTorch's functions for Python's."""
    for node in case.of_type(ast.BoolOp, ast.UnaryOp, ast.Call):
        if isinstance(node, ast.BoolOp):
            sign = " & " if isinstance(node.op, ast.And) else " | "
            yield case.replaced(node, sign.join(f"({case.of(v)})" for v in node.values))
        elif isinstance(node, ast.Call):
            yield from _of_python(case, node)
        elif isinstance(node.op, ast.Not):
            yield case.replaced(node, f"~({case.of(node.operand)})")


def inputs_as_tuple(case: Case) -> Iterator[Proposal]:
    """Write jacobian(f, (x, y)) for jacobian(f, x, y)."""
    for call in case.calls("jacobian", "hessian"):
        inputs = call.args[1:]
        if len(inputs) > 1 and all(case.tensor(a) is not None for a in inputs):
            text = f"({', '.join(map(case.of, inputs))})"
            why = "Several inputs must be passed as one tuple."
            yield case.proposal(case.spanning(inputs, text), why=why)


CHAINED = "a < x < b means a < x and x < b: for tensors, join the two by &."


def _each_comparison(case: Case, node: ast.Compare) -> str:
    """Write (a < x) & (x < b) for a < x < b."""
    parts = []
    for left, right in pairwise([node.left, *node.comparators]):
        sign = case.source[case.end(left) : case.start(right)].strip(" ()\n\\")
        parts.append(f"({case.of(left)} {sign} {case.of(right)})")
    return " & ".join(parts)


def _ends(statement: ast.If) -> bool:
    """Whether an if statement ends a loop once numbers are small enough."""
    small = isinstance(statement.test, ast.Compare) and isinstance(
        statement.test.ops[0], ast.Lt | ast.LtE
    )
    return small and isinstance(statement.body[-1], ast.Break | ast.Return)


def _of_python(case: Case, call: ast.Call) -> Iterator[Proposal]:
    """Use PyTorch's function for max, min and bool."""
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
    """Write torch.where(x > 0, a, b) for a if x > 0 else b."""
    for node in case.of_type(ast.IfExp):
        yield case.replaced(node, _where(case, node.test, node.body, node.orelse))


def _where(case: Case, *nodes: ast.expr | None) -> str:
    return f"torch.where({', '.join(case.of(n) for n in nodes)})"


def where_of_branches(case: Case, statement: ast.If) -> Iterator[Proposal]:
    """Write y = torch.where(x > 0, a, b) for if x > 0: y = a, else: y = b; likewise for return."""
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
    """Use the output of a recurrent layer; or the first tensor."""
    for node in case.of_type(ast.Subscript):
        yield from first_output(case, node.value)
        yield case.appended(node.value, "[0]")


def inverted_mask(case: Case) -> Iterator[Proposal]:
    """Write ~mask for 1 - mask, and ~mask.bool() for ~mask; or convert the mask to floats."""
    for inversion in case.of_type(ast.UnaryOp):
        if isinstance(inversion.op, ast.Invert):
            yield case.appended(inversion.operand, ".bool()")
    for compared in [v for f in functions(case, "forward") for v in results_of(f)]:
        if isinstance(compared, ast.Compare):
            why = "A mask has no gradient: forward of a custom Function must return floats."
            yield case.appended(compared, ".float()", why=why)
    inverted = [n.operand for n in case.of_type(ast.UnaryOp) if isinstance(n.op, ast.USub)]
    differences = [n for n in case.of_type(ast.BinOp) if isinstance(n.op, ast.Sub)]
    inverted += [n.right for n in differences if value_of(n.left) in (1, True)]
    for mask in inverted:
        yield case.replaced(case.parents[mask], f"~{case.operand(mask)}")
    for node, tensor in case.tensors:
        if tensor.dtype.name == "bool":
            yield case.appended(node, ".float()")


MAKERS = ("tensor", "as_tensor", "Tensor", "LongTensor", "FloatTensor", "from_numpy")


def numbered(case: Case) -> Iterator[Proposal]:
    """Convert a string to the number that it contains; or to the index of a class in the list of
    all classes.
    """
    for call in case.calls(*MAKERS):
        given = call.args[0] if call.args else None
        value = None if given is None else _value(case, given)
        texts = _texts(value)
        if isinstance(given, ast.Call) and not texts:
            new = f"torch.tensor([float(c) for c in {case.of(given)}])"
            yield case.replaced(call, new)
        if given is None or not texts:
            continue
        name, form, all_of_them = _each(case.of(_gone_through(given)), value)
        kept = case.source[case.end(given) : case.end(call)] if method(call) == "tensor" else ")"
        whole = f"torch.tensor({form}{kept}"
        for read in _read_as_numbers(texts):
            yield case.replaced(call, whole.format(f"{read}({name})"))
        for known, found in _numberings(case, set(texts)):
            note = f"{known} contains the number of each class."
            yield case.replaced(call, whole.format(found.format(name)), note=note)
        if all_of_them:
            new = next(n for n in ("classes", "class_names", "kinds") if n not in case.values)
            built = case.before(case.statement_of(call), f"{new} = sorted({all_of_them})")
            edit = case.replacing(call, whole.format(f"{new}.index({name})"))
            note = f"{new} is the sorted list of names: the number of a class is its index there."
            yield case.proposal(built, edit, note=note)


def _gone_through(given: ast.expr) -> ast.expr:
    """The iterable xs of [x for x in xs], which has the same items."""
    if isinstance(given, ast.ListComp) and len(given.generators) == 1:
        (loop,) = given.generators
        if dotted(given.elt) and dotted(given.elt) == dotted(loop.target) and not loop.ifs:
            return loop.iter
    return given


def _each(text: str, value: Any) -> tuple[str, str, str]:
    """For strings: a name for one item, the expression for all items, and for the set of them; ""
    for a single string.
    """
    if isinstance(value, str):
        return text, "{}", ""
    if value and isinstance(value[0], list | tuple):
        return (
            "c",
            f"[[{{}} for c in row] for row in {text}]",
            f"{{c for row in {text} for c in row}}",
        )
    return "c", f"[{{}} for c in {text}]", f"set({text})"


def _value(case: Case, node: ast.expr) -> Any:
    """The value of an expression, with lists and arrays as lists."""
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(case, e) for e in node.elts]
    value = case.value(node)
    value = getattr(value, "array", value)
    return value.tolist() if hasattr(value, "tolist") else value


def _texts(value: Any) -> list[str]:
    """The strings in a value, nested or not; [] if it contains anything else."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list | tuple):
        return []
    rows = [[v] if isinstance(v, str) else v for v in value]
    held = all(isinstance(r, list | tuple) and all(isinstance(v, str) for v in r) for r in rows)
    flat = len({isinstance(v, str) for v in value}) == 1
    return [v for r in rows for v in r] if held and flat else []


def _read_as_numbers(texts: list[str]) -> Iterator[str]:
    """int or float, if the strings are such numbers."""
    for read in (int, float):
        try:
            [read(t) for t in texts]
        except ValueError:
            continue
        yield read.__name__
        return


def _numberings(case: Case, texts: set[str]) -> Iterator[tuple[str, str]]:
    """The mappings of the program from these class names to indices: a list, or a dict."""
    for name, value in case.values.items():
        if isinstance(value, dict) and texts <= value.keys():
            if all(isinstance(value[t], int) for t in texts):
                yield name, f"{name}[{{}}]"
        elif isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
            whole = texts <= set(value) and len(set(value)) == len(value)
            yield from [(name, f"{name}.index({{}})")] if whole else []


OF_TORCH = ("torch", "torch.linalg", "F")


def singular(case: Case) -> Iterator[Proposal]:
    """Add a small multiple of the identity."""
    for call in [c for c in case.calls() if c.args]:
        matrix, a = call.args[0], case.operand(call.args[0])
        if method(call) in ("inv", "inverse"):
            note = "The pseudoinverse equals the inverse if there is one."
            yield case.replaced(call.func, "torch.linalg.pinv", note=note)
        if method(call) in ("det", "slogdet", "cholesky", "inv", "solve", "eigh"):
            note = "A little is added to the diagonal: nearly the same matrix, but invertible."
            yield case.replaced(matrix, f"{a} + 1e-3 * torch.eye({a}.shape[-1])", note=note)
            for node in within(matrix, ast.BinOp):
                if is_operation(node, ast.Sub) and calls_in(node.right, "eye"):
                    why = "Adding to the diagonal makes the matrix positive definite."
                    between = Edit(case.end(node.left), case.start(node.right), " + ")
                    yield case.proposal(between, why=why)
            if not isinstance(matrix, ast.Name | ast.Attribute):
                continue
            note = "This changes the result: a matrix times its transpose is another matrix."
            new = f"{a} @ {a}.T + 1e-3 * torch.eye({a}.shape[0])"
            yield case.replaced(matrix, new, note=note)
            yield case.replaced(matrix, f"{a}.T @ {a}", note=note)


def nan_found(case: Case) -> Iterator[Proposal]:
    """Move away from a point where the derivative is infinite."""
    name = case.match[1].partition("Backward")[0].lower()
    note = "1e-12 keeps the argument away from 0, where the derivative is infinite."
    if name == "div":
        yield from _quotients(case)
    for call in case.methods(name, "sqrt", "norm", "pow", "log", everywhere=True):
        assert isinstance(call.func, ast.Attribute)
        x = call.func.value
        if dotted(x) in OF_TORCH[:2] and call.args:
            new = f"{case.operand(call.args[0])} + 1e-12"
            yield case.replaced(call.args[0], new, note=note)
        elif dotted(x) not in OF_TORCH:
            bracketed = ")" in case.source[case.end(x) : case.dot(call)]
            new = f"{case.of(x)} + 1e-12"
            yield case.replaced(x, new if bracketed else f"({new})", note=note)
    yield from _quotients(case)


def _quotients(case: Case) -> Iterator[Proposal]:
    for quotient in case.of_type(ast.BinOp, everywhere=True):
        if is_operation(quotient, ast.Div):
            yield case.replaced(quotient.right, f"({case.operand(quotient.right)} + 1e-12)")


COMPLEMENT = re.compile(r"\b1(\.0?)? *- ")  # 1 - mask: the elements that are left out


def boolean_mask(case: Case) -> Iterator[Proposal]:
    """Write mask == 0 for a mask of what is kept, such as a lower triangle; or mask.bool()."""
    for call in case.calls("masked_fill", "masked_fill_"):
        for mask in call.args[:1]:
            made = " ".join(map(case.of, [mask, *case.slice_of(mask, case.line)]))
            kept = case.replaced(mask, f"{case.operand(mask)} == 0", note="Kept where mask is 1.")
            filled = case.appended(mask, ".bool()", note="Filled where mask is 1.")
            lower = re.search("tril|!=", made) and not COMPLEMENT.search(made)
            yield from (kept, filled) if lower else (filled, kept)
    for call in case.calls("masked_select"):
        yield case.appended(call.args[-1], ".bool()", note="Selected where mask is 1.")


def sigmoid_for_step(case: Case) -> Iterator[Proposal]:
    """Write torch.sigmoid(x) for torch.heaviside(x, values)."""
    for call in case.calls("heaviside", everywhere=True):
        if len(call.args) == 2:
            yield case.replaced(call, f"torch.sigmoid({case.of(call.args[0])})", note=SMOOTH)


def as_text(case: Case) -> Iterator[Proposal]:
    """Write str(...)."""
    for node in case.of_type(ast.BinOp):
        if isinstance(node.op, ast.Add):
            yield case.replaced(node.right, f"str({case.of(node.right)})")
