"""The words for nodes, shapes and formulas: the user's own wherever there are some."""

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
from ...notation.formulas.parts import seedless_parts
from ...notation.formulas.sharing import shared
from ...notation.formulas.shorten import WIDE, Shortener
from ...notation.formulas.simplify import simplify
from ...notation.tree import Name, Token
from ...operators.leaves import Array
from ..analysis import Analysis, once, searched
from ..blocks import THEN, Formula, Line, equality, statements
from ..derived import gradient_name
from .generic_nodes import Counterparts
from .other_sizes import in_general
from .remembered import Formulas, formulas_of, new_formulas
from .source_text import SourceText, role_of
from .trials import Reach, Trials, tried_out, undefined

if TYPE_CHECKING:
    from ...notation.indices.index import Indices
    from ...notation.jacobians.structure import Structure

SAVED = 1  # names, numbers and symbols that a statement before a formula must save
AT_ONCE = 80  # names, numbers and symbols of a formula that is read without statements before it
LONG_STEP = 16  # length of what an operation sends for which a shorter formula is looked for
UNREAD = (Token("(no formula that can be read)", "word"),)


class Wording:
    """How the nodes of a problem are written."""

    def __init__(self, analysis: Analysis, known: Formulas | None = None):
        self.analysis, self.problem = analysis, analysis.problem
        self.known = known or new_formulas()
        self._wrong: dict[str, bool] = {}
        self.structures: dict[str, Structure] = {}  # of Jacobians, by name of the input

    @cached_property
    def names(self) -> dict[Node, Name]:
        """The nodes that have a name of their own."""
        p = self.problem
        result = {i.node: Name(i.name, role_of(i)) for i in p.inputs.values()}
        for name, node in p.named.items():
            known = result.setdefault(node, Name(name))
            if known.text != name:
                result[node] = known._replace(also=(*known.also, name))
        if p.before is None:  # a gradient has no name in the language
            result.setdefault(p.out, Name(p.out_name))
        result |= {t.node: Name(t.name, "seed") for t in p.tangents}
        return result | {p.seed.node: Name(p.seed.name, "seed")}

    @cached_property
    def source(self) -> SourceText:
        """What the user wrote."""
        return SourceText(self.problem, self.names)

    @searched(lambda self, x: self.analysis.gradient(x))
    def read_off(self, x: Input) -> Node | None:
        """The gradient of an input as formulas are read off it: that of the shortened output, where
        this is a gradient itself; not where what is assumed of an input that moves shortens it.
        """
        grad = self.analysis.gradient(x)
        assumed = any(x.node.attrs["known"] for x in self.problem.wrt)
        if grad is None or assumed or self.problem.before is None:
            return grad
        return self._of_shortened.of[x.node] or grad

    @cached_property
    def _of_shortened(self) -> Gradients:
        p = self.problem
        short = self._shortest(p.out, self.names)
        has, had = ({n.op for n in walk([out]) if n.op.kink} for out in (short, p.out))
        out = short if has == had else p.out  # a kink of its own has a convention of its own
        return backward(out, p.seed.node, [x.node for x in p.wrt])

    def ways(self, x: Input) -> Iterator[tuple[Node, dict[Node, tree.Tree]]]:
        """The gradient of an input in several ways for its Jacobian to be read off, each with the
        formulas of parts that need not be looked into.
        """
        grad = self.read_off(x)
        if grad is None:
            return
        narrow = len(walk([grad])) <= WIDE
        if narrow:
            yield grad, {}
        if self.is_long(x):
            yield from () if narrow else [(grad, {})]
            return
        names = {n: name for n, name in self.names.items() if n is not grad}
        short = self._shortest(grad, names)
        if short is not grad:
            yield short, {}
        write = Writer(names, self.problem.telling)
        seed = self.problem.seed.node
        result = (tuple(seedless_parts(short, seed, names, moved)) for moved in (False, True))
        for parts in dict.fromkeys(result):
            written = {n: write.tree(n) for n in parts if write.is_in_words(n)}
            if written:
                yield short, written

    def gradient_name(self, x: Input) -> str:
        """`x.grad`, or `x.grad2` where it is of order 2."""
        return gradient_name(x.name, self.problem.order)

    def gradient_of(self, x: Input) -> tree.Tree:
        """The same as a formula."""
        name = Name(x.name, role_of(x))
        return tree.Attribute(name, self.gradient_name(x).removeprefix(f"{x.name}."))

    @cached_property
    def like_output(self) -> Name:
        """What has the shape of the output and a name in the language."""
        p = self.problem
        return self.names[p.out] if p.before is None else Name(p.before.wrt[0].name)

    @cached_property
    def received(self) -> str:
        """What a gradient on its way is called."""
        return self._free("r", "received")

    @cached_property
    def own_output(self) -> str:
        """What an operation's output is called in its rule, where it has no name."""
        return self._free("y", "z", "output")

    @cached_property
    def tangent_name(self) -> str:
        """What a direction in which an input moves is called."""
        return self._free("t", "tangent")

    def _free(self, *wanted: str) -> str:
        taken = tree.taken(self.names.values())
        return next((name for name in wanted if name not in taken), wanted[-1] + "_")

    @property
    def seed(self) -> Token:
        """The seed's name."""
        return Token(self.problem.seed.name, "seed")

    @searched(lambda self, *asked: self._as_computed(*asked))
    def formula(
        self, node: Node, extra: dict[Node, Name] | None = None, later: Collection[Node] = ()
    ) -> tree.Tree | None:
        """The shortest formula of a node, without the names of nodes that come `later`; None where
        it is too long to be read. That of a gradient is the one for any sizes.
        """
        if extra:
            return extra[node] if node in extra else self._formula(node, extra, later)
        asked = () if later or self.problem.telling is not None else self.problem.wrt
        x = next((x for x in asked if self.analysis.gradient(x) is node), None)
        return self._alone(node, later) if x is None else self.gradient(x)

    def _alone(self, node: Node, later: Collection[Node] = ()) -> tree.Tree | None:
        """The shortest formula of a node at the sizes that it has."""
        key = node, tuple(later)
        written = self.known.written
        if key not in written:
            written[key] = self._formula(node, None, later)
        return written[key]

    def _formula(
        self, node: Node, extra: dict[Node, Name] | None, later: Collection[Node]
    ) -> tree.Tree | None:
        own = {n: name for n, name in self.names.items() if n is not node and n not in later}
        names = own | (extra or {})
        write = partial(formula, names=names, telling=self.problem.telling, program=self._program)
        if not extra:
            short = self._shortest(self.without_implicit_seed(node), names)
            if not Writer(names).is_in_words(short):
                return None
            written = write(short)
        else:
            asked = substitute(node, self.labels | {n: n for n in extra})
            if not Writer(names).is_in_words(asked):
                return None
            written = write(simplify(asked, keep=names))
            if tree.size(written) > LONG_STEP:
                written = min(written, write(self._shorter(names, asked)), key=tree.size)
        return None if too_long(written) else written

    def is_foreign(self, x: Input) -> bool:
        """Whether PyTorch has no words for the formula of a gradient, as for slopes of CTC."""
        grad = self.analysis.gradient(x)
        return grad is not None and not Writer(self.names).is_in_words(self.shortened(grad))

    def _as_computed(
        self, node: Node, extra: dict[Node, Name] | None = None, later: Collection[Node] = ()
    ) -> tree.Tree | None:
        """The formula of a node as its graph is, for which no shorter one is looked for; None where
        it is too long to be read.
        """
        own = {n: name for n, name in self.names.items() if n is not node and n not in later}
        names = own | (extra or {})
        asked = node if extra else self.without_implicit_seed(node)
        if is_large(asked, names):
            return None
        written = formula(asked, names, self.problem.telling)
        return None if too_long(written) else written

    def _shortest(self, node: Node, names: Mapping[Node, Name]) -> Node:
        key = node, frozenset(names)
        shortened = self.known.shortened
        if key not in shortened:
            named = with_labels(names, self.labels)
            known = {named.get(n, n): name for n, name in names.items()}
            short = self._shorter(known, substitute(node, self.labels))
            shortened[key] = substitute(short, {new: n for n, new in named.items()})
        return shortened[key]

    @searched(lambda self, node: node)
    def shortened(self, node: Node) -> Node:
        """An equal node with a short formula."""
        names = {n: name for n, name in self.names.items() if n is not node}
        return self._shortest(self.without_implicit_seed(node), names)

    def _shorter(self, names: Mapping[Node, Name], node: Node) -> Node:
        """An equal node whose formula is the shortest that a search finds in terms of `names`."""
        shorteners, key = self.known.shorteners, frozenset(names)
        shortener = shorteners.pop(key, None)
        if shortener is None:
            second = self.problem.before is not None
            shortener = Shortener(names, self._program, self.problem.telling, quick=second)
        short = shortener(node)
        shorteners[key] = shortener  # one whose search was cut short is not asked again
        return short

    @cached_property
    def alike(self) -> Counterparts:
        """Which nodes are computed as those of `in_general` are."""
        return Counterparts()

    # ---- gradients for any sizes -----------------------------------------------------------------

    @searched(lambda self, x: self._as_computed(self.analysis.gradient(x)))
    def gradient(self, x: Input) -> tree.Tree | None:
        """The formula of the gradient of an input; None where it is too long to be read, and where
        what was found is `wrong`.
        """
        grad, seed = self.analysis.gradient(x), self.problem.seed
        if grad is None or (grad in self.names and not (seed.implicit and grad is seed.node)):
            return None if grad is None else self.names[grad]
        if x.name in self._for_any_sizes:
            return self._for_any_sizes[x.name]
        own = None if self.is_wrong(x) else self._alone(self.read_off(x) or grad)
        if own is None or undefined(self.trials.here, tree.text(own), x.name) is None:
            return own
        return self._without_number(x) or own

    def _without_number(self, x: Input) -> tree.Tree | None:
        """A formula for any sizes that fails only where it has no number."""
        result = self._untried.get(x.name)
        text = "" if result is None else tree.text(result)
        return None if any(t.contradicts(text, x.name) for t in self.trials.first) else result

    @searched(lambda *_: False)
    def is_wrong(self, x: Input) -> bool:
        """Whether the formula that was found for the gradient of an input at the problem's own
        sizes has other numbers there.
        """
        grad = self.read_off(x)
        if grad is None or x.name in self._for_any_sizes:
            return False
        if x.name not in self._wrong:
            written = self._alone(grad)
            self._wrong[x.name] = written is not None and any(
                trial.contradicts(tree.text(written), x.name) for trial in self.trials.here
            )
        return self._wrong[x.name]

    @searched(lambda *_: True)
    def is_long(self, x: Input) -> bool:
        """Whether the formula of a gradient is only read in statements: its index notation and its
        Jacobian's closed form, which have none, are not looked for at length.
        """
        general = self.in_general if self.problem.telling is None else None
        if general is not None:
            return general.is_long(general.problem.inputs[x.name])
        grad = self.read_off(x)
        written = None if grad is None else self.formula(grad)
        return written is None or tree.size(written) > TOO_LONG

    @cached_property
    def reach(self) -> Reach:
        """How far the formulas of gradients hold, of those that there are."""
        written = {x.name: self.gradient(x) for x in self.problem.wrt}
        texts = {name: tree.text(f) for name, f in written.items() if f is not None}
        return Reach(texts, self.trials)

    @cached_property
    @searched()
    def in_general(self) -> "Wording | None":
        """The words for the same problem in general; None where it has none."""
        problem = in_general(self.problem)
        if problem is None:
            return None
        w = Wording(type(self.analysis)(problem), formulas_of(problem))
        there = if_applicable(lambda: w.analysis.gradients)
        return None if there is None else w  # the program may have no such sizes after all

    @cached_property
    def trials(self) -> Trials:
        """Where formulas are tried out."""
        general = self.in_general
        return Trials(self.problem, None if general is None else general.problem)

    @cached_property
    def _untried(self) -> dict[str, tree.Tree | None]:
        """The formulas in general, by name of the input, before they are tried out."""
        w = self.in_general
        if w is None:
            return {}
        grads = ((x.name, w.read_off(x)) for x in w.problem.wrt)
        return {name: w.formula(grad) for name, grad in grads if grad is not None}

    @cached_property
    def _for_any_sizes(self) -> dict[str, tree.Tree | None]:
        """The formulas that hold for any sizes, by name of the input; None for what is too long."""
        result = self._untried
        if self.in_general is None:
            return {}
        problem = self.in_general.problem
        short = {name: f for name, f in result.items() if f is not None}
        held: dict[str, tree.Tree | None] = dict(tried_out(problem, self.trials.first, short))
        if any(i.node.dtype != "float" for i in problem.inputs.values()):
            return held  # what many labels make too long may be read with the few that were given
        return held | {name: None for name, f in result.items() if f is None}

    def gradient_line(self, x: Input, name: Line = ()) -> Line:
        """The formula of a gradient as a line; what it is where that would be too long.

        In several statements where that is shorter; `name` is then given in the last of them.
        """
        written = self.gradient(x)
        if written is None:
            return (*name, *self.without_formula(x))
        *before, result = statements(self.in_statements(written))
        return (*before, *name, result)

    def without_formula(self, x: Input) -> Line:
        """What stands in the place of a gradient's formula that is not shown."""
        wrong = self.is_wrong(x)
        return (Token("(no formula that has these numbers)", "word"),) if wrong else UNREAD

    @cached_property
    def _program(self) -> list[Node]:
        """What the user wrote."""
        return substitute_all((n for n in walk(self.problem.roots) if n.inputs), self.labels)

    @cached_property
    def labels(self) -> dict[Node, Node]:
        """Labels and masks as the numbers that they are, so that what they decide is simplified."""
        return known_labels(self.problem)

    @cached_property
    def indices(self) -> "Indices":
        """The letters of the problem."""
        p = self.problem
        values = self.analysis.value
        known = None if self.problem.telling is not None else lambda: self._sizes
        from ...notation.indices.index import Indices

        return Indices(
            p.out, p.seed.node, self.names, values, p.out_name, known, self.problem.telling
        )

    @cached_property
    def _sizes(self) -> dict[int, Node]:
        general = self.in_general
        return {} if general is None else known_sizes(self.problem, general.problem, self.names)

    def without_implicit_seed(self, node: Node) -> Node:
        """The same with 1 in place of a seed that nobody gave."""
        seed = self.problem.seed
        one = seed.value if seed.implicit else None
        return substitute(node, {seed.node: one}) if one else node

    def in_statements(self, written: tree.Tree, worth: int = SAVED) -> tree.Tree:
        """A formula with statements before it that each save as much as is `worth` one."""
        return shared(written, tree.taken(self.names.values()), worth)

    def line(self, written: tree.Tree | None) -> Line:
        """A formula as a line, in statements if it is long; `UNREAD` where it would be too long."""
        return UNREAD if written is None else statements(self._laid_out(written))

    def _laid_out(self, written: tree.Tree) -> tree.Tree:
        return written if tree.size(written) <= AT_ONCE else self.in_statements(written)

    def answer_line(self, written: tree.Tree | None) -> Line:
        """The same for what an answer begins with: what has a name in it is said behind it."""
        if written is None:
            return UNREAD
        result = self._laid_out(written)
        if not isinstance(result, tree.Block):
            return (Formula(result),)
        named = [equality(name, value) for name, value in result.statements]
        behind = [piece for line in named for piece in (*line, THEN)][:-1]
        return (Formula(result.result), Token("  with ", "word"), *behind)

    def formula_line(self, node: Node, extra: dict[Node, Name] | None = None) -> Line:
        """The formula of a node as a line; what it is where that would be too long."""
        return self.line(self.formula(node, extra))


