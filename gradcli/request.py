"""A request about an expression: one record for the shell, JSON, Python and assistants.

`from_texts` parses the texts of options, `of_values` the fields of JSON and keywords of Python;
FIELDS in `fields` defines the fields. A request knows how its problem is posed, not how the answer
is shown.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from .errors import GradcliError, short_repr
from .explanation.analysis import Analysis
from .fields import DTYPES, FIELDS
from .graphs.shapes import Shape
from .language.arguments import option_texts
from .language.arguments.assumptions import Assumed, read_assumptions
from .language.arguments.values import Reader
from .language.posing import pose
from .language.problem import Problem
from .limits import MOST_ORDER, Limits
from .option_spelling import PYTHON, Spelling
from .pasted.marks import may_be_program

NOTHING: Mapping[str, Any] = MappingProxyType({})
POSED = ("expr", "shapes", "values", "wrt", "assume", "limits", "random_seed")
NEVER_NONE = ("expr", "order")


class Request(NamedTuple):
    """The fields of a request, parsed. `seeds` are the seed of the output, and for a derivative of
    higher order those of the further gradients; `stdin` is a function that opens standard input,
    for values that are read from it.
    """

    expr: str
    shapes: Mapping[str, Shape] = NOTHING
    values: Mapping[str, Any] = NOTHING
    seeds: Sequence[Any] = ()
    wrt: Collection[str] | None = None
    assume: Assumed | None = None
    claim: Any = ()
    order: int = 1
    tangents: Mapping[str, Any] = NOTHING
    target: Mapping[str, Any] = NOTHING
    expand: bool = False
    against: Sequence[str] = ()
    dtype: str = DTYPES[0]
    random_seed: int = 0
    limits: Limits | None = None
    stdin: Callable[[], Any] | None = None

    def for_shapes(self) -> "Request":
        """This request with limits for shapes: no array is created."""
        return self._replace(limits=(self.limits or Limits()).for_shapes())

    def analysis(self, suppose: bool = False, scalar: bool = False) -> Analysis:
        """The analysis of the gradient. Raises GradcliError.

        `suppose`: whether integer inputs without a value get placeholder values; `scalar`: whether
        shapes are inferred such that the output has one element, if possible.
        """
        self._check()
        posing: Callable[..., Problem] = pose
        if scalar:
            from .explanation.derived import pose_scalar

            posing = pose_scalar
        arguments = self._pose_arguments(grad=self.seeds[0] if self.seeds else None)
        problem = posing(**arguments, suppose=suppose)
        if self.expand:
            from .graphs.substitution import expanded

            problem = problem.rebuilt(expanded(problem.roots))
        return Analysis(problem, self.dtype, self.against, self.claim)

    def analyses(self, suppose: bool = False) -> list[Analysis]:
        """The analyses of the gradient, for order >= 2 one for each input. Raises GradcliError."""
        first = self.analysis(suppose and self.order == 1)
        if self.order == 1:
            return [first]
        from .explanation.derived import each_of_order

        return each_of_order(first, self.order, self.seeds[1:], self._reader())

    def one(self, suppose: bool = False) -> Analysis:
        """The only analysis in `analyses`. Raises GradcliError if there are several."""
        result = self.analyses(suppose)
        if len(result) > 1:
            names = [a.problem.wrt[0].name for a in result]
            message = f"--order {self.order} is explained for one input at a time"
            raise GradcliError("option", message, hint=" or ".join(f"-w {name}" for name in names))
        return result[0]

    def with_tangents(self, scalar: bool = False) -> Analysis:
        """The analysis of the output with tangents; `scalar` as in `analysis`. Raises
        GradcliError.
        """
        from .explanation.derived import pose_with_tangents

        problem = pose_with_tangents(self.tangents, self._reader(), self._pose_arguments(), scalar)
        return Analysis(problem, self.dtype, allow_no_gradient=True)

    def with_targets(self) -> tuple[Problem, dict[str, Any]]:
        """The problem of `seed-for`, and the target gradients by name. Raises GradcliError."""
        from .language.posing import pose_targets

        return pose_targets(self.target, self._reader(), self._pose_arguments())

    def _pose_arguments(self, **seed: Any) -> dict[str, Any]:
        """The arguments of `pose`, including `grad` if the question has a seed."""
        fields = {name: getattr(self, name) for name in POSED}
        asked = {**fields, "stdin": self._stdin(), **seed}
        if not may_be_program(self.expr):
            return asked
        from .pasted.request import in_language

        return in_language(asked)

    def _stdin(self) -> Any:
        return self.stdin and self.stdin()

    def _reader(self) -> Reader:
        """A reader for tangents, targets and further seeds."""
        return Reader(self.limits or Limits(), self.random_seed, self._stdin())

    def _check(self) -> None:
        """Raise GradcliError for invalid values, and for fields that exclude each other."""
        if type(self.order) is not int or not 1 <= self.order <= MOST_ORDER:
            message = f"the order must be an integer from 1 to {MOST_ORDER}"
            raise GradcliError("option", f"{message}, got {short_repr(self.order)}")
        if self.dtype not in DTYPES:
            message = f"--dtype must be float64 or float32, got {self.dtype}"
            hint = "the default is float64; types shorter than float32 are not supported"
            raise GradcliError("option", message, hint=hint)
        seeds = len(self.seeds)
        if seeds > self.order:
            message = f"--grad is given {seeds} times: there is one seed for each order"
            raise GradcliError("option", message, hint=f"to differentiate again: --order {seeds}")
        if self.claim and self.order > 1:
            raise GradcliError("option", "--claim is about the gradient: it needs --order 1")


# ---- reading -------------------------------------------------------------------------------------


def from_texts(expr: str, options: Mapping[str, Any], limits: Limits, stdin: Any = None) -> Request:
    """A request from the values of options. Raises GradcliError. Values are lists of texts for
    repeatable options, parsed values for others. Names outside FIELDS are ignored.
    """
    typed = {name: v for name, v in options.items() if v and name in FIELDS and name != "expr"}
    result = {n: TEXTS[n](v) if n in TEXTS else v for n, v in typed.items()}
    return Request(expr, seeds=result.pop("grad", ()), limits=limits, stdin=stdin, **result)


def of_values(fields: Mapping[str, Any], limits: Limits, spelling: Spelling) -> Request:
    """A request from values of JSON or Python, by field. Raises GradcliError.

    None means omitted; fields without a parser are ignored. The message for a wrong type names
    fields in this `spelling`.
    """
    present = {
        n: v for n, v in fields.items() if n in VALUES and (v is not None or n in NEVER_NONE)
    }
    result = {name: VALUES[name](name, value, spelling) for name, value in present.items()}
    seed, further = result.pop("grad", None), result.pop("grads", [])
    seeds = [] if seed is None and not further else [seed, *further]
    return Request(seeds=seeds, limits=limits, **result)


def listed(texts: Sequence[str]) -> list[str]:
    """The names in comma-separated texts, without repetitions."""
    return list(dict.fromkeys(name.strip() for text in texts for name in text.split(",")))


def _wrong(name: str, message: str, spelling: Spelling, example: str = "") -> GradcliError:
    """The error for a value of the wrong type."""
    field = FIELDS[name]
    hint = f"as in {spelling.field.format(name, example or field.example)}"
    return GradcliError(spelling.code or field.code, message, hint=hint)


def _text(name: str, value: Any, spelling: Spelling) -> str:
    if not isinstance(value, str):
        raise _wrong(name, f"an expression must be a text, got {short_repr(value)}", spelling)
    return value


def _by_name(name: str, value: Any, spelling: Spelling, also: str = "") -> Mapping[str, Any]:
    text = f"{name} must be {also}{spelling.mapping} by name of the input"
    if not isinstance(value, Mapping):
        raise _wrong(name, f"{text}, got {short_repr(value)}", spelling)
    for key in value:
        if not isinstance(key, str):
            raise _wrong(name, f"{text}, and {short_repr(key)} is not a text", spelling)
    return value


def _text_or_by_name(name: str, value: Any, spelling: Spelling) -> str | Mapping[str, Any]:
    return value if isinstance(value, str) else _by_name(name, value, spelling, "a text, or ")


def _shapes(name: str, value: Any, spelling: Spelling) -> dict[str, Shape]:
    """Shapes as lists of sizes, or as texts in the syntax of the option."""
    result = {}
    for input_name, entry in _by_name(name, value, spelling).items():
        shape = option_texts.read_shape(input_name, entry) if isinstance(entry, str) else entry
        if not option_texts.is_shape(shape):
            text = f"the shape of {input_name} must be a list of integers, got {short_repr(shape)}"
            raise _wrong(name, text, spelling, f'{{"{input_name}": [2, 3]}}')
        result[input_name] = tuple(shape)
    return result


def is_single(value: Any) -> bool:
    """Whether a value is an array without dimensions, which has no items."""
    return getattr(value, "ndim", None) == 0


def _names(name: str, value: Any, spelling: Spelling) -> list[str]:
    """A list of names, or a text in the syntax of the option."""
    if isinstance(value, str):
        return option_texts.read_names(value)
    listed = isinstance(value, Collection) and not isinstance(value, Mapping)
    if not listed or is_single(value) or not all(isinstance(entry, str) for entry in value):
        text = f"{name} must be the name of an input or a list of names, got {short_repr(value)}"
        raise _wrong(name, text, spelling)
    return [*value]


def _claims(name: str, value: Any, spelling: Spelling) -> Any:
    result = _text_or_by_name(name, value, spelling)
    return [result] if isinstance(result, str) else result


def _flag(name: str, value: Any, spelling: Spelling) -> bool:
    if not isinstance(value, bool):
        true = "True" if spelling is PYTHON else "true"
        raise _wrong(name, f"{name} must be true or false, got {short_repr(value)}", spelling, true)
    return value


def _integer(name: str, value: Any, spelling: Spelling) -> int:
    if type(value) is not int:
        raise _wrong(name, f"{name} must be an integer, got {short_repr(value)}", spelling)
    return value


def _dtype(name: str, value: Any, spelling: Spelling) -> str:
    if not isinstance(value, str) or value not in DTYPES:
        text = f"{name} must be {' or '.join(DTYPES)}, got {short_repr(value)}"
        raise _wrong(name, text, spelling)
    return value


def _frameworks(name: str, value: Any, spelling: Spelling) -> list[str]:
    return listed([value] if isinstance(value, str) else _names(name, value, spelling))


def _seeds(name: str, value: Any, spelling: Spelling) -> list[Any]:
    """A list of seeds; a single text becomes a list."""
    if not isinstance(value, Sequence) or isinstance(value, bytes):
        raise _wrong(name, f"{name} must be a list of seeds, got {short_repr(value)}", spelling)
    return [value] if isinstance(value, str) else [*value]


# parsers of the fields of `from_texts`; other fields are already parsed
TEXTS: dict[str, Callable[[Any], Any]] = {
    "shapes": option_texts.read_shapes,
    "values": option_texts.read_values,
    "wrt": lambda texts: option_texts.read_names(",".join(texts)),
    "assume": lambda texts: read_assumptions(",".join(texts)),
    "tangents": option_texts.read_tangents,
    "target": lambda texts: option_texts.read_values(texts, "--target"),
    "against": listed,
}
# parsers of the fields of `of_values`
VALUES: dict[str, Callable[[str, Any, Spelling], Any]] = {
    "expr": _text,
    "shapes": _shapes,
    **dict.fromkeys(("values", "tangents", "target"), _by_name),
    **dict.fromkeys(("grad", "order"), lambda name, value, way: value),
    "grads": _seeds,
    "wrt": _names,
    "assume": lambda *given: read_assumptions(_text_or_by_name(*given)),
    "claim": _claims,
    "expand": _flag,
    "random_seed": _integer,
    "dtype": _dtype,
    "against": _frameworks,
}
