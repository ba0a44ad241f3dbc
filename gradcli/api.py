"""What `import gradcli` offers.

Values may be read from files, `values={"x": "@x.npy"}`, only with `allow_files=True`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from . import ways
from .errors import GradcliError, short_repr
from .explained import Explanation
from .keywords import (
    Assumptions,
    Shapes,
    Values,
    alone,
    asked_in_keywords,
    check_by_name,
    check_named,
    check_order,
    check_text,
    in_keywords,
    in_python,
    limits_of,
    moving,
    of_order,
    posed,
    warn,
)
from .language.given.values import detached
from .lazy import np


@in_keywords
def explain(
    expr: str,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    grad: Any = None,
    wrt: Collection[str] | str | None = None,
    assume: Assumptions = None,
    order: int = 1,
    grads: Sequence[Any] = (),
    allow_files: bool = False,
) -> Explanation:
    """The explanation of the gradient of `expr`.

    `shapes` and `values` are by name of the input; `grad` is the seed, as an array or as text in
    the language; `wrt` the inputs to differentiate by; `assume` what is known of matrices, which
    shortens formulas: {"A": "symmetric"}. With `order` 2 and up it is that of the derivative of
    this order by one input, whose seeds after the first are `grads`. Raises GradcliError.
    """
    if isinstance(values, Mapping):
        values = {name: _own(value) for name, value in values.items()}
    check_order(order, grads)
    how: Any = {"assume": assume, "suppose": order == 1, "files": allow_files}
    first = posed(expr, shapes, values, _own(grad), wrt, **how)
    analyses = of_order(first, order, grads)
    if len(analyses) > 1:
        names = [a.problem.wrt[0].name for a in analyses]
        said = f"order {order} is explained for one input at a time"
        raise GradcliError("option", said, hint=f"wrt is one of {', '.join(names)}")
    explanation = Explanation(analyses[0])
    explanation._analysis.gradients  # noqa: B018  (errors come now, not when it is printed)
    return explanation


def _own(value: Any) -> Any:
    """A copy of an array, for what is computed later not to change with the caller's."""
    return deepcopy(detached(value)) if hasattr(value, "__array__") else value


@in_keywords
def grad(
    expr: str,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    grad: Any = None,
    wrt: Collection[str] | str | None = None,
    order: int = 1,
    grads: Sequence[Any] = (),
    allow_files: bool = False,
) -> Any:
    """The gradient of `expr` in numbers: an array, or a dict by name where there are several
    inputs.

    None where the output does not depend on an input. With `order` 2 and up the derivative of this
    order by each input; `grads` are the seeds after the first, for what is not a single number.
    What PyTorch has no derivative of is warned of. Raises GradcliError.
    """
    from .explanation.in_pytorch.not_in_pytorch import not_in_pytorch

    found: dict[str, Any] = {}
    check_order(order, grads)
    first = posed(expr, shapes, values, grad, wrt, files=allow_files)
    for analysis in of_order(first, order, grads):
        analysis.require_numbers()
        given = [a for a in analysis.evaluator.values.values() if a is not None]
        found |= {name: _apart(value, given) for name, value in analysis.grad_values().items()}
        warn(not_in_pytorch(analysis))
    warn(first.problem.notes)
    return alone(found)


def _apart(found: Any, given: Iterable[Any]) -> Any:
    """The array, or None; a copy where changing it could change one of `given`."""
    if found is None:
        return None
    shared = not found.flags.writeable or any(np.may_share_memory(found, a) for a in given)
    return found.copy() if shared else found


@in_keywords
def jacobian(
    expr: str,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    wrt: Collection[str] | str | None = None,
    allow_files: bool = False,
) -> Any:
    """The Jacobian of `expr`, of shape (*out.shape, *x.shape): an array, or a dict by name where
    there are several inputs.

    Entries are numbers where the inputs have values, and otherwise texts; None where those would be
    too many or too long. What PyTorch has no derivative of is warned of. Raises GradcliError.
    """
    from .explanation.data import Data
    from .explanation.in_pytorch.not_in_pytorch import not_in_pytorch

    analysis = posed(expr, shapes, values, None, wrt, files=allow_files)
    data, found = Data(analysis), {}
    for x in analysis.problem.wrt:
        entries = data.entries(x)
        shape = (*analysis.problem.out.shape, *x.shape)
        found[x.name] = None if entries is None else entries.reshape(shape)
    warn(not_in_pytorch(analysis))
    return alone(found)


