"""Corrections for a .grad that is None."""

import ast
import re
from collections.abc import Iterator

from ....snippets.python.values import Instance
from .case import Case, Proposal, is_computed
from .cuts import cuts_replaced, without_no_grad
from .in_place import NO_GRAD
from .nodes import (
    calls_in,
    dotted,
    method,
    names_in,
    owner,
    target_of,
    targets,
    value_of,
    within,
)
from .optimisers import leaf_at_end
from .requiring import CREATORS, flag_too_late, leaves, requiring
from .text import Edit

FILLS = "backward() returns None: it fills .grad of the leaves."


def no_gradient(case: Case) -> Iterator[Proposal]:
    """All corrections for a .grad that is None, in the order in which they are tried."""
    yield from uncalled(case)
    yield from changed_itself(case)
    yield from of_backward(case)
    yield from begun_with_none(case)
    yield from nothing_returned(case)
    yield from absent_state(case)
    yield from rebound(case)
    yield from not_a_leaf_at_birth(case)
    yield from kept_gradient(case)
    yield from flag_too_late(case, [r for c in case.backwards if (r := case.root(c)) is not None])
    yield from without_flag(case)
    yield from leaf_again(case)
    yield from after_backward(case)
    yield from cleared_too_early(case)
    yield from reconnected(case)
    yield from guarded(case)
    yield from without_part(case)
    yield from before_backward(case)


def uncalled(case: Case) -> Iterator[Proposal]:
    """Write loss.backward() for loss.backward."""
    for statement in case.of_type(ast.Expr, everywhere=True):
        named = statement.value
        if isinstance(named, ast.Attribute) and named.attr == "backward":
            why = "Without () this is the method itself: no backward pass ran."
            yield case.appended(named, "()", why=why)


def read_grads(case: Case) -> list[str]:
    """The names whose .grad is read on the line that raises."""
    names = [dotted(n.value) for n in case.attributes("grad", "_grad")]
    return [n for n in dict.fromkeys(names) if n]


# ---- methods that return None --------------------------------------------------------------------


def of_backward(case: Case) -> Iterator[Proposal]:
    """Make backward(), which returns None, a separate statement."""
    leaf = next(iter(case.leaves), "")
    for node in case.attributes():
        if method(node.value) != "backward":
            continue
        if node.attr == "grad" and leaf:
            yield case.proposal(
                case.before(case.statement, case.of(node.value)),
                case.replacing(node, f"{leaf}.grad"),
                why=FILLS,
            )
        outer = case.parents.get(node)
        end = case.end(outer if isinstance(outer, ast.Call) else node)
        yield case.proposal(Edit(case.end(node.value), end, ""), why=FILLS)
    used = case.of_type(ast.Attribute, ast.BinOp, ast.Subscript, ast.UnaryOp)
    for name in [n.id for part in used for n in within(part, ast.Name)] if leaf else ():
        for built in reversed(case.makers(name)):
            if method(built.value) == "backward":
                uses = [case.replacing(n, f"{leaf}.grad") for n in case.reads_of(name)]
                why = f"Line {built.lineno}: backward() returns None: it fills .grad."
                cut = Edit(case.start(built), case.start(built.value), "")
                yield case.proposal(cut, *uses, why=why)


NOTHING = (
    *("append", "extend", "insert", "sort", "reverse", "update", "add", "backward", "clear"),
    *("load_state_dict", "zero_grad", "step"),
)


def changed_itself(case: Case) -> Iterator[Proposal]:
    """Write xs.append(x) for xs = xs.append(x), because the method returns None. Likewise, write
    net = Net() and net.load_state_dict(s) for net = Net().load_state_dict(s).
    """
    for built in case.of_type(ast.Assign, everywhere=True):
        held = owner(built.value)
        if method(built.value) not in NOTHING or len(built.targets) != 1 or held is None:
            continue
        name = case.of(built.targets[0])
        if case.of(held) == name:
            why = f"{method(built.value)}() does not return {name}: it changes {name} itself."
            yield case.proposal(Edit(case.start(built), case.start(built.value), ""), why=why)
        elif isinstance(held, ast.Call) and method(built.value) == "load_state_dict":
            why = "load_state_dict() does not return the module: it changes it."
            rest = Edit(case.end(held), case.end(built), "")
            called = f"{name}{case.source[rest.start : rest.end]}"
            yield case.proposal(rest, case.after(built, called), why=why)


