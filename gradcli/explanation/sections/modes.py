"""Forward mode and reverse mode side by side."""

from collections.abc import Iterator

from ...language.problem import Input
from ...notation.tree import Name, Token
from ..analysis import Analysis
from ..blocks import Line, Prose, Row, Section, Table, plain, words
from ..modes import Mode, Modes, modes
from ..wording import Wording, role_of, shape_text


def section(a: Analysis, w: Wording, x: Input) -> Section:
    """What a JVP and a VJP take, give and cost, and which of the two is for the whole Jacobian."""
    out = a.problem.out_name
    title = plain(f"Modes for {out} by ", Token(x.name, role_of(x)))
    name = w.tangent_name
    found = modes(a, x, name)
    if found is None:
        return Section("modes", title, (), (Prose(words(f"{out} does not depend on {x.name}.")),))
    head = Row((words(""), words("forward mode (JVP)"), words("reverse mode (VJP)")))
    facts = Table((head, *_facts(a, w, x, found)))
    return Section("modes", title, (), (facts, _formulas(w, found), Prose(_verdict(a, x))))


def _facts(a: Analysis, w: Wording, x: Input, m: Modes) -> Iterator[Row]:
    """What can be compared, a row each."""
    t, out = Token(w.tangent_name, "seed"), a.problem.out
    like_x = f", as {x.name}: {shape_text(x.shape)}"
    like_out = f", as {a.problem.out_name}: {shape_text(out.shape)}"
    yield Row((words("takes"), words(t, like_x), words(w.seed, like_out)))
    yield Row((words("gives"), words("J·", t, like_out), words(w.seed, "·J", like_x)))
    yield Row((words("one pass"), words(_work(m.forward)), words(_work(m.reverse))))
    yield Row((words("keeps"), words("nothing"), words(_kept(m.reverse))))
    passes = (words(_count(mode.passes, "pass")) for mode in (m.forward, m.reverse))
    yield Row((words("the whole J"), *passes))


def _formulas(w: Wording, m: Modes) -> Table:
    t = Name(w.tangent_name, "seed")
    forward = w.formula_line(m.forward.node, {m.tangent: t})
    return Table(
        (
            Row((words("J·", Token(*t)), forward)),
            Row((words(w.seed, "·J"), w.formula_line(m.reverse.node))),
        )
    )


def _verdict(a: Analysis, x: Input) -> Line:
    """Which of the two is for the whole Jacobian."""
    out, rows, columns = a.problem.out_name, a.problem.out.numel, x.node.numel
    if rows == columns:
        return words(f"Either mode needs {_count(rows, 'pass')} for the whole Jacobian.")
    few, many = sorted((rows, columns))
    mode = "reverse" if rows < columns else "forward"
    said = f"For the whole Jacobian {mode} mode needs {_short(few)} and not {_count(many, 'pass')}"
    if few == 1 and rows == 1:
        said += f": {out} is a single number, as every loss is, and so training goes backward"
    return words(f"{said}.")


def _work(m: Mode) -> str:
    return f"{_count(m.operations, 'operation')}, {_count(m.numbers, 'number')}"


def _kept(m: Mode) -> str:
    return f"{_count(m.kept, 'number')} of the forward pass" if m.kept else "nothing but inputs"


def _count(n: int, what: str) -> str:
    """`1 pass`, `3,000 numbers`, `16.4 million numbers`."""
    ending = "" if n == 1 else "es" if what.endswith("s") else "s"
    return f"{_short(n)} {what}{ending}"


def _short(n: int) -> str:
    for unit, size in (("billion", 10**9), ("million", 10**6)):
        if n >= size:
            return f"{n / size:.3g} {unit}" if n < 1000 * size else f"{n / size:,.0f} {unit}"
    return f"{n:,}"