@in_keywords
def hessian(
    expr: str,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    wrt: Collection[str] | str | None = None,
    tangents: Values | None = None,
    allow_files: bool = False,
) -> Any:
    """The Hessian of `expr`, a single number: an array of shape (*x.shape, *x.shape), or where
    there are several inputs a dict of dicts by name, `found["x"]["z"]` of shape
    (*x.shape, *z.shape).

    With `tangents` by name of the input, the Hessian times the tangents, in the shape of each
    input; those left out are zero. Numbers, or texts as of `jacobian`. What PyTorch has no
    derivative of is warned of. Raises GradcliError.
    """
    from .explanation.higher.hessian import Hessian
    from .explanation.higher_data import hessian_arrays, product_arrays
    from .explanation.in_pytorch.not_in_pytorch import hessian_not_in_pytorch

    asked = asked_in_keywords(expr, shapes, values, wrt, files=allow_files)
    found = Hessian(moving(asked, {} if tangents is None else tangents, scalar=True))
    arrays = product_arrays(found) if tangents else hessian_arrays(found)
    warn(hessian_not_in_pytorch(found.p))
    found = alone(arrays)
    return found if tangents or len(arrays) > 1 else alone(found)


@in_keywords
def jvp(
    expr: str,
    *,
    tangents: Values,
    shapes: Shapes | None = None,
    values: Values | None = None,
    allow_files: bool = False,
) -> Any:
    """The Jacobian of `expr` times tangents, given by name of the input; those left out are zero.

    An array in the shape of the output, of numbers where the inputs have values, and otherwise of
    texts. What PyTorch has no derivative of is warned of. Raises GradcliError.
    """
    from .explanation.higher.jvp import Jvp
    from .explanation.higher_data import array_of
    from .explanation.in_pytorch.not_in_pytorch import not_in_pytorch

    asked = asked_in_keywords(expr, shapes, values, None, files=allow_files)
    found = Jvp(moving(asked, tangents))
    warn(not_in_pytorch(found.a))
    return array_of(found.a, found.node, found.p.out.shape)


@in_keywords
def check(
    expr: str,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    grad: Any = None,
    wrt: Collection[str] | str | None = None,
    claim: Mapping[str, str] | str | None = None,
    assume: Assumptions = None,
    allow_files: bool = False,
) -> list[dict[str, Any]]:
    """The checks of the gradient of `expr`: name, ok, max_error, place, remark.

    `claim` has formulas that you derived, by name of the input, or one as a text `W = g.T @ x`.
    Each gets a check of its own after the others, with one more key, `claim`: what the JSON has
    under `claims`. They are tried on matrices that are what `assume` says: {"A": "symmetric"}.
    Raises GradcliError.
    """
    claims = _claims(claim)
    from .explanation.data import Data

    how: Any = {"assume": assume, "suppose": bool(claims), "files": allow_files}
    data = Data(posed(expr, shapes, values, _own(grad), wrt, claims=claims, **how))
    return [*data("checks"), *map(_claim_check, data("claims"))]


def _claims(claim: Any) -> Any:
    if claim is None or isinstance(claim, str):
        return () if claim is None else [claim]
    check_by_name("claim is a text, or", claim, "option")
    return claim


def _claim_check(found: dict[str, Any]) -> dict[str, Any]:
    element = found["element"]
    pair = None if element is None else (element["claimed_value"], element["value"])
    error = None if pair is None else abs(float(pair[0]) - float(pair[1]))
    return {
        "name": f"claim {found['input']} = {found['claim']}",
        "ok": found["ok"],
        "max_error": error,
        "place": None if element is None else element["name"],
        "remark": found["remark"],
        "claim": found,
    }


@in_keywords
def cost(
    expr: str,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    wrt: Collection[str] | str | None = None,
    allow_files: bool = False,
) -> dict[str, Any]:
    """What the gradient of `expr` costs, from shapes alone: FLOP of forward pass, VJP and JVP;
    entries, bytes and passes of each Jacobian; what is saved for backward. Raises GradcliError.
    """
    from .explanation.data import Data

    how: Any = {"shapes_alone": True, "files": allow_files}
    return Data(posed(expr, shapes, values, None, wrt, **how))("cost")


@in_keywords
def formula(
    expr: str,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    grad: Any = None,
    wrt: Collection[str] | str | None = None,
    assume: Assumptions = None,
    allow_files: bool = False,
) -> Any:
    """The gradient of `expr` as a formula in the language: a text, or a dict by name where there
    are several inputs.

    `assume` is what is known of matrices: {"A": "symmetric"}. None where the output does not
    depend on an input, or the formula is too long to be read, which is warned of. A formula holds
    for any sizes; one that does not is warned of, and so are shapes that had to be assumed where
    it does not hold for others. Raises GradcliError.
    """
    from .explanation.data import Data
    from .explanation.formulas.assumed_shapes import as_note
    from .explanation.notes import formulas

    how: Any = {"assume": assume, "suppose": True, "files": allow_files}
    analysis = posed(expr, shapes, values, grad, wrt, shapes_alone=True, **how)
    data = Data(analysis)
    warn([*formulas(data.w), *as_note(data.w, ways.PYTHON)])
    found = {x.name: data.formula(x) for x in analysis.problem.wrt}
    return alone(found)


