"""Cures of leaves, flags and gradients that are None, and of optimisers."""

import ast
from collections.abc import Iterator
from typing import Any

from ....snippets.eager.tensor import Tensor
from ....snippets.python.values import Instance
from .case import Case, Proposal, cures, names_in
from .cuts import CREATORS, connected, leaves, requiring, unfrozen
from .in_place import NO_GRAD, is_update
from .seeds import roots
from .text import Edit, dotted, keyword, method

NO_GRADIENT_YET = (
    "No gradient is there: either no way back has run yet, or the name is now that of a computed "
    "tensor, whose .grad stays None."
)


# ---- .grad that is None --------------------------------------------------------------------------


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
        leaf = next(iter(grad_names(case)), "")
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
    for node in case.of_type(ast.Attribute, ast.BinOp, ast.Subscript, ast.UnaryOp):
        for name in [n for n in ast.walk(node) if isinstance(n, ast.Name)]:
            for s in case.assignments(name.id, case.line):
                value: Any = getattr(s, "value", None)
                if method(value) == "backward" and isinstance(s, ast.Assign):
                    why = f"Line {s.lineno}: backward() gives nothing: it fills .grad."
                    start = case.text.start(s)
                    leaf = next(iter(grad_names(case)), "")
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


def grad_names(case: Case) -> list[str]:
    """Names of leaves that require grad."""
    scope = case.scope
    return [n for n, v in scope.items() if isinstance(v, Tensor) and v.requires_grad and v.is_leaf]


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
    for name in read_grads(case):
        tensor = case.values.get(name)
        if not (isinstance(tensor, Tensor) and tensor.requires_grad and tensor.is_leaf):
            continue
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


# ---- flags ---------------------------------------------------------------------------------------

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


@cures(
    "you can only change requires_grad flags of leaf variables",
    "What is computed requires grad because its inputs do; only a leaf has a flag of its own.",
)
def flag_of_computed(case: Case) -> Iterator[Proposal]:
    """retain_grad() for what should have a gradient; detach() for what should have none."""
    for statement in case.statements:
        target = value = None
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
            target, value = statement.targets[0].value, getattr(statement.value, "value", None)
        for node in ast.walk(statement):
            if (
                method(node) == "requires_grad_"
                and isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
            ):
                target = node.func.value
                value = getattr(node.args[0], "value", True) if node.args else True
        if target is None:
            continue
        text = case.text.of(target)
        if value:
            if case.loop(statement):
                for made in case.assignments(text, case.line)[-1:]:
                    if isinstance(made, ast.Assign):
                        note = "A new leaf in each turn: the graph of the turn before is let go."
                        yield case.appended(made.value, ".detach()", note=note)
            note = "It requires grad already; retain_grad() keeps its gradient."
            yield case.replaced(statement, f"{text}.retain_grad()", note=note)
            new = f"{text} = {text}.detach().requires_grad_()"
            yield case.replaced(statement, new)
            for made in reversed(case.assignments(text, case.line)):
                if isinstance(made, ast.Assign):
                    yield case.appended(made.value, ".detach()")
        else:
            note = "The same numbers without the graph."
            new = f"{text} = {text}.detach()"
            yield case.replaced(statement, new, note=note)


@cures(
    r"requires_grad must be a bool|.*'requires_grad'.* must be bool, not",
    "1 and 'True' are no booleans.",
)
def flag_no_bool(case: Case) -> Iterator[Proposal]:
    """True or False."""
    for node in case.nodes:
        flag = isinstance(node, ast.keyword) and node.arg == "requires_grad"
        value = node.value if flag else node
        if isinstance(value, ast.Constant) and not isinstance(value.value, bool):
            yield case.replaced(value, str(bool(value.value)))


