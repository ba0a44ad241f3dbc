"""Corrections of the output or seed of a backward pass: not a scalar, a seed of another shape, not
a tensor.
"""

import ast
from collections.abc import Collection, Iterator
from math import prod

from ....snippets.eager.tensor import Tensor
from ....snippets.python.values import Instance
from .case import Case, Proposal
from .indexing import columns_of_rows
from .layers import RECURRENT, first_output
from .nodes import (
    calls_in,
    dotted,
    elements,
    is_operation,
    keyword,
    method,
    names_in,
    owner,
    size,
    target_of,
    value_of,
    within,
)
from .text import Edit

LOSSES = (
    *("loss", "err", "cost", "mse", "bce", "criterion", "objective", "nll", "penalty"),
    *("dice", "hinge", "huber", "elbo"),
)


def is_called_loss(text: str) -> bool:
    """Whether an expression is named like a loss."""
    return any(word in text.lower() for word in LOSSES)


def reduction(text: str) -> str:
    """`.mean()` for an expression named like a loss, otherwise `.sum()`."""
    return ".mean()" if is_called_loss(text) else ".sum()"


def reduced_elsewhere(case: Case, root: ast.expr) -> str:
    """`.sum()` or `.mean()`, if the program calls one of them on the output elsewhere; else ""."""
    names = {c: dotted(owner(c)) for c in case.methods("sum", "mean", everywhere=True)}
    plain = [c for c, name in names.items() if not (c.args or c.keywords)]
    ends = {f".{method(c)}()" for c in plain if names[c] == dotted(root) != ""}
    return ends.pop() if len(ends) == 1 else ""


def seed_of(call: ast.Call, root: ast.expr) -> ast.expr | None:
    """The seed that is passed to a call."""
    for name in ("gradient", "grad_tensors", "grad_outputs"):
        named = keyword(call, name)
        if named:
            return named.value
    place = 0 if isinstance(call.func, ast.Attribute) and call.func.value is root else 1
    place += method(call) == "grad"
    return call.args[place] if len(call.args) > place else None


def pulled(case: Case) -> Iterator[tuple[ast.Call, ast.expr, ast.expr]]:
    """The calls of the function returned by torch.func.vjp on the line that raises, each with the
    output and the cotangent.
    """
    for call in case.calls():
        for built in case.makers(call.func) if call.args else ():
            pair = target_of(built, ast.Tuple)
            if pair and method(built.value) == "vjp" and len(pair.elts) == 2:
                yield call, pair.elts[0], call.args[0]


def seeded(case: Case) -> Iterator[tuple[ast.Call, ast.expr, ast.expr]]:
    """The calls of backward or grad with a seed on the line that raises, each with the output and
    the seed.
    """
    for call, root in case.roots:
        seed = seed_of(call, root)
        if seed is not None:
            yield call, root, seed


def missing_outputs(case: Case) -> Iterator[Proposal]:
    """Pass the output: the tensor whose shape the seed copies, or the scalar computed last."""
    for call in case.calls("grad"):
        named = keyword(call, "grad_outputs")
        like = calls_in(named.value, "ones_like", "zeros_like") if named else []
        if like and like[0].args:
            yield case.given(call, "outputs", case.of(like[0].args[0]))
        computed = [n for n, v in case.scope.items() if isinstance(v, Tensor) and not v.is_leaf]
        for name in reversed(computed):
            yield case.given(call, "outputs", name, weak=True)


def not_scalar(case: Case) -> Iterator[Proposal]:
    """Reduce the output according to its name or its use; or pass a seed of ones."""
    for call, root in case.roots:
        made = case.made(root.value) if isinstance(root, ast.Subscript) else None
        if isinstance(made, ast.Call) and case.is_grad(made):
            yield from _only_gradient(case, made)
        yield from with_unread(case, call, root)
        for inner in [c for s in case.slice_of(root, case.line) for c in calls_in(s)]:
            named = keyword(inner, "reduction")
            if named and value_of(named.value) == "none":
                yield case.replaced(named.value, case.of(named.value).replace("none", "mean"))
        yield from _product(case, call, root)
        yield from products_of_matrices(case, case.made(root))
        yield from of_each_parameter(case)
        yield from penalty_beside_loss(case, case.made(root))
        end = reduced_elsewhere(case, root) or reduction(case.of(root))
        for edit, note in columns_of_rows(case):
            yield case.proposal(edit, case.appending(root, end), note=note)
        if isinstance(root, ast.List | ast.Tuple):
            for item in root.elts:
                yield case.appended(item, end)
        elif isinstance(call.func, ast.Attribute) and call.func.value is root:
            yield case.first(call, end, note=_what(case.of(root), end))
        else:
            yield case.appended(root, end, note=_what(case.of(root), end))


