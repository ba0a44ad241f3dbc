"""Closed forms alone, a line each."""

import json

from ..explanation.blocks import (
    EQUALS,
    Code,
    Document,
    Formula,
    Line,
    Row,
    Section,
    Table,
    plain,
    text_of,
    words,
)
from ..explanation.data import Data
from ..explanation.derivation.derivation import Derivation
from ..explanation.derivation.derivation import Line as Derived
from ..explanation.derivation.statements import Assignment
from ..explanation.formulas.source_text import role_of
from ..explanation.question import question
from ..explanation.short.gradients import Gradients
from ..notation.tree import Name, Token
from .ascii import in_ascii
from .environment import Environment


def render_formulas(data: Data, format: str, environment: Environment, command: str = "") -> str:
    """The formula of each gradient: alone for one input, after its name for several; derived by the
    names of what they go through, where the program has such names or several inputs, and that is
    shorter.

    They are never wrapped. JSON is an object by name of the input; Markdown says what was asked,
    and the command that makes it again.
    """
    if format == "json":
        found = {x.name: data.formula(x) for x in data.p.wrt}
        return json.dumps(found, ensure_ascii=False)
    if format == "latex":
        from .latex import aligned, as_page

        return as_page(aligned(_lines(data, named=True)), environment, command)
    lines = _lines(data)
    if format in ("html", "svg"):
        from .formats import render_documents

        rows = Table(tuple(Row((line,)) for line in lines))
        section = Section("gradient", words("Gradients"), (), (rows,))
        made = Document((), (section,), command=command, question=question(data.p))
        return render_documents([made], format, environment)
    if format == "terminal" and environment.color:
        from .terminal import render_lines

        return render_lines(lines, environment)
    text = "\n".join(map(text_of, lines))
    if format == "markdown":
        from .formats import render_document

        section = Section("", (), (), (Code(text, "python"),))
        page = Document((), (section,), command=command, question=question(data.p))
        return render_document(page, format, environment)
    return in_ascii(text) if environment.ascii else text


def _lines(data: Data, named: bool = False) -> list[Line]:
    """The lines; `named` where each begins with the gradient that it is, and not with its input."""
    a, w, several = data.a, data.w, len(data.p.wrt) > 1
    derived = Gradients(a, w).derivation if several or _has_intermediates(data) else None
    if derived is not None:
        added = [_added(derived, s) for s in derived.added(derived.lines)]
        return [*added, *map(_derived, derived.lines)]
    found: list[Line] = []
    for x in a.problem.wrt:
        name: Line = (Token(x.name, role_of(x)), EQUALS) if several else ()
        name = (Formula(w.gradient_of(x)), EQUALS) if named else name
        absent = a.gradient(x) is None or w.gradient(x) is None
        found.append((*name, Token("None")) if absent else w.gradient_line(x, name))
    return found


def _has_intermediates(data: Data) -> bool:
    """Whether the program gives names to tensors on the way to its output."""
    return any(n.op.inputs and n is not data.p.out for n in data.p.named.values())


def _added(derived: Derivation, s: Assignment) -> Line:
    """A statement that the program does not have."""
    if len(s.names) > 1:
        return plain(f"{s.names_text} = {s.value}")
    value = Formula(derived.written(s.nodes[0]), "", (Token(s.value),))
    return (Formula(Name(s.names_text)), EQUALS, value)


def _derived(line: Derived) -> Line:
    formula = Formula(line.formula) if line.formula else "None"
    return plain(Formula(Name(line.gradient_name)), EQUALS, formula)
