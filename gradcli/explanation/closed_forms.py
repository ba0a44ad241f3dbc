"""Closed forms of gradients, a line each."""

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
from .question import with_question
from .short.gradients import gradients_of


def closed_forms(data: Data, use: Use, command: str) -> Document:
    """The formula of each gradient; with several inputs each after the name of the gradient.

    Formulas use the gradients of intermediates if the program names these, or has several inputs,
    and that is shorter. The document has a table of lines, or one block of code for `use` "code".
    """
    reserve_writing(data.p)
    lines = _lines(data, named=use == "equations" or len(data.p.wrt) > 1)
    if use == "code":
        text = "\n".join(map(text_of, lines))
        section = Section("", (), (), (Code(text, "python"),))
    else:
        rows = Table(tuple(Row((line,)) for line in lines))
        section = Section("gradient", words("Gradients"), (), (rows,))
    return with_question(Document((), (section,)), data.p, command)


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
