"""Corrections of calls of torch.func and torch.autograd.functional."""

import ast
import re
from collections.abc import Iterable, Iterator
from math import prod

from .case import Case, Proposal, giving
from .cut_steps import uncut
from .functions import results_of
from .in_place import base_of, out_of_place, written
from .nodes import (
    argument,
    calls_in,
    dotted,
    keyword,
    method,
    owner,
    parts,
    size,
    value_of,
    within,
)
from .numbers import where_of_branches, where_of_expressions
from .requiring import requiring
from .text import Edit

vmap_random = giving("vmap", "randomness", '"different"')


def results(case: Case) -> list[ast.expr]:
    """The returned expressions (AST) of functions mentioned on the line that raises."""
    result: list[ast.expr] = []
    names = [n.id for n in case.of_type(ast.Name)]
    for value in [value_of(s) for name in list(names) for s in case.assignments(name)]:
        names += [n.id for n in within(value, ast.Name)]
        result += [n.body for n in within(value, ast.Lambda)]
    result += [n.body for n in case.of_type(ast.Lambda)]
    for name in dict.fromkeys(names):
        if name in case.functions:
            result += results_of(case.functions[name])
    return list(dict.fromkeys(result))


# ---- results and arguments of functions ----------------------------------------------------------


def scalar_function(case: Case) -> Iterator[Proposal]:
    """Return the sum from the function; or compute the Jacobian."""
    for value in results(case):
        yield case.appended(value, ".sum()")
    for call in case.calls("hessian", "grad"):
        if call.args and isinstance(call.args[0], ast.Name):
            f = call.args[0].id
            yield case.replaced(call.args[0], f"lambda *inputs: {f}(*inputs).sum()")
    for node in case.attributes("grad"):
        yield case.renamed_to(node, "jacrev")


def function_gives(case: Case) -> Iterator[Proposal]:
    """Return the tensor itself from the function."""
    items = [c for f in case.functions.values() for c in calls_in(f, "item", "tolist")]
    yield from case.change(*[case.without_method(c) for c in items])
    for value in results(case):
        for call in calls_in(value, "item", "tolist", "numpy", "float"):
            if method(call) != "float":
                yield case.without(call)
            elif dotted(call.func) == "float" and call.args:
                yield case.replaced(call, case.of(call.args[0]))
        if isinstance(value, ast.List):
            yield case.replaced(value, _tuple(case.of(e) for e in value.elts))
        if isinstance(value, ast.Tuple):
            for call in case.calls("grad"):
                yield case.given(call, "has_aux", "True")
            yield case.replaced(value, case.of(value.elts[0]))
        if isinstance(value, ast.Constant):
            yield case.replaced(value, f"torch.tensor({case.of(value)})")


def _tuple(texts: Iterable[str]) -> str:
    """A tuple in Python; with one item, `(a,)`."""
    items = [*texts]
    return f"({', '.join(items)}{',' * (len(items) == 1)})"


def checked_inputs(case: Case) -> Iterator[Proposal]:
    """Set requires_grad=True for the inputs of gradcheck."""
    for call in case.calls("gradcheck", "gradgradcheck"):
        names = [dotted(n) for a in call.args[1:2] for n in parts(a) if dotted(n)]
        edits = [e for n in names if (e := requiring(case, n))]
        yield from case.change(*edits)


def takes_tensors(case: Case) -> Iterator[Proposal]:
    """Pass numbers as tensors, lists as tuples; or pass the function first."""
    for call in case.calls("jacobian", "hessian", "vjp", "jvp", "hvp"):
        if "function" in case.message and len(call.args) >= 2:
            why = "The function comes first, and then its inputs."
            yield case.exchanged(*call.args[:2], why=why)
    for call in case.methods("parameters") if "generator" in case.message else ():
        why = "A transform expects tensors in a tuple or a dict; parameters() is a generator."
        yield case.replaced(call, f"dict({case.of(owner(call))}.named_parameters())", why=why)
        yield case.replaced(call, f"tuple({case.of(call)})", why=why)
    for call in case.calls():
        edits = []
        for given in call.args:
            number, text = case.value(given), case.of(given)
            if isinstance(number, int | float):
                written = isinstance(given, ast.Constant)
                text = f"{float(number)}" if written else f"float({text})"
                edits.append((given, f"torch.tensor({text})", f"torch.tensor([{text}])"))
            elif isinstance(given, ast.List):
                edits.append((given, _tuple(map(case.of, given.elts)), f"torch.tensor({text})"))
        yield from case.change(*[case.replacing(a, new) for a, new, _ in edits])
        yield from case.change(*[case.replacing(a, new) for a, _, new in edits])


