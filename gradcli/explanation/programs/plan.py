"""The common parts of programs: inputs with values, expected gradients, and names that do not
clash.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from ...backends.numeric import Evaluator
from ...errors import GradcliError, if_applicable
from ...graphs import Node, walk
from ...language.problem import Input, Problem
from ...lazy import np
from ...notation.code.statements import Names
from ...notation.tree import Name
from ...operators.indexing import inputs_and_indices
from ..analysis import Analysis, operations
from ..checking.finite_differences import symmetric_inputs
from ..in_pytorch.kinks import kinks_hit
from .at_sizes import RESERVED, AtSizes, safe

LARGE = 60  # largest number of elements of an array that is written out
WIDE = 100_000  # programs with a larger product of operations and inputs are not tested


class Plan:
    """A problem, with everything that is needed to write it as a program."""

    def __init__(self, analysis: Analysis):
        self.analysis, self.problem = analysis, analysis.problem

    @cached_property
    def inputs(self) -> list[Input]:
        """The inputs on which the output, the seed or an index depends, in the user's order."""
        p = self.problem
        roots = [p.out, *([] if p.seed.value is None else [p.seed.value])]
        used = set(walk(roots, inputs_and_indices))
        wrt = {x.node for x in p.wrt}
        return [
            i
            for i in p.inputs.values()
            if i.node in used or i.node in wrt or i.node.dtype != "float"
        ]

    @cached_property
    def arguments(self) -> list[Input]:
        """The inputs that the output depends on, and all integer inputs."""
        used = set(walk([self.problem.out], inputs_and_indices))
        return [i for i in self.inputs if i.node in used or i.node.dtype != "float"]

    @cached_property
    def wrt(self) -> list[Input]:
        """The inputs in the problem's `wrt` that the output depends on."""
        return [x for x in self.problem.wrt if self.analysis.gradients.of[x.node] is not None]

    @property
    def is_wide(self) -> bool:
        """Whether the program has too many inputs and operations to be generalised and tested."""
        return operations(self.problem) * len(self.problem.wrt) > WIDE

    @cached_property
    def symmetric(self) -> list[Input]:
        """The inputs in `wrt` whose perturbations must be symmetric."""
        nodes = symmetric_inputs(self.problem.out)
        return [x for x in self.wrt if x.node in nodes]

    @cached_property
    def unused(self) -> list[Input]:
        """The inputs in the problem's `wrt` that the output does not depend on."""
        return [x for x in self.problem.wrt if x not in self.wrt]

    @cached_property
    def here(self) -> AtSizes:
        """The graphs at the given sizes."""
        return self.at_sizes(self.problem)

    def at_sizes(self, problem: Problem) -> AtSizes:
        """The graphs of the same problem posed at other sizes."""
        return AtSizes(problem, self.analysis, self.wrt)

    # ---- names -----------------------------------------------------------------------------------

    safe = staticmethod(safe)

    def called(self, function: str, named: Sequence[Input], arguments: Sequence[Input]) -> str:
        """Source text for a function of the inputs `named` that calls `function` with `arguments`:
        the name itself if both are the same and no input must be symmetric, otherwise a lambda.
        """
        if not self.symmetric and list(named) == list(arguments):
            return function
        at = [
            f"({self.safe(i.name)} + {self.safe(i.name)}.mT) / 2"
            if i in self.symmetric
            else self.safe(i.name)
            for i in arguments
        ]
        return f"lambda {', '.join(self.safe(i.name) for i in named)}: {function}({', '.join(at)})"

    def fresh(self, *more: str) -> Names:
        """A generator of names that are neither in the program nor in `more`."""
        p = self.problem
        return Names({*RESERVED, *map(self.safe, (*p.scope, p.seed.name)), *more})

    # ---- numbers ---------------------------------------------------------------------------------

    @cached_property
    def has_values(self) -> bool:
        """Whether all inputs and the seed have values that can be written out."""
        seed = self.problem.seed
        return seed.value is not None and all(self.is_written(i) for i in self.inputs)

    def is_written(self, x: Input) -> bool:
        """Whether an input's value is written out; always so for integer inputs."""
        return x.value is not None and (x.value.size <= LARGE or x.node.dtype != "float")

    def expected(self, x: Input):
        """The value of a gradient, to 7 digits; None if it is unknown or too large."""
        value = self.analysis.grad_value(x) if self.has_values else None
        if value is None or value.size > LARGE:
            return None
        return np.array([float(f"{v:.7g}") for v in value.flat]).reshape(value.shape)

    @cached_property
    def is_smooth(self) -> bool:
        """Whether no operation is at a kink at the given values, and all gradients are finite,
        including intermediate ones that masks remove.
        """
        sent = map(self.analysis.value, self.contributions)
        all_finite = self._is_finite and all(np.all(np.isfinite(value)) for value in sent)
        return all_finite and not kinks_hit(self.analysis)

    @property
    def contributions(self) -> list[Node]:
        """The gradients that operations send to their inputs."""
        return [c.sent for s in self.analysis.gradients.steps for c in s.contributions]

    @property
    def _is_finite(self) -> bool:
        result = [self.analysis.value(self.problem.out), *map(self.analysis.grad_value, self.wrt)]
        return all(np.all(np.isfinite(value)) for value in result)

    @cached_property
    def holds(self) -> bool:
        """Whether the values of the formulas equal the gradients; False at a singular matrix."""
        if not self._is_finite:
            return False
        values = {i.node: i.value for i in self.inputs}
        values[self.problem.seed.node] = self.analysis.value(self.problem.seed.node)
        evaluate = Evaluator({self.here.bare(node): value for node, value in values.items()})
        numbers = [self.analysis.grad_value(x) for x in self.wrt]
        result = if_applicable(lambda: evaluate(*self.here.gradients(seeded=False)))
        return result is not None and all(map(np.allclose, result, numbers))

    def refuse_barriers(self, target: str) -> None:
        """Raise GradcliError for detach() and the like, which finite differences ignore."""
        for node in walk([self.problem.out]):
            if node.op.family == "barrier":
                raise GradcliError(
                    "unsupported",
                    f"finite differences, which test --target {target}, do not notice "
                    f"{node.op.name}()",
                    span=node.span,
                    hint="--target torch and --target jax can express it",
                )


def unpacked(names: Sequence[str]) -> str:
    """Names as the target of an unpacking: `(a,)`, `a, b`."""
    return f"({names[0]},)" if len(names) == 1 else ", ".join(names)


def tupled(names: Sequence[str]) -> str:
    """Names as a tuple in a call: `()`, `(a,)`, `(a, b)`."""
    return unpacked(names) if len(names) == 1 else f"({', '.join(names)})"


def indented(lines: list[str]) -> list[str]:
    """Lines inside a function."""
    return [f"    {line}" if line else line for line in lines]


def named(nodes: Mapping[Node, str]) -> dict[Node, Name]:
    """The names of nodes as formulas."""
    return {node: Name(name) for node, name in nodes.items()}