def begun_with_none(case: Case) -> Iterator[Proposal]:
    """Write total = 0 for total = None, if the line that raises adds to total. Write it also for
    total = [], if backward() is called on total.
    """
    added = [dotted(s.target) for s in case.of_type(ast.AugAssign)]
    added += [n for s in case.of_type(ast.Assign) for n in targets(s) if n in names_in(s.value)]
    for name in [n for n in added if n]:
        for built in case.makers(name)[-1:]:
            none = isinstance(built.value, ast.Constant) and built.value.value is None
            empty = isinstance(built.value, ast.List) and not built.value.elts
            if none or (empty and any(dotted(case.root(c)) == name for c in case.backwards)):
                yield case.replaced(built.value, "0", why="A sum starts with 0.")


def nothing_returned(case: Case) -> Iterator[Proposal]:
    """Return the last computed value from a function without a return."""
    called = {method(n) for n in case.calls(everywhere=True)} | {"forward"}
    for function in case.of_type(ast.FunctionDef, everywhere=True):
        if function.name == "__init__" or function.name not in called:
            continue
        last = function.body[-1]
        names = targets(last)
        if within(function, ast.Return, ast.Yield):
            continue
        for call in calls_in(function, "backward"):
            loss = dotted(owner(call))
            if loss and not names and not summed(function):
                why = f"{function.name} has no return statement: it returns None."
                asked = "object has no attribute" in case.message  # of the tensor itself
                given = loss if asked else f"{loss}.item()"
                yield case.proposal(case.after(last, f"return {given}"), why=why)
        computed = value_of(last) if isinstance(last, ast.Expr) else None
        if isinstance(computed, ast.Call) and function.name == "forward":
            why = f"{function.name} has no return statement: it returns None."
            yield case.proposal(case.inserting(last, "return "), why=why)
        for name in names[:1] if names else summed(function):
            why = f"{function.name} has no return statement: it returns None."
            yield case.proposal(case.after(last, f"return {name}"), why=why)


def summed(function: ast.FunctionDef) -> list[str]:
    """The last name that is assigned before a function's final loop and changed in it, as a list;
    [] if there is none, or if the function does not end with a loop.
    """
    *before, last = function.body
    if not isinstance(last, ast.For | ast.While):
        return []
    begun = [n for s in before for n in targets(s)]
    changed = [n for s in within(last, ast.Assign) for n in targets(s)]
    changed += [dotted(s.target) for s in within(last, ast.AugAssign)]
    changed += [dotted(owner(c)) for c in calls_in(last, "append")]
    return [n for n in begun if n and n in changed][-1:]


# ---- names that no longer refer to leaves --------------------------------------------------------


CLEARED = r"zero_|zero_grad|\.grad *= *None"


def rebound(case: Case) -> Iterator[Proposal]:
    """Update a leaf in place under no_grad, because w = w - lr * w.grad binds w to a new, non-leaf
    tensor.
    """
    for node in case.of_type(ast.Assign, everywhere=True):
        name = case.of(node.targets[0])
        if not _rebinds(case, node) or f"{name}.grad" not in case.of(node.value.right):  # type: ignore[attr-defined]
            continue
        block = case.blocks[node]
        group = [s for s in block if isinstance(s, ast.Assign) and _rebinds(case, s)]
        why = (
            f"Line {node.lineno} makes {name} a new, computed tensor: the leaf is lost, and the "
            f".grad of the new tensor stays None."
        )
        loop = case.loop(node)
        if loop is not None and case.goes_back(loop) and not re.search(CLEARED, case.source):
            edits = [case.appending(s.value, ".detach().requires_grad_()") for s in group]
            yield case.proposal(*edits, why=why, note="Each iteration has its own leaves.")
        if any(
            (isinstance(a, ast.With) and method(a.items[0].context_expr) == "no_grad")
            for a in case.around(node)
        ):
            edits = [case.replacing(s, _in_place(case, s)) for s in group]
            yield case.proposal(*edits, why=why)
        elif all(case.alone(s) for s in group) and _adjacent(block, group):
            start, end = case.span(group)
            indent = case.indent(group[0])
            lines = [f"{indent}{NO_GRAD}", *[f"{indent}    {_in_place(case, s)}" for s in group]]
            close = "\n" if case.source[start:end].endswith("\n") else ""
            yield case.proposal(Edit(start, end, "\n".join(lines) + close), why=why)
        else:
            edits = [case.replacing(s, _in_place(case, s, ".data")) for s in group]
            yield case.proposal(*edits, why=why)
        return


def _rebinds(case: Case, s: ast.Assign) -> bool:
    """Whether a statement is w = w - d, where d depends on a gradient."""
    if len(s.targets) != 1 or not isinstance(s.value, ast.BinOp):
        return False
    same = case.of(s.targets[0]) == case.of(s.value.left)
    return same and isinstance(s.value.op, ast.Sub | ast.Add) and "grad" in ast.dump(s.value.right)


