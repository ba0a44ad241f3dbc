"""Cures of what goes back from the wrong thing: no scalar, a seed that does not fit, no tensor."""

import ast
from collections.abc import Iterator
from typing import Any

from ....snippets.eager.tensor import Tensor
from ....snippets.python.values import Instance
from .case import Case, Proposal, cures
from .text import Edit, dotted, keyword, method

LOSSES = ("loss", "err", "cost", "mse", "bce", "criterion", "objective", "nll", "penalty")


def is_loss(text: str) -> bool:
    """Whether an expression is called a loss."""
    return any(word in text.lower() for word in LOSSES)


def reduction(case: Case, root: ast.expr) -> str:
    """`.mean()` of what is called a loss, `.sum()` of what else is differentiated."""
    return ".mean()" if is_loss(case.text.of(root)) else ".sum()"


def roots(case: Case, call: ast.Call) -> ast.expr | None:
    """What a call goes back from."""
    named = keyword(call, "outputs") or keyword(call, "tensors")
    if named:
        return named.value
    if isinstance(call.func, ast.Attribute) and dotted(call.func) not in (
        "torch.autograd.grad",
        "torch.autograd.backward",
        "autograd.grad",
        "autograd.backward",
    ):
        return call.func.value if method(call) == "backward" else None
    return call.args[0] if call.args else None


def seed_of(call: ast.Call, root: ast.expr | None) -> ast.expr | None:
    """The seed that a call is given."""
    for name in ("gradient", "grad_tensors", "grad_outputs"):
        named = keyword(call, name)
        if named:
            return named.value
    place = 0 if isinstance(call.func, ast.Attribute) and call.func.value is root else 1
    place += method(call) == "grad"
    return call.args[place] if len(call.args) > place else None


def here(case: Case) -> list[ast.Call]:
    """The calls that go back on the line that raises."""
    return [c for c in case.backwards if c in case.nodes]


@cures(
    "grad can be implicitly created only for scalar outputs",
    "Without a seed the gradient is that of a single number, and this tensor has several elements.",
)
def not_scalar(case: Case) -> Iterator[Proposal]:
    """Reduce the output, as its name or its use says; else a seed of ones."""
    for call in here(case):
        root = roots(case, call)
        if root is None:
            continue
        for statement in case.slice_of(root, case.line):
            for inner in ast.walk(statement):
                if (
                    isinstance(inner, ast.Call)
                    and (named := keyword(inner, "reduction"))
                    and getattr(named.value, "value", "") == "none"
                ):
                    yield case.replaced(
                        named.value, case.text.of(named.value).replace("none", "mean")
                    )
        end = reduction(case, root)
        if isinstance(call.func, ast.Attribute) and call.func.value is root:
            edit = case.before_attribute(call.func, end)
        elif isinstance(root, ast.List | ast.Tuple):
            for item in root.elts:
                yield case.appended(item, end)
            continue
        else:
            edit = case.text.appending(root, end)
        yield case.proposal(edit, note=_what(case, root, end))


def _what(case: Case, root: ast.expr, end: str) -> str:
    text = case.text.of(root)
    if end == ".sum()":
        return (
            f"The sum has the gradient of each element with weight 1; other weights: "
            f"gradient=v, of the shape of {text}."
        )
    return f"A loss is the mean over its elements; {text} itself stays as it is."


@cures(
    r"Mismatch in shape: grad_output\[(\d+)\] has a shape of torch.Size\((.*?)\) and "
    r"output\[(\d+)\] has a shape of torch.Size\((.*?)\)",
    "The seed has a number for each element of the output: it needs exactly the output's shape.",
)
def seed_shape(case: Case) -> Iterator[Proposal]:
    """A seed of the output's shape."""
    for call in here(case):
        root = roots(case, call)
        seed = seed_of(call, root)
        if root is None or seed is None:
            continue
        place = int(case.match[1])
        if isinstance(root, ast.List | ast.Tuple) and isinstance(seed, ast.List | ast.Tuple):
            root, seed = root.elts[place], seed.elts[place]
        given, wanted = size(case.match[2]), size(case.match[4])
        if case.is_grad(call) and given[1:] == wanted and not keyword(call, "is_grads_batched"):
            note = "One way back for each row of the seeds: with the identity, the Jacobian."
            yield case.proposal(case.with_argument(call, "is_grads_batched=True"), note=note)
        text = case.text.operand(root)
        value = case.tensor(seed)
        if not wanted and not isinstance(seed, ast.Name) and _constant(seed):
            edit = without_seed(case, call, seed)
            if edit:
                yield case.proposal(edit, note="A single number needs no seed: it is 1.")
        if not isinstance(seed, ast.Name) and _constant(seed):
            yield case.replaced(seed, f"torch.ones_like({case.text.of(root)})")
        if product(given) == product(wanted):
            yield case.appended(seed, f".view_as({text})")
            yield case.appended(seed, f".reshape({wanted})")
        if value is not None and (value.data == 1).all():
            yield case.replaced(seed, f"torch.ones_like({case.text.of(root)})")
        if len(given) == len(wanted) == 1 and given > wanted:
            note = f"The first {wanted[0]} weights."
            yield case.appended(seed, f"[:{wanted[0]}]", note=note)
        if len(given) <= len(wanted):
            yield case.appended(seed, f".expand_as({text})")
        yield case.replaced(seed, f"torch.ones_like({case.text.of(root)})", weak=True)


