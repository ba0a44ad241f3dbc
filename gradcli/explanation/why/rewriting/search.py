"""The search for an equal expression with a finite gradient: by idioms (known rewritings, such as
log_softmax for the log of softmax), then by guards (`where` around an operand), then by both.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from itertools import islice
from math import pi
from typing import Any

from ....errors import MISUSES, GradcliError, if_applicable
from ....graphs import Node, intern, walk
from ....graphs.substitution import rebuilt, substitute
from ....lazy import np
from ....notation import tree
from ....notation.formulas.formula import formula
from ....notation.tree import Name
from ....operators.leaves import Array
from ...analysis import Analysis
from ..tracing import Tracer
from .guards import empty_rows, masked, overflowing, removable, singular
from .idioms import IDIOMS, RARER, Rule
from .verified import Numbers, Verifier

UNFIT = (GradcliError, *MISUSES)  # exceptions of an idiom for unsuitable shapes or numbers
MOST = 200  # largest number of expressions that are tried
PI = repr(pi)
LARGEST = 4096  # elements of all inputs


def rewritten(a: Analysis) -> str | None:
    """The text of an equal expression without nan, infinities and saturation; None if none is
    found.
    """
    p = a.problem
    grads = [a.grad_value(x) for x in p.wrt]
    grads = [g for g in grads if g is not None]
    bad = any(np.any(~np.isfinite(g)) for g in grads)
    if p.lower_order is not None or sum(x.node.numel for x in p.inputs.values()) > LARGEST:
        return None
    if not bad and not any(np.any(g == 0) for g in grads):
        return None
    return Search(a, bad).text()


class Search:
    """The search for the first candidate expression that the verifier accepts."""

    def __init__(self, a: Analysis, bad: bool):
        self.a, self.bad = a, bad
        self.names: dict[Node, Any] = {x.node: Name(x.name) for x in a.problem.inputs.values()}
        self.out = self._spelt_out(plain(a.problem.out))

    def _spelt_out(self, out: Node) -> Node:
        """The output, with the tensors that are used as masks or indices written in terms of the
        inputs, because a single expression has no names for intermediate values.
        """

        def make(n: Node, inputs: Sequence[Node | None]) -> Node | None:
            if n.op.name != "getitem" or not any(map(_computed, n.attrs["index"])):
                return None
            index = tuple(self._written_index(i) if _computed(i) else i for i in n.attrs["index"])
            return intern(n.op, tuple(inputs), n.attrs | {"index": index})

        return rebuilt(out, make)

    def _written_index(self, item: Any) -> Any:
        node = self._spelt_out(plain(item.node))
        text = if_applicable(lambda: tree.text(formula(node, self.names)))
        return item if text is None else Array(item.value, text, node)

    @cached_property
    def verifier(self) -> Verifier:
        """The verifier, which compares expressions with the original."""
        return Verifier(self.a)

    def text(self) -> str | None:
        """The first accepted expression, as text."""
        idioms = list(dict.fromkeys(self._idioms()))
        clamped = any(n.op.name == "binary_cross_entropy" for n in walk([self.out]))
        tried = self._first((out, "clamped" if clamped else "") for out in idioms)
        if tried is not None or not self.bad:
            return tried
        for out in [self.out, *idioms[:2]]:
            result = self._first(islice(self._guarded(out), MOST))
            if result is not None:
                return result
        return None

    def _first(self, candidates: Iterator[tuple[Node, str]]) -> str | None:
        for out, guard in candidates:
            text = self._written(out)
            other = None if text is None else self.verifier.read(text)
            if other is not None and self.verifier.accepts(other, guard) and self._improves(other):
                return text
        return None

    def _improves(self, other: Numbers) -> bool:
        """Whether an expression with a finite gradient is better than the original, whose gradient
        is then not finite or has more zeros.
        """
        if self.bad:
            return True
        _, before = self.verifier.at_values
        _, after = other(self.verifier.values)
        return sum(np.count_nonzero(g) for g in after) > sum(np.count_nonzero(g) for g in before)

    # ---- idioms ----------------------------------------------------------------------------------

    def _idioms(self) -> Iterator[Node]:
        """The output rewritten by all idioms, then by each of them alone."""
        for rules in (IDIOMS, *((rule,) for rule in (*IDIOMS, *RARER))):
            out = _applied(self.out, rules)
            if out is not self.out:
                yield out

    # ---- guards ----------------------------------------------------------------------------------

    def _guarded(self, out: Node) -> Iterator[tuple[Node, str]]:
        """The output with one guard, then with two; each with the name of the kind of guard."""
        first = list(islice(self._once(out), MOST // 4))
        yield from first
        for once, kind in self._improved(first):
            for twice, other in islice(self._once(once), MOST // 4):
                yield twice, max(kind, other)

    def _once(self, out: Node) -> Iterator[tuple[Node, str]]:
        """The output with one guard, and the name of its kind ("mask", "product", ...)."""
        with np.errstate(all="ignore"):
            a = self._analysis(out)
            origins = _origins(a, out)
        for kind, make in (
            ("mask", lambda: masked(out, origins, by_factor=False)),
            ("product", lambda: masked(out, origins, by_factor=True)),
            ("mask", lambda: empty_rows(a, out)),
            ("mask", lambda: overflowing(a, out)),
            ("singular", lambda: removable(a, out, origins)),
            ("singular", lambda: singular(out, origins)),
        ):
            try:
                yield from ((c, kind) for c in make())
            except UNFIT:
                continue

    def _improved(self, candidates: list[tuple[Node, str]]) -> list[tuple[Node, str]]:
        """The best two candidates that have fewer nonfinite gradient elements than the original."""
        counted = [(self._count(c), k) for k, (c, _) in enumerate(candidates)]
        before = self._count(self.out)
        better = sorted((n, k) for n, k in counted if 0 < n < before)
        return [candidates[k] for _, k in better[:2]]

    def _count(self, out: Node) -> int:
        """The number of nonfinite gradient elements; very large if the gradients cannot be
        computed.
        """
        grads = if_applicable(lambda: self._gradients(out))
        if grads is None:
            return 1 << 30
        return sum(int(np.count_nonzero(~np.isfinite(g))) for g in grads if g is not None)

    def _gradients(self, out: Node) -> list[Any]:
        a = self._analysis(out)
        return [a.grad_value(x) for x in a.problem.wrt]

    def _analysis(self, out: Node) -> Analysis:
        p = self.a.problem
        value = p.seed.value
        seed = p.seed if value is None else p.seed._replace(value=plain(value))
        problem = p._replace(out=out, named={}, seed=seed)
        return Analysis(problem, self.a.dtype, allow_no_gradient=True)

    def _written(self, out: Node) -> str | None:
        text = if_applicable(lambda: tree.text(formula(out, self.names)))
        if text is None or "pi" in self.a.problem.inputs:
            return text
        return text.replace(PI, "pi")


def _computed(item: Any) -> bool:
    """Whether an index is a tensor that the program computes."""
    return isinstance(getattr(item, "node", None), Node) and bool(item.node.inputs)


def plain(node: Node) -> Node:
    """A node without source spans, so that equal operations are one node."""
    return substitute(node, {}, lambda _: None)


def _applied(out: Node, rules: Sequence[Rule]) -> Node:
    def make(n: Node, inputs: Sequence[Node | None]) -> Node | None:
        if not n.inputs:
            return None
        here = intern(n.op, tuple(inputs), n.attrs)
        built = (if_applicable(partial(rule, here), UNFIT) for rule in rules)
        others = (m for m in built if m is not None and m is not here)
        return next((m for m in others if m.shape == n.shape), None)

    return rebuilt(out, make)


def _origins(a: Analysis, out: Node) -> list[Node]:
    """The operations that make gradient elements nan or infinite."""
    tracer, result = Tracer(a), dict[Node, None]()
    for x in a.problem.wrt:
        value = a.grad_value(x)
        if value is None:
            continue
        for place in np.argwhere(~np.isfinite(value))[:64]:
            origin = tracer.not_finite(x.node, tuple(map(int, place)))
            if origin.step is not None:
                result[origin.node] = None
    values = [n for n in walk([out]) if n in result]
    return [*values, *(n for n in _undefined(a, out) if n not in result)]


def _undefined(a: Analysis, out: Node) -> list[Node]:
    """The operations with finite operands whose value is nan or infinite."""
    return [
        n
        for n in walk([out])
        if n.dtype == "float"
        and n.inputs
        and not np.all(np.isfinite(a.value(n)))
        and all(i.dtype != "float" or np.all(np.isfinite(a.value(i))) for i in n.parents)
    ]