def _in_place(case: Case, s: ast.Assign, end: str = "") -> str:
    """Write w = w - d as w -= d."""
    assert isinstance(s.value, ast.BinOp)
    sign = "+=" if isinstance(s.value.op, ast.Add) else "-="
    return f"{case.of(s.targets[0])}{end} {sign} {case.of(s.value.right)}"


def _adjacent(block: list[ast.stmt], group: list[ast.Assign]) -> bool:
    places = [block.index(s) for s in group]
    return places == list(range(places[0], places[0] + len(places)))


def absent_state(case: Case) -> Iterator[Proposal]:
    """Write `if h is None: h = torch.zeros_like(x)` for an argument that is None by default."""
    function = case.function_of(case.statement)
    if function is None:
        return
    names = [a.arg for a in function.args.args]
    begun = names[len(names) - len(function.args.defaults) :]
    tensors = [n for n in names if case.tensor_of(n) is not None]
    absent = [n for n in begun if n in case.failure.names and case.failure.names[n] is None]
    read = {n.id for n in case.of_type(ast.Name)}
    for name in [n for n in absent if n in read and tensors]:
        line = f"if {name} is None: {name} = torch.zeros_like({tensors[0]})"
        why = f"{name} is None by default: the state starts with 0."
        yield case.proposal(case.before(function.body[0], line), why=why)


def kept_gradient(case: Case) -> Iterator[Proposal]:
    """Call retain_grad() for a computed tensor whose gradient is read."""
    for name in read_grads(case):
        for built in case.assignments(name, case.line)[-1:]:
            if is_computed(case.values.get(name)):
                yield _retained(case, case.after(built, f"{name}.retain_grad()"), name)
    parts = [n.value for n in case.attributes("grad") if isinstance(n.value, ast.Subscript)]
    holders = [dotted(part.value) for part in parts]
    for stored in case.of_type(ast.Assign, everywhere=True):
        place, name = target_of(stored, ast.Subscript), dotted(stored.value)
        if place is not None and name and dotted(place.value) in holders:
            yield _retained(case, case.after(stored, f"{name}.retain_grad()"), name)
    for call in case.calls("append", everywhere=True):
        if call.args and is_computed(case.tensor(call.args[0])) and call.lineno < case.line:
            name = case.of(call.args[0])
            edit = case.before(case.statement_of(call), f"{name}.retain_grad()")
            yield _retained(case, edit, name)


def _retained(case: Case, edit: Edit, name: str) -> Proposal:
    why = f"{name} is computed: backward() keeps the gradients of leaves only."
    return case.proposal(edit, why=why)


def without_flag(case: Case) -> Iterator[Proposal]:
    """Set requires_grad=True for the tensor whose gradient, or grad_fn, is read."""
    for node in case.attributes("grad_fn"):
        yield from leaves(case, [node.value])
    for name in read_grads(case):
        tensor = case.tensor_of(name)
        if tensor is not None and not tensor.requires_grad:
            why = f"{name} does not require grad: no gradient is kept for it."
            yield from case.change(requiring(case, name), why=why)


def leaf_again(case: Case) -> Iterator[Proposal]:
    """Make a computed tensor a leaf again at the end of each iteration of a loop."""
    loop = case.loop(case.statement)
    for name in read_grads(case):
        inside = [s for s in case.assignments(name) if loop and loop in case.around(s)]
        last = inside[-1] if inside else None
        if isinstance(last, ast.Assign):
            why = f"Line {last.lineno} makes {name} a computed tensor, whose .grad stays None."
            yield case.appended(last.value, ".detach().requires_grad_()", why=why)


def not_a_leaf_at_birth(case: Case) -> Iterator[Proposal]:
    """Make the value of torch.randn(3, requires_grad=True) * 0.1 a leaf. As written, randn(...) is
    the leaf, and the product is not.
    """
    for name in read_grads(case):
        for built in reversed(case.makers(name)):
            why = f"{name} is computed from a leaf, and is not a leaf itself."
            if calls_in(built.value, *CREATORS):
                yield from leaf_at_end(case, built, why=why)


# ---- before and after the backward pass ----------------------------------------------------------


def guarded(case: Case) -> Iterator[Proposal]:
    """Write `if w.grad is not None:` before statements that use a gradient."""
    for part in case.of_type(ast.comprehension):
        for name in read_grads(case)[:1]:
            if name in names_in(part.target):
                why = "If the loss does not depend on a leaf, its .grad is None."
                yield case.proposal(case.adding(part.iter, f" if {name}.grad is not None"), why=why)
    for name in read_grads(case)[:1]:
        for statement in case.statements:
            loop = case.loop(statement)
            if calls_in(statement, "zero_", "detach_", "fill_"):
                why = "Before the first backward pass .grad is None: there is no gradient to clear."
            elif isinstance(loop, ast.For) and name in names_in(loop.target):
                why = "If the loss does not depend on a leaf, its .grad is None."
            else:
                continue
            yield case.proposal(case.wrapping([statement], f"if {name}.grad is not None:"), why=why)