def without_seed(case: Case, call: ast.Call, seed: ast.expr) -> Edit | None:
    """A call without its seed."""
    for k in call.keywords:
        if k.value is seed and k.arg:
            return case.without_keyword(call, k.arg)
    alone = call.args == [seed] and not call.keywords
    return case.text.replacing(seed, "") if alone else None


def _constant(seed: ast.expr) -> bool:
    """Whether a seed is one number everywhere: torch.ones(...), torch.tensor([1.0])."""
    if isinstance(seed, ast.Call) and method(seed) in ("ones", "ones_like"):
        return True
    numbers = [n.value for n in ast.walk(seed) if isinstance(n, ast.Constant)]
    return bool(numbers) and all(n == 1 for n in numbers) and method(seed) != "full"


def size(text: str) -> tuple[int, ...]:
    """The sizes in a message: "[2, 3]"."""
    return tuple(int(n) for n in text.strip("[]()").split(",") if n.strip())


def product(sizes: tuple[int, ...]) -> int:
    """How many elements a shape has."""
    result = 1
    for n in sizes:
        result *= n
    return result


@cures(
    r"gradients can be either Tensors or None, but got|'(float|int)' object is not iterable",
    "A seed is a tensor of the output's shape.",
)
def seed_no_tensor(case: Case) -> Iterator[Proposal]:
    """The same numbers as a tensor; the leaf in the place of its number."""
    for call in here(case):
        wanted = case.argument(call, 1, "inputs") if case.is_grad(call) else None
        if wanted is not None and isinstance(case.value(wanted), int | float):
            for name in case.leaves:
                yield case.replaced(wanted, name, why="A gradient is with respect to a tensor.")
        root = roots(case, call)
        seed = seed_of(call, root)
        if root is None or seed is None:
            continue
        text = case.text.of(seed)
        yield case.replaced(seed, f"torch.tensor({text})")
        if isinstance(seed, ast.Constant):
            yield case.replaced(seed, f"torch.full_like({case.text.of(root)}, {text})")
        yield case.replaced(seed, f"torch.ones_like({case.text.of(root)})")
        yield case.replaced(root, f"torch.tensor({case.text.of(root)})")


@cures(r"got \d+ tensors and \d+ gradients", "Each output needs a seed of its own.")
def seed_count(case: Case) -> Iterator[Proposal]:
    """The same seed for each output."""
    for call in here(case):
        root = roots(case, call)
        seed = seed_of(call, root)
        if not isinstance(root, ast.List | ast.Tuple) or seed is None:
            continue
        listed = seed.elts if isinstance(seed, ast.List | ast.Tuple) else [seed]
        texts = [case.text.of(s) for s in listed[: len(root.elts)]]
        texts += [f"torch.ones_like({case.text.of(r)})" for r in root.elts[len(texts) :]]
        yield case.replaced(seed, f"[{', '.join(texts)}]")


@cures(
    r"If `is_grads_batched=True`",
    "Each seed of the batch needs the output's shape: the batch is the first dimension.",
)
def seed_batch(case: Case) -> Iterator[Proposal]:
    """One seed a row of the identity."""
    for call in here(case):
        root = roots(case, call)
        seed = seed_of(call, root)
        if root is not None and seed is not None:
            text = case.text.operand(root)
            new = f"torch.eye({text}.numel()).view(-1, *{text}.shape)"
            yield case.replaced(seed, new)


@cures(
    r"'(list|tuple|dict)' object has no attribute "
    r"'(backward|detach|item|sum|mean|grad|pow|abs|norm|view|reshape|size|shape|dim|squeeze|"
    r"unsqueeze|transpose|permute|contiguous|flatten|t|T)'",
    "It holds tensors, and is none itself.",
)
def holds_tensors(case: Case) -> Iterator[Proposal]:
    """The sum of losses in a list; the one tensor in what grad() gives."""
    for node in case.nodes:
        if not isinstance(node, ast.Attribute) or node.attr != case.match[2]:
            continue
        held = case.value(node.value)
        held = list(held.values()) if isinstance(held, dict) else held
        items = held if isinstance(held, list | tuple) else None
        values = ".values()" if case.match[1] == "dict" else ""
        text = case.text.of(node.value) + values
        alone = case.text.appending(node.value, "[0]")
        if items is not None and len(items) == 1:
            yield from _unpacked(case, node.value)
            yield case.proposal(alone)
        if case.match[1] == "tuple":
            yield from first_output(case, node.value)
            if _returned_pair(case, node.value):
                yield from _unpacked(case, node.value)
        if node.attr == "backward":
            scalar = all(isinstance(i, Tensor) and i.numel == 1 for i in items or ())
            inner = text if scalar else f"x.sum() for x in {text}"
            yield case.replaced(node.value, f"sum({inner})")
        yield case.replaced(node.value, f"torch.stack({text})")
        yield from _unpacked(case, node.value)
        yield case.proposal(alone)


