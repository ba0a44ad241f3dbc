"""Forward mode and reverse mode side by side."""

from collections.abc import Iterator
from typing import NamedTuple

from ...autodiff.forward import jvp
from ...graphs import OPS, Node
from ...language.problem import Input, Tangent
from ...notation.tree import Name, Token, Tree
from ..analysis import Analysis
from ..blocks import Formula, Line, Prose, Row, Section, Table, words
from ..cost import Passes, cost, size_of
from ..derived import tangent_symbol
from ..formulas.formula_writer import FormulaWriter
from ..formulas.source_text import role_of
from ..higher.jvp import Jvp
from ..phrases import amount, count_text, memory, shape_text


class Mode(NamedTuple):
    """One mode for multiplying with the Jacobian.

    `node` is the graph of a pass, `needed` the number of passes for the full Jacobian, and `passes`
    their cost. `saved` is the size in bytes of the saved intermediates, 0 in forward mode.
    """

    node: Node
    needed: int
    passes: Passes
    saved: int


class Modes(NamedTuple):
    """Both modes for one input; `tangent` is the symbol of its tangent."""

    forward: Mode
    reverse: Mode
    tangent: Node


def modes(a: Analysis, x: Input, name: str) -> Modes | None:
    """Both modes, with a tangent called `name`; None if the output does not depend on `x`."""
    grad, p = a.gradient(x), a.problem
    if grad is None:
        return None
    tangent = tangent_symbol(name, x)
    pushed_forward = jvp(p.out, {x.node: tangent}) or OPS["zeros"](size=p.out.shape)
    result = cost(Analysis(p._replace(wrt=[x]), a.dtype))
    saved = sum(size_of(node, a.dtype) for node in result.saved_tensors if node.op.family != "leaf")
    forward = Mode(pushed_forward, x.node.numel, result.jvp, 0)
    return Modes(forward, Mode(grad, p.out.numel, result.vjp, saved), tangent)


def forward_formula(a: Analysis, x: Input, m: Modes) -> Tree | None:
    """The formula of a forward-mode pass, as in `gradcli jvp`; None if it is too long."""
    with_tangent = a.problem._replace(tangents=(Tangent(x, m.tangent, None, None),))
    j = Jvp(Analysis(with_tangent, a.dtype))
    return j.w.formula(m.forward.node) if j.node is None else j.formula


def section(a: Analysis, w: FormulaWriter, x: Input) -> Section:
    """Input, output and cost of a JVP and of a VJP, and which one to use for the full Jacobian."""
    out = a.problem.out_name
    title = words(f"Modes for {out} with respect to ", Token(x.name, role_of(x)))
    name = w.tangent_name
    result = modes(a, x, name)
    if result is None:
        return Section("modes", title, (), (Prose(words(f"{out} does not depend on {x.name}.")),))
    head = Row((words(""), words("forward mode (JVP)"), words("reverse mode (VJP)")))
    facts = Table((head, *_facts(a, w, x, result)))
    return Section("modes", title, (), (facts, _formulas(a, w, x, result), Prose(_verdict(a, x))))


def _facts(a: Analysis, w: FormulaWriter, x: Input, m: Modes) -> Iterator[Row]:
    """A row for each property that is compared."""
    t, out = Token(w.tangent_name, "seed"), a.problem.out
    like_x = f", as {x.name}: {shape_text(x.shape)}"
    like_out = f", as {a.problem.out_name}: {shape_text(out.shape)}"
    yield Row((words("takes"), words(t, like_x), words(w.seed, like_out)))
    yield Row((words("gives"), words("J·", t, like_out), words(w.seed, "·J", like_x)))
    passes = (words(amount(mode.passes.times(1), "FLOP")) for mode in (m.forward, m.reverse))
    yield Row((words("one pass"), *passes))
    yield Row((words("keeps"), words("nothing"), words(_saved_text(m.reverse))))
    yield Row((words("the whole J"), words(_whole(m.forward)), words(_whole(m.reverse))))


def _formulas(a: Analysis, w: FormulaWriter, x: Input, m: Modes) -> Table:
    t = Name(w.tangent_name, "seed")
    forward = w.line(forward_formula(a, x, m))
    return Table(
        (
            Row((words("J·", Formula(t)), forward)),
            Row((words(w.seed, "·J"), w.line(w.gradient(x)))),
        )
    )


def _verdict(a: Analysis, x: Input) -> Line:
    """Which mode to use for the full Jacobian."""
    out, rows, columns = a.problem.out_name, a.problem.out.numel, x.node.numel
    if rows == columns:
        return words(f"Either mode needs {_count(rows, 'pass')} for the whole Jacobian.")
    few, many = sorted((rows, columns))
    mode = "reverse" if rows < columns else "forward"
    needs = f"{_count(few, 'pass')}, not {count_text(many)}"
    text = f"For the whole Jacobian {mode} mode needs {needs}"
    if few == 1 and rows == 1:
        text += f": {out} is a single number, as every loss is, and so training goes backward"
    return words(f"{text}.")


def _whole(m: Mode) -> str:
    return f"{_count(m.needed, 'pass')}, {amount(m.passes.times(m.needed), 'FLOP')}"


def _saved_text(m: Mode) -> str:
    return f"{memory(m.saved)} of the forward pass" if m.saved else "only inputs"


def _count(n: int, what: str) -> str:
    """A number with its noun: `1 pass`, `3,000 passes`, `16.4 million passes`."""
    return f"{count_text(n)} {what}{'es' * (n != 1)}"
