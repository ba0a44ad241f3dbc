"""What all programs are made from: inputs with their values, expected numbers, and names that hide
no library.
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
from ...operators.indexing import with_read
from ..analysis import Analysis
from ..checking.perturbation import kept_symmetric
from ..in_pytorch.conventions import kinks_met
from .at_sizes import RESERVED, AtSizes, safe

LARGE = 60  # numbers of an array that are written out


class Plan:
    """A problem, ready to be written as a program."""

    def __init__(self, analysis: Analysis):
        self.analysis, self.problem = analysis, analysis.problem

    @cached_property
    def inputs(self) -> list[Input]:
        """The inputs that the output, the seed or an index needs, in the user's order."""
        p = self.problem
        roots = [p.out, *([] if p.seed.value is None else [p.seed.value])]
        used = set(walk(roots, with_read))
        asked = {x.node for x in p.wrt}
        return [
            i
            for i in p.inputs.values()
            if i.node in used or i.node in asked or i.node.dtype != "float"
        ]

    @cached_property
    def arguments(self) -> list[Input]:
        """The inputs that the output itself needs, floats and labels."""
        used = set(walk([self.problem.out], with_read))
        return [i for i in self.inputs if i.node in used or i.node.dtype != "float"]

    @cached_property
    def wrt(self) -> list[Input]:
        """The inputs to differentiate by that the output depends on."""
        return [x for x in self.problem.wrt if self.analysis.gradients.of[x.node] is not None]

    @cached_property
    def mirrored(self) -> list[Input]:
        """Those of them that stay symmetric where differences move them."""
        kept = kept_symmetric(self.problem.out)
        return [x for x in self.wrt if x.node in kept]

    @cached_property
    def idle(self) -> list[Input]:
        """The inputs to differentiate by that the output does not depend on."""
        return [x for x in self.problem.wrt if x not in self.wrt]

    @cached_property
    def here(self) -> AtSizes:
        """The graphs at the sizes given."""
        return self.at_sizes(self.problem)

    def at_sizes(self, problem: Problem) -> AtSizes:
        """The graphs of the same problem posed at other sizes."""
        return AtSizes(problem, self.analysis, self.wrt)

    # ---- names -----------------------------------------------------------------------------------

    safe = staticmethod(safe)

    def called(self, function: str, named: Sequence[Input], given: Sequence[Input]) -> str:
        """A function as one of the inputs `named`, called with those `given`: itself where these
        are the same and none is to stay symmetric.
        """
        if not self.mirrored and list(named) == list(given):
            return function
        at = [
            f"({self.safe(i.name)} + {self.safe(i.name)}.mT) / 2"
            if i in self.mirrored
            else self.safe(i.name)
            for i in given
        ]
        return f"lambda {', '.join(self.safe(i.name) for i in named)}: {function}({', '.join(at)})"

    def fresh(self, *more: str) -> Names:
        """Names that nothing in a program has, nor any of `more`."""
        p = self.problem
        return Names({*RESERVED, *map(self.safe, (*p.scope, p.seed.name)), *more})

    # ---- numbers ---------------------------------------------------------------------------------

    @cached_property
    def given(self) -> bool:
        """Whether all inputs and the seed have values that can be written out."""
        seed = self.problem.seed
        return seed.value is not None and all(self.is_written(i) for i in self.inputs)

    def is_written(self, x: Input) -> bool:
        """Whether an input's value stands in the program; labels always do."""
        return x.value is not None and (x.value.size <= LARGE or x.node.dtype != "float")

    def expected(self, x: Input):
        """The numbers of a gradient, to 7 digits; None where they are not known or too many."""
        value = self.analysis.grad_value(x) if self.given else None
        if value is None or value.size > LARGE:
            return None
        return np.array([float(f"{v:.7g}") for v in value.flat]).reshape(value.shape)

    @cached_property
    def is_smooth(self) -> bool:
        """Whether no convention of PyTorch's decides on the numbers given, and all are finite, also
        those that masks leave out on the way.
        """
        sent = map(self.analysis.value, self.sent)
        all_finite = self._is_finite and all(np.all(np.isfinite(value)) for value in sent)
        return all_finite and not kinks_met(self.analysis)

    @property
    def sent(self) -> list[Node]:
        """What the operations send back."""
        return [c.sent for s in self.analysis.gradients.steps for c in s.contributions]

    @property
    def _is_finite(self) -> bool:
        result = [self.analysis.value(self.problem.out), *map(self.analysis.grad_value, self.wrt)]
        return all(np.all(np.isfinite(value)) for value in result)

    @cached_property
    def holds(self) -> bool:
        """Whether the formulas give the numbers, as they need not at a singular matrix."""
        if not self._is_finite:
            return False
        given = {i.node: i.value for i in self.inputs}
        given[self.problem.seed.node] = self.analysis.value(self.problem.seed.node)
        evaluate = Evaluator({self.here.bare(node): value for node, value in given.items()})
        numbers = [self.analysis.grad_value(x) for x in self.wrt]
        result = if_applicable(lambda: evaluate(*self.here.gradients(seeded=False)))
        return result is not None and all(map(np.allclose, result, numbers))

    def refuse_barriers(self, target: str) -> None:
        """Refuse what finite differences see through, where they are the program's test."""
        for node in walk([self.problem.out]):
            if node.op.family == "barrier":
                raise GradcliError(
                    "unsupported",
                    f"finite differences, which test --target {target}, see through "
                    f"{node.op.name}()",
                    span=node.span,
                    hint="--target torch and --target jax have words for it",
                )


def unpacked(names: Sequence[str]) -> str:
    """Names as a tuple is unpacked: `(a,)`, `a, b`."""
    return f"({names[0]},)" if len(names) == 1 else ", ".join(names)


def tupled(names: Sequence[str]) -> str:
    """Names as a tuple in a call: `()`, `(a,)`, `(a, b)`."""
    return unpacked(names) if len(names) == 1 else f"({', '.join(names)})"


def indented(lines: list[str]) -> list[str]:
    """Lines inside a function."""
    return [f"    {line}" if line else line for line in lines]


def named(nodes: Mapping[Node, str]) -> dict[Node, Name]:
    """Names for a writer."""
    return {node: Name(name) for node, name in nodes.items()}
