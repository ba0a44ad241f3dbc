"""The gradient of an input: the answer in one line, and its section, with formula, index notation,
one element written out, and numbers.
"""

from ...language.problem import Input
from ...notation.tree import Token
from ..analysis import Analysis
from ..blocks import (
    Answer,
    Formula,
    Line,
    Prose,
    Row,
    Section,
    Table,
    Tensor,
    equality,
    plain,
    words,
)
from ..formulas import by_index
from ..formulas.formula_writer import FormulaWriter
from ..formulas.source_text import role_of
from .element import shown_element
from .jacobian import why_no_index


def gradient(a: Analysis, w: FormulaWriter, x: Input, at: tuple[int, ...] | None) -> Section:
    """Formula, index notation, one element written out, numbers; `at` chooses the element."""
    title = words("Gradient of ", Token(x.name, role_of(x)))
    if a.problem.order > 1:
        title += plain(f", order {a.problem.order}")
    grad = a.gradient(x)
    if grad is None:
        absent = (
            f"No gradient flows from {a.problem.out_name} to {x.name}: "
            f"PyTorch leaves {x.name}.grad at None, which is not the same as zero."
        )
        return Section("gradient", title, (), (Prose(words(absent)),))
    rows = [Row((words("formula"), w.gradient_line(x)))]
    index = by_index.gradient(w, x)
    if index is not None:
        rows.append(Row((words("index"), equality(index.left, index.right))))
    element = shown_element(a, w, x, at)
    if element is not None:
        rows.append(Row((words("element"), element)))
    shown = [row.cells[1] for row in rows if not isinstance(row.cells[1], Tensor)]
    named = w.definitions(*shown)
    rows = [*(Row((words("where"), line)) for line in named), *rows]
    value = a.value(grad)
    if value is not None:
        rows.append(Row((words("numbers"), Tensor(value, "answer", w.gradient_name(x)))))
    explained = why_no_index(w, x)
    if index is not None:
        explained = [*by_index.signs(str(index), index.meanings)]
    return Section("gradient", title, (), (Table(tuple(rows)), *explained))


def answers(a: Analysis, w: FormulaWriter) -> tuple[Answer, ...]:
    """A line for the gradient with respect to each input in `wrt`."""
    return tuple(_answer(a, w, x) for x in a.problem.wrt)


def _answer(a: Analysis, w: FormulaWriter, x: Input) -> Answer:
    name = (Formula(w.gradient_of(x)),)
    grad = a.gradient(x)
    if grad is None:
        return Answer(
            name,
            None,
            plain("None"),
            plain(f"no gradient flows from {a.problem.out_name} to {x.name}"),
        )
    value = a.grad_value(x)
    remark = _seed_remark(a, w) if value is not None else ()
    number = None if value is None else Tensor(value, "answer", w.gradient_name(x))
    written = w.gradient(x)
    line = w.without_formula(x) if written is None else w.answer_line(written)
    return Answer(name, number, line, remark)


def _seed_remark(a: Analysis, w: FormulaWriter) -> Line:
    seed = a.problem.seed
    if seed.implicit or seed.text is None:
        return ()
    return (Token("with the seed "), w.seed, Token(" = "), *w.source.with_roles(plain(seed.text)))
