"""The Python interface, `import gradcli`.

Values may be read from files, `values={"x": "@x.npy"}`, only with `allow_files=True`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from . import option_spelling
from .errors import GradcliError, short_repr
from .explained import Explanation
from .keywords import (
    Assumptions,
    Names,
    Shapes,
    Values,
    check_text,
    in_keywords,
    in_python,
    limits_of,
    request_of,
    unwrap_single,
    warn,
)
from .language.arguments.values import detached
from .lazy import np
from .request import is_single


@in_keywords
def explain(
    expr: str, *, shapes: Shapes = None, values: Values = None, grad: Any = None, wrt: Names = None,
    assume: Assumptions = None, order: int = 1, grads: Sequence[Any] = (), expand: bool = False,
    dtype: str = "float64", random_seed: int = 0, allow_files: bool = False,
) -> Explanation:  # fmt: skip
    """Explain the gradient of `expr`, or its derivative of higher `order` with respect to one
    input.

    Returns an Explanation. Raises GradcliError.
    """
    return explanation_of(locals())


def explanation_of(
    keywords: Mapping[str, Any], full: bool = False, say: Callable[[str], str] = in_python
) -> Explanation:
    """The explanation for the keywords of `explain`; `full` and `say` are those of Explanation.

    Raises GradcliError, whose message names options of the command line.
    """
    explanation = Explanation(request_of("explain", _copied(keywords)).one(suppose=True), full, say)
    explanation._analysis.gradients  # noqa: B018  (raises errors now, not when printed)
    return explanation


def _copied(value: Any) -> Any:
    """`value` with copies of its arrays, so that later changes by the caller have no effect."""
    if isinstance(value, Mapping):
        return {name: _copied(item) for name, item in value.items()}
    return deepcopy(detached(value)) if hasattr(value, "__array__") else value


@in_keywords
def grad(
    expr: str, *, shapes: Shapes = None, values: Values = None, grad: Any = None, wrt: Names = None,
    order: int = 1, grads: Sequence[Any] = (), dtype: str = "float64", random_seed: int = 0,
    allow_files: bool = False,
) -> Any:  # fmt: skip
    """The gradient of `expr` in numbers: an array of the input's shape, or a dict of arrays by name
    if there are several inputs.

    A gradient is None if the output does not depend on the input. With `order` n >= 2 it is the
    n-th derivative with respect to each input. Warns if PyTorch has no derivative. Raises
    GradcliError.
    """
    from .explanation.in_pytorch.not_differentiated import not_differentiated

    result: dict[str, Any] = {}
    analyses = request_of("grad", locals()).analyses()
    for analysis in analyses:
        analysis.require_numbers()
        arrays = [a for a in analysis.evaluator.values.values() if a is not None]
        result |= {name: _unshared(value, arrays) for name, value in analysis.grad_values().items()}
        warn(not_differentiated(analysis))
    warn(analyses[0].problem.notes)
    return unwrap_single(result)


def _unshared(result: Any, inputs: Iterable[Any]) -> Any:
    """`result`, copied if it is read-only or may share memory with one of `inputs`."""
    if result is None:
        return None
    shared = not result.flags.writeable or any(np.may_share_memory(result, a) for a in inputs)
    return result.copy() if shared else result


@in_keywords
def jacobian(
    expr: str, *, shapes: Shapes = None, values: Values = None, wrt: Names = None,
    dtype: str = "float64", random_seed: int = 0, allow_files: bool = False,
) -> Any:  # fmt: skip
    """The Jacobian of `expr`, of shape (*out.shape, *x.shape): an array, or a dict by name if there
    are several inputs.

    Entries are numbers if the inputs have values, otherwise texts; a Jacobian is None if these
    would be too many or too long. Warns if PyTorch has no derivative. Raises GradcliError.
    """
    from .explanation.data import Data
    from .explanation.in_pytorch.not_differentiated import not_differentiated

    analysis = request_of("jacobian", locals()).analysis()
    data, jacobians = Data(analysis), {}
    for x in analysis.problem.wrt:
        entries = data.entries(x)
        shape = (*analysis.problem.out.shape, *x.shape)
        jacobians[x.name] = None if entries is None else entries.reshape(shape)
    warn(not_differentiated(analysis))
    return unwrap_single(jacobians)


@in_keywords
def hessian(
    expr: str, *, shapes: Shapes = None, values: Values = None, wrt: Names = None,
    assume: Assumptions = None, tangents: Values = None, dtype: str = "float64",
    random_seed: int = 0, allow_files: bool = False,
) -> Any:  # fmt: skip
    """The Hessian of `expr`, whose output has one element: an array of shape (*x.shape, *x.shape).

    If there are several inputs, a dict of dicts by name: `result["x"]["z"]` has shape (*x.shape,
    *z.shape). With `tangents`, the Hessian times the tangents, in the shape of each input. Entries
    are numbers, or texts as for `jacobian`. Warns if PyTorch has no derivative. Raises
    GradcliError.
    """
    from .explanation.higher.hessian import Hessian
    from .explanation.higher_data import hessian_arrays, product_arrays
    from .explanation.in_pytorch.not_differentiated import hessian_not_differentiated

    result = Hessian(request_of("hessian", locals()).with_tangents(scalar=True))
    arrays = product_arrays(result) if tangents else hessian_arrays(result)
    warn(hessian_not_differentiated(result.p))
    result = unwrap_single(arrays)
    return result if tangents or len(arrays) > 1 else unwrap_single(result)


@in_keywords
def jvp(
    expr: str, *, tangents: Values, shapes: Shapes = None, values: Values = None, wrt: Names = None,
    dtype: str = "float64", random_seed: int = 0, allow_files: bool = False,
) -> Any:  # fmt: skip
    """The Jacobian of `expr` times tangents, an array of the output's shape.

    Its elements are numbers if the inputs have values, otherwise texts. Warns if PyTorch has no
    derivative. Raises GradcliError.
    """
    from .explanation.higher.jvp import Jvp
    from .explanation.higher_data import array_of
    from .explanation.in_pytorch.not_differentiated import not_differentiated

    result = Jvp(request_of("jvp", locals()).with_tangents())
    warn(not_differentiated(result.a))
    return array_of(result.a, result.node, result.problem.out.shape)


@in_keywords
def check(
    expr: str, *, shapes: Shapes = None, values: Values = None, grad: Any = None, wrt: Names = None,
    claim: Mapping[str, str] | str | None = None, assume: Assumptions = None, against: Names = (),
    random_seed: int = 0, allow_files: bool = False,
) -> list[dict[str, Any]]:  # fmt: skip
    """The checks of the gradient of `expr`, a list of dicts: name, ok, max_error, place, remark.

    Each formula in `claim`, or the only one as a text `W = g.T @ x`, adds a check with one more
    key: `claim`, the entry for this formula under `claims` in JSON. Formulas are tested on matrices
    with the properties in `assume`. Raises GradcliError.
    """
    from .explanation.data import Data

    request = request_of("check", locals())
    data = Data(request.analysis(suppose=bool(request.claim)))
    return [*data("checks"), *map(_claim_check, data("claims"))]


def _claim_check(result: dict[str, Any]) -> dict[str, Any]:
    element = result["element"]
    pair = None if element is None else (element["claimed_value"], element["value"])
    error = None if pair is None else abs(float(pair[0]) - float(pair[1]))
    return {
        "name": f"claim {result['input']} = {result['claim']}",
        "ok": result["ok"],
        "max_error": error,
        "place": None if element is None else element["name"],
        "remark": result["remark"],
        "claim": result,
    }


@in_keywords
def cost(
    expr: str, *, shapes: Shapes = None, values: Values = None, wrt: Names = None,
    random_seed: int = 0, allow_files: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The cost of the gradient of `expr`, from shapes alone, as a dict.

    It has the FLOP of the forward pass, VJP and JVP; entries, bytes and passes for each Jacobian;
    and what is saved for backward. Raises GradcliError.
    """
    from .explanation.data import Data

    return Data(request_of("cost", locals()).for_shapes().analysis())("cost")


