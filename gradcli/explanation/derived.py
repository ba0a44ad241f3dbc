"""Problems with a gradient as the output, with tangents for inputs, or with a scalar output."""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, count
from typing import Any, NoReturn

from ..autodiff.reverse import with_graph
from ..errors import GradcliError, did_you_mean
from ..graphs import OPS, Node
from ..graphs.shapes import text
from ..language.arguments.directions import Direction, as_graph, read_direction
from ..language.arguments.seeds import Seed, implied, mismatch, torch_size
from ..language.arguments.values import Reader
from ..language.posing import pose
from ..language.problem import Input, Problem, Tangent
from ..limits import hint
from .analysis import Analysis, operations
from .zero_second_derivative import with_seed_given

# largest number of operations of a derivative, relative to the limit for a program
DERIVATIVE = 1.5
SLOW = "a lower --order is faster; --limit seconds=N gives more time"
NO_TANGENT = "tangents are for floating-point inputs"


def gradient_name(x: str, order: int = 1) -> str:
    """The name of the gradient with respect to x: x.grad, or x.grad2 and so on by order."""
    return f"{x}.grad" if order == 1 else f"{x}.grad{order}"


# ---- the gradient as an output -------------------------------------------------------------------


def each_of_order(a: Analysis, order: int, seeds: Sequence[Any], reader: Reader) -> list[Analysis]:
    """For each input an analysis whose gradient is the derivative of this `order`, at least 2.

    `seeds` are those of order 2 and up; further ones may be missing. The analysis of an input
    without such a derivative has no gradient. Raises GradcliError if no input has one.
    """

    def compute() -> tuple[list[Analysis], list[Analysis]]:
        result = [_of_order(a, x, order, seeds, reader) for x in a.problem.wrt]
        return result, [one for one in result if one.gradient(one.problem.wrt[0]) is None]

    def refuse() -> NoReturn:
        _refuse_order(a.problem, order, SLOW)

    result, without = a.problem.limits.budget.present(compute, refuse)
    if len(without) == len(result):
        without[0].refuse(without[0].problem.wrt)
    return result


def _refuse_order(p: Problem, order: int, hint: str) -> NoReturn:
    """Raise the error that the graph of this order exceeds a limit."""
    message = f"a derivative of order {order} has too many operations to be computed here"
    raise GradcliError("limit", message, span=p.program.span, hint=hint)


def _of_order(a: Analysis, x: Input, order: int, seeds: Sequence[Any], reader: Reader) -> Analysis:
    for k in range(2, order + 1):
        grad = a.gradient(x)
        if grad is None:
            return Analysis(a.problem._replace(wrt=[x]), a.dtype, a.against, allow_no_gradient=True)
        seed = seeds[k - 2] if k - 2 < len(seeds) else None
        read = None if seed is None else read_direction(seed, "--grad", reader)
        p = _seeded(of_gradient(a.problem, x, grad, f"g_{k}", [x]), read, reader)
        a = Analysis(p, a.dtype, a.against, allow_no_gradient=True)
    return a


def of_gradient(p: Problem, x: Input, grad: Node, seed: str, wrt: list[Input]) -> Problem:
    """The problem whose output is `grad`, the gradient of p with respect to x. Its seed is a symbol
    called `seed`.
    """
    out = with_seed_given(p, with_graph(grad))
    inputs = dict(p.inputs)
    if p.seed.value is None:
        inputs[p.seed.name] = Input(p.seed.name, p.seed.node, None, (), False)
    named = dict(p.named)
    if p.lower_order is None and p.out.op.name != "input":
        named.setdefault(p.out_name, p.out)
    node = OPS["input"](name=_free(p, seed), shape=out.shape, is_direction=True)
    result = p._replace(
        inputs=inputs,
        out=out,
        out_name=gradient_name(x.name, p.order),
        named=named,
        seed=implied(node),
        wrt=wrt,
        lower_order=p._replace(wrt=[x]),
    )
    if operations(result) > DERIVATIVE * p.limits.sizes["explained"]:
        _refuse_order(p, result.order, hint("explained"))
    return result


def _seeded(p: Problem, direction: Direction | None, reader: Reader) -> Problem:
    """The problem with this seed. Raises GradcliError if its shape is not that of the output."""
    if direction is None:
        return p
    names = p.scope | {"out": p.out}
    value = as_graph(direction, p.seed.name, names, p.values, p.out.shape, reader)
    if value.shape != p.out.shape:
        raise GradcliError(
            "seed-shape",
            f"the seed of order {p.order} has shape {text(value.shape)} and {p.out_name} has shape "
            f"{text(p.out.shape)}",
            hint=f"{mismatch(value.shape, p.out.shape)}\n"
            f"in this seed, out means {p.out_name}: ones_like(out) fits",
        )
    return p._replace(seed=Seed(p.seed.node, value, direction.text))


