"""Programs as they are pasted: what asks for a gradient, taken apart from what is computed.

`x = torch.tensor([1., 2.], requires_grad=True)` is an input and its value; `y.backward(v)` and
`torch.autograd.grad(y, x, v)` say the output, the seed, and what to differentiate by. Imports and
what is printed say nothing of a gradient, nor does what follows on `backward()`.
"""

import ast
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from copy import deepcopy
from typing import NamedTuple

from ..errors import GradcliError, Span
from .storage import STORAGE

# What changes no number, on a line of its own.
REMARKS = {"print", "zero_grad", "retain_grad", "set_printoptions"}
LIBRARIES = {"torch", "nn", "F", "np", "numpy", "math", "autograd", "inf", "nan", "pi"}
KEPT = STORAGE | {"dtype"}
NUMBERS = (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.unaryop, ast.expr_context)
PROMPTS = (">>>", "...")
SEEDS = ("grad_tensors", "grad_outputs", "gradient")

Segment = Callable[[ast.AST], str]
Place = Callable[[ast.AST], Span]


def without_prompts(text: str) -> str:
    """What was typed, where a session of Python is pasted: the lines behind its prompts."""
    lines = text.splitlines()
    if not any(line.startswith(">>>") for line in lines):
        return text
    return "\n".join(line[3:].removeprefix(" ") for line in lines if line.startswith(PROMPTS))


class Asked(NamedTuple):
    """What a program says of its own gradient: the values of inputs, the seed, the names to
    differentiate by; each as it is typed, and nothing where it does not say it.
    """

    values: tuple[tuple[str, str], ...] = ()
    seed: str | None = None
    wrt: tuple[str, ...] = ()


def taken_apart(body: list[ast.stmt], segment: Segment, place: Place) -> tuple[list, Asked]:
    """The statements that compute, and what the others ask; `segment` and `place` give the text of
    a piece of syntax and where it stands. Raises GradcliError for a second `backward()`.
    """
    body = [s for s in body if not _is_remark(s, last=s is body[-1])] or body
    calls = [(s, call) for s in body if (call := _asking(s, last=s is body[-1]))]
    if len(calls) > 1:
        said = "backward() is called more than once, and gradients add up from call to call"
        hint = "ask for one at a time; or for the gradient of a sum"
        raise GradcliError("unsupported", said, hint=hint, span=place(calls[1][0]))
    seed: ast.expr | None = None
    wrt: tuple[str, ...] = ()
    if calls:
        ((asking, call),) = calls
        output, seed, wrt = _parts(call)
        body = _with_output(body[: body.index(asking)], output)
    marked = {name for name, yes in filter(None, map(_marked, body)) if yes}
    body = [s for s in body if not _marked(s)] or body
    written_out = _written_out(body)
    made, leaves = _inputs(body, marked, written_out)
    of_seed = (_names(seed) if seed else set()) - {n for s in body for n in _names(s)}
    values = tuple(
        (name, _text(value, written_out, segment))
        for name, value in made.items()
        if name not in of_seed
    )
    inputs = dict(values)
    rest = [s for s in body if _target(s) not in inputs]
    if calls and not rest:
        rest = [ast.copy_location(ast.Expr(output), output)]
    asked = Asked(values, None if seed is None else segment(seed), wrt or leaves)
    return (rest, asked) if rest else (body, Asked())


# ---- what asks for a gradient --------------------------------------------------------------------


def _asking(s: ast.stmt, last: bool) -> ast.Call | None:
    """The call of backward, or in the last statement of autograd.grad."""
    value = s.value if isinstance(s, ast.Expr | ast.Assign) else None
    if last and isinstance(value, ast.Subscript):
        value = value.value
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return None
    name, before = value.func.attr, value.func.value
    holder = before.attr if isinstance(before, ast.Attribute) else _name(before)
    of_autograd = holder == "autograd"
    if name == "backward":
        return value if isinstance(s, ast.Expr) and not of_autograd else None
    return value if last and name == "grad" and of_autograd and _both(value) else None


def _both(call: ast.Call) -> bool:
    """Whether autograd.grad is told outputs and inputs."""
    return len(call.args) + len({k.arg for k in call.keywords} & {"outputs", "inputs"}) > 1


def _parts(call: ast.Call) -> tuple[ast.expr, ast.expr | None, tuple[str, ...]]:
    """The output, the seed, and the names to differentiate by, of a call that asks."""
    assert isinstance(call.func, ast.Attribute)
    args, named = list(call.args), {k.arg: k.value for k in call.keywords}
    output, wrt = call.func.value, named.get("inputs")
    if call.func.attr == "grad":
        output = args.pop(0) if args else named["outputs"]
        wrt = args.pop(0) if args else wrt
    given = [*args[:1], *(named[name] for name in SEEDS if name in named)]
    seed = given[0] if given else None
    if isinstance(seed, ast.List | ast.Tuple) and len(seed.elts) == 1:
        seed = seed.elts[0]
    none = isinstance(seed, ast.Constant) and seed.value is None
    parts = wrt.elts if isinstance(wrt, ast.List | ast.Tuple) else [wrt]
    return output, None if none else seed, tuple(p.id for p in parts if isinstance(p, ast.Name))


