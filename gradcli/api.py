"""What `import gradcli` offers."""

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from . import ways
from .errors import GradcliError
from .explanation.analysis import Analysis
from .language.assumptions import read_assumptions
from .language.problem import pose
from .lazy import np
from .limits import Limits

Shapes = Mapping[str, tuple[int, ...]]
Values = Mapping[str, Any]
P = ParamSpec("P")
T = TypeVar("T")
Assumptions = Mapping[str, str | Collection[str]] | str | None


def _in_keywords(function: Callable[P, T]) -> Callable[P, T]:
    """The function, whose errors speak of keywords where those of the command speak of options."""

    @wraps(function)
    def told(*args: P.args, **named: P.kwargs) -> T:
        try:
            return function(*args, **named)
        except GradcliError as error:
            ways.tell(error, ways.PYTHON)
            raise

    return told


def _pose(
    expr: str,
    shapes: Shapes | None,
    values: Values | None,
    grad: Any,
    wrt: Collection[str] | str | None,
    limits: Limits | None = None,
    claims: Any = (),
    assume: Assumptions = None,
    suppose: bool = False,
) -> Analysis:
    asked = _asked(expr, shapes, values, wrt, assume)
    return Analysis(pose(grad=grad, limits=limits, suppose=suppose, **asked), claims=claims)


def _asked(
    expr: str,
    shapes: Shapes | None,
    values: Values | None,
    wrt: Collection[str] | str | None,
    assume: Assumptions = None,
) -> dict[str, Any]:
    """What was asked, as `pose` takes it. Raises GradcliError for what is of another type."""
    _check_named(expr, shapes, values)
    names = [n.strip() for n in wrt.split(",")] if isinstance(wrt, str) else wrt
    known = None if assume is None else read_assumptions(assume)
    return {"expr": expr, "shapes": shapes, "values": values, "wrt": names, "assume": known}


def _check_named(expr: str, shapes: Shapes | None, values: Values | None) -> None:
    if not isinstance(expr, str):
        raise GradcliError("syntax", f"an expression is a text, not {expr!r}")
    for what, given in (("shapes", shapes), ("values", values)):
        if given is not None and not isinstance(given, Mapping):
            said = f"{what} are a dict by name of the input, not {given!r}"
            raise GradcliError("value" if what == "values" else "shape-option", said)
    for name, shape in (shapes or {}).items():
        if not isinstance(shape, tuple | list) or not all(type(n) is int for n in shape):
            said = f"the shape of {name} is a tuple of whole numbers, not {shape!r}"
            raise GradcliError("shape-option", said)


def _orders(analysis: Analysis, order: int, grads: Sequence[Any]) -> list[Analysis]:
    """The analysis itself; of order 2 and up, one for each input."""
    if type(order) is not int or order < 1 or len(grads) >= order:
        said = f"the order is a whole number from 1, above that of {len(grads)} further seeds"
        raise GradcliError("option", said if grads else "the order is a whole number from 1")
    if order == 1:
        return [analysis]
    from .explanation.derived import each_of_order
    from .language.values import Reader

    return each_of_order(analysis, order, grads, Reader(Limits(), 0, None))


def _moving(asked: dict[str, Any], tangents: Values, scalar: bool = False) -> Analysis:
    """The analysis of a request whose inputs move along tangents."""
    from .explanation.analysis import Unmoved
    from .explanation.posing import pose_moving

    if not isinstance(tangents, Mapping):
        said = f"tangents are a dict by name of the input, not {tangents!r}"
        raise GradcliError("value", said)
    return Unmoved(pose_moving(tangents=tangents, scalar=scalar, **asked))


def _alone(found: dict[str, Any]) -> Any:
    """What there is for the only input; a dict by name where there are several."""
    return found if len(found) > 1 else next(iter(found.values()))


def _own(value: Any) -> Any:
    """A copy of an array, for what is computed later not to change with the caller's."""
    return np.array(value) if hasattr(value, "__array__") else value


class Explanation:
    """An explained gradient.

    Its attributes are the keys of the JSON (`grad`, `jacobian`, `inputs`, ...), with NumPy
    arrays; it prints itself in a terminal and in a notebook, and `to(format)` gives it as text.
    """

    def __init__(self, analysis: Analysis):
        from .explanation.data import Data

        self._analysis, self._data = analysis, Data(analysis)

    @_in_keywords
    def __getattr__(self, name: str) -> Any:
        from .explanation.data import KEYS

        if name not in KEYS:
            raise AttributeError(name)
        value = self.__dict__[name] = self._data(name)
        return value

    @_in_keywords
    def to(
        self,
        format: str = "plain",
        *,
        width: int = 80,
        precision: int = 5,
        show: Collection[str] = (),
    ) -> str:
        """The explanation as text: "terminal", "plain", "markdown" or "json"."""
        from .explanation.document import Choices
        from .render.environment import Environment
        from .render.formats import render

        environment = Environment(width=width, color=format == "terminal", precision=precision)
        return render(
            self._analysis, format, Choices(show=tuple(show), precision=precision), environment
        )

    def __str__(self) -> str:
        return self.to("plain")

    def __repr__(self) -> str:
        return f"<gradcli.Explanation of {self._analysis.problem.program.source.text!r}>"

    def _repr_markdown_(self) -> str:
        return self.to("markdown")


