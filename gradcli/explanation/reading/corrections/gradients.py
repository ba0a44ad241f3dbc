"""Cures of a .grad that is None."""

import ast
from collections.abc import Iterator
from typing import Any

from ....snippets.eager.tensor import Tensor
from ....snippets.python.values import Instance
from .case import Case, Proposal, cures, names_in
from .cuts import CREATORS, connected, leaves, recording, requiring
from .in_place import NO_GRAD
from .seeds import roots
from .text import Edit, dotted, keyword, method

NO_GRADIENT_YET = (
    "No gradient is there: either no way back has run yet, or the name is now that of a computed "
    "tensor, whose .grad stays None."
)


@cures(
    r"'NoneType' object has no attribute '(\w+)'|unsupported operand type\(s\) for .*'NoneType'|"
    r"bad operand type for unary -: 'NoneType'|'NoneType' object is not subscriptable|"
    r"\w+\(\): argument '\w+' .*must be (Tensor|Number).*, not NoneType|"
    r"unsupported format string passed to NoneType.__format__",
    NO_GRADIENT_YET,
)
def no_gradient(case: Case) -> Iterator[Proposal]:
    """Update the leaf itself; ask whether a gradient is there; keep that of a computed tensor."""
    yield from of_backward(case)
    yield from nothing_returned(case)
    yield from rebound(case)
    yield from kept_gradient(case)
    yield from without_flag(case)
    yield from leaf_again(case)
    yield from after_backward(case)
    yield from reconnected(case)
    yield from guarded(case)
    yield from before_backward(case)
    yield from or_zero(case)
    yield from not_a_leaf_at_birth(case)


def of_backward(case: Case) -> Iterator[Proposal]:
    """backward() gives nothing: two statements."""
    for node in case.of_type(ast.Attribute):
        if method(node.value) != "backward":
            continue
        call = case.text.parents.get(node)
        leaf = next(iter(case.leaves), "")
        if node.attr == "grad" and leaf:
            yield case.proposal(
                case.text.before(case.statement, case.text.of(node.value)),
                case.text.replacing(node, f"{leaf}.grad"),
                why="backward() gives nothing: it fills the .grad of the leaves.",
            )
        end = case.text.end(call) if isinstance(call, ast.Call) else case.text.end(node)
        cut = Edit(case.text.end(node.value), end, "")
        why = "backward() gives nothing: it fills the .grad of the leaves."
        yield case.proposal(cut, why=why)
    for part in case.of_type(ast.Attribute, ast.BinOp, ast.Subscript, ast.UnaryOp):
        for name in [n for n in ast.walk(part) if isinstance(n, ast.Name)]:
            for s in case.assignments(name.id, case.line):
                value: Any = getattr(s, "value", None)
                if method(value) == "backward" and isinstance(s, ast.Assign):
                    why = f"Line {s.lineno}: backward() gives nothing: it fills .grad."
                    start = case.text.start(s)
                    leaf = next(iter(case.leaves), "")
                    edit = Edit(start, case.text.start(value), "")
                    if leaf:
                        uses = [
                            case.text.replacing(n, f"{leaf}.grad")
                            for n in case.all_nodes
                            if isinstance(n, ast.Name)
                            and n.id == name.id
                            and isinstance(n.ctx, ast.Load)
                        ]
                        yield case.proposal(edit, *uses, why=why)


def nothing_returned(case: Case) -> Iterator[Proposal]:
    """A function that ends without a return: what it computed last is returned."""
    for function in case.all_nodes:
        if not isinstance(function, ast.FunctionDef) or function.name == "__init__":
            continue
        last = function.body[-1]
        names = [dotted(t) for t in getattr(last, "targets", [])]
        if any(isinstance(n, ast.Return | ast.Yield) for n in ast.walk(function)):
            continue
        called = {method(n) for n in case.all_nodes if isinstance(n, ast.Call)}
        if names and names[0] and (function.name in called or function.name == "forward"):
            yield case.proposal(
                case.text.after(last, f"return {names[0]}"),
                why=f"{function.name} has no return: what it gives is None.",
            )