def without_part(case: Case) -> Iterator[Proposal]:
    """Write `if layer.bias is not None:` before statements that use an optional attribute."""
    for node in case.attributes("data") if isinstance(case.statement, ast.Expr) else ():
        part = node.value
        if isinstance(part, ast.Attribute) and part.attr in ("bias", "weight"):
            why = f"Some layers have no {part.attr}: it is None."
            header = f"if {case.of(part)} is not None:"
            yield case.proposal(case.wrapping([case.statement], header), why=why)


def reconnected(case: Case) -> Iterator[Proposal]:
    """Remove the operation that cuts the graph, if a backward pass did not reach the leaf."""
    for node in case.attributes("grad", "_grad"):
        tensor = case.tensor(node.value)
        if tensor is None or not (tensor.requires_grad and tensor.is_leaf):
            continue
        yield from without_no_grad(case)
        for call in case.backwards:
            root = case.root(call)
            if call.lineno < case.line and root is not None:
                yield from cuts_replaced(case, root)


def after_backward(case: Case) -> Iterator[Proposal]:
    """Move the line that reads the gradient to after the backward pass that computes it."""
    if case.reading.trace.backwards:
        return
    statement: ast.stmt = case.statement
    outer = case.loop(statement)
    if outer is not None and statement in outer.body and not case.goes_back(outer):
        statement = outer  # the whole loop over parameters
    if case.goes_back(statement) or calls_in(statement, "zero_"):
        return
    later = case.block_after(statement)
    for place, other in enumerate(later):
        read = [n for s in later[:place] for n in names_in(s)]
        if case.goes_back(other) and set(targets(statement)) & set(read):
            yield case.proposal(
                case.removing(other),
                case.before(statement, *case.lines_of(other)),
                why="The gradient is read before the backward pass that fills it.",
            )
        elif case.goes_back(other):
            yield case.proposal(
                case.removing(statement),
                case.after(other, *case.lines_of(statement)),
                why="The gradient is read before the backward pass that fills it.",
            )


def cleared_too_early(case: Case) -> Iterator[Proposal]:
    """Move zero_grad() from after the backward pass to before it."""
    block = case.blocks.get(case.outermost_in_loop(case.statement), [])
    before = [s for s in block if s.lineno < case.line]
    for clearing in [s for s in before if isinstance(s, ast.Expr) and calls_in(s, "zero_grad")]:
        for back in [s for s in before if case.goes_back(s) and s.lineno < clearing.lineno]:
            yield case.proposal(
                case.removing(clearing),
                case.before(back, *case.lines_of(clearing)),
                why=f"Line {clearing.lineno} clears the gradients before they are read.",
            )


def before_backward(case: Case) -> Iterator[Proposal]:
    """Add a backward pass of the last computed tensor, or its sum, before the gradient is read."""
    if case.reading.trace.backwards or case.calls("backward", everywhere=True):
        return
    why = "No backward pass has run: backward() fills .grad."
    computed = [n for n, v in case.scope.items() if is_computed(v)]
    for name in computed[-1:]:
        end = "" if case.scope[name].numel == 1 else ".sum()"
        yield case.proposal(case.before(case.statement, f"{name}{end}.backward()"), why=why)


def closure_without_loss(case: Case) -> Iterator[Proposal]:
    """Return the loss from a closure."""
    for call in case.backwards:
        root, last = case.root(call), case.statement_of(call)
        function = case.function_of(call)
        if function is not None and root is not None and function.body[-1] is last:
            yield case.proposal(case.after(last, f"return {case.of(root)}"))


def best_so_far(case: Case) -> Iterator[Proposal]:
    """Write best = float("inf") for best = None before loss < best; -inf before score > best."""
    for node in case.of_type(ast.Compare):
        lower = isinstance(node.ops[0], ast.Lt | ast.LtE)
        bounds = ("-inf", "inf") if lower else ("inf", "-inf")
        for best, bound in zip((node.left, node.comparators[0]), bounds):
            for begun in case.makers(best):
                if isinstance(begun.value, ast.Constant) and begun.value.value is None:
                    yield case.replaced(begun.value, f'float("{bound}")')


def tensor_zero_grad(case: Case) -> Iterator[Proposal]:
    """Write x.grad = None for x.zero_grad(), or replace x by an optimizer in scope."""
    for call in case.methods("zero_grad"):
        for name, value in case.values.items():
            if isinstance(value, Instance) and "param_groups" in value.fields:
                yield case.replaced(owner(call), name)
        yield case.replaced(call, f"{case.of(owner(call))}.grad = None")
