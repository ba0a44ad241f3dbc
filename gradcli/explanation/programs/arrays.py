"""The common parts of programs over arrays: functions, values and imports."""

import ast
from collections.abc import Sequence
from typing import Any

from ...language.problem import Input
from ...notation import tree
from ...notation.code.array_code import ArrayWriter, array_text
from ...notation.code.statements import Names, Statement, Statements
from ...notation.tree import Name
from .at_sizes import AtSizes
from .draws import Choice, Draw, input_lines
from .plan import LARGE, Plan, indented

WIDE = 88


def function(name: str, arguments: Sequence[str], body: Sequence[str], doc: str = "") -> list[str]:
    """The lines of a function definition; `body` ends with its return."""
    text = [f'    """{doc}"""'] if doc else []
    return [f"def {name}({', '.join(arguments)}):", *text, *indented(list(body))]


def assigned(lines: Sequence[Statement]) -> list[str]:
    """Statements as lines."""
    return [f"{s.name} = {s.text}" for s in lines]


def returned(formulas: Sequence[tree.Tree]) -> list[str]:
    """A return statement for one or several formulas, on one line if they fit."""
    texts = list(map(tree.text, formulas))
    line = f"return {', '.join(texts)}"
    if len(line) <= WIDE - 4 or len(texts) == 1:
        return [line]
    return ["return (", *(f"    {text}," for text in texts), ")"]


def with_generator(lines: Sequence[str]) -> list[str]:
    """The lines, preceded by the line that makes their random generator."""
    draws = any("rng." in line for line in lines)
    return ["rng = np.random.default_rng(0)"] * draws + [*lines]


def forward(sized: AtSizes, writer: ArrayWriter, names: Names) -> list[str]:
    """The body of a function that computes the output."""
    built = Statements(writer, [sized.out], sized.intermediates, names)
    return [*assigned(built.lines), *returned(built.formulas)]


def values(plan: Plan, choice: Choice, inputs: Sequence[Input], module: str) -> list[str]:
    """A line for the value of each input."""

    def random(i: Input, draw: Draw) -> list[str]:
        return _random(plan.safe(i.name), draw, i.shape, module)

    return input_lines(plan, choice, inputs, lambda i: array_text(i.value, module), random)


def _random(name: str, draw: Draw, shape: tuple[int, ...], module: str) -> list[str]:
    if draw.is_matrix(shape):
        unit = f"{shape[-1]} * {module}.eye({shape[-1]})"
        normal = _in_module(f"rng.normal(size={shape})", module)
        return [f"{name} = {normal}", f"{name} = {name} @ {name}.mT + {unit}"]
    if not draw.high:
        return [f"{name} = {_in_module(f'rng.normal(size={shape})', module)}"]
    uniform = f"rng.uniform({draw.low}, {draw.high}, size={shape})"
    return [f"{name} = {_in_module(uniform, module)}"]


def _in_module(text: str, module: str) -> str:
    return text if module == "np" else f"{module}.array({text})"


def seed_text(plan: Plan, writer: type[ArrayWriter]) -> str:
    """The seed: a value, an expression, or random numbers."""
    p, array = plan.problem, plan.problem.seed.array
    if p.seed.value is None or (array is not None and array.size > LARGE):
        return _in_module(f"rng.normal(size={p.out.shape})", writer.module)
    if array is not None:
        return array_text(array, writer.module)
    names = plan.here.names | {p.out: Name(plan.safe(p.out_name))}
    written = writer(names).tree(plan.here.bare(p.seed.value))
    plain = isinstance(written, tree.Number)
    return f"{writer.module}.array({tree.text(written)}.0)" if plain else tree.text(written)


def helpers(*writers: Any) -> list[str]:
    """The helper functions that formulas call, each followed by two empty lines."""
    result = {name: text for w in writers for name, text in w.helpers.items()}
    return [line for text in result.values() for line in [*text.strip().splitlines(), "", ""]]


def modules(body: Sequence[str], *, jax: bool = False) -> list[str]:
    """The imports that a body needs."""
    whole = "\n".join(body)
    lines = ["import jax"] if jax else []
    lines += ["import jax.numpy as jnp"] * ("jnp." in whole)
    result = [
        "import numpy as np" * ("np." in whole.replace("jnp.", "")),
        "import scipy.linalg" * ("scipy.linalg." in whole.replace("jax.scipy.", "")),
        "from jax.test_util import check_grads" * ("check_grads(" in whole),
        "import scipy.special" * ("scipy.special." in whole.replace("jax.scipy.", "")),
    ]
    return [*lines, *filter(None, result)]


def close(result: str, expected: str, module: str) -> list[str]:
    """An assertion that two arrays are close, on one line if it fits."""
    arguments = [result, expected, "atol=1e-6"]
    line = f"assert {module}.allclose({', '.join(arguments)})"
    if len(line) <= WIDE:
        return [line]
    return [f"assert {module}.allclose(", *(f"    {a}," for a in arguments), ")"]


def mentions(text: str, name: str) -> bool:
    """Whether an expression contains a name."""
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(ast.parse(text)))
