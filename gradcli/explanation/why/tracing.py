"""Tracing an element of a gradient to the operation that makes it nan, infinite, zero or absent.

The reverse pass is followed from an input back to the output. An element that is not finite comes
from an upstream element that is not finite, if it depends on one; otherwise the operation itself is
the origin. A zero comes from upstream zeros, if it depends on upstream elements and all of these
are zero. An absent gradient comes from the first operation after the input that passes none.
"""

from functools import cached_property
from typing import Any, NamedTuple

from ...autodiff.reverse import Step, backward, passes_gradient
from ...backends.numeric import Evaluator
from ...errors import if_applicable
from ...graphs import OPS, Node, walk
from ...language.problem import Input
from ...lazy import np
from ..analysis import Analysis

Index = tuple[int, ...]
DRAWS = 2  # sets of random operands for tests of dependence


# ---- one operation -------------------------------------------------------------------------------


class LocalStep:
    """The vector-Jacobian product (VJP) of one operation, `node`, with respect to its operand `to`,
    in numbers; and which upstream elements an element of it depends on.
    """

    def __init__(self, a: Analysis, node: Node, to: Node, received: Node):
        self.a, self.node, self.to, self.received_node = a, node, to, received
        self.seed = OPS["input"](name="r", shape=node.shape, is_direction=True)
        sent = backward(node, self.seed, node.parents).of[to]
        self.sent_node: Node = OPS["zeros"](size=to.shape) if sent is None else sent

    @cached_property
    def received(self) -> Any:
        """The upstream gradient."""
        return np.broadcast_to(np.asarray(self.a.value(self.received_node)), self.node.shape)

    @cached_property
    def operands(self) -> dict[Node, Any]:
        """The values of the operands."""
        return {i: self.a.value(i) for i in self.node.parents}

    @cached_property
    def here(self) -> dict[Node, Any]:
        """The values of the operands and of the result."""
        return self.operands | {self.node: self.a.value(self.node)}

    @cached_property
    def sent(self) -> Any:
        """The gradient of the operand."""
        return self.send(self.here, self.received)

    def send(self, operands: dict[Node, Any], received: Any) -> Any:
        """The gradient of the operand for other operands and another upstream gradient."""
        return Evaluator(operands | {self.seed: received})(self.sent_node)[0]

    def upstream_elements(self, index: Index) -> Any:
        """A mask of the upstream elements on which the element at `index` can depend."""
        at = self._only_upstream_element(index)
        if at is not None and any(sent[index] != 0 for sent in self._ones_sent):
            mask = np.zeros(self.node.shape, bool)
            mask[at] = True
            return mask
        weights = [self._weights(index, point) for point in (self.here, *self._generic)]
        if weights[0].any() and all(map(_selects, weights)):
            return weights[0] != 0  # which element is selected depends on values, as for sort
        return np.any([np.isfinite(w) & (w != 0) for w in weights], axis=0)

    @property
    def selects_some(self) -> bool:
        """Whether the operation selects some elements of the operand, as indexing does, so that the
        others have gradient 0. True if the output is empty; False if the rule returns 0 for every
        element, as that of std does for a single element.
        """
        return not self.node.numel or any(np.any(sent != 0) for sent in self._ones_sent)

    def _only_upstream_element(self, index: Index) -> Index | None:
        """The only upstream element on which the one at `index` can depend, or None."""
        if self.node.numel == 1:
            return (0,) * self.node.ndim
        same = self.node.shape == self.to.shape
        return index if same and self.node.op.family == "elementwise" else None

    @cached_property
    def _ones_sent(self) -> list[Any]:
        return [self.send(point, np.ones(self.node.shape)) for point in self._generic]

    @cached_property
    def _generic(self) -> list[dict[Node, Any]]:
        """Points with random values for the operands."""
        rng = np.random.default_rng(1)
        return [
            {
                i: rng.uniform(0.3, 0.9, size=i.shape) if i.dtype == "float" else v
                for i, v in self.operands.items()
            }
            for _ in range(DRAWS)
        ]

    @cached_property
    def _transposed(self) -> tuple[Node, Node | None]:
        """A seed `one` in the shape of the operand's gradient, and the derivative of that gradient
        with respect to the upstream gradient, times `one`.
        """
        one = OPS["input"](name="e", shape=self.to.shape, is_direction=True)
        return one, backward(self.sent_node, one, [self.seed]).of[self.seed]

    def _weights(self, index: Index, operands: dict[Node, Any]) -> Any:
        """The coefficients of the upstream elements in one element of the operand's gradient."""
        ones, hot = np.ones(self.node.shape), np.zeros(self.to.shape)
        hot[index] = 1

        def weighed() -> Any:
            one, weights = self._transposed
            if weights is None:
                return np.zeros(self.node.shape)
            return Evaluator(operands | {one: hot, self.seed: ones})(weights)[0]

        result = if_applicable(weighed)
        # if the rule is not differentiable, the element may depend on every upstream element
        return ones if result is None else result


