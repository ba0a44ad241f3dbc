"""One element of an input, followed: forward into the output, down its column of the Jacobian, and
back through the gradients that it is computed from.
"""

from collections.abc import Iterator

from ...graphs import Node
from ...graphs.shapes import multi_index
from ...language.problem import Input
from ...lazy import np
from ...notation import tree
from ...notation.indices.element import written_out
from ...notation.tree import Name, Token, Tree
from .. import entries
from ..blocks import ZERO, Block, Line, Prose, Row, Section, Table, text_of, words
from ..choices import Choices
from ..derivation.derivation import Derivation
from ..derivation.derivation import Line as Derived
from ..formulas.source_text import role_of
from ..sections.element import line_of_element
from ..sections.jacobian import READABLE, part_of_matrix
from .gradients import Gradients

FEW = 4  # elements of the output that are written out
ROWS = 12  # of the column
SEARCHED = 400  # rows in which nonzero entries are looked for
STEPS = 12  # gradients on the way back
LONG = 160  # characters of an element that is written out


def followed(grads: Gradients, x: Input, index: tuple[int, ...], choices: Choices) -> Section:
    """The element of x at `index` on its way forward and back."""
    name = tree.Indexed(Name(x.name, role_of(x)), tuple(map(tree.Number, index)))
    title = words("Following ", Token(tree.text(name), role_of(x)))
    blocks: list[Block] = []
    if grads.problem.out.shape and grads.problem.out.numel <= SEARCHED:
        blocks += _column(grads, x, index, choices.precision)
    blocks += _back(grads, x, index)
    return Section("jacobian", title, (), tuple(blocks))


def _column(grads: Gradients, x: Input, index: tuple[int, ...], precision: int) -> Iterator[Block]:
    """The elements of the output that it enters, and its column of the Jacobian."""
    a, w, p = grads.a, grads.w, grads.problem
    column = int(np.ravel_multi_index(index, x.shape))
    entry = entries.in_symbols(a, w, x, precision)
    every = entries.of_rows(a, x, entry, [*range(p.out.numel)], [column], precision)
    rows = [k for k, (cell,) in enumerate(every) if cell != ZERO]
    names = {n: name for n, name in w.names.items() if n is not p.out}
    places = [multi_index(k, p.out.shape) for k in rows[:FEW]]
    lines = [line_of_element(a, p.out, Name(p.out_name), "", at, names) for at in places]
    shown = [Row((line,)) for line in lines if line is not None and len(text_of(line)) <= LONG]
    if grads.derivation is None and shown:
        yield Table(tuple(shown))
    shown_cells = [every[k][0] for k in rows[:ROWS]]
    if rows and max(len(cell.text) for cell in shown_cells) <= READABLE:
        yield part_of_matrix(a, w, x, rows[:ROWS], [column], precision)
    yield Prose(words(_count(len(rows), p.out.numel)))


def _count(nonzero: int, total: int) -> str:
    are = "is" if nonzero == 1 else "are"
    return f"In its column of the Jacobian {nonzero:,} of {total:,} entries {are} not zero."


def _back(grads: Gradients, x: Input, index: tuple[int, ...]) -> Iterator[Block]:
    """The elements of gradients on one way back to it, in the order of computation."""
    derived, line = grads.derivation, grads.line(x)
    if derived is None or line is None:
        return
    by_name = {other.gradient_name: other for other in derived.back}
    steps = list[Line]()
    at = index
    while line is not None and len(steps) < STEPS:
        node, names = derived.in_names_of(line)
        name = Name(line.gradient_name)
        written = line_of_element(grads.a, node, name, role_of(x) if not steps else "", at, names)
        if written is None or len(text_of(written)) > LONG:
            break
        steps.append(written)
        line, at = _earlier(derived, by_name, node, names, at)
    if len(steps) > 1:
        text = "Backward, through the first term of each sum:"
        yield Table((Row((words(text),)), *(Row((step,), 1) for step in reversed(steps))))


def _earlier(
    derived: Derivation,
    by_name: dict[str, Derived],
    node: Node,
    names: dict[Node, Name],
    at: tuple[int, ...],
) -> tuple[Derived | None, tuple[int, ...]]:
    """The first gradient that an element of another one is computed from, and its place."""
    plain = written_out(node, at, names, lambda _: None)
    for part in _parts(plain.numbers or plain.symbols):
        if isinstance(part, tree.Indexed) and isinstance(part.base, Name):
            line = by_name.get(part.base.text)
            places = [p.value for p in part.places if isinstance(p, tree.Number)]
            if line is not None and len(places) == line.of.ndim:
                return line, tuple(map(int, places))
    return None, ()


def _parts(written: Tree | None) -> Iterator[object]:
    """The parts of a formula from left to right."""
    stack: list[object] = [written]
    while stack:
        part = stack.pop()
        yield part
        if isinstance(part, tuple):
            stack += reversed(part)
