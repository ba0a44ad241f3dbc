"""Writes the formulas of a problem's nodes, with the names that the user gave to values."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ...autodiff.reverse import Gradients, backward
from ...errors import if_applicable
from ...graphs import OPS, Node, walk
from ...graphs.substitution import substitute, substitute_all
from ...language.problem import Input, Problem
from ...notation import tree
from ...notation.formulas.formula import TOO_LONG, Writer, formula, is_large, too_long
from ...notation.formulas.rules.known_values import known_positive
from ...notation.formulas.sharing import in_terms_of, seedless_parts, shared
from ...notation.formulas.shorten import WIDE, Shortener
from ...notation.formulas.simplify import simplify, without_ones
from ...notation.tree import Name, Token
from ...operators.leaves import Array
from ..analysis import Analysis, once, within_budget
from ..blocks import EQUALS, THEN, Formula, Line, equality, statements, text_of
from ..derived import gradient_name
from ..phrases import number_text
from .formula_cache import Formulas, formulas_of, new_formulas
from .generic_nodes import SameComputation
from .other_sizes import generic_problem
from .source_text import SourceText, role_of
from .trials import Reach, Trials, formulas_that_pass, undefined

if TYPE_CHECKING:
    from ...notation.indices.index import Indices
    from ...notation.jacobians.structure import Structure

SAVED = 1  # tokens that a statement must save
AT_ONCE = 80  # tokens up to which a formula is shown without statements
LONG_STEP = 16  # shorter forms are searched for if the formula of a step is at least this long
Definition = tuple[Name, tree.Tree]
UNREAD = (Token("(no readable formula)", "word"),)


class FormulaWriter:
    """Finds names and formulas for the nodes of a problem; caches the results. Formulas do not
    divide by the inputs in `zeros`, other than where the program does.
    """

    def __init__(
        self,
        analysis: Analysis,
        cache: Formulas | None = None,
        zeros: frozenset[str] | None = None,
    ):
        self.analysis, self.problem = analysis, analysis.problem
        self.cache = cache or new_formulas()
        self.zeros = zeros_of(self.problem) if zeros is None else zeros
        self._wrong: dict[str, bool] = {}
        self.introduced: dict[Node, Definition] = {}  # see reductions.py
        self.added_names: dict[Node, Name] = {}  # names that the derivation of an answer adds
        self.structures: dict[str, Structure] = {}  # of Jacobians, by input name

    @cached_property
    def names(self) -> dict[Node, Name]:
        """The names of inputs, of named intermediates, of the output, and of seed and tangents."""
        p = self.problem
        result = {i.node: Name(i.name, role_of(i)) for i in p.inputs.values()}
        for name, node in p.named.items():
            name_so_far = result.setdefault(node, Name(name))
            if name_so_far.text != name:
                result[node] = name_so_far._replace(also=(*name_so_far.also, name))
        if p.lower_order is None:  # the gradient of an intermediate has no name in the language
            result.setdefault(p.out, Name(p.out_name))
        result |= {t.node: Name(t.name, "seed") for t in p.tangents}
        return result | {p.seed.node: Name(p.seed.name, "seed")}

    @cached_property
    def source(self) -> SourceText:
        """The program as text."""
        return SourceText(self.problem, self.names)

    @within_budget(lambda self, x: self.analysis.gradient(x))
    def read_off(self, x: Input) -> Node | None:
        """The gradient of an input in the form from which its formula is read. If the output is
        itself a gradient, it is simplified before it is differentiated, unless inputs in `wrt` have
        assumed properties, which need not hold for perturbed inputs.
        """
        grad = self.analysis.gradient(x)
        assumed = any(x.node.attrs["known"] for x in self.problem.wrt)
        if grad is None or assumed or self.problem.lower_order is None:
            return grad
        result = self._of_shortened.of[x.node] or grad
        along = self._along_seed(x) if len(walk([result])) > WIDE else None
        return along if along is not None and len(walk([along])) < len(walk([result])) else result

    @cached_property
    def _of_shortened(self) -> Gradients:
        p = self.problem
        return backward(self._shortened_output, p.seed.node, [x.node for x in p.wrt])

    @cached_property
    def _shortened_output(self) -> Node:
        p = self.problem
        short = self._shortest(p.out, self.names)
        # The same operators with kinks must remain, except clamp: formulas omit the bounds that
        # guard a divisor, such as that of the norm in normalize.
        kinks, original = ({n.op for n in walk([out]) if n.op.kink} for out in (short, p.out))
        return short if kinks <= original <= kinks | {OPS["clamp"]} else p.out

    def _along_seed(self, x: Input) -> Node | None:
        """The gradient of a scalar's gradient, computed as the directional derivative along the
        seed. The result is the same, because Hessians are symmetric, and often shorter. None for
        other problems.
        """
        from ...autodiff.forward import jvp

        lower = self.problem.lower_order
        assert lower is not None
        of_scalar = lower.lower_order is None and lower.seed.implicit and lower.out.numel == 1
        if not of_scalar or lower.wrt[0].node is not x.node:
            return None
        return jvp(self._shortened_output, {x.node: self.problem.seed.node})

    def gradient_forms(self, x: Input) -> Iterator[tuple[Node, dict[Node, tree.Tree]]]:
        """Equal forms of the gradient of an input, from which to read its Jacobian, each with
        formulas for the nodes that are treated as leaves.
        """
        grad = self.read_off(x)
        if grad is None:
            return
        is_long = self.is_long(x)
        if is_long or len(walk([grad])) <= WIDE:
            yield grad, {}
        if is_long:
            return
        names = {n: name for n, name in self.names.items() if n is not grad}
        short = self._shortest(grad, names)
        if short is not grad:
            yield short, {}
        write = Writer(names, self.problem.generic_sizes)
        seed = self.problem.seed.node
        result = (tuple(seedless_parts(short, seed, names, moved)) for moved in (False, True))
        for parts in dict.fromkeys(result):
            written = {n: write.tree(n) for n in parts if write.is_in_words(n)}
            if written:
                yield short, written

    def gradient_name(self, x: Input) -> str:
        """The name of the gradient of an input: `x.grad`, or `x.grad2` for order 2."""
        return gradient_name(x.name, self.problem.order)

    def gradient_of(self, x: Input) -> tree.Tree:
        """The name of the gradient of an input, as a formula."""
        name = Name(x.name, role_of(x))
        return tree.Attribute(name, self.gradient_name(x).removeprefix(f"{x.name}."))

    @cached_property
    def like_output(self) -> Name:
        """A name in the language that has the shape of the output."""
        p = self.problem
        return self.names[p.out] if p.lower_order is None else Name(p.lower_order.wrt[0].name)

    def numbered(self, step: int) -> Name:
        """The name of the upstream gradient of an unnamed value, which a step receives: r4."""
        return Name(self._free(f"r{step}", f"received{step}"))

    @cached_property
    def output_name(self) -> str:
        """The name of an operation's output in its rule, if it has none in the program."""
        return self._free("y", "z", "output")

    @cached_property
    def tangent_name(self) -> str:
        """The name of the tangent of an input."""
        return self._free("t", "tangent")

    def _free(self, *candidates: str) -> str:
        used = tree.words_in_use(self.names.values())
        return next((name for name in candidates if name not in used), candidates[-1] + "_")

    @property
    def seed(self) -> Token:
        """The seed's name."""
        return Token(self.problem.seed.name, "seed")

    @within_budget(lambda self, *wrt: self._as_computed(*wrt))
    def formula(
        self, node: Node, extra: dict[Node, Name] | None = None, later: Collection[Node] = ()
    ) -> tree.Tree | None:
        """The shortest formula of a node, without the names of nodes in `later`; None if it is too
        long. For a gradient it is the formula for any sizes. `extra`: further names of nodes.
        """
        if extra:
            return extra[node] if node in extra else self._formula(node, extra, later)
        wrt = () if later or self.problem.generic_sizes is not None else self.problem.wrt
        x = next((x for x in wrt if self.analysis.gradient(x) is node), None)
        return self._at_own_sizes(node, later) if x is None else self.gradient(x)

    def _at_own_sizes(self, node: Node, later: Collection[Node] = ()) -> tree.Tree | None:
        """The shortest formula of a node at the sizes of the problem; cached."""
        key = node, tuple(later)
        written = self.cache.written
        if key not in written:
            written[key] = self._formula(node, None, later)
        return written[key]

    def _names_for(
        self, node: Node, extra: dict[Node, Name] | None, later: Collection[Node]
    ) -> dict[Node, Name]:
        """The names in the formula of a node: neither its own nor those of `later` nodes."""
        names = {n: name for n, name in self.names.items() if n is not node and n not in later}
        return names | (extra or {})

    def _formula(
        self, node: Node, extra: dict[Node, Name] | None, later: Collection[Node]
    ) -> tree.Tree | None:
        """The formula, shortened by a search; None if it is too long or cannot be written."""
        names = self._names_for(node, extra, later)
        write = partial(
            formula, names=names, generic_sizes=self.problem.generic_sizes, program=self._program
        )
        if not extra:
            short = self._shortest(self.without_implicit_seed(node), names)
            if not Writer(names).is_in_words(short):
                return None
            written = write(short)
        else:
            substituted = substitute(node, self.integer_constants | {n: n for n in extra})
            if not Writer(names).is_in_words(substituted):
                return None
            written = write(simplify(substituted, keep=names))
            # a condition of where is written in its short form, as in other formulas
            is_masked = substituted.op is OPS["where"]
            if is_masked or tree.size(written) > LONG_STEP:
                shorter = write(self._shorter(names, substituted))
                written = min(written, shorter, key=tree.size)
        return None if too_long(written) else written

    def is_foreign(self, x: Input) -> bool:
        """Whether the formula of a gradient cannot be written in PyTorch, as for CTC loss."""
        grad = self.analysis.gradient(x)
        return grad is not None and not Writer(self.names).is_in_words(self.shortened(grad))

    def _as_computed(
        self, node: Node, extra: dict[Node, Name] | None = None, later: Collection[Node] = ()
    ) -> tree.Tree | None:
        """The formula of a node without a search; None if it is too long, or takes too long."""
        present = self.problem.limits.budget.present
        return present(lambda: self._unsearched(node, extra, later), lambda: None)

    def _unsearched(
        self, node: Node, extra: dict[Node, Name] | None, later: Collection[Node]
    ) -> tree.Tree | None:
        names = self._names_for(node, extra, later)
        if is_large(node, names):
            return None
        without_seed = node if extra else self.without_implicit_seed(node)
        written = formula(without_ones(without_seed, names), names, self.problem.generic_sizes)
        return None if too_long(written) else written

    def _shortest(self, node: Node, names: Mapping[Node, Name]) -> Node:
        key = node, frozenset(names)
        shortened = self.cache.shortened
        if key not in shortened:
            named = with_integer_tensors(names, self.integer_constants)
            name_of = {named.get(n, n): name for n, name in names.items()}
            short = self._shorter(name_of, substitute(node, self.integer_constants))
            shortened[key] = substitute(short, {new: n for n, new in named.items()})
        return shortened[key]

    @within_budget(lambda self, node: node)
    def shortened(self, node: Node) -> Node:
        """An equal node with a short formula."""
        names = {n: name for n, name in self.names.items() if n is not node}
        return self._shortest(self.without_implicit_seed(node), names)

    def _shorter(self, names: Mapping[Node, Name], node: Node) -> Node:
        """An equal node whose formula is the shortest that a search finds in terms of `names`."""
        shorteners, key = self.cache.shorteners, frozenset(names)
        shortener = shorteners.pop(key, None)
        if shortener is None:
            second = self.problem.lower_order is not None
            shortener = Shortener(
                *(names, self._program, self.problem.generic_sizes),
                quick=second,
                nonzero=() if second else self.numbers,
                zeros=[self.problem.inputs[name].node for name in self.zeros],
            )
        short = shortener(node)
        shorteners[key] = shortener  # a search that was cut short is not repeated
        return short

    @cached_property
    def numbers(self) -> tuple[Node, ...]:
        """The inputs that are single numbers and have no value of 0."""
        inputs = self.problem.inputs.values()
        return tuple(i.node for i in inputs if _is_number(i) and i.name not in self.zeros)

    @cached_property
    def same_computation(self) -> SameComputation:
        """The test whether nodes are computed by the same operations as nodes of `generic`."""
        return SameComputation()

    # ---- gradients for any sizes -----------------------------------------------------------------

    @within_budget(lambda self, x: self._as_computed(self.analysis.gradient(x)))
    def gradient(self, x: Input) -> tree.Tree | None:
        """The formula of the gradient of an input; None if it is too long, or `is_wrong`."""
        grad, seed = self.analysis.gradient(x), self.problem.seed
        if grad is None or (grad in self.names and not (seed.implicit and grad is seed.node)):
            return None if grad is None else self.names[grad]
        if x.name in self._for_any_sizes:
            return self._for_any_sizes[x.name]
        here = None if self.is_wrong(x) else self._at_own_sizes(self.read_off(x) or grad)
        if here is None or undefined(self.trials.here, tree.text(here), x.name) is None:
            return here
        return self._without_number(x) or here

    def _without_number(self, x: Input) -> tree.Tree | None:
        """The generic formula, if it differs from the gradient only in elements where the formula
        is not finite; otherwise None.
        """
        result = self._untried.get(x.name)
        if result is None:
            return None
        text = tree.text(result)
        return None if any(t.contradicts(text, x.name) for t in self.trials.first) else result

    def without_closed_form(self) -> Iterator[Input]:
        """The inputs whose gradient is not zero, and has no closed form that can be read."""
        given = (x for x in self.problem.wrt if self.analysis.gradient(x) is not None)
        return (x for x in given if self.gradient(x) is None)

    @within_budget(lambda *_: False)
    def is_wrong(self, x: Input) -> bool:
        """Whether a formula derived at the problem's own sizes differs from the gradient there."""
        grad = self.read_off(x)
        if grad is None or x.name in self._for_any_sizes:
            return False
        if x.name not in self._wrong:
            written = self._at_own_sizes(grad)
            self._wrong[x.name] = written is not None and any(
                trial.contradicts(tree.text(written), x.name) for trial in self.trials.here
            )
        return self._wrong[x.name]

    @within_budget(lambda *_: True)
    def is_long(self, x: Input) -> bool:
        """Whether the formula of a gradient is too long without statements. Its index notation and
        its Jacobian's closed form, which have no statements, are then not searched for at length.
        """
        generic = self.generic if self.problem.generic_sizes is None else None
        if generic is not None:
            return generic.is_long(generic.problem.inputs[x.name])
        grad = self.read_off(x)
        written = None if grad is None else self.formula(grad)
        return written is None or tree.size(written) > TOO_LONG

    @cached_property
    def reach(self) -> Reach:
        """The sizes for which the formulas of gradients hold."""
        written = {x.name: self.gradient(x) for x in self.problem.wrt}
        texts = {name: tree.text(f) for name, f in written.items() if f is not None}
        numbers = [i for i in self.problem.inputs.values() if _is_number(i) and not i.value]
        may_be_zero = [i.name for i in numbers if not known_positive(i.node)]
        return Reach(texts, self.trials, may_be_zero)

    @cached_property
    @within_budget()
    def generic(self) -> "FormulaWriter | None":
        """The FormulaWriter of the problem at generic sizes; None if it has none."""
        problem = generic_problem(self.problem)
        if problem is None:
            return None
        cache = formulas_of(problem, self.zeros)
        w = FormulaWriter(type(self.analysis)(problem), cache, self.zeros)
        gradients = if_applicable(lambda: w.analysis.gradients)
        return None if gradients is None else w  # the program may be invalid at these sizes

    @cached_property
    def trials(self) -> Trials:
        """The trials at which formulas are tested."""
        generic = self.generic
        return Trials(self.problem, None if generic is None else generic.problem)

    @cached_property
    def _untried(self) -> dict[str, tree.Tree | None]:
        """The formulas at generic sizes, by name of the input; not yet tested in numbers."""
        w = self.generic
        if w is None:
            return {}
        grads = ((x.name, w.read_off(x)) for x in w.problem.wrt)
        return {name: w.formula(grad) for name, grad in grads if grad is not None}

    @cached_property
    def _for_any_sizes(self) -> dict[str, tree.Tree | None]:
        """The formulas that hold for any sizes, by name of the input; None if one is too long."""
        result = self._untried
        if self.generic is None:
            return {}
        short = {name: f for name, f in result.items() if f is not None}
        holding: dict[str, tree.Tree | None] = dict(formulas_that_pass(self.trials, short))
        if any(i.node.dtype != "float" for i in self.problem.inputs.values()):
            return holding  # a formula may be longer at generic sizes than at the given ones
        return holding | {name: None for name, f in result.items() if f is None}

    def gradient_line(self, x: Input, name: Line = ()) -> Line:
        """The formula of a gradient as a line, or a remark if it is too long.

        It is split into statements if that is shorter; `name` then precedes the last of them.
        """
        written = self.gradient(x)
        if written is None:
            return (*name, *self.without_formula(x))
        *before, result = statements(self.in_statements(self.with_definitions(written)))
        return (*before, *name, result)

    def without_formula(self, x: Input) -> Line:
        """The remark in place of a gradient's formula that is not shown."""
        wrong = self.is_wrong(x)
        return (Token("(no formula gives these numbers)", "word"),) if wrong else UNREAD

    @cached_property
    def _program(self) -> list[Node]:
        """The nodes of the program, with integer inputs replaced by their values."""
        return substitute_all(
            (n for n in walk(self.problem.roots) if n.inputs), self.integer_constants
        )

    @cached_property
    def integer_constants(self) -> dict[Node, Node]:
        """Indices and masks as constants, so that simplification can use their values."""
        return integer_tensors(self.problem)

    @cached_property
    def indices(self) -> "Indices":
        """The index notation of the problem."""
        p = self.problem

        sizes = None if self.problem.generic_sizes is not None else lambda: self._sizes
        from ...notation.indices.index import Indices

        introduced = {n: name for n, (name, _) in self.introduced.items()}
        return Indices(
            *(p.out, p.seed.node, self.names, self.analysis.value_if_possible, p.out_name),
            *(sizes, self.problem.generic_sizes, introduced),
        )

    def with_definitions(self, written: tree.Tree) -> tree.Tree:
        """A formula in terms of the names that were introduced."""
        return in_terms_of(written, self.introduced.values())

    def definitions(self, *lines: Line) -> Iterator[Line]:
        """The definitions of introduced names that occur in some lines: n = x.norm()."""
        words = {*re.findall(r"\w+", "\n".join(map(text_of, lines)))}
        for node, (name, written) in self.introduced.items():
            value = None if node.shape else self.analysis.value(node)
            number = () if value is None else (EQUALS, Token(number_text(value), "number"))
            if name.text in words:
                yield (*equality(name, written), *number)

    @cached_property
    def _sizes(self) -> dict[int, Node]:
        generic = self.generic
        return {} if generic is None else sizes_by_name(self.problem, generic.problem, self.names)

    def without_implicit_seed(self, node: Node) -> Node:
        """A node with 1 in place of the implicit seed."""
        seed = self.problem.seed
        one = seed.value if seed.implicit else None
        return substitute(node, {seed.node: one}) if one else node

    def in_statements(self, written: tree.Tree, worth: int = SAVED) -> tree.Tree:
        """A formula after statements for common parts that each save at least `worth` tokens."""
        return shared(written, tree.words_in_use(self.names.values()), worth)

    def line(self, written: tree.Tree | None) -> Line:
        """A formula as a line, split into statements if it is long; `UNREAD` if it is None."""
        return UNREAD if written is None else statements(self._laid_out(written))

    def _laid_out(self, written: tree.Tree) -> tree.Tree:
        return written if tree.size(written) <= AT_ONCE else self.in_statements(written)

    def answer_line(self, written: tree.Tree | None) -> Line:
        """A formula as a line: its result, then "with" and the statements that it needs."""
        if written is None:
            return UNREAD
        result = self._laid_out(written)
        if not isinstance(result, tree.Block):
            return (Formula(result),)
        named = [equality(name, value) for name, value in result.statements]
        behind = [piece for line in named for piece in (*line, THEN)][:-1]
        return (Formula(result.result), Token("  with ", "word"), *behind)

    def formula_line(self, node: Node, extra: dict[Node, Name] | None = None) -> Line:
        """The formula of a node as a line, or a remark if it is too long."""
        return self.line(self.formula(node, extra))