def backward_in_transform(case: Case) -> Iterator[Proposal]:
    """Remove backward(): the transform computes the gradient."""
    for call in case.calls("backward"):
        note = "The transform computes the gradient itself."
        yield case.proposal(case.removing(case.statement_of(call)), note=note)


def as_tuples(case: Case) -> Iterator[Proposal]:
    """Write (x,) for x, for primals and tangents."""
    for call in case.calls("jvp"):
        edits = [
            case.replacing(a, f"({case.of(a)},)")
            for a in call.args[1:3]
            if case.tensor(a) is not None or isinstance(a, ast.Call)
        ]
        yield from case.change(*edits)


# ---- vmap ----------------------------------------------------------------------------------------


def samples_stacked(case: Case) -> Iterator[Proposal]:
    """vmap(f)(torch.stack(xs)) for the vmap(f)(xs) of a list of samples."""
    for call in case.calls(everywhere=True):
        if "vmap" in (method(call.func), method(case.made(call.func))):
            listed = [a for a in call.args if case.is_list(a) and case.listed(a)]
            edits = [case.replacing(a, f"torch.stack({case.of(a)})") for a in listed]
            yield from case.change(*edits, why="vmap maps over a dimension of tensors.")


def vmap_branches(case: Case) -> Iterator[Proposal]:
    """Replace a branch by torch.where, and x.item() by x."""
    for call in case.calls("item", "float", "int"):
        if method(call) == "item":
            yield case.without(call)
        elif isinstance(call.func, ast.Name) and call.args:
            yield case.replaced(call, case.of(call.args[0]))
    yield from where_of_expressions(case)
    for statement in case.statements:
        for node in (statement, *case.around(statement)):
            if isinstance(node, ast.If):
                yield from where_of_branches(case, node)


def vmap_written(case: Case) -> Iterator[Proposal]:
    """Write x.new_zeros(n) for torch.zeros(n) that is written to."""
    function = case.function_of(case.statement)
    target = base_of(written(case.statement))
    for built in case.makers(target) if target is not None and function else ():
        name = f"new_{method(built.value)}"
        if isinstance(built.value, ast.Call) and name in NEW_OF_TENSOR:
            for x in [a.arg for a in function.args.args]:  # type: ignore[union-attr]
                yield case.replaced(built.value.func, f"{x}.{name}")
    yield from out_of_place(case, case.statement)


NEW_OF_TENSOR = ("new_zeros", "new_ones", "new_empty", "new_full", "new_tensor")


def vmap_sizes(case: Case) -> Iterator[Proposal]:
    """Map over another dimension, or not over one of the arguments."""
    for call in case.calls("vmap", everywhere=True):
        outer = case.parents.get(call)
        given = outer.args if isinstance(outer, ast.Call) else [None, None]
        ranks = [len(case.shape(a) or ()) for a in given]
        positions = range(len(ranks)) if len(ranks) > 1 else ()
        for k in sorted(positions, key=lambda k: (ranks[k], -k)):
            for this, others in (("None", "0"), ("1", "0")):
                dims = _tuple(this if j == k else others for j in range(len(ranks)))
                yield case.given(call, "in_dims", dims)
        yield case.given(call, "in_dims", "1")


# ---- cotangents and tangents ---------------------------------------------------------------------