def _with_output(body: list[ast.stmt], output: ast.expr) -> list[ast.stmt]:
    """The statements, the last of which is the output."""
    name = _name(output)
    if name is None:
        return [*body, ast.copy_location(ast.Expr(output), output)]
    if body and _target(body[-1]) == name:
        return body
    again = ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), output)], output)
    return [*body, ast.copy_location(again, output)]


# ---- inputs and their values ---------------------------------------------------------------------


def _inputs(
    body: list[ast.stmt], marked: set[str], written_out: Collection[str]
) -> tuple[dict[str, ast.expr], tuple[str, ...]]:
    """What is a tensor of numbers and not computed from other names, where one of them requires a
    gradient; and the names of those that do.
    """
    times = Counter(name for s in body for name in _bound(s))
    made: dict[str, ast.expr] = {
        name: s.value
        for s in body
        if isinstance(s, ast.Assign)
        and (name := _target(s))
        and times[name] == 1
        and isinstance(s.value, ast.Call)
        and _of_libraries(s.value, written_out)
    }
    leaves = tuple(n for n, value in made.items() if n in marked or _requires_gradient(value))
    return (made, leaves) if leaves else ({}, ())


def _requires_gradient(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    name = value.func.attr if isinstance(value.func, ast.Attribute) else _name(value.func)
    flags = [k.value for k in value.keywords if k.arg == "requires_grad"]
    inner = [*value.args, *([value.func.value] if isinstance(value.func, ast.Attribute) else [])]
    if name in ("requires_grad_", "Parameter"):
        return all(map(_is_true, value.args)) if name == "requires_grad_" else True
    return any(map(_is_true, flags)) or (not flags and any(map(_requires_gradient, inner)))


def _is_true(e: ast.expr) -> bool:
    return isinstance(e, ast.Constant) and e.value is True


def _of_libraries(value: ast.expr, written_out: Collection[str]) -> bool:
    """Whether an expression names nothing but functions and constants of libraries, numbers that
    are `written_out` elsewhere, and where it is kept.
    """
    calls = [n for n in ast.walk(value) if isinstance(n, ast.Call)]
    aside = [k.value for c in calls for k in c.keywords if k.arg in KEPT]
    others = {*(c.func for c in calls), *(n for e in aside for n in ast.walk(e))}
    names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name) and n not in others}
    return names <= LIBRARIES | {*written_out}


def _written_out(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """Numbers and lists of them by the only name that they are given."""
    times = Counter(name for s in body for name in _bound(s))
    return {
        name: s.value
        for s in body
        if isinstance(s, ast.Assign)
        and (name := _target(s))
        and times[name] == 1
        and all(isinstance(n, NUMBERS) for n in ast.walk(s.value))
    }


def _text(value: ast.expr, written_out: Mapping[str, ast.expr], segment: Segment) -> str:
    """The text of a value, in which nothing has a name of the program."""
    if not _names(value) & written_out.keys():
        return segment(value)

    class WrittenOut(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return written_out.get(node.id, node)

    return ast.unparse(WrittenOut().visit(deepcopy(value)))


def _names(e: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(e) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _bound(s: ast.stmt) -> list[str]:
    return [n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _target(s: ast.stmt) -> str | None:
    """The name that a statement gives a value to, if it is one name."""
    return _name(s.targets[0]) if isinstance(s, ast.Assign) and len(s.targets) == 1 else None


def _marked(s: ast.stmt) -> tuple[str, bool] | None:
    """`x` and whether it is so, of `x.requires_grad_()` and `x.requires_grad = False`."""
    if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Attribute):
        on, name = s.targets[0], "requires_grad"
        said: list[ast.expr] = [s.value]
    elif isinstance(s, ast.Expr) and isinstance(s.value, ast.Call):
        if not isinstance(s.value.func, ast.Attribute):
            return None
        on, name, said = s.value.func, "requires_grad_", s.value.args
    else:
        return None
    marked = _name(on.value) if on.attr == name else None
    return None if marked is None else (marked, all(map(_is_true, said)))


# ---- what says nothing ---------------------------------------------------------------------------


def _is_remark(s: ast.stmt, last: bool) -> bool:
    if isinstance(s, ast.Import | ast.ImportFrom):
        return True
    if isinstance(s, ast.Expr) and isinstance(s.value, ast.Name):  # what a session shows
        return not last
    if not isinstance(s, ast.Expr) or not isinstance(s.value, ast.Call):
        return False
    function = s.value.func
    return (function.attr if isinstance(function, ast.Attribute) else _name(function)) in REMARKS


def _name(e: ast.expr) -> str | None:
    return e.id if isinstance(e, ast.Name) else None
