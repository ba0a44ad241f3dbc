"""The gradients, a line each: those of values on the way back, then those of the inputs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...graphs import Node
from ...language.problem import Input
from ...lazy import np
from ...notation import tree
from ...notation.tree import Token
from ..analysis import Analysis
from ..blocks import Block, Line, Prose, Row, Section, Table, Tensor, plain, words
from ..derivation import derivation
from ..elide import middle
from ..formulas import by_index
from ..formulas.source_text import role_of
from ..formulas.wording import UNREAD
from ..numbers import number_text
from ..phrases import listed, shape_text
from ..sections.gradient import element_row
from .gradients import Gradients

if TYPE_CHECKING:
    from ..document import Choices

SHORT = 24  # characters of the numbers of a gradient that are shown where there are many gradients
SMALL = 48  # where there are few
MOST = 24  # lines
LEVELS = 3  # inputs whose gradients are written by index and element too


def backward(found: Gradients) -> Section:
    """What flows back to values that have a name."""
    if found.derivation is None:
        return Section("backward", (), (), ())
    lines = found.derivation.back
    first = lines[0]
    said = f"{first.gradient_name} is ∂{_loss(found)}/∂{first.name}, of {first.name}'s shape"
    rows = middle(lines, MOST, lambda line: _back(found, line), _left_out)
    blocks: list[Block] = [Table(tuple(rows))]
    added = found.derivation.added
    if added:
        named = listed([f"{s.names[0]} = {s.value}" for s in added])
        has = "has no name" if len(added) == 1 else "have no names"
        blocks.append(Prose(words(f"{named} {has} in your text.")))
    return Section("backward", plain("Backward"), words(said), tuple(blocks))


def _loss(found: Gradients) -> str:
    p = found.problem
    return p.out_name if p.seed.implicit else "loss"


def _left_out(count: int) -> Row:
    return Row((words(f"… {count:,} more (--full shows all)"),))


def _back(found: Gradients, line: derivation.Line) -> Row:
    written = UNREAD if line.formula is None else tuple(tree.tokens(line.formula))
    formula = (Token(f"{line.gradient_name} = "), *written)
    return Row((formula, *_told(found, line.of, _let_through(found.a, line), line.grad)))


def _told(found: Gradients, of: Node, told: Line | Tensor, grad: Node) -> tuple[Line | Tensor, ...]:
    """The shape of a gradient, and what is told of its numbers."""
    told = told or _brief(found.a.value(grad))
    shape = shape_text(of.shape).ljust(found.widest if told else 0)
    if isinstance(told, Tensor):
        return plain(shape), told
    return ((*plain(shape), Token("    " * bool(told)), *told),)


def _let_through(a: Analysis, line: derivation.Line) -> Line:
    """`relu lets 10 of 16 through`."""
    after = [step.node for step in a.gradients.steps if line.of in step.node.inputs]
    value = a.value(after[0]) if len(after) == 1 and after[0].op.name == "relu" else None
    if value is None:
        return ()
    return words(f"relu lets {np.count_nonzero(value > 0):,} of {value.size:,} through")


def _brief(value: Any) -> Line | Tensor:
    """Numbers in short: all of a few, or their norm and how many are 0."""
    if value is None:
        return ()
    if value.size <= SHORT and sum(len(number_text(v)) + 2 for v in value.flat) <= SHORT:
        return Tensor(value, "answer")
    zeros = int(np.count_nonzero(value == 0))
    told = f", {zeros:,} of {value.size:,} are 0" if zeros else ""
    return words(f"norm {number_text(np.linalg.norm(value), 4)}{told}")


def gradients(found: Gradients, choices: "Choices") -> Section:
    """The gradient of each input asked for."""
    wrt = found.inputs
    rows = [row for x in wrt[:MOST] for row in _of_input(found, x, choices)]
    rows += [_left_out(len(wrt) - MOST)] if len(wrt) > MOST else []
    title = plain("Gradient" + "s" * (len(wrt) > 1))
    prose = [Prose(words(text)) for text in _remarks(found)]
    return Section("gradient", title, (), (Table(tuple(rows)), *prose))


def _of_input(found: Gradients, x: Input, choices: "Choices") -> list[Row]:
    a, w = found.a, found.w
    grad = a.gradient(x)
    name = (Token(x.name, role_of(x)), Token(w.gradient_name(x).removeprefix(x.name)))
    if grad is None:
        return [Row(((*name, Token(" = None")), words("no gradient flows to it")))]
    written = found.formula(x)
    equals = (*name, Token(" = "))
    line = (*equals, *w.without_formula(x)) if written is None else w.named_line(equals, written)
    value = a.value(a.computed(x))
    if not x.shape:
        number = () if value is None else (Token(" = "), Token(number_text(value), "answer"))
        return [Row(((*line, *number),))]
    few = len(found.inputs) <= LEVELS and found.derivation is None
    whole = few and value is not None and value.size <= SMALL
    told = Tensor(value, "answer") if whole else ()
    rows = [Row((line, *_told(found, x.node, told, a.computed(x))))]
    followed = choices.element if choices.element and choices.element[0] == x.name else None
    return [*rows, *_levels(found, x, followed and followed[1], few)]


def _levels(found: Gradients, x: Input, place: tuple[int, ...] | None, few: bool) -> Iterator[Row]:
    """The gradient by index, and one element written out."""
    index = by_index.gradient(found.w, x) if few else None
    if index is not None:
        yield Row((tuple(index.tokens),), 1)
    element = element_row(found.a, found.w, x, place) if few or place else None
    if element is not None:
        yield Row((element,), 1)


def _remarks(found: Gradients) -> Iterator[str]:
    """What adds up, what was broadcast, and that a single number has a Jacobian of one row."""
    for line in found.derivation.gradients if found.derivation else ():
        if len(line.ways) > 1:
            ways = f"{len(line.ways)} ways back: from {listed(line.ways)}"
            yield f"{line.gradient_name} adds up {ways}."
    spread = [x.name for x in found.inputs if _was_broadcast(found.a, x)]
    if spread:
        it, were = ("they", "were") if len(spread) > 1 else ("it", "was")
        yield f"{listed(spread)} {were} broadcast, so what comes back is summed over what {it} filled."
    p = found.problem
    of = [x.name for x in p.wrt if x.shape]
    if not p.out.shape and of:
        yield f"The Jacobian of {p.out_name} by {of[0]} is one row: {of[0]}.grad laid flat."


def _was_broadcast(a: Analysis, x: Input) -> bool:
    sent: list[tuple[Node, Node]] = [
        (c.local, c.sent) for s in a.gradients.steps for c in s.contributions if c.to is x.node
    ]
    return any(c.op.name == "sum_to_size" and c is not local for local, c in sent)