@cures(
    r"unsupported operand type\(s\) for \+: 'int' and 'str'", "A dict is gone through by its keys."
)
def sum_of_dict(case: Case) -> Iterator[Proposal]:
    """sum(d.values())."""
    for node in case.calls():
        if dotted(node.func) == "sum" and node.args and isinstance(case.value(node.args[0]), dict):
            yield case.appended(node.args[0], ".values()")


def first_output(case: Case, node: ast.expr) -> Iterator[Proposal]:
    """`out, _ = lstm(x)`: a recurrent layer gives its outputs and its last state."""
    for made in reversed(case.assignments(dotted(node), case.line)):
        called = made.value if isinstance(made, ast.Assign) else None
        if isinstance(called, ast.Call) and isinstance(case.value(called.func), Instance):
            at = case.text.end(made.targets[0])  # type: ignore[attr-defined]
            why = f"Line {made.lineno} gives a tuple: the outputs, and the last state."
            yield case.proposal(Edit(at, at, ", _"), why=why)
            yield case.appended(called, "[0]", why=why)


def _returned_pair(case: Case, node: ast.expr) -> bool:
    """Whether a tuple is what a function of the program returns: a loss, and more."""
    named = case.functions.keys()
    values = [getattr(s, "value", None) for s in case.assignments(dotted(node), case.line)]
    return any(isinstance(v, ast.Call) and method(v) in named for v in values)


def _unpacked(case: Case, node: ast.expr) -> Iterator[Proposal]:
    """`(g,) = grad(...)` where g alone stands on the left: `grad(...)[0]`."""
    for statement in reversed(case.assignments(dotted(node), case.line)):
        value: Any = getattr(statement, "value", None)
        if isinstance(value, ast.Call):
            yield case.appended(value, "[0]")


@cures(
    r"'torch.return_types.(max|min|median|mode|topk|sort|kthvalue)' object has no attribute|"
    r".*torch.return_types|can't multiply sequence by non-int of type|"
    r"can only concatenate tuple",
    "With a dimension this gives values and indices; the gradient belongs to the values.",
)
def named_pair(case: Case) -> Iterator[Proposal]:
    """`.values`."""
    for call in case.calls("max", "min", "median", "mode", "topk", "sort", "kthvalue"):
        yield case.appended(call, ".values")
    for name in case.of_type(ast.Name):
        held = case.value(name)
        if isinstance(held, Instance) and held.cls.name.startswith("torch.return_types"):
            yield case.appended(name, ".values")
    for node in case.of_type(ast.Attribute):
        end = ".values"
        for statement in reversed(case.assignments(dotted(node.value), case.line)):
            value: Any = getattr(statement, "value", None)
            if isinstance(value, ast.Call):
                yield case.appended(value, end)
        yield case.proposal(case.before_attribute(node, end))


@cures(
    r"(?:Tensor\.)?backward\(\) got an unexpected keyword argument '(\w+)'",
    "This name of the argument is old, or none of PyTorch's.",
)
def old_argument(case: Case) -> Iterator[Proposal]:
    """retain_variables was the name of retain_graph before 0.2."""
    for call in here(case):
        named = keyword(call, case.match[1])
        if named is None:
            continue
        if case.match[1] in ("retain_variables", "retain", "retain_graphs", "keep_graph"):
            start = case.text.start(named)
            end = case.text.start(named.value)
            yield case.proposal(
                Edit(start, end, "retain_graph="),
                note="Until PyTorch 0.2 retain_graph was called retain_variables.",
            )
        edit = case.without_keyword(call, case.match[1])
        if edit:
            yield case.proposal(edit)


@cures(r"`grad_tensors` and `grad_variables`", "Both are names of the seeds.")
def both_spellings(case: Case) -> Iterator[Proposal]:
    """Without the old one."""
    for call in here(case):
        edit = case.without_keyword(call, "grad_variables")
        if edit:
            yield case.proposal(edit)


@cures(r"Expected allow_unused to be True", "materialize_grads=True is for unused inputs.")
def contradicting(case: Case) -> Iterator[Proposal]:
    """Without allow_unused=False."""
    for call in here(case):
        edit = case.without_keyword(call, "allow_unused")
        if edit:
            yield case.proposal(edit)


@cures(
    r"grad can be implicitly created only for real scalar outputs",
    "A complex number has no gradient without saying which real number of it is meant.",
)
def complex_output(case: Case) -> Iterator[Proposal]:
    """Its absolute value."""
    for call in here(case):
        if isinstance(call.func, ast.Attribute):
            yield case.proposal(case.before_attribute(call.func, ".abs()"))
            yield case.proposal(case.before_attribute(call.func, ".real"))