@cures(
    r"can't retain_grad on Tensor that has requires_grad=False|"
    r"cannot register a hook on a tensor that doesn't require gradient",
    "It requires no gradient: none arrives that could be kept or seen.",
)
def no_flag(case: Case) -> Iterator[Proposal]:
    """requires_grad=True where it is made, or where what it comes from is."""
    from .cuts import recording

    for node in case.nodes:
        names: list[str] = []
        if isinstance(node, ast.Call):
            if method(node) in ("retain_grad", "register_hook") and isinstance(
                node.func, ast.Attribute
            ):
                names = [dotted(node.func.value)]
            named = keyword(node, "inputs")
            names += [dotted(n) for n in ast.walk(named.value)] if named else []
        for name in [n for n in names if n]:
            tensor = case.values.get(name)
            edit = requiring(case, name) if isinstance(tensor, Tensor) else None
            sliced = case.slice_of(ast.Name(name, ast.Load()), case.line)
            if len(sliced) <= 1 and edit:
                yield case.proposal(edit)
            yield from recording(case)
            yield from leaves(case, [ast.Name(name, ast.Load())])
            if edit:
                yield case.proposal(edit)


@cures(
    "post accumulate grad hooks cannot be registered on non-leaf tensors",
    "Gradients accumulate in leaves alone.",
)
def hook_of_computed(case: Case) -> Iterator[Proposal]:
    """register_hook."""
    for node in case.attributes("register_post_accumulate_grad_hook"):
        yield case.renamed_to(node, "register_hook")


# ---- conversions ---------------------------------------------------------------------------------


@cures(
    r"Can't call (numpy|apply_|map_|map2_)\(\) on (Tensor|Variable) that requires grad",
    "NumPy and Python functions record nothing: the way back would end there unseen.",
)
def to_numpy(case: Case) -> Iterator[Proposal]:
    """.detach() before it; torch's function where the gradient goes on."""
    for node in case.calls():
        if method(node) in ("numpy", "apply_", "map_") and isinstance(node.func, ast.Attribute):
            yield case.proposal(case.before_attribute(node.func, ".detach()"))
        module = dotted(node.func).split(".")[0]
        if module in ("np", "numpy", "math", "plt") and node.args:
            if _goes_on(case):
                name = method(node)
                new = {"arctan": "atan", "power": "pow", "absolute": "abs"}.get(name, name)
                yield case.replaced(node.func, f"torch.{new}")
            edits = [
                case.text.appending(a, ".detach()")
                for a in node.args
                if (t := case.tensor(a)) is None or t.requires_grad
                if not isinstance(a, ast.Constant)
            ]
            yield case.proposal(*edits)
            yield from (case.proposal(e) for e in edits)
        elif node.args:
            for a in node.args:
                tensor = case.tensor(a)
                if tensor is not None and tensor.requires_grad:
                    yield case.appended(a, ".detach()")


def _goes_on(case: Case) -> bool:
    """Whether a way back comes after the line that raises."""
    return any(c.lineno > case.line for c in case.backwards)


@cures(
    "Only Tensors created explicitly by the user",
    "A copy of a computed tensor would have to copy its graph.",
)
def deep_copied(case: Case) -> Iterator[Proposal]:
    """.detach().clone()."""
    for node in case.calls("deepcopy"):
        (argument, *_) = node.args
        text, held = case.text.operand(argument), case.value(argument)
        if isinstance(held, dict):
            copies = f"{{k: v.detach().clone() for k, v in {text}.items()}}"
        elif isinstance(held, list | tuple):
            copies = f"[v.detach().clone() for v in {text}]"
        else:
            copies = f"{text}.detach().clone()"
        yield case.replaced(node, copies)
    for node in case.of_type(ast.Assign, everywhere=True):
        if (
            isinstance(node.targets[0], ast.Attribute)
            and dotted(node.targets[0]).startswith("self.")
            and node.lineno != case.line
        ):
            yield case.appended(node.value, ".detach()")


# ---- optimisers and parameters -------------------------------------------------------------------


@cures(r"'(\w+)' object is not iterable", "An optimiser takes the parameters of a module.")
def optimised_module(case: Case) -> Iterator[Proposal]:
    """model.parameters()."""
    for call in case.calls(*OPTIMISERS):
        if call.args and isinstance(call.args[0], ast.Attribute):
            yield case.appended(call.args[0], "()", why="parameters is a method: it is called.")
        if call.args and isinstance(case.value(call.args[0]), Instance):
            yield case.appended(call.args[0], ".parameters()")
        for k in call.keywords:
            if k.arg == "params" and isinstance(case.value(k.value), Instance):
                yield case.appended(k.value, ".parameters()")