def products_of_matrices(case: Case, value: ast.expr) -> Iterator[Proposal]:
    """Write x.T @ A @ x for x.T * A * x: what is transposed is multiplied as a matrix."""
    factors, signs = [value], []
    while is_operation(factors[0], ast.Mult):
        left, right = factors[0].left, factors[0].right  # type: ignore[attr-defined]
        factors[:1] = [left, right]
        signs.append(Edit(case.end(left), case.start(right), " @ "))
    transposed = [f for f in factors if getattr(f, "attr", "") == "T" or method(f) == "t"]
    if transposed and signs:
        why = "* multiplies element by element; @ is the product of matrices."
        yield case.proposal(*signs, why=why)


def penalty_beside_loss(case: Case, total: ast.expr) -> Iterator[Proposal]:
    """Write loss + (c * w ** 2).sum() for loss + c * w ** 2 of a loss that is a single number."""
    terms = [total]
    while is_operation(terms[0], ast.Add):
        terms[:1] = [terms[0].left, terms[0].right]  # type: ignore[attr-defined]
    whole = [t for t in terms if not _is_single(case, t)]
    if len(whole) < len(terms):
        edits = [case.replacing(t, f"{case.operand(t)}.sum()") for t in whole]
        yield from case.change(*edits, why="A penalty is one number, as the loss is.")


def _is_single(case: Case, term: ast.expr) -> bool:
    """Whether a term is reduced to a single number, by its text, or known to be one."""
    reduced = [c for c in calls_in(term) if method(c) in ("sum", "mean", "norm") or case.is_loss(c)]
    return bool(reduced) or case.shape(term) == ()


def of_each_parameter(case: Case) -> Iterator[Proposal]:
    """Sum the elements of each term of a penalty that adds up all parameters of a module."""
    terms = []
    for node in case.of_type(ast.GeneratorExp, ast.ListComp, ast.For, everywhere=True):
        over = node.iter if isinstance(node, ast.For) else node.generators[0].iter
        if method(over) not in ("parameters", "named_parameters"):
            continue
        if isinstance(node, ast.For):
            terms += [s.value for s in within(node, ast.AugAssign) if isinstance(s.op, ast.Add)]
            sums = [s.value for s in within(node, ast.Assign)]
            terms += [s.right for s in sums if is_operation(s, ast.Add)]  # type: ignore[attr-defined]
        elif dotted(getattr(case.parents[node], "func", node)) == "sum":
            terms.append(node.elt)
    terms = [t for t in terms if method(t) not in ("sum", "mean", "norm", "numel", "item")]
    edits = [case.replacing(t, f"{case.operand(t)}.sum()") for t in terms]
    yield from case.change(*edits, why="A penalty is one number: the sum over every parameter.")


NO_SEEDS = (
    *("target", "targets", "label", "labels", "truth", "expected", "true", "gt", "y"),
    *("data", "input", "inputs", "x", "noise", "eps"),
)  # names of tensors that are meant for a loss or a network


def with_unread(case: Case, call: ast.Call, root: ast.expr) -> Iterator[Proposal]:
    """Pass the tensor of the output's shape that nothing reads as the seed; or weight the elements
    with it, if its name says so.
    """
    for name in unread(case, root):
        why = f"{name} is not used, but has a number for each element of {case.of(root)}."
        if "weight" in name.lower() or (name == "w" and is_called_loss(case.of(root))):
            sums_to_one = abs(case.values[name].data.sum() - 1) < 1e-6
            end = ".sum()" if sums_to_one else reduction(case.of(root))
            yield case.replaced(root, f"({case.operand(root)} * {name}){end}", why=why)
        elif case.is_grad(call):
            yield case.given(call, "grad_outputs", name, why=why)
        else:
            yield case.given(call, "gradient", name, why=why)


def unread(case: Case, root: ast.expr) -> list[str]:
    """The names of constant tensors of an output's shape that the program makes and never reads;
    targets and data are left out.
    """
    shape = case.shape(root)
    return [
        n
        for n, v in case.values.items()
        if isinstance(v, Tensor) and v.shape == shape and not v.requires_grad
        if v.dtype.is_floating and _only_made(case, n)
        if not any(part in NO_SEEDS for part in n.lower().split("_"))
    ]