@in_keywords
def formula(
    expr: str, *, shapes: Shapes = None, values: Values = None, grad: Any = None, wrt: Names = None,
    assume: Assumptions = None, random_seed: int = 0, allow_files: bool = False,
) -> Any:  # fmt: skip
    """The gradient of `expr` as a formula: a text, or a dict by name if there are several inputs.

    A formula is None if the output does not depend on the input, or if it is too long to be read,
    with a warning. Warns of a formula that is not valid for all sizes, and of assumed shapes
    without which it would not be valid. Raises GradcliError.
    """
    from .explanation.data import Data
    from .explanation.formulas.assumed_shapes import as_note
    from .explanation.notes import formulas

    data = Data(request_of("formula", locals()).for_shapes().analysis(suppose=True))
    warn([*formulas(data.w), *as_note(data.w, option_spelling.PYTHON)])
    result = {x.name: data.formula(x) for x in data.p.wrt}
    return unwrap_single(result)


@in_keywords
def code(
    expr: str, target: str = "torch", *, shapes: Shapes = None, values: Values = None,
    grad: Any = None, wrt: Names = None, random_seed: int = 0, allow_files: bool = False,
) -> str:  # fmt: skip
    """A Python program that computes the gradient of `expr` and asserts that it is right.

    `target` is "torch", "jax", "numpy", "torch-function" or "custom-vjp". Raises GradcliError.
    """
    from .explanation.programs import program

    check_text("target", target)
    return program(request_of("code", locals()).analysis(suppose=True), target)


