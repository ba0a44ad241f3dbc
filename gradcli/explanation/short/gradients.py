"""The gradients of a problem in their shortest form: closed forms, or a derivation."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ...graphs import walk
from ...language.problem import Input
from ...notation import tree
from ...notation.formulas.sharing import in_terms_of, shared
from ...notation.tree import Tree
from ..analysis import Analysis, is_large, once
from ..derivation.derivation import Derivation, Line, derivation
from ..derivation.statements import Assignment
from ..formulas.contradictions import FormulaBesideNumbers, of_gradients, with_ones
from ..formulas.formula_writer import SAVED, FormulaWriter, writer_of
from ..formulas.reductions import with_named_reductions
from ..formulas.trials import MOST as MOST_ELEMENTS
from ..phrases import shape_text, shown_indices

if TYPE_CHECKING:
    from ..sections.backward import Names

MOST = 12  # closed forms are searched for if a program has at most so many operations
LINES = 36  # largest number of lines that are shown; enough for a block of a transformer
MOST_ALONE = 24  # as MOST, if the gradient of only one input is requested
Statement = tuple[tree.Name, Tree]
NAMES = re.compile(r"[^\W\d]\w*(?:\.grad)?")  # of values and gradients, in text
SHARED = 3  # tokens that a statement must save in several formulas
STATEMENT_COST = 1  # the cost of a statement in addition to its length


class ClosedForms(NamedTuple):
    """Statements for the common parts of closed forms, and each form in terms of their names."""

    statements: list[Statement]
    results: dict[Tree, Tree]


class Gradients:
    """The gradients of a problem; `derivation` is not None if it is shorter than closed forms."""

    def __init__(self, a: Analysis, w: FormulaWriter):
        self.a, self.w, self.problem = a, w, a.problem
        self.introduced: list[Statement] = []  # statements for parts of formulas
        self.meanings: list[str] = []  # sentences that define names in index notation

    @cached_property
    def derivation(self) -> Derivation | None:
        """The derivation of the gradients; None if closed forms are as short."""
        derived = self._derived
        if derived is None or not derived.back:
            return None
        return derived if self._is_shorter(derived) else None

    def introduce_names(self) -> None:
        """Introduce names for values of the derivation, or for reductions in closed forms."""
        if self.derivation is None:
            self.w = with_named_reductions(self.w)
            self.introduced = [*self.w.introduced.values()]
        else:
            self.w.added_names = {s.nodes[-1]: tree.Name(s.names[-1]) for s in self.added}

    @cached_property
    def added(self) -> list[Assignment]:
        """The assignments that the derivation adds to the program, if a shown line uses them."""
        derived = self.derivation
        if derived is None:
            return []
        back = [derived.back[k] for k in shown_indices(len(derived.back), LINES)[0]]
        return derived.added([*back, *derived.gradients[:LINES]])

    @cached_property
    def _derived(self) -> Derivation | None:
        p = self.problem
        if p.lower_order is not None or not p.statement_values:
            return None
        result: Derivation | None = p.limits.budget.present(
            lambda: derivation(self.a), lambda: None
        )
        return result

    def _is_shorter(self, derived: Derivation) -> bool:
        """Whether the derivation is shorter than the closed forms, or one of these is missing."""
        operations = [n for n in walk([self.problem.out]) if n.op.family != "leaf"]
        if len(operations) > (MOST if len(self.problem.wrt) > 1 else MOST_ALONE):
            return True
        closed = [self.w.gradient(x) for x in self.problem.wrt if self.a.gradient(x) is not None]
        statements = [line.formula for line in derived.lines if line.formula is not None]
        if None in closed or len(statements) < len(derived.lines):
            return None in closed
        added = sum(map(tree.size, derived.added_formulas()))
        length = sum(tree.size(f) for f in statements) + STATEMENT_COST * len(derived.back) + added
        return length < sum(tree.size(f) for f in closed if f is not None)

    @cached_property
    def inputs(self) -> list[Input]:
        """The inputs in `wrt`, in the order of the derivation."""
        if self.derivation is None:
            return self.problem.wrt
        order = {line.name: k for k, line in enumerate(self.derivation.gradients)}
        return sorted(self.problem.wrt, key=lambda x: order.get(x.name, len(order)))

    @cached_property
    def used(self) -> set[str]:
        """The names that are in use, and not available for statements: those of the program, of
        the derivation, and of earlier statements.
        """
        names = tree.words_in_use(self.w.indices.names.values())
        return names if self.derivation is None else names | self.derivation.names

    @cached_property
    def widest(self) -> int:
        """The number of characters of the longest shape."""
        back = self.derivation.back if self.derivation else []
        shapes = [x.shape for x in self.inputs] + [line.of.shape for line in back]
        return max(len(shape_text(shape)) for shape in shapes)

    def names_back(self) -> "Names":
        """The names of gradients that the derivation uses."""
        from ..sections.backward import Names, of_program

        d = self.derivation
        if d is None:
            return of_program(self.a)
        several = {s.nodes[-1] for s in d.assigned if s.again}  # each equal one has a part
        nodes = ((n, node) for n, node in d.nodes.items() if node in d.received)
        back = {d.received[n]: d.seeds[name] for name, n in nodes if name in d.seeds}
        added = {s.nodes[-1]: s.names[-1] for s in d.assigned if s.is_added}
        return Names(back, {n: name for n, name in added.items() if n not in several})

    def in_statements(self, formula: Tree) -> tuple[list[Statement], Tree]:
        """Statements for repeated parts of a formula, which those after it may use, and the formula
        in terms of them. In a large program no repeated parts are searched for.
        """
        if is_large(self.problem):
            return [], formula
        if formula in self.closed_forms.results:
            return self._newly_needed(formula)
        written = shared(in_terms_of(formula, self.introduced), self.used, SAVED)
        if not isinstance(written, tree.Block):
            return [], written
        self.introduced += written.statements
        self.used.update(name.text for name, _ in written.statements)
        return [*written.statements], written.result

    @cached_property
    def closed_forms(self) -> "ClosedForms":
        """The closed forms of several inputs, in terms of statements for their common parts."""
        several = self.derivation is None and len(self.problem.wrt) > 1
        given = (x for x in self.problem.wrt if several and self.a.gradient(x) is not None)
        forms = [f for f in map(self.w.gradient, given) if f is not None]
        named_forms = [self.w.with_definitions(f) for f in forms]
        whole = shared(tree.Listing(tuple(named_forms)), self.used, SHARED)
        named = [*whole.statements] if isinstance(whole, tree.Block) else []
        result = whole.result if isinstance(whole, tree.Block) else whole
        assert isinstance(result, tree.Listing)
        return ClosedForms(named, dict(zip(forms, result.items, strict=True)))

    def _newly_needed(self, formula: Tree) -> tuple[list[Statement], Tree]:
        """A closed form in terms of statements, and those that no form before it needed."""
        result = self.closed_forms.results[formula]
        needed, new = {*NAMES.findall(tree.text(result))}, list[Statement]()
        for name, part in reversed(self.closed_forms.statements):
            if name.text in needed:
                needed |= {*NAMES.findall(tree.text(part))}
                new.insert(0, (name, part))
        new = [s for s in new if s not in self.introduced]
        self.introduced += new
        self.used.update(name.text for name, _ in new)
        return new, result

    @cached_property
    def statements(self) -> list[tuple[str, Tree | None, str]]:
        """The derivation as names, formulas, and their texts; a formula is None if it is too long,
        or of several names.
        """
        return [*self._statements()]

    def _statements(self) -> Iterator[tuple[str, Tree | None, str]]:
        derived = self.derivation
        if derived is None:
            return
        for s in derived.added(derived.lines):
            alone = derived.written(s.nodes[0]) if len(s.names) == 1 else None
            yield s.names_text, alone, s.value
        for line in derived.lines:
            if line.formula is None:
                yield line.gradient_name, None, ""
                continue
            before, result = self.in_statements(line.formula)
            yield from ((name.text, part, tree.text(part)) for name, part in before)
            yield line.gradient_name, result, tree.text(result)

    def needed_for(self, x: Input) -> str | None:
        """The statements that one gradient needs, in order, and its formula in terms of them, on
        one line; None without a derivation, or if one is missing.
        """
        line, derived = self.line(x), self.derivation
        if line is None or derived is None or is_large(self.problem):
            return None
        if not derived.is_complete_for(x.name):
            return None
        needed, result = {line.gradient_name}, list[str]()
        for names, _, text in reversed(self.statements):
            if needed.isdisjoint(names.split(", ")):
                continue
            needed |= {*NAMES.findall(text)}
            result.append(f"{names} = {text}" if result else text)
        return "; ".join(reversed(result))

    def formula(self, x: Input) -> Tree | None:
        """The formula of one gradient."""
        line = self.line(x)
        return self.w.gradient(x) if line is None else line.formula

    def beside_numbers(self) -> Iterator[FormulaBesideNumbers]:
        """The shown formulas with their numbers: closed forms, or lines of the derivation."""
        derived = self.derivation
        if derived is None:
            yield from of_gradients(self.a, self.w)
            return
        a = with_ones(self.a)
        lines = [line for line in derived.gradients if a.has_numbers(line.grad)]
        if not lines:  # formulas of all steps would be searched for needlessly
            return
        if any(line.formula is None or line.of.numel > MOST_ELEMENTS for line in derived.lines):
            return
        arrays = lru_cache(maxsize=1)(derived.arrays)
        text = "\n".join(line.text or "" for line in derived.lines)
        for line in lines:
            x, name = self.problem.inputs[line.name], line.gradient_name
            yield FormulaBesideNumbers(name, name, text, partial(_derived, line, arrays), (x,))

    def line(self, x: Input) -> Line | None:
        """The line of the derivation for one gradient."""
        if self.derivation is None:
            return None
        return next((g for g in self.derivation.gradients if g.name == x.name), None)


@once
def gradients_of(a: Analysis) -> Gradients:
    """The gradients of a problem, with the same names in all answers that have statements."""
    return Gradients(a, writer_of(a))


def _derived(line: Line, arrays: Callable[[Analysis], dict[str, Any]], a: Analysis) -> Any:
    """The value of a gradient, and the value of its line."""
    return a.value(line.grad), arrays(a)[line.name]