def _only_made(case: Case, name: str) -> bool:
    """Whether a name is assigned before the line that raises, and read only to assign its items."""
    filled = [n.value for n in case.of_type(ast.Subscript, everywhere=True) if _is_stored(n)]
    made = any(_is_stored(n) and n.lineno < case.line for n in case.names(name))
    return made and all(n in filled for n in case.reads_of(name))


def _is_stored(node: ast.Name | ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Store)


def _product(case: Case, call: ast.Call, root: ast.expr) -> Iterator[Proposal]:
    """Write grad(g, x, v)[0] for grad(g, x)[0] @ v: the Jacobian of a gradient g is symmetric."""
    made = case.made(root)
    made = made.value if isinstance(made, ast.Subscript) else made
    taken = case.parents.get(call)
    outer = case.parents.get(taken) if isinstance(taken, ast.Subscript) else None
    if not (case.is_grad(call) and isinstance(made, ast.Call) and case.is_grad(made) and outer):
        return
    if is_operation(outer, ast.MatMult | ast.Mult):
        sides = [s for s in (outer.left, outer.right) if s is not taken]  # type: ignore[attr-defined]
        if len(sides) == 1 and case.shape(sides[0]) == case.shape(root) is not None:
            new = case.with_keyword(call, "grad_outputs", case.of(sides[0]))
            text = case.of(taken)
            at = case.start(taken)
            text = text[: new.start - at] + new.text + text[new.end - at :]
            note = "With this seed, one backward pass computes the product with the Hessian."
            yield case.replaced(outer, text, note=note)


def _what(text: str, end: str) -> str:
    if end == ".sum()":
        return (
            f"The sum weights the gradient of each element by 1; for other weights pass "
            f"gradient=v, of the shape of {text}."
        )
    return f"The loss is the mean over its elements; {text} itself does not change."


def seed_shape(case: Case) -> Iterator[Proposal]:
    """Pass a seed of the output's shape."""
    given, wanted = size(case.match[2]), size(case.match[4])
    for call, root, seed in (*seeded(case), *pulled(case)):
        if elements(root) and elements(seed):
            place = int(case.match[1])
            root, seed = elements(root)[place], elements(seed)[place]
        ones = f"torch.ones_like({case.of(root)})"
        written = not isinstance(seed, ast.Name) and _constant(seed)
        if case.is_grad(call) and given[1:] == wanted and not keyword(call, "is_grads_batched"):
            note = "One backward pass for each row of the seeds; an identity gives the Jacobian."
            yield case.given(call, "is_grads_batched", "True", note=note)
        if written and not wanted and call in case.here:
            note = "A single number needs no seed: the seed is 1."
            yield from case.change(without_seed(case, call, seed), note=note)
        if written:
            yield case.replaced(seed, ones)
        if prod(given) == prod(wanted):
            yield case.appended(seed, f".view_as({case.operand(root)})")
            yield case.appended(seed, f".reshape({wanted})")
        value = case.tensor(seed)
        if value is not None and (value.data == 1).all():
            yield case.replaced(seed, ones)
        if len(given) == len(wanted) == 1 and given > wanted:
            yield case.appended(seed, f"[:{wanted[0]}]", note=f"The first {wanted[0]} weights.")
        if len(given) <= len(wanted):
            yield case.appended(seed, f".expand_as({case.operand(root)})")
        yield case.replaced(seed, ones, weak=True)


def without_seed(case: Case, call: ast.Call, seed: ast.expr) -> Edit | None:
    """Remove the seed of a call."""
    for k in call.keywords:
        if k.value is seed and k.arg:
            return case.without_keyword(call, k.arg)
    alone = call.args == [seed] and not call.keywords
    return case.replacing(seed, "") if alone else None


def _constant(seed: ast.expr) -> bool:
    """Whether a seed is one number everywhere: torch.ones(...), torch.tensor([1.0])."""
    if method(seed) in ("ones", "ones_like"):
        return True
    numbers = [n.value for n in within(seed, ast.Constant)]
    return bool(numbers) and all(n == 1 for n in numbers) and method(seed) != "full"


