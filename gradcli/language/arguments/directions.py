"""Seeds (upstream gradients) and tangents: tensors of a known shape, given by values or by
expressions.
"""

import ast
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...errors import GradcliError
from ...graphs import OPS, Node, as_node
from ...graphs.shapes import Shape
from ...lazy import np
from ...operators.leaves import Array
from ..building.build import Builder
from ..building.makers import tensor
from ..program import Program, read_program
from .values import Reader


class Direction(NamedTuple):
    """A parsed seed or tangent: an array, or a program."""

    array: Any
    program: Program | None

    @property
    def text(self) -> str | None:
        """The expression; None for an array."""
        return None if self.program is None else self.program.source.text.strip()


def read_direction(value: Any, origin: str, reader: Reader) -> Direction:
    """A seed or a tangent, parsed but not yet evaluated. Raises GradcliError."""
    array = reader.literal(value, origin)
    program = None if array is not None else read_program(value, reader.limits, origin)
    if program is not None and len(program.values) == 1:
        _check_nameless(program)
    return Direction(array, program)


def _check_nameless(program: Program) -> None:
    """Raise GradcliError for `a=1`, which assigns to a name."""
    source = program.source
    if source.text[: program.start].strip():
        name, value = program.output_name, source.segment(program.result)
        message = f"{source.text} assigns to {name}, but only a value belongs here"
        hint = f"write {value}; the value of an input is -v {name}={value}"
        raise GradcliError("value", message, hint=hint)


def as_graph(
    direction: Direction,
    name: str,
    names: Mapping[str, Any],
    values: Mapping[Node, Any],
    shape: Shape,
    reader: Reader,
) -> Node:
    """The node of a seed or a tangent, called `name` in formulas. Its expression may use `names`;
    `shape` is the expected shape. Raises GradcliError.
    """
    if direction.program is None:
        return OPS["tensor"](data=Array(np.asarray(direction.array, dtype=np.float64), name))
    builder = Builder(
        direction.program,
        dict(names),
        values=dict(values),
        limits=reader.limits,
        draws=reader,
        seed_shape=shape,
    )
    try:
        built = builder.run()
    except GradcliError as error:
        if error.code == "unknown-name":
            error.hint = error.hint or f"the names are {', '.join(names)}"
        raise
    return _as_tensor(built, builder, direction.program.result)


def _as_tensor(built: Any, builder: Builder, e: ast.expr) -> Node:
    """The value of an expression as a node; a list becomes a tensor. Raises GradcliError."""
    if isinstance(built, tuple):
        built = tensor(builder, e, [built], {})
    if not isinstance(built, Node | int | float):
        span = builder.source.span(e)
        raise GradcliError("value", f"{builder.source.origin} is not a tensor", span=span)
    return as_node(built)