class Origin(NamedTuple):
    """The origin of an element of a gradient: the `step` from the operation `node` to an operand,
    and the index `at` of the operand's element. Without a step it is the seed, or, with `terms`,
    several gradients that are added at `node`.
    """

    node: Node
    at: Index
    step: LocalStep | None = None
    terms: tuple[float, ...] = ()
    # the elements between the traced element and the origin, in the order of tracing
    path: tuple[tuple[Node, Index], ...] = ()

    @property
    def cancels(self) -> bool:
        """Whether the element is a sum of several gradients, which cancel or overflow."""
        return bool(self.terms)

    @property
    def reaches(self) -> bool:
        """Whether the element depends on the upstream gradient, here or at other values."""
        return self.step is None or bool(self.step.upstream_elements(self.at).any())


# ---- the backward pass ---------------------------------------------------------------------------


class Tracer:
    """Origins of elements of the gradients of a problem."""

    def __init__(self, a: Analysis):
        self.a = a
        steps = a.gradients.steps
        self._locals: dict[tuple[Node, Node], LocalStep] = {}
        self._cached: dict[tuple[Node, Index, bool], Origin] = {}
        self._received = {step.node: step.received for step in steps}
        self._consumers: dict[Node, list[Step]] = {}
        for step in steps:
            for to in dict.fromkeys(c.to for c in step.contributions):
                self._consumers.setdefault(to, []).append(step)

    def not_finite(self, node: Node, index: Index) -> Origin:
        """The origin of an element that is nan or infinite."""
        return self._trace(node, index, zero=False)

    def zero(self, node: Node, index: Index) -> Origin:
        """The origin of an element that is zero."""
        return self._trace(node, index, zero=True)

    def _trace(self, node: Node, index: Index, zero: bool) -> Origin:
        """Follow an element back to its origin; results are cached."""
        path: list[tuple[Node, Index]] = []
        while True:
            known = self._cached.get((node, index, zero))
            if known is not None:
                return known._replace(path=(*path, *known.path))
            result = (self._zero_at if zero else self._not_finite_at)(node, index)
            if not isinstance(result, tuple) or isinstance(result, Origin):
                if not path:
                    self._cached[node, index, zero] = result
                return result._replace(path=(*path, *result.path))
            path.append(result)
            node, index = result

    def arriving(self, node: Node, index: Index) -> float:
        """The gradient of an element of an operation's output."""
        return float(np.broadcast_to(self.a.value(self._received[node]), node.shape)[index])

    def beside(self, origin: Origin) -> LocalStep | None:
        """Another step that sends a nonfinite gradient to the element of an origin."""
        step, at = origin.step, origin.at
        steps = self._arriving(step.to) if step is not None else []
        return next((s for s in steps if s is not step and not np.isfinite(s.sent[at])), None)

    def _local(self, step: Step, to: Node) -> LocalStep:
        key = step.node, to
        if key not in self._locals:
            self._locals[key] = LocalStep(self.a, step.node, to, step.received)
        return self._locals[key]

    def _arriving(self, node: Node) -> list[LocalStep]:
        """The steps that send gradients to a node, in the order of the reverse pass."""
        return [self._local(step, node) for step in self._consumers.get(node, [])]

    def _not_finite_at(self, node: Node, index: Index) -> Any:
        """The origin of a nonfinite element, or the node and index from which it was received."""
        steps = self._arriving(node)
        culprits = [s for s in steps if not np.isfinite(s.sent[index])]
        if not culprits:
            terms = tuple(float(s.sent[index]) for s in steps)
            return Origin(node, index, None, terms if len(terms) > 1 else ())
        step = culprits[0]
        bad = ~np.isfinite(step.received)
        if not bad.any():
            return Origin(step.node, index, step)
        through = bad & step.upstream_elements(index)
        if not through.any():
            return Origin(step.node, index, step)
        return step.node, first(through)

    def _zero_at(self, node: Node, index: Index) -> Any:
        """The origin of a zero, or the node and index from which it was received."""
        steps = self._arriving(node)
        terms = tuple(float(s.sent[index]) for s in steps)
        if any(terms):
            return Origin(node, index, None, terms)
        if not steps:
            return Origin(node, index)
        if len(steps) == 1:
            return self._zero_in(steps[0], index)
        result = [self._followed(self._zero_in(s, index)) for s in steps]
        built = [o for o in result if o.step is not None or o.cancels]
        return next((o for o in built if o.reaches), built[0] if built else result[0])

    def _followed(self, result: Any) -> Origin:
        if isinstance(result, Origin):
            return result
        origin = self.zero(*result)
        return origin._replace(path=(result, *origin.path))

    def _zero_in(self, step: LocalStep, index: Index) -> Any:
        """The origin of a zero that a step sends, or the node and index from which it came."""
        zeros = step.received == 0
        if not zeros.any():
            return Origin(step.node, index, step)
        reach = step.upstream_elements(index)
        if (reach & ~zeros).any() or not (reach & zeros).any():
            return Origin(step.node, index, step)
        return step.node, first(reach & zeros)