def seed_no_tensor(case: Case) -> Iterator[Proposal]:
    """Pass a seed as a tensor; or a leaf in place of its number."""
    for _, root in case.roots:
        if method(root) == "item":
            yield case.without(root, why="item() returns a Python number, which has no graph.")  # type: ignore[arg-type]
    for call in case.here:
        wanted = case.inputs_of(call) if case.is_grad(call) else None
        if wanted is not None and isinstance(case.value(wanted), int | float):
            for name in case.leaves:
                yield case.replaced(wanted, name, why="A gradient is with respect to a tensor.")
    for _, root, seed in seeded(case):
        text = case.of(seed)
        yield case.replaced(seed, f"torch.tensor({text})")
        if isinstance(seed, ast.Constant):
            yield case.replaced(seed, f"torch.full_like({case.of(root)}, {text})")
        yield case.replaced(seed, f"torch.ones_like({case.of(root)})")


def holds_tensors(case: Case) -> Iterator[Proposal]:
    """Sum the losses in a list; or take the tensor out of the tuple that grad() returns."""
    kind, name = case.match.groups()
    for node in case.attributes(name):
        holder = node.value
        held = case.value(holder)
        items = list(held.values()) if isinstance(held, dict) else held
        known = isinstance(items, list | tuple)
        text = case.of(holder) + (".values()" if kind == "dict" else "")
        if kind == "tuple" and name == "detach" and known and len(items) > 1:
            new = f"tuple(s.detach() for s in {text})"
            yield case.replaced(case.parents[node], new, why="Each of its tensors is detached.")
        if isinstance(holder, ast.Name) and known and _are_numbers(items):
            end = ".float()" if all(type(i) is int for i in items) else ""
            line = f"{holder.id} = torch.tensor({holder.id}){end}"
            why = "A list of numbers has no arithmetic, a tensor does."
            yield case.proposal(case.before(case.statement, line), why=why)
        if known and len(items) == 1:
            yield from _unpacked(case, holder)
            yield case.appended(holder, "[0]")
        if kind == "tuple":
            yield from first_output(case, holder)
            if _returned_pair(case, holder):
                yield from _unpacked(case, holder)
        if name == "backward":
            for total in _unread_sums(case, dotted(holder)):
                yield case.replaced(holder, total, why=f"{total} is the loss that they make.")
            numbers = items if known else ()
            scalar = all(isinstance(i, Tensor) and i.numel == 1 for i in numbers)
            yield case.replaced(holder, f"sum({text if scalar else f'x.sum() for x in {text}'})")
        if not (known and len(items) == 1):
            yield case.replaced(holder, f"torch.stack({text})")
        shapes = {i.shape for i in items if isinstance(i, Tensor)} if known else set()
        if name in ("norm", "sum", "mean", "max", "min", "abs") and len(shapes) > 1:
            note = "This joins all its elements."
            yield case.replaced(
                holder, f"torch.cat([item.flatten() for item in {text}])", note=note
            )
        yield from _unpacked(case, holder)
        yield case.appended(holder, "[0]")


def _unread_sums(case: Case, name: str) -> list[str]:
    """The names of single numbers that are computed from a list and that nothing goes back from."""
    return [
        n
        for n, v in case.values.items()
        if isinstance(v, Tensor) and v.numel == 1 and v.requires_grad
        if any(name in names_in(value_of(s)) for s in case.makers(n)[:1])
    ]


def _are_numbers(items: Collection[object]) -> bool:
    """Whether there are items, and all of them are numbers of Python."""
    return bool(items) and all(type(i) in (int, float) for i in items)


def paired_items(case: Case) -> Iterator[Proposal]:
    """Unpack the pairs of a loop that has a single target."""
    inner = [*case.of_type(ast.comprehension), *case.around(case.statement)]
    for node in [n for n in inner if isinstance(n, ast.For | ast.comprehension)]:
        pairs = method(node.iter)
        if isinstance(node.target, ast.Tuple):
            yield from _counted(case, node)
        if not isinstance(node.target, ast.Name):
            continue
        if pairs in ("named_parameters", "named_modules", "named_children", "named_buffers"):
            why = f"{pairs}() yields pairs of a name and its object."
            yield case.renamed_to(node.iter, pairs.removeprefix("named_"), why=why)
        if pairs == "items":
            why = "items() yields pairs of a key and its value."
            yield case.renamed_to(node.iter, "values", why=why)
        if pairs == "enumerate" and isinstance(node.iter, ast.Call):
            why = "enumerate yields pairs of a number and an item."
            yield case.replaced(node.iter, case.of(node.iter.args[0]), why=why)