def _is_number(x: Input) -> bool:
    return not x.shape and x.node.dtype == "float"


def names_of_numbers(problem: Problem) -> list[str]:
    """The names of inputs that are single numbers."""
    return [i.name for i in problem.inputs.values() if _is_number(i)]


def zeros_of(problem: Problem) -> frozenset[str]:
    """The names of inputs that are single numbers with the value 0."""
    numbers = (problem.inputs[name] for name in names_of_numbers(problem))
    return frozenset(i.name for i in numbers if i.value is not None and not i.value)


@once
def writer_of(a: Analysis) -> FormulaWriter:
    """The FormulaWriter of an analysis, the same for all answers, so that searches run once."""
    return FormulaWriter(a)


def integer_tensors(problem: Problem) -> dict[Node, Node]:
    """Integer and boolean inputs as constant tensors with the names of the inputs."""
    return {
        i.node: OPS["tensor"](data=Array(i.value, i.name, i.node))
        for i in problem.inputs.values()
        if i.node.dtype != "float"
    }


def with_integer_tensors(nodes: Iterable[Node], constants: dict[Node, Node]) -> dict[Node, Node]:
    """A map from nodes that depend on keys of `constants` to these nodes with the keys replaced."""
    dependent = [n for n in nodes if constants and n not in constants]
    built = zip(dependent, substitute_all(dependent, constants), strict=True)
    return {n: new for n, new in built if new is not n}


def sizes_by_name(here: Problem, generic: Problem, names: Iterable[Node]) -> dict[int, Node]:
    """Sizes of a problem as nodes: each as a dimension of the first node in `names` that has it.
    A size is left out if it corresponds to several sizes of the `generic` problem, in which
    independent sizes are different.
    """
    here_nodes, generic_nodes = (walk(p.roots, _made_of) for p in (here, generic))
    if [n.op for n in here_nodes] != [n.op for n in generic_nodes]:
        return {}
    generic_sizes: dict[int, set[int]] = {}
    for a, b in zip(here_nodes, generic_nodes, strict=True):
        for n, m in zip(a.shape, b.shape, strict=True):
            generic_sizes.setdefault(n, set()).add(m)
    result: dict[int, Node] = {}
    for node in names:
        for d, n in enumerate(node.shape):
            if len(generic_sizes.get(n, ())) == 1 and n not in generic_sizes[n]:
                result.setdefault(n, OPS["size"](node, dim=(d,)))
    return result


def _made_of(node: Node) -> list[Node]:
    """The inputs of a node, and its expansion if it has one."""
    return [*node.parents, *([] if node.op.expand is None else [node.op.expanded(node)])]