@_in_keywords
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
) -> Explanation:
    """The explanation of the gradient of `expr`.

    `shapes` and `values` are by name of the input; `grad` is the seed, as an array or as text in
    the language; `wrt` the inputs to differentiate by; `assume` what is known of matrices, which
    shortens formulas: {"A": "symmetric"}. With `order` 2 and up it is that of the derivative of
    this order by one input, whose seeds after the first are `grads`. Raises GradcliError.
    """
    if isinstance(values, Mapping):
        values = {name: _own(value) for name, value in values.items()}
    first = _pose(expr, shapes, values, _own(grad), wrt, assume=assume, suppose=order == 1)
    analyses = _orders(first, order, grads)
    if len(analyses) > 1:
        names = [a.problem.wrt[0].name for a in analyses]
        said = f"order {order} is explained for one input at a time"
        raise GradcliError("option", said, hint=f"wrt is one of {', '.join(names)}")
    explanation = Explanation(analyses[0])
    explanation._analysis.gradients  # noqa: B018  (errors come now, not when it is printed)
    return explanation


@_in_keywords
def grad(
    expr: str,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    grad: Any = None,
    wrt: Collection[str] | str | None = None,
    order: int = 1,
    grads: Sequence[Any] = (),
) -> Any:
    """The gradient of `expr` in numbers: an array, or a dict by name where there are several
    inputs.

    None where the output does not depend on an input. With `order` 2 and up the derivative of this
    order by each input; `grads` are the seeds after the first, for what is not a single number.
    Raises GradcliError.
    """
    found: dict[str, Any] = {}
    for analysis in _orders(_pose(expr, shapes, values, grad, wrt), order, grads):
        analysis.require_numbers()
        given = [a for a in analysis.evaluator.values.values() if a is not None]
        found |= {name: _apart(value, given) for name, value in analysis.grad_values().items()}
    return _alone(found)


def _apart(found: Any, given: Iterable[Any]) -> Any:
    """The array, or None; a copy where changing it could change one of `given`."""
    if found is None:
        return None
    shared = not found.flags.writeable or any(np.may_share_memory(found, a) for a in given)
    return found.copy() if shared else found


@_in_keywords
def jacobian(
    expr: str,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    wrt: Collection[str] | str | None = None,
) -> Any:
    """The Jacobian of `expr`, of shape (*out.shape, *x.shape): an array, or a dict by name where
    there are several inputs.

    Entries are numbers where the inputs have values, and otherwise texts; None where those would be
    too many or too long. Raises GradcliError.
    """
    from .explanation.data import Data

    analysis = _pose(expr, shapes, values, None, wrt)
    data, found = Data(analysis), {}
    for x in analysis.problem.wrt:
        entries = data.entries(x)
        shape = (*analysis.problem.out.shape, *x.shape)
        found[x.name] = None if entries is None else entries.reshape(shape)
    return _alone(found)


@_in_keywords
def hessian(
    expr: str,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    wrt: Collection[str] | str | None = None,
    tangents: Values | None = None,
) -> Any:
    """The Hessian of `expr`, a single number: an array of shape (*x.shape, *x.shape), or where
    there are several inputs a dict of dicts by name, `found["x"]["z"]` of shape
    (*x.shape, *z.shape).

    With `tangents` by name of the input, the Hessian times the tangents, in the shape of each
    input; those left out are zero. Numbers, or texts as of `jacobian`. Raises GradcliError.
    """
    from .explanation.hessian import Hessian
    from .explanation.higher_data import hessian_arrays, product_arrays

    asked = _asked(expr, shapes, values, wrt)
    found = Hessian(_moving(asked, tangents or {}, scalar=True))
    arrays = product_arrays(found) if tangents else hessian_arrays(found)
    if len(arrays) > 1:
        return arrays
    (alone,) = arrays.values()
    return alone if tangents else next(iter(alone.values()))