@in_keywords
def code(
    expr: str,
    target: str = "torch",
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    grad: Any = None,
    wrt: Collection[str] | str | None = None,
    allow_files: bool = False,
) -> str:
    """A Python program that computes the gradient of `expr` and ends without an error where it is
    right.

    `target` is "torch", "jax", "numpy", "torch-function" or "custom-vjp". Raises GradcliError.
    """
    from .explanation.programs import program

    check_text("target", target)
    analysis = posed(expr, shapes, values, grad, wrt, suppose=True, files=allow_files)
    return program(analysis, target)


@in_keywords
def seed_for(
    expr: str,
    target: Values,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    allow_files: bool = False,
) -> dict[str, Any]:
    """The seed of least norm for which the gradients are `target`, which is by name of the input.

    A dict: `possible`; `seed` with its `value`; `grad`, what a VJP with it gives; `residual`,
    `grad` less `target`; `free`, the `count` of directions that change nothing and the first
    `directions`; `because`, sentences that say why there is none. Raises GradcliError.
    """
    from .explanation.seeds.seed_for import SeedFor
    from .explanation.seeds.seed_for_document import data
    from .language.targets import pose_targets

    check_named(expr, shapes, values)
    check_by_name("target is", target)
    asked = asked_in_keywords(expr, shapes, values, None, files=allow_files)
    return data(SeedFor(*pose_targets(targets=target, **asked)))


@in_keywords
def graph(
    expr: str,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    allow_files: bool = False,
) -> list[dict[str, Any]]:
    """The graph of `expr`, a node each: id, op, name, inputs (ids), shape, text, value. Raises
    GradcliError.
    """
    return explain(expr, shapes=shapes, values=values, allow_files=allow_files).graph


@in_keywords
def read(text: str) -> dict[str, Any]:
    """What a pasted program does, as the JSON of `gradcli read` has it: stdout, error (type,
    message, line) or None, warnings, backward, findings, corrected; of a page with several
    programs, `programs`, each with its first_line. Nothing of it is executed.
    """
    check_text("a program", text)
    from .explanation.reading.answer import answer, data

    return data(answer(text))


@in_keywords
def why(message: str) -> dict[str, Any]:
    """What an error message of PyTorch means, as the JSON of `gradcli why` has it: class, message,
    meaning, causes in the order of their frequency, cure, values that the text holds, trigger.

    The text may be cut, wrapped, misspelt, of an old release, or a whole traceback. Raises
    GradcliError where it is none of the messages that are known.
    """
    check_text("a message", message)
    from .explanation.messages.answer import explained

    return explained(message)


def ops(name: str = "") -> list[dict[str, str]]:
    """The operators whose name holds `name`: name, family, signature, sentence. Raises
    GradcliError.
    """
    check_text("the name of an operator", name)
    from .explanation.catalogue import families

    return [
        {"name": op.name, "family": family, "signature": op.signature(), "sentence": op.sentence}
        for family, members in families().items()
        for op in members
        if name.lower() in op.name.lower()
    ]


def examples() -> dict[str, dict[str, Any]]:
    """The worked examples by name: question, expr, shapes, values and grad as on the command line,
    and the command.
    """
    from .worked_examples import EXAMPLES

    return {name: e._asdict() | {"command": e.command} for name, e in EXAMPLES.items()}


def batch(
    requests: Iterable[str | dict[str, Any]], *, allow_files: bool = False
) -> Iterator[dict[str, Any]]:
    """An answer for each request, a dict or JSON text, as `gradcli batch` has them; in order, each
    before the next request is taken.

    A request that cannot be met is answered with `"ok": False` and its error; GradcliError is
    raised for requests that cannot be gone through.
    """
    from .requests import batch as answers

    if not isinstance(requests, Iterable) or isinstance(requests, str | bytes | Mapping):
        hint = 'as in batch([{"expr": "a * b"}])'
        said = f"requests are a list of dicts or JSON texts, not {short_repr(requests)}"
        raise GradcliError("request", said, hint=hint)
    return map(_in_python, answers(requests, limits_of(allow_files)))


def _in_python(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer whose error speaks of what Python's functions take in the place of options."""
    error = answer.get("error")
    if answer["ok"] or not error:
        return answer
    texts = {key: in_python(error[key]) for key in ("message", "hint") if key in error}
    return answer | {"error": error | texts}