def _counted(case: Case, loop: ast.For | ast.comprehension) -> Iterator[Proposal]:
    """Write for x, y in loader for x, y in enumerate(loader), where x is a number."""
    names, counter = elements(loop.target), loop.iter
    held = case.value(names[-1]) if len(names) == 2 else None
    used = any(dotted(n) == dotted(names[0]) for n in case.of_type(ast.Name))
    pair = isinstance(held, list | tuple) and len(held) == 2
    if method(counter) == "enumerate" and isinstance(counter, ast.Call) and pair and used:
        why = "enumerate yields pairs of a number and an item, which is a pair itself."
        yield case.replaced(counter, case.of(counter.args[0]), why=why)


def values_of_dict(case: Case) -> Iterator[Proposal]:
    """Write sum(d.values()), and for p, g in zip(ps, d.values())."""
    inner = [*case.of_type(ast.comprehension), *case.around(case.statement)]
    iterated = [n.iter for n in inner if isinstance(n, ast.For | ast.comprehension)]
    zipped = [c for n in iterated for c in calls_in(n, "zip")]
    given = [*iterated, *[a for c in zipped for a in c.args]]
    given += [a for c in case.calls("sum", "stack", "cat", "zip") for a in c.args]
    for node in given:
        if isinstance(case.value(node), dict):
            joined = method(case.parents[node]) in ("stack", "cat")
            values = f"{case.of(node)}.values()"
            yield case.replaced(node, f"list({values})" if joined else values)
    yield from _unpacked_dict(case)


def _unpacked_dict(case: Case) -> Iterator[Proposal]:
    """Write a, b = net(x).values(), if net returns a dict, whose items are its keys."""
    for name in case.of_type(ast.Name):
        for built in case.makers(name)[:1] if isinstance(case.value(name), str) else ():
            if isinstance(built.targets[0], ast.Tuple) and isinstance(built.value, ast.Call):
                yield case.appended(built.value, ".values()")


def _returned_pair(case: Case, node: ast.expr) -> bool:
    """Whether a tuple is returned by a function of the program: a loss and other values."""
    return any(method(s.value) in case.functions for s in case.makers(node))


def _unpacked(case: Case, node: ast.expr) -> Iterator[Proposal]:
    """Write (g,) = grad(...) if the left side is g alone, otherwise grad(...)[0]."""
    for built in case.makers(node):
        if isinstance(built.value, ast.Call):
            yield case.appended(built.value, "[0]")


SOLUTIONS = {
    **{"lstsq": "solution", "svd": "S", "eigh": "eigenvalues", "eig": "eigenvalues"},
    "slogdet": "logabsdet",
}  # the part of such a result that is mostly used
PAIRED = ("MultiheadAttention", *RECURRENT)  # layers that return more than their output


def _part_of_made(case: Case, name: ast.Name, built: ast.Assign) -> Iterator[Proposal]:
    """Take the tensor out of a tuple where it is made: of saved tensors, outputs or gradients."""
    if getattr(built.value, "attr", "") == "saved_tensors":
        why = "saved_tensors is a tuple, even for a single tensor."
        yield case.proposal(case.adding(built.targets[0], ","), why=why)
    value = case.value(name)
    if isinstance(built.value, ast.Call) and case.called_class(built.value) in PAIRED:
        yield from first_output(case, name)
    is_single = isinstance(value, tuple) and len(value) == 1
    if is_single and isinstance(built.value, ast.Call) and case.is_grad(built.value):
        yield from _only_gradient(case, built.value)


def named_pair(case: Case) -> Iterator[Proposal]:
    """Write .values; or take the one gradient of the tuple that torch.autograd.grad returns."""
    for name in case.of_type(ast.Name):
        for built in case.makers(name)[:1]:
            yield from _part_of_made(case, name, built)
    yield from meant_part(case)
    index = "argument 'ind" in case.message or "indices" in case.message
    end = ".indices" if index else ".values"
    paired = ("max", "min", "median", "mode", "topk", "sort", "kthvalue")
    for call in case.calls(*paired):
        if "too many" not in case.message or isinstance(case.parents[call], ast.Subscript):
            yield case.appended(call, end)
    for name in case.of_type(ast.Name):
        held = case.value(name)
        if isinstance(held, Instance) and held.cls.name.startswith("torch.return_types"):
            yield case.appended(name, end)
    for node in case.attributes():
        for built in case.makers(node.value):
            if isinstance(built.value, ast.Call):
                yield case.appended(built.value, end)
        yield case.first(node, end)
    for side in case.sides:
        if isinstance(case.value(side), tuple) and case.listed(side) and not passed_on(case, side):
            note = f"{case.of(side)} is a tuple: this selects its first tensor."
            yield case.appended(side, "[0]", note=note)