def direction(case: Case) -> Iterator[Proposal]:
    """Pass ones of the required shape."""
    for call in case.calls("make_dual"):
        if len(call.args) > 1:
            yield case.replaced(call.args[1], f"torch.ones_like({case.of(call.args[0])})")
    sizes = re.search(r"should be torch.Size\((.*?)\) but got torch.Size\((.*?)\)", case.message)
    for call in case.calls("jvp", "vjp", "hvp", "vhp"):
        if len(call.args) < 2:
            continue
        function, x, *given = call.args
        if sizes and given and prod(size(sizes[1])) == prod(size(sizes[2])):
            yield case.appended(given[0], f".reshape({size(sizes[1])})")
        new = f"torch.ones_like({case.of(x)})"
        if method(call) == "vjp":
            new = f"torch.ones_like({case.operand(function)}({case.of(x)}))"
            outputs = [v for v in results(case) if isinstance(v, ast.Tuple)]
            for v in given[:1] if outputs else ():
                yield case.replaced(v, _tuple(case.of(v) for _ in outputs[0].elts))
        elif isinstance(x, ast.Tuple):
            new = _tuple(f"torch.ones_like({case.of(e)})" for e in x.elts)
        if given:
            yield case.replaced(given[0], new)
        else:
            yield case.given(call, "v", new)


# ---- arguments of the transforms -----------------------------------------------------------------


def argnum(case: Case) -> Iterator[Proposal]:
    """Pass the missing argument; count arguments from 0; or use the last argument."""
    wrong, count = int(case.match[1]), int(case.match[2])
    for call in case.calls(
        "grad", "grad_and_value", "jacrev", "jacfwd", "hessian", everywhere=True
    ):
        asked = argument(call, 1, "argnums")
        if asked is None:
            continue
        yield from _given_more(case, call, count)
        numbers = [n for part in parts(asked) if (n := case.number(part)) is not None]
        if wrong not in numbers or len(numbers) < len(parts(asked)):
            continue
        if min(numbers) > 0:
            why = "Arguments are counted from 0, not from 1."
            yield from _numbered(case, asked, [n - 1 for n in numbers], why)
        free = [n for n in range(count) if n not in numbers]
        there = [n if n < count else free.pop() for n in numbers if n < count or free]
        yield from _numbered(case, asked, there, f"There are {count} arguments, counted from 0.")


def _numbered(case: Case, asked: ast.expr, numbers: list[int], why: str) -> Iterator[Proposal]:
    """Write other argument numbers, in a tuple or alone as before."""
    if isinstance(asked, ast.Tuple | ast.List):
        yield case.replaced(asked, _tuple(map(str, numbers)), why=why)
    elif numbers:
        yield case.replaced(asked, str(numbers[0]), why=why)


def _given_more(case: Case, call: ast.Call, count: int) -> Iterator[Proposal]:
    """Pass the missing argument: the variable named like the parameter, or the keyword argument by
    position.
    """
    outer, defined = case.parents.get(call), case.made(call.args[0])
    defined = case.functions.get(dotted(defined), defined)  # type: ignore[assignment]
    if not isinstance(outer, ast.Call) or outer.func is not call:
        return
    if not isinstance(defined, ast.FunctionDef | ast.Lambda):
        return
    edits: list[Edit] = []
    for name in [a.arg for a in defined.args.args][count:]:
        named = keyword(outer, name)
        if named:
            edits.append(Edit(case.start(named), case.start(named.value), ""))
        elif name in case.scope:
            edits.append(case.with_argument(outer, name))
    why = f"argnums counts the arguments passed by position: {count} here."
    yield from case.change(*edits[:1], why=why)


def strict(case: Case) -> Iterator[Proposal]:
    """Remove what cuts the graph; or drop strict=True, so that the derivative is 0."""
    named = {n.id for n in case.of_type(ast.Name)}
    bodies = [f for f in case.of_type(ast.FunctionDef, everywhere=True) if f.name in named]
    nodes = [n for b in [*bodies, *results(case)] for n in ast.walk(b)]
    steps = [s for n in nodes if (s := uncut(case, n)) is not None]
    edits = list(dict.fromkeys(s.edit for s in steps))
    why = " ".join(dict.fromkeys(s.why for s in steps))
    for chosen in [[e] for e in edits] + ([edits] if len(edits) > 1 else []):
        yield case.proposal(*chosen, why=why)
    for call in case.calls():
        dropped = case.without_keyword(call, "strict")
        note = "Without strict, the derivative is 0 where the output does not depend on the input."
        yield from case.change(dropped, note=note)
