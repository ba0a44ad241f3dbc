"""Programs as they are pasted: what asks for a gradient, taken apart from what is computed.

`x = torch.tensor([1., 2.], requires_grad=True)` is an input and its value; `y.backward(v)` and
`torch.autograd.grad(y, x, v)` say the output, the seed, and what to differentiate by. What is
printed says nothing of a gradient, nor does what follows on `backward()`.
"""

import ast
from typing import NamedTuple

from ...errors import GradcliError
from ..foreign import FORMS, foreign_statement
from ..no_gradient import NO_WAY
from ..syntax import bound, called_name, dotted, has_new, is_false, keyword, loaded, name_of, target
from .asked import Asked
from .leaves import LIBRARIES, Leaves, Place, Segment, makes_object, marked
from .meant import in_full
from .remarks import notes, remarks
from .statements import one_by_one, versions_apart

SEEDS = ("grad_tensors", "grad_outputs", "gradient")
OUTPUTS = ("tensors", "outputs")
UNUSED_TOO = ("allow_unused", "materialize_grads")
TRANSFORMS = ("torch.autograd.functional", "torch.func", "autograd.functional")
FLAGS = {"requires_grad_", "Parameter"}


class Call(NamedTuple):
    """The statement that asks for a gradient; the output, and the seed and the names to
    differentiate by where it says them; whether these need not be used.
    """

    statement: ast.stmt
    output: ast.expr
    seed: ast.expr | None
    wrt: tuple[str, ...]
    unused_too: bool


def taken_apart(body: list[ast.stmt], segment: Segment, place: Place) -> tuple[list, Asked]:
    """The statements that compute, and what the others ask; `segment` and `place` give the text of
    a piece of syntax and where it stands. Raises GradcliError for what PyTorch refuses, and for a
    second `backward()`.
    """
    pasted = _is_pasted(body)
    whole = body = in_full(one_by_one(body), of_python=pasted) or body
    aside = set(remarks(body, pasted))
    body = [s for s in body if s not in aside] or body
    if not pasted:
        return body, Asked(notes=notes(whole, []))
    call = _the_call(body, place)
    at = len(body) if call is None else body.index(call.statement)
    found = _leaves(body[:at], call, place)
    rest = found.rest if call is None else _with_output(found.rest, call.output)
    seed = call.seed if call else None
    seeding = (loaded(seed) if seed else set()) - {n for s in rest for n in loaded(s)}
    seeding -= found.leaves.keys()
    rest = [*(s for s in found.body if target(s) in seeding and target(s) in found.inputs), *rest]
    if not rest:
        return body, Asked()
    text = None if seed is None else ast.unparse(seed) if has_new(seed) else segment(seed)
    values = found.values(segment, but=seeding)
    wrt = (call and call.wrt) or tuple(found.leaves)
    strict = place(call.statement) if call and call.wrt and not call.unused_too else None
    return rest, Asked(values, text, wrt, notes(whole, body[at + 1 :]), strict)


def _leaves(body: list[ast.stmt], call: Call | None, place: Place) -> Leaves:
    """The inputs of what is computed; without any that requires a gradient or is asked for, the
    statements stay as they are.
    """
    by_name = call.wrt if call else ()
    apart, renamed = versions_apart(body, _flagged(body) | {*by_name})
    found = Leaves(apart, place)
    _check(found, renamed, call, place)
    for name in by_name:
        if name not in found.inputs and any(name in bound(s) for s in found.rest):
            found.cut(name)
    _check_apart(found, by_name, call, place)
    if not found.leaves and not by_name:
        found.rest, found.inputs = apart, {}
    return found


def _is_pasted(body: list[ast.stmt]) -> bool:
    """Whether it is a program of PyTorch, in which `sum` is Python's: it imports something, or
    says what requires a gradient, or asks for it.
    """
    return bool(_flagged(body)) or any(
        isinstance(n, ast.Import | ast.ImportFrom)
        or called_name(n) == "backward"
        or _is_grad(n)
        or _module(n) in TRANSFORMS
        for s in body
        for n in ast.walk(s)
    )


def _flagged(body: list[ast.stmt]) -> set[str]:
    """The names that are given something which requires a gradient."""
    marks = {mark[0] for s in body if (mark := marked(s))}
    return marks | {
        n
        for s in body
        if any(called_name(c) in FLAGS or keyword(c, "requires_grad") for c in ast.walk(s))
        for n in bound(s)
    }


# ---- what asks for a gradient --------------------------------------------------------------------