def passed_on(case: Case, node: ast.expr) -> bool:
    """Whether a tuple may come from the layer before in a Sequential: taking its first item would
    lose the others.
    """
    function = case.function_of(node)
    given = [a.arg for a in function.args.args] if function and function.name == "forward" else []
    return dotted(node) in given and bool(case.calls("Sequential", everywhere=True))


def _only_gradient(case: Case, call: ast.Call) -> Iterator[Proposal]:
    """Take the one gradient of a tuple; with create_graph=True, if it is differentiated later."""
    why = "torch.autograd.grad returns a tuple with one gradient for each input."
    if case.feeds_backward(call) and not keyword(call, "create_graph"):
        edits = case.with_keyword(call, "create_graph", "True"), case.adding(call, "[0]")
        yield case.proposal(*edits, why=why, note="The gradient is differentiated again.")
    yield case.appended(call, "[0]", why=why)


def meant_part(case: Case) -> Iterator[Proposal]:
    """Take the output of a layer that returns more, the solution, or the singular values."""
    for call in case.calls():
        if case.called_class(call) in PAIRED:
            why = "The layer returns a tuple: its output comes first."
            yield case.appended(call, "[0]", why=why)
    for node in [*case.of_type(ast.Name), *case.calls()]:
        part = SOLUTIONS.get(method(case.made(node)))
        if part:
            why = "It returns several parts; this is the one that is needed."
            yield case.appended(case.made(node), f".{part}", why=why)


def assigned_tuple(case: Case) -> Iterator[Proposal]:
    """Write J[i] = torch.autograd.grad(y[i], x)[0]."""
    for statement in case.of_type(ast.Assign):
        if isinstance(statement.value, ast.Call) and case.is_grad(statement.value):
            yield case.appended(statement.value, "[0]")
            yield case.proposal(
                case.appending(statement.value, "[0]"),
                case.with_keyword(statement.value, "retain_graph", "True"),
            )


def old_argument(case: Case) -> Iterator[Proposal]:
    """Write retain_graph for retain_variables, its name before PyTorch 0.2."""
    name = case.match[1]
    for call in case.here:
        named = keyword(call, name)
        if named and name in ("retain_variables", "retain", "retain_graphs", "keep_graph"):
            edit = Edit(case.start(named), case.start(named.value), "retain_graph=")
            note = "Until PyTorch 0.2 retain_graph was called retain_variables."
            yield case.proposal(edit, note=note)
        yield from case.change(case.without_keyword(call, name))


def of_each_item(case: Case) -> Iterator[Proposal]:
    """Write [p - lr * g for p, g in zip(params, grads)] for params - lr * grads of lists."""
    for node in case.of_type(ast.BinOp, ast.AugAssign):
        read = [n for n in within(node, ast.Name) if case.listed(n)]
        inner = isinstance(case.parents.get(node), ast.BinOp | ast.AugAssign)
        if inner or len({len(case.listed(n)) for n in read}) != 1:
            continue
        items = {n.id: _item_called(case, n.id) for n in read}
        edits, end = [case.replacing(n, items[n.id]) for n in read], case.end(node)
        names, lists = ", ".join(items.values()), ", ".join(items)
        loop = f"{names} in " + (f"zip({lists})" if len(items) > 1 else lists)
        start = Edit(case.start(node), case.start(node), "[")
        if isinstance(node, ast.AugAssign):
            sign = case.source[case.end(node.target) : case.start(node.value)].strip().rstrip("=")
            first = f"{case.of(node.target)} = [{items[dotted(node.target)]} {sign} ("
            start, edits = Edit(case.start(node), case.start(node.value), first), edits[1:]
        closing = ")" if isinstance(node, ast.AugAssign) else ""
        yield case.proposal(start, *edits, Edit(end, end, f"{closing} for {loop}]"))


def _item_called(case: Case, name: str) -> str:
    """A name for the items of a list: its first letter, if it is free."""
    letter = name.lstrip("_")[0].lower()
    return f"{name}_i" if case.names(letter) or len(name) == 1 else letter


def joined_parameters(case: Case) -> Iterator[Proposal]:
    """Write torch.norm(torch.cat([p.flatten() for p in net.parameters()])) for torch.norm(...) of
    a generator of parameters.
    """
    for call in case.calls():
        for given in [a for a in call.args if method(case.made(a)) == "parameters"]:
            new = f"torch.cat([p.flatten() for p in {case.of(given)}])"
            yield case.replaced(given, new, note="All parameters as one vector.")
