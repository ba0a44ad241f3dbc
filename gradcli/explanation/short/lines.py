"""The gradients, a line each: those of values on the way back, then those of the inputs."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from ...graphs import Node
from ...language.problem import Input
from ...lazy import np
from ...notation import tree
from ...notation.tree import Indexed, Name, Token
from ..analysis import Analysis
from ..blocks import (
    EQUALS,
    Block,
    Formula,
    Line,
    Prose,
    Row,
    Section,
    Table,
    Tensor,
    equality,
    mentioned,
    plain,
    text_of,
    words,
)
from ..choices import Choices
from ..derivation import derivation
from ..derivation.statements import Assignment
from ..elide import middle, places
from ..formulas import by_index
from ..formulas.wording import UNREAD
from ..numbers import number_text
from ..phrases import listed
from ..sections.gradient import element_row
from ..sections.jacobian import element_line
from .equations import brief, equation
from .gates import let_through
from .gradients import Gradients

SMALL = 48  # elements of a gradient that are shown where there are few gradients
MOST = 24  # lines
READ = 140  # characters of one element, by index or written out
LEVELS = 3  # inputs whose gradients are written by index and element too


def backward(found: Gradients) -> Section:
    """What flows back to values that have a name."""
    if found.derivation is None:
        return Section("backward", (), (), ())
    lines = found.derivation.back
    shown, first = [lines[k] for k in places(len(lines), MOST)[0]], lines[0]
    loss = found.problem.out_name if found.problem.seed.implicit else "loss"
    name = Name(first.name)
    said = words(
        mentioned(Name(first.gradient_name)),
        " is ",
        mentioned(tree.Derivative(Name(loss), (name,))),
        ", of ",
        mentioned(name),
        "'s shape",
    )
    rows = middle(lines, MOST, lambda line: _back(found, line), lambda n: [_left_out(n)])
    blocks: list[Block] = [Table(tuple(chain.from_iterable(rows)))]
    added = found.derivation.added([*shown, *found.derivation.gradients[:MOST]])
    if added:
        has = "has no name of its own" if len(added) == 1 else "have no names of their own"
        blocks.append(Prose(words(*_named(found.derivation, added), f" {has} in your text.")))
    return Section("backward", words("Backward"), said, tuple(blocks))


def _named(d: derivation.Derivation, added: list[Assignment]) -> Iterator[str | Formula]:
    """What was given a name: `z = x @ W + b and z_1 = h @ V`."""
    for k, s in enumerate(added):
        yield "" if not k else " and " if k == len(added) - 1 else ", "
        if len(s.names) > 1:
            yield f"{s.names_text} = {s.value}"
        else:
            yield mentioned(Name(s.names_text))
            yield " = "
            yield mentioned(d.written(s.nodes[0]), s.value)


def _left_out(count: int) -> Row:
    return Row((words(f"… {count:,} more (--full shows all)"),))


def _back(found: Gradients, line: derivation.Line) -> list[Row]:
    told = _let_through(found.a, line) or brief(found.a.value(line.grad))
    return equation(
        found, plain(Formula(Name(line.gradient_name))), line.formula, UNREAD, line.of, told
    )


def _let_through(a: Analysis, line: derivation.Line) -> Line:
    """`relu lets 10 of 16 through`."""
    after = [step for step in a.gradients.steps if line.of in step.node.inputs]
    mask = let_through(a, after[0]) if len(after) == 1 else None
    if mask is None:
        return ()
    through = f"lets {np.count_nonzero(mask):,} of {mask.size:,} through"
    return words(f"{after[0].node.op.name} {through}")


def gradients(found: Gradients, choices: Choices) -> Section:
    """The gradient of each input asked for."""
    wrt = found.inputs
    rows = [row for x in wrt[:MOST] for row in _of_input(found, x, choices)]
    rows += [_left_out(len(wrt) - MOST)] if len(wrt) > MOST else []
    title = words("Gradient" + "s" * (len(wrt) > 1))
    prose = [Prose(words(text)) for text in _remarks(found)]
    below = [row.cells[0] for row in rows if row.depth]
    said = [text_of(line) for line in below if not isinstance(line, Tensor)]
    said = [text for text in said if text.count(EQUALS.text) == 1]
    prose = [*by_index.signs("\n".join(said)), *prose]
    return Section("gradient", title, (), (Table(tuple(rows)), *prose))


def _of_input(found: Gradients, x: Input, choices: Choices) -> list[Row]:
    a, w = found.a, found.w
    grad = a.gradient(x)
    left = (Formula(w.gradient_of(x)),)
    if grad is None:
        return [Row(((*left, EQUALS, Token("None")), words("no gradient flows to it")))]
    few = len(found.inputs) <= LEVELS and found.derivation is None
    value = a.value(a.computed(x) or grad)
    shown = value is not None and value.size <= SMALL and (few or not x.shape)
    shown = shown and x.node.ndim <= 2
    name = found.w.gradient_name(x)
    told: Any = Tensor(value, "answer", name) if shown else brief(value)
    formula = found.formula(x)
    otherwise = w.without_formula(x) if formula is None else ()
    rows = equation(found, left, formula, otherwise, x.node, told)
    followed = choices.element if choices.element and choices.element[0] == x.name else None
    return [*rows, *_levels(found, x, followed and followed[1], few and bool(x.shape))]


def _levels(found: Gradients, x: Input, place: tuple[int, ...] | None, few: bool) -> Iterator[Row]:
    """The gradient by index, and one element written out."""
    index = by_index.gradient(found.w, x) if few else None
    if index is not None and len(str(index)) <= READ:
        yield Row((equality(index.left, index.right),), 1)
    if place and found.derivation is not None:
        names = {line.grad: Name(line.gradient_name) for line in found.derivation.back}
        element = element_line(found.a, found.w, x, place, names)
    else:
        element = element_row(found.a, found.w, x, place) if few or place else None
    if element is not None and len(text_of(element)) > READ:
        element = _by_letters(found, x, place) if place else None
    if element is not None:
        yield Row((element,), 1)


def _by_letters(found: Gradients, x: Input, place: tuple[int, ...]) -> Line | None:
    """An element by its index notation, where all terms would be too many: sums stay sums."""
    index = by_index.gradient(found.w, x)
    at = index.left.places if index is not None and isinstance(index.left, Indexed) else ()
    letters = [*map(tree.text, at)]
    if index is None or len(letters) != len(place) or not all(map(str.isalpha, letters)):
        return None
    there = index.at(dict(zip(letters, map(str, place))))
    line = equality(there.left, there.right)
    value = found.a.grad_value(x)
    if value is None:
        return line
    return (*line, EQUALS, Token(number_text(value[place]), "number"))


def _remarks(found: Gradients) -> Iterator[str]:
    """What adds up, what was broadcast, and that a single number has a Jacobian of one row."""
    for line in found.derivation.gradients if found.derivation else ():
        if len(line.ways) > 1:
            ways = f"{_count(len(line.ways))} ways back: from {listed(line.ways)}"
            yield f"{line.gradient_name} adds up {ways}."
    spread = [x.name for x in found.problem.wrt if _was_broadcast(found.a, x)]
    if spread:
        it, were = ("they", "were") if len(spread) > 1 else ("it", "was")
        over = f"what comes back is summed over what {it} filled"
        yield f"{listed(spread)} {were} broadcast, so {over}."
    p = found.problem
    of = [x.name for x in p.wrt if x.shape]
    if not p.out.shape and of:
        yield (
            f"The Jacobian of {p.out_name} with respect to {of[0]} is one row: {of[0]}.grad laid "
            "flat."
        )


def _count(n: int) -> str:
    return {2: "two", 3: "three", 4: "four"}.get(n, f"{n:,}")


def _was_broadcast(a: Analysis, x: Input) -> bool:
    sent: list[tuple[Node, Node]] = [
        (c.local, c.sent) for s in a.gradients.steps for c in s.contributions if c.to is x.node
    ]
    return any(c.op.name == "sum_to_size" and c is not local for local, c in sent)
