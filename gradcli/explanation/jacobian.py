"""Jacobians in numbers: by their closed form if there is one, otherwise row by row."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ..autodiff.reverse import backward
from ..backends.numeric import Evaluator, Reevaluation, Schedule, sources
from ..errors import Singular
from ..graphs import OPS, Node, downstream, walk
from ..graphs.shapes import Shape, numel
from ..lazy import np
from ..notation.jacobians.closed_form import ClosedForm, closed_form
from ..notation.jacobians.einsum import matrix
from ..sized_cache import sized_cache

CACHED = 100_000  # total nodes of all cached reverse passes
SMALL = 1 << 22  # elements that an array may have, even if the Jacobian is smaller


class VJP(NamedTuple):
    """The VJP of a node with respect to an input: the seed, the gradient as a function of it, the
    closed form of the Jacobian, a schedule that computes both, the nodes that depend on the seed,
    and the largest allowed size of an intermediate array.
    """

    seed: Node
    grad: Node | None
    form: ClosedForm | None
    schedule: Schedule = Schedule(())
    seed_dependent: Sequence[Node] = ()
    most: int = 0


def _nodes(vjp: VJP, *_: Node) -> int:
    return len(vjp.schedule.nodes) or (0 if vjp.grad is None else len(walk([vjp.grad])))


@sized_cache(CACHED, _nodes)
def vjp_of(out: Node, x: Node) -> VJP:
    """The VJP of a node with respect to an input; cached."""
    seed = OPS["input"](name="one-hot", shape=out.shape, is_direction=True)
    grad = backward(out, seed, [x]).of[x]
    form = None if grad is None or out.numel == 1 else closed_form(grad, seed)
    if grad is None or form is None:
        return VJP(seed, grad, None)
    most = max(2 * out.numel * x.numel, SMALL, *(node.numel for node in form.nodes))
    order = walk([*form.nodes, grad], sources)
    varying = downstream(order, [seed], sources)
    return VJP(seed, grad, form, Schedule(order), [n for n in order if n in varying], most)


def jacobian_of(out: Node, x: Node, evaluator: Evaluator) -> Any:
    """The Jacobian of a node with respect to an input, of shape (*out.shape, *x.shape).

    `evaluator` has the values of all inputs that `out` depends on. Raises GradcliError ("limit")
    before anything is computed if it would have too many elements.
    """
    shape = (*out.shape, *x.shape)
    entries = numel(shape)
    if entries > evaluator.limits.sizes["elements"]:
        evaluator.limits.check("elements", entries, f"the Jacobian of shape {shape}", out.span)
    vjp = vjp_of(out, x)
    if vjp.grad is None or not entries:
        return np.zeros(shape, evaluator.dtype)
    with np.errstate(all="ignore"):
        result = _by_form(vjp, evaluator)
    if result is not None:
        return np.asarray(result.reshape(shape), evaluator.dtype)
    rows = rows_by_vjp(out.shape, evaluator.varying(vjp.grad, vjp.seed), range(out.numel))
    return np.array([*rows]).reshape(shape)


def _by_form(vjp: VJP, evaluator: Evaluator) -> Any:
    """The matrix computed by the closed form. None if there is no closed form, its arrays would be
    too large, it inverts a singular matrix, or an entry is a product of 0 and infinity or nan.
    """
    if vjp.form is None:
        return None
    values = evaluator.values
    values[vjp.seed] = np.zeros(vjp.seed.shape)  # the seed of a row has a single nonzero element
    try:
        evaluator.run_quietly(vjp.schedule)
        from_zeros = values[vjp.grad]
    except Singular:
        return None
    finally:
        for node in vjp.seed_dependent:
            values.pop(node, None)
    if np.count_nonzero(from_zeros):  # nan: the gradient of a zero seed should be 0
        return None
    return matrix(vjp.form, lambda node: np.asarray(values[node]), vjp.most)


def rows_by_vjp(out: Shape, vjp: Callable[[Any], Any], at: Iterable[int]) -> Iterator[Any]:
    """Rows of a Jacobian, flattened, each computed as the VJP of a one-hot seed."""
    for k in at:
        seed = np.zeros(numel(out))
        seed[k] = 1.0
        yield np.ravel(vjp(seed.reshape(out)))


class Jacobian:
    """The Jacobian of an output with respect to an input, computed on demand.

    Rows are elements of the output, columns elements of the input, both in C order. `whole` returns
    its numbers, and `vjp` a function from seeds to gradients; or else `symbolic` returns a row in
    SymPy elements. Without any of these the Jacobian is zero.
    """

    def __init__(
        self,
        out: Shape,
        x: Shape,
        whole: Callable[[], Any] | None = None,
        vjp: Callable[[], Reevaluation] | None = None,
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
        """The rows at these flat indices, of numbers or SymPy elements. Raises GradcliError
        ("limit") if they take too long.
        """
        if self._symbolic is not None:
            yield from map(self._symbolic, at)
        elif self._vjp is None or numel(self.size) <= SMALL:
            yield from (self.matrix[k] for k in at)
        else:
            vjp, at = self._vjp(), [*at]
            vjp.check_time(len(at))
            yield from rows_by_vjp(self.out, vjp, at)

    @cached_property
    def matrix(self) -> Any:
        """The array of shape (rows, columns). Raises GradcliError ("limit") if it is too large."""
        if self._symbolic is not None:
            return np.array([*self.rows(range(self.size[0]))]).reshape(self.size)
        return np.zeros(self.size) if self._whole is None else self._whole().reshape(self.size)