@cures("can't optimize a non-leaf Tensor", "An optimiser changes leaves; this one is computed.")
def optimised_non_leaf(case: Case) -> Iterator[Proposal]:
    """The leaf that it is computed from, or a leaf in its place."""
    for call in case.calls(*OPTIMISERS):
        listed = call.args[0] if call.args else None
        items = listed.elts if isinstance(listed, ast.List | ast.Tuple) else []
        for item in items:
            name = dotted(item)
            for made in reversed(case.assignments(name, case.line)) if name else ():
                if isinstance(made, ast.Assign):
                    yield from _leaf_again(case, made)
                    end = ".detach().requires_grad_()"
                    yield case.appended(made.value, end)
            if not name:
                for n in ast.walk(item):
                    if isinstance(n, ast.Name) and (t := case.tensor(n)) is not None and t.is_leaf:
                        yield case.replaced(item, n.id)
    for n in case.of_type(ast.Assign, everywhere=True):
        yield from _leaf_again(case, n)


def _leaf_again(case: Case, made: ast.Assign) -> Iterator[Proposal]:
    """f(torch.randn(3, requires_grad=True)) as f(torch.randn(3)).requires_grad_()."""
    for inner in ast.walk(made.value):
        if isinstance(inner, ast.Call) and keyword(inner, "requires_grad"):
            edit = case.without_keyword(inner, "requires_grad")
            end = case.text.appending(made.value, ".requires_grad_()")
            if edit and inner is not made.value and end.start >= edit.end:
                yield case.proposal(edit, end)
            elif edit and inner is not made.value:
                inside = case.text.of(made.value)
                shift = case.text.start(made.value)
                cut = inside[: edit.start - shift] + inside[edit.end - shift :]
                new = f"({cut}).requires_grad_()"
                yield case.replaced(made.value, new)


OPTIMISERS = (
    *("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax"),
    *("NAdam", "RAdam", "ASGD", "Rprop", "LBFGS", "SparseAdam"),
)


@cures(
    r"params argument given to the optimizer should be an iterable of Tensors",
    "An optimiser takes a list of tensors, even of one.",
)
def one_parameter(case: Case) -> Iterator[Proposal]:
    """[w]."""
    for call in case.calls(*OPTIMISERS):
        if call.args:
            text = case.text.of(call.args[0])
            yield case.replaced(call.args[0], f"[{text}]")


@cures(
    r"optimizer can only optimize Tensors, but one of the params is (\w+)|"
    r"optimizer got an empty parameter list|some parameters appear in more than one",
    "An optimiser needs the parameters themselves, each once.",
)
def wrong_parameters(case: Case) -> Iterator[Proposal]:
    """Lists of layers registered; numbers as tensors; each parameter once."""
    if "empty" in case.failure.message:
        yield from unfrozen(case)
    yield from registered(case)
    for call in case.calls(*OPTIMISERS):
        listed = call.args[0] if call.args else None
        if isinstance(listed, ast.List | ast.Tuple):
            names = [n for n in grad_names(case) if n]
            if isinstance(listed, ast.List) and not listed.elts and names:
                yield case.replaced(listed, f"[{', '.join(names)}]")
            edits = [
                case.text.replacing(e, f"torch.tensor({float(e.value)}, requires_grad=True)")
                for e in listed.elts
                if isinstance(e, ast.Constant) and isinstance(e.value, int | float)
            ]
            if edits:
                yield case.proposal(*edits)
            for e in listed.elts:
                if isinstance(e, ast.Name) and isinstance(case.value(e), int | float):
                    for made in reversed(case.assignments(e.id, case.line)):
                        if isinstance(made, ast.Assign):
                            number = f"float({case.text.of(made.value)})"
                            new = f"torch.tensor({number}, requires_grad=True)"
                            yield case.replaced(made.value, new)
                if method(e) == "parameters":
                    edit = case.text.replacing(e, f"*{case.text.of(e)}")
                    yield case.proposal(edit)
            unique = dict.fromkeys(case.text.of(e) for e in listed.elts)
            if len(unique) < len(listed.elts):
                yield case.replaced(listed, f"[{', '.join(unique)}]")
            if not listed.elts:
                new = "[torch.zeros(1, requires_grad=True)]"
                yield case.replaced(listed, new, weak=True)
        if isinstance(listed, ast.Name):
            for made in reversed(case.assignments(listed.id, case.line)):
                if isinstance(made, ast.Assign) and method(made.value) in ("parameters", "filter"):
                    new = f"list({case.text.of(made.value)})"
                    yield case.replaced(
                        made.value,
                        new,
                        why="parameters() can be gone through once; it was used up before.",
                    )


