"""Closed forms alone, a line each."""

from collections.abc import Mapping

from ..notation.tree import Block, Listing, Name, Token, Tree
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
from .derivation.derivation import Derivation
from .derivation.derivation import Line as Derived
from .derivation.statements import Assignment
from .formulas.source_text import role_of
from .formulas.wording import UNREAD, Wording
from .question import with_question
from .short.gradients import Gradients

SHARED = 3  # names, numbers and symbols that a statement must save in several formulas


def closed_forms(data: Data, use: Use, command: str) -> Document:
    """The formula of each gradient; with several inputs each after its name.

    They are expressed by the gradients of intermediates if the program names these, or has several
    inputs, and that is shorter. A table of lines, or one block of code for `use` "code".
    """
    reserve_writing(data.p)
    lines = _lines(data, named=use == "equations")
    if use == "code":
        text = "\n".join(map(text_of, lines))
        section = Section("", (), (), (Code(text, "python"),))
    else:
        rows = Table(tuple(Row((line,)) for line in lines))
        section = Section("gradient", words("Gradients"), (), (rows,))
    return with_question(Document((), (section,)), data.p, command)


def _lines(data: Data, named: bool) -> list[Line]:
    """The lines; `named` where each begins with the gradient that it is, and not with its input."""
    a, w, several = data.a, data.w, len(data.p.wrt) > 1
    derived = Gradients(a, w).derivation if several or _has_intermediates(data) else None
    if derived is not None:
        added = [_added(derived, s) for s in derived.added(derived.lines)]
        return [*added, *map(_derived, derived.lines)]
    formulas_by_name = {x.name: w.gradient(x) for x in data.p.wrt if a.gradient(x) is not None}
    shared, formulas = _shared(w, formulas_by_name) if several else ([], {})
    result: list[Line] = []
    for x in a.problem.wrt:
        name: Line = (Token(x.name, role_of(x)), EQUALS) if several else ()
        name = (Formula(w.gradient_of(x)), EQUALS) if named else name
        if a.gradient(x) is None:
            result.append((*name, Token("None")))
        elif formulas_by_name[x.name] is None:
            result.append((*name, *w.without_formula(x)))
        elif several:
            result.append((*name, Formula(formulas[x.name])))
        else:
            result.append(w.gradient_line(x, name))
    return [*shared, *result]


def _shared(w: Wording, written: Mapping[str, Tree | None]) -> tuple[list[Line], dict[str, Tree]]:
    """Statements for common subexpressions of the formulas, and the formulas in terms of them."""
    readable = {name: f for name, f in written.items() if f is not None}
    whole = w.in_statements(Listing((*readable.values(),)), SHARED)
    result = whole.result if isinstance(whole, Block) else whole
    assert isinstance(result, Listing)
    shared = [equality(*s) for s in whole.statements] if isinstance(whole, Block) else []
    return shared, dict(zip(readable, result.items))


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
    formula = UNREAD if line.formula is None else (Formula(line.formula),)
    return (Formula(Name(line.gradient_name)), EQUALS, *formula)