def _the_call(body: list[ast.stmt], place: Place) -> Call | None:
    """The only call of backward, or in the last statement of autograd.grad."""
    calls = [(s, e) for s in body if (e := _asking(s, last=s is body[-1]))]
    if len(calls) > 1:
        said = "backward() is called more than once, and gradients add up from call to call"
        hint = "ask for one at a time; or for the gradient of a sum"
        raise GradcliError("unsupported", said, hint=hint, span=place(calls[1][0]))
    for n in (n for s in body for n in ast.walk(s)):
        if _module(n) in TRANSFORMS:
            said = f"{called_name(n)} takes a function, which is not read here"
            hint = 'ask for it by a command of its own: gradcli jacobian "x ** 2", hessian, jvp'
            raise GradcliError("unsupported", said, hint=hint, span=place(n))
    until = body[: body.index(calls[0][0])] if calls else body
    for n in (n for s in until for n in ast.walk(s)):
        if _is_grad(n):
            said = "a gradient is computed with here, which differentiates twice"
            hint = "ask for the second derivative of y itself: --order 2, or gradcli hessian"
            raise GradcliError("unsupported", said, hint=hint, span=place(n))
    return _parts(*calls[0], place) if calls else None


def _asking(s: ast.stmt, last: bool) -> ast.Call | None:
    value = s.value if isinstance(s, ast.Expr | ast.Assign) else None
    if last and isinstance(value, ast.Subscript):
        value = value.value
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return None
    if value.func.attr == "backward":
        return value if isinstance(s, ast.Expr) else None
    return value if last and _is_grad(value) else None


def _is_grad(e: ast.AST) -> bool:
    """Whether an expression is autograd.grad of outputs by inputs."""
    if not isinstance(e, ast.Call) or not _module(e).endswith("autograd"):
        return False
    if called_name(e) != "grad":
        return False
    named = {k.arg for k in e.keywords} & {*OUTPUTS, *SEEDS, "inputs"}
    return len(e.args) + len(named) > 1 or "inputs" in named


def _module(e: ast.AST) -> str:
    """What stands before the name of the function that is called."""
    return (dotted(e.func) or "").rpartition(".")[0] if isinstance(e, ast.Call) else ""


def _parts(s: ast.stmt, e: ast.Call, place: Place) -> Call:
    """What a call that asks says."""
    assert isinstance(e.func, ast.Attribute)
    args, named = list(e.args), {k.arg: k.value for k in e.keywords}
    output, wrt = e.func.value, named.get("inputs")
    if _module(e).endswith("autograd"):
        output = args.pop(0) if args else _named_output(named, e, place)
        if called_name(e) == "grad":
            wrt = args.pop(0) if args else wrt
    given = [*args[:1], *(named[name] for name in SEEDS if name in named)]
    seed = _only(given[0], place) if given else None
    if isinstance(seed, ast.Constant) and seed.value is None:
        seed = None
    if seed is not None and _is_number(seed):
        said = "PyTorch takes a tensor here, and no number or list"
        hint = f"write torch.tensor({ast.unparse(seed)})"
        raise GradcliError("arguments", said, hint=hint, span=place(seed))
    unused_too = called_name(e) != "grad" or any(
        word in named and not is_false(named[word]) for word in UNUSED_TOO
    )
    return Call(s, _only(output, place), seed, _by_name(wrt, place), unused_too)


def _named_output(named: dict[str | None, ast.expr], e: ast.Call, place: Place) -> ast.expr:
    for name in OUTPUTS:
        if name in named:
            return named[name]
    missing = "outputs" if called_name(e) == "grad" else "tensors"
    said = f"{missing} is missing: what the gradient is of"
    hint = f"PyTorch: {called_name(e)}() missing 1 required positional argument: '{missing}'"
    raise GradcliError("arguments", said, hint=hint, span=place(e))


def _only(e: ast.expr, place: Place) -> ast.expr:
    """The only tensor of a list of tensors."""
    if not isinstance(e, ast.List | ast.Tuple) or not e.elts or _is_number(e.elts[0]):
        return e
    if len(e.elts) > 1:
        said = "the gradients of several outputs add up"
        hint = "ask for one output at a time; or for their sum, each times its seed"
        raise GradcliError("unsupported", said, hint=hint, span=place(e))
    return e.elts[0]


