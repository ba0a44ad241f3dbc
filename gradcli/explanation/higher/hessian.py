"""The Hessian of a scalar: for each pair of inputs, the Jacobian with respect to the second of the
gradient with respect to the first.
"""

from collections.abc import Iterable, Iterator
from functools import reduce

from ...errors import GradcliError
from ...graphs import OPS, Node
from ...graphs.shapes import text
from ...language.arguments.seeds import Seed, implied
from ...language.problem import Input, Problem
from ...notation.tree import Tree
from ..analysis import Analysis
from ..derived import of_gradient
from ..formulas.formula_writer import FormulaWriter, writer_of
from ..formulas.shortest_structure import structure_of

SCALAR = "The Tensor returned by the function given to hessian should contain a single element"


def require_scalar(p: Problem) -> None:
    """Raise GradcliError for an output of several elements, in PyTorch's words."""
    if p.out.numel != 1:
        raise GradcliError(
            "not-scalar",
            f"{p.out_name} has shape {text(p.out.shape)}, and only a single number has a Hessian",
            span=p.program.span,
            hint=f"PyTorch: {SCALAR}\n"
            "Reduce it with .sum(), or weigh its elements, as a seed does: (weights * ...).sum()",
        )


class Hessian:
    """The blocks of a Hessian, and the Hessian times the tangents of the problem."""

    def __init__(self, a: Analysis):
        require_scalar(a.problem)
        self.p = a.problem._replace(seed=implied(a.problem.seed.node))
        self.a = Analysis(self.p, a.dtype, allow_no_gradient=True)
        self._of: dict[str, Analysis] = {}

    def gradient(self, x: Input) -> Analysis:
        """The analysis whose output is the gradient with respect to x; its seed is x's tangent."""
        if x.name not in self._of:
            grad = self.a.gradient(x)
            zeros = OPS["zeros"](size=x.shape)
            p = of_gradient(self.p, x, zeros if grad is None else grad, "t", self.p.wrt)
            for t in self.p.tangents:
                if t.x.node is x.node:
                    p = p._replace(seed=Seed(t.node, t.value, t.text))
            self._of[x.name] = Analysis(p, self.a.dtype, allow_no_gradient=True)
        return self._of[x.name]

    def words(self, x: Input) -> FormulaWriter:
        """The names and formulas of the problem of `gradient(x)`."""
        return writer_of(self.gradient(x))

    def moves(self, x: Input) -> bool:
        """Whether an input has a tangent."""
        return any(t.x.node is x.node for t in self.p.tangents)

    def pairs(self) -> Iterator[tuple[Input, Input]]:
        """Each pair of inputs once, in the upper triangle of blocks; inputs with tangents come
        first, so that they index rows.
        """
        order = sorted(self.p.wrt, key=lambda x: bool(self.p.tangents) and not self.moves(x))
        for k, x in enumerate(order):
            for z in order[k:]:
                yield x, z

    def product(self, z: Input) -> Node | None:
        """The Hessian times the tangents, for the rows of z, as a graph; None if it is zero.

        By symmetry this is the gradient of <tangent, gradient> with respect to z.
        """
        return _sum(self.gradient(t.x).computed(z) for t in self.p.tangents)

    def written(self, z: Input) -> Node | None:
        """The form of `product` from which formulas are read; None if it is zero."""
        return _sum(self.words(t.x).read_off(z) for t in self.p.tangents)

    def product_formula(self, z: Input) -> Tree | None:
        """The formula of `product`; None if it is zero, or too long."""
        node = self.written(z) or self.product(z)
        return None if node is None else self.writer.formula(node)

    def along_direction(self, x: Input, z: Input) -> Tree | None:
        """The formula of a block times any direction of the shape of x, which is the seed of
        `gradient(x)`; None if the block has a formula itself, or the product is too long or zero.
        """
        a, w = self.gradient(x), self.words(x)
        if self.p.tangents or a.gradient(z) is None or structure_of(a, w, z).formula is not None:
            return None
        product = w.gradient(z)
        return None if product is None else w.in_statements(product)

    @property
    def writer(self) -> FormulaWriter:
        """The names and formulas of the problem; tangents have names too."""
        return writer_of(self.a)


def _sum(parts: Iterable[Node | None]) -> Node | None:
    """The sum of the parts that are not None; None if there are none."""
    result = [part for part in parts if part is not None]
    return reduce(lambda a, b: a + b, result) if result else None