@_in_keywords
def jvp(
    expr: str,
    *,
    tangents: Values,
    shapes: Shapes | None = None,
    values: Values | None = None,
) -> Any:
    """The Jacobian of `expr` times tangents, given by name of the input; those left out are zero.

    An array in the shape of the output, of numbers where the inputs have values, and otherwise of
    texts. Raises GradcliError.
    """
    from .explanation.higher_data import array_of
    from .explanation.jvp import Jvp

    found = Jvp(_moving(_asked(expr, shapes, values, None), tangents))
    return array_of(found.a, found.node, found.p.out.shape)


@_in_keywords
def check(
    expr: str,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    grad: Any = None,
    wrt: Collection[str] | str | None = None,
    claim: Mapping[str, str] | str | None = None,
) -> list[dict[str, Any]]:
    """The checks of the gradient of `expr`: name, ok, max_error, place, remark.

    `claim` has formulas that you derived, by name of the input, or one as a text `W = g.T @ x`.
    Each gets a check of its own after the others, with one more key, `claim`: what the JSON has
    under `claims`. Raises GradcliError.
    """
    claims = () if claim is None else [claim] if isinstance(claim, str) else claim
    from .explanation.data import Data

    data = Data(_pose(expr, shapes, values, _own(grad), wrt, claims=claims))
    return [*data("checks"), *map(_claim_check, data("claims"))]


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


@_in_keywords
def cost(
    expr: str,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    wrt: Collection[str] | str | None = None,
) -> dict[str, Any]:
    """What the gradient of `expr` costs, from shapes alone: FLOP of forward pass, VJP and JVP;
    entries, bytes and passes of each Jacobian; what is saved for backward. Raises GradcliError.
    """
    from .explanation.data import Data

    return Data(_pose(expr, shapes, values, None, wrt, Limits().for_shapes()))("cost")


@_in_keywords
def formula(
    expr: str,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    grad: Any = None,
    wrt: Collection[str] | str | None = None,
    assume: Assumptions = None,
) -> Any:
    """The gradient of `expr` as a formula in the language: a text, or a dict by name where there
    are several inputs.

    `assume` is what is known of matrices: {"A": "symmetric"}. None where the output does not
    depend on an input, or the formula is too long to be read, which is warned of. A formula holds
    for any sizes; one that does not is warned of. Raises GradcliError.
    """
    from .explanation.data import Data
    from .explanation.sections.notes import formulas

    analysis = _pose(expr, shapes, values, grad, wrt, assume=assume, suppose=True)
    data = Data(analysis)
    for _, message in formulas(data.w):
        warnings.warn(message, stacklevel=3)  # past _in_keywords
    found = {x.name: data.formula(x) for x in analysis.problem.wrt}
    return _alone(found)


@_in_keywords
def code(
    expr: str,
    target: str = "torch",
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
    grad: Any = None,
    wrt: Collection[str] | str | None = None,
) -> str:
    """A Python program that computes the gradient of `expr` and ends without an error where it is
    right.

    `target` is "torch", "jax", "numpy", "torch-function" or "custom-vjp". Raises GradcliError.
    """
    from .explanation.programs import program

    return program(_pose(expr, shapes, values, grad, wrt), target)


@_in_keywords
def seed_for(
    expr: str,
    target: Values,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
) -> dict[str, Any]:
    """The seed of least norm for which the gradients are `target`, which is by name of the input.

    A dict: `possible`; `seed` with its `value`; `grad`, what a VJP with it gives; `residual`,
    `grad` less `target`; `free`, the `count` of directions that change nothing and the first
    `directions`; `because`, sentences that say why there is none. Raises GradcliError.
    """
    from .explanation.seed_for import SeedFor
    from .language.targets import pose_targets

    _check_named(expr, shapes, values)
    if not isinstance(target, Mapping):
        said = f"target is a dict by name of the input, not {target!r}"
        raise GradcliError("value", said)
    return SeedFor(*pose_targets(expr, target, shapes=shapes, values=values)).data()


@_in_keywords
def graph(
    expr: str,
    *,
    shapes: Shapes | None = None,
    values: Values | None = None,
) -> list[dict[str, Any]]:
    """The graph of `expr`, a node each: id, op, name, inputs (ids), shape, text, value. Raises
    GradcliError.
    """
    return explain(expr, shapes=shapes, values=values).graph


def ops(name: str = "") -> list[dict[str, str]]:
    """The operators whose name holds `name`: name, family, signature, sentence."""
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


def batch(requests: Iterable[str | dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """An answer for each request, a dict or JSON text, as `gradcli batch` has them; in order, each
    before the next request is taken.

    A request that cannot be met is answered with `"ok": False` and its error; nothing is raised.
    """
    from .requests import batch as answers

    return answers(requests)
