"""Jacobians in numbers: by their closed form where there is one, row by row where there is none."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from ..autodiff.reverse import backward
from ..backends.numeric import Evaluator
from ..graphs import OPS, Node
from ..graphs.shapes import Shape, numel, text
from ..lazy import np
from ..notation.closed_form import ClosedForm, closed_form
from ..notation.contraction import matrix

KEPT = 256  # nodes whose way back is remembered
SMALL = 1 << 22  # elements that an array may have however small the Jacobian is


class _Way(NamedTuple):
    """From a node back to an input: the gradient as a function of the seed, and the closed form."""

    seed: Node
    grad: Node | None
    form: ClosedForm | None


@lru_cache(KEPT)
def _way(out: Node, x: Node) -> _Way:
    seed = OPS["input"](name="one-hot", shape=out.shape, is_seed=True)
    grad = backward(out, seed, [x]).of[x]
    return _Way(seed, grad, None if grad is None else closed_form(grad, seed))


def jacobian_of(out: Node, x: Node, evaluator: Evaluator) -> Any:
    """The Jacobian of a node by an input, of shape (*out.shape, *x.shape); that of a gradient is a
    Hessian.

    `evaluator` has the values of all inputs that `out` depends on. Raises GradcliError ("limit")
    before anything is computed, where it would have too many elements.
    """
    shape = (*out.shape, *x.shape)
    what = f"a Jacobian of shape {text(shape)}"
    evaluator.limits.check("elements", numel(shape), what, out.span)
    seed, grad, form = _way(out, x)
    if grad is None or not numel(shape):
        return np.zeros(shape, evaluator.dtype)
    if form is not None:
        found = _by_form(form, numel(shape), evaluator)
        if found is not None:
            return found.reshape(shape).astype(evaluator.dtype, copy=False)
    return rows(out.shape, evaluator.varying(grad, seed)).reshape(shape)


def _by_form(form: ClosedForm, entries: int, evaluator: Evaluator) -> Any:
    arrays = dict(zip(form.nodes, evaluator(*form.nodes), strict=True))
    return matrix(form, arrays.__getitem__, max(4 * entries, SMALL))


def rows(out: Shape, vjp: Callable[[Any], Any]) -> Any:
    """Each row of a Jacobian by a VJP of its own, (rows, columns)."""
    return np.array([row(out, vjp, k) for k in range(numel(out))])


def row(out: Shape, vjp: Callable[[Any], Any], k: int) -> Any:
    """One row of a Jacobian, flat: the VJP of a seed that is 1 at element k."""
    seed = np.zeros(numel(out))
    seed[k] = 1.0
    return np.ravel(vjp(seed.reshape(out)))


class Jacobian:
    """The Jacobian of an output with respect to an input, computed as far as it is looked at.

    Rows are elements of the output, columns elements of the input, both row by row of their
    tensors. `whole` gives its numbers and `vjp` the gradient for a seed, or `symbolic` the row of
    an output element in SymPy elements; without any, all is zero.
    """

    def __init__(
        self,
        out: Shape,
        x: Shape,
        whole: Callable[[], Any] | None = None,
        vjp: Callable[[Any], Any] | None = None,
        symbolic: Callable[[int], Any] | None = None,
    ):
        self.out, self.x, self._whole, self._vjp, self._symbolic = out, x, whole, vjp, symbolic

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        return numel(self.out), numel(self.x)

    @property
    def numeric(self) -> bool:
        """Whether its entries are numbers."""
        return self._symbolic is None

    def row(self, k: int) -> Any:
        """One row, flat: numbers, or SymPy elements."""
        if self._symbolic is not None:
            return self._symbolic(k)
        return np.zeros(self.size[1]) if self._vjp is None else row(self.out, self._vjp, k)

    def matrix(self) -> Any:
        """All of it, (rows, columns)."""
        if self._symbolic is not None:
            return np.array([self.row(k) for k in range(self.size[0])]).reshape(self.size)
        return np.zeros(self.size) if self._whole is None else self._whole().reshape(self.size)