def _free(p: Problem, wanted: str) -> str:
    used = {*p.scope, p.out_name, p.seed.name}
    further = (f"{wanted}_{k}" for k in count(1))
    return next(name for name in chain([wanted], further) if name not in used)


# ---- tangents ------------------------------------------------------------------------------------


def check_tangents(p: Problem, names_given: Collection[str]) -> None:
    """Raise GradcliError for a tangent of something that is not an input in `wrt`."""
    names = [x.name for x in p.wrt]
    for name in names_given:
        if name not in p.inputs:
            near = did_you_mean(name, names) or f"the inputs are {', '.join(names)}"
            raise GradcliError(
                "unused-option", f"there is no input {name}, so it has no tangent", hint=near
            )
        if p.inputs[name].node.dtype != "float":
            message = f"{name} has integers or booleans, so it has no tangent"
            raise GradcliError("not-differentiable", message, hint=NO_TANGENT)
        if name not in names:
            hint = f"the inputs in wrt are {', '.join(names)}"
            raise GradcliError("unused-option", f"{name} is held fixed", hint=hint)


def with_tangents(
    p: Problem, directions: Mapping[str, Direction | None], reader: Reader
) -> Problem:
    """The problem with a tangent for each input of `directions`, a symbol for None; if empty, with
    a symbol for every input in `wrt`. Raises GradcliError.
    """
    check_tangents(p, directions)
    moving = [x for x in p.wrt if x.name in directions] if directions else p.wrt
    names = ["t"] if len(moving) == 1 else [f"t_{x.name}" for x in moving]
    tangents = [_tangent(p, x, _free(p, n), directions, reader) for x, n in zip(moving, names)]
    return p._replace(tangents=tuple(tangents))


def tangent_symbol(name: str, x: Input) -> Node:
    """A symbol for the tangent of an input."""
    return OPS["input"](name=name, shape=x.shape, is_direction=True)


def _tangent(
    p: Problem, x: Input, name: str, directions: Mapping[str, Direction | None], reader: Reader
) -> Tangent:
    node, typed = tangent_symbol(name, x), directions.get(x.name)
    if typed is None:
        return Tangent(x, node, None, None)
    scope = p.scope | {p.out_name: p.out}
    value = as_graph(typed, name, scope, p.values, x.shape, reader)
    if value.shape != x.shape:
        raise _wrong_shape(x, value)
    return Tangent(x, node, value, typed.text)


def _wrong_shape(x: Input, value: Node) -> GradcliError:
    message = f"the tangent of {x.name} has shape {text(value.shape)} and {x.name} {text(x.shape)}"
    cure = f"A tangent has one number for each element of {x.name}, the direction in which it moves"
    same = value.numel == x.node.numel
    return GradcliError(
        "tangent-shape",
        message,
        hint=f"PyTorch: Entry 0 in v has invalid size: should be {torch_size(x.shape)} but got "
        f"{torch_size(value.shape)}\n"
        + (f"It has the right number of elements: reshape it to {text(x.shape)}." if same else cure)
        + ("" if same else f": ones_like({x.name}) has shape {text(x.shape)}."),
    )


def pose_with_tangents(
    tangents: Mapping[str, Any], reader: Reader, arguments: dict[str, Any], scalar: bool
) -> Problem:
    """The problem of the `arguments` of `pose` with tangents, which also determine shapes; a
    tangent None is a symbol. `scalar`: the output is a single number, if that fits. Raises
    GradcliError.
    """
    directions = {
        n: None if v is None else read_direction(v, f"the tangent of {n}", reader)
        for n, v in tangents.items()
    }
    without_value = {n: g for n, g in directions.items() if g and n not in arguments["values"]}
    shapes = {n: g.array.shape for n, g in without_value.items() if g.array is not None}
    arguments |= {"shapes": shapes | dict(arguments["shapes"])}
    problem = (pose_scalar if scalar else pose)(**arguments)
    return with_tangents(problem, directions, reader) if directions or not scalar else problem


def pose_scalar(**arguments: Any) -> Problem:
    """The problem of the arguments of `pose`; missing shapes are inferred such that the output is a
    single number, if that fits. Raises GradcliError.
    """
    try:
        return pose(out_shape=(), **arguments)
    except GradcliError as error:
        if not error.is_misfit:
            raise
        return pose(**arguments)
