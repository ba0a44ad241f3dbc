"""The gradients, a line each: those of intermediates, then those of inputs."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from typing import Any

from ...autodiff.reverse import Step
from ...graphs import Node
from ...graphs.shapes import Shape
from ...language.problem import Input
from ...lazy import np
from ...notation import tree
from ...notation.tree import Name, Token, Tree
from ..analysis import Analysis, once
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
from ..formulas import by_index
from ..formulas.formula_writer import UNREAD
from ..phrases import (
    fits,
    is_constant,
    is_short,
    listed,
    middle,
    number_text,
    shape_text,
)
from ..sections.element import READ, element_row, readable
from ..sections.seed import loss_name
from .following import backward_path
from .gradients import LINES, Gradients
from .vanishing_gradients import passing_mask

SMALL = 48  # largest number of elements of a gradient whose numbers are all shown
MOST_PATHS = 12  # largest number of values that are listed as paths of a gradient
# for at most so many inputs, gradients are also shown in index notation and by one element
MOST_DETAILED = 3
COMPACT = 50  # largest number of characters of a row of numbers that is shown
SHORT = 24  # largest number of characters of numbers that are shown instead of their norm
GAP = "    "


def backward(grads: Gradients) -> Section:
    """The gradients of named intermediates."""
    if grads.derivation is None:
        return Section("backward", (), (), ())
    lines = grads.derivation.back
    first = lines[0]
    p = grads.problem
    loss = p.out_name if p.seed.implicit else loss_name(p)
    name = Name(first.name)
    text = words(
        tree.Token(first.gradient_name),  # set as code: typeset, it would be the formula itself
        " is ",
        mentioned(tree.Derivative(Name(loss), (name,))),
        ", of ",
        mentioned(name),
        "'s shape",
    )
    rows = middle(
        lines, LINES, lambda line: _intermediate_rows(grads, line), lambda n: [_omitted_row(n)]
    )
    blocks: list[Block] = [Table(tuple(chain.from_iterable(rows)))]
    if grads.added:
        has = "has no name" if len(grads.added) == 1 else "have no names"
        named = _added_values(grads.derivation, grads.added)
        blocks.append(Prose(words(*named, f" {has} in your program.")))
    return Section("backward", words("Backward"), text, tuple(blocks))


def _added_values(d: derivation.Derivation, added: list[Assignment]) -> Iterator[str | Formula]:
    """The added statements: `z = x @ W + b and z_1 = h @ V`."""
    for k, s in enumerate(added):
        yield "" if not k else " and " if k == len(added) - 1 else ", "
        if len(s.names) > 1:
            yield f"{s.names_text} = {s.value}"
        else:
            yield mentioned(Name(s.names_text))
            yield " = "
            yield mentioned(d.written(s.nodes[0]), s.value)


def _omitted_row(count: int) -> Row:
    return Row((words(f"… {count:,} more (--full shows all)"),))


def _intermediate_rows(grads: Gradients, line: derivation.Line) -> list[Row]:
    summary = _let_through(grads.a, line) or brief(grads.a.value(line.grad))
    return equation(
        grads, plain(Formula(Name(line.gradient_name))), line.formula, UNREAD, line.of, summary
    )


def _let_through(a: Analysis, line: derivation.Line) -> Line:
    """How many elements a relu passes on, `relu lets 10 of 16 through`; "" if no relu."""
    after = _steps_by_input(a)[line.of]
    mask = passing_mask(a, after[0]) if len(after) == 1 else None
    if mask is None:
        return ()
    through = f"lets {np.count_nonzero(mask):,} of {mask.size:,} through"
    return words(f"{after[0].node.op.name} {through}")


@once
def _steps_by_input(a: Analysis) -> defaultdict[Node | None, list[Step]]:
    """The steps of the reverse pass by the inputs of their operations."""
    result = defaultdict[Node | None, list[Step]](list)
    for step in a.gradients.steps:
        for node in {*step.node.inputs}:
            result[node].append(step)
    return result


def gradients(grads: Gradients, choices: Choices) -> Section:
    """The gradient with respect to each input in `wrt`."""
    wrt = grads.inputs
    rows = [row for x in wrt[:LINES] for row in _of_input(grads, x, choices)]
    rows += [_omitted_row(len(wrt) - LINES)] if len(wrt) > LINES else []
    title = words("Gradient" + "s" * (len(wrt) > 1))
    prose = [Prose(words(text)) for text in _remarks(grads)]
    below = [row.cells[0] for row in rows if row.depth]
    message = [text_of(line) for line in below if not isinstance(line, Tensor)]
    message = [text for text in message if text.count(EQUALS.text) == 1]
    prose = [*by_index.signs("\n".join(message), grads.meanings), *prose]
    lines = [row.cells[0] for row in rows if not isinstance(row.cells[0], Tensor)]
    named = [Row((line,)) for line in grads.w.definitions(*lines)]
    return Section("gradient", title, (), (Table((*named, *rows)), *prose))


def _of_input(grads: Gradients, x: Input, choices: Choices) -> list[Row]:
    a, w = grads.a, grads.w
    grad = a.gradient(x)
    left = (Formula(w.gradient_of(x)),)
    if grad is None:
        return [Row(((*left, EQUALS, Token("None")), words("no gradient flows to it")))]
    few = len(grads.inputs) <= MOST_DETAILED and grads.derivation is None
    value = a.value(a.computed(x) or grad)
    shown = value is not None and value.size <= SMALL and (few or not x.shape)
    shown = shown and x.node.ndim <= 2 and fits(value, COMPACT) and not is_constant(value)
    name = grads.w.gradient_name(x)
    summary: Any = Tensor(value, "answer", name) if shown else brief(value)
    formula = grads.formula(x)
    otherwise = w.without_formula(x) if formula is None else ()
    rows = equation(grads, left, formula, otherwise, x.node, summary)
    return [*rows, *_details(grads, x, choices.index_in(x.name), few and bool(x.shape))]


def _details(grads: Gradients, x: Input, at: tuple[int, ...] | None, few: bool) -> Iterator[Row]:
    """The index notation of a gradient, and one element written out."""
    listed_already = by_index.is_by_element(grads.formula(x))
    index = by_index.gradient(grads.w, x) if few and not listed_already else None
    if index is not None and len(str(index)) <= READ:
        grads.meanings += index.meanings
        yield Row((equality(index.left, index.right),), 1)
    if at and backward_path(grads, x, at):  # the Jacobian section shows it
        return
    element = element_row(grads.a, grads.w, x, at) if few or at else None
    if at is None and element is not None and len(text_of(element)) > READ:
        element = None
    if at is not None:
        element = readable(grads.a, grads.w, x, at, element)
    if element is not None:
        yield Row((element,), 1)


def _remarks(grads: Gradients) -> Iterator[str]:
    """Remarks on sums, broadcast inputs, and the Jacobian of a scalar."""
    names_by_paths: dict[tuple[str, ...], list[str]] = {}
    for line in grads.derivation.gradients if grads.derivation else ():
        if len(line.via) > 1:
            names_by_paths.setdefault((*line.via,), []).append(line.gradient_name)
    for through, names in names_by_paths.items():
        are = "are sums" if len(names) > 1 else "is the sum"
        paths = _paths(through, grads.problem.out_name)
        yield f"{listed(names)} {are} over {_count(len(through))} paths: {paths}."
    for dims, names in _broadcast(grads).items():
        were, their = (
            ("were", "their gradients sum") if len(names) > 1 else ("was", "its gradient sums")
        )
        yield f"{listed(names)} {were} broadcast: {their} over {dims}."
    p = grads.problem
    of = [x.name for x in p.wrt if x.shape and grads.a.gradient(x) is not None]
    if not p.out.shape and of:
        row = f"a single row: {of[0]}.grad, flattened"
        yield f"The Jacobian of {p.out_name} with respect to {of[0]} is {row}."


def _paths(through: tuple[str, ...], out: str) -> str:
    """The values through which a gradient flows, `through h and z`, or `through h, and directly
    from loss` if the output uses the input directly too.
    """
    named = [name for name in through if name != out]
    some = middle(named, MOST_PATHS, str, lambda n: f"{n:,} more")
    direct = f", and directly from {out}" if out in through else ""
    return f"through {listed(some)}{direct}"


def _count(n: int) -> str:
    return {2: "two", 3: "three", 4: "four"}.get(n, f"{n:,}")


def _broadcast(grads: Gradients) -> dict[str, list[str]]:
    """The names of inputs that were broadcast, by the dimensions that their gradients sum over."""
    result: dict[str, list[str]] = {}
    for x in grads.problem.wrt:
        dims = {sent.parents[0].shape for sent in _summed(grads.a, x)}
        if dims:
            over = {_dimensions(shape, x.shape) for shape in dims}
            text = over.pop() if len(over) == 1 else "the broadcast dimensions"
            result.setdefault(text, []).append(x.name)
    return result


def _summed(a: Analysis, x: Input) -> Iterator[Node]:
    """The nodes that sum the gradient of a broadcast input over the broadcast dimensions."""
    for step in _steps_by_input(a)[x.node]:
        for c in step.contributions:
            if c.to is x.node and c.sent.op.name == "sum_to_size" and c.sent is not c.local:
                yield c.sent


def _dimensions(shape: Shape, remaining: Shape) -> str:
    """The dimensions over which a tensor of a shape is summed to the shape `remaining`, as text."""
    lead = len(shape) - len(remaining)
    over = [d for d, n in enumerate(shape) if d < lead or remaining[d - lead] != n]
    if len(over) == len(shape) > 1:
        return "all elements"
    return f"dimension{'s' * (len(over) > 1)} {listed([*map(str, over)])}"


# ---- as equations --------------------------------------------------------------------------------


def equation(
    grads: Gradients, name: Line, formula: Tree | None, otherwise: Line, of: Node, summary: Any
) -> list[Row]:
    """The rows of an equation, after statements for repeated parts of its formula. `otherwise` is
    shown in place of a missing formula; `summary` stands for the numbers.
    """
    if formula is None:
        return [_row(grads, (*name, EQUALS, *otherwise), of, summary)]
    before, result = grads.in_statements(formula)
    rows = [Row((equality(n, f),)) for n, f in before]
    return [*rows, _row(grads, (*name, EQUALS, Formula(result)), of, summary)]


def _row(grads: Gradients, line: Line, of: Node, summary: Line | Tensor) -> Row:
    if of.shape or not summary:
        return Row((line, *_with_summary(grads, of, summary)))
    number = number_text(summary.array) if isinstance(summary, Tensor) else text_of(summary)
    if text_of(line).endswith(f"{EQUALS.text}{number}"):  # the formula is the number itself
        return Row((line,))
    return Row(((*line, EQUALS, Token(number, "answer")),))


def _with_summary(grads: Gradients, of: Node, summary: Line | Tensor) -> tuple[Line | Tensor, ...]:
    shape = shape_text(of.shape)
    if not summary:
        return (plain(shape),)
    room = " " * (grads.widest - len(shape))
    if isinstance(summary, Tensor):
        return (Token(shape), Token(room, "word")), summary
    # in the same cell, to follow a long formula
    return ((Token(shape), Token(room + GAP, "word"), *summary),)


def brief(value: Any) -> Line | Tensor:
    """Numbers in short: all if they are few, otherwise their norm and the number of zeros."""
    if value is None:
        return ()
    if is_short(value, SHORT):
        return Tensor(value, "answer")
    if is_constant(value):
        return words(f"all {number_text(value.flat[0])}")
    zeros = int(np.count_nonzero(value == 0))
    verb = "is" if zeros == 1 else "are"
    summary = f", {zeros:,} of {value.size:,} {verb} 0" if zeros else ""
    return words(f"norm {number_text(np.linalg.norm(value), 4)}{summary}")
