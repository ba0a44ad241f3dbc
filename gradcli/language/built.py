"""The graphs of programs, cached for later values of the inputs."""

import ast
from collections.abc import Collection
from typing import Any, NamedTuple

from ..errors import GradcliError, if_applicable
from ..graphs import Node, as_node, walk
from ..limits import Limits
from ..sized_cache import sized_cache
from .arguments.values import Reader
from .building.build import Builder
from .foreign import several_outputs
from .program import Program

CACHED = 100_000  # nodes of all cached graphs


class Built(NamedTuple):
    """The output of a program, the values of its names, and the records of its Builder."""

    out: Node
    scope: dict[str, Any]
    indices: list[Node]
    outputs: list[Node]
    of_sizes: dict[float, Node]
    statement_values: tuple[tuple[Any, ...], ...]

    @property
    def named(self) -> list[Node]:
        """The named nodes of the program."""
        return [n for n in self.scope.values() if isinstance(n, Node)]


def built(
    program: Program,
    inputs: tuple[Node, ...],
    limits: Limits,
    random_seed: int,
    sizes: bool,
    values: dict[Node, Any],
    supposed: Collection[Node] = (),
) -> Built:
    """Build the graph of a program. The random generator is reset first, so that the graph is
    always the same.
    """
    nodes, draws = {i.attrs["name"]: i for i in inputs}, Reader(limits, random_seed, None)
    builder = Builder(
        program, nodes, values=values, limits=limits, draws=draws, sizes=sizes, supposed=supposed
    )
    out = builder.run()
    if isinstance(out, int | float):
        out = as_node(out)
    if not isinstance(out, Node):
        raise no_tensor(out, program)
    b, result = builder, tuple(builder.statement_values)
    return Built(out, b.scope, b.indices, b.outputs, b.of_sizes, result)


def no_tensor(out: Any, program: Program) -> GradcliError:
    """The error for an output that is several tensors, a shape, or a string."""
    value = program.result
    if isinstance(out, str):
        what, hint = "type of numbers or a device", "to convert, write x.to(float)"
        if isinstance(value, ast.Constant):
            what, hint = "text", "leave out the quotes around it"
        message = f"this is a {what}, and not an expression"
    else:
        message, hint = "the last statement must be one tensor", several_outputs(value)
    return GradcliError("arguments", message, span=program.source.span(value), hint=hint)


def _nodes(result: Built | None, *_: Any) -> int:
    return 0 if result is None else len(walk([result.out, *result.named]))


@sized_cache(CACHED, _nodes)
def built_without_values(
    program: Program, inputs: tuple[Node, ...], limits: Limits, random_seed: int, sizes: bool
) -> Built | None:
    """The graph of a program, cached; None if it depends on values of inputs."""
    return if_applicable(lambda: built(program, inputs, limits, random_seed, sizes, {}))
