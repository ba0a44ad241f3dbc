"""Jacobians in numbers: by their closed form where there is one, row by row where there is none."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ..autodiff.reverse import backward
from ..backends.numeric import Evaluator, Schedule, sources
from ..errors import GradcliError
from ..graphs import OPS, Node, downstream, walk
from ..graphs.shapes import Shape, numel
from ..lazy import np
from ..notation.jacobians.closed_form import ClosedForm, closed_form
from ..notation.jacobians.einsum import matrix
from ..remembering import remembered

REMEMBERED = 100_000  # nodes, of all ways back that are remembered together
SMALL = 1 << 22  # elements that an array may have however small the Jacobian is


class WayBack(NamedTuple):
    """From a node back to an input: the gradient as a function of the seed, the closed form, how
    its arrays and the gradient are computed, the nodes that depend on the seed, and the elements
    that an array may have on the way.
    """

    seed: Node
    grad: Node | None
    form: ClosedForm | None
    schedule: Schedule = Schedule(())
    by_seed: Sequence[Node] = ()
    most: int = 0


def _nodes(way: WayBack, *_: Node) -> int:
    return len(way.schedule.nodes) or (0 if way.grad is None else len(walk([way.grad])))


@remembered(REMEMBERED, _nodes)
def way_back(out: Node, x: Node) -> WayBack:
    """What a node sends back to an input."""
    seed = OPS["input"](name="one-hot", shape=out.shape, is_direction=True)
    grad = backward(out, seed, [x]).of[x]
    form = None if grad is None or out.numel == 1 else closed_form(grad, seed)
    if grad is None or form is None:
        return WayBack(seed, grad, None)
    most = max(2 * out.numel * x.numel, SMALL, *(node.numel for node in form.nodes))
    order = walk([*form.nodes, grad], sources)
    varying = downstream(order, [seed], sources)
    return WayBack(seed, grad, form, Schedule(order), [n for n in order if n in varying], most)


def jacobian_of(out: Node, x: Node, evaluator: Evaluator) -> Any:
    """The Jacobian of a node by an input, of shape (*out.shape, *x.shape); that of a gradient is a
    Hessian.

    `evaluator` has the values of all inputs that `out` depends on. Raises GradcliError ("limit")
    before anything is computed, where it would have too many elements.
    """
    shape = (*out.shape, *x.shape)
    entries = numel(shape)
    if entries > evaluator.limits.sizes["elements"]:
        evaluator.limits.check("elements", entries, f"the Jacobian of shape {shape}", out.span)
    way = way_back(out, x)
    if way.grad is None or not entries:
        return np.zeros(shape, evaluator.dtype)
    with np.errstate(all="ignore"):
        result = _by_form(way, evaluator)
    if result is not None:
        return np.asarray(result.reshape(shape), evaluator.dtype)
    one_by_one = rows_by_vjp(out.shape, evaluator.varying(way.grad, way.seed), range(out.numel))
    return np.array([*one_by_one]).reshape(shape)


def _by_form(way: WayBack, evaluator: Evaluator) -> Any:
    """The matrix by the closed form; None without one, or where its arrays would be too large, it
    needs the inverse of a singular matrix, or its zeros are products of 0 and infinity or nan.
    """
    if way.form is None:
        return None
    values = evaluator.values
    values[way.seed] = np.zeros(way.seed.shape)  # as a row's seed is, but for one element
    try:
        evaluator.run_quietly(way.schedule)
        from_zeros = values[way.grad]
    except GradcliError as error:
        if error.code != "singular":
            raise
        return None
    finally:
        for node in way.by_seed:
            values.pop(node, None)
    if np.count_nonzero(from_zeros):  # nan, for a gradient is linear in the seed
        return None
    return matrix(way.form, lambda node: np.asarray(values[node]), way.most)


def rows_by_vjp(out: Shape, vjp: Callable[[Any], Any], at: Iterable[int]) -> Iterator[Any]:
    """Rows of a Jacobian, flat, each by a VJP: that of a seed that is 1 at one element."""
    for k in at:
        seed = np.zeros(numel(out))
        seed[k] = 1.0
        yield np.ravel(vjp(seed.reshape(out)))


class Jacobian:
    """The Jacobian of an output with respect to an input, computed as far as it is looked at.

    Rows are elements of the output, columns elements of the input, both row by row of their
    tensors. `whole` computes its numbers and `vjp` makes the function that gives the gradient for a
    seed, or else `symbolic` gives rows in SymPy elements; without any, all is zero.
    """

    def __init__(
        self,
        out: Shape,
        x: Shape,
        whole: Callable[[], Any] | None = None,
        vjp: Callable[[], Callable[[Any], Any]] | None = None,
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

    def rows(self, at: Iterable[int]) -> Iterator[Any]:
        """Some rows, flat: numbers, or SymPy elements."""
        if self._symbolic is not None:
            yield from map(self._symbolic, at)
        elif self._vjp is None or numel(self.size) <= SMALL:
            yield from (self.matrix[k] for k in at)
        else:
            yield from rows_by_vjp(self.out, self._vjp(), at)

    @cached_property
    def matrix(self) -> Any:
        """All of it, (rows, columns). Raises GradcliError ("limit") where it is too large."""
        if self._symbolic is not None:
            return np.array([*self.rows(range(self.size[0]))]).reshape(self.size)
        return np.zeros(self.size) if self._whole is None else self._whole().reshape(self.size)
