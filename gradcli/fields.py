"""The fields of a request, defined once for the shell, JSON, Python and assistants.

`request` parses their values. Every command imports this module, so it imports little.
"""

from typing import Any, NamedTuple

from .limits import MOST_ORDER

DTYPES = ("float64", "float32")
ANSWERS = (
    "output", "grad", "jacobian", "jacobian_values", "hessian", "formula", "index", "elements",
    "notes", "claims", "cost",
)  # fmt: skip

ASSUMPTIONS = {  # the words of --assume, each with a remark that the help adds
    **dict.fromkeys(("symmetric", "posdef", "orthogonal", "diagonal", "skew", "permutation"), ""),
    **{"invertible": "", "lower": "", "upper": " (triangular)", "positive": "", "nonneg": ""},
    **{"simplex": "", "onehot": " (rows)", "unit": ""},
}


class Field(NamedTuple):
    """A field of a request.

    `meaning` describes it in JSON and Python, `help` in the shell, where its `options` accept texts
    of the form `metavar`. `json` is its JSON Schema, None if JSON has no such field. An error about
    a wrong type shows the `example`, and has the `code` in Python. `within`: the least and the
    greatest value, each None if there is no bound.
    """

    meaning: str = ""
    options: tuple[str, ...] = ()
    metavar: str | None = None
    help: str = ""
    json: dict[str, Any] | None = None
    example: str = ""
    code: str = "option"
    type: Any = list[str]
    default: Any = ()
    within: tuple[int | None, int | None] = (None, None)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the field, with its description."""
        return {**(self.json or {}), "description": self.meaning}


ARRAY: dict[str, Any] = {"type": ["number", "boolean", "array", "string"]}
TEXT: dict[str, Any] = {"type": "string"}
SIZES: dict[str, Any] = {"type": ["array", "string"], "items": {"type": "integer"}}
TEXTS: dict[str, Any] = {"type": ["array", "string"], "items": TEXT}
FIELDS = {  # in the order of the options in the help
    "id": Field("An identifier of the request, returned with the answer.", json={}),
    "expr": Field(
        "The program, its last statement the output: relu(x @ W + b).sum(). Functions are called "
        "as in PyTorch, NumPy or JAX; names that nothing defines are inputs.",
        json=TEXT, example='"a * b"', code="syntax",
    ),
    "read": Field(
        "A PyTorch program, pasted as it is.", json=TEXT, example='"import torch; ..."',
    ),
    "why": Field(
        "An error message of PyTorch, pasted as it is.",
        json=TEXT, example='"grad can be implicitly created only for scalar outputs"',
    ),
    "shapes": Field(
        'Shapes by name of the input: {"x": [2, 3]}. Those left out are inferred.',
        ("-s", "--shape"), "NAME=DIMS", "The shape of an input: x=2x3. Repeatable.",
        {"type": "object", "additionalProperties": SIZES}, '{"x": [2, 3]}', "shape-option",
    ),
    "values": Field(
        'Values by name of the input: {"x": [[1.0, 2.0]]}, or a text: "randn(2,3)". Without them '
        "the answer is symbolic.", ("-v", "--value"), "NAME=VALUE",
        "The value of an input: a list, a pasted tensor, an expression, @file. Repeatable.",
        {"type": "object", "additionalProperties": ARRAY}, '{"x": [[1.0, 2.0]]}', "value",
    ),
    "grad": Field(
        "The seed, the argument of backward(): numbers, or an "
        "expression: ones_like(out). A scalar output needs none.", ("-g", "--grad"), "SEED",
        "The seed, the argument of backward(): a value, or an expression: ones_like(out). "
        "Repeated for each further order.", ARRAY,
    ),
    "wrt": Field(
        "The inputs to differentiate with respect to; all of them by default.",
        ("-w", "--wrt"), "NAME,...",
        "The inputs to differentiate with respect to; all by default. Repeatable.",
        TEXTS, '["x", "W"]',
    ),
    "want": Field(
        "What the answer contains: output and grad by default.",
        json={"anyOf": [{"enum": [*ANSWERS]}, {"type": "array", "items": {"enum": [*ANSWERS]}}]},
    ),
    "target": Field(
        "The gradients that inputs should have, by name of the input.",
        ("--target",), "NAME=VALUE",
        "The gradient that an input should have; written as a value is. Repeatable.",
        example='{"x": [2.0, 8.0]}', code="value",
    ),
    "tangents": Field(
        "The directions (tangents) in which inputs move, by name of the input; 0 if left out.",
        ("--tangent",), "NAME[=VALUE]",
        "The direction (tangent) in which an input "
        "moves: a value, or an expression: "
        "ones_like(x); a symbol without one. "
        "Repeatable.", example='{"x": [1.0, 0.0]}', code="value",
    ),
    "assume": Field(
        'A property of an input, which shortens formulas: {"A": "symmetric"}; '
        f"{', '.join([*ASSUMPTIONS][:-1])} or {[*ASSUMPTIONS][-1]}.",
        ("--assume",), "NAME=WORD,...",
        f"A property of an input: {', '.join(map(''.join, ASSUMPTIONS.items()))}. "
        "Shortens formulas.",
        {"type": ["object", "string"], "additionalProperties": TEXTS},
        '{"A": "symmetric"}', "assume",
    ),
    "order": Field(
        f"The order of the derivative, 1 to {MOST_ORDER}: 2 is the gradient of the gradient.",
        ("--order",), "N",
        f"The order of the derivative, 1 to {MOST_ORDER}: 2 is the gradient of the gradient.",
        {"type": "integer", "minimum": 1, "maximum": MOST_ORDER},
        type=int, default=1, within=(1, MOST_ORDER),
    ),
    "grads": Field(
        "The seeds of orders after the first, for gradients that are not a single number.",
        json={"type": ["array", "string"], "items": ARRAY},
        example='["ones_like(out)"]', code="value",
    ),
    "expand": Field(
        "Whether composite operators are expanded into simpler ones.",
        ("--expand",), None, "Expand composite operators into simpler ones.",
        {"type": "boolean"}, type=bool, default=False,
    ),
    "claim": Field(
        'Formulas to check, by name of the input: {"W": "x.T @ g"}; g is the seed.',
        ("--claim",), '"W = g.T @ x"',
        "A formula to check: is it the gradient of W? Repeatable.",
        {"type": ["object", "string"], "additionalProperties": TEXT}, '{"x": "g @ W.T"}',
    ),
    "against": Field(
        'What to compare with: "torch", "jax", or both, where they are installed.',
        ("--against",), "torch,jax",
        "Compare with PyTorch, with JAX, or with both, where they are installed. Repeatable.",
        example='["torch", "jax"]',
    ),
    "random_seed": Field(
        "The seed of randn and rand, as in torch.manual_seed; 0 by default.",
        ("--random-seed",), "N",
        "The seed of randn and rand, as in torch.manual_seed; 0 by default.",
        {"type": "integer"}, "1", type=int, default=0,
    ),
    "dtype": Field(
        "The precision of the numbers: float64 or float32; float64 by default.",
        ("--dtype",), "NAME",
        "The precision of the numbers: float64 or float32; float64 by default.",
        {"enum": [*DTYPES]}, '"float32"', type=str, default=DTYPES[0],
    ),
    "allow_files": Field(
        'Whether values may name files: {"x": "@x.npy"}.', ("--allow-files",), None,
        "Let requests name files for values: @file.", type=bool, default=False,
    ),
}  # fmt: skip

VALUES = ("expr", "shapes", "values", "random_seed")
SEEDED = (*VALUES, "grad", "wrt")
QUESTIONS = {  # the questions about an expression, and the fields of each
    "explain": (*SEEDED, "assume", "order", "expand", "dtype"),
    "grad": (*SEEDED, "order", "dtype"),
    "jacobian": (*VALUES, "wrt", "dtype"),
    "hessian": (*VALUES, "wrt", "assume", "tangents", "dtype"),
    "jvp": (*VALUES, "wrt", "tangents", "dtype"),
    "check": (*SEEDED, "assume", "claim", "against"),
    "cost": (*VALUES, "wrt"),
    "formula": (*SEEDED, "assume"),
    "code": SEEDED,
    "seed_for": (*VALUES, "target"),
    "graph": (*VALUES, "expand"),
}
