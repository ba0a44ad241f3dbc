"""One element of an input, followed: forward into the output, down its column of the Jacobian, and
back through the gradients that it is computed from.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from ...graphs import Node
from ...graphs.shapes import multi_index
from ...language.problem import Input
from ...lazy import np
from ...notation import tree
from ...notation.indices.element import elements_by_size
from ...notation.tree import Name, Token
from .. import entries
from ..blocks import ZERO, Block, Line, Prose, Row, Section, Table, text_of, words
from ..choices import Choices
from ..derivation.derivation import Line as Derived
from ..formulas.source_text import role_of
from ..sections.element import line_of_element
from ..sections.jacobian import READABLE, SHOWN, part_of_matrix
from .gradients import Gradients

FEW = 4  # largest number of elements of the output that are written out
SEARCHED = 400  # largest number of rows in which nonzero entries are searched for
STEPS = 12  # largest number of gradients on the way back
LONG = 160  # largest number of characters of an element that is written out


class Step(NamedTuple):
    """One element of the gradient of a line on the way back, and the names of nodes in it."""

    line: Derived
    at: tuple[int, ...]
    names: dict[Node, Name]
    written: Line


def followed(grads: Gradients, x: Input, index: tuple[int, ...], choices: Choices) -> Section:
    """The element of x at `index` on its way forward and back."""
    name = tree.Indexed(Name(x.name, role_of(x)), tuple(map(tree.Number, index)))
    title = words("Following ", Token(tree.text(name), role_of(x)))
    blocks: list[Block] = []
    if grads.problem.out.shape and grads.problem.out.numel <= SEARCHED:
        blocks += _column(grads, x, index, choices.precision)
    blocks += _path_back(grads, x, index)
    if not blocks:
        out = grads.problem.out_name
        blocks.append(
            Prose(
                words(f"There are no intermediate elements between {x.name} and {out} to follow.")
            )
        )
    return Section("jacobian", title, (), tuple(blocks))


def _column(grads: Gradients, x: Input, index: tuple[int, ...], precision: int) -> Iterator[Block]:
    """The output elements that depend on the element, and its column of the Jacobian."""
    a, w, p = grads.a, grads.w, grads.problem
    column = int(np.ravel_multi_index(index, x.shape))
    entry = entries.in_symbols(a, w, x, precision)
    every = entries.of_rows(a, x, entry, [*range(p.out.numel)], [column], precision)
    rows = [k for k, (cell,) in enumerate(every) if cell != ZERO]
    names = {n: name for n, name in w.indices.names.items() if n is not p.out}
    places = [multi_index(k, p.out.shape) for k in rows[:FEW]]
    lines = [line_of_element(a, p.out, Name(p.out_name), "", at, names) for at in places]
    shown = [Row((line,)) for line in lines if line is not None and len(text_of(line)) <= LONG]
    if grads.derivation is None and shown:
        yield Table(tuple(shown))
    shown_cells = [every[k][0] for k in rows[:SHOWN]]
    readable = all(len(cell.text) <= READABLE for cell in shown_cells)
    if rows and readable:
        yield part_of_matrix(a, w, x, rows[:SHOWN], [column], precision)
    long = "" if readable else " They are too long to be written out."
    if long or len(rows) < p.out.numel:
        yield Prose(words(_count(len(rows), p.out.numel) + long))


def _count(nonzero: int, total: int) -> str:
    are = "is" if nonzero == 1 else "are"
    return f"In its column of the Jacobian {nonzero:,} of {total:,} entries {are} not zero."


def _path_back(grads: Gradients, x: Input, index: tuple[int, ...]) -> Iterator[Block]:
    """The element through the named values, and the elements of their gradients on the way back."""
    way = backward_path(grads, x, index)
    forward = [Row((line,), 1) for line in map(partial(_forward, grads), way[1:]) if line]
    if forward:
        yield Table((Row((words("Forward, without terms that are 0:"),)), *forward))
    if way:
        text = "Backward, through the largest term of each sum:" if len(way) > 1 else "Backward:"
        yield Table((Row((words(text),)), *(Row((step.written,), 1) for step in reversed(way))))


def backward_path(grads: Gradients, x: Input, index: tuple[int, ...]) -> list[Step]:
    """The elements of gradients, from the gradient of x back to that of the output; in each step
    the one with the largest term. Empty if there is no derivation.
    """
    derived, line = grads.derivation, grads.line(x)
    by_gradient = {} if derived is None else {derived.gradient_of(o): o for o in derived.back}
    steps, at = list[Step](), index
    while derived is not None and line is not None and len(steps) < STEPS:
        node, names = derived.in_names_of(line)
        name, role = Name(line.gradient_name), "" if steps else role_of(x)
        written = line_of_element(grads.a, node, name, role, at, names, LONG)
        if written is None or len(text_of(written)) > LONG:
            break
        steps.append(Step(line, at, names, written))
        used = elements_by_size(node, at, names, grads.a.value)
        line, at = next(((by_gradient[n], p) for n, p in used if n in by_gradient), (None, ()))
    return steps


def _forward(grads: Gradients, step: Step) -> Line | None:
    """The element of the named value whose gradient occurs in a step; None if it is too long."""
    of, name = step.line.of, Name(step.line.name)
    names = {n: other for n, other in step.names.items() if n is not of}
    line = line_of_element(grads.a, of, name, "", step.at, names, LONG)
    return line if line is not None and len(text_of(line)) <= LONG else None