def _is_number(e: ast.expr) -> bool:
    """Whether a number or a list of them is written there."""
    if isinstance(e, ast.UnaryOp):
        return _is_number(e.operand)
    return isinstance(e, ast.List | ast.Tuple) or (
        isinstance(e, ast.Constant) and e.value is not None
    )


def _by_name(wrt: ast.expr | None, place: Place) -> tuple[str, ...]:
    """The names to differentiate by."""
    if wrt is None:
        return ()
    parts = wrt.elts if isinstance(wrt, ast.List | ast.Tuple) else [wrt]
    for p in parts:
        if not isinstance(p, ast.Name):
            said = "a gradient is asked for by names here"
            hint = "give it a name before the output is computed from it: h = ..."
            raise GradcliError("unsupported", said, hint=hint, span=place(p))
    return tuple(p.id for p in parts if isinstance(p, ast.Name))


def _with_output(body: list[ast.stmt], output: ast.expr) -> list[ast.stmt]:
    """The statements, the last of which is the output."""
    name = name_of(output)
    if name is None:
        return [*body, ast.copy_location(ast.Expr(output), output)]
    if body and target(body[-1]) == name:
        return body
    again = ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), output)], output)
    return [*body, ast.copy_location(again, output)]


# ---- what PyTorch would refuse, or leave without a gradient --------------------------------------


def _check(found: Leaves, renamed: dict[str, str], call: Call | None, place: Place) -> None:
    """Refuse blocks; what is differentiated by and has no way back; what is no leaf, where
    gradients go to the leaves.
    """
    for s in found.rest:
        if type(s) in FORMS:
            raise foreign_statement(s, place(s))
    for name in [n for n in found.leaves if n in renamed]:  # no name leads to it any more
        found.leaves.pop(name)
        read = any(name in loaded(s) for s in found.rest)
        if read and renamed[name] not in found.leaves and not (call and call.wrt):
            _refuse_assigned_again(found, renamed[name], place)
    if call and call.wrt:
        _check_named(found, call, place)
        return
    for name, s in found.lost.items():
        said = (
            f"{name} is computed from a tensor that requires a gradient, so it is no leaf: "
            f"PyTorch leaves {name}.grad at None"
        )
        hint = f"leave requires_grad=True out, and write {name}.requires_grad_() on a line after it"
        raise GradcliError("not-differentiable", said, hint=hint, span=place(s))
    modules = any(makes_object(e) for s in found.rest for e in ast.walk(s))  # have parameters
    if call and not found.leaves and not modules and not _free(found, call):
        said = "nothing in this program requires a gradient"
        hint = f"write requires_grad=True where an input is made\nPyTorch: {NO_WAY}"
        raise GradcliError("not-differentiable", said, hint=hint, span=place(call.statement))


def _refuse_assigned_again(found: Leaves, name: str, place: Place) -> None:
    again = next(s for s in reversed(found.body) if name in bound(s))
    said = f"{name} is assigned again, and is no leaf any more: PyTorch leaves {name}.grad at None"
    hint = f"give what is computed another name: h = ..., and h in place of {name} from there on"
    raise GradcliError("not-differentiable", said, hint=hint, span=place(again))


def _check_named(found: Leaves, call: Call, place: Place) -> None:
    for name in call.wrt:
        if not found.follows(ast.Name(name, ast.Load())):
            said = f"{name} does not require a gradient"
            hint = (
                f"write requires_grad=True where {name} is made\n"
                "PyTorch: One of the differentiated Tensors does not require grad"
            )
            raise GradcliError("not-differentiable", said, hint=hint, span=place(call.statement))


def _check_apart(found: Leaves, by_name: tuple[str, ...], call: Call | None, place: Place) -> None:
    """Refuse gradients by a tensor and by what it is computed from, at once: one of them is cut."""
    for name in by_name:
        for other in {*by_name} - {name}:
            if call and name in found.inputs and other in loaded(found.inputs[name]):
                said = f"{name} is computed from {other}, and a gradient is asked for by both"
                hint = "ask for one of them at a time"
                raise GradcliError("unsupported", said, hint=hint, span=place(call.statement))


def _free(found: Leaves, call: Call) -> bool:
    """Whether there are names that no statement gives a value."""
    everything: list[ast.AST] = [*found.rest, *found.inputs.values(), call.output]
    functions = {c.func for e in everything for c in ast.walk(e) if isinstance(c, ast.Call)}
    given = {n for s in found.rest for n in bound(s)} | found.inputs.keys() | LIBRARIES
    return any(
        n.id not in given and n not in functions
        for e in everything
        for n in ast.walk(e)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    )