def registered(case: Case) -> Iterator[Proposal]:
    """self.layers = [nn.Linear(...)] as nn.ModuleList, self.w = torch.randn as nn.Parameter."""
    edits = []
    for node in case.of_type(ast.Assign, everywhere=True):
        if not (dotted(node.targets[0]).startswith("self.")):
            continue
        value = node.value
        layers = [n for n in ast.walk(value) if "nn." in dotted(getattr(n, "func", None))]
        if isinstance(value, ast.List | ast.ListComp) and layers:
            prefix = dotted(layers[0].func).rpartition(".")[0]  # type: ignore[attr-defined]
            new = f"{prefix}.ModuleList({case.text.of(value)})"
            edits.append(case.text.replacing(value, new))
        elif isinstance(value, ast.Dict) and layers:
            prefix = dotted(layers[0].func).rpartition(".")[0]  # type: ignore[attr-defined]
            new = f"{prefix}.ModuleDict({case.text.of(value)})"
            edits.append(case.text.replacing(value, new))
        elif (
            isinstance(value, ast.Call)
            and method(value) in CREATORS
            and dotted(value.func).startswith("torch.")
        ):
            edit = case.without_keyword(value, "requires_grad")
            inner = case.text.of(value)
            if edit:
                at = case.text.start(value)
                inner = inner[: edit.start - at] + inner[edit.end - at :]
            new = f"torch.nn.Parameter({inner})"
            edits.append(case.text.replacing(value, new))
    why = "A module knows the parameters and modules that are its attributes, not those in a list."
    if edits:
        yield case.proposal(*edits, why=why)


@cures(
    r"cannot assign '(.+?)' as parameter '(\w+)'",
    "The attribute is a parameter: what is computed cannot take its place.",
)
def assigned_parameter(case: Case) -> Iterator[Proposal]:
    """copy_ without recording."""
    for statement in case.statements:
        if isinstance(statement, ast.Assign):
            left, right = case.text.of(statement.targets[0]), case.text.of(statement.value)
            edit = case.text.wrapping([statement], NO_GRAD)
            new = edit.text.replace(case.text.of(statement), f"{left}.copy_({right})")
            yield case.proposal(
                edit._replace(text=new), note="The parameter stays, with new numbers."
            )
            yield case.replaced(statement.value, f"torch.nn.Parameter({right})")
        elif isinstance(statement, ast.AugAssign):
            yield case.proposal(case.text.wrapping([statement], NO_GRAD))


@cures(
    r"attempting to assign a gradient of size|attempting to assign a gradient with dtype|"
    r"can't assign Variable as its own grad|assigned grad expected to be a Tensor or None",
    "A gradient is another tensor, of the shape and dtype of what it belongs to.",
)
def assigned_gradient(case: Case) -> Iterator[Proposal]:
    """Fitted to the tensor."""
    for statement in case.statements:
        if not (
            isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute)
        ):
            continue
        owner = case.text.of(statement.targets[0].value)
        value = statement.value
        if isinstance(value, ast.Constant):
            text = case.text.of(value)
            new = f"torch.full_like({owner}, {text})" if value.value else "None"
            yield case.replaced(value, new)
        for end in (
            f".to({owner}.dtype)",
            f".expand_as({owner}).clone()",
            f".view_as({owner})",
            ".detach().clone()",
        ):
            yield case.appended(value, end)
        yield case.replaced(value, f"torch.ones_like({owner})", weak=True)


