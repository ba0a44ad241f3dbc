"""Closed forms of gradients, a line each."""

from typing import Any

from ..notation.tree import Name, Token, Tree
from .analysis import reserve_writing
from .blocks import (
    EQUALS,
    Code,
    Document,
    Formula,
    Line,
    Row,
    Section,
    Table,
    Use,
    equality,
    plain,
    text_of,
    words,
)
from .data import Data
from .formulas.formula_writer import UNREAD
from .notes import DIVIDES, divisions, formulas_alone, unused
from .notes import as_data as notes_as_data
from .question import with_question
from .sections.outcome import notes
from .short.gradients import gradients_of


def closed_forms(data: Data, use: Use, command: str) -> Document:
    """The formula of each gradient; with several inputs each after the name of the gradient.

    Formulas use the gradients of intermediates if the program names these, or has several inputs,
    and that is shorter. The document has a table of lines, or one block of code for `use` "code",
    and notes.
    """
    reserve_writing(data.p)
    lines = _lines(data, named=use == "equations" or len(data.p.wrt) > 1)
    if use == "code":
        text = "\n".join(map(text_of, lines))
        section = Section("", (), (), (Code(text, "python"),))
    else:
        rows = Table(tuple(Row((line,)) for line in lines))
        section = Section("gradient", words("Gradients"), (), (rows,))
    remarks = notes(notes_on_lines(data))
    sections = (section, remarks) if remarks.blocks else (section,)
    return with_question(Document((), sections), data.p, command)


def as_data(data: Data) -> dict[str, Any]:
    """The formula of each gradient by name of the input; and notes, if formulas divide by inputs
    that may be 0, unless an input is called notes.
    """
    result: dict[str, Any] = {x.name: data.formula(x) for x in data.p.wrt}
    divided = divisions(data.w)
    if divided:
        result.setdefault("notes", notes_as_data(divided))
    return result


def notes_on_lines(data: Data) -> list[tuple[str, str]]:
    """The notes on the lines that are shown. A derivation does not divide as closed forms do."""
    derived = is_derivation(data)
    on_formulas = (n for n in formulas_alone(data.w) if n[0] != DIVIDES or not derived)
    return [*unused(data.a), *on_formulas]


def _lines(data: Data, named: bool) -> list[Line]:
    """The lines; each starts with the name of the gradient if `named`."""
    a, w, several = data.a, data.w, len(data.p.wrt) > 1
    if is_derivation(data):
        return [_statement(*statement) for statement in gradients_of(a).statements]
    closed = gradients_of(a).closed_forms
    result: list[Line] = [equality(*s) for s in closed.statements]
    for x in a.problem.wrt:
        name: Line = (Formula(w.gradient_of(x)), EQUALS) if named else ()
        if a.gradient(x) is None:
            result.append((*name, Token("None")))
        elif several and (formula := w.gradient(x)) is not None:
            result.append((*name, Formula(closed.results[formula])))
        else:
            result.append(w.gradient_line(x, name))
    return result


def is_derivation(data: Data) -> bool:
    """Whether the formulas are shown as the statements of a derivation."""
    unread = (not data.w.is_wrong(x) for x in data.w.without_closed_form())
    is_derived = len(data.p.wrt) > 1 or _has_intermediates(data) or any(unread)
    return is_derived and bool(gradients_of(data.a).statements)


def _has_intermediates(data: Data) -> bool:
    """Whether the program gives names to tensors on the way to its output."""
    return any(n.op.inputs and n is not data.p.out for n in data.p.named.values())


def _statement(name: str, formula: Tree | None, text: str) -> Line:
    """A line of a derivation: `name = formula`. If there is no formula, as for an assignment to
    several names, it is `name = text`.
    """
    if formula is None:
        return plain(f"{name} = {text}") if text else (Formula(Name(name)), EQUALS, *UNREAD)
    return (Formula(Name(name)), EQUALS, Formula(formula, "", (Token(text),)))
