"""The Jacobian of a problem times its tangents."""

from functools import cached_property
from itertools import count

from ...autodiff.forward import jvp, tangents_along
from ...errors import if_applicable
from ...graphs import Node
from ...graphs.substitution import substitute
from ...language.problem import Input, Tangent
from ...lazy import np
from ...notation import tree
from ...notation.indices.index import Notation
from ...notation.tree import Attribute, Name, Tree
from ..analysis import Analysis, within_budget
from ..derived import tangent_symbol
from ..formulas import by_index
from ..formulas.formula_writer import FormulaWriter, names_of_numbers
from ..formulas.generic_steps import large_numbers
from ..formulas.trials import CLOSE, Trial, value_of
from ..random_numbers import Numbers


class Jvp:
    """The tangents of the output and of intermediates; nodes with zero tangents have none."""

    def __init__(self, a: Analysis):
        # no note says where the formula of a tangent divides by a number
        w = FormulaWriter(a, zeros=frozenset(names_of_numbers(a.problem)))
        self.a, self.problem, self.w = a, a.problem, w

    def tangent(self, x: Input) -> Tangent | None:
        """The tangent of an input."""
        return next((t for t in self.problem.tangents if t.x.node is x.node), None)

    @cached_property
    def along(self) -> dict[Node, Node]:
        """The tangent of every node that has one, as a graph."""
        return tangents_along(self.problem.out, {t.x.node: t.node for t in self.problem.tangents})

    @property
    def node(self) -> Node | None:
        """The tangent of the output as a graph; None if it is zero."""
        return self.along.get(self.problem.out)

    def part(self, x: Input) -> Node | None:
        """The contribution of one input to the tangent of the output; None if it is zero."""
        t = self.tangent(x)
        if t is None or len(self.problem.tangents) == 1:
            return t and self.node
        return jvp(self.problem.out, {x.node: t.node})

    # ---- for any sizes ---------------------------------------------------------------------------

    @cached_property
    def generic(self) -> "Jvp | None":
        """The JVP at generic sizes; None if the problem has none."""
        w = self.w.generic
        if w is None:
            return None
        inputs = {t.name: w.problem.inputs[t.x.name] for t in self.problem.tangents}
        tangents = tuple(Tangent(x, tangent_symbol(t, x), None, None) for t, x in inputs.items())
        return Jvp(Analysis(w.problem._replace(tangents=tangents)))

    def generic_tangent(self, node: Node) -> "tuple[Jvp, Node]":
        """The JVP and the node from which to write the tangent of `node`: those at generic sizes if
        the tangent is computed by the same operations there and all its sizes have names; otherwise
        this JVP and `node`.
        """
        j, other = self.generic, self._generic_nodes.get(node)
        if j is None or other is None:
            return self, node
        pairs = [(node, other), (self.along[node], j.along[other])]
        if not self.w.same_computation(pairs):
            return self, node
        large = j._large(other)
        return (j, other) if not large or large <= self._large(node) else (self, node)

    def _large(self, node: Node) -> set[int]:
        """The large numbers in the formula of the tangent of a node."""
        return large_numbers([self.w.formula(self.along[node])])

    @cached_property
    def _generic_nodes(self) -> dict[Node, Node]:
        """The generic node for each node with a tangent."""
        j = self.generic
        if j is None or [n.op for n in self.along] != [n.op for n in j.along]:
            return {}
        return dict(zip(self.along, j.along, strict=True))

    @cached_property
    def formula(self) -> Tree | None:
        """The formula of the tangent of the output; None if it is too long."""
        j, node = self._written
        return j.w.formula(node)

    @cached_property
    def _written(self) -> "tuple[Jvp, Node]":
        """This JVP or the generic one, and the form of the output tangent with the shorter formula;
        that may be the VJP at the tangent if the Jacobian is symmetric.
        """
        j, out = self.generic_tangent(self.problem.out)
        node, vjp = j.along[out], None if j is self else j._by_symmetry
        formula, other = (None if n is None else j.w.formula(n) for n in (node, vjp))
        if vjp is None or other is None or (formula and tree.size(formula) <= tree.size(other)):
            return j, node
        return j, vjp if self._holds(tree.text(other)) else node

    @within_budget(lambda *_: False, in_large=True)
    def _holds(self, formula: str) -> bool:
        """Whether there are trials, and a formula passes all of them."""
        trials = (*self.w.trials.first, *self.w.trials.elsewhere)
        return bool(trials) and not any(self._fails(formula, at) for at in trials)

    @property
    def _by_symmetry(self) -> Node | None:
        """The VJP at the only tangent, if the Jacobian is square; else None."""
        (t, *further), out = self.problem.tangents, self.problem.out
        grad = self.w.read_off(t.x)
        if grad is None or further or not out.shape or t.x.shape != out.shape:
            return None
        return substitute(grad, {self.problem.seed.node: t.node})

    @property
    def index(self) -> Notation | None:
        """The tangent by index, `out.tangent[i] = Σ_j t[j] a[i,j]`; None if there is none."""
        if self.node is None:
            return None
        here, (other, written) = self._index_of(self.along[self.problem.out]), self._written
        return here if other is self else by_index.for_any(here, other._index_of(written))

    def _index_of(self, written: Node) -> Notation | None:
        left, indices = Attribute(Name(self.problem.out_name), "tangent"), self.w.indices
        at = indices.out_places
        return by_index.shortest_notation(self.w, written, lambda n: indices.element(n, left, at))

    @cached_property
    @within_budget(in_large=True)
    def extent(self) -> str | None:
        """The extent of a formula that fails at other sizes: it holds at "some" other sizes, or
        only "here". None if it holds at all sizes that were tried.
        """
        if self.node is None or self.formula is None:
            return None
        text, moving = tree.text(self.formula), [t.x.name for t in self.problem.tangents]
        elsewhere = [at for at in self.w.trials.elsewhere if all(map(at.is_conclusive, moving))]
        failing = {at: self._fails(text, at) for at in elsewhere}
        if not any(failing.values()):
            return None
        holds = any(not failing[at] for at in elsewhere if at.problem.shapes != self.problem.shapes)
        return "some" if holds else "here"

    def _fails(self, formula: str, at: Trial) -> bool:
        """Whether a formula differs from the JVP in a trial, at random tangents."""
        draw, inputs, out = Numbers(5), at.problem.inputs, at.problem.out
        moving = {t.name: inputs[t.x.name] for t in self.problem.tangents}
        along = {name: tangent_symbol(name, x) for name, x in moving.items()}
        tangents = {name: draw.uniform(0.5, 1.5, x.shape) for name, x in moving.items()}
        node = tangents_along(out, {x.node: along[name] for name, x in moving.items()}).get(out)
        if node is None:
            return False
        for name, value in tangents.items():
            at.evaluate.values[along[name]] = value
        arrays = if_applicable(
            lambda: (at.evaluate(node)[0], value_of(formula, at.values | tangents, at.problem))
        )
        if arrays is None:
            return True
        expected, result = arrays
        if not np.all(np.isfinite(expected)):
            return False
        same = result.shape == expected.shape
        return not (same and np.allclose(result, expected, rtol=CLOSE, atol=CLOSE))

    # ---- names -----------------------------------------------------------------------------------

    @cached_property
    def called(self) -> dict[Node, Name]:
        """The names of the tangents of operations: h.tangent, or t1, t2, ... for unnamed nodes."""
        taken = tree.words_in_use(self.w.names.values())
        free = (f"t{k}" for k in count(1) if f"t{k}" not in taken)
        result = {}
        for node in self.along:
            if node.op.family != "leaf":
                name = self.w.names.get(node)
                text = next(free) if name is None else f"{name.text}.tangent"
                result[node] = Name(text, "seed")
        return result

    def later(self, node: Node) -> set[Node]:
        """The nodes that are computed after `node`."""
        return set(self._order[self._places[node] + 1 :])

    @cached_property
    def _order(self) -> list[Node]:
        """The operations, in order."""
        return self.w.source.operations()

    @cached_property
    def _places(self) -> dict[Node, int]:
        return {node: k for k, node in enumerate(self._order)}

    def received(self, node: Node) -> dict[Node, Name]:
        """The tangents that an operation receives, with their names."""
        return {self.along[i]: self.called[i] for i in node.parents if i in self.called}