def _selects(weights: Any) -> bool:
    """Whether these are the coefficients of a single element that is passed on unchanged."""
    return bool(np.count_nonzero(weights) <= 1 and np.all((weights == 0) | (weights == 1)))


def first(mask: Any) -> Index:
    """The first True of a mask."""
    return tuple(int(i) for i in np.argwhere(mask)[0])


# ---- absent gradients ----------------------------------------------------------------------------


def cut_for(a: Analysis, x: Input) -> Node | None:
    """The first operation on the input that passes no gradient; None if the output does not depend
    on the input.
    """
    p = a.problem
    masks = _index_tensors(a)
    order = [n for n in walk([*p.indices, *masks, *p.roots]) if n.inputs]
    carried: set[Node] = {x.node}
    cuts = []
    for node in order:
        if carried.isdisjoint(node.parents):
            continue
        if not passes_gradient(node) or _takes_none(a, node, carried):
            cuts.append(node)
        else:
            carried.add(node)
    used = set(walk([p.out, *p.indices, *masks]))
    return next((n for n in cuts if n in used), cuts[0] if cuts else None)


def _takes_none(a: Analysis, node: Node, carried: set[Node]) -> bool:
    """Whether the reverse pass visits `node` but sends no gradient to any node of `carried`."""
    step = next((s for s in a.gradients.steps if s.node is node), None)
    return step is not None and not any(c.to in carried for c in step.contributions)


def _index_tensors(a: Analysis) -> list[Node]:
    """The tensors used as indices, which are not part of the graph."""
    items = [
        item for n in walk(a.problem.roots) if n.op.name == "getitem" for item in n.attrs["index"]
    ]
    return [item.node for item in items if isinstance(getattr(item, "node", None), Node)]
