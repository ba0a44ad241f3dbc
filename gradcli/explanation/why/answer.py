"""The answer of `gradcli why` on a gradient: why elements are nan, infinite, zero or absent."""

from collections import Counter
from functools import cached_property, partial
from typing import Any, NamedTuple

from ...graphs import OPS, Node
from ...language.problem import Input
from ...language.wrt import NOT_SCALAR
from ...lazy import np
from ..analysis import Analysis
from ..blocks import Code, Document, Note, Prose, Row, Section, Table, plain, words
from ..phrases import element_name
from .reasons import Reasons, operation_name, used_for
from .tracing import Origin, Tracer, cut_for

ORDER = ("nan", "inf", "none", "zero")  # the most severe first


class Element(NamedTuple):
    """An element of a gradient, or an absent gradient: its kind, and its cause."""

    name: str
    kind: str
    operation: str
    reason: str


class Why:
    """The elements of a problem's gradients that are nan, infinite, zero or absent, each with its
    cause, and an equal expression without nan and infinities, if one is found.
    """

    def __init__(self, a: Analysis, assumed_seed: bool = False):
        self.a, self.assumed_seed = a, assumed_seed
        self._budget = a.problem.limits.budget
        self.left = Counter[str]()  # kind -> number of elements omitted for lack of time

    @cached_property
    def elements(self) -> list[Element]:
        """All elements that are nan, infinite, zero or absent, in the order of the inputs."""
        return [e for x in self.a.problem.wrt for e in self._of(x)]

    @cached_property
    def rewritten(self) -> str | None:
        """An equal expression whose gradient is finite here; None if none is found."""
        from .rewriting import rewritten

        result: str | None = self._budget.search(lambda: rewritten(self.a), lambda: None)
        return result

    @cached_property
    def _tracer(self) -> Tracer:
        return Tracer(self.a)

    @cached_property
    def _reasons(self) -> Reasons:
        return Reasons(self.a, self._tracer)

    @cached_property
    def _cuts(self) -> dict[str, Node | None]:
        p = self.a.problem
        return {x.name: cut_for(self.a, x) for x in p.wrt if self.a.gradient(x) is None}

    def _of(self, x: Input) -> list[Element]:
        """The nan, infinite and zero elements of one gradient, as many as the time limit allows."""
        if self.a.gradient(x) is None:
            return [self._absent(x)]
        value = self.a.grad_value(x)
        if value is None:  # without values, only absent gradients can be explained
            return []
        value = np.asarray(value)
        at = (value == 0) | ~np.isfinite(value)
        result: list[Element] = []
        for index, number in zip(np.argwhere(at), value[at]):
            explained = partial(self._element, x, tuple(index.tolist()), _kind(number))
            element = self._budget.search(explained, lambda: None)
            if element is None:
                break
            result.append(element)
        left = value[at][len(result) :]
        counts = {"nan": np.isnan(left), "inf": np.isinf(left), "zero": left == 0}
        self.left += Counter({kind: int(n.sum()) for kind, n in counts.items()})
        return result

    def _absent(self, x: Input) -> Element:
        cut = self._cuts[x.name]
        used = used_for(self.a.problem.program, x.name) or "unused"
        operation = used if cut is None else operation_name(self.a, cut)
        reason = self._reasons.cut(cut, self.a.problem.out_name)
        return Element(x.name, "none", operation, reason)

    def _element(self, x: Input, index: tuple[int, ...], kind: str) -> Element:
        tracer, reasons = self._tracer, self._reasons
        if kind == "zero":
            origin = tracer.zero(x.node, index)
            reason = reasons.zero(origin)
        else:
            origin = tracer.not_finite(x.node, index)
            reason = reasons.not_finite(kind, origin)
        return Element(element_name(x.name, index), kind, self._operation(origin), reason)

    def _operation(self, origin: Origin) -> str:
        if origin.step is None:
            return "accumulate" if origin.cancels else "seed"
        return operation_name(self.a, origin.node)

    def data(self) -> dict[str, Any]:
        """The answer as JSON."""
        result = {
            "elements": [e._asdict() for e in self.elements],
            "rewritten": self.rewritten,
        }
        return result | ({"unexplained": dict(self.left)} if self.left else {})

    def document(self) -> Document:
        """The answer as blocks: the elements by cause, then the expression to use instead."""
        return Document((), (*self._causes(), *self._instead(), *self._cure(), *self._seed()))

    def _causes(self) -> list[Section]:
        if not self.elements and not self.left:
            line = words("Every element of the gradient is finite and not zero.")
            return [Section("why", line, (), ())]
        by_cause: dict[tuple[str, str], list[str]] = {}
        for e in sorted(self.elements, key=lambda e: ORDER.index(e.kind)):
            by_cause.setdefault((e.kind, e.reason), []).append(e.name)
        rows = [
            Row((plain(_listed(names)), words(kind), words(reason)))
            for (kind, reason), names in by_cause.items()
        ]
        rows += [
            Row(
                (
                    plain(f"{count:,} more"),
                    words(kind),
                    words("not examined: out of time"),
                )
            )
            for kind, count in self.left.items()
        ]
        return [Section("why", words("Why"), (), (Table(tuple(rows)),))]

    def _instead(self) -> list[Section]:
        cuts = self._cuts
        if len(cuts) < len(self.a.problem.wrt):
            return []
        advice = dict.fromkeys(self._reasons.instead(cut) for cut in cuts.values())
        notes = tuple(Note("instead", words(text)) for text in advice if text)
        return [Section("instead", words("Nothing has a gradient here"), (), notes)]

    def _seed(self) -> list[Section]:
        if not self.assumed_seed:
            return []
        text = f"PyTorch requires a seed here ({NOT_SCALAR}): this answer uses ones_like(out)"
        return [Section("seed", words("Seed"), (), (Note("implicit-seed", words(text)),))]

    def _cure(self) -> list[Section]:
        if self.rewritten is None:
            return []
        text = Prose(words("finite at these values, with the same value and gradient elsewhere"))
        blocks = (Code(self.rewritten, "python"), text)
        return [Section("rewritten", words("Instead"), (), blocks)]


def _kind(value: Any) -> str:
    if np.isnan(value):
        return "nan"
    return "inf" if np.isinf(value) else "zero"


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown


def why_expression(analysis: Analysis) -> Why:
    """Why elements of the gradients of a problem are nan, infinite, zero or absent. A missing seed
    is ones. Raises GradcliError if an input has no value and no gradient is absent.
    """
    p, assumed = analysis.problem, analysis.problem.seed.refused
    if assumed:
        seed = p.seed._replace(value=OPS["ones"](size=p.out.shape), refused=False)
        p = p._replace(seed=seed)
    # an output without gradient is an answer, not an error
    a = Analysis(p, analysis.dtype, allow_no_gradient=True)
    if all(a.gradient(x) is not None for x in p.wrt):
        a.require_numbers()
    return Why(a, assumed)