@in_keywords
def seed_for(
    expr: str, target: Values, *, shapes: Shapes = None, values: Values = None,
    random_seed: int = 0, allow_files: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The seed of least norm whose VJP is `target`, as a dict.

    The keys are `possible`; `seed` with its `value`; `grad`, the VJP of this seed; `residual`,
    `grad` minus `target`; `free`, the `count` of directions that do not change the VJP and the
    first `directions`; `because`, sentences on why there is no such seed. Raises GradcliError.
    """
    from .explanation.seeds.seed_for import SeedFor
    from .explanation.seeds.seed_for_document import data

    return data(SeedFor(*request_of("seed_for", locals()).with_targets()))


@in_keywords
def graph(
    expr: str, *, shapes: Shapes = None, values: Values = None, expand: bool = False,
    random_seed: int = 0, allow_files: bool = False,
) -> list[dict[str, Any]]:  # fmt: skip
    """The graph of `expr`, a list with a dict for each node: id, op, name, inputs (ids), shape,
    text, value.

    Raises GradcliError.
    """
    from .explanation.data import Data

    return Data(request_of("graph", locals()).analysis(suppose=True))("graph")


@in_keywords
def read(text: str) -> dict[str, Any]:
    """The results of a pasted program, as the JSON of `gradcli read`.

    The keys are stdout, error (type, message, line) or None, warnings, backward, findings,
    corrected; for a page with several programs, `programs`, each with its first_line. The program
    is interpreted, never executed.
    """
    check_text("a program", text)
    from .explanation.reading.answer import answer, data

    return data(answer(text))


@in_keywords
def why(message: str) -> dict[str, Any]:
    """The meaning of an error message of PyTorch, as the JSON of `gradcli why`.

    The keys are class, message, meaning, causes (the most frequent first), cure, values that the
    text contains, trigger. The text may be cut, wrapped, misspelt, of an old release, or a whole
    traceback. Raises GradcliError for an unknown message.
    """
    check_text("a message", message)
    from .explanation.messages.answer import explained

    return explained(message)


def ops(name: str = "") -> list[dict[str, str]]:
    """The operators whose name contains `name`, a list of dicts: name, family, signature, sentence.

    Raises GradcliError.
    """
    check_text("the name of an operator", name)
    from .explanation.catalogue import families

    return [
        {"name": n, "family": f.name, "signature": op.signature(), "sentence": op.sentence}
        for f, members in families().items()
        for n, op in members.items()
        if name.lower() in n.lower()
    ]


def examples() -> dict[str, dict[str, Any]]:
    """The worked examples by name, as dicts: question, the texts of expr, shapes, values and grad,
    and command.
    """
    from .worked_examples import EXAMPLES

    return {name: e._asdict() | {"command": e.command} for name, e in EXAMPLES.items()}


def batch(
    requests: Iterable[str | dict[str, Any]], *, allow_files: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield an answer for each request, a dict or JSON text, as `gradcli batch` does.

    Each request is answered before the next one is read. The answer to an invalid request has
    `"ok": False` and the error. Raises GradcliError if `requests` cannot be iterated over.
    """
    from .batches import batch as answers

    one = isinstance(requests, str | bytes | Mapping) or is_single(requests)
    if one or not isinstance(requests, Iterable):
        hint = 'as in batch([{"expr": "a * b"}])'
        message = f"requests must be a list of dicts or JSON texts, got {short_repr(requests)}"
        raise GradcliError("request", message, hint=hint)
    return map(_in_python, answers(requests, limits_of(allow_files)))


def _in_python(answer: dict[str, Any]) -> dict[str, Any]:
    """`answer` with keywords of Python in place of options in the text of its error."""
    error = answer.get("error")
    if answer["ok"] or not error:
        return answer
    texts = {key: in_python(error[key]) for key in ("message", "hint") if key in error}
    return answer | {"error": error | texts}