@once
def wording_of(a: Analysis) -> Wording:
    """How the nodes of a problem are written; what is searched for is found for all answers."""
    return Wording(a)


def known_labels(problem: Problem) -> dict[Node, Node]:
    """The numbers of inputs that are labels or masks, under the name of the input."""
    return {
        i.node: OPS["tensor"](data=Array(i.value, i.name, i.node))
        for i in problem.inputs.values()
        if i.node.dtype != "float"
    }


def with_labels(nodes: Iterable[Node], labels: dict[Node, Node]) -> dict[Node, Node]:
    """What becomes of nodes that are computed from labels; the labels are not among them."""
    others = [n for n in nodes if labels and n not in labels]
    built = zip(others, substitute_all(others, labels), strict=True)
    return {n: new for n, new in built if new is not n}


def known_sizes(here: Problem, in_general: Problem, names: Iterable[Node]) -> dict[int, Node]:
    """The sizes of a problem that are one and the same `in_general`, where all sizes tell, each
    read off the first of the nodes with `names` that has it.
    """
    own, others = (walk(p.roots, _made_of) for p in (here, in_general))
    if [n.op for n in own] != [n.op for n in others]:
        return {}
    meant: dict[int, set[int]] = {}
    for a, b in zip(own, others, strict=True):
        for n, m in zip(a.shape, b.shape, strict=True):
            meant.setdefault(n, set()).add(m)
    result: dict[int, Node] = {}
    for node in names:
        for d, n in enumerate(node.shape):
            if len(meant.get(n, ())) == 1 and n not in meant[n]:
                result.setdefault(n, OPS["size"](node, dim=(d,)))
    return result


def _made_of(node: Node) -> list[Node]:
    """What a node is computed from, and what it stands for."""
    return [*node.parents, *([] if node.op.expand is None else [node.op.expanded(node)])]