def rebound(case: Case) -> Iterator[Proposal]:
    """w = w - lr * w.grad makes w another tensor: change the leaf in place, without recording."""
    for node in case.all_nodes:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        name, value = case.text.of(node.targets[0]), node.value
        if not isinstance(value, ast.BinOp) or case.text.of(value.left) != name:
            continue
        operator = {ast.Sub: "-=", ast.Add: "+="}.get(type(value.op))
        if operator is None or f"{name}.grad" not in case.text.of(value.right):
            continue
        block = case.text.blocks[node]
        group = [s for s in block if _rebinds(case, s)]
        edits = []
        for s in group:
            assert isinstance(s, ast.Assign)
            assert isinstance(s.value, ast.BinOp)
            sign = {ast.Sub: "-=", ast.Add: "+="}.get(type(s.value.op), "-=")
            left = case.text.of(s.targets[0])
            edits.append((s, f"{left} {sign} {case.text.of(s.value.right)}"))
        why = (
            f"Line {node.lineno} makes {name} a new, computed tensor: the leaf is lost, and the "
            f".grad of what took its name stays None."
        )
        within = any(
            isinstance(a, ast.With) and method(a.items[0].context_expr) == "no_grad"
            for a in case.text.around(node)
        )
        if within:
            yield case.proposal(*[case.text.replacing(s, t) for s, t in edits], why=why)
        elif all(case.text.alone(s) for s in group) and _adjacent(block, group):
            start, end = case.text.span(group)
            indent = case.text.indent(group[0])
            lines = [f"{indent}{NO_GRAD}", *[f"{indent}    {t}" for _, t in edits]]
            close = "\n" if case.text.source[start:end].endswith("\n") else ""
            yield case.proposal(Edit(start, end, "\n".join(lines) + close), why=why)
        else:
            data = [
                case.text.replacing(s, t.replace(f" {o} ", f".data {o} ", 1))
                for s, t in edits
                for o in (t.split()[1],)
            ]
            yield case.proposal(*data, why=why)
        return


def _rebinds(case: Case, s: ast.stmt) -> bool:
    if not (isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.value, ast.BinOp)):
        return False
    same = case.text.of(s.targets[0]) == case.text.of(s.value.left)
    return same and "grad" in ast.dump(s.value.right)


def _adjacent(block: list[ast.stmt], group: list[ast.stmt]) -> bool:
    places = [block.index(s) for s in group]
    return places == list(range(places[0], places[0] + len(places)))


def kept_gradient(case: Case) -> Iterator[Proposal]:
    """retain_grad() for a computed tensor whose gradient is read."""
    for name in read_grads(case):
        tensor = case.values.get(name)
        if not (isinstance(tensor, Tensor) and tensor.record is not None):
            continue
        for made in case.assignments(name, case.line)[-1:]:
            yield case.proposal(
                case.text.after(made, f"{name}.retain_grad()"),
                why=f"{name} is computed: backward() keeps the gradients of leaves alone.",
            )
    for call in case.calls("append", everywhere=True):
        tensor = case.tensor(call.args[0]) if call.args else None
        if tensor is not None and tensor.record is not None and call.lineno < case.line:
            name = case.text.of(call.args[0])
            yield case.proposal(
                case.text.before(case.text.statement(call), f"{name}.retain_grad()"),
                why=f"{name} is computed: backward() keeps the gradients of leaves alone.",
            )


def without_flag(case: Case) -> Iterator[Proposal]:
    """requires_grad=True for the tensor whose gradient, or grad_fn, is read."""
    for node in case.attributes("grad_fn"):
        yield from leaves(case, [node.value])
    for name in read_grads(case):
        tensor = case.values.get(name)
        if isinstance(tensor, Tensor) and not tensor.requires_grad:
            edit = requiring(case, name)
            if edit:
                why = f"{name} does not require grad: no gradient is kept for it."
                yield case.proposal(edit, why=why)


def leaf_again(case: Case) -> Iterator[Proposal]:
    """A name that a loop gives a computed tensor: a leaf again at the end of each turn."""
    for name in read_grads(case):
        loop = case.loop(case.statement)
        inside = [s for s in case.assignments(name) if loop and loop in case.text.around(s)]
        if not inside or not isinstance(inside[-1], ast.Assign):
            continue
        why = f"Line {inside[-1].lineno} makes {name} a computed tensor, whose .grad stays None."
        yield case.appended(inside[-1].value, ".detach().requires_grad_()", why=why)


def read_grads(case: Case) -> list[str]:
    """The names whose .grad stands on the line that raises."""
    names = [
        dotted(n.value)
        for n in case.nodes
        if isinstance(n, ast.Attribute) and n.attr in ("grad", "_grad")
    ]
    return [n for n in dict.fromkeys(names) if n]


def not_a_leaf_at_birth(case: Case) -> Iterator[Proposal]:
    """torch.randn(3, requires_grad=True) * 0.1: the leaf is the product's factor, not the name."""
    for name in read_grads(case):
        for made in case.assignments(name, case.line):
            value: Any = getattr(made, "value", None)
            if value is None or not isinstance(made, ast.Assign):
                continue
            for inner in ast.walk(value):
                if (
                    isinstance(inner, ast.Call)
                    and inner is not value
                    and keyword(inner, "requires_grad")
                    and method(inner) in CREATORS
                ):
                    edit = case.without_keyword(inner, "requires_grad")
                    end = case.text.appending(value, ".requires_grad_()")
                    if edit and end.start >= edit.end:
                        why = f"{name} is computed from a leaf, and is none itself."
                        yield case.proposal(edit, end, why=why)