@cures(
    "data set to a tensor that requires gradients must be floating point",
    INTEGERS,
)
def integer_data(case: Case) -> Iterator[Proposal]:
    """.float()."""
    for statement in case.statements:
        if isinstance(statement, ast.Assign):
            yield from floating_creation(case, list(ast.walk(statement.value)))
            yield case.appended(statement.value, ".float()")


@cures(
    "attribute 'grad_fn' of 'torch._C.TensorBase' objects is not writable",
    "grad_fn says how a tensor was computed; detach() gives one without.",
)
def grad_fn_written(case: Case) -> Iterator[Proposal]:
    """detach()."""
    for statement in case.statements:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
            owner = case.text.of(statement.targets[0].value)
            yield case.replaced(statement, f"{owner} = {owner}.detach()")


@cures(
    r"'(float|Tensor|int)' object is not callable",
    "An optimiser's step() takes a function that computes the loss, or nothing.",
)
def step_with_number(case: Case) -> Iterator[Proposal]:
    """step()."""
    for call in case.calls("step"):
        if call.args:
            yield case.replaced(call.args[0], "")


@cures(
    r"LBFGS.step\(\) missing 1 required positional argument: 'closure'|"
    r"step\(\) missing 1 required positional argument: 'closure'",
    "LBFGS evaluates the loss several times a step: it needs a function for that.",
)
def closure(case: Case) -> Iterator[Proposal]:
    """The backward as a closure."""
    for call in case.calls("step"):
        statement = case.text.statement(call)
        block = case.text.blocks[statement]
        place = block.index(statement)
        optimiser = case.text.of(call.func)
        backs = [s for s in block[:place] if any(method(n) == "backward" for n in ast.walk(s))]
        loss = ""
        moved: list[ast.stmt] = []
        if backs:
            start = backs[-1]
            back = next(n for n in ast.walk(start) if method(n) == "backward")
            assert isinstance(back, ast.Call)
            assert isinstance(back.func, ast.Attribute)
            loss = case.text.of(back.func.value)
            sliced = [s for s in case.slice_of(back.func.value, start.lineno) if s in block]
            first = min((block.index(s) for s in sliced if _tensor_made(case, s)), default=place)
            moved = block[min(first, block.index(start)) : place]
        body = [line for s in moved for line in case.text.lines_of(s)]
        name = optimiser.rpartition(".")[0]
        if body and not any("zero_grad" in b for b in body):
            body.insert(0, f"{name}.zero_grad()")
        if not body:
            leaf = next(iter(grad_names(case)), "")
            if not leaf:
                return
            body = [f"{name}.zero_grad()", f"loss = ({leaf} ** 2).sum()", "loss.backward()"]
            loss = "loss"
        lines = ["def closure():", *[f"    {b}" for b in body], f"    return {loss}"]
        edits = [case.text.removing(s) for s in moved]
        step = case.with_argument(call, "closure")
        yield case.proposal(*edits, case.text.before(statement, *lines), step)


def _tensor_made(case: Case, statement: ast.stmt) -> bool:
    return any(
        a.line == statement.lineno and a.tensor.record is not None
        for a in case.reading.trace.assignments
    )


@cures(
    r"Adam does not support sparse gradients|SparseAdam does not support dense gradients",
    "Sparse and dense gradients need optimisers of their own.",
)
def sparse(case: Case) -> Iterator[Proposal]:
    """The other optimiser."""
    for node in case.all_nodes:
        if isinstance(node, ast.Attribute) and node.attr in ("Adam", "SparseAdam"):
            new = "SparseAdam" if node.attr == "Adam" else "Adam"
            yield case.renamed_to(node, new)
        if isinstance(node, ast.Call) and keyword(node, "sparse"):
            edit = case.without_keyword(node, "sparse")
            if edit:
                yield case.proposal(edit)


@cures(
    r"The total norm of order .* for gradients from `parameters` is non-finite",
    "A gradient is nan or infinite: no factor makes its norm 1.",
)
def non_finite(case: Case) -> Iterator[Proposal]:
    """The check left out."""
    for call in case.calls("clip_grad_norm_"):
        edit = case.without_keyword(call, "error_if_nonfinite")
        if edit:
            yield case.proposal(
                edit, note="The gradient stays nan; find where it becomes so.", weak=True
            )


__all__ = ["is_update"]