def guarded(case: Case) -> Iterator[Proposal]:
    """`if w.grad is not None:` before what needs a gradient."""
    for statement in case.statements:
        names = read_grads(case)
        if not names:
            continue
        zeroes = any(method(n) in ("zero_", "detach_", "fill_") for n in ast.walk(statement))
        loop = case.loop(statement)
        each = isinstance(loop, ast.For) and names[0] in names_in(loop.target)
        if not zeroes and not each:
            continue
        if not zeroes:
            yield case.proposal(
                case.text.wrapping([statement], f"if {names[0]}.grad is not None:"),
                why="What the loss does not depend on has no gradient: its .grad is None.",
            )
            continue
        yield case.proposal(
            case.text.wrapping([statement], f"if {names[0]}.grad is not None:"),
            why="Before the first way back .grad is None: there is nothing to clear.",
        )


def reconnected(case: Case) -> Iterator[Proposal]:
    """Where a way back has run and has not reached the leaf: what cuts the graph, taken away."""
    for node in case.attributes("grad", "_grad"):
        tensor = case.tensor(node.value)
        if tensor is None or not (tensor.requires_grad and tensor.is_leaf):
            continue
        yield from recording(case)
        for call in case.backwards:
            root = roots(case, call)
            if call.lineno < case.line and root is not None:
                yield from connected(case, root)


def or_zero(case: Case) -> Iterator[Proposal]:
    """0 in the place of a gradient that is None, where gradients are combined."""
    for node in case.nodes:
        outer = case.text.parents.get(node)
        if not (isinstance(node, ast.Attribute) and node.attr == "grad"):
            continue
        tensor = case.tensor(node.value)
        if tensor is not None and tensor.grad is None and isinstance(outer, ast.BinOp):
            text = case.text.of(node)
            why = f"The output does not depend on {case.text.of(node.value)}: {text} is None."
            yield case.replaced(node, f"({text} if {text} is not None else 0)", why=why, weak=True)


def after_backward(case: Case) -> Iterator[Proposal]:
    """The line moved behind the way back that fills the gradient."""
    if case.reading.trace.backwards:
        return
    statement = case.statement
    outer = case.loop(statement)
    if outer is not None and statement in outer.body:
        statement = outer  # the whole loop, over parameters, where no way back is in it
    block = case.text.blocks.get(statement, [])
    if statement not in block or any(method(n) == "backward" for n in ast.walk(statement)):
        return
    for other in block[block.index(statement) + 1 :]:
        if any(method(n) == "backward" for n in ast.walk(other)):
            if any(method(n) in ("zero_",) for n in ast.walk(statement)):
                continue
            yield case.proposal(
                case.text.removing(statement),
                case.text.after(other, *case.text.lines_of(statement)),
                why="The gradient is read before the way back that fills it.",
            )


def before_backward(case: Case) -> Iterator[Proposal]:
    """A way back before the gradient is read: of the last number that was computed."""
    if case.reading.trace.backwards or any(method(n) == "backward" for n in case.all_nodes):
        return
    scope = case.scope
    names = [n for n, v in scope.items() if isinstance(v, Tensor) and v.record is not None]
    why = "No way back has run: backward() is what fills .grad."
    if names:
        name = names[-1]
        output = scope[name]
        end = "" if output.numel == 1 else ".sum()"
        yield case.proposal(case.text.before(case.statement, f"{name}{end}.backward()"), why=why)
    else:
        for name in read_grads(case):
            tensor = scope.get(name)
            if isinstance(tensor, Tensor) and tensor.requires_grad:
                text = f"({name} ** 2).sum().backward()"
                yield case.proposal(
                    case.text.before(case.statement, text),
                    why=why,
                    note="The loss is yours; the sum of squares stands for it.",
                    weak=True,
                )


@cures(
    r"float\(\) argument must be a string or a real number, not 'NoneType'",
    "The closure that an optimiser evaluates returns the loss.",
)
def closure_without_loss(case: Case) -> Iterator[Proposal]:
    """return loss."""
    for call in case.backwards:
        root, last = roots(case, call), case.text.statement(call)
        function = next((n for n in case.text.around(call) if isinstance(n, ast.FunctionDef)), None)
        if function is not None and root is not None and function.body[-1] is last:
            yield case.proposal(case.text.after(last, f"return {case.text.of(root)}"))


@cures(
    r"'Tensor' object has no attribute 'zero_grad'",
    "A tensor has no zero_grad(): modules and optimisers have.",
)
def tensor_zero_grad(case: Case) -> Iterator[Proposal]:
    """x.grad = None."""
    for node in case.calls("zero_grad"):
        if isinstance(node.func, ast.Attribute):
            for name, value in case.values.items():
                if isinstance(value, Instance) and "param_groups" in value.fields:
                    yield case.replaced(node.func.value, name)
            new = f"{case.text.of(node.func.value)}.grad = None"
            yield case.replaced(node, new)
